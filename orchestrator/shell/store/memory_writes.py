"""The tables of the in-memory store and the writes on them, each with a way back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from orchestrator.shell.store.appending import (
    first_named,
    repeats,
    require_distinct_names,
    require_earlier_causes,
    require_run_id,
)
from orchestrator.shell.store.clock import Clock, timestamp
from orchestrator.shell.store.errors import AlreadyRecorded, HeadMoved, RunExists, UnknownRun, not_unicode
from orchestrator.shell.store.fencing import NOBODY, renewed, require_current, require_current_epoch, taken
from orchestrator.shell.store.rows import (
    AttemptThread,
    CheckpointRow,
    FailureRecord,
    InboxMessage,
    Lease,
    NewEvent,
    RunRow,
    StoredEvent,
    WriteRow,
    artefact_digest,
)

_ABSENT: Final = object()


@dataclass(slots=True)
class Tables:
    """Everything the store holds."""

    runs: dict[str, RunRow] = field(default_factory=dict)
    """With the head as of now."""
    events: dict[tuple[str, int], StoredEvent] = field(default_factory=dict)
    names: dict[tuple[str, str], int] = field(default_factory=dict)
    """The `seq` of each named event."""
    leases: dict[str, Lease] = field(default_factory=dict)
    artefacts: dict[str, bytes] = field(default_factory=dict)
    messages: dict[int, InboxMessage] = field(default_factory=dict)
    posted: dict[tuple[str, str], int] = field(default_factory=dict)
    """The message of each `dedup`."""
    folded: dict[int, bool] = field(default_factory=dict)
    failures: dict[int, FailureRecord] = field(default_factory=dict)
    checkpoints: dict[tuple[str, str, str], CheckpointRow] = field(default_factory=dict)
    writes: dict[tuple[str, str, str, str, int], WriteRow] = field(default_factory=dict)


class MemoryWrites:
    """`StoreWrites` on tables; `roll_back` undoes what was written since it was made."""

    def __init__(self, tables: Tables, clock: Clock) -> None:
        self._tables = tables
        self._clock = clock
        self._undo: list[tuple[dict[Any, Any], object, object]] = []

    def roll_back(self) -> None:
        """Restore the tables as they were when this object was made."""
        while self._undo:
            table, key, before = self._undo.pop()
            if before is _ABSENT:
                del table[key]
            else:
                table[key] = before

    def _put(self, table: dict[Any, Any], key: object, value: object) -> None:
        self._undo.append((table, key, table.get(key, _ABSENT)))
        table[key] = value

    def _remove(self, table: dict[Any, Any], keys: Iterable[object]) -> None:
        for key in list(keys):
            self._undo.append((table, key, table[key]))
            del table[key]

    def create_run(self, run: str, title: str, created: str) -> None:
        """See `StoreWrites.create_run`."""
        require_run_id(run)
        _require_unicode(run, title, created)
        if run in self._tables.runs:
            raise RunExists(run)
        self._put(self._tables.runs, run, RunRow(id=run, title=title, created=created, head=0))

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
        """See `StoreWrites.append`."""
        head = self._head(run)
        self._require_current(run, lease)
        require_distinct_names(events)
        repeated = self._repeated(run, events)
        if repeated is not None:
            return repeated
        if head != expected_head:
            raise HeadMoved(run, expected_head, head)
        require_earlier_causes(head, events)
        for content in artefacts:
            self.put_artefact(content)
        for seq, event in enumerate(events, start=head + 1):
            self._add_event(run, seq, event)
        self._put(self._tables.runs, run, replace(self._tables.runs[run], head=head + len(events)))
        for thread in delete_threads:
            self.delete_thread(thread)
        self._fold(run, folded)
        return head + len(events)

    def _head(self, run: str) -> int:
        if run not in self._tables.runs:
            raise UnknownRun(run)
        return self._tables.runs[run].head

    def _require_current(self, run: str, lease: Lease | None) -> None:
        self._head(run)
        require_current(run, lease, self._tables.leases.get(run), self._clock())

    def _repeated(self, run: str, events: Sequence[NewEvent]) -> int | None:
        named = first_named(events)
        at = None if named is None else self._tables.names.get((run, named.idem))
        if named is None or at is None:
            return None
        first = at - named.position
        numbers = range(first, first + len(events))
        stored = [self._tables.events[run, seq] for seq in numbers if (run, seq) in self._tables.events]
        if not repeats(stored, events):
            raise AlreadyRecorded(run, named.idem, at)
        return numbers[-1]

    def _add_event(self, run: str, seq: int, event: NewEvent) -> None:
        _require_unicode(event.type, event.ts, event.payload, event.idem or "")
        if event.idem is not None:
            at = self._tables.names.get((run, event.idem))
            if at is not None:
                raise AlreadyRecorded(run, event.idem, at)
            self._put(self._tables.names, (run, event.idem), seq)
        stored = StoredEvent(
            run=run,
            seq=seq,
            v=event.v,
            type=event.type,
            ts=event.ts,
            cause=event.cause,
            idem=event.idem,
            payload=event.payload,
        )
        self._put(self._tables.events, (run, seq), stored)

    def _fold(self, run: str, ids: Sequence[int]) -> None:
        for id_ in ids:
            message = self._tables.messages.get(id_)
            if message is not None and message.run == run:
                self._put(self._tables.folded, id_, True)

    def put_artefact(self, content: bytes) -> str:
        """See `StoreWrites.put_artefact`."""
        digest = artefact_digest(content)
        if digest not in self._tables.artefacts:
            self._put(self._tables.artefacts, digest, content)
        return digest

    def post(self, run: str, kind: str, payload: str, dedup: str) -> int:
        """See `StoreWrites.post`."""
        self._head(run)
        _require_unicode(kind, payload, dedup)
        known = self._tables.posted.get((run, dedup))
        if known is not None:
            message = self._tables.messages[known]
            if (message.kind, message.payload) != (kind, payload):
                raise AlreadyRecorded(run, dedup, known)
            return known
        id_ = max(self._tables.messages, default=0) + 1
        ts = timestamp(self._clock())
        message = InboxMessage(id=id_, run=run, kind=kind, payload=payload, ts=ts)
        self._put(self._tables.messages, id_, message)
        self._put(self._tables.posted, (run, dedup), id_)
        return id_

    def mark_folded(self, run: str, ids: Sequence[int], *, lease: Lease | None = None) -> None:
        """See `StoreWrites.mark_folded`."""
        self._require_current(run, lease)
        self._fold(run, ids)

    def acquire(self, run: str, holder: str, ttl_s: float, *, instead_of: str | None = None) -> Lease:
        """See `StoreWrites.acquire`."""
        self._head(run)
        lease = taken(run, holder, ttl_s, self._tables.leases.get(run), self._clock(), instead_of)
        self._put(self._tables.leases, run, lease)
        return lease

    def renew(self, lease: Lease, ttl_s: float) -> Lease:
        """See `StoreWrites.renew`."""
        self._head(lease.run)
        longer = renewed(lease, ttl_s, self._tables.leases.get(lease.run), self._clock())
        self._put(self._tables.leases, lease.run, longer)
        return longer

    def release(self, lease: Lease) -> None:
        """See `StoreWrites.release`."""
        standing = self._tables.leases.get(lease.run)
        if standing is not None and (standing.holder, standing.epoch) == (lease.holder, lease.epoch):
            self._put(self._tables.leases, lease.run, replace(standing, holder=NOBODY, expires=0.0))

    def add_failure(
        self, task_class: str, repair: str, outcome: str, run: str, *, lease: Lease | None = None
    ) -> int:
        """See `StoreWrites.add_failure`."""
        self._require_current(run, lease)
        _require_unicode(task_class, repair, outcome)
        id_ = max(self._tables.failures, default=0) + 1
        ts = timestamp(self._clock())
        record = FailureRecord(id=id_, task_class=task_class, repair=repair, outcome=outcome, run=run, ts=ts)
        self._put(self._tables.failures, id_, record)
        return id_

    def put_checkpoint(self, row: CheckpointRow) -> None:
        """See `StoreWrites.put_checkpoint`."""
        self._require_current_epoch(row.thread)
        self._put(self._tables.checkpoints, (row.thread, row.ns, row.id), row)

    def put_checkpoint_writes(self, rows: Sequence[WriteRow]) -> None:
        """See `StoreWrites.put_checkpoint_writes`."""
        for row in rows:
            self._require_current_epoch(row.thread)
            key = (row.thread, row.ns, row.checkpoint, row.task, row.index)
            if row.index < 0 or key not in self._tables.writes:
                self._put(self._tables.writes, key, row)

    def _require_current_epoch(self, thread: str) -> None:
        attempt = AttemptThread.parse(thread)
        if attempt is not None:
            require_current_epoch(thread, self._tables.leases.get(attempt.run))

    def copy_thread(self, source: str, target: str, *, newest_only: bool = False) -> int:
        """See `StoreWrites.copy_thread`."""
        self._require_current_epoch(target)
        rows = [row for row in self._tables.checkpoints.values() if row.thread == source]
        if newest_only:
            newest = {row.ns: row for row in sorted(rows, key=lambda row: row.id)}
            rows = [replace(row, parent=None) for row in newest.values()]
        chosen = {(row.ns, row.id) for row in rows}
        for row in rows:
            self._put(self._tables.checkpoints, (target, row.ns, row.id), replace(row, thread=target))
        for write in list(self._tables.writes.values()):
            wanted = not newest_only or (write.ns, write.checkpoint) in chosen
            if write.thread == source and wanted:
                key = (target, write.ns, write.checkpoint, write.task, write.index)
                self._put(self._tables.writes, key, replace(write, thread=target))
        return len(rows)

    def delete_thread(self, thread: str) -> None:
        """See `StoreWrites.delete_thread`."""
        self._remove(self._tables.checkpoints, [key for key in self._tables.checkpoints if key[0] == thread])
        self._remove(self._tables.writes, [key for key in self._tables.writes if key[0] == thread])

    def delete_checkpoints(self, thread: str, ns: str, ids: Sequence[str]) -> None:
        """See `StoreWrites.delete_checkpoints`."""
        gone = {(thread, ns, id_) for id_ in ids}
        self._remove(self._tables.checkpoints, [key for key in self._tables.checkpoints if key in gone])
        self._remove(self._tables.writes, [key for key in self._tables.writes if key[:3] in gone])


def _require_unicode(*texts: str) -> None:
    try:
        for text in texts:
            text.encode()
    except UnicodeEncodeError as error:
        raise not_unicode(error) from error
