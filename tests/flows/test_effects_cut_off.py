"""Effects that something cut off are never forgotten: they are looked up, asked about, or named where the run ends."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from agents.broker import Broker
from agents.models.scripted import CallTools
from agents.results import WorkResult
from agents.tools.contract import ToolError, ToolResult
from agents.tools.ports import NotPerformed, Tool
from agents.workers.ports import WorkOrder
from orchestrator.core.events import CallCommitted, CallReturned, RequestOpened
from orchestrator.core.requests import Answer
from orchestrator.desk import answer, post_control
from orchestrator.shell.store.memory_store import MemoryStore
from tests.core.builders import A1, n, plan, proposal
from tests.flows.counting import CountingTool
from tests.flows.outbox import Outbox, SendTool
from tests.flows.stage import EVERY, ROWS, NoteFolder, Script, passes_on, says, set_stage, written
from tests.flows.test_approvals import BOB, EVE, Desk
from tests.flows.test_model_runs import GOOD, draft, thinking

FIRST = CallTools(calls=(("send", {"to": "bob", "text": "hello"}),))
SECOND = CallTools(calls=(("send", {"to": "bob", "text": "hello again"}),))


@pytest.fixture
def notes(tmp_path: Path) -> NoteFolder:
    return written(tmp_path)


@dataclass
class Sometimes(CountingTool):
    """Another tool, which is away at times: then it is not offered, and the request of the model looks otherwise."""

    why: str | None = None

    def unavailable(self) -> str | None:
        return self.why


@dataclass
class Letters:
    """A run whose model sent a letter, of which the process did not live to hear."""

    notes: NoteFolder
    outbox: Outbox
    store: MemoryStore

    @classmethod
    async def sent(cls, notes: NoteFolder) -> tuple[Letters, Any]:
        self = cls(notes, Outbox(), MemoryStore())
        stage, _ = thinking(
            notes, FIRST, GOOD, store=self.store, tools={"send": SendTool(self.outbox), "count": Sometimes()}
        )
        run = stage.approved(draft(tools=("send", "count")))
        assert (await stage.execute(run)).status == "suspended"
        (request,) = stage.state(run).requests.keys()
        answer(stage.shop, request, Answer(choice="approve"), by="test")
        stop = asyncio.Event()

        async def gone() -> None:
            stop.set()
            await asyncio.Event().wait()

        tools: dict[str, Tool] = {"send": SendTool(self.outbox, after=gone), "count": Sometimes()}
        stage, _ = thinking(notes, FIRST, GOOD, store=self.store, tools=tools)
        await stage.execute(run, stop=stop)
        assert [to for _, to in self.outbox.sent] == ["bob"]
        return self, run


@pytest.mark.parametrize("away", [None, "its server is down"])
async def test_a_resume_goes_on_from_the_record_whatever_is_on_offer_now(
    notes: NoteFolder, away: str | None
) -> None:
    """Semantics 6: asking the model again could change the arguments, hence the key, hence pay twice."""
    letters, run = await Letters.sent(notes)
    tools: dict[str, Tool] = {"send": SendTool(letters.outbox), "count": Sometimes(why=away)}
    stage, model = thinking(notes, SECOND, GOOD, store=letters.store, tools=tools)
    state = await stage.execute(run)
    assert (state.status, len(model.requests)) == ("suspended", 0)
    assert [body.request.reason for body in stage.bodies(run, RequestOpened)] == [
        "approval_needed",
        "outcome_unknown",
    ]


async def test_a_tool_that_can_tell_is_asked_before_anything_else_is_done(notes: NoteFolder) -> None:
    letters, run = await Letters.sent(notes)
    tools: dict[str, Tool] = {"send": SendTool(letters.outbox, knows=True), "count": Sometimes(why="down")}
    stage, model = thinking(notes, GOOD, store=letters.store, tools=tools)
    state = await stage.execute(run)
    assert (state.status, len(model.requests)) == ("completed", 1)
    (done,) = state.node(n("a")).committed.values()
    assert (done.unsettled, done.failed) == (False, False)
    assert len(stage.bodies(run, CallCommitted)) == 1
    assert [body.key for body in stage.bodies(run, CallReturned) if body.name == "send"] == [done.key]


async def test_a_tool_that_is_gone_leaves_it_to_a_person(notes: NoteFolder) -> None:
    letters, run = await Letters.sent(notes)
    stage, _ = thinking(notes, GOOD, store=letters.store, tools={"count": Sometimes()})
    state = await stage.execute(run)
    (request,) = state.requests.values()
    assert (state.status, request.reason) == ("suspended", "outcome_unknown")
    answer(stage.shop, request.id, Answer(choice="happened"), by="test")
    assert (await stage.execute(run)).status == "completed"


async def test_a_cancelled_run_names_what_nobody_knows(notes: NoteFolder) -> None:
    letters, run = await Letters.sent(notes)
    stage, _ = thinking(notes, GOOD, store=letters.store, tools={"send": SendTool(letters.outbox)})
    post_control(stage.shop, run, "cancel", by="test")
    state = stage.state(run)
    assert state.status == "cancelled"
    (gap,) = state.gaps
    assert "nobody knows whether it happened" in gap
    assert 'send {"text":"hello","to":"bob"}' in gap


async def test_a_deadline_in_the_middle_of_an_effect_is_asked_about(notes: NoteFolder) -> None:
    outbox = Outbox()
    base = proposal(plan("a>b"))
    good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))

    async def for_ever() -> None:
        await asyncio.Event().wait()

    async def works(order: WorkOrder, broker: Broker) -> WorkResult:
        del order
        await broker.call_tool(BOB)
        return good

    script: Script = {(n("a"), EVERY): works, (n("b"), EVERY): passes_on}
    stage = set_stage(notes, script, tools={"send": SendTool(outbox, after=for_ever)})
    limits = replace(base.contract.limits, deadline_s=0.05)
    draft_ = replace(base, contract=replace(base.contract, limits=limits), grants={A1: ("send",)})
    run = stage.approved(draft_)
    await stage.execute(run)
    (request,) = stage.state(run).requests.keys()
    answer(stage.shop, request, Answer(choice="approve"), by="test")
    state = await stage.execute(run)
    assert (state.status, [to for _, to in outbox.sent]) == ("suspended", ["bob"])
    (asked,) = state.requests.values()
    assert asked.reason == "outcome_unknown"
    answer(stage.shop, asked.id, Answer(choice="happened"), by="test")
    assert (await stage.execute(run)).status == "completed"
    assert len(outbox.sent) == 1


async def test_that_a_call_happened_is_no_approval_of_another_one(notes: NoteFolder) -> None:
    desk = Desk(notes)
    lost = ToolError(error_type="UNAVAILABLE", message="reset", retryable=True)
    desk.tool = SendTool(desk.outbox, before=lambda: lost)
    await desk.go()
    desk.says("approve")
    await desk.go()

    class Knows(SendTool):
        async def outcome_of(
            self, arguments: Mapping[str, Any], key: str
        ) -> ToolResult | NotPerformed | None:
            del arguments, key
            return ToolError(error_type="NO_SUCH_ADDRESS", message="it was refused", retryable=False)

    desk.tool = Knows(desk.outbox)
    desk.calls = (BOB, EVE)
    desk.says("happened")
    await desk.go()
    assert desk.letters == []
    desk.calls = (BOB, BOB, BOB, EVE)
    desk.tool = SendTool(desk.outbox)
    desk.says("refuse")
    await desk.go()
    assert desk.letters == []
