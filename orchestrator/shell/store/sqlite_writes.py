"""The writes of the SQLite store, inside a transaction that somebody else began."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from orchestrator.shell.store.appending import (
    first_named,
    repeats,
    require_distinct_names,
    require_earlier_causes,
    require_run_id,
)
from orchestrator.shell.store.clock import timestamp
from orchestrator.shell.store.errors import AlreadyRecorded, HeadMoved, RunExists, UnknownRun
from orchestrator.shell.store.fencing import NOBODY, renewed, require_current, require_current_epoch, taken
from orchestrator.shell.store.rows import (
    AttemptThread,
    CheckpointRow,
    Lease,
    NewEvent,
    StoredEvent,
    WriteRow,
    artefact_digest,
)

COMPRESS_FROM_BYTES: Final = 2_048
"""Below this, zlib saves a few hundred bytes, and starting it takes longer than writing the row."""

EVENT_COLUMNS: Final = "run_id, seq, v, type, ts, cause, idem, payload"


class _Standing(NamedTuple):
    """What a write to a run is checked against."""

    head: int
    lease: Lease | None
    now: float


def stored_event(row: tuple[Any, ...]) -> StoredEvent:
    """Return the event of a row of `EVENT_COLUMNS`."""
    run, seq, v, type_, ts, cause, idem, payload = row
    return StoredEvent(run=run, seq=seq, v=v, type=type_, ts=ts, cause=cause, idem=idem, payload=payload)


class SqliteWrites:
    """`StoreWrites` on a connection. `clock` is an SQL expression."""

    def __init__(self, connection: sqlite3.Connection, clock: str) -> None:
        self._connection = connection
        self._clock = clock

    def _execute(self, sql: str, parameters: Sequence[object] = ()) -> sqlite3.Cursor:
        return self._connection.execute(sql, parameters)

    def _execute_many(self, sql: str, parameters: Sequence[Sequence[object]]) -> None:
        self._connection.executemany(sql, parameters)

    def create_run(self, run: str, title: str, created: str) -> None:
        """See `StoreWrites.create_run`."""
        require_run_id(run)
        added = self._execute(
            "INSERT OR IGNORE INTO runs (id, title, created) VALUES (?, ?, ?)", (run, title, created)
        )
        if added.rowcount == 0:
            raise RunExists(run)

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
        standing = self._standing(run)
        require_current(run, lease, standing.lease, standing.now)
        require_distinct_names(events)
        repeated = self._repeated(run, events)
        if repeated is not None:
            return repeated
        if standing.head != expected_head:
            raise HeadMoved(run, expected_head, standing.head)
        require_earlier_causes(standing.head, events)
        for content in artefacts:
            self.put_artefact(content)
        self._insert(run, standing.head, events)
        for thread in delete_threads:
            self.delete_thread(thread)
        self._fold(run, folded)
        return standing.head + len(events)

    def _standing(self, run: str) -> _Standing:
        row = self._execute(
            f"""
            SELECT coalesce((SELECT max(seq) FROM events WHERE run_id = runs.id), 0), {self._clock},
                   holder, epoch, expires
            FROM runs LEFT JOIN leases ON run_id = id WHERE id = ?
            """,
            (run,),
        ).fetchone()
        if row is None:
            raise UnknownRun(run)
        head, now, holder, epoch, expires = row
        lease = None if epoch is None else Lease(run=run, holder=holder, epoch=epoch, expires=expires)
        return _Standing(head, lease, now)

    def _repeated(self, run: str, events: Sequence[NewEvent]) -> int | None:
        """Return the head that the first append of these events returned, None if this is the first."""
        named = first_named(events)
        if named is None:
            return None
        at = self._seq_of(run, named.idem)
        if at is None:
            return None
        first = at - named.position
        last = first + len(events) - 1
        rows = self._execute(
            f"SELECT {EVENT_COLUMNS} FROM events WHERE run_id = ? AND seq BETWEEN ? AND ? ORDER BY seq",
            (run, first, last),
        )
        if not repeats([stored_event(row) for row in rows], events):
            raise AlreadyRecorded(run, named.idem, at)
        return last

    def _seq_of(self, run: str, idem: str) -> int | None:
        row = self._execute("SELECT seq FROM events WHERE run_id = ? AND idem = ?", (run, idem)).fetchone()
        return None if row is None else int(row[0])

    def _insert(self, run: str, head: int, events: Sequence[NewEvent]) -> None:
        rows = [
            (run, seq, event.v, event.type, event.ts, event.cause, event.idem, event.payload)
            for seq, event in enumerate(events, start=head + 1)
        ]
        try:
            self._execute_many(f"INSERT INTO events ({EVENT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        except sqlite3.IntegrityError:
            for event in events:
                at = None if event.idem is None else self._seq_of(run, event.idem)
                if event.idem is not None and at is not None:
                    raise AlreadyRecorded(run, event.idem, at) from None
            raise

    def _fold(self, run: str, ids: Sequence[int]) -> None:
        if ids:
            self._execute_many(
                "UPDATE requests SET folded = 1 WHERE run_id = ? AND id = ?", [(run, id_) for id_ in ids]
            )

    def put_artefact(self, content: bytes) -> str:
        """See `StoreWrites.put_artefact`."""
        digest = artefact_digest(content)
        encoding, stored = "plain", content
        if len(content) >= COMPRESS_FROM_BYTES:
            packed = zlib.compress(content)
            if len(packed) < len(content):
                encoding, stored = "zlib", packed
        self._execute(
            "INSERT OR IGNORE INTO artefacts (digest, size, encoding, content) VALUES (?, ?, ?, ?)",
            (digest, len(content), encoding, stored),
        )
        return digest

    def post(self, run: str, kind: str, payload: str, dedup: str) -> int:
        """See `StoreWrites.post`."""
        now = self._standing(run).now
        added = self._execute(
            """
            INSERT OR IGNORE INTO requests (run_id, kind, payload, dedup, ts, folded) VALUES (?, ?, ?, ?, ?, 0)
            RETURNING id
            """,
            (run, kind, payload, dedup, timestamp(now)),
        ).fetchall()
        if added:
            return int(added[0][0])
        id_, old_kind, old_payload = self._execute(
            "SELECT id, kind, payload FROM requests WHERE run_id = ? AND dedup = ?", (run, dedup)
        ).fetchone()
        if (old_kind, old_payload) != (kind, payload):
            raise AlreadyRecorded(run, dedup, id_)
        return int(id_)

    def mark_folded(self, run: str, ids: Sequence[int], *, lease: Lease | None = None) -> None:
        """See `StoreWrites.mark_folded`."""
        self._require_current(run, lease)
        self._fold(run, ids)

    def _require_current(self, run: str, lease: Lease | None) -> None:
        standing = self._standing(run)
        require_current(run, lease, standing.lease, standing.now)

    def acquire(self, run: str, holder: str, ttl_s: float, *, instead_of: str | None = None) -> Lease:
        """See `StoreWrites.acquire`."""
        standing = self._standing(run)
        lease = taken(run, holder, ttl_s, standing.lease, standing.now, instead_of)
        self._put_lease(lease)
        return lease

    def renew(self, lease: Lease, ttl_s: float) -> Lease:
        """See `StoreWrites.renew`."""
        standing = self._standing(lease.run)
        longer = renewed(lease, ttl_s, standing.lease, standing.now)
        self._put_lease(longer)
        return longer

    def release(self, lease: Lease) -> None:
        """See `StoreWrites.release`."""
        self._execute(
            "UPDATE leases SET holder = ?, expires = 0.0 WHERE run_id = ? AND holder = ? AND epoch = ?",
            (NOBODY, lease.run, lease.holder, lease.epoch),
        )

    def _put_lease(self, lease: Lease) -> None:
        self._execute(
            "INSERT OR REPLACE INTO leases (run_id, holder, epoch, expires) VALUES (?, ?, ?, ?)",
            (lease.run, lease.holder, lease.epoch, lease.expires),
        )

    def add_failure(
        self, task_class: str, repair: str, outcome: str, run: str, *, lease: Lease | None = None
    ) -> int:
        """See `StoreWrites.add_failure`."""
        standing = self._standing(run)
        require_current(run, lease, standing.lease, standing.now)
        added = self._execute(
            "INSERT INTO failure_memory (task_class, repair, outcome, run_id, ts) VALUES (?, ?, ?, ?, ?)",
            (task_class, repair, outcome, run, timestamp(standing.now)),
        )
        return added.lastrowid or 0

    def put_checkpoint(self, row: CheckpointRow) -> None:
        """See `StoreWrites.put_checkpoint`."""
        self._require_current_epoch(row.thread)
        self._execute(
            """
            INSERT OR REPLACE INTO checkpoints
                (thread_id, ns, checkpoint_id, parent_id, encoding, checkpoint, metadata)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            (row.thread, row.ns, row.id, row.parent, row.encoding, row.checkpoint, row.metadata),
        )

    def put_checkpoint_writes(self, rows: Sequence[WriteRow]) -> None:
        """See `StoreWrites.put_checkpoint_writes`."""
        for thread in {row.thread for row in rows}:
            self._require_current_epoch(thread)
        for first_stands, verb in ((True, "IGNORE"), (False, "REPLACE")):
            values = [
                (w.thread, w.ns, w.checkpoint, w.task, w.index, w.channel, w.encoding, w.value, w.path)
                for w in rows
                if (w.index >= 0) is first_stands
            ]
            if values:
                self._execute_many(
                    f"""
                    INSERT OR {verb} INTO checkpoint_writes
                        (thread_id, ns, checkpoint_id, task_id, write_index, channel, encoding, value, task_path)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                    values,
                )

    def _require_current_epoch(self, thread: str) -> None:
        attempt = AttemptThread.parse(thread)
        if attempt is None:
            return
        row = self._execute(
            "SELECT holder, epoch, expires FROM leases WHERE run_id = ?", (attempt.run,)
        ).fetchone()
        if row is not None:
            lease = Lease(run=attempt.run, holder=row[0], epoch=row[1], expires=row[2])
            require_current_epoch(thread, lease)

    def copy_thread(self, source: str, target: str, *, newest_only: bool = False) -> int:
        """See `StoreWrites.copy_thread`."""
        self._require_current_epoch(target)
        chosen = NEWEST_OF_THREAD if newest_only else "TRUE"
        parent = "NULL" if newest_only else "parent_id"
        copied = self._execute(
            f"""
            INSERT OR REPLACE INTO checkpoints
                (thread_id, ns, checkpoint_id, parent_id, encoding, checkpoint, metadata)
            SELECT :target, ns, checkpoint_id, {parent}, encoding, checkpoint, metadata
            FROM checkpoints AS row WHERE thread_id = :source AND {chosen}
            """,
            {"source": source, "target": target},  # type: ignore[arg-type]
        ).rowcount
        self._execute(
            f"""
            INSERT OR REPLACE INTO checkpoint_writes
                (thread_id, ns, checkpoint_id, task_id, write_index, channel, encoding, value, task_path)
            SELECT :target, ns, checkpoint_id, task_id, write_index, channel, encoding, value, task_path
            FROM checkpoint_writes AS row WHERE thread_id = :source AND {chosen}
            """,
            {"source": source, "target": target},  # type: ignore[arg-type]
        )
        return copied

    def delete_thread(self, thread: str) -> None:
        """See `StoreWrites.delete_thread`."""
        self._execute("DELETE FROM checkpoints WHERE thread_id = ?", (thread,))
        self._execute("DELETE FROM checkpoint_writes WHERE thread_id = ?", (thread,))

    def delete_checkpoints(self, thread: str, ns: str, ids: Sequence[str]) -> None:
        """See `StoreWrites.delete_checkpoints`."""
        keys = [(thread, ns, id_) for id_ in ids]
        for table in ("checkpoints", "checkpoint_writes"):
            self._execute_many(
                f"DELETE FROM {table} WHERE thread_id = ? AND ns = ? AND checkpoint_id = ?", keys
            )


NEWEST_OF_THREAD: Final = """
    checkpoint_id = (SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = :source AND ns = row.ns)
"""
