"""Where a broker finds what an attempt's calls came to before, and where it leaves what they come to now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from rpds import HashTrieMap

from agents.tools.contract import ToolResult
from orchestrator.core.approvals import CallWord, CommittedCall
from orchestrator.core.events import CallCommitted, CallReturned, CallStreamed
from orchestrator.core.ids import ArtefactId, RunId


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLedger:
    """The log of a run as one attempt's broker sees it."""

    run: RunId
    recorded: HashTrieMap[str, ArtefactId]
    """Results of this attempt from before a crash or a rest, by `call_key`."""
    load: Callable[[ArtefactId], Awaitable[Any]]
    """Returns an artefact's JSON value."""
    keep: Callable[[Any], ArtefactId]
    """Keeps a JSON value and returns its id."""
    keep_bytes: Callable[[bytes], ArtefactId]
    """Keeps bytes and returns their id."""
    allow_whole: Callable[[str], None]
    """Lets an agent read on in a large result that was recorded before."""
    emit: Callable[[CallReturned | CallStreamed], None]
    """Hands an event over to be recorded."""
    commit: Callable[[CallCommitted], Awaitable[bool]]
    """Records the event and returns once it is in the store; `False`, and nothing recorded, when the attempt has become
    obsolete: then the call must not be performed."""
    now: Callable[[], str]
    """The time of day, ISO 8601."""
    words: HashTrieMap[str, CallWord] = field(default_factory=HashTrieMap)
    """Persons' words on calls of the sub-task, by digest of tool and arguments."""
    settled: dict[str, ToolResult] = field(default_factory=dict)
    """What turned out, at the beginning of this attempt, of its calls that a crash had left open; by `call_key`."""
    made: dict[str, tuple[CommittedCall, ToolResult | None]] = field(default_factory=dict)
    """Calls with an effect that this attempt committed since it was started here, by idempotency key, each with what
    came of it."""
    committed: HashTrieMap[str, CommittedCall] = field(default_factory=HashTrieMap)
    """Calls with an effect that were committed for the sub-task, by idempotency key."""
