"""What holds for every run, over random plans, outcomes, answers and orders (semantics 5, 6 and 7)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.events import from_wire, to_wire
from orchestrator.core.proposal import Proposal
from orchestrator.core.recovery import max_attempts
from orchestrator.core.reducer import apply, fold, initial
from orchestrator.core.requests import Answer
from orchestrator.core.state import ENDED, RunState
from tests.core import invariants, strategies
from tests.core.builders import failure
from tests.core.simulation import OK, RUN, Outcome, Simulation, Watcher, fails

seeds = st.integers(0, 2**16)
drafts = strategies.proposals(strategies.plans())


def simulate(
    draft: Proposal,
    script: strategies.Scripts,
    *,
    seed: int,
    answers: Sequence[Answer] = (),
    amend: Callable[[Proposal], Proposal | None] = lambda _: None,
    watchers: Sequence[Watcher] = (),
    cap: int = 3,
) -> Simulation:
    return Simulation(
        draft, script, answers=answers, amend=amend, watchers=watchers, order="random", seed=seed, cap=cap
    )


def run_with_mishaps(run: Simulation, seed: int, mishaps: Sequence[str]) -> None:
    """Go on to the end, while processes die, and people pause, continue and cancel at any time."""
    random = Random(seed)
    left = list(mishaps)
    while True:
        if left and random.random() < 0.1 and run.state.status not in ENDED | {"reviewing"}:
            _mishap(run, left.pop())
        if not run.step():
            if not run.state.paused or run.state.status in ENDED:
                return
            run.go_on()


def _mishap(run: Simulation, kind: str) -> None:
    match kind:
        case "crash":
            run.take_over()
        case "pause":
            run.go_on() if run.state.paused else run.pause()
        case _:
            run.cancel()


mishap_lists = st.lists(st.sampled_from(["crash", "crash", "pause", "cancel"]), max_size=3)


@strategies.RUNS
@given(
    drafts,
    strategies.scripts(strategies.failing | strategies.accepted),
    st.lists(strategies.answers, max_size=5),
    strategies.amendments,
    mishap_lists,
    seeds,
)
def test_every_run_keeps_the_invariants_ends_and_replays(
    draft: Proposal,
    script: strategies.Scripts,
    answers: list[Answer],
    amend: Callable[[Proposal], Proposal | None],
    mishaps: list[str],
    seed: int,
) -> None:
    live: list[RunState] = []
    watchers: list[Watcher] = [
        invariants.check_counts,
        invariants.check_scope,
        invariants.check_bounds,
        invariants.check_agents,
        invariants.AttemptsAreBounded(),
        invariants.NothingLostNothingDoubled(),
        invariants.NoNeedlessWork(),
        lambda _, __, ___, state: live.append(state),
    ]
    run = simulate(draft, script, seed=seed, answers=answers, amend=amend, watchers=watchers)
    run_with_mishaps(run, seed, mishaps)
    state = run.state
    assert (
        state.status in ENDED
        or (state.status == "suspended" and len(state.requests))
        or (state.status == "reviewing")
    )
    if state.status in ("completed", "partial"):
        assert {node.status for node in state.nodes.values()} <= {"accepted", "skipped"}
        invariants.check_contents(state)
    assert len(run.executions) <= max_attempts(len(draft.plan.subtasks), run.answered, run.approvals)
    check_replay(run, live)


def check_replay(run: Simulation, live: Sequence[RunState]) -> None:
    """The log, read back from its stored form, gives the live state at every seq."""
    stored = [from_wire(json.loads(json.dumps(to_wire(RUN, event)))) for event in run.log]
    assert stored == run.log
    state = initial(RUN)
    for event, expected in zip(stored, live, strict=True):
        state = apply(state, event)
        assert state == expected
    assert fold(RUN, run.log) == run.state


calm = (
    strategies.transient
    | st.just(OK)
    | st.sampled_from([fails(failure("limit")), fails(failure("internal"))])
)


@strategies.RUNS
@given(drafts, strategies.scripts(calm, max_size=3), seeds, st.integers(1, 6))
def test_the_order_of_events_does_not_matter_without_backtracks(
    draft: Proposal, script: strategies.Scripts, seed: int, cap: int
) -> None:
    first = simulate(draft, script, seed=seed, cap=cap)
    second = Simulation(draft, script)
    first.run()
    second.run()
    assert first.statuses() == second.statuses()
    assert first.contents() == second.contents()
    assert {name: first.started(name) for name in first.statuses()} == {
        name: second.started(name) for name in second.statuses()
    }
    keys = [{name: node.input_key for name, node in run.state.nodes.items()} for run in (first, second)]
    assert keys[0] == keys[1]


@strategies.RUNS
@given(
    drafts,
    st.sampled_from(strategies.NODES),
    st.lists(strategies.failing, max_size=4),
    seeds,
    st.integers(1, 6),
)
def test_where_one_sub_task_fails_every_order_delivers_the_same(
    draft: Proposal, failing: str, outcomes: list[Outcome], seed: int, cap: int
) -> None:
    script = {failing: outcomes}
    runs = [simulate(draft, script, seed=seed, cap=cap), Simulation(draft, script)]
    delivered = [run.contents() for run in runs if run.run().outcome == "completed"]
    for contents in delivered:
        assert contents == delivered[0]
        assert None not in contents.values()


@strategies.RUNS
@given(drafts, strategies.scripts(strategies.accepted, max_size=1), seeds, st.integers(1, 8))
def test_what_succeeds_runs_once(draft: Proposal, script: strategies.Scripts, seed: int, cap: int) -> None:
    run = simulate(draft, script, seed=seed, cap=cap)
    assert run.run().status == "completed"
    assert all(run.started(name) == 1 for name in run.statuses())
    assert len(run.executions) == len(draft.plan.subtasks)
