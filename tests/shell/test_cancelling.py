"""A run that a dead process left behind is ended with nothing but the store: no workshop, no notes."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.core.events import (
    AttemptCancelled,
    AttemptStarted,
    CancelRequested,
    Event,
    ExecutorTookOver,
    RunEnded,
)
from orchestrator.core.ids import RunId
from orchestrator.core.state import ENDED
from orchestrator.desk import OpenDesk, post_control, state_of
from orchestrator.interfaces.cli.opening import open_registry
from orchestrator.shell.clock import SystemClock
from orchestrator.shell.runs import events_of
from orchestrator.shell.settings import Settings
from orchestrator.shell.store.rows import AttemptThread, CheckpointRow
from orchestrator.shell.store.sqlite_store import SqliteStore
from tests.interfaces.cli.harness import call, store_log
from tests.interfaces.cli.logs import finished_log

RUN = RunId("r-left22")
DEAD_HOLDER = "elsewhere:4711"


def left_log() -> list[Event]:
    """A log that ends while `a` and `b` are under way."""
    log = finished_log()
    started = [event.seq for event in log if isinstance(event.body, AttemptStarted)]
    assert len(started) > 1
    return log[: started[1]]


def leave_behind(home: Path) -> tuple[str, ...]:
    """A store as a kill leaves it: attempts under way, their checkpoints, and a message that nobody took."""
    store_log(home, RUN, left_log())
    store = SqliteStore(home / "runs.db")
    lease = store.acquire(RUN, DEAD_HOLDER, 60.0)
    threads = tuple(
        AttemptThread(run=RUN, node=node, generation=1, attempt=1, epoch=lease.epoch).text for node in "ab"
    )
    for thread in threads:
        store.put_checkpoint(
            CheckpointRow(
                thread=thread, ns="", id="1", parent=None, encoding="json", checkpoint=b"{}", metadata=b"{}"
            )
        )
    store.post(RUN, "pause", '{"by": "ann"}', "pause:1")
    store.release(lease)
    assert store.checkpoints()
    store.close()
    return threads


def test_it_ends_with_its_attempts_its_checkpoints_and_its_messages(tmp_path: Path) -> None:
    leave_behind(tmp_path)
    store = SqliteStore(tmp_path / "runs.db")
    desk = OpenDesk(
        store=store, clock=SystemClock(), registry=open_registry(Settings(home=tmp_path, lang="en"))
    )
    before = list(events_of(store, RUN))
    assert post_control(desk, RUN, "cancel", by="ann").status == "cancelled"
    later = [event.body for event in events_of(store, RUN, after=len(before))]
    took_over, asked, *attempts, end = later
    assert isinstance(took_over, ExecutorTookOver)
    assert took_over.epoch == 2
    assert asked == CancelRequested(by="ann")
    assert [(type(body), body.node) for body in attempts if isinstance(body, AttemptCancelled)] == [
        (AttemptCancelled, "a"),
        (AttemptCancelled, "b"),
    ]
    assert len(attempts) == 2
    assert end == RunEnded(outcome="cancelled")
    assert store.checkpoints() == ()
    assert store.pending(RUN) == ()
    assert store.lease(RUN) is None
    assert state_of(desk, RUN).status in ENDED
    store.close()


def test_whoever_may_still_execute_it_is_asked(tmp_path: Path) -> None:
    """A holder of another machine can't be known to be dead: it is asked, and keeps the run."""
    leave_behind(tmp_path)
    store = SqliteStore(tmp_path / "runs.db")
    store.acquire(RUN, DEAD_HOLDER, 60.0)
    desk = OpenDesk(
        store=store, clock=SystemClock(), registry=open_registry(Settings(home=tmp_path, lang="en"))
    )
    assert post_control(desk, RUN, "cancel", by="ann").status == "running"
    assert [message.kind for message in store.pending(RUN)] == ["pause", "cancel"]
    store.close()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_command_needs_no_folder_of_notes(tmp_path: Path, lang: str) -> None:
    leave_behind(tmp_path)
    called = call("cancel", RUN, "--json", "--lang", lang, home=tmp_path)
    assert (called.code, called.data["status"]) == (0, "cancelled")
    assert call("resume", RUN, home=tmp_path).code == 130
