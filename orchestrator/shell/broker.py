"""The broker of one attempt: it validates, authorises, pays, performs, records and memoises every call.

`execute(a) <=> schema valid and authorised and within budget and policy ok` (architecture 4): a worker, a model or a
document proposes; nothing they say gets past a check here. A resumed attempt makes the same calls in the same order
and receives the recorded results.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import TypeAdapter
from rpds import HashTrieMap

from agents.models.ports import ChatPort
from agents.spec import AgentSpec
from agents.tools.contract import (
    BudgetExhausted,
    ModelError,
    ModelReply,
    ModelRequest,
    ToolCall,
    ToolError,
    ToolOk,
    ToolResult,
)
from agents.tools.ports import Tool
from graphs.contract import Limits
from orchestrator.core.events import CallReturned
from orchestrator.core.ids import ArtefactId
from orchestrator.core.proposal import digest_of
from orchestrator.core.state import call_key
from orchestrator.shell.argument_schema import argument_problems
from orchestrator.shell.ports import AttemptKey, Clock

IDENTICAL_CALLS_STOP: Final = 3
"""The identical call is answered with a hint at the second time and stops the attempt at the third (003 2.4)."""

_TOOL_RESULT: TypeAdapter[ToolResult] = TypeAdapter(ToolResult)
_MODEL_REPLY: TypeAdapter[ModelReply] = TypeAdapter(ModelReply)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLedger:
    """Where a broker finds earlier results and leaves new ones."""

    recorded: HashTrieMap[str, ArtefactId]
    """Results of this attempt from before a crash, by `call_key`."""
    load: Callable[[ArtefactId], Awaitable[Any]]
    """Returns an artefact's JSON value."""
    keep: Callable[[Any], ArtefactId]
    """Keeps a JSON value and returns its id."""
    emit: Callable[[CallReturned], None]
    """Hands an event over to be recorded."""


class Spending:
    """What one attempt has used over all its steps: time, model time and model input tokens."""

    def __init__(self, clock: Clock) -> None:
        """Start the clock of the attempt."""
        self._clock = clock
        self._started = clock.monotonic()
        self.model_tokens = 0
        self.model_time_s = 0.0

    @property
    def elapsed_s(self) -> float:
        """Seconds since the attempt (or the part of it after a restart) began."""
        return self._clock.monotonic() - self._started

    @asynccontextmanager
    async def model_time(self) -> AsyncIterator[None]:
        """Count what happens inside as model time, however it ends."""
        before = self._clock.monotonic()
        try:
            yield
        finally:
            self.model_time_s += self._clock.monotonic() - before


