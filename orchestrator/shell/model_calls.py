"""Calls of chat models: paid before they are made, within the time that is left, priced by what they used."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from agents.broker import BudgetExhausted
from agents.models.contract import ModelError, ModelReply, ModelRequest
from agents.models.ports import ChatPort
from agents.models.rate_limits import RateLimits
from agents.spec import AgentSpec
from graphs.contract import Limits
from orchestrator.core.blockage import MAX_ASKED_WAIT_S
from orchestrator.core.events import CallStreamed
from orchestrator.shell.ports import AttemptKey
from orchestrator.shell.spending import Spending, deadline_reached, estimated_tokens, input_tokens

STREAM_EVERY_S: Final = 0.5
"""How often a part of an answer under way goes into the log, in seconds: often enough for who watches, and at most two
events a second of a call."""
STREAM_CHARS: Final = 2_000
"""Characters of an answer of which parts go into the log: who watches sees that it is being written, and what it is
about; the whole comes with the answer. So the log grows by a bounded number of bytes for a call."""


def _nothing_off() -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSurroundings:
    """What all model calls of a process share."""

    is_off: Callable[[], bool] = _nothing_off
    """Whether models are switched off: then none is asked (003 4.3, the switch of the last resort)."""
    rates: RateLimits = field(default_factory=lambda: RateLimits({}))
    """What the providers take in a minute, from all agents and runs together."""


class ModelCalls:
    """Makes the model calls of one step of one attempt."""

    def __init__(
        self,
        *,
        chat: ChatPort | None,
        agent: AgentSpec,
        limits: Limits,
        spending: Spending,
        surroundings: ModelSurroundings,
    ) -> None:
        self._chat = chat
        self._agent = agent
        self._limits = limits
        self._spending = spending
        self._around = surroundings

    async def ask(self, request: ModelRequest, told: Callable[[str], None]) -> ModelReply:
        """Pay and make the call; `told` is given the parts of the answer as they come.

        Raises `BudgetExhausted` when the call would exceed the tokens or the time of the attempt, or is under way at
        its deadline. Whatever else goes wrong is a `ModelError`.
        """
        if self._chat is None:
            message = f"agent {self._agent.id!r} has no model (policy {self._agent.model_policy.kind!r})"
            return ModelReply(
                outcome=ModelError(error_type="misconfigured", message=message, retryable=False)
            )
        if self._around.is_off():
            message = "models are switched off; the embedded default goes on"
            return ModelReply(outcome=ModelError(error_type="unavailable", message=message, retryable=True))
        spent, limits = self._spending, self._limits
        wanted = estimated_tokens(request)
        if spent.model_tokens + wanted > limits.max_model_tokens:
            raise BudgetExhausted("max_model_tokens", spent.model_tokens, limits.max_model_tokens)
        if spent.model_time_s >= limits.max_model_time_s:
            raise BudgetExhausted("max_model_time_s", spent.model_time_s, limits.max_model_time_s)
        spent.model_tokens += wanted
        used = 0
        try:
            await self._turn(wanted)
            used = wanted  # a call that breaks may have been paid for
            reply = await self._in_time(self._chat, request, told)
            used = input_tokens(reply, request)
        finally:
            spent.model_tokens += used - wanted
        self._settle(reply, wanted, used)
        return reply

    def _settle(self, reply: ModelReply, wanted: int, used: int) -> None:
        """Tell the rate limits what the call really took, and what the provider said of the next one."""
        provider = self._agent.model_policy.provider
        both = used + reply.usage.output_tokens
        self._around.rates.settle(provider, reserved=wanted, used=both, requests=reply.usage.requests)
        outcome = reply.outcome
        if isinstance(outcome, ModelError) and outcome.error_type == "rate_limited":
            asked_s = outcome.retry_after_s or 0.0
            if (
                asked_s <= MAX_ASKED_WAIT_S
            ):  # nobody waits for longer: each agent's work is given to another at once
                self._around.rates.hold(provider, asked_s)

    async def _turn(self, tokens: int) -> None:
        """Wait for the provider's turn; waiting is no model time, and ends at the deadline."""
        left_s = self._limits.deadline_s - self._spending.elapsed_s
        until = asyncio.timeout(left_s)
        try:
            async with until:
                await self._around.rates.admit(self._agent.model_policy.provider, tokens)
        except TimeoutError:
            if not until.expired():
                raise
            raise deadline_reached(self._spending, self._limits.deadline_s) from None

    async def _in_time(
        self, chat: ChatPort, request: ModelRequest, told: Callable[[str], None]
    ) -> ModelReply:
        spent, limits = self._spending, self._limits
        time_s = limits.max_model_time_s - spent.model_time_s
        left_s = limits.deadline_s - spent.elapsed_s
        until = asyncio.timeout(min(time_s, left_s))
        try:
            async with spent.model_time(), until:
                return await chat.complete(request, told)
        except TimeoutError:
            if until.expired() and left_s < time_s:
                raise deadline_reached(spent, limits.deadline_s) from None
            message = f"no answer within the {time_s:g} s of model time that were left"
            return ModelReply(outcome=ModelError(error_type="timeout", message=message, retryable=True))


class StreamedParts:
    """Turns the parts of an answer into events: few, and of bounded size altogether."""

    def __init__(
        self,
        emit: Callable[[CallStreamed], None],
        now: Callable[[], float],
        key: AttemptKey,
        step: str,
        index: int,
    ) -> None:
        self._emit = emit
        self._now = now
        self._key = key
        self._step = step
        self._index = index
        self._waiting = ""
        self._left = STREAM_CHARS
        self._last = now()

    def told(self, text: str) -> None:
        """Take a part of the answer."""
        if self._left <= 0:
            return
        self._waiting = (self._waiting + text)[: self._left]
        if self._now() - self._last < STREAM_EVERY_S and len(self._waiting) < self._left:
            return
        self._last = self._now()
        self._left -= len(self._waiting)
        self._emit(
            CallStreamed(
                node=self._key.node,
                generation=self._key.generation,
                attempt=self._key.attempt,
                step=self._step,
                index=self._index,
                text=self._waiting,
            )
        )
        self._waiting = ""
