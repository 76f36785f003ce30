"""The parts that a prompt is assembled of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from agents.evidence import Origin, Taint
from agents.models.contract import Message
from agents.tools.contract import ToolCall

PartKind = Literal["rules", "task", "state", "summary", "memory", "excerpt", "pace"]
"""`rules`: what the system tells the model; `task`: the contract of the sub-task; `state`: what is done and open (the
working state, the plan); `summary`: of messages that are not shown any more; `memory`: an entry of the long-term
memory; `excerpt`: material, one piece each; `pace`: what changes from step to step, such as how many are left."""

INSTRUCTIONS: Final[frozenset[PartKind]] = frozenset({"rules", "task", "pace"})
"""Parts that are never left out. All others are data, and shown as such whoever wrote them."""


class UntrustedInstruction(ValueError):
    """Raised where untrusted text would become an instruction to a model; a bug of whoever made the part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A piece of text for a prompt."""

    kind: PartKind
    text: str
    key: str = ""
    """What it is named by, such as `E3`; unique among the parts of its kind. Empty for a part that stands alone."""
    where: str = ""
    """Where its text stands: `path:line`, a run and its date."""
    origin: Origin = "computed"
    taint: Taint = "untrusted"
    """`trusted`: the user's own words or our code's. Only such text becomes rules or a task."""
    weight: float = 1.0
    """Of an excerpt or an entry of the memory among its kind: the lowest is left out first."""

    def __post_init__(self) -> None:
        """Raise `UntrustedInstruction` for rules or a task of untrusted text."""
        if self.kind in INSTRUCTIONS and self.taint != "trusted":
            raise UntrustedInstruction(
                f"part {self.kind!r} is untrusted text ({self.origin!r}); give it as an excerpt or as the state"
            )


class BrokenHistory(ValueError):
    """Raised for messages that no provider would take: a result without its call, a call without its result."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """Messages that stay together: one of the user's, or one of the model's with the results of its calls."""

    messages: tuple[Message, ...]
    first: int = 1
    """Place of its first message in the history, from 1."""

    @property
    def last(self) -> int:
        """Place of its last message in the history."""
        return self.first + len(self.messages) - 1


@dataclass(slots=True)
class _Open:
    """The exchange that is being read."""

    messages: list[Message]
    first: int
    waiting: dict[str, ToolCall] = field(default_factory=dict)


def exchanges_of(history: Sequence[Message]) -> tuple[Exchange, ...]:
    """Return the messages of `history` as exchanges, in order.

    Raises `BrokenHistory` for a result whose call is not in the message of the model before it, for a call without a
    result, for two calls of one id in a message, and for a message of the system: rules are a part.
    """
    found: list[Exchange] = []
    current: _Open | None = None
    for place, message in enumerate(history, 1):
        if message.role == "system":
            raise BrokenHistory(f"message {place} is a system message; rules are given as a part, once")
        if message.role == "tool":
            if current is None or current.waiting.pop(message.call_id, None) is None:
                raise BrokenHistory(
                    f"message {place} is the result of call {message.call_id!r}, which nobody made"
                )
            current.messages.append(message)
            continue
        found.extend(_closed(current))
        waiting = {call.id: call for call in message.calls}
        if len(waiting) != len(message.calls):
            raise BrokenHistory(f"message {place} holds two calls of one id: {[c.id for c in message.calls]}")
        current = _Open(messages=[message], first=place, waiting=waiting)
    found.extend(_closed(current))
    return tuple(found)


def _closed(current: _Open | None) -> tuple[Exchange, ...]:
    if current is None:
        return ()
    if current.waiting:
        raise BrokenHistory(
            f"message {current.first} calls {sorted(current.waiting)} without a result; add what came of each call"
        )
    return (Exchange(tuple(current.messages), current.first),)
