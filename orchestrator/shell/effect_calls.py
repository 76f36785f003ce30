"""Calls that change something: let by a person, committed before they are made, and never made twice.

held for approval ─► word ─► CallCommitted (in the store) ─► perform ─► CallReturned
                                    │ crash, time-out, a tool that broke: nobody knows
                                    └─► outcome_of ─► a result | it did not happen: perform, same key
                                                   └─► can't tell: `keyed` once more, `never`: ask a person
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from pydantic import TypeAdapter

from agents.broker import BudgetExhausted, CallHeld
from agents.tools.contract import (
    EarlierCall,
    HeldCall,
    HeldReason,
    ToolCall,
    ToolError,
    ToolOk,
    ToolResult,
    ToolSpec,
)
from agents.tools.gate import Ask
from agents.tools.ports import EffectTool, NotPerformed, Tool
from graphs.contract import Lang
from orchestrator.core.approvals import CallWord, CommittedCall, Standing, Word, idempotency_key, standing
from orchestrator.core.events import CallCommitted
from orchestrator.core.ids import ArtefactId, RequestId
from orchestrator.shell.call_ledger import CallLedger
from orchestrator.shell.ports import AttemptKey

UNKNOWN_AFTER: Final = frozenset({"TIMEOUT", "UNAVAILABLE", "OBSERVATION_UNKNOWN", "TOOL_FAILED"})
"""Errors after which the effect may have happened all the same: no answer in time, none at all, one that can't be read,
a tool that broke (001 4.3, 6.2: a lost answer is no failure). Any other is the tool's word that nothing happened."""

TOOL_RESULT: TypeAdapter[ToolResult] = TypeAdapter(ToolResult)
"""(De)serialises results at the borders."""

_HERE: Final = ArtefactId("here")
"""Stands for a result that is in memory: it has no artefact yet that could be named."""
LAST_LOOK_S: Final = 1.0
"""For asking a tool what came of a call that the deadline of its attempt cut off, in seconds: less than an attempt gets
to hand over what it has."""

