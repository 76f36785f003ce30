"""The memory in a file: as every other one, over processes and crashes, and erased means erased."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from agents.memory.ports import LongTermMemory
from orchestrator.shell.memory_file import MemoryFile, MemoryUnavailable
from tests.agents.memory.conformance import DAY_0, FakeNow, LongTermMemoryConformance, entry

ROOT = Path(__file__).resolve().parents[2]

WRITER = """
import sys
from pathlib import Path
from orchestrator.shell.memory_file import MemoryFile
from tests.agents.memory.conformance import DAY_0, entry
memory = MemoryFile(Path(sys.argv[1]), lambda: DAY_0)
for number in range(15):
    memory.remember(entry("It failed.", "lesson", run=f"{sys.argv[2]}-{number}"))
    memory.remember(entry(f"{sys.argv[2]} {number}"))
"""

VICTIM = """
import os, signal, sys
from pathlib import Path
from orchestrator.shell.memory_file import MemoryFile
from tests.agents.memory.conformance import DAY_0, entry
memory = MemoryFile(Path(sys.argv[1]), lambda: DAY_0)
memory.remember(entry("kept"))
with memory._changing() as connection:
    connection.execute("DELETE FROM memories")
    os.kill(os.getpid(), signal.SIGKILL)
"""


class TestMemoryFile(LongTermMemoryConformance):
    @pytest.fixture
    def memory(self, now: FakeNow, tmp_path: Path) -> LongTermMemory:
        return MemoryFile(tmp_path / "home" / "memory.db", now)


def started(script: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", script, *arguments], cwd=ROOT)


def test_looking_makes_no_file_and_a_new_one_is_for_its_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    memory = MemoryFile(path, FakeNow())
    assert (memory.entries(), memory.clear(), memory.forget(entry("x").id), path.exists()) == (
        (),
        0,
        False,
        False,
    )
    memory.remember(entry("x"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["memory.db"]
    assert MemoryFile(path, FakeNow()).entries() == (entry("x"),)


def test_two_processes_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    processes = [started(WRITER, str(path), name) for name in ("a", "b")]
    assert [process.wait() for process in processes] == [0, 0]
    memory = MemoryFile(path, FakeNow())
    assert len(memory.entries("preference")) == 30
    assert memory.entries("lesson")[0].times == 30


def test_a_killed_change_leaves_what_was_before(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    assert started(VICTIM, str(path)).wait() == -signal.SIGKILL
    assert [each.text for each in MemoryFile(path, FakeNow()).entries()] == ["kept"]


@pytest.mark.parametrize("erase", ["forget", "clear", "expire"])
def test_erased_text_is_in_no_file(tmp_path: Path, erase: str) -> None:
    now = FakeNow()
    memory = MemoryFile(tmp_path / "memory.db", now)
    hidden = entry("Zanzibar quagga " * 20, "lesson")
    memory.remember(hidden)
    held = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"quagga" in held
    match erase:
        case "forget":
            memory.forget(hidden.id)
        case "clear":
            memory.clear()
        case _:
            now.time = "2027-01-01T00:00:00.000Z"
            memory.remember(entry("other"))
    held = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"quagga" not in held


def test_a_file_of_something_else_and_one_of_a_later_version_are_named(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_text("not a database, and longer than a header of SQLite would be" * 9, encoding="utf-8")
    with pytest.raises(MemoryUnavailable, match="not a database"):
        MemoryFile(path, FakeNow()).entries()
    later = tmp_path / "later.db"
    with closing(sqlite3.connect(later)) as connection:
        connection.execute("PRAGMA user_version = 2")
    with pytest.raises(MemoryUnavailable, match="schema version is 2") as caught:
        MemoryFile(later, FakeNow()).remember(entry("x"))
    assert "长期记忆" in caught.value.message("zh")


def test_a_folder_that_can_not_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(MemoryUnavailable):
        MemoryFile(tmp_path / "file" / "memory.db", lambda: DAY_0).remember(entry("x"))
    assert os.listdir(tmp_path) == ["file"]
