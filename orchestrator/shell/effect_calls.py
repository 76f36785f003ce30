"""Calls that change something: let by a person, committed before they are made, and never made twice.

held for approval ─► word ─► CallCommitted (in the store) ─► perform ─► CallReturned
                                    │ crash, time-out, deadline, a tool that broke: nobody knows
                                    └─► outcome_of ─► a result | it did not happen: perform, same key
                                                   └─► can't tell: `keyed` once more, then or `never`: ask a person
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from agents.broker import BudgetExhausted, CallHeld
from agents.tools.contract import (
    HeldCall,
    HeldReason,
    ToolCall,
    ToolError,
    ToolOk,
    ToolResult,
)
from agents.tools.gate import Ask
from agents.tools.ports import EffectTool, NotPerformed
from graphs.contract import Lang
from orchestrator.core.approvals import (
    CallWord,
    CommittedCall,
    Standing,
    Word,
    earlier_call,
    idempotency_key,
    standing,
)
from orchestrator.core.events import CallCommitted
from orchestrator.core.ids import RequestId
from orchestrator.shell.call_ledger import CallLedger
from orchestrator.shell.call_time import CallTime, Perform
from orchestrator.shell.effect_texts import happened, no_preview, not_made, refused, with_hint
from orchestrator.shell.ports import AttemptKey

UNKNOWN_AFTER: Final = frozenset({"TIMEOUT", "UNAVAILABLE", "OBSERVATION_UNKNOWN", "TOOL_FAILED"})
"""Errors after which the effect may have happened all the same: no answer in time, none at all, one that can't be read,
a tool that broke (001 4.3, 6.2: a lost answer is no failure). Any other is the tool's word that nothing happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effected:
    """What came of a call with an effect."""

    result: ToolResult
    key: str
    """Its idempotency key, under which the result is final; empty where nothing was begun by this call."""
    performed: bool = True


@dataclass(frozen=True, slots=True)
class EffectCalls:
    """Makes the calls with an effect of one step of one attempt."""

    key: AttemptKey
    step: str
    ledger: CallLedger
    """Of the attempt: of all its steps."""
    lang: Lang
    """Of whoever reads what a call would change."""

    async def make(
        self, tool: EffectTool, call: ToolCall, index: int, digest: str, asked: Ask | None, time: CallTime
    ) -> Effected:
        """Return what came of `call`; `asked` says why a person has to let it.

        Raises `CallHeld` when a person's word is missing, or when nobody knows whether it happened.
        """
        place = self._place(tool, call, index, digest, time)
        async with self.ledger.turn(place.idem):
            before = self.ledger.committed.get(place.idem)
            if before is None or before.failed:
                done = await place.begin(asked)
            else:
                done = await place.go_on(before, asked)
            return self._noted(done)

    async def held_again(
        self, tool: EffectTool, call: ToolCall, index: int, digest: str, time: CallTime
    ) -> CallHeld:
        """Return what lets the attempt rest whose agent goes on proposing a call that a person refused."""
        place = self._place(tool, call, index, digest, time)
        return CallHeld(await place.held("refused_again", None))

    async def settle(
        self, tool: EffectTool, before: CommittedCall, time: CallTime, *, resumed: bool
    ) -> Effected:
        """Return what came of a call that was committed and of which nobody knows what came of it.

        An attempt that is `resumed` goes on from its record: what certainly did not happen is made now, with the same
        arguments and key. Of any other attempt it is left unmade. Raises `CallHeld` when only a person can tell.
        """
        call = ToolCall(tool=before.tool, arguments=before.arguments)
        place = _Place(self, tool, call, before.index, before.arguments_digest, before.key, time)
        return self._noted(await place.settle(resumed=resumed))

    def committed(self, digest: str) -> CommittedCall | None:
        """Return what was committed for the sub-task under the key of the call with this digest."""
        return self.ledger.committed.get(self._idem(digest))

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

    def _noted(self, done: Effected) -> Effected:
        if done.key:
            self.ledger.end(done.key, done.result)
        return done

    def _place(self, tool: EffectTool, call: ToolCall, index: int, digest: str, time: CallTime) -> _Place:
        return _Place(self, tool, call, index, digest, self._idem(digest), time)

    def _idem(self, digest: str) -> str:
        return idempotency_key(self.ledger.run, self.key.node, self.key.generation, digest)


