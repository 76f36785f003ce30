"""A store that is slow where a run begins or ends holds up this run, and no other of the same event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.core.ids import RunId
from orchestrator.shell import lease_keeper
from orchestrator.shell.executor import LEASE_TTL_S
from orchestrator.shell.store.errors import RunBusy
from orchestrator.shell.store.memory_store import MemoryStore
from orchestrator.shell.store.rows import Lease, StoredEvent
from orchestrator.shell.wiring import Workshop
from tests.core.builders import SOLO, n, plan, proposal
from tests.flows.stage import EVERY, ROWS, Stage, says, set_stage, written

PATIENCE_S = 60.0
"""Only something broken takes that long."""
SLOW = "r-1"


class HeldUp(MemoryStore):
    """Does what it is asked for the run `SLOW` at `place` only when it is let go; other runs are served meanwhile."""

    def __init__(self, place: str) -> None:
        super().__init__()
        self.reached = threading.Event()
        self.let_go = threading.Event()
        self._place: str | None = None
        self._held = place

    def begin(self) -> None:
        """Hold up from here on: the test has prepared its runs."""
        self._place = self._held

    def acquire(self, run: str, holder: str, ttl_s: float, *, instead_of: str | None = None) -> Lease:
        self._hold("acquire", run)
        return super().acquire(run, holder, ttl_s, instead_of=instead_of)

    def release(self, lease: Lease) -> None:
        self._hold("release", lease.run)
        super().release(lease)

    def events(self, run: str, after: int = 0, upto: int | None = None) -> Iterator[StoredEvent]:
        self._hold("events", run)
        return super().events(run, after, upto)

    def _hold(self, place: str, run: str) -> None:
        if (place, run) != (self._place, SLOW):
            return
        if threading.current_thread() is threading.main_thread():
            raise AssertionError(
                f"{place!r} was called on the event loop: nothing else goes on until it returns"
            )
        self.reached.set()
        assert self.let_go.wait(PATIENCE_S)


async def settled(condition: Callable[[], bool]) -> None:
    """Give the loop turns until `condition` holds."""
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await asyncio.sleep(0)


def two_runs(folder: Path, store: HeldUp) -> tuple[Stage, RunId, RunId]:
    notes = written(folder)
    said = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
    stage = set_stage(notes, {(n(name), EVERY): said for name in ("a", "b")}, store=store)
    draft = proposal(plan("a>b"), roster=SOLO)
    slow, other = stage.approved(draft), stage.approved(draft)
    assert slow == SLOW
    store.begin()
    return stage, slow, other


@pytest.mark.parametrize("place", ["events", "acquire", "release"])
async def test_another_run_goes_on_from_its_beginning_to_its_end(tmp_path: Path, place: str) -> None:
    store = HeldUp(place)
    stage, slow, other = two_runs(tmp_path / "notes", store)
    held = asyncio.ensure_future(stage.execute(slow))
    try:
        await settled(lambda: store.reached.is_set() or held.done())
        assert store.reached.is_set(), held.exception()
        done = await stage.execute(other)
        assert done.status == "completed"
        assert not held.done()
    finally:
        store.let_go.set()
    assert (await held).status == "completed"
    assert store.lease(slow) is None
    assert stage.shop.left_leases == {}


async def test_a_lease_that_was_taken_for_whoever_is_gone_is_given_up(tmp_path: Path) -> None:
    """The execution is cancelled while the store takes its time over the lease."""
    store = HeldUp("acquire")
    stage, slow, _ = two_runs(tmp_path / "notes", store)
    held = asyncio.ensure_future(stage.execute(slow))
    await settled(store.reached.is_set)
    held.cancel()
    store.let_go.set()
    with pytest.raises(asyncio.CancelledError):
        await held
    assert store.lease(slow) is None
    assert (await stage.execute(slow)).status == "completed"


async def test_notes_are_indexed_under_a_lease_that_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Indexing takes three terms: nobody can take the run meanwhile, and a second executor indexes nothing."""
    monkeypatch.setattr(lease_keeper, "RENEWALS_PER_TERM", 30_000)
    now = [0.0]
    renewal = threading.Event()

    class Counting(MemoryStore):
        def renew(self, lease: Lease, ttl_s: float) -> Lease:
            renewed = super().renew(lease, ttl_s)
            renewal.set()
            return renewed

    store = Counting(clock=lambda: now[0])
    notes = written(tmp_path / "notes")
    said = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
    first, second = (
        set_stage(notes, {(n(name), EVERY): said for name in ("a", "b")}, store=store) for _ in range(2)
    )
    run = first.approved(proposal(plan("a>b"), roster=SOLO))
    indexing, indexed = threading.Event(), threading.Event()
    index = type(first.shop).prepare

    def slow(shop: Workshop, folder: Path) -> None:
        assert shop is first.shop, "the second executor indexed too"
        for _ in range(3 * 2):
            now[0] += LEASE_TTL_S / 2
            for _ in range(2):  # the first may have read the clock before it moved
                renewal.clear()
                assert renewal.wait(PATIENCE_S)
        indexing.set()
        assert indexed.wait(PATIENCE_S)
        index(shop, folder)

    monkeypatch.setattr(type(first.shop), "prepare", slow)
    held = asyncio.ensure_future(first.execute(run))
    try:
        await settled(lambda: indexing.is_set() or held.done())
        assert indexing.is_set(), held.exception()
        with pytest.raises(RunBusy):
            await second.execute(run)
    finally:
        indexed.set()
    assert (await held).status == "completed"
    assert store.lease(run) is None
