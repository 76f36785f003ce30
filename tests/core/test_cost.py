"""An event costs the sub-tasks that it concerns, at any size of the plan (architecture 1). Counts, no times."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any, ClassVar

import pytest

from graphs.contract import TaskContract
from graphs.lint import LintFinding, lint
from graphs.plan import NodeId, Plan, SubTask
from orchestrator.core import decide as deciding
from orchestrator.core import node_steps, transition
from orchestrator.core import split_faults as faults
from orchestrator.core.decide import decide, recover
from orchestrator.core.events import (
    AttemptVerified,
    Backtracked,
    BlockageClassified,
    Body,
    Event,
    NodeReused,
    NodesSkipped,
    ProposalApproved,
)
from orchestrator.core.reducer import apply, initial
from orchestrator.core.requests import Answer
from orchestrator.core.state import NodeState, RunState
from orchestrator.core.transition import Placed
from tests.core.builders import failure, plan, proposal, subtask
from tests.core.simulation import OK, RUN, Simulation, fails, rejected
from tests.core.strategies import SEVERAL

WIDTH, DEPTH = 300, 10
"""3,000 sub-tasks: chains side by side, with a few ties between neighbours."""


@dataclass
class Touched:
    written: int = 0
    """Nodes put into the state."""
    asked: int = 0
    """Nodes that `decide` looked at."""


@contextmanager
def counting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Touched]:
    touched = Touched()
    place, ask = transition.placed, deciding.next_for_node

    def counted_place(state: RunState, *nodes: NodeState) -> Placed:
        touched.written += len(nodes)
        return place(state, *nodes)

    def counted_ask(state: RunState, name: NodeId, **how: Any) -> Any:
        touched.asked += 1
        return ask(state, name, **how)

    with monkeypatch.context() as patch:
        patch.setattr(node_steps, "placed", counted_place)
        # What `with_node` calls, here and in `rewinding`.
        patch.setattr(transition, "placed", counted_place)
        patch.setattr(deciding, "next_for_node", counted_ask)
        yield touched


def wide_plan() -> Any:
    edges = [f"n{x}_{y}>n{x}_{y + 1}" for x in range(WIDTH) for y in range(DEPTH - 1)]
    edges += [f"n{x}_{y}~n{x + 1}_{y + 1}" for x in range(0, WIDTH - 1, 7) for y in range(DEPTH - 1)]
    return plan(" ".join(edges))


def concern(body: Body, state: RunState) -> int:
    """How many sub-tasks an event is about: those that it names and the ones that wait for them."""
    assert state.index is not None
    match body:
        case AttemptVerified() | NodeReused():
            return 1 + len(state.index.successors(body.node))
        case Backtracked(plan=back):
            # Each invalidated one, the failing one's record and the repaired one.
            return len(back.invalidated) + 2
        case NodesSkipped(nodes=nodes):
            return sum(1 + len(state.index.successors(name)) for name in nodes)
        case _:
            return 1


def test_an_event_costs_what_it_concerns(monkeypatch: pytest.MonkeyPatch) -> None:
    draft = proposal(wide_plan())
    assert len(draft.plan.subtasks) == WIDTH * DEPTH
    script = {
        "n7_4": [fails(failure("structure"))],
        "n20_1": [fails(failure("timeout"))],
        "n40_0": [fails(failure("limit"))],
    }
    with counting(monkeypatch) as touched:
        kinds: set[str] = set()

        def watch(_: RunState, event: Event, __: object, state: RunState) -> None:
            kinds.add(event.body.type)
            if not isinstance(event.body, ProposalApproved):
                bound = concern(event.body, state) if state.index else 1
                assert touched.written <= bound, event.body.type
                # One more for the question whether the command that led here was still open.
                assert touched.asked <= bound + 1, event.body.type
            touched.written = touched.asked = 0

        run = Simulation(draft, script, cap=10_000, watchers=[watch])
        touched.asked = 0
        for _ in range(3_000):
            run.step()
            touched.written = touched.asked = 0
    assert {"attempt.verified", "backtrack.started", "node.skipped", "retry.scheduled"} <= kinds


def calls_per_event(chains: int) -> list[tuple[str, int]]:
    """How many functions, of Python and of C, are called for `apply` and `decide`, for each of a run's first events."""
    edges = " ".join(f"n{x}_{y}>n{x}_{y + 1}" for x in range(chains) for y in range(LENGTH - 1))
    # One is tried again and one goes back, so that a retry and a backtrack are among the events.
    script = {"n0_0": [fails(failure("timeout"))], "n1_0": [rejected(failure("structure"))]}
    run = Simulation(proposal(plan(edges)), script, cap=2)
    while len(run.log) < EVENTS:
        assert run.step()
    counted = 0

    def count(_: FrameType, event: str, __: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    calls: list[tuple[str, int]] = []
    state = initial(RUN)
    for event in run.log[:EVENTS]:
        counted = 0
        sys.setprofile(count)
        try:
            state = apply(state, event)
            decide(state, event)
        finally:
            sys.setprofile(None)
        calls.append((event.body.type, counted))
    return calls


LENGTH, EVENTS = 10, 80
ONCE_PER_RUN = frozenset({"proposal.drafted", "proposal.approved", "run.executor"})
"""The plan is indexed at the approval, and the first attempts are found when an executor takes over."""


def test_an_event_takes_the_same_steps_among_10000_sub_tasks_as_among_100() -> None:
    calls_per_event(10)  # what is remembered after the first time is remembered for both
    small, large = calls_per_event(10), calls_per_event(1_000)
    assert {"attempt.verified", "backtrack.started", "retry.scheduled"} <= {kind for kind, _ in small}
    assert [kind for kind, _ in small] == [kind for kind, _ in large]
    differing = {
        kind: (few, many)
        for (kind, few), (_, many) in zip(small, large, strict=True)
        if few != many and kind not in ONCE_PER_RUN
    }
    assert differing == {}


def test_only_a_restart_looks_at_every_node_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Simulation(proposal(plan(" ".join(f"a>b{number}" for number in range(200)))))
    with counting(monkeypatch) as touched:
        recover(run.state)
    assert (touched.written, touched.asked) == (0, 201)


class CountedTuple(tuple[SubTask, ...]):
    """Counts how many of its members are looked at one after the other."""

    __slots__ = ()
    looked_at: ClassVar[int] = 0

    def __iter__(self) -> Iterator[SubTask]:
        for member in super().__iter__():
            type(self).looked_at += 1
            yield member


def test_a_plan_is_linted_once_however_often_its_paths_block(monkeypatch: pytest.MonkeyPatch) -> None:
    linted: list[Plan] = []

    def counted_lint(plan: Plan, contract: TaskContract) -> tuple[LintFinding, ...]:
        linted.append(plan)
        return lint(plan, contract)

    monkeypatch.setattr(faults, "lint", counted_lint)
    chains = " ".join(f"x{i}>y{i} y{i}>z{i}" for i in range(20))
    doubtful = {f"y{i}": replace(subtask(f"y{i}"), title=SEVERAL) for i in range(0, 20, 2)}
    work = plan(chains, lone="", optional="", **doubtful)
    # Each z sends its run back to its y, which then blocks too: two nodes of one path in a row.
    script = {f"z{i}": [rejected(failure("structure"))] for i in range(20)}
    script |= {f"y{i}": [OK, fails(failure("tool_missing"))] for i in range(20)}
    run = Simulation(proposal(work), script, cap=1)
    run.run()
    pairs = [
        body
        for body in run.bodies(BlockageClassified)
        if isinstance(body, BlockageClassified)
        and any(reason.code == "follows" for reason in body.blockage.reasons)
    ]
    assert len(pairs) == 20
    assert [each for each in linted if each is work] == [work]


def test_an_amendment_looks_at_each_sub_task_a_few_times_only() -> None:
    work = plan(" ".join(f"n{x}_{y}>n{x}_{y + 1}" for x in range(30) for y in range(9)))
    last = {"n0_9": [fails(failure("tool_missing"))] * 2}
    amended = replace(proposal(work), revision=2)
    amended = replace(amended, plan=replace(work, subtasks=CountedTuple(work.subtasks)))
    run = Simulation(proposal(work), last, answers=[Answer(choice="review")], amend=lambda _: amended)
    while run.state.status != "reviewing":
        assert run.step()
    assert run.state.counts.accepted == 299
    CountedTuple.looked_at = 0
    run.step()
    assert run.state.approved_revision == 2
    assert CountedTuple.looked_at <= 10 * 300  # one by one for each node it would be 45,000
