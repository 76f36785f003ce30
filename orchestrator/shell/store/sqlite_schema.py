"""The tables of `runs.db`, and how an older file becomes a current one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlite_utils import Database

from orchestrator.shell.store.errors import StoreTooNew

SCHEMA_VERSION: Final = 1
"""The version that this code reads and writes; it goes up with each entry of `MIGRATIONS`."""


def create_tables(db: Database) -> None:
    """Create version 1.

    Tables that are read and written by key only have no row id: one tree less to write. Rows with large content keep
    theirs, since SQLite holds little of a row in a tree without row ids.
    """
    db.table("meta").create({"key": str, "value": str}, pk="key", strict=True)
    _create_runs(db)
    _create_events(db)
    _create_checkpoints(db)
    db.table("artefacts").create(
        {"digest": str, "size": int, "encoding": str, "content": bytes},
        pk="digest",
        not_null={"size", "encoding", "content"},
        strict=True,
    )
    failures = db.table("failure_memory").create(
        {"id": int, "task_class": str, "repair": str, "outcome": str, "run_id": str, "ts": str},
        pk="id",
        not_null={"task_class", "repair", "outcome", "run_id", "ts"},
        strict=True,
    )
    failures.create_index(["task_class"])


def _create_runs(db: Database) -> None:
    runs = db.table("runs").create(
        {"id": str, "title": str, "created": str}, pk="id", not_null={"title", "created"}, strict=True
    )
    runs.create_index(["created", "id"])
    db.table("leases").create(
        {"run_id": str, "holder": str, "epoch": int, "expires": float},
        pk="run_id",
        not_null={"holder", "epoch", "expires"},
        strict=True,
    )
    requests = db.table("requests").create(
        {
            "id": int,
            "run_id": str,
            "kind": str,
            "payload": str,
            "dedup": str,
            "ts": str,
            "folded": int,
        },
        pk="id",
        not_null={"run_id", "kind", "payload", "dedup", "ts", "folded"},
        strict=True,
    )
    requests.create_index(["run_id", "dedup"], unique=True)
    requests.create_index(["run_id", "folded", "id"])


def _create_events(db: Database) -> None:
    # sqlite-utils has no words for WITHOUT ROWID and for partial indexes.
    db.execute(
        """
        CREATE TABLE events (
            run_id TEXT NOT NULL, seq INTEGER NOT NULL, v INTEGER NOT NULL, type TEXT NOT NULL, ts TEXT NOT NULL,
            cause INTEGER, idem TEXT, payload TEXT NOT NULL,
            PRIMARY KEY (run_id, seq)
        ) STRICT, WITHOUT ROWID
        """
    )
    db.execute("CREATE UNIQUE INDEX idx_events_run_id_idem ON events (run_id, idem) WHERE idem IS NOT NULL")
    db.execute(
        """
        CREATE TABLE calls (
            run_id TEXT NOT NULL, node TEXT NOT NULL, generation INTEGER NOT NULL, attempt INTEGER NOT NULL,
            step INTEGER NOT NULL, call_index INTEGER NOT NULL, digest TEXT NOT NULL, result TEXT NOT NULL,
            PRIMARY KEY (run_id, node, generation, attempt, step, call_index, digest)
        ) STRICT, WITHOUT ROWID
        """
    )


def _create_checkpoints(db: Database) -> None:
    db.execute(
        """
        CREATE TABLE checkpoints (
            thread_id TEXT NOT NULL, ns TEXT NOT NULL, checkpoint_id TEXT NOT NULL, parent_id TEXT,
            encoding TEXT NOT NULL, checkpoint BLOB NOT NULL, metadata BLOB NOT NULL,
            PRIMARY KEY (thread_id, ns, checkpoint_id)
        ) STRICT, WITHOUT ROWID
        """
    )
    db.execute(
        """
        CREATE TABLE checkpoint_writes (
            thread_id TEXT NOT NULL, ns TEXT NOT NULL, checkpoint_id TEXT NOT NULL, task_id TEXT NOT NULL,
            write_index INTEGER NOT NULL, channel TEXT NOT NULL, encoding TEXT NOT NULL, value BLOB NOT NULL,
            task_path TEXT NOT NULL,
            PRIMARY KEY (thread_id, ns, checkpoint_id, task_id, write_index)
        ) STRICT, WITHOUT ROWID
        """
    )


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
