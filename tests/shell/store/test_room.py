"""What the store says when its disk is full, when it may not grow, and when its file is not where it was."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections import namedtuple
from pathlib import Path

import pytest

from orchestrator.shell.store.errors import Room, StoreBroken, StoreFull
from orchestrator.shell.store.rows import NewEvent
from orchestrator.shell.store.sqlite_connection import LEAST_FREE, room_of, translated
from orchestrator.shell.store.sqlite_store import SqliteStore

Usage = namedtuple("Usage", "total used free")


def event(size: int) -> NewEvent:
    return NewEvent(v=1, type="x", ts="2026-01-01T00:00:00.000Z", payload=f'"{"x" * size}"')


def sqlite_error(code: int) -> sqlite3.Error:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = code
    return error


def test_a_full_store_says_how_large_it_is_and_what_is_free(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    store = SqliteStore(path, max_bytes=300_000)
    store.create_run("r-1", "t", "2026")
    with pytest.raises(StoreFull) as caught:
        store.append("r-1", 0, [event(400_000)])
    store.close()
    room = caught.value.room
    assert room is not None
    assert room.limit == 300_000
    assert room.size < 300_000 * 2  # the file and what waits to be moved into it
    assert (
        f"its files take {room.size:,} bytes, its limit is 300,000, and what comes next does not fit"
        in str(caught.value)
    )
    assert f"其文件占用 {room.size:,} 字节，上限为 300,000 字节" in caught.value.message("zh")


@pytest.mark.parametrize(
    ("room", "says_space", "says_limit"),
    [
        (Room(size=955_216, free=82_194_698_240, limit=1_000_000), False, True),
        (Room(size=955_216, free=1_000_000, limit=1_000_000), False, True),
        (Room(size=955_216, free=999_999, limit=1_000_000), True, True),
        (Room(size=955_216, free=0), True, False),
        (None, True, True),
    ],
)
def test_a_full_store_names_what_is_used_up_and_nothing_else(
    room: Room | None, says_space: bool, says_limit: bool
) -> None:
    full = StoreFull("runs.db", room)
    assert ("Free some space" in str(full), "MASKGRAD_STORE_MB" in str(full)) == (says_space, says_limit)
    chinese = full.message("zh")
    assert ("腾出空间" in chinese, "MASKGRAD_STORE_MB" in chinese) == (says_space, says_limit)
    assert ("free on its disk" in str(full)) == (room is not None and says_space)


def test_the_room_of_a_store_is_that_of_all_its_files(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    for suffix, size in (("", 7), ("-wal", 11), ("-shm", 13), ("-other", 17)):
        path.with_name(path.name + suffix).write_bytes(b"x" * size)
    room = room_of(path, 99)
    assert room is not None
    assert (room.size, room.limit) == (7 + 11 + 13, 99)
    assert room_of(tmp_path / "nowhere" / "runs.db") is None


@pytest.mark.parametrize(
    "code", [sqlite3.SQLITE_IOERR, sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_CANTOPEN]
)
@pytest.mark.parametrize(("free", "kind"), [(LEAST_FREE - 1, StoreFull), (LEAST_FREE, StoreBroken)])
def test_an_io_error_on_a_full_disk_is_a_full_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, free: int, kind: type[Exception]
) -> None:
    """SQLite says `disk I/O error` when its shared index does not fit."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**9, 10**9 - free, free))
    assert type(translated(sqlite_error(code), tmp_path / "runs.db")) is kind


@pytest.mark.parametrize(
    ("number", "kind"), [(errno.ENOSPC, StoreFull), (errno.EDQUOT, StoreFull), (errno.EROFS, StoreBroken)]
)
def test_a_file_that_can_not_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, kind: type[Exception]
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(kind) as caught:
        SqliteStore(tmp_path / "runs.db")
    assert isinstance(caught.value, StoreFull) or os.strerror(number) in str(caught.value)


def _delete(path: Path) -> None:
    shutil.rmtree(path.parent)


def _move(path: Path) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))


def _replace(path: Path) -> None:
    copy = path.with_name("copy")
    shutil.copyfile(path, copy)
    os.replace(copy, path)


@pytest.mark.parametrize("change", [_delete, _move, _replace])
def test_nothing_is_written_to_a_file_that_nobody_would_find_again(tmp_path: Path, change: object) -> None:
    """As long as it is open, a deleted file can be written to: what is written would be lost without a word."""
    path = tmp_path / "home" / "runs.db"
    store = SqliteStore(path)
    store.create_run("r-1", "t", "2026")
    assert callable(change)
    change(path)
    with pytest.raises(StoreBroken, match="deleted, moved or replaced while it was open"):
        store.append("r-1", 0, [event(10)])
    with pytest.raises(StoreBroken, match="deleted, moved or replaced") as caught:
        store.head("r-1")
    assert "Put its folder back, from a copy if it is lost." in str(caught.value)
    assert "放回原处；若已丢失，请从备份恢复" in caught.value.message("zh")
    assert "MASKGRAD_HOME" not in str(caught.value)
    store.close()


def test_a_folder_that_is_put_back_is_the_store_again(tmp_path: Path) -> None:
    path = tmp_path / "home" / "runs.db"
    store = SqliteStore(path)
    store.create_run("r-1", "t", "2026")
    _move(path)
    with pytest.raises(StoreBroken):
        store.append("r-1", 0, [event(10)])
    path.parent.with_name("elsewhere").rename(path.parent)
    assert store.append("r-1", 0, [event(10)]) == 1
    store.close()


def test_a_stopped_run_is_named_once_with_what_is_kept_and_how_it_goes_on() -> None:
    full = StoreFull("runs.db", Room(size=5000, free=0))
    assert full.stopped("r-1", kept=42, step="maskgrad resume r-1") is full
    full.stopped("r-2", kept=1, step="maskgrad run r-2")
    assert (full.run, full.kept, full.step) == ("r-1", 42, "maskgrad resume r-1")
    for said in (str(full), full.message("en")):
        assert "its files take 5,000 bytes, and 0 bytes are free" in said
        assert "committed up to event 42 is kept" in said
        assert said.endswith("go on with `maskgrad resume r-1`.")
    assert "已提交的内容（到第 42 个事件为止）会保留" in full.message("zh")
    assert "请用 `maskgrad resume r-1` 继续" in full.message("zh")


def test_what_is_kept_may_be_unknown() -> None:
    broken = StoreBroken("runs.db", "gone").stopped("r-1", kept=None, step="maskgrad resume r-1")
    assert "event" not in str(broken)
    assert "what was committed is kept" in str(broken)
    assert "已提交的内容会保留" in broken.message("zh")
