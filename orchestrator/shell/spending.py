"""The one account of an attempt, and what its calls cost."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from agents.broker import BudgetExhausted
from agents.models.contract import ModelError, ModelReply, ModelRequest
from agents.tools.contract import ToolResult
from orchestrator.shell.ports import Clock

BYTES_PER_TOKEN: Final = 4
"""Of a model's input, for the reservation before a call; the usage that the model reports replaces it."""


class Spending:
    """The one account of an attempt, which all its steps pay from: actions, calls, time and tokens."""

    def __init__(self, clock: Clock) -> None:
        """Start the clock of the attempt."""
        self._clock = clock
        self._started = clock.monotonic()
        self.actions = 0
        self.tool_calls = 0
        self.model_calls = 0
        self.model_tokens = 0
        """Input tokens that were used, and those that calls under way have reserved."""
        self.model_time_s = 0.0
        self.known: dict[str, ToolResult] = {}
        """Results of the tool calls of the attempt, by digest: another path that needs one does not pay again."""

    def now(self) -> float:
        """Return the time of the attempt's clock, in seconds."""
        return self._clock.monotonic()

    def ms_since(self, before: float) -> float:
        """Return the milliseconds since `before`, to a tenth."""
        return round((self._clock.monotonic() - before) * 1000, 1)

    @property
    def elapsed_s(self) -> float:
        """Seconds since the attempt (or the part of it after a restart) began."""
        return self._clock.monotonic() - self._started

    @asynccontextmanager
    async def model_time(self) -> AsyncIterator[None]:
        """Count what happens inside as model time, however it ends."""
        before = self._clock.monotonic()
        try:
            yield
        finally:
            self.model_time_s += self._clock.monotonic() - before


def deadline_reached(spending: Spending, deadline_s: float) -> BudgetExhausted:
    """Return what ends an attempt that was stopped at its deadline."""
    return BudgetExhausted("deadline_s", max(spending.elapsed_s, deadline_s), deadline_s)


def estimated_tokens(request: ModelRequest) -> int:
    """Return what to reserve for a request before its cost is known: a token per 4 bytes of UTF-8, at least 1.

    A rule of thumb: about 4 letters of English or 1.3 characters of Chinese to a token.
    """
    texts = [message.content for message in request.messages]
    shown = [dict(call.arguments) for message in request.messages for call in message.calls]
    shown += [
        {"name": offer.name, "description": offer.description, "schema": dict(offer.input_schema)}
        for offer in request.tools
    ]
    if request.output_schema is not None:
        shown.append(dict(request.output_schema))
    if shown:
        texts.append(json.dumps(shown, ensure_ascii=False, default=str))
    return max(1, sum(len(text.encode(errors="replace")) for text in texts) // BYTES_PER_TOKEN)


def input_tokens(reply: ModelReply, request: ModelRequest) -> int:
    """Return what a reply cost; one that doesn't say is counted as estimated.

    Of errors only those after which the request may have been read and paid for: a time-out, a connection that broke.
    """
    outcome = reply.outcome
    unpaid = isinstance(outcome, ModelError) and outcome.error_type not in ("timeout", "unavailable")
    if reply.usage.input_tokens or unpaid:
        return reply.usage.input_tokens
    return estimated_tokens(request)
