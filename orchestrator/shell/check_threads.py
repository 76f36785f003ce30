"""Where the checks of attempts run: short ones on the event loop, all others on threads beside it.

The leak scan and the levels of verification read files, split texts and trace every claim: a level 3 over hundreds of
claims takes seconds. On the event loop, everything else would wait for it: calls under way, events, answers of persons.
On a thread, a check of a single sentence costs about twice what it takes, for the hand-over and for the interpreter
lock. How long a check takes depends on more than its size (it may wait on a disk, or ask a model), so it is measured:
a size of which the last checks were short goes on the loop, and goes back to the threads as soon as one was not.

So whatever a check uses (checkers, fact sources, detector, labels, embedder, tokenizers) must allow several calls at
once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

_T = TypeVar("_T")

CHECK_THREADS: Final = 4
"""Checks at a time. More than one, so that a check that waits on a disk does not hold up the others; few, because
computing checks share one interpreter lock and gain nothing from more."""
ON_LOOP_S: Final = 0.005
"""A check expected to take up to this goes on the loop, in seconds: Python's switch interval, for which a computing
check holds up the loop from another thread as well."""
_FORGETS: Final = 0.9
"""What stands of the longest time after each shorter one of its size: after one of 100 ms, 29 checks go to threads
before the loop is tried again. Low enough for first checks, which are long because something is read for them."""


class Clocks(NamedTuple):
    """How a check is timed, in seconds."""

    on_loop: Callable[[], float] = time.perf_counter
    """All of it: whatever it waits for, the loop waits too."""
    on_thread: Callable[[], float] = time.thread_time
    """What it computed: the rest is mostly waiting for the interpreter lock, and the loop is free meanwhile."""


class CheckThreads:
    """Runs checks; the threads are started when needed and end with this object."""

    def __init__(
        self, threads: int = CHECK_THREADS, *, on_loop_s: float = ON_LOOP_S, clocks: Clocks | None = None
    ) -> None:
        """Return a runner of `threads` threads; with a negative `on_loop_s` every check goes to one of them."""
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="maskgrad-check")
        self._threads = threads
        self._free: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
        """Counts the threads that are free for the checks of a loop."""
        self._on_loop_s = on_loop_s
        self._clocks = clocks or Clocks()
        self._expected: dict[int, float] = {}
        """Seconds by the binary logarithm of a check's size."""

    async def run(self, check: Callable[[], _T], size: int) -> _T:
        """Return what `check` returns, or raise what it raises; checks of like `size` (0 or more) take a like time.

        A caller that is cancelled stops waiting; a check that has begun runs to its end, and nobody hears of it.
        """
        kind = size.bit_length()
        if self._is_short(kind):
            return self._noted(kind, _timed(check, self._clocks.on_loop))
        loop = asyncio.get_running_loop()
        async with self._free.setdefault(loop, asyncio.Semaphore(self._threads)):
            # While it waited for a thread, others of its size may have turned out to be short.
            if self._is_short(kind):
                return self._noted(kind, _timed(check, self._clocks.on_loop))
            timed = await loop.run_in_executor(self._pool, _timed, check, self._clocks.on_thread)
            return self._noted(kind, timed)

    def _is_short(self, kind: int) -> bool:
        expected = self._expected.get(kind)
        return expected is not None and expected <= self._on_loop_s

    def _noted(self, kind: int, timed: tuple[_T, float]) -> _T:
        result, seconds = timed
        self._expected[kind] = max(seconds, _FORGETS * self._expected.get(kind, 0.0))
        return result

    def close(self) -> None:
        """End the threads; a check that has begun runs to its end, none begins any more. Closing again is no error."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _timed(check: Callable[[], _T], clock: Callable[[], float]) -> tuple[_T, float]:
    """Return the result of `check` and the seconds that it took by `clock`."""
    began = clock()
    result = check()
    return result, clock() - began
