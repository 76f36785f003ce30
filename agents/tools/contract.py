"""The contract of tools and models as workers see them: one broker port, typed results.

A worker proposes calls and never performs them. The broker validates, authorises, reserves budget, executes, records
and memoises by (node, generation, attempt, step, call index, argument digest), so that a resumed attempt receives
the recorded results instead of repeating the calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from agents.evidence import Origin, Taint

SideEffectClass = Literal["read", "draft", "write", "external"]
"""`read`: changes nothing; `draft`: writes where only this run looks; `write`: changes the user's files; `external`:
acts outside this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """What a tool is for and what it may do (seed 000, 6.2)."""

    name: str
    purpose: str
    when_to_use: str
    when_not_to_use: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    scope: str
    timeout_s: float
    side_effect: SideEffectClass
    permission: str
    error_codes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A proposed call."""

    tool: str
    arguments: Mapping[str, Any]
    """JSON values."""
    origin: Origin = "computed"
    taint: Taint = "trusted"
    """`untrusted` when an argument was taken from a document, a tool result or a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOk:
    """A tool did what it was asked."""

    summary: str
    data: Any
    """JSON value."""
    source: str
    truncated: bool = False
    elapsed_ms: float = 0.0
    taint: Taint = "untrusted"
    ok: Literal[True] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolError:
    """A tool could not do what it was asked."""

    error_type: str
    """One of the tool's `error_codes`, or one of the broker's: `DECISION_INVALID`, `ACTION_DENIED`, `TIMEOUT`,
    `UNAVAILABLE` (the world outside), `TOOL_FAILED` (the tool itself broke), `OBSERVATION_UNKNOWN`."""
    message: str
    retryable: bool
    ok: Literal[False] = False


ToolResult = ToolOk | ToolError


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One chat message."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    origin: Origin = "computed"
    taint: Taint = "trusted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """A proposed model call."""

    purpose: str
    """What the answer is for, e.g. `work`, `plan`, `verify`: chooses the model tier."""
    messages: tuple[Message, ...]
    output_schema: Mapping[str, Any] | None = None
    """JSON schema of a structured answer; `None` for free text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalAnswer:
    """The model answered."""

    text: str
    data: Any = None
    """The parsed structured answer, where a schema was given."""
    kind: Literal["final_answer"] = "final_answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalls:
    """The model proposes tool calls."""

    calls: tuple[ToolCall, ...]
    kind: Literal["tool_calls"] = "tool_calls"


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidOutput:
    """The model answered with something that does not parse or breaks the schema."""

    raw: str
    reason: str
    kind: Literal["invalid_output"] = "invalid_output"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelError:
    """The model could not be reached or refused."""

    error_type: Literal[
        "timeout", "rate_limited", "unavailable", "bad_request", "refused", "overflow", "unknown"
    ]
    message: str
    retryable: bool
    retry_after_s: float | None = None
    kind: Literal["model_error"] = "model_error"


ModelOutcome = FinalAnswer | ToolCalls | InvalidOutput | ModelError


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a model call consumed."""

    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    """`None`: the price is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """A model's outcome and its usage."""

    outcome: ModelOutcome
    usage: Usage = field(default_factory=Usage)


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


class Broker(Protocol):
    """The only way for a worker to reach models and tools."""

    async def call_tool(self, call: ToolCall) -> ToolResult:
        """Validate, authorise, pay, perform and record `call`; raises `BudgetExhausted` instead of its result."""
        ...

    async def call_model(self, request: ModelRequest) -> ModelReply:
        """Pay, perform and record `request`; raises `BudgetExhausted` instead of its result."""
        ...
