"""A person's word on one call, and what it is worth. Pure.

An approval is bound to run, sub-task, generation, tool and the digest of the exact arguments; it is good for one call
and for an hour. It is *reserved* by committing the call (`CallCommitted`) before anything is performed, and used up by
that: whatever comes of the call, the same word never lets it be made again. The log is appended to by one process at a
time (lease and head), so two processes can't both reserve it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from agents.tools.contract import EarlierCall, HeldCall, SideEffectClass
from graphs.plan import NodeId
from orchestrator.core.ids import ArtefactId, RequestId, RunId

APPROVAL_TTL_S: Final = 3_600.0
"""How long a person's word on a call is good, in seconds, from when it was given. Long enough for a pause between the
answer and the process that goes on; a word of yesterday is asked for again (000 5.1: bound to the operation)."""

CLOCK_SKEW_S: Final = 5.0
"""By how much the clocks of two processes on one machine may differ, in seconds."""

Word = Literal["approve", "refuse", "happened", "repeat"]
"""What a person said of a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallWord:
    """A person's word on one call."""

    request: RequestId
    run: RunId
    node: NodeId
    generation: int
    tool: str
    arguments_digest: str
    word: Word
    at: str
    """When it was given, ISO 8601."""
    note: str = ""
    used: bool = False
    """Whether a call was committed on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedCall:
    """A call with an effect that was committed, and what came of it."""

    tool: str
    key: str
    """The idempotency key that it was performed with."""
    side_effect: SideEffectClass
    generation: int
    attempt: int
    step: str
    index: int
    arguments: Mapping[str, Any]
    """JSON values, exactly as they were used."""
    arguments_digest: str
    result: ArtefactId | None = None
    """`None`: nobody knows what came of it."""
    failed: bool = False
    """Whether it certainly did nothing."""
    approved: bool = False
    """Whether it was committed on a person's word."""
    happened: bool = False
    """Whether a person said that it happened, of a sub-task that is in the plan no more: there is no result then."""

    @property
    def unsettled(self) -> bool:
        """Whether nobody knows what came of it."""
        return self.result is None and not self.failed and not self.happened

    @property
    def place(self) -> tuple[int, int, str, int]:
        """Where its sub-task made it; the order of a sub-task's calls."""
        return self.generation, self.attempt, self.step, self.index


def earlier_call(call: CommittedCall) -> EarlierCall:
    """Return `call` as the person is told of it who decides on another call of the tool."""
    outcome: Literal["made", "failed", "unknown"] = "made"
    if call.failed:
        outcome = "failed"
    elif call.unsettled:
        outcome = "unknown"
    return EarlierCall(arguments=call.arguments, outcome=outcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedCall:
    """A call that a person refused."""

    node: NodeId
    call: HeldCall


Standing = Literal["good", "refused", "used", "expired", "foreign", "changed", "none"]
"""What a word is worth for a call: only `good` lets it be made.

- `used`: a call was committed on it before.
- `foreign`: it is of another run, sub-task, generation or tool.
- `changed`: the arguments are not those that the person saw.
"""


def standing(
    word: CallWord | None,
    *,
    run: RunId,
    node: NodeId,
    generation: int,
    tool: str,
    arguments_digest: str,
    now: str,
    wanted: Word = "approve",
) -> Standing:
    """Return what `word` is worth for this very call at the time `now`, in ISO 8601.

    Only the word that is `wanted` can be good: that a call of unknown outcome happened, or is to be made again, is no
    approval of a new one. A time that can't be read, or that is before the word's, makes it expired.
    """
    if word is None:
        return "none"
    if (word.run, word.node, word.generation, word.tool) != (run, node, generation, tool):
        return "foreign"
    if word.arguments_digest != arguments_digest:
        return "changed"
    if word.word == "refuse":
        return "refused"
    if word.word != wanted:
        return "none"
    if word.used:
        return "used"
    return "good" if _is_fresh(word.at, now) else "expired"


def _is_fresh(at: str, now: str) -> bool:
    try:
        age = datetime.fromisoformat(now) - datetime.fromisoformat(at)
    except (ValueError, TypeError):
        return False
    # A clock that went back makes an age below 0: how old the word is can't be told.
    return timedelta(seconds=-CLOCK_SKEW_S) <= age <= timedelta(seconds=APPROVAL_TTL_S)


def idempotency_key(run: RunId, node: NodeId, generation: int, arguments_digest: str) -> str:
    """Return the key under which a call with an effect is performed.

    Equal for the same call of the same generation, whichever attempt, path or step makes it: within a generation a call
    with the same tool and arguments has its effect once (ADR 0012). `arguments_digest` covers the tool.
    """
    text = "\n".join((run, node, str(generation), arguments_digest))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
