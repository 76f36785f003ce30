"""A store that is full or broken stops a run, typed; with room again it comes to what it would have come to."""

from __future__ import annotations

import asyncio
import base64
import random
import shutil
import threading
from collections.abc import Awaitable, Callable, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from agents.broker import Broker
from agents.results import WorkResult
from agents.workers.ports import WorkOrder
from graphs.plan import NodeId
from orchestrator.core.events import AttemptStarted, AttemptVerified, Event
from orchestrator.core.ids import RunId
from orchestrator.core.state import RunState
from orchestrator.shell import journal
from orchestrator.shell.store.errors import StoreBroken, StoreFull, StoreUnavailable
from orchestrator.shell.store.memory_store import MemoryStore
from orchestrator.shell.store.ports import Operation, Outcome, StoreWrites
from orchestrator.shell.store.sqlite_store import SqliteStore
from tests.core.builders import plan, proposal
from tests.flows.stage import EVERY, ROWS, NoteFolder, Script, Stage, passes_on, says, set_stage, written

DIAMOND = plan("a>b a>c b>d c>d d>e")
NODES = "abcde"


def script(notes: NoteFolder) -> Script:
    """The roots quote a note, the others pass that on; each adds eight kilobytes that nothing makes smaller."""

    def works(order: WorkOrder, broker: Broker) -> WorkResult:
        if order.inputs:
            result = passes_on(order, broker)
        else:
            result = says(notes.quoted(order.subtask.id, "storage.md", ROWS, question="Why?"))
        noise = base64.b64encode(random.Random(order.subtask.id).randbytes(6000)).decode()
        return replace(result, output=replace(result.output, fields={"noise": noise}))

    return {(NodeId(node), EVERY): works for node in NODES}


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> NoteFolder:
    return written(tmp_path_factory.mktemp("notes"))


@pytest.fixture(scope="module")
def calm(notes: NoteFolder) -> RunState:
    """What an undisturbed run comes to."""
    stage = set_stage(notes, script(notes))
    done = asyncio.run(stage.finish(proposal(DIAMOND)))
    assert done.status == "completed", (done.gaps, done.internal_error)
    return done


def check_resumed(stage: Stage, run: RunId, done: RunState, calm: RunState, kept: Sequence[Event]) -> None:
    """The result is the undisturbed one; what was committed stands and nothing of it was done again."""
    log = stage.log(run)
    assert (done.status, done.result, done.gaps) == (calm.status, calm.result, calm.gaps)
    assert log[: len(kept)] == list(kept)
    assert [event.seq for event in log] == list(range(1, len(log) + 1))
    accepted: set[str] = set()
    for event in log:
        if isinstance(event.body, AttemptStarted):
            assert event.body.node not in accepted, "a committed sub-task was started again"
        if isinstance(event.body, AttemptVerified):
            accepted.add(event.body.node)
    assert accepted == set(NODES)
    assert stage.shop.store.checkpoints() == ()
    assert stage.shop.store.lease(run) is None


async def full(execution: Awaitable[RunState]) -> StoreFull | None:
    try:
        await execution
    except StoreFull as error:
        return error
    return None


async def test_a_real_store_that_may_not_grow_stops_the_run_wherever_that_is(
    tmp_path: Path, notes: NoteFolder, calm: RunState
) -> None:
    """The limit is moved up page by page, so that the store is full at one place of the run after the other."""
    stopped_with: list[int] = []
    room = 0
    while True:
        path = tmp_path / f"{room}" / "runs.db"
        first = SqliteStore(path)
        run = set_stage(notes, script(notes), store=first).approved(proposal(DIAMOND))
        first.close()
        store = SqliteStore(path, max_bytes=path.stat().st_size + room * 4096)
        stage = set_stage(notes, script(notes), store=store)
        error = await full(stage.execute(run))
        if error is not None:
            kept = stage.log(run)
            assert (error.run, error.kept) == (run, kept[-1].seq)
            assert error.step == f"maskgrad resume {run}"
            assert error.room is not None
            stopped_with.append(sum(isinstance(event.body, AttemptVerified) for event in kept))
            store.close()
            store = SqliteStore(path)  # the limit is raised
            stage = set_stage(notes, script(notes), store=store)
            check_resumed(stage, run, await stage.execute(run), calm, kept)
            store.close()
        else:
            store.close()
            break
        room += 2
    assert len(set(stopped_with)) >= 3, "sub-tasks that were committed when the store was full"