@dataclass(frozen=True, slots=True)
class _Place:
    """One call where it is made."""

    calls: EffectCalls
    tool: EffectTool
    call: ToolCall
    index: int
    digest: str
    idem: str
    time: CallTime

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
        preview = await self._preview(self.time.perform) if drafted else ""
        return await self._committed_and_made(approval, preview)

    async def go_on(self, before: CommittedCall, asked: Ask | None) -> Effected:
        """Make nothing twice: return what came of it, find that out, or ask."""
        if before.result is None:
            return await self.settle(resumed=True)
        if self.tool.spec.compensation is not None:
            outcome = await self._looked_up(self.time.perform)
            if isinstance(outcome, NotPerformed):
                # It was taken back: it has no effect any more, nor has its word.
                return await self.begin(asked)
        kept = await self.calls.ledger.result_of(before)
        return Effected(result=with_hint(kept, "made_before"), key="", performed=False)

    async def settle(self, *, resumed: bool) -> Effected:
        """Find out what came of a call that was committed, or ask."""
        try:
            match await self._looked_up(self.time.perform):
                case ToolOk() | ToolError() as found:
                    return Effected(result=found, key=self.idem, performed=False)
                case NotPerformed() if resumed:
                    return await self._made()
                case NotPerformed():
                    return Effected(result=not_made(self.call.tool), key=self.idem, performed=False)
                case None:
                    return await self._unknown(again=resumed)
        except BudgetExhausted:
            return await self._cut_off()

    async def _unknown(self, *, again: bool) -> Effected:
        """Nobody but a person can say whether it happened; one that takes keys may be asked `again` with the same."""
        word = self._word()
        if self._stands("happened") == "good":
            return Effected(result=happened(self.call.tool), key=self.idem, performed=False)
        if word is not None and self._stands("repeat") == "good":
            return await self._committed_and_made(word.request)
        if again and self.tool.spec.repeat != "never":
            return await self._made()
        raise CallHeld(await self.held("outcome_unknown", None))

    async def _committed_and_made(self, approval: RequestId | None, preview: str = "") -> Effected:
        committed = await self.calls.ledger.begin(
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
        """Perform it. What leaves the outcome open is looked up at once, and else asked about.

        Also where the deadline of the attempt comes meanwhile, at whatever point behind the commit: the attempt then
        rests for a person instead of ending, or nobody would ever ask what came of the call.
        """
        try:
            return await self._performed(again=self.tool.spec.repeat != "never")
        except BudgetExhausted:
            return await self._cut_off()

    async def _performed(self, *, again: bool) -> Effected:
        result = await self.time.perform(lambda: self.tool.perform(self.call.arguments, self.idem))
        if isinstance(result, ToolOk) or result.error_type not in UNKNOWN_AFTER:
            return Effected(result=result, key=self.idem)
        match await self._looked_up(self.time.perform):
            case ToolOk() | ToolError() as found:
                return Effected(result=found, key=self.idem)
            case NotPerformed():
                return Effected(result=result, key=self.idem)
            case None if again:
                return await self._performed(again=False)
            case None:
                raise CallHeld(await self.held("outcome_unknown", None))

    async def _cut_off(self) -> Effected:
        """What came of a call that was under way at the deadline: the attempt's clock holds for nothing here."""
        if self._stands("happened") == "good":
            return Effected(result=happened(self.call.tool), key=self.idem, performed=False)
        perform = self.time.last_look()
        match await self._looked_up(perform):
            case ToolOk() | ToolError() as found:
                return Effected(result=found, key=self.idem)
            case NotPerformed():
                return Effected(result=not_made(self.call.tool), key=self.idem)
            case None:
                raise CallHeld(self._held("outcome_unknown", None, await self._preview(perform)))

    async def _looked_up(self, perform: Perform) -> ToolResult | NotPerformed | None:
        """What the tool knows of an earlier `perform`; one that breaks over it knows nothing."""
        found: list[NotPerformed | None] = []

        async def look() -> ToolResult:
            outcome = await self.tool.outcome_of(self.call.arguments, self.idem)
            if isinstance(outcome, ToolOk | ToolError):
                return outcome
            found.append(outcome)
            return ToolError(error_type="OBSERVATION_UNKNOWN", message="", retryable=False)

        result = await perform(look)
        if found:
            return found[0]
        # `perform` turns what breaks into an error of these kinds: that says nothing of the call itself.
        lost = isinstance(result, ToolError) and result.error_type in UNKNOWN_AFTER
        return None if lost else result

    async def held(self, why: HeldReason, asked: Ask | None) -> HeldCall:
        """Return the call with everything that a person's word on it is bound to."""
        return self._held(why, asked, await self._preview(self.time.perform))

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
            earlier=tuple(map(earlier_call, self._before())),
            origin=self.call.origin,
            taint=self.call.taint,
        )

    async def _preview(self, perform: Perform) -> str:
        """What it would change; a preview that breaks says so and lets nothing through."""
        shown: list[str] = []

        async def look() -> ToolResult:
            shown.append(await self.tool.preview(self.call.arguments, self.calls.lang))
            return ToolOk(summary="", data=None, source=self.call.tool)

        result = await perform(look)
        if shown:
            return shown[0]
        return no_preview(result.message if isinstance(result, ToolError) else "", self.calls.lang)

    def _stands(self, wanted: Word = "approve") -> Standing:
        return self.calls.stands(self.call.tool, self.digest, wanted)

    def _before(self) -> list[CommittedCall]:
        """The calls of the tool by sub-tasks that the plan has no more, then the others of this one, oldest first."""
        mine = sorted(self.calls.ledger.committed.values(), key=lambda one: one.place)
        known = (*self.calls.ledger.dropped, *mine)
        return [one for one in known if one.tool == self.call.tool and one.key != self.idem]

    def _word(self) -> CallWord | None:
        return self.calls.ledger.words.get(self.digest)
