"""Listeners that end a run at an event: as a crash, or by its stop event."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from orchestrator.core.events import Event
from orchestrator.core.state import RunState
from orchestrator.shell.journal import Listener


class Crash(Exception):
    """The process is gone."""


def crash_at(when: Callable[[Event], bool]) -> Listener:
    def listener(event: Event, state: RunState) -> None:
        del state
        if when(event):
            raise Crash(event.body.type)

    return listener


def stop_at(stop: asyncio.Event, when: Callable[[Event], bool]) -> Listener:
    def listener(event: Event, state: RunState) -> None:
        del state
        if when(event):
            stop.set()

    return listener
