"""kill -9 right before and right after a call with an effect: it happens once, with the key that was committed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest

from orchestrator.core.events import CallCommitted, CallReturned
from orchestrator.core.requests import Answer
from orchestrator.desk import answer
from orchestrator.shell.store.sqlite_store import SqliteStore
from tests.flows.killed_effect import draft, letters, stage_on
from tests.flows.stage import ROWS, written

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("killed", ["before", "after"])
def test_an_effect_happens_once_whenever_the_process_is_killed(
    tmp_path: Path, killed: Literal["before", "after"]
) -> None:
    """Field report, kind 7."""
    notes = written(tmp_path / "notes", {"storage.md": f"# Storage\n\n{ROWS}\n"})
    database, post = tmp_path / "runs.db", tmp_path / "post.txt"
    store = SqliteStore(database)
    stage = stage_on(store, notes, "never")
    run = stage.approved(draft())
    assert asyncio.run(stage.execute(run)).status == "suspended"
    (request,) = stage.state(run).requests.keys()
    answer(stage.shop, request, Answer(choice="approve"), by="test")

    process = subprocess.run(
        [sys.executable, "-m", "tests.flows.killed_effect", str(database), str(notes.folder), run, killed],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        capture_output=True,
        check=False,
    )
    assert process.returncode == -signal.SIGKILL, process.stderr.decode()
    assert len(letters(post)) == (killed == "after")
    # What was about to happen is on the disk, and nothing of what came of it.
    (committed,) = stage.bodies(run, CallCommitted)
    assert stage.bodies(run, CallReturned) == []

    final = asyncio.run(stage.execute(run))
    assert final.status == "completed"
    assert letters(post) == [f"{committed.key} 李四"]
    assert len(stage.bodies(run, CallCommitted)) == 1
    (returned,) = stage.bodies(run, CallReturned)
    assert (returned.key, returned.performed) == (committed.key, killed == "before")
    store.close()
