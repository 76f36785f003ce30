"""Calls with an effect in an attempt that works twice (path 1, then path 2): what the first step did holds for both."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from agents.broker import Broker
from agents.results import Need, OpenQuestion, WorkResult
from agents.tools.contract import ToolCall, ToolError, ToolResult
from agents.workers.ports import WorkOrder
from orchestrator.core.events import CallCommitted
from orchestrator.core.ids import RunId
from orchestrator.core.requests import Answer, ChoiceId
from orchestrator.core.state import RunState
from orchestrator.desk import answer
from orchestrator.shell.store.memory_store import MemoryStore
from tests.core.builders import A1, n, plan, proposal
from tests.flows.outbox import SEND, Outbox, SendTool
from tests.flows.stage import (
    EVERY,
    ROWS,
    Extras,
    NoteFolder,
    Script,
    Stage,
    passes_on,
    says,
    set_stage,
    written,
)
from tests.flows.test_approvals import BOB, EVE

LOST = ToolError(error_type="TIMEOUT", message="no answer", retryable=True)
REFUSED = ToolError(error_type="NO_SUCH_ADDRESS", message="no bob here", retryable=False)


@dataclass
class TwoSteps:
    """A run whose first sub-task makes these calls on path 1 and on path 2, for path 1 leaves a question open."""

    notes: NoteFolder
    calls: Mapping[int, Sequence[ToolCall]]
    outbox: Outbox = field(default_factory=Outbox)
    store: MemoryStore = field(default_factory=MemoryStore)
    together: bool = False
    """Whether the worker makes its calls at the same time."""
    told: list[tuple[int, ToolResult]] = field(default_factory=list)
    run: RunId | None = None

    def __post_init__(self) -> None:
        self.tool = SendTool(self.outbox)

    async def go(self) -> tuple[Stage, RunState]:
        """Execute until it rests, in a new process."""
        good = says(self.notes.quoted("a", "storage.md", ROWS, question="Why?"))
        need = Need(domain="cs.databases", question="How?", band="BACKGROUND", match=0.9)
        lacks = says(
            self.notes.quoted("a", "storage.md", ROWS, question="Why?"),
            extras=Extras(
                open_questions=(OpenQuestion(question="How?", reason="not_found", searched=("x",)),),
                needs=(need,),
            ),
        )

        async def works(order: WorkOrder, broker: Broker) -> WorkResult:
            made = [broker.call_tool(call) for call in self.calls[order.path]]
            results = await asyncio.gather(*made) if self.together else [await one for one in made]
            self.told.extend((order.path, result) for result in results)
            return lacks if order.path == 1 else replace(good, path=2)

        script: Script = {(n("a"), EVERY): works, (n("b"), EVERY): passes_on}
        stage = set_stage(self.notes, script, store=self.store, tools={"send": self.tool})
        if self.run is None:
            self.run = stage.approved(replace(proposal(plan("a>b")), grants={A1: ("send",)}))
        return stage, await stage.execute(self.run)

    async def asked(self, reason: str, word: ChoiceId) -> None:
        """Execute until a person is asked for this reason, who then says the word."""
        stage, state = await self.go()
        assert [request.reason for request in state.requests.values()] == [reason]
        (request,) = state.requests
        answer(stage.shop, request, Answer(choice=word), by="test")

    @property
    def letters(self) -> list[str]:
        return [to for _, to in self.outbox.sent]


@pytest.fixture
def notes(tmp_path: Path) -> NoteFolder:
    return written(tmp_path)


async def test_what_a_person_let_repeat_is_repeated_once(notes: NoteFolder) -> None:
    """The word is used up before path 2 begins; it used to look unused there, and the run ended as a bug."""
    desk = TwoSteps(notes, {1: (), 2: (BOB,)})
    lost = [LOST]
    desk.tool.before = lambda: lost.pop() if lost else None
    await desk.asked("approval_needed", "approve")
    await desk.asked("outcome_unknown", "repeat")
    stage, state = await desk.go()
    assert (state.status, desk.letters) == ("completed", ["bob"])
    # One on the approval, one on the word to repeat.
    assert len(stage.bodies(state.run, CallCommitted)) == 2


async def test_an_approved_call_is_made_once_however_often_the_second_step_proposes_it(
    notes: NoteFolder,
) -> None:
    desk = TwoSteps(notes, {1: (BOB,), 2: (BOB, BOB)})
    await desk.asked("approval_needed", "approve")
    stage, state = await desk.go()
    assert (state.status, desk.letters) == ("completed", ["bob"])
    assert [(path, result.ok) for path, result in desk.told] == [(1, True), (2, True), (2, True)]
    assert len(stage.bodies(state.run, CallCommitted)) == 1


async def test_a_call_that_failed_when_it_was_settled_is_not_made_again_by_the_second_step(
    notes: NoteFolder,
) -> None:
    desk = TwoSteps(notes, {1: (BOB,), 2: ()})
    desk.tool.before = lambda: LOST
    await desk.asked("approval_needed", "approve")
    await desk.asked("outcome_unknown", "repeat")
    made: list[ToolCall] = []

    def refuse() -> ToolError:
        made.append(BOB)
        return REFUSED

    # Meanwhile the tool can tell that it did not happen: it is made at the resume, and fails for certain.
    desk.tool.knows, desk.tool.before = True, refuse
    _, state = await desk.go()
    assert (state.status, len(made), desk.letters) == ("completed", 1, [])
    (call,) = state.node(n("a")).committed.values()
    assert call.failed


async def test_a_draft_that_can_not_be_looked_up_is_written_once(notes: NoteFolder) -> None:
    desk = TwoSteps(notes, {1: (BOB,), 2: (BOB,)})
    desk.tool.spec = replace(SEND, side_effect="draft", compensation="take_back")
    _, state = await desk.go()
    assert (state.status, desk.letters) == ("completed", ["bob"])
    assert [result.ok for _, result in desk.told] == [True, True]


async def test_a_letter_of_the_second_step_is_decided_on_with_those_of_the_first(notes: NoteFolder) -> None:
    desk = TwoSteps(notes, {1: (BOB,), 2: (EVE,)})
    await desk.asked("approval_needed", "approve")
    _, state = await desk.go()
    (request,) = state.requests.values()
    assert request.call is not None
    assert [(one.arguments["to"], one.outcome) for one in request.call.earlier] == [("bob", "made")]


async def test_equal_calls_at_the_same_time_have_their_effect_once(notes: NoteFolder) -> None:
    """The first is under way, and can be seen nowhere yet, when the second comes."""
    desk = TwoSteps(notes, {1: (BOB, BOB), 2: ()}, together=True)

    class Slow(SendTool):
        async def perform(self, arguments: Mapping[str, Any], key: str) -> ToolResult:
            await asyncio.sleep(0)
            return await super().perform(arguments, key)

    desk.tool = Slow(desk.outbox, spec=replace(SEND, side_effect="draft"), knows=True)
    _, state = await desk.go()
    assert (state.status, desk.letters) == ("completed", ["bob"])
    assert [result.ok for _, result in desk.told] == [True, True]