Fails = Callable[[Set[str]], bool]
"""Whether a write fails that is called one of these: its name, and the types of the events that it appends."""


def nothing(names: Set[str]) -> bool:
    """A sound store."""
    del names
    return False


def at(what: str) -> Fails:
    """A store that can't do what is called `what`."""
    return lambda names: what in names


class FailingStore(MemoryStore):
    """A store that can't do the writes it is told, until it is repaired; reading works."""

    def __init__(self, error: Callable[[], StoreUnavailable]) -> None:
        super().__init__()
        self.fails: Fails = nothing
        self.failed: list[str] = []
        self.error = error

    def commit(self, operations: Sequence[Operation[object]]) -> list[Outcome]:
        return super().commit([self._watched(operation) for operation in operations])

    def _watched(self, operation: Operation[object]) -> Operation[object]:
        return lambda writes: operation(_Watched(writes, self))


class _Watched:
    """The writes of a store, each looked at before it is done."""

    def __init__(self, writes: StoreWrites, store: FailingStore) -> None:
        self._writes = writes
        self._store = store

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._writes, name)

        def call(*arguments: Any, **more: Any) -> Any:
            events = arguments[2] if name == "append" else ()
            if self._store.fails({name, *(event.type for event in events)}):
                self._store.failed.append(name)
                raise self._store.error()
            return method(*arguments, **more)

        return call


@dataclass(frozen=True)
class Place:
    """Where a store fails for the first time; from then on it fails at every write."""

    id: str
    fails: Fails


PLACES = [
    Place("the lease", at("acquire")),
    Place("the first event", at("run.executor")),
    Place("the start of an attempt", at("attempt.started")),
    Place("an output with its artefact", at("attempt.verified")),
    Place("the report", at("run.ended")),
    Place("giving the lease up", at("release")),
]
ERRORS: dict[str, Callable[[], StoreUnavailable]] = {
    "full": lambda: StoreFull("here"),
    "input/output error": lambda: StoreBroken("here", "disk I/O error"),
}


@pytest.mark.parametrize("kind", ERRORS)
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.id)
async def test_a_store_that_fails_at_a_place_stops_the_run_there(
    notes: NoteFolder, calm: RunState, place: Place, kind: str
) -> None:
    store = FailingStore(ERRORS[kind])
    stage = set_stage(notes, script(notes), store=store)
    run = stage.approved(proposal(DIAMOND))

    def once_and_for_all(names: Set[str]) -> bool:
        return bool(store.failed) or place.fails(names)

    store.fails = once_and_for_all
    if place.id == "giving the lease up":
        assert (await stage.execute(run)).status == "completed"
        kept = stage.log(run)
    else:
        with pytest.raises(StoreUnavailable) as caught:
            await stage.execute(run)
        kept = stage.log(run)
        assert type(caught.value) is type(ERRORS[kind]())
        assert (caught.value.run, caught.value.kept) == (run, kept[-1].seq)
        assert f"maskgrad resume {run}" in str(caught.value)
    assert store.failed
    store.fails = nothing
    # The same process goes on at once, although the lease could not be given up.
    check_resumed(stage, run, await stage.execute(run), calm, kept)


