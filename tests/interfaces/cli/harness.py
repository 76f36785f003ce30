"""Call the command line in this process: what it writes to each stream, what it returns."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.core.events import Event
from orchestrator.core.ids import RunId
from orchestrator.interfaces.cli.app import run_command
from orchestrator.interfaces.cli.streams import Streams
from orchestrator.shell.runs import new_event
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.wiring import Workshop

REPOSITORY = Path(__file__).resolve().parents[3]


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@dataclass(frozen=True)
class Called:
    """One call of the program."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What was written to stdout, which has to be one JSON value."""
        return json.loads(self.out)

    @property
    def data(self) -> Any:
        """The data of a successful envelope."""
        envelope = self.json
        assert envelope["ok"] is True, envelope
        return envelope["data"]

    @property
    def error(self) -> Any:
        """The error of a failed envelope."""
        envelope = self.json
        assert envelope["ok"] is False, envelope
        return envelope["error"]


def call(
    *argv: str,
    home: Path,
    shop: Workshop | None = None,
    typed: str | None = None,
    environment: dict[str, str] | None = None,
) -> Called:
    """Run one command line; with `typed`, a person sits at a terminal and types that."""
    out: io.StringIO = io.StringIO()
    err: io.StringIO = io.StringIO() if typed is None else Terminal()
    inp: io.StringIO = io.StringIO() if typed is None else Terminal(typed)
    settings = {"MASKGRAD_HOME": str(home), "MASKGRAD_LANG": "en", **(environment or {})}
    code = run_command(argv, settings, Streams(out, err, inp), shop=shop)
    return Called(code, out.getvalue(), err.getvalue())


def store_log(home: Path, run: str, events: Sequence[Event], *, title: str = "Why?") -> RunId:
    """Put a log into the store of a home, as if a process had executed it."""
    name = RunId(run)
    store = SqliteStore(home / "runs.db")
    store.create_run(name, title, "2026-01-01T00:00:00.000Z")
    store.append(name, 0, [new_event(event) for event in events])
    store.close()
    return name
