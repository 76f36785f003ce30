"""kill -9 three times in the middle of a run, then resume: nothing is lost, nothing runs twice."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from orchestrator.core.events import AttemptStarted, AttemptVerified, CallReturned, Event, ExecutorTookOver
from orchestrator.core.ids import RunId
from orchestrator.shell.runs import events_of
from orchestrator.shell.store.sqlite_store import SqliteStore
from tests.flows.killable import TEXTS, draft, stage_on
from tests.flows.stage import NoteFolder, written

ROOT = Path(__file__).resolve().parents[2]

Log = list[Event]


def calls_of(log: Log, node: str) -> list[tuple[str, str]]:
    return [
        (event.body.step, event.body.arguments_digest)
        for event in log
        if isinstance(event.body, CallReturned) and event.body.node == node
    ]


def accepted(log: Log) -> list[str]:
    return [event.body.node for event in log if isinstance(event.body, AttemptVerified)]


KILLED_AT: tuple[tuple[str, int, Callable[[Log], bool]], ...] = (
    ("a", 1, lambda log: len(calls_of(log, "a")) == 1),
    ("c", 0, lambda log: sorted(accepted(log)) == ["a", "b"]),
    ("d", 0, lambda log: sorted(accepted(log)) == ["a", "b", "c"]),
)
"""The sub-task and number of its calls where the process waits, and what its log holds by then."""


def kill_at(
    database: Path,
    notes: NoteFolder,
    run: RunId,
    node: str,
    calls: int,
    written_by_then: Callable[[Log], bool],
) -> None:
    """Execute the run in a process of its own and kill it there with SIGKILL, while it holds its lease."""
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tests.flows.killable",
            str(database),
            str(notes.folder),
            run,
            node,
            str(calls),
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    store = SqliteStore(database)
    try:
        said = process.stdout.readline()
        while said and not written_by_then(list(events_of(store, run))):
            pass  # what the process recorded is on its way to the disk
        process.send_signal(signal.SIGKILL)
    finally:
        _, errors = process.communicate()
        store.close()
    assert (said, process.returncode) == (b"here\n", -signal.SIGKILL), errors.decode()


def test_a_run_killed_three_times_delivers_what_an_undisturbed_one_does(tmp_path: Path) -> None:
    notes = written(tmp_path / "笔记", TEXTS)
    calm_store = SqliteStore(tmp_path / "calm.db")
    calm = asyncio.run(stage_on(calm_store, notes).finish(draft()))
    assert calm.status == "completed", (calm.gaps, calm.internal_error)
    calm_store.close()

    database = tmp_path / "runs.db"
    store = SqliteStore(database)
    last = stage_on(store, notes)
    run = last.approved(draft())
    for node, calls, written_by_then in KILLED_AT:
        kill_at(database, notes, run, node, calls, written_by_then)
        assert store.lease(run) is not None, "the dead process holds its lease: the next one takes it at once"
    final = asyncio.run(last.execute(run))

    log = last.log(run)
    assert final.status == "completed"
    assert final.result == calm.result
    assert [event.seq for event in log] == list(range(1, len(log) + 1))
    assert [event.body.epoch for event in log if isinstance(event.body, ExecutorTookOver)] == [1, 2, 3, 4]
    done: set[str] = set()
    for event in log:
        if isinstance(event.body, AttemptStarted):
            assert event.body.node not in done, "a finished sub-task was executed again"
        if isinstance(event.body, AttemptVerified):
            assert event.body.node not in done
            done.add(event.body.node)
    # The call that had returned before the first kill was not made again.
    assert len(calls_of(log, "a")) == len(set(calls_of(log, "a"))) == 2
    assert [order.subtask.id for order in last.worker.orders] == ["d"]
    assert last.state(run) == final
    assert store.checkpoints() == ()
    store.close()
