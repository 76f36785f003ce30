"""What executions of one event loop share: made by the first, closed by the last, committed by each who leaves."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

from orchestrator.shell.engine import Engine, Engines
from orchestrator.shell.scheduler import SharedDispatcher
from orchestrator.shell.store.errors import StoreClosed, StoreFull
from orchestrator.shell.store.memory_store import MemoryStore
from orchestrator.shell.store.ports import Operation, Outcome, RunStore, StoreWrites
from orchestrator.shell.store.writer import Writer
from tests.shell.dispatching.stage import Instant


class Makes:
    """Makes engines and counts them."""

    def __init__(self, store: RunStore | None = None) -> None:
        self.store = store or MemoryStore()
        self.made: list[Engine] = []

    def __call__(self) -> Engine:
        self.made.append(Engine(Writer(self.store), SharedDispatcher(Instant())))
        return self.made[-1]


def nothing(writes: StoreWrites) -> None:
    del writes


async def test_executions_share_it_until_the_last_one_leaves() -> None:
    make, engines = Makes(), Engines()
    first, second = engines.shared(make), engines.shared(make)
    one = await first.__aenter__()
    other = await second.__aenter__()
    assert one is other
    await first.__aexit__(None, None, None)
    await other.writer.write(nothing)  # it still takes operations
    await second.__aexit__(None, None, None)
    with pytest.raises(StoreClosed):
        await other.writer.write(nothing)
    async with engines.shared(make) as next_one:
        assert next_one is not one
    assert len(make.made) == 2


async def test_it_is_closed_after_an_error_too() -> None:
    make, engines = Makes(), Engines()
    with pytest.raises(LookupError):
        async with engines.shared(make):
            raise LookupError
    with pytest.raises(StoreClosed):
        await make.made[0].writer.write(nothing)


async def test_who_leaves_first_waits_for_what_came_before() -> None:
    """A run's last checkpoints must be in the store before its lease is given up."""
    make, engines = Makes(), Engines()
    make.store.create_run("r-1", "x", "2026-01-01T00:00:00.000Z")
    async with engines.shared(make):
        async with engines.shared(make) as engine:
            asked = await engine.writer.enqueue(lambda writes: writes.post("r-1", "pause", "{}", "p"))
        assert [message.kind for message in make.store.pending("r-1")] == ["pause"]
        assert await asked


async def test_a_store_that_fails_does_not_hide_what_ended_the_run() -> None:
    class Full(MemoryStore):
        def commit(self, operations: Sequence[Operation[object]]) -> list[Outcome]:
            del operations
            raise StoreFull(self.location)

    make, engines = Makes(Full()), Engines()
    async with engines.shared(make):
        with pytest.raises(LookupError, match="the run's own"):
            async with engines.shared(make):
                raise LookupError("the run's own")


async def test_what_can_not_be_made_leaves_nothing_behind() -> None:
    engines = Engines()

    def fails() -> Engine:
        raise ValueError("max_in_flight is 0")

    with pytest.raises(ValueError, match="max_in_flight"):
        async with engines.shared(fails):
            raise AssertionError("never entered")
    async with engines.shared(Makes()) as engine:
        await engine.writer.write(nothing)


def test_each_event_loop_has_its_own() -> None:
    """Tasks belong to a loop: what runs on another thread's loop must not be started from here."""
    make, engines = Makes(), Engines()
    both = threading.Barrier(2, timeout=20)

    async def execution() -> None:
        async with engines.shared(make):
            await asyncio.to_thread(both.wait)

    other = threading.Thread(target=lambda: asyncio.run(execution()))
    other.start()
    asyncio.run(execution())
    other.join()
    assert len(make.made) == 2
