"""A shadow: the same goal with a model beside a run. It records; nothing else in the world is another for it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from agents.memory.contract import Candidate, Recalled, memory_of
from agents.models.contract import ModelReply, ModelRequest
from agents.models.langchain import LangChainChat
from agents.models.ports import ChatPort, Told
from agents.models.scripted import CallTools, Fail, Reply, ScriptedChatModel
from agents.spec import AgentSpec, ModelPolicy
from agents.tools.contract import ToolOk, ToolResult, ToolSpec
from agents.tools.ports import Tool
from agents.workers.embedded.registry import EmbeddedWorker
from agents.workers.model import ModelWorker
from agents.workers.ports import Worker
from orchestrator.core.errors import WrongState
from orchestrator.core.events import CallCommitted, CallReturned, ProposalApproved
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Proposal
from orchestrator.core.state import RunState
from orchestrator.run import run_again, shadow
from orchestrator.shell.plan_templates import template_of
from orchestrator.shell.proposing import ProposalOptions
from tests.agents.memory.in_process import MemoryInProcess
from tests.agents.tools.tool_material import STRING, a_tool
from tests.core.builders import n, plan, proposal
from tests.flows.outbox import SEND, Outbox, SendTool
from tests.flows.stage import EVERY, ROWS, NoteFolder, Stage, passes_on, says, set_stage, written
from tests.flows.test_model_runs import GOOD, QUESTION

MODEL = ModelPolicy(kind="model", model="scripted:one")
WITH_MODEL = ProposalOptions(policy=MODEL)


@pytest.fixture
def notes(tmp_path: Path) -> NoteFolder:
    return written(tmp_path)


def drafted(goal: str = QUESTION) -> Proposal:
    made = proposal(plan("a>b"))
    return replace(made, goal=replace(made.goal, text=goal))


def staged(notes: NoteFolder, chat: ChatPort, *, tools: Mapping[str, Tool] | None = None) -> Stage:
    """The run's sub-task quotes a sentence; agents with a model are worked by the product."""
    found = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
    stage = set_stage(notes, {(n("a"), EVERY): found, (n("b"), EVERY): passes_on}, tools=tools)
    scripted = stage.worker

    def worker_for(agent: AgentSpec) -> Worker:
        shadowed = agent.model_policy.kind in ("model", "embedded")
        return ModelWorker(stage.shop.registry, functions=EmbeddedWorker()) if shadowed else scripted

    stage.shop.worker_for = worker_for
    stage.shop.chat_for = lambda _: chat
    stage.shop.memory = MemoryInProcess(stage.clock.now)
    return stage


def scripted(*replies: Reply) -> ChatPort:
    return LangChainChat(ScriptedChatModel.in_order(*replies), "scripted")


async def both(stage: Stage, run: RunId) -> tuple[RunState, RunState]:
    """Execute a run and its shadow on one loop."""
    beside = await shadow(stage.shop, run, WITH_MODEL)
    first, second = await asyncio.gather(stage.execute(run), stage.execute(beside.run))
    return first, second


async def test_a_shadow_works_the_goal_with_the_model_and_nothing_is_learnt_from_it(
    notes: NoteFolder,
) -> None:
    stage = staged(notes, scripted(GOOD))
    memory = stage.shop.memory
    assert memory is not None
    run = stage.approved(drafted())
    first, second = await both(stage, run)
    assert (first.status, second.status) == ("completed", "completed")
    assert (first.shadow_of, second.shadow_of) == (None, run)
    assert second.proposal is not None
    assert (second.proposal.goal, second.proposal.profile) == (
        first.proposal and first.proposal.goal,
        "evaluate",
    )
    (approved,) = stage.bodies(second.run, ProposalApproved)
    assert approved.by == f"shadow of {run}"
    assert [m.source_run for m in memory.entries()] == [run], "the solution is the run's own"
    assert template_of(stage.shop.store, second.run) is None
    calls = [body.name for body in stage.bodies(run, CallReturned) if body.call == "model"]
    assert calls == [], "no model was asked for the run"


async def test_a_shadow_that_fails_leaves_the_run_what_it_is_without(notes: NoteFolder) -> None:
    alone = staged(notes, scripted())
    expected = await alone.execute(alone.approved(drafted()))
    stage = staged(notes, scripted(*[Fail(error=ConnectionRefusedError("nobody there"))] * 40))
    first, second = await both(stage, stage.approved(drafted()))
    assert second.status != "completed"
    assert (first.status, first.gaps, first.result) == (expected.status, expected.gaps, expected.result)
    assert stage.shop.store.failures() == ()


@dataclass
class Waiting:
    """A model that answers when a test lets it."""

    answer: ChatPort
    name: str = "scripted:one"
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    may: asyncio.Event = field(default_factory=asyncio.Event)

    async def complete(self, request: ModelRequest, told: Told | None = None) -> ModelReply:
        self.asked.set()
        await self.may.wait()
        return await self.answer.complete(request, told)


async def test_the_run_does_not_wait_for_a_slow_shadow(notes: NoteFolder) -> None:
    chat = Waiting(scripted(GOOD))
    stage = staged(notes, chat)
    run = stage.approved(drafted())
    beside = await shadow(stage.shop, run, WITH_MODEL)
    second = asyncio.ensure_future(stage.execute(beside.run))
    await chat.asked.wait()
    assert (await stage.execute(run)).status == "completed"
    assert not second.done()
    chat.may.set()
    assert (await second).status == "completed"


