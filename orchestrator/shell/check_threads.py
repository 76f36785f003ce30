"""Where the checks of attempts run: short ones on the event loop, all others on threads beside it.

The leak scan and the levels of verification read files, split texts and trace every claim: a level 3 over hundreds of
claims takes seconds. On the event loop, everything else would wait for it: calls under way, events, answers of persons.
On a thread, a check of a single sentence costs about twice what it takes, for the hand-over and for the interpreter
lock. How long a check takes depends on more than its size (it may wait on a disk, or ask a model), so it is measured:
a size of which the last checks were short goes on the loop, and goes back to the threads as soon as one was not. On the
loop all of it counts, waiting too. On a thread all of it counts but waiting for the interpreter lock, which can't be
measured: it is told from other waiting by what the rest of this process computed meanwhile.

So whatever a check uses (checkers, fact sources, detector, labels, embedder, tokenizers) must allow several calls at
once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Generic, NamedTuple, TypeVar
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
_SHARE: Final = 1 / (2 * CHECK_THREADS)
"""The least part of the interpreter that a check on a thread gets: beside it, the other threads of checks want it, the
loop, the writer, and what a caller's threads do. A check of which less was computing waited for something else."""
_NOISE_S: Final = 0.02
"""Waiting up to this says nothing, in seconds: on a busy machine the system takes the processor away for so long. A
check that always waits so long is tried on the loop from time to time, and goes back to the threads each time."""


class Clocks(NamedTuple):
    """How a check is timed, in seconds."""

    wall: Callable[[], float] = time.perf_counter
    thread: Callable[[], float] = time.thread_time
    """What the calling thread has computed."""
    process: Callable[[], float] = time.process_time
    """What all threads of this process have computed."""


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
        self._expected: dict[_Kind, float] = {}
        """Seconds by kind of check."""

    async def run(self, check: Callable[[], _T], size: int, like: Hashable = None) -> _T:
        """Return what `check` returns, or raise what it raises.

        Checks of the same `like` and of like `size` (0 or more) take a like time; `like` is one of few values, for each
        is remembered. A caller that is cancelled stops waiting; a check that has begun runs to its end, and nobody
        hears of it.
        """
        kind = _Kind(size.bit_length(), like)
        if self._is_short(kind):
            return self._on_loop(kind, check)
        loop = asyncio.get_running_loop()
        async with self._free.setdefault(loop, asyncio.Semaphore(self._threads)):
            # While it waited for a thread, others of its kind may have turned out to be short.
            if self._is_short(kind):
                return self._on_loop(kind, check)
            timed = _TimedOnThread(check, self._clocks)
            try:
                return await loop.run_in_executor(self._pool, timed)
            finally:
                # One that raises takes its time too; of one that is left alone, the time is not known yet.
                if timed.took_s is not None:
                    self._note(kind, timed.took_s)

    def _on_loop(self, kind: _Kind, check: Callable[[], _T]) -> _T:
        began = self._clocks.wall()
        try:
            return check()
        finally:
            self._note(kind, self._clocks.wall() - began)

    def _is_short(self, kind: _Kind) -> bool:
        expected = self._expected.get(kind)
        return expected is not None and expected <= self._on_loop_s

    def _note(self, kind: _Kind, seconds: float) -> None:
        self._expected[kind] = max(seconds, _FORGETS * self._expected.get(kind, 0.0))

    def close(self) -> None:
        """End the threads; a check that has begun runs to its end, none begins any more. Closing again is no error."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class _Kind(NamedTuple):
    """Which checks take a like time."""

    magnitude: int
    """The binary logarithm of the size."""
    like: Hashable


class _TimedOnThread(Generic[_T]):
    """A check that says afterwards, however it ended, how long the loop would have stood still for it."""

    def __init__(self, check: Callable[[], _T], clocks: Clocks) -> None:
        self._check = check
        self._clocks = clocks
        self.took_s: float | None = None

    def __call__(self) -> _T:
        wall, thread, process = (clock() for clock in self._clocks)
        try:
            return self._check()
        finally:
            self.took_s = _alone(
                wall=self._clocks.wall() - wall,
                thread=self._clocks.thread() - thread,
                process=self._clocks.process() - process,
            )


def _alone(*, wall: float, thread: float, process: float) -> float:
    """Return the seconds that a check which took `wall` on a thread would at least take on the loop.

    It computed for `thread` of them. The others were waiting: for the interpreter lock, as long as other threads of
    this process computed (`process` less `thread`), beyond that for something else, which counts unless it was short.
    Who computes shares the lock, so at most a part of the time goes to that (`_SHARE`), whatever else was computed
    beside a check that waited.
    """
    waited = wall - process
    return max(thread, thread + waited if waited > _NOISE_S else 0.0, wall * _SHARE)
