"""Effects on threads: a thread can't be stopped, so one that outlives its time goes on, and that is known here.

A call that was given up while its thread runs may have its effect later: until the thread has ended nothing says that
it did not happen, and no second one is begun beside it under the same key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from threading import Lock
from typing import Final

from agents.tools.contract import ToolError, ToolOk, ToolResult
from agents.tools.ports import NotPerformed
from agents.tools.texts.calls import OUTCOMES
from agents.tools.texts.contract import say


class EffectThreads:
    """The calls with an effect that run on threads of this process, by idempotency key."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._under_way: dict[str, _Call] = {}

    async def perform(self, key: str, function: Callable[[], ToolResult]) -> ToolResult:
        """Return what `function` returns on a thread; it raises what that raises.

        `OBSERVATION_UNKNOWN`, and nothing begun, while an earlier call with `key` is under way. Given up before the
        thread began, the call is never made.
        """
        call = _Call()
        with self._lock:
            if key in self._under_way:
                message = say(OUTCOMES, "under_way")
                return ToolError(error_type="OBSERVATION_UNKNOWN", message=message, retryable=False)
            self._under_way[key] = call

        def performed() -> ToolResult:
            with self._lock:
                if call.given_up:
                    raise RuntimeError("given up before it began")
                call.begun = True
            try:
                return function()
            finally:
                self._end(key)

        try:
            return await asyncio.to_thread(performed)
        finally:
            with self._lock:
                call.given_up = not call.begun
            if call.given_up:
                self._end(key)

    async def outcome(
        self, key: str, look: Callable[[], Awaitable[ToolResult | NotPerformed | None]]
    ) -> ToolResult | NotPerformed | None:
        """Return what `look` finds of the call with `key`; that it had no effect counts once its thread has ended."""
        # Before the look: what ends between the two may have had its effect behind it.
        under_way = self._is_under_way(key)
        found = await look()
        return found if isinstance(found, ToolOk) or not under_way else None

    def _is_under_way(self, key: str) -> bool:
        with self._lock:
            return key in self._under_way

    def _end(self, key: str) -> None:
        with self._lock:
            self._under_way.pop(key, None)


class _Call:
    """Whether its thread began, and whether it must not begin any more."""

    def __init__(self) -> None:
        self.begun = False
        self.given_up = False


EFFECT_THREADS: Final = EffectThreads()
"""Of this process: a thread outlives the tool that began it, its attempt and its event loop. Keys are of one run and
sub-task each, so nothing else ever has the same."""
