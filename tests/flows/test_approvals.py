"""Calls with an effect: nobody but a person lets them be made, each word is good for one, and none is made twice."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from agents.broker import Broker
from agents.results import WorkResult
from agents.tools.builtin.drafts import draft_tools
from agents.tools.contract import ToolCall, ToolError, ToolOk, ToolResult
from agents.tools.ports import Tool
from agents.workers.ports import WorkOrder
from orchestrator.core.approvals import APPROVAL_TTL_S
from orchestrator.core.events import (
    AttemptHeld,
    AttemptStarted,
    CallCommitted,
    CallReturned,
    Event,
    RequestAnswered,
    RequestOpened,
)
from orchestrator.core.ids import RunId
from orchestrator.core.reducer import fold
from orchestrator.core.requests import Answer, ChoiceId
from orchestrator.core.state import RunState
from orchestrator.desk import answer
from orchestrator.interfaces.cli.bodies.summaries import request_lines
from orchestrator.shell.store.memory_store import MemoryStore
from tests.core.builders import A1, n, plan, proposal
from tests.flows.counting import CountingTool
from tests.flows.crashes import Crash, crash_at
from tests.flows.outbox import SEND, Outbox, SendTool
from tests.flows.stage import (
    EVERY,
    ROWS,
    NoteFolder,
    Script,
    Stage,
    passes_on,
    says,
    set_stage,
    written,
)

BOB = ToolCall(tool="send", arguments={"to": "bob", "text": "hello"}, id="call-1")
EVE = ToolCall(tool="send", arguments={"to": "eve", "text": "hello"}, id="call-2")


@dataclass
class Desk:
    """A run whose first sub-task makes these calls; a new stage over the same store is another process."""

    notes: NoteFolder
    calls: Sequence[ToolCall] = (BOB,)
    outbox: Outbox = field(default_factory=Outbox)
    counter: CountingTool = field(default_factory=CountingTool)
    store: MemoryStore = field(default_factory=MemoryStore)
    tool: SendTool | None = None
    told: list[list[ToolResult]] = field(default_factory=list)
    """What the worker was told of its calls, per time that it ran."""
    run: RunId | None = None
    stage: Stage | None = None

    async def go(self, **options: Any) -> RunState:
        """Execute until it rests, in a new process."""
        good = says(self.notes.quoted("a", "storage.md", ROWS, question="Why?"))

        async def works(order: WorkOrder, broker: Broker) -> WorkResult:
            del order
            self.told.append([])
            for call in self.calls:
                self.told[-1].append(await broker.call_tool(call))
            return good

        tools: dict[str, Tool] = {"send": self.tool or SendTool(self.outbox), "count": self.counter}
        script: Script = {(n("a"), EVERY): works, (n("b"), EVERY): passes_on}
        before = self.stage.clock.t if self.stage is not None else 0.0
        self.stage = set_stage(self.notes, script, store=self.store, tools=tools)
        self.stage.clock.t = before
        if self.run is None:
            self.run = self.stage.approved(replace(proposal(plan("a>b")), grants={A1: ("send", "count")}))
        return await self.stage.execute(self.run, **options)

    def says(self, choice: ChoiceId, guidance: str = "") -> None:
        """Answer the one open request, as another process does."""
        assert self.stage is not None
        assert self.run is not None
        (request,) = self.stage.state(self.run).requests.keys()
        answer(self.stage.shop, request, Answer(choice=choice, guidance=guidance), by="test")

    def bodies(self, kind: type[Any]) -> list[Any]:
        assert self.stage is not None
        assert self.run is not None
        return self.stage.bodies(self.run, kind)

    def log(self) -> list[Event]:
        assert self.stage is not None
        assert self.run is not None
        return self.stage.log(self.run)

    @property
    def letters(self) -> list[str]:
        return [to for _, to in self.outbox.sent]


@pytest.fixture
def notes(tmp_path: Path) -> NoteFolder:
    return written(tmp_path)


async def test_an_effect_waits_for_a_person_and_is_made_once_exactly_as_shown(notes: NoteFolder) -> None:
    count = ToolCall(tool="count", arguments={"what": "rows"})
    desk = Desk(notes, calls=(count, BOB))
    state = await desk.go()
    assert (state.status, desk.letters) == ("suspended", [])
    (request,) = [body.request for body in desk.bodies(RequestOpened)]
    assert (request.kind, request.reason, request.detail) == ("call", "approval_needed", "a letter to bob")
    assert request.choices == ("approve", "refuse", "abandon", "review")
    assert request.call is not None
    assert (request.call.tool, request.call.arguments) == ("send", {"to": "bob", "text": "hello"})

    desk.says("approve")
    state = await desk.go()
    assert (state.status, desk.letters) == ("completed", ["bob"])
    # The attempt is the same one, and what it had read before was not read again.
    assert [(body.node, body.attempt) for body in desk.bodies(AttemptStarted)] == [
        ("a", 1),
        ("a", 1),
        ("b", 1),
    ]
    assert desk.counter.calls == ["rows"]
    (committed,) = desk.bodies(CallCommitted)
    assert (committed.approval, committed.arguments) == (request.id, {"to": "bob", "text": "hello"})
    assert desk.outbox.sent[0][0] == committed.key
    order = [
        type(event.body).__name__
        for event in desk.log()
        if isinstance(
            event.body, AttemptHeld | RequestOpened | RequestAnswered | CallCommitted | CallReturned
        )
    ]
    assert order == [
        "CallReturned",
        "AttemptHeld",
        "RequestOpened",
        "RequestAnswered",
        "CallCommitted",
        "CallReturned",
    ]


async def test_a_refused_call_is_not_made_and_the_agent_goes_on(notes: NoteFolder) -> None:
    desk = Desk(notes)
    await desk.go()
    desk.says("refuse", "Bob has left.")
    state = await desk.go()
    assert (state.status, desk.letters) == ("completed", [])
    (told,) = desk.told[-1]
    assert isinstance(told, ToolError)
    assert told.error_type == "ACTION_DENIED"
    assert "Bob has left." in told.message
    assert desk.bodies(CallCommitted) == []


async def test_a_refused_call_that_is_proposed_again_is_not_shown_again_and_stops_the_agent(
    notes: NoteFolder,
) -> None:
    """Field report, kind 5: the second identical proposal is answered from the log, the third suspends."""
    desk = Desk(notes, calls=(BOB,) * 20)
    await desk.go()
    desk.says("refuse")
    state = await desk.go()
    assert (state.status, desk.letters) == ("suspended", [])
    assert [body.request.reason for body in desk.bodies(RequestOpened)] == [
        "approval_needed",
        "refused_again",
    ]
    # The first proposal was refused by the person, the second from the log, with a hint.
    assert [result.ok for result in desk.told[-1]] == [False, False]
    assert "the same call was made before" in str(desk.told[-1][1])
    desk.calls = (BOB,) * 3
    desk.says("approve")
    assert (await desk.go()).status == "completed"
    assert desk.letters == ["bob"]


async def test_a_call_that_was_let_at_its_third_proposal_is_no_loop_when_the_attempt_goes_on(
    notes: NoteFolder,
) -> None:
    """Its word is used up by then: the record is what counts, or the call behind it would never be made."""
    desk = Desk(notes, calls=(BOB, BOB, BOB, EVE))
    await desk.go()
    desk.says("refuse")
    await desk.go()
    desk.says("approve")
    state = await desk.go()
    (request,) = state.requests.values()
    assert (request.reason, request.call and request.call.arguments["to"]) == ("approval_needed", "eve")
    desk.says("approve")
    assert (await desk.go()).status == "completed"
    assert desk.letters == ["bob", "eve"]


async def test_a_word_on_a_third_proposal_that_got_old_is_asked_for_again(notes: NoteFolder) -> None:
    desk = Desk(notes, calls=(BOB,) * 3)
    await desk.go()
    desk.says("refuse")
    await desk.go()
    desk.says("approve")
    assert desk.stage is not None
    desk.stage.clock.t += APPROVAL_TTL_S + 1
    state = await desk.go()
    assert [request.reason for request in state.requests.values()] == ["approval_needed"]
    desk.says("approve")
    assert (await desk.go()).status == "completed"
    assert desk.letters == ["bob"]


async def test_each_call_needs_its_own_word(notes: NoteFolder) -> None:
    desk = Desk(notes, calls=(BOB, EVE))
    await desk.go()
    desk.says("approve")
    state = await desk.go()
    assert (state.status, desk.letters) == ("suspended", ["bob"])
    # Whoever decides on the second letter is told of the first.
    (second,) = state.requests.values()
    assert second.call is not None
    assert [(one.arguments["to"], one.outcome) for one in second.call.earlier] == [("bob", "made")]
    assert any(
        '此前（已执行）：{"text": "hello", "to": "bob"}' in line for line in request_lines(second, "zh")
    )
    desk.says("approve")
    assert (await desk.go()).status == "completed"
    assert desk.letters == ["bob", "eve"]


async def test_a_word_is_bound_to_the_arguments_that_were_shown(notes: NoteFolder) -> None:
    """Field report, kind 4: the amount becomes another one under the same call id."""
    desk = Desk(notes)
    await desk.go()
    desk.says("approve")
    desk.calls = (replace(EVE, id=BOB.id),)
    state = await desk.go()
    assert (state.status, desk.letters) == ("suspended", [])
    (request,) = state.requests.values()
    assert request.call is not None
    assert request.call.arguments["to"] == "eve"


async def test_a_word_is_good_for_one_call(notes: NoteFolder) -> None:
    """Field report, kind 4: resumed from before it."""
    desk = Desk(notes, calls=(BOB,))
    await desk.go()
    desk.says("approve")

    with pytest.raises(Crash):
        await desk.go(listeners=[crash_at(lambda event: isinstance(event.body, CallCommitted))])
    # It was committed, and the process died before it could be made; nobody can say so.
    state = await desk.go()
    assert (state.status, desk.letters) == ("suspended", [])
    (request,) = state.requests.values()
    assert (request.reason, request.choices[:2]) == ("outcome_unknown", ("happened", "repeat"))


async def test_an_old_word_is_asked_for_again(notes: NoteFolder) -> None:
    desk = Desk(notes)
    await desk.go()
    desk.says("approve")
    assert desk.stage is not None
    desk.stage.clock.t += APPROVAL_TTL_S + 1
    state = await desk.go()
    assert (state.status, desk.letters) == ("suspended", [])
    assert len(desk.bodies(RequestOpened)) == 2
    desk.says("approve")
    desk.stage.clock.t += APPROVAL_TTL_S - 1
    assert (await desk.go()).status == "completed"
    assert desk.letters == ["bob"]


@pytest.mark.parametrize("knows", [True, False])
async def test_a_call_that_was_cut_off_before_it_was_made_is_made_once(
    notes: NoteFolder, knows: bool
) -> None:
    """Field report, kind 7: killed before the side effect, after its record."""
    desk = Desk(notes)
    await desk.go()
    desk.says("approve")
    with pytest.raises(Crash):
        await desk.go(listeners=[crash_at(lambda event: isinstance(event.body, CallCommitted))])
    assert desk.letters == []
    desk.tool = SendTool(desk.outbox, knows=knows)
    state = await desk.go()
    if not knows:
        assert state.status == "suspended"
        desk.says("repeat")
        state = await desk.go()
    assert (state.status, desk.letters) == ("completed", ["bob"])


@pytest.mark.parametrize("knows", [True, False])
async def test_a_call_that_was_cut_off_after_it_was_made_is_not_made_again(
    notes: NoteFolder, knows: bool
) -> None:
    """Field report, kind 7: killed after the side effect, before its record."""
    desk = Desk(notes)
    await desk.go()
    desk.says("approve")
    stop = asyncio.Event()

    async def gone() -> None:
        stop.set()
        await asyncio.Event().wait()

    desk.tool = SendTool(desk.outbox, after=gone)
    await desk.go(stop=stop)
    assert desk.letters == ["bob"]
    assert len(desk.bodies(CallCommitted)) == 1

    desk.tool = SendTool(desk.outbox, knows=knows)
    state = await desk.go()
    if not knows:
        assert state.status == "suspended"
        desk.says("happened")
        state = await desk.go()
    assert (state.status, desk.letters) == ("completed", ["bob"])
    assert isinstance(desk.told[-1][0], ToolOk)


async def test_a_keyed_tool_is_asked_again_with_the_same_key(notes: NoteFolder) -> None:
    desk = Desk(notes)
    keyed = replace(SEND, repeat="keyed")
    desk.tool = SendTool(desk.outbox, spec=keyed)
    await desk.go()
    desk.says("approve")
    with pytest.raises(Crash):
        await desk.go(listeners=[crash_at(lambda event: isinstance(event.body, CallCommitted))])
    assert (await desk.go()).status == "completed"
    assert desk.outbox.sent == [(desk.bodies(CallCommitted)[0].key, "bob")]


async def test_a_tool_that_gives_no_answer_is_looked_up_and_else_a_person_is_asked(notes: NoteFolder) -> None:
    lost = ToolError(error_type="UNAVAILABLE", message="connection reset", retryable=True)
    desk = Desk(notes)
    desk.tool = SendTool(desk.outbox, before=lambda: lost)
    await desk.go()
    desk.says("approve")
    state = await desk.go()
    (request,) = state.requests.values()
    assert (state.status, request.reason, desk.letters) == ("suspended", "outcome_unknown", [])
    desk.tool = SendTool(desk.outbox)
    desk.says("repeat")
    assert (await desk.go()).status == "completed"
    assert desk.letters == ["bob"]


async def test_a_draft_that_was_undone_is_written_by_the_same_call_again(
    notes: NoteFolder, tmp_path: Path
) -> None:
    box = tmp_path / "undone"
    write, _, undo = draft_tools(box)
    text = ToolCall(tool="write_draft", arguments={"path": "letter", "content": "why?"})
    told: list[ToolResult] = []
    good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))

    async def works(order: WorkOrder, broker: Broker) -> WorkResult:
        del order
        told.append(await broker.call_tool(text))
        first = told[-1]
        assert isinstance(first, ToolOk)
        await undo.perform({"undo": first.data["undo"]}, "by a person")
        told.append(await broker.call_tool(text))
        return good

    script: Script = {(n("a"), EVERY): works, (n("b"), EVERY): passes_on}
    stage = set_stage(notes, script, tools={"write_draft": write})
    run = stage.approved(replace(proposal(plan("a>b")), grants={A1: ("write_draft",)}))
    held = await stage.execute(run)
    (request,) = held.requests.keys()
    assert (box / "letter").exists() is False, "the name is one that a tool said now: a person is asked"
    answer(stage.shop, request, Answer(choice="approve"), by="test")
    assert (await stage.execute(run)).status == "completed"
    assert [isinstance(each, ToolOk) and each.summary for each in told] == ["'letter' written"] * 3
    assert (box / "letter").read_text(encoding="utf-8") == "why?"


async def test_what_a_tool_says_did_not_happen_can_be_asked_for_again(notes: NoteFolder) -> None:
    """A definite error uses its word up all the same: the next attempt needs a new one."""
    no = ToolError(error_type="NO_SUCH_ADDRESS", message="no bob here", retryable=False)
    desk = Desk(notes)
    desk.tool = SendTool(desk.outbox, before=lambda: no)
    await desk.go()
    desk.says("approve")
    assert (await desk.go()).status == "completed"
    assert desk.told[-1] == [no]
    (done,) = fold(RunId("r-1"), desk.log()).node(n("a")).committed.values()
    assert done.failed


async def test_a_run_can_do_without_the_call(notes: NoteFolder) -> None:
    desk = Desk(notes)
    await desk.go()
    desk.says("abandon")
    state = await desk.go()
    assert (state.status, desk.letters) == ("blocked", [])


async def test_while_one_sub_task_waits_for_a_word_the_others_go_on(notes: NoteFolder) -> None:
    desk = Desk(notes)
    good = says(notes.quoted("c", "storage.md", ROWS, question="Why?"))

    async def works(order: WorkOrder, broker: Broker) -> WorkResult:
        del order
        await broker.call_tool(BOB)
        raise AssertionError("nobody let it be made")

    script: Script = {
        (n("a"), EVERY): works,
        (n("c"), EVERY): good,
        (n("d"), EVERY): passes_on,
        (n("b"), EVERY): passes_on,
    }
    stage = set_stage(notes, script, tools={"send": SendTool(desk.outbox)})
    run = stage.approved(replace(proposal(plan("a>b c>d")), grants={A1: ("send",)}))
    state = await stage.execute(run)
    assert state.status == "suspended"
    assert {name: state.node(n(name)).status for name in "abcd"} == {
        "a": "suspended",
        "b": "pending",
        "c": "accepted",
        "d": "accepted",
    }


async def test_a_run_that_is_evaluated_writes_nothing_not_even_a_draft(
    notes: NoteFolder, tmp_path: Path
) -> None:
    box = tmp_path / "drafts"
    write, *_ = draft_tools(box)
    good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
    told: list[ToolResult] = []

    async def works(order: WorkOrder, broker: Broker) -> WorkResult:
        del order
        call = ToolCall(tool="write_draft", arguments={"path": "letter", "content": "hello"})
        told.append(await broker.call_tool(call))
        return good

    script: Script = {(n("a"), EVERY): works, (n("b"), EVERY): passes_on}
    for profile, wrote in (("evaluate", False), ("production", True)):
        stage = set_stage(notes, script, tools={"write_draft": write})
        run = stage.approved(
            replace(proposal(plan("a>b")), grants={A1: ("write_draft",)}, profile=profile)  # type: ignore[arg-type]
        )
        await stage.execute(run)
        assert ((box / "letter").exists(), stage.bodies(run, CallCommitted) != []) == (wrote, wrote)
    pretended, made = told
    assert isinstance(pretended, ToolOk)
    assert "mocks" in pretended.summary
    assert isinstance(made, ToolOk)
