"""Where a process is killed or stopped: at an event, at a checkpoint, at a transaction, or at a time.

Except for `AtTime`, the process strikes itself, so that a point is hit exactly: `StrikingStore` cuts a group of writes
in two at the wanted one, and with `before`, `inside` and `after` the store holds exactly what that word says.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from orchestrator.core.events import Event
from orchestrator.core.state import RunState
from orchestrator.shell.journal import Listener
from orchestrator.shell.store.clock import Clock
from orchestrator.shell.store.ports import Operation, Outcome
from orchestrator.shell.store.rows import AttemptThread, CheckpointRow, Lease, NewEvent
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.store.sqlite_writes import SqliteWrites

Edge = Literal["before", "inside", "after"]
"""`before`: everything queued ahead of the write is committed, and nothing of it; `inside`: it is written, but its
transaction is not committed; `after`: it is committed, nothing behind it is, and nobody has been told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AtEvent:
    """At the append of the first event of this process that fits; what is `None` fits always."""

    edge: Edge | Literal["recorded"] = "after"
    """`recorded`: it stands in the memory of the process, and the store has not been asked yet."""
    seq: int | None = None
    type: str | None = None
    node: str | None = None

    def fits(self, seq: int, type_: str, node: object) -> bool:
        """Tell whether this is the event."""
        return self.seq in (None, seq) and self.type in (None, type_) and self.node in (None, node)


@dataclass(frozen=True, slots=True, kw_only=True)
class AtCheckpoint:
    """At the first checkpoint of an attempt of `node`; its `after` is between that and the attempt's last event."""

    edge: Edge = "after"
    node: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AtCommit:
    """At a transaction: 1 is the first one of the process, which takes the lease."""

    number: int
    edge: Edge = "after"


@dataclass(frozen=True, slots=True, kw_only=True)
class AtTime:
    """So long after the process began to execute, wherever it is then."""

    seconds: float


When: TypeAlias = AtEvent | AtCheckpoint | AtCommit | AtTime


class _Reached(BaseException):
    """The wanted write comes next; no `except Exception` on the way may hide it."""


class _WatchedWrites(SqliteWrites):
    store: StrikingStore

    def append(
        self,
        run: str,
        expected_head: int,
        events: Sequence[NewEvent],
        *,
        lease: Lease | None = None,
        delete_threads: Sequence[str] = (),
        artefacts: Sequence[bytes] = (),
        folded: Sequence[int] = (),
    ) -> int:
        for seq, event in enumerate(events, start=expected_head + 1):
            self.store.comes_to_event(seq, event)
        return super().append(
            run,
            expected_head,
            events,
            lease=lease,
            delete_threads=delete_threads,
            artefacts=artefacts,
            folded=folded,
        )

    def put_checkpoint(self, row: CheckpointRow) -> None:
        self.store.comes_to_checkpoint(row)
        super().put_checkpoint(row)


class StrikingStore(SqliteStore):
    """The product's store, in which the process strikes itself at a point, once."""

    def __init__(
        self, path: Path, when: When | None, strike: Callable[[], None], clock: Clock | None = None
    ) -> None:
        super().__init__(path, clock=clock)
        self._when: When | None = when
        self._strike = strike
        self._commits = 0
        self._at = 0

    def _writes(self) -> SqliteWrites:
        writes = _WatchedWrites(self._writer, self._clock)
        writes.store = self
        return writes

    def comes_to_event(self, seq: int, event: NewEvent) -> None:
        """Raise when the event is the wanted one."""
        when = self._when
        if isinstance(when, AtEvent) and when.edge != "recorded":
            node = json.loads(event.payload).get("node")
            if when.fits(seq, event.type, node):
                raise _Reached

    def comes_to_checkpoint(self, row: CheckpointRow) -> None:
        """Raise when the checkpoint is the wanted one."""
        attempt = AttemptThread.parse(row.thread)
        when = self._when
        if isinstance(when, AtCheckpoint) and attempt is not None and when.node in (None, attempt.node):
            raise _Reached

    def commit(self, operations: Sequence[Operation[object]]) -> list[Outcome]:
        """Commit, and strike where it is the time."""
        when = self._when
        if isinstance(when, AtCommit):
            self._commits += 1
            if self._commits == when.number:
                return self._cut(operations, slice(0, len(operations)), when.edge)
            return super().commit(operations)
        if not isinstance(when, AtEvent | AtCheckpoint):
            return super().commit(operations)
        try:
            return super().commit([self._placed(place, one) for place, one in enumerate(operations)])
        except _Reached:
            assert when.edge != "recorded", "that is a listener's business"
            return self._cut(operations, slice(self._at, self._at + 1), when.edge)

    def between_commits(self, strike: Callable[[], None]) -> None:
        """Strike while no transaction is open: a process that is stopped in one keeps the file locked."""
        with self._write_lock:
            strike()

    def _placed(self, place: int, operation: Operation[object]) -> Operation[object]:
        def run(writes: object) -> object:
            self._at = place
            return operation(writes)  # type: ignore[arg-type]

        return run

    def _cut(self, operations: Sequence[Operation[object]], wanted: slice, edge: Edge) -> list[Outcome]:
        """Commit up to an edge of the wanted operations, strike, and go on with the rest."""
        self._when = None
        if edge == "inside":
            done = super().commit([*operations[: wanted.stop], lambda _: self._strike()])[:-1]
            return done + super().commit(operations[wanted.stop :])
        place = wanted.start if edge == "before" else wanted.stop
        done = super().commit(operations[:place])
        self._strike()
        return done + super().commit(operations[place:])


def striking_listeners(when: When | None, strike: Callable[[], None]) -> list[Listener]:
    """Return the listener of a point in the memory of the process; none for the others."""
    if not (isinstance(when, AtEvent) and when.edge == "recorded"):
        return []

    struck = False

    def listener(event: Event, state: RunState) -> None:
        del state
        nonlocal struck
        if not struck and when.fits(event.seq, event.body.type, getattr(event.body, "node", None)):
            struck = True
            strike()

    return [listener]


def killed() -> None:
    """End this process as `kill -9` does."""
    os.kill(os.getpid(), signal.SIGKILL)


def stopped() -> None:
    """Stop this process until somebody sends SIGCONT."""
    # To this thread: one that is sent to the process may stop another thread first, and this one begins the next write.
    signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
