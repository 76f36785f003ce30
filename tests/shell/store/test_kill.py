"""What was acknowledged survives `kill -9`, and what two processes do to one file at once."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from orchestrator.shell.store.errors import RunBusy
from orchestrator.shell.store.rows import artefact_digest
from orchestrator.shell.store.sqlite_store import SqliteStore
from tests.shell.store.conformance import event
from tests.shell.store.killable import RUNS, artefact_of, thread_of

ROOT = Path(__file__).parents[3]
ROUNDS = 6
ACKNOWLEDGED = re.compile(r"(r-\d) (\d+)\n")


@contextmanager
def python(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def acknowledged_until_killed(path: Path, lines: int) -> dict[str, int]:
    """Let a process write, kill it after so many acknowledgements, and return the last of each run."""
    last: dict[str, int] = {}
    with python("-m", "tests.shell.store.killable", str(path)) as process:
        assert process.stdout is not None
        for number, line in enumerate(process.stdout, start=1):
            if number == lines:
                process.kill()
            told = ACKNOWLEDGED.fullmatch(line)  # the line that the kill cut is no acknowledgement
            if told is not None:
                last[told[1]] = int(told[2])
    assert process.returncode == -9
    return last


def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    store = SqliteStore(path)
    for run in RUNS:
        store.create_run(run, "t", "2025")
    store.close()
    points = random.Random(20250101)
    written = 0
    for _ in range(ROUNDS):
        told = acknowledged_until_killed(path, points.randrange(1, 400))
        store = SqliteStore(path)
        assert store.check() == ()
        for run in RUNS:
            head = store.head(run)
            assert told.get(run, 0) <= head
            events = list(store.events(run))
            assert [e.seq for e in events] == list(range(1, head + 1))
            assert [e.payload for e in events] == [artefact_digest(artefact_of(run, e.seq)) for e in events]
            for e in events[-20:]:
                assert store.get_artefact(e.payload) == artefact_of(run, e.seq)
            # An attempt's thread is there until its last event is, and no longer.
            left = {row.thread for row in store.checkpoints() if row.thread.startswith(f"{run}/")}
            assert left <= {thread_of(run, head + 1)}
        written = store.info().events
        store.close()
    assert written > 100


OPEN_AND_APPEND = """
import sys
from pathlib import Path
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.store.errors import HeadMoved
from orchestrator.shell.store.rows import NewEvent
store = SqliteStore(Path(sys.argv[1]))
store.commit([lambda writes: writes.create_run("r-1", "t", "2025")])
done = 0
while done < 40:
    new = NewEvent(v=1, type="t", ts="2025", payload="{}", idem=f"{sys.argv[2]}-{done}")
    try:
        store.append("r-1", store.head("r-1"), [new])
    except HeadMoved:
        continue
    done += 1
print(done)
"""


def test_processes_that_open_a_new_store_together_share_it(tmp_path: Path) -> None:
    path = tmp_path / "home" / "runs.db"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN_AND_APPEND, str(path), str(number)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(3)
    ]
    assert [process.communicate()[0] for process in processes] == ["40\n"] * 3
    store = SqliteStore(path)
    events = list(store.events("r-1"))
    assert [e.seq for e in events] == list(range(1, 121))
    assert {e.idem for e in events} == {f"{number}-{done}" for number in range(3) for done in range(40)}
    store.close()


def test_a_second_process_cannot_execute_but_can_post(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    first, second = SqliteStore(path), SqliteStore(path)
    first.create_run("r-1", "t", "2025")
    lease = first.acquire("r-1", "host:1", 60.0)
    with pytest.raises(RunBusy, match="process 1 on 'host'"):
        second.acquire("r-1", "host:2", 60.0)
    second.post("r-1", "answer", '{"choice":"retry"}', "r-1.q1")
    (message,) = first.pending("r-1")
    assert first.append("r-1", 0, [event("request.answered")], lease=lease, folded=[message.id]) == 1
    assert [e.type for e in second.events("r-1")] == ["request.answered"]
    assert second.pending("r-1") == ()
    first.close()
    second.close()
