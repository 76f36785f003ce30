"""The broker of one attempt: it validates, authorises, pays, performs, records and memoises every call.

`execute(a) <=> schema valid and authorised and within budget and policy ok` (architecture 4): a worker, a model or a
document proposes; nothing they say gets past a check here. A resumed attempt makes the same calls in the same order
and receives the recorded results.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import TypeAdapter
from rpds import HashTrieMap

from agents.broker import BudgetExhausted
from agents.json_schema import schema_problems
from agents.models.contract import ModelError, ModelReply, ModelRequest
from agents.models.ports import ChatPort
from agents.spec import AgentSpec
from agents.tools.contract import ToolCall, ToolError, ToolOk, ToolResult
from agents.tools.ports import Tool
from graphs.contract import Limits
from orchestrator.core.events import CallReturned
from orchestrator.core.ids import ArtefactId
from orchestrator.core.proposal import digest_of
from orchestrator.core.state import call_key
from orchestrator.shell.ports import AttemptKey, Clock

IDENTICAL_CALLS_STOP: Final = 3
"""The identical call is answered with a hint at the second time and stops the attempt at the third (003 2.4)."""

BYTES_PER_TOKEN: Final = 4
"""Of a model's input, for the reservation before a call; the usage that the model reports replaces it."""

_LASTING: Final = (FileNotFoundError, PermissionError, NotADirectoryError, IsADirectoryError, FileExistsError)
"""Errors of the system that are the same at the next try; others of it (a connection, a busy disk) may pass."""

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
    """The one account of an attempt, which all its steps pay from: actions, calls, time and tokens."""

    def __init__(self, clock: Clock) -> None:
        """Start the clock of the attempt."""
        self._clock = clock
        self._started = clock.monotonic()
        self.actions = 0
        self.tool_calls = 0
        self.model_calls = 0
        self.model_tokens = 0
        """Input tokens that were used, and those that calls under way have reserved."""
        self.model_time_s = 0.0
        self.known: dict[str, ToolResult] = {}
        """Results of the tool calls of the attempt, by digest: another path that needs one does not pay again."""

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


def deadline_reached(spending: Spending, deadline_s: float) -> BudgetExhausted:
    """Return what ends an attempt that was stopped at its deadline."""
    return BudgetExhausted("deadline_s", max(spending.elapsed_s, deadline_s), deadline_s)


