"""Where the steps of an attempt find what its calls came to before, and where they leave what they come to now."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pydantic import TypeAdapter
from rpds import HashTrieMap

from agents.tools.contract import ToolResult
from orchestrator.core.approvals import CallWord, CommittedCall
from orchestrator.core.events import CallCommitted, CallReturned, CallStreamed
from orchestrator.core.ids import ArtefactId, RunId

TOOL_RESULT: TypeAdapter[ToolResult] = TypeAdapter(ToolResult)
"""(De)serialises results at the borders."""

_HERE: Final = ArtefactId("here")
"""Stands for a result that is in memory: it has no artefact yet that could be named."""


@dataclass(slots=True, kw_only=True)
class CallLedger:
    """The log of a run as one attempt sees it: as of its start here, and with everything that it adds itself.

    All steps of an attempt share one, as they share one account: what a step committed, which word it used up and what
    a call came to holds for the next step too, long before the state of the run is asked again.
    """

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
    obsolete: then the call must not be performed. Called by `begin` alone."""
    now: Callable[[], str]
    """The time of day, ISO 8601."""
    words: HashTrieMap[str, CallWord] = field(default_factory=HashTrieMap)
    """Persons' words on calls of the sub-task, by digest of tool and arguments; those of this attempt's calls used."""
    committed: HashTrieMap[str, CommittedCall] = field(default_factory=HashTrieMap)
    """Calls with an effect that were committed for the sub-task, by idempotency key; those of this attempt too."""
    dropped: tuple[CommittedCall, ...] = ()
    """Calls with an effect of sub-tasks that an amendment took out of the plan, oldest first: for whoever decides."""
    settled: dict[str, ToolResult] = field(default_factory=dict)
    """What turned out, at the beginning of this attempt, of its calls that a crash had left open; by `call_key`."""
    is_settled: bool = False
    """Whether that was looked into: once per attempt, before its first step does anything."""
    _here: dict[str, ToolResult] = field(default_factory=dict)
    """What calls with an effect came to in this attempt, by idempotency key."""
    _turns: dict[str, asyncio.Lock] = field(default_factory=dict)

    def turn(self, key: str) -> asyncio.Lock:
        """Return what equal calls with an effect wait for: the second must see what came of the first."""
        return self._turns.setdefault(key, asyncio.Lock())

    async def begin(self, body: CallCommitted) -> bool:
        """Commit a call and use up the word that lets it be made; return once that is in the store, as `commit`.

        From now on, before anything is awaited, the word is no good for another call of this attempt.
        """
        word = self.words.get(body.arguments_digest)
        if word is not None and body.approval == word.request:
            self.words = self.words.insert(body.arguments_digest, replace(word, used=True))
        call = CommittedCall(
            tool=body.tool,
            key=body.key,
            side_effect=body.side_effect,
            generation=body.generation,
            attempt=body.attempt,
            step=body.step,
            index=body.index,
            arguments=body.arguments,
            arguments_digest=body.arguments_digest,
            approved=body.approval is not None,
        )
        self.committed = self.committed.insert(body.key, call)
        self._here.pop(body.key, None)
        return await self.commit(body)

    def end(self, key: str, result: ToolResult) -> None:
        """Note what came for good of the call that was committed under `key`."""
        call = self.committed[key]
        self._here[key] = result
        self.committed = self.committed.insert(key, replace(call, result=_HERE, failed=not result.ok))
        word = self.words.get(call.arguments_digest)
        if word is not None and word.word == "happened":
            # It said what came of this call; of another one it says nothing.
            self.words = self.words.insert(call.arguments_digest, replace(word, used=True))

    async def result_of(self, call: CommittedCall) -> ToolResult:
        """Return what came of a call; raises `LookupError` for one that is unsettled."""
        if call.key in self._here:
            return self._here[call.key]
        if call.result is None:
            raise LookupError(f"nobody knows what came of the call of {call.tool!r} under {call.key!r}")
        return TOOL_RESULT.validate_python(await self.load(call.result))
