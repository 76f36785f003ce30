"""The port between a worker and the world: everything that it does goes through one broker."""

from __future__ import annotations

from typing import Protocol

from agents.models.contract import ModelReply, ModelRequest
from agents.tools.contract import HeldCall, ToolCall, ToolResult


class BudgetExhausted(Exception):
    """Raised by a broker when a call would exceed the sub-task's or the run's budget, or is under way at the deadline.

    A worker answers with what it has and leaves the rest open as `limit_reached`, or lets it pass where it has nothing;
    then the attempt ends with a typed stop, never as complete.
    """

    def __init__(self, limit: str, used: float, allowed: float) -> None:
        self.limit = limit
        self.used = used
        self.allowed = allowed
        super().__init__(f"limit {limit!r} reached: {used:g} used of {allowed:g}")


class CallHeld(Exception):
    """Raised by a broker when a call waits for a person's word: for its approval, or for what came of it.

    A worker lets it pass, after the calls beside it that may be made. The attempt rests until the person answers; then
    it is made again from the log, with the same replies and results, and comes to the same call.
    """

    def __init__(self, held: HeldCall) -> None:
        self.held = held
        super().__init__(f"the call of {held.tool!r} waits for a person: {held.why}")


class Broker(Protocol):
    """The only way for a worker to reach models and tools.

    A worker proposes calls and never performs them. The broker validates, authorises, reserves budget, executes,
    records and memoises by (node, generation, attempt, step, call index, argument digest), so that a resumed attempt
    receives the recorded results instead of repeating the calls.
    """

    async def call_tool(self, call: ToolCall) -> ToolResult:
        """Validate, authorise, pay, perform and record `call`.

        Raises `BudgetExhausted` instead of its result, and `CallHeld` for one that a person is asked about.
        """
        ...

    async def call_model(self, request: ModelRequest) -> ModelReply:
        """Pay, perform and record `request`; raises `BudgetExhausted` instead of its result."""
        ...
