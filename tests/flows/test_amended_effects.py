"""What a sub-task did to the world stays a fact of the run, when an amendment renames that sub-task or takes it out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from agents.broker import Broker
from agents.results import WorkResult
from agents.workers.ports import WorkOrder
from orchestrator.core.decide import decide, recover
from orchestrator.core.effects import effects_of
from orchestrator.core.events import AttemptStarted, CallReturned, RequestOpened
from orchestrator.core.ids import ArtefactId, RunId
from orchestrator.core.reducer import apply
from orchestrator.core.requests import Answer, ChoiceId
from orchestrator.core.state import RunState
from orchestrator.core.unsettled import unsettled
from orchestrator.desk import answer, approve, post_control, revise
from orchestrator.shell.store.memory_store import MemoryStore
from tests.core.builders import A1, n, plan, proposal
from tests.flows.outbox import Outbox, SendTool
from tests.flows.stage import EVERY, ROWS, NoteFolder, Script, Stage, passes_on, says, set_stage, written
from tests.flows.test_approvals import BOB

UNKNOWN = 'send {"text":"hello","to":"bob"}: begun, and nobody knows whether it happened; look'


@dataclass
class Amended:
    """A run whose sub-task `a` sent a letter to bob; its plan is amended then."""

    notes: NoteFolder
    outbox: Outbox = field(default_factory=Outbox)
    store: MemoryStore = field(default_factory=MemoryStore)
    writes: Sequence[str] = ()
    """The sub-tasks of the amended plan that send the letter again."""
    run: RunId | None = None
    stage: Stage | None = None

    async def go(self, *, heard: bool = True) -> RunState:
        """Execute until it rests, in a new process; unless `heard`, the answer of the outbox gets lost."""
        good = says(self.notes.quoted("a", "storage.md", ROWS, question="Why?"))

        async def for_ever() -> None:
            stop.set()
            await asyncio.Event().wait()

        async def works(order: WorkOrder, broker: Broker) -> WorkResult:
            if order.subtask.id in ("a", *self.writes):
                await broker.call_tool(BOB)
            return good

        stop = asyncio.Event()
        script: Script = {(n("b"), EVERY): passes_on, **{(n(name), EVERY): works for name in "axy"}}
        tool = SendTool(self.outbox, after=None if heard else for_ever)
        self.stage = set_stage(self.notes, script, store=self.store, tools={"send": tool})
        if self.run is None:
            self.run = self.stage.approved(replace(proposal(plan("a>b")), grants={A1: ("send",)}))
        return await self.stage.execute(self.run, stop=stop)

    def says(self, choice: ChoiceId) -> None:
        assert self.stage is not None
        assert self.run is not None
        (request,) = self.stage.state(self.run).requests.keys()
        answer(self.stage.shop, request, Answer(choice=choice), by="test")

    async def reopened(self, *, heard: bool) -> None:
        """Have the letter sent, and go back to the review over what became of it."""
        await self.go()
        self.says("approve")
        await self.go(heard=heard)
        if heard:
            return
        state = await self.go()
        (request,) = state.requests.values()
        assert request.reason == "outcome_unknown"
        self.says("review")
        assert (await self.go()).status == "reviewing"

    def amends(self, edges: str) -> None:
        """Approve another plan."""
        assert self.stage is not None
        assert self.run is not None
        now = self.stage.state(self.run).proposal
        assert now is not None
        sketch = proposal(plan(edges))
        edited = replace(now, plan=sketch.plan, assignment=sketch.assignment)
        state = revise(self.stage.shop, self.run, edited, ["another plan"])
        assert state.proposal is not None
        assert state.sha256 is not None
        approve(self.stage.shop, self.run, state.proposal.revision, state.sha256, by="test")

    @property
    def started(self) -> list[str]:
        """The sub-tasks that attempts were begun for since the last approval."""
        assert self.stage is not None
        assert self.run is not None
        return [str(body.node) for body in self.stage.bodies(self.run, AttemptStarted)]

    @property
    def letters(self) -> list[str]:
        return [to for _, to in self.outbox.sent]


@pytest.fixture
async def amended(tmp_path: Path) -> Amended:
    made = Amended(written(tmp_path))
    await made.reopened(heard=False)
    made.amends("x>b")
    return made


async def test_a_person_says_what_came_of_it_before_the_amended_plan_goes_on(amended: Amended) -> None:
    before = amended.started
    state = await amended.go()
    (request,) = state.requests.values()
    assert (state.status, request.node, request.reason) == ("suspended", "a", "outcome_unknown")
    assert request.choices == ("happened", "nothing", "abandon", "review")
    assert request.call is not None
    assert (request.call.tool, request.call.arguments) == ("send", BOB.arguments)
    assert amended.started == before
    amended.says("happened")
    done = await amended.go()
    assert (done.status, done.gaps, amended.letters) == ("completed", (), ["bob"])
    assert [(call.node, call.tool, call.outcome) for call in effects_of(done)] == [("a", "send", "made")]


async def test_who_decides_on_the_same_letter_of_another_name_is_shown_the_first(amended: Amended) -> None:
    amended.writes = ("x",)
    await amended.go()
    amended.says("happened")
    (request,) = (await amended.go()).requests.values()
    assert request.call is not None
    assert (request.node, request.reason) == ("x", "approval_needed")
    assert [(each.arguments, each.outcome) for each in request.call.earlier] == [(BOB.arguments, "made")]
    assert amended.letters == ["bob"]


@pytest.mark.parametrize(
    ("choice", "outcome", "status", "gaps"),
    [("nothing", "nothing", "completed", ()), ("abandon", "unknown", "partial", (UNKNOWN,))],
)
async def test_what_they_say_is_what_the_end_of_the_run_says(
    amended: Amended, choice: ChoiceId, outcome: str, status: str, gaps: tuple[str, ...]
) -> None:
    await amended.go()
    amended.says(choice)
    done = await amended.go()
    assert (done.status, done.gaps) == (status, gaps)
    assert [call.outcome for call in effects_of(done)] == [outcome]
    assert amended.stage is not None
    assert amended.run is not None
    asked = [body.request.node for body in amended.stage.bodies(amended.run, RequestOpened)]
    assert asked == ["a", "a", "a"], "to approve it, what became of it, and once more under the amended plan"


async def test_a_run_that_is_cancelled_meanwhile_names_it(amended: Amended) -> None:
    await amended.go()
    assert amended.stage is not None
    assert amended.run is not None
    post_control(amended.stage.shop, amended.run, "cancel", by="test")
    state = amended.stage.state(amended.run)
    assert (state.status, state.gaps) == ("cancelled", (UNKNOWN,))


async def test_the_plan_can_be_amended_once_more_instead(amended: Amended) -> None:
    await amended.go()
    amended.says("review")
    assert (await amended.go()).status == "reviewing"
    amended.amends("y>b")
    state = await amended.go()
    (request,) = state.requests.values()
    assert (request.node, request.reason) == ("a", "outcome_unknown")
    amended.says("happened")
    assert (await amended.go()).status == "completed"


async def test_a_name_that_comes_back_goes_on_with_its_calls_and_its_generation(amended: Amended) -> None:
    await amended.go()
    amended.says("review")
    await amended.go()
    assert amended.stage is not None
    assert amended.run is not None
    generation = amended.stage.state(amended.run).dropped[n("a")].generation
    amended.amends("a>b")
    state = amended.stage.state(amended.run)
    assert (state.node(n("a")).generation, len(state.dropped)) == (generation + 1, 0)
    assert [call.tool for call in unsettled(state)] == ["send"]
    (request,) = (await amended.go()).requests.values()
    assert (request.node, request.reason, request.choices[:2]) == (
        "a",
        "outcome_unknown",
        ("happened", "repeat"),
    )


async def test_what_comes_late_is_taken_into_the_record(amended: Amended) -> None:
    assert amended.stage is not None
    assert amended.run is not None
    log = amended.stage.log(amended.run)
    state = amended.stage.state(amended.run)
    (call,) = unsettled(state)
    body = CallReturned(
        node=n("a"),
        generation=call.generation,
        attempt=call.attempt,
        step=call.step,
        index=call.index,
        call="tool",
        name="send",
        arguments=call.arguments,
        arguments_digest=call.arguments_digest,
        arguments_origin="computed",
        arguments_taint="trusted",
        result=ArtefactId("0" * 64),
        ok=True,
        summary="sent",
        key=call.key,
    )
    event = replace(log[-1], seq=state.seq + 1, body=body)
    after = apply(state, event)
    assert unsettled(after) == ()
    assert [call.outcome for call in effects_of(after)] == ["made"]
    assert decide(after, event) == ()
    taken_over = replace(after, status="running", epoch=9)
    assert [command.node for command in recover(taken_over) if hasattr(command, "node")] == ["x"]
