from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from orchestrator.shell.store.errors import StoreBroken, StoreBusy, StoreFull, StoreTooNew
from orchestrator.shell.store.ports import RunStore, StoreWrites
from orchestrator.shell.store.sqlite_store import SqliteStore
from tests.shell.store.conformance import RunStoreConformance, StoreRig, event
from tests.shell.store.rigs import sqlite_rig


class TestSqliteStore(RunStoreConformance):
    def new_rig(self) -> AbstractContextManager[StoreRig]:
        return sqlite_rig()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "runs.db"


@contextmanager
def opened(path: Path, **options: int) -> Iterator[SqliteStore]:
    with closing(SqliteStore(path, **options)) as store:  # type: ignore[arg-type]
        yield store


def test_it_is_a_run_store(path: Path) -> None:
    with opened(path) as store:
        port: RunStore = store
        assert port.location == str(path)


def test_everything_is_there_after_reopening(path: Path) -> None:
    with opened(path) as store:
        store.create_run("r-1", "t", "2025")
        store.append("r-1", 0, [event(payload="甲")], artefacts=[b"x"])
    with opened(path) as store:
        assert [e.payload for e in store.events("r-1")] == ["甲"]
        assert store.append("r-1", 1, [event()]) == 2


def test_only_the_user_reads_the_file(path: Path) -> None:
    with opened(path) as store:
        store.create_run("r-1", "t", "2025")
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
        assert modes == {"runs.db": 0o600, "runs.db-wal": 0o600, "runs.db-shm": 0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_commit_is_on_the_disk_when_it_returns(path: Path) -> None:
    full = 2
    with opened(path) as store:
        assert store._writer.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert store._writer.execute("PRAGMA synchronous").fetchone() == (full,)


def test_another_process_reads_what_is_committed_while_a_transaction_is_open(path: Path) -> None:
    with opened(path) as store, opened(path) as other:
        store.create_run("r-1", "t", "2025")
        heads: list[int] = []

        def look(_: object) -> None:
            heads.append(other.head("r-1"))

        store.commit([lambda writes: writes.append("r-1", 0, [event()]), look])
        assert heads == [0]
        assert other.head("r-1") == 1


def test_a_later_schema_is_refused(path: Path) -> None:
    with opened(path):
        pass
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE meta SET value = '99' WHERE key = 'schema_version'")
    with pytest.raises(StoreTooNew, match=r"schema version 99.*up to 1") as caught:
        SqliteStore(path)
    assert "请升级 maskgrad" in caught.value.message("zh")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT value FROM meta").fetchall() == [("99",)]


def test_a_file_of_another_kind_is_left_alone(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"# notes\n" * 1000)
    with pytest.raises(StoreBroken, match="not a database"):
        SqliteStore(path)
    assert path.read_bytes() == b"# notes\n" * 1000


def test_a_folder_in_the_place_of_the_file_is_named(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(StoreBroken, match="Is a directory"):
        SqliteStore(path)


def test_a_file_in_the_place_of_the_folder_is_named(path: Path) -> None:
    path.parent.write_text("")
    with pytest.raises(StoreBroken, match=r"runs\.db"):
        SqliteStore(path)


def test_a_full_store_refuses_and_goes_on_when_there_is_room(path: Path) -> None:
    with opened(path, max_bytes=400_000) as store:
        store.create_run("r-1", "t", "2025")
        head = 0
        big = event(payload="x" * 20_000)
        with suppress(StoreFull):
            while head < 25:
                head = store.append("r-1", head, [big])
        with pytest.raises(StoreFull, match="nothing committed is lost"):
            store.append("r-1", head, [big])
        assert 0 < head < 25
        assert store.head("r-1") == head
        assert [e.seq for e in store.events("r-1")] == list(range(1, head + 1))
        assert store.check() == ()
        assert store.post("r-1", "cancel", "{}", "c") == 1
    with opened(path) as store:
        assert store.append("r-1", head, [event(payload="x" * 20_000)]) == head + 1


def test_a_store_that_another_program_keeps_locked_is_busy(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orchestrator.shell.store.sqlite_connection.BUSY_TIMEOUT_S", 0.05)
    with opened(path) as store, closing(sqlite3.connect(path, isolation_level=None)) as other:
        store.create_run("r-1", "t", "2025")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match=r"more than 0\.05 seconds"):
            store.append("r-1", 0, [event()])
        assert store.head("r-1") == 0
        other.execute("ROLLBACK")
        assert store.append("r-1", 0, [event()]) == 1


def test_a_gap_in_a_log_is_found(path: Path) -> None:
    with opened(path) as store:
        store.create_run("r-1", "t", "2025")
        store.append("r-1", 0, [event(), event(), event()])
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("DELETE FROM events WHERE seq = 2")
        assert [line.startswith("run 'r-1'") for line in store.check()] == [True]


def test_a_damaged_page_is_found(path: Path) -> None:
    with opened(path) as store:
        store.create_run("r-1", "t", "2025")
        store.append("r-1", 0, [event(payload="x" * 500) for _ in range(200)])
    content = bytearray(path.read_bytes())
    content[-4096 * 8 : -4096] = b"\x55" * 4096 * 7
    path.write_bytes(content)
    with opened(path) as store:
        assert store.check()


def test_the_system_clock_counts_seconds_since_1970(path: Path) -> None:
    with opened(path) as store:
        (expected,) = store._reader.execute("SELECT strftime('%s', 'now')").fetchone()
        assert abs(store.now() - int(expected)) < 5
        assert store.now() > 1_700_000_000


def test_a_long_log_is_read_in_several_steps(path: Path) -> None:
    with opened(path) as store:
        store.create_run("r-1", "t", "2025")
        store.append("r-1", 0, [event(payload=str(n)) for n in range(1, 2502)])
        events = store.events("r-1", after=1)
        assert next(events).seq == 2
        # Between two reads nothing is locked: the log can be folded into the file and grow.
        assert store._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
        assert [(e.seq, e.payload) for e in events] == [(n, str(n)) for n in range(3, 2502)]


class _LateFailure(sqlite3.Connection):
    """Reports an error of a commit that is on the disk, as a disk may that fails right after."""

    armed = False

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        cursor = super().execute(sql, parameters)
        if sql == "COMMIT" and self.armed:
            self.armed = False
            raise sqlite3.OperationalError("disk I/O error")
        return cursor


def test_a_commit_that_failed_late_is_an_error_of_the_store_and_is_not_done_twice(path: Path) -> None:
    with opened(path) as store:
        store.create_run("r-1", "t", "2025")
        store._writer.close()
        late = sqlite3.connect(path, isolation_level=None, check_same_thread=False, factory=_LateFailure)
        store._writer = late
        late.armed = True
        ran: list[str] = []

        def remember(writes: StoreWrites) -> None:
            ran.append("remember")
            writes.add_failure("compare", "extend_mask", "falsified", "r-1")

        with pytest.raises(StoreBroken, match="disk I/O error"):
            store.commit([remember, lambda writes: writes.append("r-1", 0, [event()])])
        assert ran == ["remember"]
        assert len(store.failures()) == 1
        assert store.head("r-1") == 1
