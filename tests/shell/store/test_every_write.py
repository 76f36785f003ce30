"""Every kind of write of the port, disturbed at every step: it is there whole or not at all, and works afterwards."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import pytest

from orchestrator.shell.store.errors import StoreBroken, StoreFull, StoreUnavailable
from orchestrator.shell.store.ports import Committed, RunStore, StoreWrites
from orchestrator.shell.store.rows import Lease
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.store.writer import Writer
from tests.shell.store.conformance import (
    START,
    FakeClock,
    PowerCut,
    StoreRig,
    checkpoint,
    event,
    snapshot,
    write,
)
from tests.shell.store.rigs import SqliteRig, memory_rig, sqlite_rig

NewRig = Callable[[], AbstractContextManager[StoreRig]]

BIG: Final = random.Random(7).randbytes(20_000)
"""Needs pages of its own, compressed or not."""
TEXT: Final = BIG.hex()
LEASE: Final = Lease(run="r-1", holder="host:1", epoch=1, expires=START + 30.0)

Write = Callable[[StoreWrites], object]

GROWING: Final[Mapping[str, Write]] = {
    "create_run": lambda w: w.create_run("r-3", TEXT, "2025"),
    "append": lambda w: w.append(
        "r-1",
        1,
        [event(payload=TEXT, idem="x"), event(idem="y", cause=1)],
        lease=LEASE,
        delete_threads=["t"],
        artefacts=[BIG, b"small"],
        folded=[1],
    ),
    "put_artefact": lambda w: w.put_artefact(BIG),
    "post": lambda w: w.post("r-1", "answer", TEXT, "q2"),
    "add_failure": lambda w: w.add_failure("class", TEXT, "falsified", "r-1", lease=LEASE),
    "put_checkpoint": lambda w: w.put_checkpoint(checkpoint("r-1/n/0/1/1", "c3", body=BIG)),
    "put_checkpoint_writes": lambda w: w.put_checkpoint_writes(
        [write("t", "c2", "task", 0, BIG), write("t", "c2", "task", -3, b"special")]
    ),
    "copy_thread": lambda w: w.copy_thread("t", "u"),
}
"""Writes that need room."""
SMALL: Final[Mapping[str, Write]] = {
    "mark_folded": lambda w: w.mark_folded("r-1", [1], lease=LEASE),
    "acquire": lambda w: w.acquire("r-2", "host:2", 30.0),
    "renew": lambda w: w.renew(LEASE, 60.0),
    "release": lambda w: w.release(LEASE),
    "delete_thread": lambda w: w.delete_thread("t"),
    "delete_checkpoints": lambda w: w.delete_checkpoints("t", "", ["c1"]),
}
"""Writes that a full store still takes: with them a run is given up, and room is made."""
WRITES: Final[Mapping[str, Write]] = {**GROWING, **SMALL}

each_write = pytest.mark.parametrize("name", WRITES)
each_store = pytest.mark.parametrize("new_rig", [memory_rig, sqlite_rig])


def furnish(store: RunStore) -> None:
    """Put something into the store for every kind of write to act on."""
    store.create_run("r-1", "first", "2025-01-01")
    store.create_run("r-2", "second", "2025-01-02")
    store.append("r-1", 0, [event()])
    store.acquire("r-1", "host:1", 30.0)
    store.post("r-1", "answer", "{}", "q1")
    store.put_checkpoint(checkpoint("t", "c1", body=BIG))
    store.put_checkpoint(checkpoint("t", "c2", parent="c1"))
    store.put_checkpoint_writes([write("t", "c1", "task", 0, b"1"), write("t", "c2", "other", 0, b"2")])


def content(store: RunStore) -> object:
    """Return everything that can be read."""
    return snapshot(store, [row.id for row in store.runs()])


def undisturbed(new_rig: NewRig, name: str) -> object:
    """Return what a store holds after one write that nothing disturbs."""
    with new_rig() as rig:
        furnish(rig.store)
        before = content(rig.store)
        rig.store.commit([WRITES[name]])
        after = content(rig.store)
        assert after != before
        return after


def test_every_write_of_the_port_is_here() -> None:
    assert set(WRITES) == {name for name in vars(StoreWrites) if not name.startswith("_")}


@each_store
@each_write
def test_cut_between_any_two_of_its_steps_it_leaves_nothing(new_rig: NewRig, name: str) -> None:
    after = undisturbed(new_rig, name)
    with new_rig() as rig:
        furnish(rig.store)
        before = content(rig.store)
        cuts = 0
        while True:
            rig.fuse.left = cuts
            try:
                rig.store.commit([WRITES[name]])
            except PowerCut:
                rig.fuse.left = None
                assert content(rig.store) == before
                cuts += 1
            else:
                break
        rig.fuse.left = None
        assert cuts >= 1
        assert content(rig.store) == after


@each_store
@each_write
def test_refused_for_lack_of_room_at_any_step_it_leaves_nothing(new_rig: NewRig, name: str) -> None:
    """Also where others of its transaction have room."""
    with new_rig() as rig:
        furnish(rig.store)
        rig.fuse.error = lambda: StoreFull("here")
        for steps in range(20):
            before = content(rig.store)
            rig.fuse.left = steps
            (outcome,) = rig.store.commit([WRITES[name]])
            rig.fuse.left = None
            if isinstance(outcome, Committed):
                break
            assert isinstance(outcome.error, StoreFull)
            assert content(rig.store) == before
        assert isinstance(outcome, Committed)
        assert content(rig.store) == undisturbed(new_rig, name)


# SQLite: what is really on the disk


Before = Callable[[str], None]


@dataclass
class Tap:
    """A connection that tells of every statement before it is executed."""

    inner: sqlite3.Connection
    before: Before

    def execute(self, sql: str, *rest: Any) -> sqlite3.Cursor:
        self.before(sql)
        return self.inner.execute(sql, *rest)

    def executemany(self, sql: str, *rest: Any) -> sqlite3.Cursor:
        self.before(sql)
        return self.inner.executemany(sql, *rest)

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)


@contextmanager
def tapped(rig: SqliteRig, before: Before) -> Iterator[None]:
    inner = rig.store._writer
    rig.store._writer = cast("sqlite3.Connection", Tap(inner, before))
    try:
        yield
    finally:
        rig.store._writer = inner


@pytest.fixture
def rig() -> Iterator[SqliteRig]:
    with sqlite_rig() as rig:
        assert isinstance(rig, SqliteRig)
        furnish(rig.store)
        # From here on everything that is written stands in the write-ahead log.
        rig.store._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        yield rig


@dataclass(frozen=True)
class Image:
    """The files as a crash would leave them."""

    database: bytes
    log: bytes

    def shows(self, folder: Path) -> object:
        """Return what is read from it by a process that opens it."""
        folder.mkdir()
        (folder / "runs.db").write_bytes(self.database)
        (folder / "runs.db-wal").write_bytes(self.log)
        with closing(SqliteStore(folder / "runs.db", clock=FakeClock())) as store:
            assert store.check() == ()
            return content(store)


def image_of(path: Path) -> Image:
    log = path.with_name(path.name + "-wal")
    return Image(path.read_bytes(), log.read_bytes() if log.exists() else b"")


@each_write
def test_a_crash_before_any_statement_shows_all_or_nothing(rig: SqliteRig, name: str, tmp_path: Path) -> None:
    before = content(rig.store)
    images: list[Image] = []
    statements: list[str] = []

    def take(sql: str) -> None:
        statements.append(sql)
        images.append(image_of(rig.path))

    with tapped(rig, take):
        rig.store.commit([WRITES[name]])
    assert statements[0] == "BEGIN IMMEDIATE"
    assert statements[-1] == "COMMIT"
    assert len(statements) >= 3
    for number, image in enumerate(images):
        assert image.shows(tmp_path / str(number)) == before, statements[number]
    assert image_of(rig.path).shows(tmp_path / "after") == content(rig.store) != before


HEADER, FRAME = 32, 24 + 4096
"""Bytes of the log's head and of one page in it (https://www.sqlite.org/fileformat2.html#the_write_ahead_log)."""


