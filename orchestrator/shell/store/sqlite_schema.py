"""The tables of `runs.db`, and how an older file becomes a current one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from sqlite_utils import Database

from orchestrator.shell.store.errors import StoreTooNew

SCHEMA_VERSION: Final = 1
"""The version that this code reads and writes; it goes up with each entry of `MIGRATIONS`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    name: str
    columns: Mapping[str, type]
    pk: str | tuple[str, ...]
    nullable: frozenset[str] = frozenset()
    indexes: tuple[tuple[str, ...], ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()


# All tables keep their row ids: SQLite holds at most a quarter of a page of a row in a tree without them, which made
# events of 1.5 kB take 4.7 kB instead of 2.1 kB.
_VERSION_1 = (
    _Table(name="meta", columns={"key": str, "value": str}, pk="key"),
    _Table(
        name="runs",
        columns={"id": str, "title": str, "created": str},
        pk="id",
        indexes=(("created", "id"),),
    ),
    _Table(
        name="events",
        columns={
            "run_id": str,
            "seq": int,
            "v": int,
            "type": str,
            "ts": str,
            "cause": int,
            "idem": str,
            "payload": str,
        },
        pk=("run_id", "seq"),
        nullable=frozenset({"cause", "idem"}),
    ),
    _Table(
        name="leases",
        columns={"run_id": str, "holder": str, "epoch": int, "expires": float},
        pk="run_id",
    ),
    _Table(
        name="requests",
        columns={
            "id": int,
            "run_id": str,
            "kind": str,
            "payload": str,
            "dedup": str,
            "ts": str,
            "folded": int,
        },
        pk="id",
        indexes=(("run_id", "folded", "id"),),
        unique=(("run_id", "dedup"),),
    ),
    _Table(
        name="artefacts",
        columns={"digest": str, "size": int, "encoding": str, "content": bytes},
        pk="digest",
    ),
    _Table(
        name="checkpoints",
        columns={
            "thread_id": str,
            "ns": str,
            "checkpoint_id": str,
            "parent_id": str,
            "encoding": str,
            "checkpoint": bytes,
            "metadata": bytes,
        },
        pk=("thread_id", "ns", "checkpoint_id"),
        nullable=frozenset({"parent_id"}),
    ),
    _Table(
        name="checkpoint_writes",
        columns={
            "thread_id": str,
            "ns": str,
            "checkpoint_id": str,
            "task_id": str,
            "write_index": int,
            "channel": str,
            "encoding": str,
            "value": bytes,
            "task_path": str,
        },
        pk=("thread_id", "ns", "checkpoint_id", "task_id", "write_index"),
    ),
    _Table(
        name="failure_memory",
        columns={"id": int, "task_class": str, "repair": str, "outcome": str, "run_id": str, "ts": str},
        pk="id",
        indexes=(("task_class",),),
    ),
)


def create_tables(db: Database) -> None:
    """Create the tables of version 1."""
    for table in _VERSION_1:
        made = db.table(table.name).create(
            dict(table.columns), pk=table.pk, not_null=set(table.columns) - table.nullable, strict=True
        )
        for columns in table.indexes:
            made.create_index(columns)
        for columns in table.unique:
            made.create_index(columns, unique=True)
    # Most events have no name; sqlite-utils has no words for an index on some rows.
    db.execute("CREATE UNIQUE INDEX idx_events_run_id_idem ON events (run_id, idem) WHERE idem IS NOT NULL")


MIGRATIONS: tuple[Callable[[Database], None], ...] = (create_tables,)
"""Step `i` makes version `i + 1` out of version `i`; 0 is an empty file."""


def migrate(db: Database, location: str) -> None:
    """Bring the file to `SCHEMA_VERSION` in one transaction. Raises `StoreTooNew` for a later one."""
    if require_known(db, location) == SCHEMA_VERSION:
        return
    db.conn.execute("BEGIN IMMEDIATE")
    try:
        # Read again: another process may have migrated between the look and the lock.
        found = require_known(db, location)
        for step in MIGRATIONS[found:]:
            step(db)
        db.table("meta").upsert({"key": "schema_version", "value": str(SCHEMA_VERSION)}, pk="key")
        db.conn.execute("COMMIT")
    except BaseException:
        db.rollback()
        raise


def require_known(db: Database, location: str) -> int:
    """Return the version of the file, 0 for an empty one. Raises `StoreTooNew` for one above `SCHEMA_VERSION`."""
    if not db.table("meta").exists():
        return 0
    row = db.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    found = int(row[0]) if row is not None else 0
    if found > SCHEMA_VERSION:
        raise StoreTooNew(location, found, SCHEMA_VERSION)
    return found