Perform = Callable[[Callable[[], Awaitable[ToolResult]]], Awaitable[ToolResult]]
"""Performs what it is given within the time that is left, and returns whatever breaks as a `ToolError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effected:
    """What came of a call with an effect."""

    result: ToolResult
    key: str
    """Its idempotency key, under which the result is final; empty where nothing was begun, or nobody knows."""
    performed: bool = True


@dataclass(frozen=True, slots=True)
class EffectCalls:
    """Makes the calls with an effect of one step of one attempt."""

    key: AttemptKey
    step: str
    ledger: CallLedger
    lang: Lang
    """Of whoever reads what a call would change."""

    async def make(
        self, tool: EffectTool, call: ToolCall, index: int, digest: str, asked: Ask | None, perform: Perform
    ) -> Effected:
        """Return what came of `call`; `asked` says why a person has to let it.

        Raises `CallHeld` when a person's word is missing, or when nobody knows whether it happened.
        """
        place = self._place(tool, call, index, digest, perform)
        mine, result = self.ledger.made.get(place.idem, (None, None))
        before = mine or self.ledger.committed.get(place.idem)
        if before is None or before.failed:
            done = await place.begin(asked)
        else:
            done = await place.go_on(before, asked, result)
        mine, _ = self.ledger.made.get(place.idem, (None, None))
        if mine is not None and done.key:
            self.ledger.made[place.idem] = (
                replace(mine, result=_HERE, failed=not done.result.ok),
                done.result,
            )
        return done

    async def held_again(
        self, tool: EffectTool, call: ToolCall, index: int, digest: str, perform: Perform
    ) -> CallHeld:
        """Return what lets the attempt rest whose agent goes on proposing a call that a person refused."""
        place = self._place(tool, call, index, digest, perform)
        return CallHeld(await place.held("refused_again", None))

    async def settle(
        self, tool: EffectTool, before: CommittedCall, perform: Perform, *, resumed: bool
    ) -> Effected:
        """Return what came of a call that was committed and of which nobody knows what came of it.

        An attempt that is `resumed` goes on from its record: what certainly did not happen is made now, with the same
        arguments and key. Of any other attempt it is left unmade. Raises `CallHeld` when only a person can tell.
        """
        call = ToolCall(tool=before.tool, arguments=before.arguments)
        place = _Place(self, tool, call, before.index, before.arguments_digest, before.key, perform)
        return await place.settle(resumed=resumed)

    def stands(self, tool: str, digest: str, wanted: Word = "approve") -> Standing:
        """Return what the word of a person on this call is worth, now."""
        return standing(
            self.ledger.words.get(digest),
            run=self.ledger.run,
            node=self.key.node,
            generation=self.key.generation,
            tool=tool,
            arguments_digest=digest,
            now=self.ledger.now(),
            wanted=wanted,
        )

    def _place(self, tool: EffectTool, call: ToolCall, index: int, digest: str, perform: Perform) -> _Place:
        idem = idempotency_key(self.ledger.run, self.key.node, self.key.generation, digest)
        return _Place(self, tool, call, index, digest, idem, perform)


@dataclass(frozen=True, slots=True)
class _Place:
    """One call where it is made."""

    calls: EffectCalls
    tool: EffectTool
    call: ToolCall
    index: int
    digest: str
    idem: str
    perform: Perform

    async def begin(self, asked: Ask | None) -> Effected:
        """Make a call that certainly had no effect yet."""
        approval: RequestId | None = None
        if asked is not None:
            word = self._word()
            match self._stands():
                case "good":
                    assert word is not None, "only a word is good"
                    approval = word.request
                case "refused":
                    assert word is not None, "only a word refuses"
                    return Effected(result=refused(self.call.tool, word.note), key="", performed=False)
                case _:
                    raise CallHeld(await self.held("approval_needed", asked))
        drafted = asked is None and self.tool.spec.side_effect == "draft"
        return await self._committed_and_made(approval, await self._preview() if drafted else "")

    async def go_on(
        self, before: CommittedCall, asked: Ask | None, result: ToolResult | None = None
    ) -> Effected:
        """Make nothing twice: return what came of it (`result`, where that was here), find that out, or ask."""
        if before.result is not None:
            if self.tool.spec.compensation is not None and isinstance(await self._looked_up(), NotPerformed):
                return await self.begin(
                    asked
                )  # it was taken back: it has no effect any more, nor has its word
            kept = result or TOOL_RESULT.validate_python(await self.calls.ledger.load(before.result))
            return Effected(result=with_hint(kept, MADE_BEFORE), key="", performed=False)
        found = await self._looked_up()
        match found:
            case NotPerformed():
                return await self._made()
            case ToolOk() | ToolError():
                return Effected(result=found, key=self.idem, performed=False)
            case None:
                return await self._unknown()

    async def settle(self, *, resumed: bool) -> Effected:
        """Find out what came of a call that was committed, or ask."""
        found = await self._looked_up()
        match found:
            case ToolOk() | ToolError():
                return Effected(result=found, key=self.idem, performed=False)
            case NotPerformed():
                return (
                    await self._made()
                    if resumed
                    else Effected(result=not_made(self.call.tool), key=self.idem, performed=False)
                )
            case None if resumed:
                return await self._unknown()
            case None:
                return await self._told()

    async def _unknown(self) -> Effected:
        """Nobody knows whether it happened; a tool that takes keys is asked again with the same one."""
        if self.tool.spec.repeat != "never":
            return await self._made()
        return await self._told()

    async def _told(self) -> Effected:
        """Nobody but a person can say whether it happened."""
        word = self._word()
        if word is not None and self._stands("happened") == "good":
            said = ToolOk(summary="a person says that it happened", data=None, source=self.call.tool)
            return Effected(result=said, key=self.idem, performed=False)
        if word is not None and self._stands("repeat") == "good":
            return await self._committed_and_made(word.request)
        raise CallHeld(await self.held("outcome_unknown", None))

    async def _committed_and_made(self, approval: RequestId | None, preview: str = "") -> Effected:
        mine = CommittedCall(
            tool=self.call.tool,
            key=self.idem,
            side_effect=self.tool.spec.side_effect,
            generation=self.calls.key.generation,
            attempt=self.calls.key.attempt,
            step=self.calls.step,
            index=self.index,
            arguments=dict(self.call.arguments),
            arguments_digest=self.digest,
        )
        self.calls.ledger.made[self.idem] = (mine, None)
        committed = await self.calls.ledger.commit(
            CallCommitted(
                node=self.calls.key.node,
                generation=self.calls.key.generation,
                attempt=self.calls.key.attempt,
                step=self.calls.step,
                index=self.index,
                tool=self.call.tool,
                arguments=dict(self.call.arguments),
                arguments_digest=self.digest,
                side_effect=self.tool.spec.side_effect,
                key=self.idem,
                approval=approval,
                call_id=self.call.id,
                preview=preview,
            )
        )
        if not committed:
            # The attempt is obsolete and about to be stopped: whatever it is told, it makes nothing of it.
            raise asyncio.CancelledError
        return await self._made()

    async def _made(self) -> Effected:
        """Perform it. What leaves the outcome open is looked up at once.

        Also where the deadline of the attempt comes meanwhile: the attempt then rests for a person instead of ending,
        or nobody would ever ask what came of the call.
        """
        try:
            result = await self.perform(lambda: self.tool.perform(self.call.arguments, self.idem))
        except BudgetExhausted:
            return await self._cut_off()
        if isinstance(result, ToolOk) or result.error_type not in UNKNOWN_AFTER:
            return Effected(result=result, key=self.idem)
        match await self._looked_up():
            case ToolOk() | ToolError() as found:
                return Effected(result=found, key=self.idem)
            case NotPerformed():
                return Effected(result=result, key=self.idem)
            case None if self.tool.spec.repeat != "never":
                again = await self.perform(lambda: self.tool.perform(self.call.arguments, self.idem))
                is_known = isinstance(again, ToolOk) or again.error_type not in UNKNOWN_AFTER
                return Effected(result=again, key=self.idem if is_known else "")
            case None:
                raise CallHeld(await self.held("outcome_unknown", None))

    async def _cut_off(self) -> Effected:
        """What came of a call that was under way at the deadline."""
        outcome: ToolResult | NotPerformed | None = None
        with suppress(Exception):
            async with asyncio.timeout(LAST_LOOK_S):
                outcome = await self.tool.outcome_of(self.call.arguments, self.idem)
        if isinstance(outcome, ToolOk | ToolError):
            return Effected(result=outcome, key=self.idem)
        if isinstance(outcome, NotPerformed):
            return Effected(result=not_made(self.call.tool), key=self.idem)
        raise CallHeld(self._held("outcome_unknown", None, ""))

    async def _looked_up(self) -> ToolResult | NotPerformed | None:
        """What the tool knows of an earlier `perform`; one that breaks over it knows nothing."""
        found: list[NotPerformed | None] = []

        async def look() -> ToolResult:
            outcome = await self.tool.outcome_of(self.call.arguments, self.idem)
            if isinstance(outcome, ToolOk | ToolError):
                return outcome
            found.append(outcome)
            return ToolError(error_type="OBSERVATION_UNKNOWN", message="", retryable=False)

        result = await self.perform(look)
        if found:
            return found[0]
        # `perform` turns what breaks into an error of these kinds: that says nothing of the call itself.
        lost = isinstance(result, ToolError) and result.error_type in UNKNOWN_AFTER
        return None if lost else result

    async def held(self, why: HeldReason, asked: Ask | None) -> HeldCall:
        """Return the call with everything that a person's word on it is bound to."""
        return self._held(why, asked, await self._preview())

    def _held(self, why: HeldReason, asked: Ask | None, preview: str) -> HeldCall:
        return HeldCall(
            why=why,
            step=self.calls.step,
            index=self.index,
            tool=self.call.tool,
            arguments=dict(self.call.arguments),
            arguments_digest=self.digest,
            side_effect=self.tool.spec.side_effect,
            tier=asked.tier if asked is not None else self.tool.spec.side_effect,
            reasons=asked.reasons if asked is not None else (),
            preview=preview,
            earlier=tuple(map(_earlier, self._before())),
            origin=self.call.origin,
            taint=self.call.taint,
        )

    async def _preview(self) -> str:
        """What it would change; a preview that breaks says so and lets nothing through."""
        shown: list[str] = []

        async def look() -> ToolResult:
            shown.append(await self.tool.preview(self.call.arguments, self.calls.lang))
            return ToolOk(summary="", data=None, source=self.call.tool)

        result = await self.perform(look)
        if shown:
            return shown[0]
        why = result.message if isinstance(result, ToolError) else ""
        return {"en": f"(no preview: {why})", "zh": f"（无法预览：{why}）"}[self.calls.lang]

    def _stands(self, wanted: Word = "approve") -> Standing:
        return self.calls.stands(self.call.tool, self.digest, wanted)

    def _before(self) -> list[CommittedCall]:
        """The other calls of the tool that the sub-task committed, oldest first."""
        ledger = self.calls.ledger
        made = {key: one for key, (one, _) in ledger.made.items()}
        known = {**dict(ledger.committed.items()), **made}
        others = [one for one in known.values() if one.tool == self.call.tool and one.key != self.idem]
        return sorted(others, key=lambda one: (one.generation, one.attempt, one.step, one.index))

    def _word(self) -> CallWord | None:
        return self.calls.ledger.words.get(self.digest)