async def test_both_are_resumable_after_one_stop(notes: NoteFolder) -> None:
    chat = Waiting(scripted(GOOD))
    stage = staged(notes, chat)
    run = stage.approved(drafted())
    beside = await shadow(stage.shop, run, WITH_MODEL)
    stop = asyncio.Event()
    second = asyncio.ensure_future(stage.execute(beside.run, stop=stop))
    await chat.asked.wait()
    stop.set()
    left = await stage.execute(run, stop=stop)
    assert (left.status, (await second).status) == ("running", "running")
    chat.may.set()
    assert (await stage.execute(run)).status == "completed"
    assert (await stage.execute(beside.run)).status == "completed"


async def test_a_shadow_only_pretends_what_it_would_change(notes: NoteFolder) -> None:
    outbox = Outbox()
    send = SendTool(outbox, spec=replace(SEND, name="send_letter", purpose="Sends a letter to somebody."))
    letter = CallTools(calls=(("send_letter", {"to": "Ann", "text": "42 rows"}),))
    stage = staged(notes, scripted(letter, GOOD), tools={"send_letter": send})
    run = stage.approved(drafted(f"{QUESTION} Send a letter to Ann."))
    _, second = await both(stage, run)
    assert second.proposal is not None
    assert any("send_letter" in tools for tools in second.proposal.grants.values()), "it may ask for it"
    sent = [body for body in stage.bodies(second.run, CallReturned) if body.name == "send_letter"]
    assert [(body.performed, body.arguments["to"]) for body in sent] == [(False, "Ann")]
    assert stage.bodies(second.run, CallCommitted) == []
    assert outbox.sent == []


async def test_what_the_user_set_for_the_run_holds_for_its_shadow(notes: NoteFolder) -> None:
    stage = staged(notes, scripted())
    made = drafted()
    limits = replace(made.contract.limits, max_steps_per_node=3)
    contract = replace(made.contract, forbidden=("no guessing",), limits=limits, allow_unresolved=True)
    run = stage.approved(replace(made, contract=contract))
    beside = await shadow(stage.shop, run, replace(WITH_MODEL, profile="production"))
    assert beside.proposal is not None
    held = beside.proposal.contract
    assert ("no guessing" in held.forbidden, held.limits.max_steps_per_node, held.allow_unresolved) == (
        True,
        3,
        True,
    )
    assert beside.proposal.profile == "evaluate", "no option makes it change anything"


@dataclass
class PageReader:
    """Reads pages and remembers which."""

    spec: ToolSpec
    read: list[str] = field(default_factory=list)

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        self.read.append(arguments["page"])
        return ToolOk(summary="read", data="nothing about it", source="web")


def page_reader() -> PageReader:
    spec = a_tool("read_web_page", purpose="Reads a web page.", properties={"page": STRING})
    return PageReader(spec)


READS = CallTools(calls=(("read_web_page", {"page": "prices"}),))
ON_THE_WEB = f"{QUESTION} Read the web page."


@pytest.mark.parametrize("asked", [(), ("read_web_page",)])
async def test_a_reading_that_the_user_wants_to_be_asked_about_is_not_made_in_a_shadow(
    notes: NoteFolder, asked: tuple[str, ...]
) -> None:
    tool = page_reader()
    stage = staged(notes, scripted(READS, GOOD), tools={"read_web_page": tool})
    made = drafted(ON_THE_WEB)
    run = stage.approved(replace(made, contract=replace(made.contract, approval_required=asked)))
    _, second = await both(stage, run)
    assert second.status == "completed", "it waits for nobody"
    assert tool.read == ([] if asked else ["prices"])
    (returned,) = [body for body in stage.bodies(second.run, CallReturned) if body.name == "read_web_page"]
    assert returned.performed == (not asked)


async def test_a_tool_that_the_user_took_out_is_not_used_in_a_shadow(notes: NoteFolder) -> None:
    tool = page_reader()
    stage = staged(notes, scripted(READS, GOOD), tools={"read_web_page": tool})
    made = drafted(ON_THE_WEB)
    first, *others = made.roster.agents
    thinking = replace(first, model_policy=MODEL)
    reviewed = replace(made, roster=replace(made.roster, agents=(thinking, *others)))
    beside = await shadow(stage.shop, stage.approved(reviewed), WITH_MODEL)
    assert (await stage.execute(beside.run)).status == "completed"
    assert tool.read == []


async def test_memories_that_the_user_took_out_are_not_in_a_shadow(notes: NoteFolder) -> None:
    stage = staged(notes, scripted())
    memory = stage.shop.memory
    assert memory is not None
    kept, removed = (
        memory.remember(
            memory_of(
                Candidate(
                    kind="preference",
                    text=text,
                    lang="en",
                    origin="user",
                    taint="trusted",
                    confirmed_by="user",
                ),
                stage.clock.now(),
            )
        )
        for text in ("Answer in short sentences.", "Name the page.")
    )
    assert {kept, removed} == set(memory.entries())
    reviewed = replace(drafted(), memories=(Recalled(memory=kept, score=1.0),))
    beside = await shadow(stage.shop, stage.approved(reviewed), WITH_MODEL)
    assert beside.proposal is not None
    assert [each.memory.id for each in beside.proposal.memories] == [kept.id]


async def test_only_an_approved_run_has_a_shadow_and_a_copy_of_one_is_one(notes: NoteFolder) -> None:
    stage = staged(notes, scripted())
    run = stage.approved(drafted())
    beside = await shadow(stage.shop, run, WITH_MODEL)
    assert run_again(stage.shop, beside.run).shadow_of == run
    assert run_again(stage.shop, run).shadow_of is None
    unapproved = stage.shop.ids.run()
    stage.shop.store.create_run(unapproved, "Why?", stage.clock.now())
    with pytest.raises(WrongState, match="approved"):
        await shadow(stage.shop, RunId(unapproved), WITH_MODEL)