class RecordingBroker:
    """The broker of one step (a stage and path) of one attempt; implements `agents.tools.contract.Broker`.

    An attempt has at most three steps (path 1, path 2, and one more under the suppression guard). Every limit is of the
    attempt, so all of them pay from one account; what one step fetched is free for the next. Identical calls are
    counted per step: each is a loop of its own.
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
        self._seen: Counter[str] = Counter()

    async def call_tool(self, call: ToolCall) -> ToolResult:
        """Validate, authorise, pay, perform and record `call`.

        Raises `BudgetExhausted` before performing it when a limit is reached, or at the third identical call; and
        while it is performed, when the deadline of the attempt comes.
        """
        try:
            digest = digest_of({"tool": call.tool, "arguments": call.arguments})
        except (TypeError, ValueError):
            # Nothing to record or to recognise again: it has no form as JSON.
            self._next_index()
            return _denied("DECISION_INVALID", f"the arguments of {call.tool!r} are no JSON values")
        fetched = self._spending.known.get(digest) if not self._seen[digest] else None
        index = self._next_index(free=fetched is not None)
        self._seen[digest] += 1
        if self._seen[digest] >= IDENTICAL_CALLS_STOP:
            raise BudgetExhausted("identical_calls", self._seen[digest], IDENTICAL_CALLS_STOP - 1)
        recorded = self._ledger.recorded.get(call_key(self._step, index, digest))
        if recorded is not None:
            result = _TOOL_RESULT.validate_python(await self._ledger.load(recorded))
        elif fetched is not None:
            result = fetched
        elif self._seen[digest] > 1:
            result = _with_hint(self._spending.known[digest])
        else:
            result = await self._perform(call)
        if fetched is None:
            self._spending.tool_calls += 1
            self._spending.known[digest] = result
        if recorded is None:
            summary = (
                result.summary if isinstance(result, ToolOk) else f"{result.error_type}: {result.message}"
            )
            kept = self._ledger.keep(_TOOL_RESULT.dump_python(result, mode="json"))
            self._emit("tool", call.tool, index, digest, kept, ok=result.ok, summary=summary, call=call)
        return result

    async def call_model(self, request: ModelRequest) -> ModelReply:
        """Pay, perform and record `request`; raises `BudgetExhausted` as `call_tool` does.

        Each call is a step of the attempt, also one that the model fails to answer.
        """
        digest = digest_of(TypeAdapter(ModelRequest).dump_python(request, mode="json"))
        self._pay("max_steps_per_node", self._spending.model_calls, self._limits.max_steps_per_node)
        index = self._next_index()
        self._spending.model_calls += 1
        recorded = self._ledger.recorded.get(call_key(self._step, index, digest))
        if recorded is not None:
            reply = _MODEL_REPLY.validate_python(await self._ledger.load(recorded))
            self._spending.model_tokens += _input_tokens(reply, request)
        else:
            reply = await self._ask(request)
            kept = self._ledger.keep(_MODEL_REPLY.dump_python(reply, mode="json"))
            failed = isinstance(reply.outcome, ModelError)
            name = reply.usage.model or self._agent.model_policy.model or ""
            self._emit("model", name, index, digest, kept, ok=not failed, summary=reply.outcome.kind)
        return reply

    async def _perform(self, call: ToolCall) -> ToolResult:
        refused = self._refusal(call)
        if refused is not None:
            return refused
        self._pay("max_tool_calls", self._spending.tool_calls, self._limits.max_tool_calls)
        tool = self._tools[call.tool]
        left_s = self._left_s
        until = asyncio.timeout(min(tool.spec.timeout_s, left_s))
        try:
            async with until:
                return _observed(call.tool, await tool.call(call.arguments))
        except TimeoutError:
            if until.expired() and left_s < tool.spec.timeout_s:
                raise deadline_reached(self._spending, self._limits.deadline_s) from None
            return ToolError(
                error_type="TIMEOUT",
                message=f"{call.tool} gave no result within {tool.spec.timeout_s:g} s",
                retryable=True,
            )
        except Exception as error:  # noqa: BLE001 - a tool is foreign code: whatever breaks in it is a result
            what = f"{type(error).__name__}: {error}"
            outside = isinstance(error, OSError) and not isinstance(error, _LASTING)
            return ToolError(
                error_type="UNAVAILABLE" if outside else "TOOL_FAILED",
                message=f"{call.tool} broke with {what}",
                retryable=outside,
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
        # What a tool's schema says nothing of is refused, unless it says that more is welcome.
        schema = {"additionalProperties": False, **tool.spec.input_schema}
        problems = schema_problems(dict(call.arguments), schema, at="arguments")
        if problems:
            return _denied("DECISION_INVALID", f"{call.tool!r}: {'; '.join(problems)}")
        return None

    async def _ask(self, request: ModelRequest) -> ModelReply:
        if self._chat is None:
            message = f"agent {self._agent.id!r} has no model (policy {self._agent.model_policy.kind!r})"
            return ModelReply(outcome=ModelError(error_type="bad_request", message=message, retryable=False))
        spent, limits = self._spending, self._limits
        wanted = estimated_tokens(request)
        if spent.model_tokens + wanted > limits.max_model_tokens:
            raise BudgetExhausted("max_model_tokens", spent.model_tokens, limits.max_model_tokens)
        self._pay("max_model_time_s", spent.model_time_s, limits.max_model_time_s)
        time_s = limits.max_model_time_s - spent.model_time_s
        left_s = self._left_s
        until = asyncio.timeout(min(time_s, left_s))
        spent.model_tokens += wanted
        used = wanted  # a call that breaks may have been paid for
        try:
            async with spent.model_time(), until:
                reply = await self._chat.complete(request)
            used = _input_tokens(reply, request)
        except TimeoutError:
            if until.expired() and left_s < time_s:
                raise deadline_reached(spent, limits.deadline_s) from None
            message = f"no answer within the {time_s:g} s of model time that were left"
            return ModelReply(outcome=ModelError(error_type="timeout", message=message, retryable=True))
        finally:
            spent.model_tokens += used - wanted
        return reply

    @property
    def _left_s(self) -> float:
        """Seconds until the deadline of the attempt."""
        return self._limits.deadline_s - self._spending.elapsed_s

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


def estimated_tokens(request: ModelRequest) -> int:
    """Return what to reserve for a request before its cost is known: a token per 4 bytes of UTF-8, at least 1.

    A rule of thumb: about 4 letters of English or 1.3 characters of Chinese to a token.
    """
    texts = [message.content for message in request.messages]
    if request.output_schema is not None:
        texts.append(json.dumps(request.output_schema, ensure_ascii=False))
    return max(1, sum(len(text.encode(errors="replace")) for text in texts) // BYTES_PER_TOKEN)


def _input_tokens(reply: ModelReply, request: ModelRequest) -> int:
    """What a reply cost; one that was answered and doesn't say is counted as estimated."""
    if reply.usage.input_tokens or isinstance(reply.outcome, ModelError):
        return reply.usage.input_tokens
    return estimated_tokens(request)


def _observed(name: str, result: object) -> ToolResult:
    """The result of a tool, if it has the shape of one and a form as JSON."""
    try:
        if not isinstance(result, ToolOk | ToolError):
            raise TypeError(f"a {type(result).__name__}")
        _TOOL_RESULT.dump_python(result, mode="json", warnings="error")
        if isinstance(result, ToolOk):
            # As JSON writes it, not pydantic: that would record NaN as null, and a resumed attempt would read that.
            json.dumps(result.data, allow_nan=False)
    except (TypeError, ValueError) as error:
        message = f"{name} gave a result that is none of a tool: {error}"
        return ToolError(error_type="OBSERVATION_UNKNOWN", message=message, retryable=False)
    return result


def _denied(error_type: str, message: str) -> ToolError:
    return ToolError(error_type=error_type, message=message, retryable=False)


def _with_hint(result: ToolResult) -> ToolResult:
    hint = "the same call was made before, with this result; try another one"
    if isinstance(result, ToolOk):
        return replace(result, summary=f"{result.summary} ({hint})")
    return replace(result, message=f"{result.message} ({hint})")
