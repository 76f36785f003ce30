"""A run whose goal, file, agent, sub-tasks and notes are in Chinese or have combining accents.

    python -m tests.flows.foreign FOLDER

makes it in a process of its own, under whatever locale that has: it writes the notes, executes, exports the report with
the command line to FOLDER/导出.md, and shows the run as JSON on stdout.
"""

from __future__ import annotations

import asyncio
import os
import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Proposal
from orchestrator.interfaces.cli.app import run_command
from orchestrator.interfaces.cli.streams import Streams, prepare_streams
from orchestrator.shell.store.ports import RunStore
from orchestrator.shell.store.sqlite_store import SqliteStore
from tests.core.builders import CONTRACT, ROSTER, agent, n, plan, proposal, subtask
from tests.flows.stage import EVERY, NoteFolder, Script, Stage, passes_on, says, set_stage, written

SENTENCE: Final = "合同期限为七年，由数据分析师核对。"
ACCENTED: Final = "Le café « Ligne d’Étoile » ouvre à 8 h."
QUESTION: Final = "合同期限多长？"
REPORT: Final = "报告（终稿）.md"
RESUME: Final = unicodedata.normalize("NFD", "résumé.md")


def texts(other: str = RESUME) -> Mapping[str, str]:
    """The notes by name."""
    return {REPORT: f"# 终稿\n\n{SENTENCE}\n", other: f"# Café\r\n\r\n{ACCENTED}\r\n"}


@dataclass(frozen=True)
class Foreign:
    """The stage and its run, approved."""

    stage: Stage
    run: RunId


def foreign(notes: NoteFolder, store: RunStore | None = None) -> Foreign:
    """Return the run over `notes`, which hold `texts`."""
    path, other = notes.texts
    first = notes.quoted("研究", path, SENTENCE, question=QUESTION)
    second = notes.quoted("研究", other, ACCENTED)
    script: Script = {(n("研究"), EVERY): says(first, second), (n("报告"), EVERY): passes_on}
    stage = set_stage(notes, script, store=store)
    return Foreign(stage, stage.approved(_draft()))


def _draft() -> Proposal:
    analyst = agent("数据分析师", {}, operations=("research", "report"))
    work = plan("研究>报告", 研究=subtask("研究", domains={}), 报告=subtask("报告", domains={}))
    work = replace(
        work, subtasks=tuple(replace(task, title=f"关于{task.id}的工作 é") for task in work.subtasks)
    )
    criterion = replace(CONTRACT.acceptance[0], question=QUESTION, text="已回答")
    draft = replace(
        proposal(
            work,
            roster=replace(ROSTER, agents=(analyst,)),
            contract=replace(CONTRACT, acceptance=(criterion,)),
            lang="zh",
        ),
        assignment={task.id: analyst.id for task in work.subtasks},
    )
    return replace(draft, goal=replace(draft.goal, text=QUESTION))


def main(folder: Path) -> int:
    """Make the run in this process; return the exit code of the last command."""
    prepare_streams()
    # What has no form in the encoding of file names can't be the name of a file there.
    other = RESUME if sys.getfilesystemencoding() == "utf-8" else "会议记录.md"
    store = SqliteStore(folder / "runs.db")
    made = foreign(written(folder / "笔记", texts(other)), store)
    asyncio.run(made.stage.execute(made.run))
    store.close()
    settings = {**os.environ, "MASKGRAD_HOME": str(folder), "MASKGRAD_LANG": "zh"}
    for argv in (("export", made.run, "-o", str(folder / "导出.md")), ("show", made.run, "--json")):
        code = run_command(argv, settings, Streams())
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
