"""Killed at each boundary and at random times, a run comes to what an undisturbed one comes to, and repeats nothing."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import pytest

from orchestrator.core.events import AttemptStarted, AttemptVerified, CallReturned, Event, ExecutorTookOver
from tests.kill.harness import Killer, Report
from tests.kill.many import EDGES
from tests.kill.points import AtCheckpoint, AtCommit, AtEvent, Edge, When
from tests.kill.victims import W5

SEARCHES, PLAIN = "n0", "n4"
"""A sub-task that makes two calls, and one that only works."""

VICTIM: Final = W5(
    seed=4,
    nodes=10,
    median_s=0.005,
    failing=0.1,
    searching=True,
    asking=True,
    patient=frozenset({SEARCHES, PLAIN}),
    hurry=50.0,
)

TYPES: Final = (
    "attempt.failed",
    "attempt.produced",
    "attempt.started",
    "attempt.verified",
    "backtrack.started",
    "call.returned",
    "failure.classified",
    "request.answered",
    "request.opened",
    "retry.scheduled",
    "run.ended",
    "run.executor",
    "run.suspended",
    "sources.read",
)
"""Every type of event that the execution of this run records."""


@pytest.fixture(scope="module")
def killer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killer]:
    with Killer(VICTIM, tmp_path_factory.mktemp("kill")) as killer:
        yield killer


def equal(killer: Killer, *points: When) -> Report:
    """Kill, and fail unless each process was killed where it was to be, and nothing came of it."""
    report = killer.kill(*points)
    assert report.differences == ()
    assert [kill.struck for kill in report.kills] == [True] * len(points)
    assert report.status == "completed"
    return report


def recorded(log: Sequence[Event], type_: str) -> int:
    return sum(event.body.type == type_ for event in log)


def test_the_undisturbed_run_has_all_that_a_kill_could_fall_into(killer: Killer) -> None:
    made = {"run.created", "proposal.drafted", "proposal.approved"}
    assert {event.body.type for event in killer.calm_log} == {*TYPES, *made}
    assert killer.calm.status == "completed"


@pytest.mark.parametrize("type_", TYPES)
def test_killed_around_an_event(killer: Killer, type_: str) -> None:
    """Three processes after each other, each killed at the first event of the type that it has to record."""
    report = equal(killer, *(AtEvent(type=type_, edge=edge) for edge in EDGES))
    assert [recorded(kill.log, type_) for kill in report.kills[:2]] == [0, 0]
    assert recorded(report.kills[2].log, type_) >= 1


@pytest.mark.parametrize("type_", ["attempt.verified", "run.ended"])
def test_killed_before_the_store_is_asked(killer: Killer, type_: str) -> None:
    report = equal(killer, AtEvent(type=type_, edge="recorded"))
    assert recorded(report.kills[0].log, type_) == 0


def test_killed_between_checkpoint_and_event_the_work_is_not_done_again(killer: Killer) -> None:
    report = equal(killer, AtCheckpoint(node=PLAIN, edge="after"))
    (killed,) = report.kills
    assert PLAIN in [event.body.node for event in killed.log if isinstance(event.body, AttemptStarted)]
    assert PLAIN not in killed.accepted
    assert PLAIN in report.worked[0]
    assert PLAIN not in report.worked[1]


@pytest.mark.parametrize("edge", ["before", "inside"])
def test_killed_before_its_checkpoint_is_committed_the_work_is_done_again(killer: Killer, edge: Edge) -> None:
    report = equal(killer, AtCheckpoint(node=PLAIN, edge=edge))
    assert PLAIN in report.worked[0]
    assert PLAIN in report.worked[1]


def test_a_call_that_is_in_the_log_is_not_made_again(killer: Killer) -> None:
    report = equal(killer, AtEvent(type="call.returned", node=SEARCHES, edge="after"))
    calls = Counter(
        (event.body.node, event.body.generation, event.body.attempt, event.body.step, event.body.index)
        for event in report.log
        if isinstance(event.body, CallReturned)
    )
    assert SEARCHES not in report.kills[0].accepted
    assert SEARCHES in report.worked[1] or SEARCHES in report.kills[0].kept
    assert max(calls.values()) == 1


@pytest.mark.parametrize("edge", ["before", "inside", "after"])
@pytest.mark.parametrize("number", [1, 4])
def test_killed_around_a_transaction(killer: Killer, number: int, edge: Edge) -> None:
    """The first one takes the lease: before it is committed, nobody had the run."""
    report = equal(killer, AtCommit(number=number, edge=edge))
    epochs = [event.body.epoch for event in report.log if isinstance(event.body, ExecutorTookOver)]
    assert epochs == sorted(set(epochs))


def test_killed_again_and_again(killer: Killer) -> None:
    """The second process dies in what it goes on with, the third one in the answer, the fourth at the end."""
    report = equal(
        killer,
        AtCheckpoint(node=PLAIN, edge="after"),
        AtEvent(type="attempt.verified", node=PLAIN, edge="inside"),
        AtEvent(type="request.answered", edge="before"),
        AtEvent(type="run.ended", edge="before"),
    )
    verified = [event.body.node for event in report.log if isinstance(event.body, AttemptVerified)]
    assert sorted(verified) == sorted(set(verified))
    assert len(verified) == VICTIM.nodes
    assert PLAIN not in [node for process in report.worked[1:] for node in process]


def test_killed_at_random_times(killer: Killer) -> None:
    for when in killer.random_times(6, random.Random(7)):
        report = killer.kill(when)
        assert report.differences == (), when


class TestTheHarnessItself:
    """What it would say if something were wrong."""

    def test_a_point_that_never_comes_is_told(self, killer: Killer) -> None:
        report = killer.kill(AtEvent(type="attempt.verified", node="n99"))
        assert [kill.struck for kill in report.kills] == [False]
        assert report.worked[1] == ()