@dataclass(frozen=True, slots=True)
class ReadAsEffect:
    """A reading that a person has to let: each word is good for one of them, and it may be repeated safely."""

    tool: Tool

    @property
    def spec(self) -> ToolSpec:
        """Return the contract of the reading."""
        return self.tool.spec

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Read."""
        return await self.tool.call(arguments)

    async def preview(self, arguments: Mapping[str, Any], lang: Lang) -> str:
        """Return nothing: it changes nothing."""
        del arguments, lang
        return ""

    async def perform(self, arguments: Mapping[str, Any], key: str) -> ToolResult:
        """Read."""
        del key
        return await self.tool.call(arguments)

    async def outcome_of(self, arguments: Mapping[str, Any], key: str) -> ToolResult | NotPerformed | None:
        """Say that it did not happen: what was read before a crash is lost."""
        del arguments, key
        return NotPerformed()


class Gone:
    """Stands for a tool that is not there any more: it can neither be looked up nor asked again."""

    def __init__(self, before: CommittedCall) -> None:
        """Return the stand-in for the tool of `before`."""
        self.spec = ToolSpec(
            name=before.tool,
            purpose="",
            when_to_use="",
            when_not_to_use="",
            input_schema={},
            output_schema={},
            scope="",
            timeout_s=LAST_LOOK_S,
            side_effect=before.side_effect,
            permission="",
            error_codes=(),
            repeat="never",
        )

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Say that it is gone."""
        return await self.perform(arguments, "")

    async def preview(self, arguments: Mapping[str, Any], lang: Lang) -> str:
        """Return nothing: nobody knows any more what it would change."""
        del arguments, lang
        return ""

    async def perform(self, arguments: Mapping[str, Any], key: str) -> ToolResult:
        """Say that it is gone."""
        del arguments, key
        message = f"tool {self.spec.name!r} is not there any more"
        return ToolError(error_type="NOT_PERFORMED", message=message, retryable=False)

    async def outcome_of(self, arguments: Mapping[str, Any], key: str) -> ToolResult | NotPerformed | None:
        """Say that it can't be told."""
        del arguments, key
        return None


MADE_BEFORE: Final = "made before, with this result; it is not made again"


def with_hint(result: ToolResult, hint: str) -> ToolResult:
    """Return `result` with a hint to the agent."""
    if isinstance(result, ToolOk):
        return replace(result, summary=f"{result.summary} ({hint})")
    return replace(result, message=f"{result.message} ({hint})")


def _earlier(before: CommittedCall) -> EarlierCall:
    outcome: Literal["made", "failed", "unknown"] = "made"
    if before.failed:
        outcome = "failed"
    elif before.unsettled:
        outcome = "unknown"
    return EarlierCall(arguments=before.arguments, outcome=outcome)


def not_made(tool: str) -> ToolError:
    """Return what is recorded of a call that was committed and certainly did not happen."""
    message = f"the call of {tool!r} was interrupted before it was made; nothing was changed"
    return ToolError(error_type="NOT_PERFORMED", message=message, retryable=False)


def refused(tool: str, note: str) -> ToolError:
    """Return what the agent is told of a call that a person refused."""
    said = f": {note}" if note else ""
    message = f"a person refused this call of {tool!r}{said}; do not propose it again, go on without it"
    return ToolError(error_type="ACTION_DENIED", message=message, retryable=False)
