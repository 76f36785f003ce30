"""A process that is stopped while another one takes its run over writes nothing when it is continued.

Real processes, real signals; the clock of the store is a file that the test moves, so nobody waits for a lease to run
out.
"""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from orchestrator.core.ids import RunId
from orchestrator.run import post_control
from orchestrator.shell.executor import LEASE_TTL_S
from orchestrator.shell.store.sqlite_store import SqliteStore
from tests.interfaces.cli.harness import call
from tests.kill.forks import DATABASE, FileClock, Order
from tests.kill.harness import Killer
from tests.kill.points import AtCheckpoint, AtCommit, AtEvent, When
from tests.kill.victims import W5

START = 1_700_000_000.0
RUN = RunId("r-1")
PATIENT = "n2"
"""A sub-task that surely comes to a checkpoint; most end so soon that theirs is never written."""
VICTIM = W5(
    seed=4,
    nodes=8,
    median_s=0.001,
    failing=0.1,
    searching=True,
    asking=True,
    patient=frozenset({PATIENT}),
    hurry=50.0,
)


@pytest.fixture(scope="module")
def killer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killer]:
    with Killer(VICTIM, tmp_path_factory.mktemp("stopped")) as killer:
        yield killer


class Scene:
    """A run, of which one process after the other takes hold."""

    def __init__(self, killer: Killer) -> None:
        self.killer = killer
        self.home = killer.new_home()
        self.home.mkdir()
        self.clock = FileClock(self.home / "clock")
        self.clock.set(START)

    def order(self, when: When | None = None) -> Order:
        """Return the order to execute the run, under the clock of the scene; at `when` the process stops."""
        return replace(self.killer.order(self.home, when), signal="stop", clock=self.home / "clock")

    def stopped_process(self, when: When) -> int:
        """Start a process and return its number when it has stopped at `when`."""
        process = self.killer.forks.start(self.order(when))
        assert self.killer.forks.wait_stopped(process), self.killer.forks.end(process)
        return process

    def content(self) -> list[str]:
        """Return everything that is in the file, row by row."""
        with closing(sqlite3.connect(self.home / DATABASE)) as connection:
            return list(connection.iterdump())


@pytest.mark.parametrize(
    "when",
    [
        AtEvent(type="run.executor", edge="before"),
        AtEvent(type="call.returned", edge="before"),
        AtEvent(type="attempt.verified", edge="before"),
        AtEvent(type="attempt.verified", edge="recorded"),
        AtEvent(type="attempt.started", edge="after"),
        AtEvent(type="request.answered", edge="before"),
        AtEvent(type="run.ended", edge="before"),
        AtCheckpoint(node=PATIENT, edge="before"),
        AtCheckpoint(node=PATIENT, edge="after"),
        AtCommit(number=3, edge="after"),
    ],
    ids=lambda when: f"{type(when).__name__} {when.edge} {getattr(when, 'type', '')}".rstrip(),
)
def test_after_a_take_over_it_writes_nothing(killer: Killer, when: When) -> None:
    """Neither event, call record, artefact, inbox mark nor checkpoint: the file stays as it was, row by row."""
    scene = Scene(killer)
    forks = killer.forks
    first = scene.stopped_process(when)
    refused = forks.live(scene.order())
    assert "RunBusy" in refused.error.splitlines()[-1]
    assert "until 2023-11-14 22:13:50 UTC" in refused.error
    scene.clock.set(START + LEASE_TTL_S + 1)
    second = forks.live(scene.order())
    assert second.result == killer.calm
    before = scene.content()
    os.kill(first, signal.SIGCONT)
    late = forks.end(first)
    assert "StaleLease" in late.error.splitlines()[-1]
    assert scene.content() == before


def test_without_a_take_over_it_goes_on(killer: Killer) -> None:
    """An expired lease that nobody took is still its holder's."""
    scene = Scene(killer)
    process = scene.stopped_process(AtEvent(type="attempt.started", edge="after"))
    scene.clock.set(START + 100 * LEASE_TTL_S)
    os.kill(process, signal.SIGCONT)
    assert killer.forks.end(process).result == killer.calm


def test_others_look_on_and_ask_while_one_process_executes(killer: Killer) -> None:
    """Any process reads and leaves requests; to execute it too is refused with who holds it, until when, what to do."""
    scene = Scene(killer)
    process = scene.stopped_process(AtEvent(type="attempt.started", edge="after"))
    store = SqliteStore(scene.home / DATABASE, clock=scene.clock)
    lease = store.lease(RUN)
    assert lease is not None
    assert f":{process}@" in lease.holder
    shop = replace(killer.victim.workshop(scene.home / "other"), store=store)

    busy = call("resume", RUN, "--json", home=scene.home, shop=shop)
    assert (busy.code, busy.error["kind"], busy.error["code"]) == (2, "busy", "run_busy")
    host_and_number = lease.holder.partition("@")[0]
    for word in (host_and_number, "22:13:50", f"maskgrad watch {RUN}"):
        assert word in busy.error["message"]
    chinese = call("resume", RUN, home=scene.home, shop=shop, environment={"MASKGRAD_LANG": "zh"})
    assert (chinese.code, host_and_number in chinese.err, "正由" in chinese.err) == (2, True, True)

    head = store.head(RUN)
    assert call("show", RUN, "--json", home=scene.home, shop=shop).data["holder"] is not None
    post_control(shop, RUN, "pause", by="ann")
    post_control(shop, RUN, "continue", by="ann")
    assert (store.head(RUN), len(store.pending(RUN))) == (head, 2)
    os.kill(process, signal.SIGCONT)
    assert killer.forks.end(process).result == killer.calm
    types = [event.type for event in store.events(RUN)]
    assert (types.count("run.paused"), types.count("run.continued")) == (1, 1)
    assert store.pending(RUN) == ()
    store.close()