class RecordingBroker:
    """The broker of one step (a stage and path) of one attempt; implements `agents.tools.contract.Broker`.

    Actions and tool calls are limited per step: each is one agent's loop, and an attempt has at most three (path 1,
    path 2, and one more under the suppression guard). Time and tokens are limited over the whole attempt.
    """

    def __init__(
        self,
        *,
        key: AttemptKey,
        step: str,
        agent: AgentSpec,
        granted: tuple[str, ...],
        tools: Mapping[str, Tool],
        chat: ChatPort | None,
        limits: Limits,
        ledger: CallLedger,
        spending: Spending,
    ) -> None:
        self._key = key
        self._step = step
        self._agent = agent
        self._granted = frozenset(granted)
        self._tools = tools
        self._chat = chat
        self._limits = limits
        self._ledger = ledger
        self._spending = spending
        self._index = 0
        self._tool_calls = 0
        self._seen: Counter[str] = Counter()
        self._results: dict[str, ToolResult] = {}

    async def call_tool(self, call: ToolCall) -> ToolResult:
        """Validate, authorise, pay, perform and record `call`.

        Raises `BudgetExhausted` before performing it when a limit is reached, or at the third identical call.
        """
        index = self._next_index()
        try:
            digest = digest_of({"tool": call.tool, "arguments": call.arguments})
        except (TypeError, ValueError):
            # Nothing to record or to recognise again: it has no form as JSON.
            return _denied("DECISION_INVALID", f"the arguments of {call.tool!r} are no JSON values")
        self._seen[digest] += 1
        if self._seen[digest] >= IDENTICAL_CALLS_STOP:
            raise BudgetExhausted("identical_calls", self._seen[digest], IDENTICAL_CALLS_STOP - 1)
        recorded = self._ledger.recorded.get(call_key(self._step, index, digest))
        if recorded is not None:
            result = _TOOL_RESULT.validate_python(await self._ledger.load(recorded))
        elif self._seen[digest] > 1:
            result = _with_hint(self._results[digest])
        else:
            result = await self._perform(call)
        self._tool_calls += 1
        self._results[digest] = result
        if recorded is None:
            summary = (
                result.summary if isinstance(result, ToolOk) else f"{result.error_type}: {result.message}"
            )
            kept = self._ledger.keep(_TOOL_RESULT.dump_python(result, mode="json"))
            self._emit("tool", call.tool, index, digest, kept, ok=result.ok, summary=summary, call=call)
        return result

    async def call_model(self, request: ModelRequest) -> ModelReply:
        """Pay, perform and record `request`; raises `BudgetExhausted` before performing it."""
        digest = digest_of(TypeAdapter(ModelRequest).dump_python(request, mode="json"))
        index = self._next_index()
        recorded = self._ledger.recorded.get(call_key(self._step, index, digest))
        if recorded is not None:
            reply = _MODEL_REPLY.validate_python(await self._ledger.load(recorded))
        else:
            reply = await self._ask(request)
            kept = self._ledger.keep(_MODEL_REPLY.dump_python(reply, mode="json"))
            failed = isinstance(reply.outcome, ModelError)
            name = reply.usage.model or self._agent.model_policy.model or ""
            self._emit("model", name, index, digest, kept, ok=not failed, summary=reply.outcome.kind)
        self._spending.model_tokens += reply.usage.input_tokens
        return reply

    async def _perform(self, call: ToolCall) -> ToolResult:
        refused = self._refusal(call)
        if refused is not None:
            return refused
        self._pay("max_tool_calls", self._tool_calls, self._limits.max_tool_calls)
        tool = self._tools[call.tool]
        try:
            return await asyncio.wait_for(tool.call(call.arguments), tool.spec.timeout_s)
        except TimeoutError:
            return ToolError(
                error_type="TIMEOUT",
                message=f"{call.tool} gave no result within {tool.spec.timeout_s:g} s",
                retryable=True,
            )

    def _refusal(self, call: ToolCall) -> ToolError | None:
        tool = self._tools.get(call.tool)
        if tool is None:
            known = ", ".join(sorted(self._granted))
            return _denied("DECISION_INVALID", f"no tool {call.tool!r}; available: {known or 'none'}")
        if call.tool not in self._granted:
            return _denied("ACTION_DENIED", f"tool {call.tool!r} is not granted to agent {self._agent.id!r}")
        if tool.spec.side_effect != "read":
            # Approvals of side effects are bound to calls; until an approval can be given, none is assumed.
            return _denied(
                "ACTION_DENIED", f"tool {call.tool!r} has the side effect {tool.spec.side_effect!r}"
            )
        problems = argument_problems(call.arguments, tool.spec.input_schema)
        if problems:
            return _denied("DECISION_INVALID", f"{call.tool!r}: {'; '.join(problems)}")
        return None

    async def _ask(self, request: ModelRequest) -> ModelReply:
        if self._chat is None:
            message = f"agent {self._agent.id!r} has no model (policy {self._agent.model_policy.kind!r})"
            return ModelReply(outcome=ModelError(error_type="bad_request", message=message, retryable=False))
        spent, limits = self._spending, self._limits
        self._pay("max_model_tokens", spent.model_tokens, limits.max_model_tokens)
        self._pay("max_model_time_s", spent.model_time_s, limits.max_model_time_s)
        left_s = limits.max_model_time_s - spent.model_time_s
        try:
            async with spent.model_time():
                return await asyncio.wait_for(self._chat.complete(request), left_s)
        except TimeoutError:
            message = f"no answer within the {left_s:g} s of model time that were left"
            return ModelReply(outcome=ModelError(error_type="timeout", message=message, retryable=True))

    def _next_index(self) -> int:
        self._pay("deadline_s", self._spending.elapsed_s, self._limits.deadline_s)
        self._pay("max_actions", self._index, self._limits.max_actions)
        self._index += 1
        return self._index - 1

    def _pay(self, limit: str, used: float, allowed: float) -> None:
        if used >= allowed:
            raise BudgetExhausted(limit, used, allowed)

    def _emit(
        self,
        kind: str,
        name: str,
        index: int,
        digest: str,
        kept: ArtefactId,
        *,
        ok: bool,
        summary: str,
        call: ToolCall | None = None,
    ) -> None:
        self._ledger.emit(
            CallReturned(
                node=self._key.node,
                generation=self._key.generation,
                attempt=self._key.attempt,
                step=self._step,
                index=index,
                call="tool" if kind == "tool" else "model",
                name=name,
                arguments=dict(call.arguments) if call is not None else {},
                arguments_digest=digest,
                arguments_origin=call.origin if call is not None else "computed",
                arguments_taint=call.taint if call is not None else "trusted",
                result=kept,
                ok=ok,
                summary=summary,
            )
        )


def _denied(error_type: str, message: str) -> ToolError:
    return ToolError(error_type=error_type, message=message, retryable=False)


def _with_hint(result: ToolResult) -> ToolResult:
    hint = "the same call was made before, with this result; try another one"
    if isinstance(result, ToolOk):
        return replace(result, summary=f"{result.summary} ({hint})")
    return replace(result, message=f"{result.message} ({hint})")
