"""Threads for the checks of attempts, so that a long one does not stop every other sub-task.

The leak scan and the levels of verification read files, split texts and trace every claim: a level 3 over hundreds of
claims takes seconds. On the event loop, everything else would wait for it: calls under way, events, answers of persons.

Every check goes to a thread, whatever its size: a hop costs 0.1 ms (half of it CPU) where scan and levels of the
smallest output cost 2 ms, and how long a check takes can't be told from an output's size, for it may wait on a disk. So
whatever a check uses (checkers, fact sources, detector, labels, embedder, tokenizers) must allow several calls at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

_T = TypeVar("_T")

CHECK_THREADS: Final = 4
"""Checks at a time. More than one, so that a check that waits on a disk does not hold up the others; few, because
computing checks share one interpreter lock and gain nothing from more."""


class CheckThreads:
    """Runs checks beside the event loop; the threads are started when needed and end with this object."""

    def __init__(self, threads: int = CHECK_THREADS) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="maskgrad-check")

    async def run(self, check: Callable[[], _T]) -> _T:
        """Return what `check` returns, or raise what it raises.

        A caller that is cancelled stops waiting; a check that has begun runs to its end, and nobody hears of it.
        """
        return await asyncio.get_running_loop().run_in_executor(self._pool, check)

    def close(self) -> None:
        """End the threads; a check that has begun runs to its end, none begins any more. Closing again is no error."""
        self._pool.shutdown(wait=False, cancel_futures=True)
