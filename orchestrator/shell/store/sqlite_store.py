"""Runs in one SQLite file: any process reads and posts, one executes a run (architecture 5)."""

from __future__ import annotations

import os
import sqlite3
import threading
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from sqlite_utils import Database

from orchestrator.shell.store.clock import Clock
from orchestrator.shell.store.direct import DirectWrites
from orchestrator.shell.store.errors import (
    ArtefactCorrupted,
    ArtefactMissing,
    StoreClosed,
    StoreMoved,
    StoreUnavailable,
    UnknownRun,
)
from orchestrator.shell.store.fencing import is_running
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
from orchestrator.shell.store.sqlite_connection import (
    CLOCK_FUNCTION,
    FILES,
    SYSTEM_CLOCK,
    connect,
    prepare_file,
    translated,
)
from orchestrator.shell.store.sqlite_schema import SCHEMA_VERSION, migrate
from orchestrator.shell.store.sqlite_writes import EVENT_COLUMNS, SqliteWrites, stored_event

EVENTS_PER_READ: Final = 1000
"""Between two reads of so many events nothing is locked and the reader may take its time."""


class SqliteStore(DirectWrites):
    """A `RunStore` in a file, created if it does not exist.

    One connection writes and one reads, each used by one thread at a time. `clock` replaces SQLite's for tests;
    `max_bytes` limits the size of the file.

    Raises `StoreTooNew` for a file of a later version, `StoreBroken` for one that is no run store or cannot be opened,
    `StoreBusy` and `StoreFull` as any write does.
    """

    def __init__(self, path: Path, *, clock: Clock | None = None, max_bytes: int | None = None) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._clock = SYSTEM_CLOCK if clock is None else CLOCK_FUNCTION
        self._closed = False
        self._write_lock = threading.Lock()
        self._read_lock = threading.Lock()
        prepare_file(path)
        self._file = _identity(path)
        try:
            self._writer = connect(path, clock=clock, max_bytes=max_bytes, read_only=False)
            try:
                migrate(self._database(self._writer), self.location)
                self._reader = connect(path, clock=clock, max_bytes=None, read_only=True)
            except BaseException:
                self._writer.close()
                raise
        except sqlite3.Error as error:
            raise self._translated(error) from error

    @property
    def location(self) -> str:
        """See `RunStore.location`."""
        return str(self._path)

    def _translated(self, error: Exception) -> Exception:
        return translated(error, self._path, self._max_bytes)

    def _require_file(self) -> None:
        """Raise `StoreClosed`, or `StoreMoved` when what was opened is not what a later process would open.

        A file that was deleted can be written to as long as it is open, and all of it is gone then. A look costs about
        a microsecond.
        """
        if self._closed:
            raise StoreClosed(self.location)
        if _identity(self._path) != self._file:
            raise StoreMoved(self.location)

    @staticmethod
    def _database(connection: sqlite3.Connection) -> Database:
        return Database(connection, recursive_triggers=False, execute_plugins=False)

    def commit(self, operations: Sequence[Operation[object]]) -> list[Outcome]:
        """See `RunStore.commit`."""
        with self._write_lock:
            self._require_file()
            try:
                return self._commit_plainly(operations) or self._commit_with_savepoints(operations)
            except sqlite3.Error as error:
                raise self._translated(error) from error

    def _writes(self) -> SqliteWrites:
        return SqliteWrites(self._writer, self._clock)

    def _commit_plainly(self, operations: Sequence[Operation[object]]) -> list[Outcome]:
        """Commit operations that all succeed; nothing is stored and nothing returned if one does not.

        Raises what the commit itself raises.

        Refusals are rare, and a savepoint per operation costs as much as a small append.
        """
        self._writer.execute("BEGIN IMMEDIATE")
        outcomes: list[Outcome] = []
        try:
            writes = self._writes()
            for operation in operations:
                outcomes.append(Committed(value=operation(writes)))
        except Exception:  # noqa: BLE001 - whatever it was, the second run names the operation that raised it
            self._roll_back()
            return []
        except BaseException:
            self._roll_back()
            raise
        self._end_transaction()
        return outcomes

    def _end_transaction(self) -> None:
        """Commit; what fails here is never run a second time, for it may be stored all the same."""
        try:
            self._writer.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def _commit_with_savepoints(self, operations: Sequence[Operation[object]]) -> list[Outcome]:
        self._writer.execute("BEGIN IMMEDIATE")
        try:
            writes = self._writes()
            outcomes = [self._outcome(operation, writes) for operation in operations]
        except BaseException:
            self._roll_back()
            raise
        self._end_transaction()
        return outcomes

    def _outcome(self, operation: Operation[object], writes: SqliteWrites) -> Outcome:
        self._writer.execute("SAVEPOINT operation")
        try:
            value = operation(writes)
        except BaseException as error:
            if not self._writer.in_transaction:
                raise  # SQLite gave up the whole transaction, so no operation of it is stored
            self._writer.execute("ROLLBACK TO operation")
            self._writer.execute("RELEASE operation")
            if not isinstance(error, Exception):
                raise
            return Refused(error=self._translated(error))
        self._writer.execute("RELEASE operation")
        return Committed(value=value)

    def _roll_back(self) -> None:
        if self._writer.in_transaction:
            self._writer.execute("ROLLBACK")

    def close(self) -> None:
        """See `RunStore.close`."""
        with self._write_lock, self._read_lock:
            self._closed = True
            self._reader.close()
            self._writer.close()

    def _read(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with self._read_lock:
            self._require_file()
            try:
                return self._reader.execute(sql, parameters).fetchall()
            except sqlite3.Error as error:
                raise self._translated(error) from error

    def now(self) -> float:
        """See `StoreReads.now`."""
        return float(self._read(f"SELECT {self._clock}")[0][0])

    def run(self, run: str) -> RunRow:
        """See `StoreReads.run`."""
        rows = self._read(f"{RUNS} WHERE id = ?", (run,))
        if not rows:
            raise UnknownRun(run)
        return _run_row(rows[0])

    def runs(self, limit: int = 50) -> tuple[RunRow, ...]:
        """See `StoreReads.runs`."""
        return tuple(map(_run_row, self._read(f"{RUNS} ORDER BY created DESC, id DESC LIMIT ?", (limit,))))

    def head(self, run: str) -> int:
        """See `StoreReads.head`."""
        return self.run(run).head

    def events(self, run: str, after: int = 0, upto: int | None = None) -> Iterator[StoredEvent]:
        """See `StoreReads.events`."""
        head = self.head(run)
        return self._events(run, after, head if upto is None else min(upto, head))

    def _events(self, run: str, after: int, upto: int) -> Iterator[StoredEvent]:
        while after < upto:
            rows = self._read(
                f"SELECT {EVENT_COLUMNS} FROM events WHERE run_id = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
                (run, after, upto, EVENTS_PER_READ),
            )
            yield from map(stored_event, rows)
            after += EVENTS_PER_READ

    def get_artefact(self, digest: str) -> bytes:
        """See `StoreReads.get_artefact`."""
        rows = self._read("SELECT encoding, content FROM artefacts WHERE digest = ?", (digest,))
        if not rows:
            raise ArtefactMissing(digest)
        encoding, stored = rows[0]
        try:
            content: bytes = zlib.decompress(stored) if encoding == "zlib" else stored
        except zlib.error as error:
            raise ArtefactCorrupted(digest) from error
        if artefact_digest(content) != digest:
            raise ArtefactCorrupted(digest)
        return content

    def lease(self, run: str) -> Lease | None:
        """See `StoreReads.lease`."""
        rows = self._read(
            f"SELECT {self._clock}, holder, epoch, expires FROM runs LEFT JOIN leases ON run_id = id WHERE id = ?",
            (run,),
        )
        if not rows:
            raise UnknownRun(run)
        now, holder, epoch, expires = rows[0]
        if epoch is None:
            return None
        lease = Lease(run=run, holder=holder, epoch=epoch, expires=expires)
        return lease if is_running(lease, now) else None

    def pending(self, run: str, after: int = 0) -> tuple[InboxMessage, ...]:
        """See `StoreReads.pending`."""
        rows = self._read(
            """
            SELECT id, run_id, kind, payload, ts FROM requests WHERE run_id = ? AND folded = 0 AND id > ? ORDER BY id
            """,
            (run, after),
        )
        return tuple(
            InboxMessage(id=id_, run=run, kind=kind, payload=payload, ts=ts)
            for id_, run, kind, payload, ts in rows
        )

    def failures(self, task_class: str | None = None) -> tuple[FailureRecord, ...]:
        """See `StoreReads.failures`."""
        rows = self._read(
            """
            SELECT id, task_class, repair, outcome, run_id, ts FROM failure_memory
            WHERE ?1 IS NULL OR task_class = ?1 ORDER BY id
            """,
            (task_class,),
        )
        return tuple(
            FailureRecord(id=id_, task_class=class_, repair=repair, outcome=outcome, run=run, ts=ts)
            for id_, class_, repair, outcome, run, ts in rows
        )

    def checkpoint(self, thread: str, ns: str, exactly: str | None = None) -> CheckpointRow | None:
        """See `StoreReads.checkpoint`."""
        rows = self._read(
            f"""
            {CHECKPOINTS} WHERE thread_id = ?1 AND ns = ?2 AND (?3 IS NULL OR checkpoint_id = ?3)
            ORDER BY checkpoint_id DESC LIMIT 1
            """,
            (thread, ns, exactly),
        )
        return _checkpoint_row(rows[0]) if rows else None

    def checkpoints(
        self,
        thread: str | None = None,
        ns: str | None = None,
        *,
        exactly: str | None = None,
        before: str | None = None,
    ) -> tuple[CheckpointRow, ...]:
        """See `StoreReads.checkpoints`."""
        tests = {
            "thread_id = ?": thread,
            "ns = ?": ns,
            "checkpoint_id = ?": exactly,
            "checkpoint_id < ?": before,
        }
        given = {test: value for test, value in tests.items() if value is not None}
        where = f"WHERE {' AND '.join(given)}" if given else ""
        rows = self._read(f"{CHECKPOINTS} {where} ORDER BY checkpoint_id DESC", tuple(given.values()))
        return tuple(map(_checkpoint_row, rows))

    def checkpoint_writes(self, thread: str, ns: str, checkpoint: str) -> tuple[WriteRow, ...]:
        """See `StoreReads.checkpoint_writes`."""
        rows = self._read(
            """
            SELECT thread_id, ns, checkpoint_id, task_id, write_index, channel, encoding, value, task_path
            FROM checkpoint_writes WHERE thread_id = ? AND ns = ? AND checkpoint_id = ?
            ORDER BY task_path, task_id, write_index
            """,
            (thread, ns, checkpoint),
        )
        return tuple(map(_write_row, rows))

    def info(self) -> StoreInfo:
        """See `StoreReads.info`."""
        (counts,) = self._read(
            """
            SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM events), (SELECT count(*) FROM artefacts),
                   (SELECT coalesce(sum(length(content)), 0) FROM artefacts), (SELECT count(*) FROM checkpoints),
                   (SELECT count(*) FROM requests WHERE folded = 0),
                   (SELECT count(*) FROM failure_memory)
            """
        )
        runs, events, artefacts, artefact_bytes, checkpoints, open_messages, failures = counts
        (free_pages,), (page_size,) = (
            self._read("PRAGMA freelist_count")[0],
            self._read("PRAGMA page_size")[0],
        )
        return StoreInfo(
            location=self.location,
            schema_version=SCHEMA_VERSION,
            engine=f"SQLite {sqlite3.sqlite_version}",
            bytes=self._file_bytes(),
            free_bytes=free_pages * page_size,
            runs=runs,
            events=events,
            artefacts=artefacts,
            artefact_bytes=artefact_bytes,
            checkpoints=checkpoints,
            open_messages=open_messages,
            failures=failures,
        )

    def _file_bytes(self) -> int:
        files = (self._path.with_name(self._path.name + suffix) for suffix in FILES)
        return sum(file.stat().st_size for file in files if file.exists())

    def check(self) -> tuple[str, ...]:
        """See `StoreReads.check`."""
        try:
            damage = [line for (line,) in self._read("PRAGMA integrity_check") if line != "ok"]
            digests = [digest for (digest,) in self._read("SELECT digest FROM artefacts ORDER BY digest")]
            gaps = self._read(
                "SELECT run_id FROM events GROUP BY run_id HAVING min(seq) <> 1 OR max(seq) <> count(*) ORDER BY run_id"
            )
        except StoreUnavailable as error:
            return (str(error),)
        damage += [f"run {run!r}: its events are not numbered 1, 2, 3 and so on" for (run,) in gaps]
        for digest in digests:
            try:
                self.get_artefact(digest)
            except ArtefactCorrupted as error:
                damage.append(str(error))
        return tuple(damage)


RUNS: Final = """
    SELECT id, title, created, coalesce((SELECT max(seq) FROM events WHERE run_id = runs.id), 0) FROM runs
"""
CHECKPOINTS: Final = """
    SELECT thread_id, ns, checkpoint_id, parent_id, encoding, checkpoint, metadata FROM checkpoints
"""


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from one that is put in its place; `None` without a file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _run_row(row: tuple[Any, ...]) -> RunRow:
    id_, title, created, head = row
    return RunRow(id=id_, title=title, created=created, head=head)


def _checkpoint_row(row: tuple[Any, ...]) -> CheckpointRow:
    thread, ns, id_, parent, encoding, checkpoint, metadata = row
    return CheckpointRow(
        thread=thread,
        ns=ns,
        id=id_,
        parent=parent,
        encoding=encoding,
        checkpoint=checkpoint,
        metadata=metadata,
    )


def _write_row(row: tuple[Any, ...]) -> WriteRow:
    thread, ns, checkpoint, task, index, channel, encoding, value, path = row
    return WriteRow(
        thread=thread,
        ns=ns,
        checkpoint=checkpoint,
        task=task,
        index=index,
        channel=channel,
        encoding=encoding,
        value=value,
        path=path,
    )
