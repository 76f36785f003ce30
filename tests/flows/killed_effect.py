"""The process that `test_killed_effects` starts: its tool posts a letter into a file and kills the process around it.

    python -m tests.flows.killed_effect DATABASE NOTES RUN before|after

The file is the world outside: what stands there happened, whatever the process still got to say.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from agents.broker import Broker
from agents.results import WorkResult
from agents.tools.contract import ToolCall, ToolOk, ToolResult, ToolSpec
from agents.tools.ports import NotPerformed
from agents.workers.ports import WorkOrder
from graphs.contract import Lang
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Proposal
from orchestrator.shell.store.ports import RunStore
from orchestrator.shell.store.sqlite_store import SqliteStore
from tests.core.builders import A1, n, plan, proposal
from tests.flows.outbox import SEND
from tests.flows.stage import EVERY, ROWS, NoteFolder, Script, Stage, passes_on, says, set_stage

When = Literal["never", "before", "after"]
CALL = ToolCall(tool="send", arguments={"to": "李四", "text": "你好"}, id="call-1")


class Post:
    """Appends the key of each letter to a file, and can look up what stands there."""

    def __init__(self, file: Path, killed: When, spec: ToolSpec = SEND) -> None:
        self.spec = spec
        self._file = file
        self._killed = killed

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        raise AssertionError(f"an effect is performed: {arguments}")

    async def preview(self, arguments: Mapping[str, Any], lang: Lang) -> str:
        del lang
        return str(arguments["to"])

    async def perform(self, arguments: Mapping[str, Any], key: str) -> ToolResult:
        if self._killed == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        with self._file.open("a", encoding="utf-8") as file:
            file.write(f"{key} {arguments['to']}\n")
            file.flush()
            os.fsync(file.fileno())
        if self._killed == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return ToolOk(summary="sent", data=None, source="post")

    async def outcome_of(self, arguments: Mapping[str, Any], key: str) -> ToolResult | NotPerformed | None:
        del arguments
        if any(line.split(" ")[0] == key for line in letters(self._file)):
            return ToolOk(summary="it was sent", data=None, source="post")
        return NotPerformed()


def letters(file: Path) -> list[str]:
    """Return the letters that were sent."""
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def draft() -> Proposal:
    """A sub-task that sends a letter, and a report."""
    return replace(proposal(plan("a>b")), grants={A1: ("send",)})


def stage_on(store: RunStore, notes: NoteFolder, killed: When) -> Stage:
    """Return a stage whose first worker sends one letter."""

    async def sends(order: WorkOrder, broker: Broker) -> WorkResult:
        del order
        result = await broker.call_tool(CALL)
        assert result.ok, result
        return says(notes.quoted("a", "storage.md", ROWS, question="Why?"))

    script: Script = {(n("a"), EVERY): sends, (n("b"), EVERY): passes_on}
    return set_stage(
        notes, script, store=store, tools={"send": Post(notes.folder.parent / "post.txt", killed)}
    )


def main(arguments: Sequence[str]) -> None:
    """Execute the run until the tool kills the process."""
    database, folder, run, killed = arguments
    assert killed in ("before", "after")
    notes = NoteFolder(folder=Path(folder), texts={"storage.md": f"# Storage\n\n{ROWS}\n"})
    stage = stage_on(SqliteStore(Path(database)), notes, "before" if killed == "before" else "after")
    asyncio.run(stage.execute(RunId(run)))


if __name__ == "__main__":
    main(sys.argv[1:])
