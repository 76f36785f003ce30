"""kill -9 in the middle of a run, then resume: nothing is lost, nothing runs twice."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from orchestrator.core.events import (
    AttemptStarted,
    AttemptVerified,
    CallReturned,
    Event,
    ExecutorTookOver,
    RunEnded,
)
from orchestrator.core.ids import RunId
from orchestrator.shell.runs import events_of
from orchestrator.shell.store.sqlite_store import SqliteStore
from tests.flows.killable import TEXTS, draft, stage_on
from tests.flows.stage import NoteFolder, written

PATIENCE_S = 60.0
"""Only something broken takes that long."""

ROOT = Path(__file__).resolve().parents[2]

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}

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
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    store = SqliteStore(database)
    try:
        said = process.stdout.readline()
        deadline = time.monotonic() + PATIENCE_S
        while said and not written_by_then(list(events_of(store, run))):
            # What the process recorded is on its way to the disk.
            assert time.monotonic() < deadline, f"{node!r} was reached, and its log was never written"
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


GOAL = "根据资料回答：（1）排污许可证最迟应在什么时候重新申请？（2）改造后出水总磷的限值是多少？"
KILLED_AFTER: tuple[str, ...] = ("call.returned", "attempt.verified", "attempt.verified")
"""What each process has just written to the disk when it dies."""


def test_a_command_killed_three_times_delivers_what_an_undisturbed_one_does(tmp_path: Path) -> None:
    """The command line over the Chinese example notes, with the embedded workers and the real embedder."""
    environment = {**ENVIRONMENT, "MASKGRAD_HOME": str(tmp_path / "数据"), "MASKGRAD_LANG": "zh"}

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=2 * PATIENCE_S,
            check=False,
        )

    argv: tuple[str, ...] = ("run", GOAL, "--sources", str(ROOT / "examples" / "notes-zh"), "--approve")
    store: SqliteStore | None = None
    before: Log = []
    for last_word in KILLED_AFTER:
        killed = call("tests.flows.killed_cli", last_word, *argv)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        store = store or SqliteStore(tmp_path / "数据" / "runs.db")
        (row,) = store.runs()
        run = RunId(row.id)
        log = list(events_of(store, run))
        assert log[: len(before)] == before
        assert last_word in [event.body.type for event in log[len(before) :]]
        assert not any(isinstance(event.body, RunEnded) for event in log)
        before, argv = log, ("resume", run)
    assert store is not None

    resumed = call("orchestrator.interfaces.cli", "resume", run)
    assert resumed.returncode == 0, resumed.stderr
    log = list(events_of(store, run))
    assert log[: len(before)] == before
    assert [event.body.epoch for event in log if isinstance(event.body, ExecutorTookOver)] == [1, 2, 3, 4]
    done: set[str] = set()
    for event in log:
        if isinstance(event.body, AttemptStarted):
            assert event.body.node not in done, "a finished sub-task was executed again"
        if isinstance(event.body, AttemptVerified):
            assert event.body.node not in done
            done.add(event.body.node)
    end = log[-1].body
    assert isinstance(end, RunEnded)
    assert (end.outcome, end.gaps) == ("completed", ())
    assert store.checkpoints() == ()
    # What is delivered answers from the notes and cites them.
    assert ".md:" in resumed.stdout

    # What ended is run again with the same proposal, as a run of its own: nobody disturbs that one.
    calm = call("orchestrator.interfaces.cli", "run", run, "--again")
    assert calm.returncode == 0, calm.stderr
    (other,) = {row.id for row in store.runs()} - {run}
    calm_log = list(events_of(store, RunId(other)))
    assert [event.body.epoch for event in calm_log if isinstance(event.body, ExecutorTookOver)] == [1]
    calm_end = calm_log[-1].body
    assert isinstance(calm_end, RunEnded)
    assert end.result is not None
    assert calm_end.result == end.result
    store.close()
