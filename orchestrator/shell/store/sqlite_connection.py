"""Open connections to `runs.db`, and turn what SQLite reports into the errors of the store."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Final

from orchestrator.shell.store.clock import Clock
from orchestrator.shell.store.errors import Room, StoreBroken, StoreBusy, StoreError, StoreFull, not_unicode

BUSY_TIMEOUT_S: Final = 10.0
"""How long a write waits for the writes of another process. They take milliseconds; a migration takes seconds."""
FILE_MODE: Final = 0o600
"""Runs hold what the user asked and what their documents say: nobody else reads them."""
FOLDER_MODE: Final = 0o700
LEAST_FREE: Final = 64 * 1024
"""With less free on the disk, in bytes, an error of reading or writing is one of room: SQLite says `disk I/O error` and
`unable to open database file` when the 32 KiB of its shared index do not fit."""
FILES: Final = ("", "-wal", "-shm")
"""What is behind the name of the store's file in the names of its files."""

SYSTEM_CLOCK: Final = "(julianday('now') - 2440587.5) * 86400.0"
"""SQLite's clock in seconds since 1970; `unixepoch('subsec')` needs SQLite 3.42."""
CLOCK_FUNCTION: Final = "store_clock()"


def prepare_file(path: Path) -> None:
    """Create the file and its folder for this user alone, if they do not exist. Raises `StoreBroken`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, FILE_MODE))
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreFull(str(path), room_of(path)) from error
        raise StoreBroken(str(path), error.strerror or str(error)) from error


def room_of(path: Path, max_bytes: int | None = None) -> Room | None:
    """Return how much room the store has; `None` when the system does not say."""
    files = (path.with_name(path.name + suffix) for suffix in FILES)
    try:
        size = sum(file.stat().st_size for file in files if file.exists())
        return Room(size=size, free=shutil.disk_usage(path.parent).free, limit=max_bytes)
    except OSError:
        return None


def connect(path: Path, *, clock: Clock | None, max_bytes: int | None, read_only: bool) -> sqlite3.Connection:
    """Return a connection in WAL mode, on which every commit is on the disk when it returns.

    The connection begins no transaction by itself and may be used from any thread, by one at a time.
    """
    # `isolation_level=None`: transactions begin and end where the code says so, never implicitly.
    connection = sqlite3.connect(
        path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA query_only = {int(read_only)}")
        if max_bytes is not None:
            (page_size,) = connection.execute("PRAGMA page_size").fetchone()
            connection.execute(f"PRAGMA max_page_count = {max(1, max_bytes // page_size)}")
        if clock is not None:
            connection.create_function("store_clock", 0, clock)
    except BaseException:
        connection.close()
        raise
    return connection


def translated(error: Exception, path: Path, max_bytes: int | None = None) -> Exception:
    """Return the store's error for what went wrong in SQLite; an error of another kind comes back as it is."""
    if isinstance(error, StoreError):
        return error
    if isinstance(error, UnicodeEncodeError):
        return not_unicode(error)
    if not isinstance(error, sqlite3.Error):
        return error
    code = getattr(error, "sqlite_errorcode", None)
    # The low byte is the family; the rest tells members of it apart.
    match None if code is None else code & 0xFF:
        case sqlite3.SQLITE_FULL:
            return StoreFull(str(path), room_of(path, max_bytes))
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusy(str(path), BUSY_TIMEOUT_S)
        case sqlite3.SQLITE_IOERR | sqlite3.SQLITE_CANTOPEN:
            room = room_of(path, max_bytes)
            full = room is not None and room.free < LEAST_FREE
            return StoreFull(str(path), room) if full else StoreBroken(str(path), str(error))
        case _:
            return StoreBroken(str(path), str(error))
