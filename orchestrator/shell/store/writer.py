"""One thread that commits what all nodes of all runs have to write, together (group commit).

While the disk is busy with one transaction, operations gather; the next transaction takes them all. So the cost of
making something durable is shared by everything that waits for it, and no time is spent waiting for company.
"""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict, deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self, TypeVar, assert_never

from orchestrator.shell.store.errors import StoreBroken, StoreClosed, StoreFull
from orchestrator.shell.store.ports import Committed, Operation, Outcome, Refused, RunStore, StoreWrites
from orchestrator.shell.store.rows import Lease, NewEvent

T = TypeVar("T")

QUEUE_LIMIT: Final = 1024
"""Operations that may wait; whoever comes then waits for room, so a slow disk slows the run and not fill the memory."""
BATCH_LIMIT: Final = 256
"""Operations in one transaction: beyond this, sharing the commit gains little and the first one waits for the last."""


@dataclass(frozen=True, slots=True)
class _LoopReply:
    """Where an event loop waits for an outcome."""

    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]


@dataclass(frozen=True, slots=True)
class _Waiting:
    operation: Operation[Any]
    reply: _LoopReply | Future[Any]


class Writer:
    """Commit operations of many callers on a thread of its own, in the order in which they came.

    Each operation succeeds or fails by itself, with what it raised; if the store itself fails, all operations of the
    transaction fail with the `StoreUnavailable` that it raised. An outcome is told after the commit. A caller that is
    cancelled while it waits does not take its operation back.
    """

    def __init__(
        self, store: RunStore, *, queue_limit: int = QUEUE_LIMIT, batch_limit: int = BATCH_LIMIT
    ) -> None:
        self._store = store
        self._queue_limit = queue_limit
        self._batch_limit = batch_limit
        self._queue: deque[_Waiting] = deque()
        self._room_seekers: list[_LoopReply] = []
        self._closing = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="maskgrad-writer", daemon=True)
        self._thread.start()

    @property
    def store(self) -> RunStore:
        """Return the store that is written to; reading it shows what is committed."""
        return self._store

    async def write(self, operation: Operation[T]) -> T:
        """Run an operation and return its value once it is durable. Raises what it raised, or `StoreUnavailable`."""
        return await (await self.enqueue(operation))

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
        """Append events, see `StoreWrites.append`, and return the new head once it is durable.

        `riding` is run before, in the same operation: all of it or nothing.
        """

        def together(writes: StoreWrites) -> int:
            for write in riding:
                write(writes)
            return writes.append(
                run,
                expected_head,
                events,
                lease=lease,
                delete_threads=delete_threads,
                artefacts=artefacts,
                folded=folded,
            )

        return await self.write(together)

    async def enqueue(self, operation: Operation[T]) -> asyncio.Future[T]:
        """Queue an operation, waiting only for room, and return the future of its value.

        Operations queued one after the other are committed in this order, be their futures awaited or not. Raises
        `StoreClosed` after `close`.
        """
        loop = asyncio.get_running_loop()
        reply = _LoopReply(loop, loop.create_future())
        while True:
            with self._changed:
                if self._queued(_Waiting(operation, reply)):
                    return reply.future
                # Under the same lock as the look at the queue: the batch that makes room finds this seeker.
                seeker = _LoopReply(loop, loop.create_future())
                self._room_seekers.append(seeker)
            await seeker.future

    def submit(self, operation: Operation[T]) -> Future[T]:
        """Queue an operation from a thread without an event loop, waiting for room, and return its future.

        Raises `StoreClosed` after `close`.
        """
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()  # from here on `cancel` is refused: the operation will be run
        with self._changed:
            self._changed.wait_for(lambda: self._closing or len(self._queue) < self._queue_limit)
            self._queued(_Waiting(operation, future))
        return future

    def _queued(self, waiting: _Waiting) -> bool:
        """Queue an operation; False if there is no room."""
        with self._changed:
            if self._closing:
                raise StoreClosed(self._store.location)
            if len(self._queue) >= self._queue_limit:
                return False
            self._queue.append(waiting)
            self._changed.notify_all()
            return True

    def close(self) -> None:
        """Take no more operations, commit those that wait, and end the thread. The store stays open."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()

    async def aclose(self) -> None:
        """Close without blocking the event loop."""
        await asyncio.to_thread(self.close)

    def _work(self) -> None:
        while batch := self._next_batch():
            _tell(
                [waiting.reply for waiting in batch], self._outcomes([waiting.operation for waiting in batch])
            )

    def _next_batch(self) -> list[_Waiting]:
        """Return the operations of the next transaction; none when the writer is closed and the queue is empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._closing)
            size = min(len(self._queue), self._batch_limit)
            batch = [self._queue.popleft() for _ in range(size)]
            seekers, self._room_seekers = self._room_seekers, []
            self._changed.notify_all()
        _tell(seekers, [Committed(value=None)] * len(seekers))
        return batch

    def _outcomes(self, operations: Sequence[Operation[Any]]) -> list[Outcome]:
        try:
            return self._store.commit(operations)
        except StoreFull as error:
            if len(operations) == 1:
                return [Refused(error=error)]
            # Together they do not fit; alone, the small ones may, and those that delete make room.
            return [self._outcomes([operation])[0] for operation in operations]
        except Exception as error:  # noqa: BLE001 - a failure goes to those who wait; the thread serves the others
            return [Refused(error=error)] * len(operations)
        except BaseException as error:  # noqa: BLE001 - as above; not raised on, or everybody would wait forever
            return [Refused(error=StoreBroken(self._store.location, repr(error)))] * len(operations)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _tell(replies: Sequence[_LoopReply | Future[Any]], outcomes: Sequence[Outcome]) -> None:
    """Give each waiting caller its outcome, with one wake-up per event loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Outcome]]] = defaultdict(list)
    for reply, outcome in zip(replies, outcomes, strict=True):
        match reply:
            case _LoopReply(loop=loop, future=future):
                by_loop[loop].append((future, outcome))
            case _:
                _settle(reply, outcome)
    for loop, pairs in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle_all, pairs)
        except RuntimeError:
            continue  # the loop was closed, so nobody waits there any more


def _settle_all(pairs: Sequence[tuple[asyncio.Future[Any], Outcome]]) -> None:
    for future, outcome in pairs:
        if not future.done():
            _settle(future, outcome)


def _settle(future: Future[Any] | asyncio.Future[Any], outcome: Outcome) -> None:
    match outcome:
        case Committed(value=value):
            future.set_result(value)
        case Refused(error=error):
            future.set_exception(error)
        case _:
            assert_never(outcome)
