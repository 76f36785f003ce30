"""Runs in the memory of one process: for tests and for runs that nobody wants to keep."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence

from orchestrator.shell.store.clock import Clock
from orchestrator.shell.store.direct import DirectWrites
from orchestrator.shell.store.errors import ArtefactCorrupted, ArtefactMissing, StoreClosed, UnknownRun
from orchestrator.shell.store.fencing import is_running
from orchestrator.shell.store.memory_writes import MemoryWrites, Tables
from orchestrator.shell.store.ports import Committed, Operation, Outcome, Refused
from orchestrator.shell.store.rows import (
    CheckpointRow,
    FailureRecord,
    InboxMessage,
    Lease,
    RunRow,
    StoredEvent,
    StoreInfo,
    WriteRow,
    artefact_digest,
)
from orchestrator.shell.store.sqlite_schema import SCHEMA_VERSION


class MemoryStore(DirectWrites):
    """A `RunStore` that is gone with its process."""

    def __init__(self, *, clock: Clock = time.time) -> None:
        self._clock = clock
        self._closed = False
        self._lock = threading.RLock()
        self._content = Tables()

    @property
    def location(self) -> str:
        """See `RunStore.location`."""
        return ":memory:"

    @property
    def _tables(self) -> Tables:
        if self._closed:
            raise StoreClosed(self.location)
        return self._content

    def _writes(self) -> MemoryWrites:
        return MemoryWrites(self._tables, self._clock)

    def commit(self, operations: Sequence[Operation[object]]) -> list[Outcome]:
        """See `RunStore.commit`."""
        with self._lock:
            done: list[MemoryWrites] = []
            outcomes: list[Outcome] = []
            try:
                for operation in operations:
                    done.append(self._writes())
                    outcomes.append(_outcome(operation, done[-1]))
            except BaseException:
                for writes in reversed(done):
                    writes.roll_back()
                raise
            return outcomes

    def close(self) -> None:
        """See `RunStore.close`."""
        self._closed = True

    def now(self) -> float:
        """See `StoreReads.now`."""
        return self._clock()

    def run(self, run: str) -> RunRow:
        """See `StoreReads.run`."""
        with self._lock:
            if run not in self._tables.runs:
                raise UnknownRun(run)
            return self._tables.runs[run]

    def runs(self, limit: int = 50) -> tuple[RunRow, ...]:
        """See `StoreReads.runs`."""
        with self._lock:
            rows = sorted(self._tables.runs.values(), key=lambda row: (row.created, row.id), reverse=True)
            return tuple(rows[:limit])

    def head(self, run: str) -> int:
        """See `StoreReads.head`."""
        return self.run(run).head

    def events(self, run: str, after: int = 0, upto: int | None = None) -> Iterator[StoredEvent]:
        """See `StoreReads.events`."""
        head = self.head(run)
        last = head if upto is None else min(upto, head)
        return (self._tables.events[run, seq] for seq in range(max(after, 0) + 1, last + 1))

    def get_artefact(self, digest: str) -> bytes:
        """See `StoreReads.get_artefact`."""
        with self._lock:
            if digest not in self._tables.artefacts:
                raise ArtefactMissing(digest)
            content = self._tables.artefacts[digest]
        if artefact_digest(content) != digest:
            raise ArtefactCorrupted(digest)
        return content

    def lease(self, run: str) -> Lease | None:
        """See `StoreReads.lease`."""
        with self._lock:
            self.run(run)
            lease = self._tables.leases.get(run)
            return lease if lease is not None and is_running(lease, self._clock()) else None

    def pending(self, run: str, after: int = 0) -> tuple[InboxMessage, ...]:
        """See `StoreReads.pending`."""
        with self._lock:
            return tuple(
                message
                for id_, message in sorted(self._tables.messages.items())
                if message.run == run and id_ > after and id_ not in self._tables.folded
            )

    def failures(self, task_class: str | None = None) -> tuple[FailureRecord, ...]:
        """See `StoreReads.failures`."""
        with self._lock:
            records = (record for _, record in sorted(self._tables.failures.items()))
            return tuple(record for record in records if task_class in (None, record.task_class))

    def checkpoint(self, thread: str, ns: str, exactly: str | None = None) -> CheckpointRow | None:
        """See `StoreReads.checkpoint`."""
        return next(iter(self.checkpoints(thread, ns, exactly=exactly)), None)

    def checkpoints(
        self,
        thread: str | None = None,
        ns: str | None = None,
        *,
        exactly: str | None = None,
        before: str | None = None,
    ) -> tuple[CheckpointRow, ...]:
        """See `StoreReads.checkpoints`."""
        with self._lock:
            rows = [
                row
                for row in self._tables.checkpoints.values()
                if thread in (None, row.thread)
                and ns in (None, row.ns)
                and exactly in (None, row.id)
                and (before is None or row.id < before)
            ]
        return tuple(sorted(rows, key=lambda row: row.id, reverse=True))

    def checkpoint_writes(self, thread: str, ns: str, checkpoint: str) -> tuple[WriteRow, ...]:
        """See `StoreReads.checkpoint_writes`."""
        with self._lock:
            rows = [row for key, row in self._tables.writes.items() if key[:3] == (thread, ns, checkpoint)]
        return tuple(sorted(rows, key=lambda row: (row.path, row.task, row.index)))

    def info(self) -> StoreInfo:
        """See `StoreReads.info`; `bytes` counts artefacts and payloads only."""
        with self._lock:
            tables = self._tables
            artefact_bytes = sum(map(len, tables.artefacts.values()))
            return StoreInfo(
                location=self.location,
                schema_version=SCHEMA_VERSION,
                engine="memory",
                bytes=artefact_bytes + sum(len(event.payload) for event in tables.events.values()),
                free_bytes=0,
                runs=len(tables.runs),
                events=len(tables.events),
                artefacts=len(tables.artefacts),
                artefact_bytes=artefact_bytes,
                checkpoints=len(tables.checkpoints),
                open_messages=len(tables.messages) - len(tables.folded),
                failures=len(tables.failures),
            )

    def check(self) -> tuple[str, ...]:
        """See `StoreReads.check`."""
        with self._lock:
            digests = sorted(self._tables.artefacts)
        damage = []
        for digest in digests:
            try:
                self.get_artefact(digest)
            except ArtefactCorrupted as error:
                damage.append(str(error))
        return tuple(damage)


def _outcome(operation: Operation[object], writes: MemoryWrites) -> Outcome:
    try:
        return Committed(value=operation(writes))
    except Exception as error:  # noqa: BLE001 - an operation's failure is its outcome, whatever it is
        writes.roll_back()
        return Refused(error=error)