class BreakingFile(SqliteStore):
    """The real store, to which something happens before one of its commits."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.commits = 0
        self.breaks: Callable[[], object] | None = None

    def commit(self, operations: Sequence[Operation[object]]) -> list[Outcome]:
        self.commits -= 1
        if self.commits == 0 and self.breaks is not None:
            self.breaks()
        return super().commit(operations)

    def may_only_read(self) -> None:
        """What SQLite says then is what it says of a file or a disk that may only be read."""
        self._writer.execute("PRAGMA query_only = 1")


@pytest.mark.parametrize("commits", [2, 4, 6])
async def test_a_file_that_may_only_be_read_stops_the_run(
    tmp_path: Path, notes: NoteFolder, calm: RunState, commits: int
) -> None:
    path = tmp_path / "runs.db"
    store = BreakingFile(path)
    stage = set_stage(notes, script(notes), store=store)
    run = stage.approved(proposal(DIAMOND))
    store.commits, store.breaks = commits, store.may_only_read
    with pytest.raises(StoreBroken, match="readonly database") as caught:
        await stage.execute(run)
    kept = stage.log(run)
    assert (caught.value.run, caught.value.kept) == (run, kept[-1].seq)
    store.close()
    again = set_stage(notes, script(notes), store=SqliteStore(path))
    # Another process would wait for the lease of this one, which lives and could not give it up.
    again.shop.left_leases.update(stage.shop.left_leases)
    check_resumed(again, run, await again.execute(run), calm, kept)
    again.shop.store.close()


async def test_a_folder_that_is_moved_away_stops_the_run_and_it_goes_on_when_it_is_back(
    tmp_path: Path, notes: NoteFolder, calm: RunState
) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    store = BreakingFile(home / "runs.db")
    stage = set_stage(notes, script(notes), store=store)
    run = stage.approved(proposal(DIAMOND))
    store.commits, store.breaks = 4, lambda: home.rename(elsewhere)
    with pytest.raises(StoreBroken, match="deleted, moved or replaced") as caught:
        await stage.execute(run)
    elsewhere.rename(home)
    kept = stage.log(run)
    # Nothing could be read: the number is that of the last event whose commit was answered.
    assert (caught.value.run, caught.value.kept) == (run, kept[-1].seq)
    assert f"committed up to event {kept[-1].seq} is kept" in str(caught.value)
    check_resumed(stage, run, await stage.execute(run), calm, kept)
    store.close()


async def test_a_deleted_folder_stops_the_run_at_its_next_write(tmp_path: Path, notes: NoteFolder) -> None:
    home = tmp_path / "home"
    store = BreakingFile(home / "runs.db")
    stage = set_stage(notes, script(notes), store=store)
    run = stage.approved(proposal(DIAMOND))
    store.commits, store.breaks = 4, lambda: shutil.rmtree(home)
    with pytest.raises(StoreBroken, match="deleted, moved or replaced"):
        await stage.execute(run)
    assert len(stage.worker.orders) < len(NODES)
    store.close()


class SlowDisk(MemoryStore):
    """A disk that takes until everybody else stands still, each time."""

    def __init__(self) -> None:
        super().__init__()
        self.goes = threading.Semaphore(0)
        self.slow = False

    def commit(self, operations: Sequence[Operation[object]]) -> list[Outcome]:
        if self.slow and threading.current_thread() is not threading.main_thread():
            self.goes.acquire()
        return super().commit(operations)


async def test_a_slow_disk_slows_the_run_down_instead_of_filling_the_memory(
    notes: NoteFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few events may wait here, and then no attempt begins until the disk has taken some of them."""
    limit, in_flight, width = 8, 3, 60
    monkeypatch.setattr(journal, "WAITING_LIMIT", limit)
    names = [f"n{number}" for number in range(width)]
    wide = proposal(plan(" ".join(f"{name}>z" for name in names)))
    said = says(notes.quoted("n0", "storage.md", ROWS, question="Why?"))
    steps: Script = {
        **{(NodeId(name), EVERY): said for name in names},
        (NodeId("z"), EVERY): passes_on,
    }
    quick = await set_stage(notes, steps, in_flight=in_flight).finish(wide)
    store = SlowDisk()
    stage = set_stage(notes, steps, store=store, in_flight=in_flight)
    run = stage.approved(wide)
    store.slow = True
    execution = asyncio.ensure_future(stage.execute(run))
    most, seen, still = 0, 0, 0
    while not execution.done():
        await asyncio.sleep(0)
        moved = len(stage.worker.orders) != seen
        seen, still = len(stage.worker.orders), 0 if moved else still + 1
        if still == 30:
            committed = len(stage.bodies(run, AttemptVerified))
            most, still = max(most, seen - committed), 0
            store.goes.release()
    done = await execution
    assert (done.status, done.result) == (quick.status, quick.result)
    # Whatever ended and is not on the disk has an event that waits; attempts that waited for room begin together.
    assert in_flight < most <= limit + 2 * in_flight < width
