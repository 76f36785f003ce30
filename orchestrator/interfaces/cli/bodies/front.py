"""What the program says without a command: its version, or its help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.interfaces.cli.exit_codes import ExitCode
from orchestrator.interfaces.cli.results import Result

if TYPE_CHECKING:
    from orchestrator.interfaces.cli.session import Session


def front(session: Session, help_text: str, *, version: bool) -> Result:
    """Return the version, or the help: a call without a command is incomplete, so its code says usage."""
    if version:
        name = _version()
        return Result(data={"version": name}, text=f"maskgrad {name}")
    note = session.pick("no command was given", "没有给出命令")
    return Result(data={"help": help_text}, text=help_text, code=ExitCode.USAGE, notes=(note,))


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - 40 ms that the help does not need

    try:
        return version("maskgrad")
    except PackageNotFoundError:
        return "unknown"
