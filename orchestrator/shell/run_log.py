"""A log file per executed run: one JSON object a line, with rotation, in `logs/` of the data directory.

The run store holds the truth; this is what a person greps and a collector ships. How much is in it follows from the
profile of the approved proposal:

- `debug`: every event, whole.
- `evaluate`: every event, in short: no text of the goal, arguments, results or answers.
- `production`: as `evaluate`, but of streamed parts and calls those of a seeded tenth of the attempts only. What
  failed, what waits for an approval, and calls that change something are always there.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from logging.handlers import QueueHandler, QueueListener, RotatingFileHandler
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

from agents.tools.contract import Profile
from orchestrator.core.events import (
    AttemptFailed,
    AttemptRejected,
    AttemptStarted,
    Body,
    CallReturned,
    CallStreamed,
    Event,
    RunEnded,
    to_wire,
)
from orchestrator.core.ids import RunId
from orchestrator.core.profiles import is_sampled
from orchestrator.core.state import RunState
from orchestrator.shell.journal import Listener
from orchestrator.shell.settings import Settings

LOGS: Final = "logs"
"""Folder in the data directory."""
MAX_BYTES: Final = 5_000_000
"""Of one file; then it is renamed to `.1`, and so on."""
BACKUPS: Final = 3
"""Renamed files that are kept of a run: at most 20 MB of it."""
KEPT_RUNS: Final = 100
"""Runs whose logs are kept; those of the run that was written to longest ago go first."""
PROGRAM_LOGGERS: Final = ("orchestrator", "agents")
"""Loggers of the program whose messages go into the file, too."""

_Problem = Callable[[str, str], None]


@contextmanager
def run_log(settings: Settings, run: RunId, *, warn: _Problem) -> Iterator[tuple[Listener, ...]]:
    """Lend the listeners that write the log of one execution; a thread of its own writes it.

    A log that can't be written is told to `warn`, in English and in Chinese, and the run goes on without.
    """
    folder = settings.home / LOGS
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _forget_oldest(folder, run)
        file = _File(folder / f"{run}.jsonl", maxBytes=MAX_BYTES, backupCount=BACKUPS, encoding="utf-8")
    except OSError as error:
        warn(f"no log is written: {error}", f"未写日志：{error}")
        yield ()
        return
    file.setFormatter(_JsonLines(run))
    queue: SimpleQueue[logging.LogRecord] = SimpleQueue()
    hand_over = _AsItIs(queue)
    writer = QueueListener(queue, file)
    events = logging.Logger(f"{__name__}.{run}", level=logging.INFO)
    events.addHandler(hand_over)
    programs = [logging.getLogger(name) for name in PROGRAM_LOGGERS]
    for logger in programs:
        logger.addHandler(hand_over)
        if logging.lastResort is not None:  # warnings stay on stderr, as they are without a log
            logger.addHandler(logging.lastResort)
    writer.start()
    try:
        yield (_Writing(events),)
    finally:
        for logger in programs:
            logger.removeHandler(hand_over)
            if logging.lastResort is not None:
                logger.removeHandler(logging.lastResort)
        writer.stop()
        file.close()


class _Writing:
    """Chooses the events that are logged, by the profile of the run."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger

    def __call__(self, event: Event, state: RunState) -> None:
        profile = state.proposal.profile if state.proposal is not None else "production"
        if is_logged(event.body, state, profile):
            self._logger.info("event", extra={"event": event, "whole": profile == "debug"})


def is_logged(body: Body, state: RunState, profile: Profile) -> bool:
    """Tell whether an event is in the log of a run with that profile."""
    if profile != "production":
        return True
    match body:
        case CallStreamed() | CallReturned(ok=True, key=""):
            seed = state.created.run_seed if state.created is not None else ""
            return is_sampled(seed, body.node, body.generation, body.attempt)
        case _:
            return True


def line_of(run: RunId, event: Event, *, whole: bool) -> dict[str, Any]:
    """Return an event as a line of the log: as it is stored, or in short."""
    if whole:
        return to_wire(run, event)
    body = event.body
    line: dict[str, Any] = {"seq": event.seq, "ts": event.ts, "run": run, "type": body.type}
    for name in ("node", "generation", "attempt"):
        value = getattr(body, name, None)
        if value is not None:
            line[name] = value
    match body:
        case AttemptStarted():
            line["agent"] = body.agent
        case CallReturned():
            line |= {"call": body.call, "ok": body.ok, "elapsed_ms": body.elapsed_ms}
            if body.call == "model":
                line["reply"] = body.summary
            if body.error:
                line["error"] = body.error
            if body.usage is not None:
                line |= {
                    "model": body.usage.model,
                    "input_tokens": body.usage.input_tokens,
                    "output_tokens": body.usage.output_tokens,
                    "estimated": body.usage.estimated,
                    "recorded": body.usage.recorded,
                    "cost_usd": body.usage.cost_usd,
                }
        case AttemptRejected(failure=failure) | AttemptFailed(failure=failure):
            line["failure"] = failure.kind
        case RunEnded():
            line |= {"outcome": body.outcome, "stopped": body.stopped}
        case _:
            pass
    return line


class _JsonLines(logging.Formatter):
    """Writes an event, or a message of the program, as one line."""

    def __init__(self, run: RunId) -> None:
        super().__init__()
        self._run = run

    def format(self, record: logging.LogRecord) -> str:
        event: object = getattr(record, "event", None)
        if isinstance(event, Event):
            line = line_of(self._run, event, whole=bool(getattr(record, "whole", False)))
        else:
            line = {
                "run": self._run,
                "type": "log",
                "level": record.levelname.lower(),
                "logger": record.name,
                "message": record.getMessage(),
            }
        return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


class _AsItIs(QueueHandler):
    """Hands records over unformatted: writing them out is work for the other thread."""

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        return record


class _File(RotatingFileHandler):
    """A file that is given up when it can't be written, for a full disk must not fill stderr, too."""

    _broken = False

    def emit(self, record: logging.LogRecord) -> None:
        if not self._broken:
            super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the base class's name
        del record
        self._broken = True


def _forget_oldest(folder: Path, run: RunId) -> None:
    """Delete the logs of runs beyond `KEPT_RUNS`, this one counted in; what can't be deleted stays."""
    written = {path: path.stat().st_mtime for path in folder.glob("*.jsonl") if path.stem != run}
    newest = sorted(written, key=lambda path: (-written[path], path.name))
    for path in newest[KEPT_RUNS - 1 :]:
        for old in (path, *folder.glob(f"{path.name}.*")):
            with suppress(OSError):
                old.unlink()
