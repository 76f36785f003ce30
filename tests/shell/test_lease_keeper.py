"""A lease is kept by a thread of its own: it does not run out while the event loop is busy."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field, replace

import pytest

from orchestrator.shell import lease_keeper
from orchestrator.shell.lease_keeper import LeaseKeeper
from orchestrator.shell.store.errors import StaleLease, StoreBusy, StoreError
from orchestrator.shell.store.rows import Lease

LEASE = Lease(run="r-1", holder="me", epoch=1, expires=30.0)
PATIENCE_S = 20.0
"""Only a broken keeper takes that long."""


@dataclass
class Desk:
    """Renews, or raises what is prescribed for the n-th time; `enough` is set after the last one."""

    errors: list[StoreError | None]
    renewed: list[Lease] = field(default_factory=list)
    enough: threading.Event = field(default_factory=threading.Event)

    def renew(self, lease: Lease, ttl_s: float) -> Lease:
        error = self.errors.pop(0) if self.errors else None
        if not self.errors:
            self.enough.set()
        if error is not None:
            raise error
        self.renewed.append(lease)
        return replace(lease, expires=lease.expires + ttl_s)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease_keeper, "RENEWALS_PER_TERM", 30_000)


async def test_it_renews_what_it_renewed_before_and_stops_when_left() -> None:
    desk = Desk([None, None, None])
    lost: list[StoreError] = []
    async with LeaseKeeper(desk, LEASE, 30.0, lost=lost.append):
        assert desk.enough.wait(PATIENCE_S)
    count = len(desk.renewed)
    assert [lease.expires for lease in desk.renewed[:3]] == [30.0, 60.0, 90.0]
    assert lost == []
    assert not [thread for thread in threading.enumerate() if thread.name == "maskgrad-lease"]
    assert len(desk.renewed) == count


async def test_a_busy_store_is_tried_again() -> None:
    desk = Desk([StoreBusy("runs.db", 5.0), StoreBusy("runs.db", 5.0), None])
    lost: list[StoreError] = []
    async with LeaseKeeper(desk, LEASE, 30.0, lost=lost.append):
        assert desk.enough.wait(PATIENCE_S)
    assert lost == []
    assert desk.renewed[0] == LEASE


async def test_a_lost_lease_is_told_once() -> None:
    stale = StaleLease("r-1", 1, 2)
    desk = Desk([None, stale])
    lost: list[StoreError] = []
    told = threading.Event()

    def hear(error: StoreError) -> None:
        lost.append(error)
        told.set()

    async with LeaseKeeper(desk, LEASE, 30.0, lost=hear):
        assert told.wait(PATIENCE_S)
    assert lost == [stale]
    assert len(desk.renewed) == 1


def test_a_third_of_the_term_is_the_rhythm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert lease_keeper.RENEWALS_PER_TERM == 3


class SlowDesk:
    """Renews when it is let go."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.let_go = threading.Event()
        self.renewed = 0

    def renew(self, lease: Lease, ttl_s: float) -> Lease:
        del ttl_s
        self.entered.set()
        assert self.let_go.wait(PATIENCE_S)
        self.renewed += 1
        return lease


async def test_whoever_leaves_waits_for_a_renewal_under_way_and_the_event_loop_does_not() -> None:
    desk = SlowDesk()
    left = asyncio.Event()
    lost: list[StoreError] = []

    async def hold() -> None:
        async with LeaseKeeper(desk, LEASE, 30.0, lost=lost.append):
            await asyncio.to_thread(desk.entered.wait, PATIENCE_S)
        left.set()

    holding = asyncio.ensure_future(hold())
    await asyncio.to_thread(desk.entered.wait, PATIENCE_S)
    for _ in range(100):
        await asyncio.sleep(0)
    assert not left.is_set()
    desk.let_go.set()
    await holding
    assert lost == []
    count = desk.renewed
    assert count >= 1
    assert not [thread for thread in threading.enumerate() if thread.name == "maskgrad-lease"]
    assert desk.renewed == count
