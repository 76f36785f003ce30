"""A rig for each run store: a store, its clock, and the means to disturb it."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from orchestrator.shell.store.memory_store import MemoryStore
from orchestrator.shell.store.memory_writes import MemoryWrites
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.store.sqlite_writes import SqliteWrites
from tests.shell.store.conformance import FakeClock, Fuse, StoreRig


class _FusedMemoryWrites(MemoryWrites):
    fuse: Fuse

    def _put(self, table: dict[object, object], key: object, value: object) -> None:
        self.fuse.spend()
        super()._put(table, key, value)

    def _remove(self, table: dict[object, object], keys: Iterable[object]) -> None:
        for key in list(keys):
            self.fuse.spend()
            super()._remove(table, [key])


class _FusedMemoryStore(MemoryStore):
    def __init__(self, clock: FakeClock, fuse: Fuse) -> None:
        super().__init__(clock=clock)
        self._fuse = fuse

    def _writes(self) -> MemoryWrites:
        writes = _FusedMemoryWrites(self._tables, self._clock)
        writes.fuse = self._fuse
        return writes


class MemoryRig:
    """A store in memory."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.fuse = Fuse()
        self.store = _FusedMemoryStore(self.clock, self.fuse)

    def corrupt(self, digest: str) -> None:
        """See `StoreRig.corrupt`."""
        content = self.store._tables.artefacts[digest]
        self.store._tables.artefacts[digest] = bytes([content[0] ^ 1]) + content[1:]


@contextmanager
def memory_rig() -> Iterator[StoreRig]:
    """Give a rig with an empty store."""
    yield MemoryRig()


class _FusedSqliteWrites(SqliteWrites):
    fuse: Fuse

    def _execute(self, sql: str, parameters: Sequence[object] = ()) -> sqlite3.Cursor:
        if not sql.lstrip().startswith("SELECT"):
            self.fuse.spend()
        return super()._execute(sql, parameters)

    def _execute_many(self, sql: str, parameters: Sequence[Sequence[object]]) -> None:
        for row in parameters:
            self._execute(sql, row)


class _FusedSqliteStore(SqliteStore):
    def __init__(self, path: Path, clock: FakeClock, fuse: Fuse) -> None:
        super().__init__(path, clock=clock)
        self._fuse = fuse

    def _writes(self) -> SqliteWrites:
        writes = _FusedSqliteWrites(self._writer, self._clock)
        writes.fuse = self._fuse
        return writes


class SqliteRig:
    """A store in a file."""

    def __init__(self, path: Path) -> None:
        self.clock = FakeClock()
        self.fuse = Fuse()
        self.path = path
        self.store = _FusedSqliteStore(path, self.clock, self.fuse)

    def corrupt(self, digest: str) -> None:
        """See `StoreRig.corrupt`."""
        with closing(sqlite3.connect(self.path)) as connection, connection:
            (content,) = connection.execute(
                "SELECT content FROM artefacts WHERE digest = ?", (digest,)
            ).fetchone()
            middle = len(content) // 2
            changed = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
            connection.execute("UPDATE artefacts SET content = ? WHERE digest = ?", (changed, digest))


@contextmanager
def sqlite_rig() -> Iterator[StoreRig]:
    """Give a rig with an empty store."""
    with tempfile.TemporaryDirectory() as folder:
        rig = SqliteRig(Path(folder) / "runs.db")
        try:
            yield rig
        finally:
            rig.store.close()
