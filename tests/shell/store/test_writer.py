from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence

import pytest

from orchestrator.shell.store.errors import HeadMoved, StoreBroken, StoreClosed, StoreFull
from orchestrator.shell.store.memory_store import MemoryStore
from orchestrator.shell.store.ports import Operation, Outcome
from orchestrator.shell.store.writer import Writer
from tests.shell.store.conformance import PowerCut, event


class GatedStore(MemoryStore):
    """A store whose commits wait at a gate, so that a test decides what gathers behind them."""

    counting = False
    """Whether commits are counted and gated."""

    def __init__(self) -> None:
        super().__init__()
        self.create_run("r-1", "t", "2025")
        self.batches: list[int] = []
        self.gate = threading.Event()
        self.gate.set()
        self.arrived = threading.Semaphore(0)
        self.failure: BaseException | None = None
        self.fits = 1000
        self.counting = True

    def commit(self, operations: Sequence[Operation[object]]) -> list[Outcome]:
        if self.counting:
            self.batches.append(len(operations))
            self.arrived.release()
            assert self.gate.wait(10)
            if self.failure is not None:
                raise self.failure
            if len(operations) > self.fits:
                raise StoreFull(self.location)
        return super().commit(operations)


@pytest.fixture
def store() -> GatedStore:
    return GatedStore()


@pytest.fixture
def writer(store: GatedStore) -> Iterator[Writer]:
    with Writer(store) as writer:
        yield writer


def arrive(store: GatedStore) -> None:
    assert store.arrived.acquire(timeout=10)


async def gathered(writer: Writer, count: int) -> None:
    """Return when `count` operations wait behind a closed gate."""
    while len(writer._queue) < count:
        await asyncio.sleep(0)


async def test_an_append_is_committed_when_it_returns(store: GatedStore, writer: Writer) -> None:
    assert await writer.append("r-1", 0, [event(), event()]) == 2
    assert store.head("r-1") == 2


async def test_what_gathers_during_a_commit_is_committed_together(store: GatedStore, writer: Writer) -> None:
    store.gate.clear()
    first = asyncio.ensure_future(writer.write(lambda writes: writes.append("r-1", 0, [event("0")])))
    await asyncio.to_thread(arrive, store)
    others = [asyncio.ensure_future(writer.append("r-1", head, [event(str(head))])) for head in range(1, 21)]
    await gathered(writer, 20)
    assert not first.done()
    store.gate.set()
    assert [await first, *await asyncio.gather(*others)] == list(range(1, 22))
    assert store.batches == [1, 20]
    assert [e.type for e in store.events("r-1")] == [str(n) for n in range(21)]


async def test_a_refusal_reaches_its_caller_only(store: GatedStore, writer: Writer) -> None:
    store.gate.clear()
    first = asyncio.ensure_future(writer.append("r-1", 0, [event()]))
    await asyncio.to_thread(arrive, store)
    late = asyncio.ensure_future(writer.append("r-1", 0, [event()]))
    good = asyncio.ensure_future(writer.append("r-1", 1, [event()]))
    await gathered(writer, 2)
    store.gate.set()
    with pytest.raises(HeadMoved):
        await late
    assert [await first, await good] == [1, 2]


async def test_a_failed_transaction_reaches_everybody_in_it_and_the_next_one_works(
    store: GatedStore, writer: Writer
) -> None:
    store.gate.clear()
    store.failure = StoreBroken("x", "input/output error")
    waiting = [asyncio.ensure_future(writer.append("r-1", 0, [event()]))]
    await asyncio.to_thread(arrive, store)
    waiting += [asyncio.ensure_future(writer.append("r-1", 0, [event()])) for _ in range(3)]
    await gathered(writer, 3)
    store.gate.set()
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(result) for result in results] == [StoreBroken] * 4
    store.failure = None
    assert await writer.append("r-1", 0, [event()]) == 1


async def test_not_even_a_bug_ends_the_thread(store: GatedStore, writer: Writer) -> None:
    store.failure = PowerCut()
    with pytest.raises(StoreBroken, match="PowerCut"):
        await writer.append("r-1", 0, [event()])
    store.failure = None
    assert await writer.append("r-1", 0, [event()]) == 1


async def test_operations_that_do_not_fit_together_are_tried_alone(store: GatedStore, writer: Writer) -> None:
    store.fits = 1
    store.gate.clear()
    first = asyncio.ensure_future(writer.append("r-1", 0, [event()]))
    await asyncio.to_thread(arrive, store)
    others = [asyncio.ensure_future(writer.append("r-1", head, [event()])) for head in (1, 2, 3)]
    await gathered(writer, 3)
    store.gate.set()
    assert [await first, *await asyncio.gather(*others)] == [1, 2, 3, 4]
    assert store.batches == [1, 3, 1, 1, 1]


async def test_a_full_store_refuses_what_does_not_fit_alone(store: GatedStore, writer: Writer) -> None:
    store.fits = 0
    with pytest.raises(StoreFull):
        await writer.append("r-1", 0, [event()])
    store.fits = 1
    assert await writer.append("r-1", 0, [event()]) == 1


