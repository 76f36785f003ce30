"""The journal: one order, groups that grow with the load, artefacts with their events, and a store that refuses."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from orchestrator.core.events import Event, RunContinued, RunEnded, RunPaused
from orchestrator.core.ids import RunId
from orchestrator.core.reducer import initial
from orchestrator.core.state import RunState
from orchestrator.core.transition import BrokenLog
from orchestrator.shell.journal import Journal, JournalBroken, Listener
from orchestrator.shell.store.errors import StoreFull
from orchestrator.shell.store.ports import Operation, StoreWrites
from orchestrator.shell.store.rows import Lease, NewEvent, artefact_digest
from tests.flows.stage import FakeClock

RUN = RunId("r-1")
LEASE = Lease(run=RUN, holder="test", epoch=1, expires=1e12)


@dataclass(frozen=True)
class Append:
    expected_head: int
    events: tuple[NewEvent, ...]
    lease: Lease | None
    delete_threads: tuple[str, ...]
    artefacts: tuple[bytes, ...]
    folded: tuple[int, ...]
    riding: tuple[Operation[None], ...]


@dataclass
class Disk:
    """An appender whose appends end when the test says so."""

    appends: list[Append] = field(default_factory=list)
    gates: list[asyncio.Future[None]] = field(default_factory=list)

    async def append(
        self,
        run: str,
        expected_head: int,
        events: Sequence[NewEvent],
        *,
        lease: Lease | None = None,
        delete_threads: Sequence[str] = (),
        artefacts: Sequence[bytes] = (),
        folded: Sequence[int] = (),
        riding: Sequence[Operation[None]] = (),
    ) -> int:
        assert run == RUN
        self.appends.append(
            Append(
                expected_head,
                tuple(events),
                lease,
                tuple(delete_threads),
                tuple(artefacts),
                tuple(folded),
                tuple(riding),
            )
        )
        gate: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.gates.append(gate)
        await gate
        return expected_head + len(events)

    async def done(self) -> None:
        """End the append that is under way."""
        self.gates[-1].set_result(None)
        await turns()


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


NEVER_S = 3600.0


def journal(disk: Disk, *listeners: Listener, linger_s: float = NEVER_S) -> Journal:
    return Journal(initial(RUN), disk, FakeClock(), LEASE, listeners, linger_s=linger_s)


def nothing(writes: StoreWrites) -> None:
    del writes


PAUSED, CONTINUED = RunPaused(by="x"), RunContinued(by="x")


async def test_events_are_stamped_applied_and_told_at_once() -> None:
    told: list[tuple[int, bool]] = []

    def listener(event: Event, state: RunState) -> None:
        told.append((event.seq, state.paused))

    disk = Disk()
    log = journal(disk, listener)
    first = log.record(PAUSED)
    second = log.record(CONTINUED, cause=1)
    assert (first.seq, first.cause, first.ts) == (1, None, "2026-01-01T00:00:00.000Z")
    assert (second.seq, second.cause) == (2, 1)
    assert told == [(1, True), (2, False)]
    assert log.state.seq == 2


async def test_what_is_recorded_during_an_append_goes_into_the_next_one() -> None:
    disk = Disk()
    log = journal(disk)
    log.record(PAUSED)
    await turns()
    for _ in range(3):
        log.record(CONTINUED)
        log.record(PAUSED)
    assert [len(append.events) for append in disk.appends] == [1]
    await disk.done()
    assert [(append.expected_head, len(append.events)) for append in disk.appends] == [(0, 1), (1, 6)]
    await disk.done()
    await log.flush()
    assert len(disk.appends) == 2
    assert all(append.lease is LEASE for append in disk.appends)


async def test_durable_waits_for_exactly_its_event() -> None:
    disk = Disk()
    log = journal(disk)
    log.record(PAUSED)
    await turns()
    log.record(CONTINUED)
    first, second = asyncio.ensure_future(log.durable(1)), asyncio.ensure_future(log.durable(2))
    await turns()
    assert not first.done()
    await disk.done()
    assert first.done()
    assert not second.done()
    await disk.done()
    assert second.done()
    await log.durable(1)


async def test_artefacts_threads_and_messages_share_the_append_of_their_event() -> None:
    disk = Disk()
    log = journal(disk)
    name = log.keep({"b": 1, "a": "é"})
    assert name == artefact_digest('{"a":"é","b":1}'.encode())
    log.record(PAUSED, delete_threads=("r-1/a/1/1/1",), folded=(7,))
    await turns()
    (append,) = disk.appends
    assert append.artefacts == ('{"a":"é","b":1}'.encode(),)
    assert append.delete_threads == ("r-1/a/1/1/1",)
    assert append.folded == (7,)


async def test_after_a_refusal_nothing_is_recorded_and_every_waiter_learns_it() -> None:
    disk = Disk()
    log = journal(disk)
    log.record(PAUSED)
    waiting = asyncio.ensure_future(log.flush())
    await turns()
    log.record(CONTINUED)  # waits for the append under way, and must not be written behind a gap
    full = StoreFull("here")
    disk.gates[-1].set_exception(full)
    await turns()
    with pytest.raises(JournalBroken) as refused:
        await waiting
    assert refused.value.__cause__ is full
    for attempt in (lambda: log.record(CONTINUED), log.check):
        with pytest.raises(JournalBroken) as told:
            attempt()
        assert told.value.__cause__ is full
    with pytest.raises(JournalBroken):
        await log.durable(1)
    assert len(disk.appends) == 1


async def test_an_event_out_of_place_is_refused_before_it_is_queued() -> None:
    disk = Disk()
    log = journal(disk)
    log.state = replace(log.state, status="completed")
    with pytest.raises(BrokenLog):
        log.record(RunEnded(outcome="completed"))
    await turns()
    assert disk.appends == []


async def test_a_listener_that_raises_keeps_no_event_from_the_store() -> None:
    def listener(event: Event, state: RunState) -> None:
        raise RuntimeError(f"{event.seq} of {state.run}")

    disk = Disk()
    log = journal(disk, listener)
    with pytest.raises(RuntimeError, match="1 of r-1"):
        log.record(PAUSED)
    await turns()
    assert [len(append.events) for append in disk.appends] == [1]


async def test_a_checkpoint_goes_with_the_next_events_and_asks_for_no_commit_of_its_own() -> None:
    disk = Disk()
    log = journal(disk)
    log.ride("r-1/a/1/1/1", nothing)
    await turns()
    assert disk.appends == []
    log.record(PAUSED)
    await turns()
    (append,) = disk.appends
    assert append.riding == (nothing,)
    assert [event.type for event in append.events] == ["run.paused"]


async def test_a_checkpoint_whose_thread_ends_in_the_same_group_is_not_written() -> None:
    def other(writes: StoreWrites) -> None:
        del writes

    disk = Disk()
    log = journal(disk)
    log.ride("r-1/a/1/1/1", nothing)
    log.ride("r-1/b/1/1/1", other)
    log.record(PAUSED, delete_threads=("r-1/a/1/1/1",))
    await turns()
    (append,) = disk.appends
    assert append.riding == (other,)
    assert append.delete_threads == ("r-1/a/1/1/1",)


async def test_a_checkpoint_follows_by_itself_after_a_while() -> None:
    disk = Disk()
    log = journal(disk, linger_s=0.0)
    log.ride("r-1/a/1/1/1", nothing)
    await turns()
    (append,) = disk.appends
    assert (append.events, append.riding) == ((), (nothing,))


async def test_flush_writes_a_checkpoint_that_waits_for_company() -> None:
    disk = Disk()
    log = journal(disk)
    log.ride("r-1/a/1/1/1", nothing)
    flushed = asyncio.ensure_future(log.flush())
    await turns()
    assert [append.riding for append in disk.appends] == [(nothing,)]
    assert not flushed.done()
    await disk.done()
    assert flushed.done()


async def test_a_group_that_waits_for_company_is_not_pulled_along_by_the_append_before_it() -> None:
    disk = Disk()
    log = journal(disk)
    log.record(PAUSED)
    await turns()
    log.ride("r-1/a/1/1/1", nothing)
    await disk.done()
    assert [append.riding for append in disk.appends] == [()]
    log.record(CONTINUED)
    await turns()
    assert [append.riding for append in disk.appends] == [(), (nothing,)]


async def test_an_artefact_without_its_event_waits_for_it() -> None:
    """A flush comes between the two, while an append is under way."""
    disk = Disk()
    log = journal(disk)
    log.record(PAUSED)
    await turns()
    log.keep_bytes(b"made")
    flushed = asyncio.ensure_future(log.flush())
    await turns()
    await disk.done()
    assert flushed.done()
    log.record(CONTINUED)
    await turns()
    assert [append.artefacts for append in disk.appends] == [(), (b"made",)]


async def test_whoever_asks_is_told_once_when_an_event_is_on_disk() -> None:
    disk = Disk()
    log = journal(disk)
    log.record(PAUSED)
    told: list[str] = []
    log.once_durable(1, lambda: told.append("waited"))
    await turns()
    assert told == []
    await disk.done()
    assert told == ["waited"]
    log.once_durable(1, lambda: told.append("at once"))
    assert told == ["waited", "at once"]


async def test_whoever_asks_is_told_when_an_event_will_never_be_on_disk() -> None:
    disk = Disk()
    log = journal(disk)
    log.record(PAUSED)
    told: list[str] = []
    log.once_durable(1, lambda: told.append("told"))
    await turns()
    disk.gates[-1].set_exception(StoreFull("here"))
    await turns()
    assert told == ["told"]
    with pytest.raises(JournalBroken):
        log.check()
