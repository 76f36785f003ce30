"""A run that ended leaves what it taught; a memory that can't be written costs it nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.memory.contract import Memory
from orchestrator.shell.memory_file import MemoryFile, MemoryUnavailable
from orchestrator.shell.settings import Settings
from orchestrator.shell.wiring import open_workshop
from tests.agents.memory.in_process import MemoryInProcess
from tests.core.builders import n, plan, proposal
from tests.flows.stage import EVERY, ROWS, NoteFolder, Script, Stage, passes_on, says, set_stage, written


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    notes: NoteFolder = written(tmp_path / "notes")
    good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
    script: Script = {(n("a"), EVERY): good, (n("b"), EVERY): passes_on}
    return set_stage(notes, script)


class Unwritable(MemoryInProcess):
    """A memory on a disk that is gone."""

    def remember(self, memory: Memory) -> Memory:
        del memory
        raise MemoryUnavailable(Path("memory.db"), "disk I/O error")


async def test_a_completed_run_leaves_its_solution(stage: Stage) -> None:
    memory = stage.shop.memory = MemoryInProcess(stage.clock.now)
    state = await stage.finish(proposal(plan("a>b")))
    assert state.status == "completed"
    (solution,) = memory.entries()
    assert (solution.kind, solution.source_run, solution.times) == ("solution", state.run, 1)
    memory.clear()
    assert (await stage.execute(state.run)).status == "completed"
    assert memory.entries() == ()  # what was erased does not come back from a run that had ended before


async def test_without_a_memory_nothing_is_kept_and_a_broken_one_is_only_spoken_of(
    stage: Stage, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stage.shop.memory = Unwritable(stage.clock.now)
    state = await stage.finish(proposal(plan("a>b")))
    assert state.status == "completed"
    assert "not remembered" in caplog.text
    assert "disk I/O error" in caplog.text
    assert not list(tmp_path.rglob("memory.db"))


def test_the_products_workshop_remembers_in_its_data_directory(tmp_path: Path) -> None:
    shop = open_workshop(Settings(home=tmp_path, lang="en"))
    assert isinstance(shop.memory, MemoryFile)
    assert [file.name for file in tmp_path.glob("memory*")] == []
    shop.store.close()
    shop.close()
