"""The broker of one attempt: it validates, authorises, pays, performs, records and memoises every call.

`execute(a) <=> schema valid and authorised and within budget and policy ok` (architecture 4): a worker, a model or a
document proposes; nothing they say gets past a check here. A resumed attempt makes the same calls in the same order
and receives the recorded results. What a call may do is for `agents.tools.gate` to say; how one with an effect is made
is in `orchestrator.shell.effect_calls`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, assert_never

from pydantic import TypeAdapter

from agents.broker import BudgetExhausted
from agents.models.contract import ModelError, ModelReply, ModelRequest
from agents.spec import AgentSpec
from agents.tools.contract import ToolCall, ToolError, ToolOk, ToolResult, ToolSpec
from agents.tools.gate import Ask, Deny, Mock, Pass
from agents.tools.ports import EffectTool, Tool, VersionedTool
from agents.tools.texts.calls import OUTCOMES, REFUSALS
from agents.tools.texts.contract import say
from graphs.contract import Lang, Limits
from orchestrator.core.approvals import CommittedCall, Standing
from orchestrator.core.events import CallReturned
from orchestrator.core.ids import ArtefactId
from orchestrator.core.proposal import digest_of
from orchestrator.core.state import MODEL_CALL, call_key
from orchestrator.shell.call_gate import CallGate
from orchestrator.shell.call_ledger import TOOL_RESULT, CallLedger
from orchestrator.shell.call_time import CallTime
from orchestrator.shell.effect_calls import EffectCalls, Effected
from orchestrator.shell.effect_stand_ins import Gone, ReadAsEffect, settles
from orchestrator.shell.effect_texts import with_hint
from orchestrator.shell.model_calls import ModelCalls, StreamedParts
from orchestrator.shell.ports import AttemptKey
from orchestrator.shell.result_cache import ResultCache
from orchestrator.shell.spending import Spending, input_tokens

IDENTICAL_CALLS_STOP: Final = 3
"""The identical call is answered with a hint at the second time and stops the attempt at the third (003 2.4)."""

_RECORDED: Final = ArtefactId("")
"""Stands for a result that is in the log already."""
_MODEL_REPLY: TypeAdapter[ModelReply] = TypeAdapter(ModelReply)
_MODEL_REQUEST: TypeAdapter[ModelRequest] = TypeAdapter(ModelRequest)


class RecordingBroker:
    """The broker of one step (a stage and path) of one attempt; implements `agents.broker.Broker`.

    An attempt has at most three steps (path 1, path 2, and one more under the suppression guard). Every limit is of the
    attempt, so all of them pay from one account and write in one ledger: what one step fetched is free for the next,
    and what it changed is not changed again. Identical calls are counted per step: each is a loop of its own.
    """

    def __init__(
        self,
        *,
        key: AttemptKey,
        step: str,
        agent: AgentSpec,
        gate: CallGate,
        tools: Mapping[str, Tool],
        models: ModelCalls,
        limits: Limits,
        ledger: CallLedger,
        spending: Spending,
        cache: ResultCache,
        lang: Lang,
    ) -> None:
        self._key = key
        self._step = step
        self._agent = agent
        self._gate = gate
        self._tools = tools
        self._models = models
        self._limits = limits
        self._ledger = ledger
        self._spending = spending
        self._cache = cache
        self._effects = EffectCalls(key, step, ledger, lang)
        self._index = 0
        self._seen: Counter[str] = Counter()

    async def call_tool(self, call: ToolCall) -> ToolResult:
        """Validate, authorise, pay, perform and record `call`.

        Raises `BudgetExhausted` before performing it when a limit is reached, or at the third identical call; and
        while it is performed, when the deadline of the attempt comes. Raises `CallHeld`, with nothing recorded, for a
        call that waits for a person's word.
        """
        try:
            digest = digest_of({"tool": call.tool, "arguments": call.arguments})
        except (TypeError, ValueError):
            # Nothing to record or to recognise again: it has no form as JSON.
            self._next_index()
            return _denied("DECISION_INVALID", say(REFUSALS, "no_json", tool=repr(call.tool)))
        version = self._version(call)
        # The same question about something that has changed since is another one (000 7.4).
        same = digest if version is None else f"{digest}@{version}"
        known = None if self._can_be_undone(call) else self._spending.known.get(same)
        # What another step was told is free; a failure that may have passed is no answer to keep.
        fetched = known if not self._seen[same] and known is not None and not _may_pass(known) else None
        index = self._next_index(free=fetched is not None)
        self._seen[same] += 1
        place = call_key(self._step, index, digest)
        recorded, settled = self._ledger.recorded.get(place), self._ledger.settled.get(place)
        # Of a call that was let be made the record is what counts, whatever the word on it is worth by now.
        is_new = recorded is None and settled is None
        stands = self._effects.stands(call.tool, digest) if is_new and self._seen[same] > 1 else "none"
        # A word that nobody used yet lets it be made, or is asked for again where it is too old.
        let = stands in ("good", "expired")
        if is_new and not let and self._seen[same] >= IDENTICAL_CALLS_STOP:
            raise await self._repeated(call, index, digest, self._seen[same], stands)
        before = self._spending.now()
        if fetched is None:
            # Before anything is awaited: calls at the same time pay from one account.
            self._spending.tool_calls += 1
        if recorded is not None:
            result = TOOL_RESULT.validate_python(await self._ledger.load(recorded))
            if isinstance(result, ToolOk) and result.whole is not None:
                self._ledger.allow_whole(result.whole)
            done = Effected(result=result, key="", performed=False)
        elif settled is not None:
            done = Effected(result=settled, key="", performed=False)
            recorded = _RECORDED
        elif fetched is not None:
            done = Effected(result=fetched, key="", performed=False)
        elif self._seen[same] > 1 and not let and known is not None and not _may_pass(known):
            done = Effected(result=with_hint(known, "repeated"), key="", performed=False)
        else:
            done = await self._judged(call, index, digest, version)
        self._gate.learn(done.result)
        if fetched is None:
            self._spending.known[same] = done.result
        if recorded is None:
            self._record_tool(call, self._place(index), digest, done, self._spending.ms_since(before))
        return done.result

    async def settle(self) -> None:
        """Find out what came of the sub-task's calls with an effect that something cut off, before any work is done.

        Whatever the worker goes on to propose: an effect that may have happened is never forgotten. Raises `CallHeld`
        where only a person can tell. Once per attempt: in its later steps there is nothing left to find out.
        """
        if self._ledger.is_settled:
            return
        self._ledger.is_settled = True
        for before in sorted(
            self._ledger.committed.values(), key=lambda one: (one.generation, one.attempt, one.index)
        ):
            if before.unsettled:
                await self._settle(before)

    async def _settle(self, before: CommittedCall) -> None:
        resumed = (before.generation, before.attempt) == (self._key.generation, self._key.attempt)
        effect = settles(before, self._tools.get(before.tool))
        started = self._spending.now()
        done = await EffectCalls(self._key, before.step, self._ledger, self._effects.lang).settle(
            effect, before, self._time_of(effect.spec), resumed=resumed
        )
        call = ToolCall(tool=before.tool, arguments=before.arguments)
        place = {"node": self._key.node, "generation": before.generation, "attempt": before.attempt}
        where = {**place, "step": before.step, "index": before.index}
        self._record_tool(call, where, before.arguments_digest, done, self._spending.ms_since(started))
        if resumed:
            self._ledger.settled[call_key(before.step, before.index, before.arguments_digest)] = done.result

    async def call_model(self, request: ModelRequest) -> ModelReply:
        """Pay, perform and record `request`; raises `BudgetExhausted` as `call_tool` does.

        Each call is a step of the attempt, also one that the model fails to answer.
        """
        digest = digest_of(_MODEL_REQUEST.dump_python(request, mode="json"))
        self._pay("max_steps_per_node", self._spending.model_calls, self._limits.max_steps_per_node)
        index = self._next_index()
        self._spending.model_calls += 1
        recorded = self._ledger.recorded.get(call_key(self._step, index, MODEL_CALL))
        if recorded is not None:
            reply = _MODEL_REPLY.validate_python(await self._ledger.load(recorded))
            self._spending.model_tokens += input_tokens(reply, request)
            self._spending.model_time_s += reply.elapsed_ms / 1000
            return reply
        before = self._spending.now()
        parts = StreamedParts(self._ledger.emit, self._spending.now, self._key, self._step, index)
        spent_s = self._spending.model_time_s
        reply = await self._models.ask(request, parts.told)
        failed = reply.outcome if isinstance(reply.outcome, ModelError) else None
        # What the account says, whatever the adapter does: a resumed attempt goes on with it.
        reply = replace(reply, elapsed_ms=round((self._spending.model_time_s - spent_s) * 1000, 1))
        kept = self._ledger.keep(_MODEL_REPLY.dump_python(reply, mode="json"))
        self._ledger.emit(
            CallReturned(
                **self._place(index),
                call="model",
                name=reply.usage.model or self._agent.model_policy.model or "",
                arguments={},
                arguments_digest=digest,
                arguments_origin="computed",
                arguments_taint="trusted",
                result=kept,
                ok=failed is None,
                summary=reply.outcome.kind,
                usage=reply.usage,
                elapsed_ms=self._spending.ms_since(before),
                prompt_version=request.prompt_version,
                means=reply.means,
                dropped=request.dropped,
                error=failed.error_type if failed is not None else "",
            )
        )
        return reply

    async def _judged(self, call: ToolCall, index: int, digest: str, version: str | None) -> Effected:
        """Make the call as far as the gate lets it."""
        tool = self._tools.get(call.tool)
        verdict = self._gate.judge(call, tool)
        match verdict:
            case Deny(error_type=error_type, message=message):
                return Effected(result=_denied(error_type, message), key="", performed=False)
            case Mock():
                said = ToolOk(summary=say(OUTCOMES, "mocked", called=call.tool), data=None, source=call.tool)
                return Effected(result=said, key="", performed=False)
            case Pass():
                asked = None
            case Ask():
                asked = verdict
            case _:
                assert_never(verdict)
        assert tool is not None, "the gate lets no unknown tool pass"
        # This one is counted already.
        self._pay("max_tool_calls", self._spending.tool_calls - 1, self._limits.max_tool_calls)
        spec = tool.spec

        if tool.spec.side_effect != "read" and not isinstance(tool, EffectTool):
            # It can neither be looked up nor made under a key: nobody could say afterwards whether it happened.
            message = say(
                REFUSALS, "no_effect_tool", tool=repr(call.tool), effect=repr(tool.spec.side_effect)
            )
            return Effected(result=_denied("ACTION_DENIED", message), key="", performed=False)

        time = self._time_of(spec)
        if isinstance(tool, EffectTool):
            return await self._effects.make(tool, call, index, digest, asked, time)
        before = self._effects.committed(digest)
        if before is not None and before.side_effect != "read" and not before.failed:
            # The tool counts as a reading since: what it changed when it was none is not changed again.
            return await self._effects.make(Gone(before), call, index, digest, asked, time)
        if asked is not None:
            # A reading that a person has to let: once, like an effect.
            reading = ReadAsEffect(tool)
            return await self._effects.make(reading, call, index, digest, asked, time)
        kept = self._cache.get(digest, version)
        if kept is not None:
            return Effected(result=kept, key="", performed=False)
        result = await time.perform(lambda: tool.call(call.arguments))
        self._cache.put(digest, version, result)
        return Effected(result=result, key="")

    async def _repeated(
        self, call: ToolCall, index: int, digest: str, times: int, stands: Standing
    ) -> Exception:
        """What ends a loop of identical calls: a person, where they had refused the call, else the limit."""
        tool = self._tools.get(call.tool)
        if stands == "refused" and tool is not None:
            effect = tool if isinstance(tool, EffectTool) else ReadAsEffect(tool)
            return await self._effects.held_again(effect, call, index, digest, self._time_of(tool.spec))
        return BudgetExhausted("identical_calls", times, IDENTICAL_CALLS_STOP - 1)

    def _can_be_undone(self, call: ToolCall) -> bool:
        """Whether what came of the same call before may not hold any more: made again, it is looked up first."""
        tool = self._tools.get(call.tool)
        return tool is not None and tool.spec.compensation is not None

    def _time_of(self, spec: ToolSpec) -> CallTime:
        return CallTime(
            tool=spec.name,
            timeout_s=spec.timeout_s,
            spending=self._spending,
            deadline_s=self._limits.deadline_s,
            keep_bytes=self._ledger.keep_bytes,
        )

    def _version(self, call: ToolCall) -> str | None:
        """The version of what the call reads; one that can't be told is none."""
        tool: object = self._tools.get(call.tool)
        if not isinstance(tool, VersionedTool):
            return None
        try:
            return tool.source_version(call.arguments)
        except Exception:  # noqa: BLE001 - a tool is foreign code, and arguments are not validated yet
            return None

    def _next_index(self, *, free: bool = False) -> int:
        """The number of the next call within the step; a `free` one is no action, for nothing is done."""
        self._pay("deadline_s", self._spending.elapsed_s, self._limits.deadline_s)
        if not free:
            self._pay("max_actions", self._spending.actions, self._limits.max_actions)
            self._spending.actions += 1
        self._index += 1
        return self._index - 1

    def _pay(self, limit: str, used: float, allowed: float) -> None:
        if used >= allowed:
            raise BudgetExhausted(limit, used, allowed)

    def _record_tool(
        self, call: ToolCall, where: dict[str, Any], digest: str, done: Effected, elapsed_ms: float
    ) -> None:
        result = done.result
        summary = result.summary if isinstance(result, ToolOk) else f"{result.error_type}: {result.message}"
        kept: ArtefactId = self._ledger.keep(TOOL_RESULT.dump_python(result, mode="json"))
        self._ledger.emit(
            CallReturned(
                **where,
                call="tool",
                name=call.tool,
                arguments=dict(call.arguments),
                arguments_digest=digest,
                arguments_origin=call.origin,
                arguments_taint=call.taint,
                result=kept,
                ok=result.ok,
                summary=summary,
                call_id=call.id,
                key=done.key,
                performed=done.performed,
                elapsed_ms=elapsed_ms,
            )
        )

    def _place(self, index: int) -> dict[str, Any]:
        return {
            "node": self._key.node,
            "generation": self._key.generation,
            "attempt": self._key.attempt,
            "step": self._step,
            "index": index,
        }


def _may_pass(result: ToolResult) -> bool:
    """Whether the same call may come out differently: what lay outside may have gone."""
    return isinstance(result, ToolError) and result.retryable


def _denied(error_type: str, message: str) -> ToolError:
    return ToolError(error_type=error_type, message=message, retryable=False)
