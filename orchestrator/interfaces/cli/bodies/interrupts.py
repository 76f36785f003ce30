"""Ctrl-C and SIGTERM while a run is executed: the first stops it so that it can be resumed, the second ends at once."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from orchestrator.interfaces.cli.exit_codes import ExitCode

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stopping_on_signals(
    stop: asyncio.Event, said: Callable[[], None], last: Callable[[], None]
) -> Iterator[None]:
    """Set `stop` at the first signal, after `said`; call `last` and end the process at the second.

    The handlers are the interpreter's and not the loop's, since reading the notes keeps the loop busy for seconds.
    Outside of the main thread, where no handler can be set, nothing is changed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    asked = 0

    def handle(signum: int, frame: FrameType | None) -> None:
        nonlocal asked
        del signum, frame
        asked += 1
        if asked > 1:
            last()
            # Nothing is lost: the store commits each group of events as a whole.
            os._exit(int(ExitCode.INTERRUPTED))
        said()
        loop.call_soon_threadsafe(stop.set)

    before = {number: signal.signal(number, handle) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
