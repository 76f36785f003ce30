"""How long a call of a tool may take, and the form in which whatever comes of it is let in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from agents.tools.contract import ToolError, ToolOk, ToolResult
from agents.tools.hiding import without_secrets
from agents.tools.previews import bounded
from agents.tools.texts.calls import OUTCOMES
from agents.tools.texts.contract import say
from orchestrator.core.ids import ArtefactId
from orchestrator.shell.call_ledger import TOOL_RESULT
from orchestrator.shell.spending import Spending, deadline_reached

LAST_LOOK_S: Final = 1.0
"""For asking a tool what came of a call that the deadline of its attempt cut off, in seconds, with the preview for
whoever is asked: less than an attempt gets to hand over what it has."""

_LASTING: Final = (FileNotFoundError, PermissionError, NotADirectoryError, IsADirectoryError, FileExistsError)
"""Errors of the system that are the same at the next try; others of it (a connection, a busy disk) may pass."""

Performed = Callable[[], Awaitable[ToolResult]]
Perform = Callable[[Performed], Awaitable[ToolResult]]
"""Performs what it is given within some time, and returns whatever breaks as a `ToolError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTime:
    """Performs what one tool does, within its own time and within that of the attempt."""

    tool: str
    timeout_s: float
    spending: Spending
    deadline_s: float
    """Of the attempt, on the clock of `spending`."""
    keep_bytes: Callable[[bytes], ArtefactId]
    """Keeps the whole of a large result."""

    async def perform(self, perform: Performed) -> ToolResult:
        """Return what `perform` gives; whatever breaks in it, or takes too long, is a `ToolError`.

        Raises `BudgetExhausted` when the deadline of the attempt comes first.
        """
        left_s = self.deadline_s - self.spending.elapsed_s
        result = await self._until(asyncio.timeout(min(self.timeout_s, left_s)), perform)
        if result is None and left_s < self.timeout_s:
            raise deadline_reached(self.spending, self.deadline_s)
        return result or self._timed_out(self.timeout_s)

    def last_look(self) -> Perform:
        """Return what performs whatever the attempt's clock says: all of it within `LAST_LOOK_S` from now."""
        return partial(self._last, asyncio.get_running_loop().time() + LAST_LOOK_S)

    async def _last(self, ends: float, perform: Performed) -> ToolResult:
        return await self._until(asyncio.timeout_at(ends), perform) or self._timed_out(LAST_LOOK_S)

    async def _until(self, until: asyncio.Timeout, perform: Performed) -> ToolResult | None:
        """Return what `perform` gives, `None` when `until` came first."""
        try:
            async with until:
                return _observed(self.tool, await perform(), self.keep_bytes)
        except TimeoutError:
            return None if until.expired() else self._timed_out(self.timeout_s)
        except Exception as error:  # noqa: BLE001 - a tool is foreign code: whatever breaks in it is a result
            what = without_secrets(f"{type(error).__name__}: {error}")
            outside = isinstance(error, OSError) and not isinstance(error, _LASTING)
            return ToolError(
                error_type="UNAVAILABLE" if outside else "TOOL_FAILED",
                message=say(OUTCOMES, "broke", called=self.tool, error=what),
                retryable=outside,
            )

    def _timed_out(self, after_s: float) -> ToolError:
        message = say(OUTCOMES, "timed_out", called=self.tool, seconds=f"{after_s:g}")
        return ToolError(error_type="TIMEOUT", message=message, retryable=True)


def _observed(name: str, result: object, keep: Callable[[bytes], ArtefactId]) -> ToolResult:
    """The result of a tool, if it has the shape of one and a form as JSON.

    Of a large one a preview, and the whole by its digest, stored once: before anything else makes a copy of it.
    """
    try:
        if not isinstance(result, ToolOk | ToolError):
            raise TypeError(f"a {type(result).__name__}")
        if isinstance(result, ToolOk) and result.whole is None:
            result = bounded(result, keep)
        TOOL_RESULT.dump_python(result, mode="json", warnings="error")
        if isinstance(result, ToolOk):
            # As JSON writes it, not pydantic: that would record NaN as null, and a resumed attempt would read that.
            json.dumps(result.data, allow_nan=False)
    except (TypeError, ValueError) as error:
        message = say(OUTCOMES, "no_result", called=name, error=error)
        return ToolError(error_type="OBSERVATION_UNKNOWN", message=message, retryable=False)
    return result