@each_write
def test_a_torn_log_shows_all_or_nothing(rig: SqliteRig, name: str, tmp_path: Path) -> None:
    """The disk kept the log up to some byte only: whole pages of it, and pages that are torn in the middle."""
    before = content(rig.store)
    rig.store.commit([WRITES[name]])
    after, whole = content(rig.store), image_of(rig.path)
    frames = (len(whole.log) - HEADER) // FRAME
    assert frames >= 1
    kept = [0, HEADER - 1, *(HEADER + FRAME * n + extra for n in range(frames) for extra in (0, FRAME // 2))]
    for number, length in enumerate(kept):
        assert Image(whole.database, whole.log[:length]).shows(tmp_path / str(number)) == before
    assert whole.shows(tmp_path / "whole") == after


def io_error() -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR
    return error


@each_write
def test_a_disk_that_fails_from_any_statement_on_breaks_nothing(rig: SqliteRig, name: str) -> None:
    before = content(rig.store)
    for good in range(100):
        passed = 0

        def fail(sql: str, good: int = good) -> None:
            nonlocal passed
            if passed >= good and not sql.startswith("ROLLBACK"):
                raise io_error()
            passed += 1

        with tapped(rig, fail):
            error = failure_of(rig.store, WRITES[name])
        if error is None:
            break
        assert isinstance(error, StoreBroken), error
        assert "disk I/O error" in str(error)
        assert content(rig.store) == before
    assert good >= 3
    assert content(rig.store) == undisturbed(sqlite_rig, name)


def failure_of(store: RunStore, operation: Write) -> Exception | None:
    """Return what a write was refused with, however the store says it."""
    try:
        (outcome,) = store.commit([operation])
    except StoreUnavailable as error:
        return error
    return None if isinstance(outcome, Committed) else outcome.error


def fill(store: SqliteStore) -> None:
    """Leave no page free, and let the file not grow."""
    (pages,) = store._writer.execute("PRAGMA page_count").fetchone()
    assert store._writer.execute("PRAGMA freelist_count").fetchone() == (0,)
    store._writer.execute(f"PRAGMA max_page_count = {pages}")


def make_room(store: SqliteStore) -> None:
    """Let the file grow again."""
    store._writer.execute("PRAGMA max_page_count = 100000")


@pytest.mark.parametrize("name", GROWING)
def test_a_full_store_refuses_what_needs_room_and_takes_it_later(rig: SqliteRig, name: str) -> None:
    before = content(rig.store)
    fill(rig.store)
    assert isinstance(failure_of(rig.store, WRITES[name]), StoreFull)
    assert content(rig.store) == before
    assert rig.store.check() == ()
    make_room(rig.store)
    assert failure_of(rig.store, WRITES[name]) is None
    assert content(rig.store) == undisturbed(sqlite_rig, name)


@pytest.mark.parametrize("name", SMALL)
def test_a_full_store_still_lets_go(rig: SqliteRig, name: str) -> None:
    """A lease is renewed and released, a message is folded and a thread deleted where nothing else fits."""
    fill(rig.store)
    assert failure_of(rig.store, WRITES[name]) is None
    assert content(rig.store) == undisturbed(sqlite_rig, name)


def test_the_writer_commits_what_fits_beside_what_does_not(rig: SqliteRig) -> None:
    """SQLite gives up a whole transaction for lack of room, so the writer tries its operations alone."""
    fill(rig.store)
    with Writer(rig.store) as writer:
        futures = [
            writer.submit(operation)
            for operation in (SMALL["mark_folded"], GROWING["post"], SMALL["delete_thread"])
        ]
        failures = [future.exception(10) for future in futures]
    assert [type(failure) for failure in failures] == [type(None), StoreFull, type(None)]
    assert rig.store.pending("r-1") == ()
    assert rig.store.checkpoints("t") == ()
