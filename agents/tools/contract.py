"""The contract of tools: what a tool says of itself, a proposed call, and the two forms of a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agents.evidence import Origin, Taint
from agents.tools.gate_reasons import Reason

SideEffectClass = Literal["read", "draft", "write", "external"]
"""`read`: changes nothing; `draft`: writes where only this run looks; `write`: changes the user's files; `external`:
acts outside this machine."""

Profile = Literal["debug", "evaluate", "production"]
"""What calls that change something come to. `debug`: they are refused; `evaluate`: they are only pretended;
`production`: they are made after a person's approval."""

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
    """The tool that undoes what this one did; `None`: nothing does. With one, a call that was made and is proposed
    again is looked up first: taken back in between, it is made again."""


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
    `UNAVAILABLE` (the world outside), `TOOL_FAILED` (the tool itself broke), `OBSERVATION_UNKNOWN`, `NOT_SENT`. After a
    call that changes something all of these but the first two and `NOT_SENT` leave open whether it happened."""
    message: str
    retryable: bool
    ok: Literal[False] = False


ToolResult = ToolOk | ToolError


HeldReason = Literal["approval_needed", "refused_again", "outcome_unknown"]
"""Why a person is asked about a call.

- `approval_needed`: a person approves it or refuses it.
- `refused_again`: a person refused it, and the agent goes on proposing it.
- `outcome_unknown`: it was begun, and nobody knows whether it happened.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierCall:
    """A call of the same tool that was made before: by the sub-task, in whatever attempt or generation, or by one that
    the plan had before it was amended."""

    arguments: Mapping[str, Any]
    outcome: Literal["made", "failed", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldCall:
    """A call that waits for a person's word, with everything that the word is bound to."""

    why: HeldReason
    step: str
    """The stage and path of the attempt that it belongs to, e.g. `work.1.0`."""
    index: int
    """From 0 within the step."""
    tool: str
    arguments: Mapping[str, Any]
    """JSON values, exactly as they will be used."""
    arguments_digest: str
    """Over tool and arguments."""
    side_effect: SideEffectClass
    tier: str
    """How grave it is, see `agents.tools.gate`."""
    reasons: tuple[Reason, ...] = ()
    """Why it is held, as the gate found."""
    preview: str = ""
    """What it would change, e.g. a diff; for people."""
    earlier: tuple[EarlierCall, ...] = ()
    """What sub-tasks that the plan has no more did with the tool before, then what this one did, oldest first: a second
    letter is another decision than the first."""
    origin: Origin = "computed"
    taint: Taint = "trusted"
