"""The exit codes of every command, in one table (semantics 7).

A command that executes or follows a run exits with the code of the run's state. Every other command exits with 0 when
it did what it was asked, and with the code of its error otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from orchestrator.core.state import RunStatus

Lang = Literal["en", "zh"]


class ExitCode(IntEnum):
    """What the process says when it ends."""

    DONE = 0
    """The command did what it was asked; a run that it executed is `completed`."""
    FAILED = 1
    """A bug of ours, or the machine (a store that can't be written)."""
    USAGE = 2
    """The command line, a value, an id or a document is not accepted, or another process executes the run; nothing was
    changed."""
    WAITING = 3
    """The run waits for a person: it is in review, approved but not begun, or suspended."""
    INCOMPLETE = 4
    """The run ended and something of the contract is missing: `partial` with gaps, or `blocked`."""
    STOPPED = 5
    """The run ended early because of a limit: `partial`, stopped."""
    UNAVAILABLE = 6
    """A model or tool that is needed can't be used."""
    INTERRUPTED = 130
    """Interrupted or paused: what was accepted is kept, and `maskgrad resume` goes on. Or cancelled, which is final."""


MEANINGS: Final[Mapping[ExitCode, Mapping[Lang, str]]] = {
    ExitCode.DONE: {"en": "done; a run that was executed is completed", "zh": "完成；所执行的运行已完成"},
    ExitCode.FAILED: {"en": "failed: a bug of ours or of the machine", "zh": "失败：本程序或运行环境的错误"},
    ExitCode.USAGE: {
        "en": "refused: the command line, a value, an id or a document is not accepted, or another process executes "
        "the run",
        "zh": "拒绝：命令行、取值、标识或文件不可接受，或运行正由其他进程执行",
    },
    ExitCode.WAITING: {
        "en": "the run waits for a person: in review, approved but not begun, or suspended",
        "zh": "运行在等待人：审核中、已批准未开始或已挂起",
    },
    ExitCode.INCOMPLETE: {
        "en": "the run ended with something missing: partial with gaps, or blocked",
        "zh": "运行已结束但内容有缺：部分完成，或受阻",
    },
    ExitCode.STOPPED: {"en": "the run was ended early by a limit", "zh": "运行因限额提前结束"},
    ExitCode.UNAVAILABLE: {"en": "a model or tool is unavailable", "zh": "模型或工具不可用"},
    ExitCode.INTERRUPTED: {
        "en": "interrupted or paused: `maskgrad resume` goes on; or cancelled: final",
        "zh": "已中断或已暂停：可用 `maskgrad resume` 继续；或已取消：不可再继续",
    },
}
"""What each code says to people, in both languages; the help and `docs/cli.md` show it."""

_OF_STATUS: Final[Mapping[RunStatus, ExitCode]] = {
    "drafting": ExitCode.WAITING,
    "reviewing": ExitCode.WAITING,
    "confirmed": ExitCode.WAITING,
    "suspended": ExitCode.WAITING,
    "running": ExitCode.INTERRUPTED,
    "paused": ExitCode.INTERRUPTED,
    "completed": ExitCode.DONE,
    "partial": ExitCode.INCOMPLETE,
    "blocked": ExitCode.INCOMPLETE,
    "cancelled": ExitCode.INTERRUPTED,
    "failed": ExitCode.FAILED,
}


def exit_code_of(status: RunStatus, *, stopped: bool) -> ExitCode:
    """Return the code for a run that was left in `status`; `stopped` tells that a limit ended it early.

    >>> exit_code_of("partial", stopped=False), exit_code_of("partial", stopped=True)
    (<ExitCode.INCOMPLETE: 4>, <ExitCode.STOPPED: 5>)
    """
    if status == "partial" and stopped:
        return ExitCode.STOPPED
    return _OF_STATUS[status]