async def test_a_cancelled_caller_does_not_take_its_operation_back(store: GatedStore, writer: Writer) -> None:
    store.gate.clear()
    first = asyncio.ensure_future(writer.append("r-1", 0, [event("kept")]))
    await asyncio.to_thread(arrive, store)
    first.cancel()
    store.gate.set()
    assert await writer.append("r-1", 1, [event()]) == 2
    assert first.cancelled()
    assert next(store.events("r-1")).type == "kept"


async def test_a_cancelled_caller_does_not_keep_the_outcome_from_the_others(
    store: GatedStore, writer: Writer
) -> None:
    store.gate.clear()
    first = asyncio.ensure_future(writer.append("r-1", 0, [event()]))
    await asyncio.to_thread(arrive, store)
    cancelled = asyncio.ensure_future(writer.append("r-1", 1, [event()]))
    other = asyncio.ensure_future(writer.append("r-1", 2, [event()]))
    await gathered(writer, 2)
    cancelled.cancel()
    store.gate.set()
    assert [await first, await asyncio.wait_for(other, 10)] == [1, 3]
    assert cancelled.cancelled()


async def test_a_full_queue_makes_its_callers_wait_and_keeps_their_order(store: GatedStore) -> None:
    async with Writer(store, queue_limit=3, batch_limit=2) as writer:
        store.gate.clear()
        callers = [asyncio.ensure_future(writer.append("r-1", 0, [event("0")]))]
        await asyncio.to_thread(arrive, store)
        callers += [asyncio.ensure_future(writer.append("r-1", head, [event()])) for head in range(1, 4)]
        await gathered(writer, 3)
        late = asyncio.ensure_future(writer.enqueue(lambda writes: writes.append("r-1", 4, [event("late")])))
        while not writer._room_seekers:
            await asyncio.sleep(0)
        assert len(writer._queue) == 3
        store.gate.set()
        assert await asyncio.gather(*callers) == [1, 2, 3, 4]
        assert await (await late) == 5
        assert max(store.batches) <= 2


async def test_enqueued_operations_are_committed_in_order_without_being_awaited(writer: Writer) -> None:
    def behind(head: int) -> Operation[int]:
        return lambda writes: writes.append("r-1", head, [event()])

    futures = [await writer.enqueue(behind(head)) for head in range(50)]
    assert [await future for future in futures] == list(range(1, 51))


def test_threads_without_a_loop_submit(writer: Writer) -> None:
    future = writer.submit(lambda writes: writes.append("r-1", 0, [event()]))
    assert future.result(10) == 1
    assert not future.cancel()
    with pytest.raises(HeadMoved):
        writer.submit(lambda writes: writes.append("r-1", 0, [event()])).result(10)


def test_a_thread_waits_for_room(store: GatedStore) -> None:
    with Writer(store, queue_limit=1) as writer:
        store.gate.clear()
        writer.submit(lambda writes: writes.append("r-1", 0, [event()]))
        arrive(store)
        writer.submit(lambda writes: writes.append("r-1", 1, [event()]))
        heads: list[int] = []
        third = threading.Thread(
            target=lambda: heads.append(
                writer.submit(lambda writes: writes.append("r-1", 2, [event()])).result(10)
            )
        )
        third.start()
        assert len(writer._queue) == 1
        store.gate.set()
        third.join(10)
        assert heads == [3]


async def test_closing_commits_what_waits_and_takes_no_more(store: GatedStore) -> None:
    writer = Writer(store, queue_limit=2)
    store.gate.clear()
    waiting = [asyncio.ensure_future(writer.append("r-1", 0, [event()]))]
    await asyncio.to_thread(arrive, store)
    waiting += [asyncio.ensure_future(writer.append("r-1", head, [event()])) for head in (1, 2)]
    await gathered(writer, 2)
    seeking = asyncio.ensure_future(writer.append("r-1", 3, [event()]))
    while not writer._room_seekers:
        await asyncio.sleep(0)
    closing = asyncio.ensure_future(writer.aclose())
    while not writer._closing:
        await asyncio.sleep(0)
    with pytest.raises(StoreClosed):
        await writer.append("r-1", 3, [event()])
    store.gate.set()
    await closing
    assert await asyncio.gather(*waiting) == [1, 2, 3]
    with pytest.raises(StoreClosed):
        await seeking
    with pytest.raises(StoreClosed):
        writer.submit(lambda writes: writes.append("r-1", 3, [event()]))
    assert store.head("r-1") == 3
    writer.close()


def test_an_outcome_for_a_loop_that_is_gone_is_dropped(store: GatedStore, writer: Writer) -> None:
    async def leave() -> None:
        await writer.enqueue(lambda writes: writes.append("r-1", 0, [event()]))

    store.gate.clear()
    asyncio.run(leave())
    store.gate.set()
    assert writer.submit(lambda writes: writes.append("r-1", 1, [event()])).result(10) == 2


async def test_two_loops_are_served_by_one_writer(writer: Writer) -> None:
    async def post(dedup: str) -> int:
        return await writer.write(lambda writes: writes.post("r-1", "k", "{}", dedup))

    ids = await asyncio.gather(asyncio.to_thread(lambda: asyncio.run(post("a"))), post("b"))
    assert sorted(ids) == [1, 2]
