"""The contract of tools: what a tool says of itself, a proposed call, and the two forms of a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agents.evidence import Origin, Taint

SideEffectClass = Literal["read", "draft", "write", "external"]
"""`read`: changes nothing; `draft`: writes where only this run looks; `write`: changes the user's files; `external`:
acts outside this machine."""

RepeatRule = Literal["safe", "keyed", "never"]
"""Whether a call may be made again when nobody knows what came of it.

- `safe`: it changes nothing.
- `keyed`: with the same idempotency key its effect happens once.
- `never`: its outcome is looked up, or a person is asked.
"""


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
    repeat: RepeatRule = "safe"
    compensation: str | None = None
    """The tool that undoes what this one did; `None`: nothing does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A proposed call."""

    tool: str
    arguments: Mapping[str, Any]
    """JSON values."""
    origin: Origin = "computed"
    taint: Taint = "trusted"
    """`untrusted` when an argument was taken from a document, a tool result or a model."""
    id: str = ""
    """Given by the model that proposed it: its result goes back under it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOk:
    """A tool did what it was asked."""

    summary: str
    data: Any
    """JSON value."""
    source: str
    source_version: str | None = None
    """Of what was read: the same call is another one when this has changed."""
    truncated: bool = False
    next_offset: int | None = None
    """Where a truncated result goes on; `None`: nowhere, or it can't be paged."""
    whole: str | None = None
    """Artefact with the whole of a truncated result."""
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
