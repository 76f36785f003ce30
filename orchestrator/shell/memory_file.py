"""The long-term memory in a file of its own, `memory.db` in the data directory.

Not in `runs.db`: a memory is the user's and outlives runs, is erased by itself, and erasing has to mean it. So deleted
text is overwritten (`secure_delete`) and there is no write-ahead log that would keep it; a rollback journal with full
synchronisation is as safe in a crash, and writes here are few. Each change is one transaction that takes the write lock
first, so that several processes merge the same memory one after the other.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from threading import Lock
from typing import Final

from agents.memory.contract import Memory, MemoryId, MemoryKind, merged
from agents.memory.ports import newest_first
from orchestrator.shell.store.errors import StoreBroken, StoreError
from orchestrator.shell.store.sqlite_connection import BUSY_TIMEOUT_S, prepare_file

SCHEMA_VERSION: Final = 1
_TABLE: Final = """
CREATE TABLE memories (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, text TEXT NOT NULL, lang TEXT NOT NULL, origin TEXT NOT NULL,
    taint TEXT NOT NULL, created TEXT NOT NULL, confirmed TEXT NOT NULL, source_run TEXT, last_run TEXT,
    times INTEGER NOT NULL, task_class TEXT NOT NULL, expires TEXT
) STRICT
"""
_COLUMNS: Final = tuple(field.name for field in fields(Memory))


class MemoryUnavailable(StoreError):
    """Report a memory that can't be read or written now; runs do not need it."""

    code = "memory_unavailable"

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            en=(
                f"The long-term memory {str(path)!r} cannot be used: {reason}. Accepted: a file that this program "
                "wrote, on a local disk that it may write to. End what holds it, or move it away to begin with an "
                "empty one."
            ),
            zh=(
                f"长期记忆 {str(path)!r} 无法使用：{reason}。可接受：由本程序写入、位于可写本地磁盘上的文件。"
                "请结束占用它的程序，或将其移走以使用新的空记忆。"
            ),
        )


class MemoryFile:
    """The memory in `path`, which is made with the first entry; `now` gives the time, ISO 8601 in UTC.

    Every method raises `MemoryUnavailable` when the file can't be read or written, or is of a later version.
    """

    def __init__(self, path: Path, now: Callable[[], str]) -> None:
        self._path = path
        self._now = now
        self._lock = Lock()

    def remember(self, memory: Memory) -> Memory:
        """Keep `memory`, merged with a known one, and erase what has expired; on the disk when it returns."""
        with self._changing() as connection:
            connection.execute("DELETE FROM memories WHERE expires <= ?", (self._now(),))
            known = _one(connection, memory.id)
            kept = memory if known is None else merged(known, memory)
            marks = ", ".join("?" * len(_COLUMNS))
            connection.execute(
                f"INSERT OR REPLACE INTO memories ({', '.join(_COLUMNS)}) VALUES ({marks})",
                tuple(getattr(kept, name) for name in _COLUMNS),
            )
            return kept

    def get(self, memory: MemoryId) -> Memory | None:
        """Return one entry, unless it has expired."""
        return next((known for known in self._read() if known.id == memory), None)

    def entries(self, kind: MemoryKind | None = None) -> tuple[Memory, ...]:
        """Return the entries, newest first."""
        return newest_first([known for known in self._read() if kind in (None, known.kind)])

    def forget(self, memory: MemoryId) -> bool:
        """Erase one entry."""
        if not self._path.exists():
            return False
        with self._changing() as connection:
            known = _one(connection, memory)
            connection.execute("DELETE FROM memories WHERE id = ?", (memory,))
            return known is not None and known.active(self._now())

    def clear(self) -> int:
        """Erase everything."""
        if not self._path.exists():
            return 0
        with self._changing() as connection:
            count = sum(known.active(self._now()) for known in _all(connection))
            connection.execute("DELETE FROM memories")
            return count

    def close(self) -> None:
        """Do nothing: no connection is held between two calls."""

    def _read(self) -> list[Memory]:
        if not self._path.exists():
            return []
        with self._connected() as connection:
            known = _all(connection) if _version(connection) else []
        now = self._now()
        return [memory for memory in known if memory.active(now)]

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection inside one transaction: all of it is on the disk afterwards, or nothing."""
        with self._connected() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                if not _version(connection):
                    connection.execute(_TABLE)
                    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                prepare_file(self._path)
                connection = sqlite3.connect(self._path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
                try:
                    connection.execute("PRAGMA synchronous = FULL")
                    connection.execute("PRAGMA secure_delete = ON")
                    if _version(connection) > SCHEMA_VERSION:
                        raise MemoryUnavailable(self._path, f"its schema version is {_version(connection)}")
                    yield connection
                finally:
                    connection.close()
            except StoreBroken as error:
                raise MemoryUnavailable(self._path, error.reason) from error
            except (sqlite3.Error, OSError) as error:
                raise MemoryUnavailable(self._path, str(error)) from error


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _all(connection: sqlite3.Connection) -> list[Memory]:
    rows = connection.execute(f"SELECT {', '.join(_COLUMNS)} FROM memories")
    return [Memory(**dict(zip(_COLUMNS, row, strict=True))) for row in rows]


def _one(connection: sqlite3.Connection, memory: MemoryId) -> Memory | None:
    return next((known for known in _all(connection) if known.id == memory), None)
