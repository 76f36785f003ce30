"""Model calls under the limits that all runs share: waiting is no model time, and what a provider says counts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pytest

from agents.broker import BudgetExhausted
from agents.models.contract import FinalAnswer, Message, ModelError, ModelReply, ModelRequest, Usage
from agents.models.rate_limits import RateLimit, RateLimits
from agents.spec import AgentSpec, ModelPolicy, Provider
from graphs.contract import Limits
from graphs.plan import NodeId
from orchestrator.core.events import CallStreamed
from orchestrator.shell.model_calls import (
    STREAM_CHARS,
    STREAM_EVERY_S,
    ModelCalls,
    ModelSurroundings,
    StreamedParts,
)
from orchestrator.shell.ports import AttemptKey
from orchestrator.shell.spending import Spending
from tests.core.builders import DATABASES, agent
from tests.flows.stage import FakeClock

OLLAMA = Provider("ollama")
ASKED = ModelRequest(purpose="work", messages=(Message(role="user", content="x" * 400),))
"""100 tokens, as a request is estimated before its cost is known."""


@dataclass
class Chat:
    """Answers with what it is given, in order, and takes `seconds` of the clock each time."""

    clock: FakeClock
    replies: list[ModelReply]
    seconds: float = 0.0
    asked_at: list[float] = field(default_factory=list)
    name: str = "ollama:qwen3"

    async def complete(self, request: ModelRequest, told: Callable[[str], None] | None = None) -> ModelReply:
        del request, told
        self.asked_at.append(self.clock.t)
        self.clock.t += self.seconds
        return self.replies.pop(0)


def answered(tokens: int = 100) -> ModelReply:
    return ModelReply(outcome=FinalAnswer(text="yes"), usage=Usage(input_tokens=tokens, output_tokens=0))


def thinking(provider: str = "ollama") -> AgentSpec:
    base = agent("A1", {DATABASES: 90})
    return AgentSpec(
        id=base.id,
        responsibility=base.responsibility,
        role=base.role,
        operations=base.operations,
        mask=base.mask,
        model_policy=ModelPolicy(kind="model", model=f"{provider}:qwen3"),
    )


def calls_of(
    chat: Chat, rates: RateLimits, limits: Limits | None = None, provider: str = "ollama"
) -> tuple[ModelCalls, Spending]:
    spending = Spending(chat.clock)
    calls = ModelCalls(
        chat=chat,
        agent=thinking(provider),
        limits=limits or Limits(),
        spending=spending,
        surroundings=ModelSurroundings(rates=rates),
    )
    return calls, spending


def rates_of(clock: FakeClock, limits: Mapping[Provider, RateLimit]) -> RateLimits:
    return RateLimits(limits, now=clock.monotonic, sleep=clock.sleep)


def heard(_: str) -> None:
    """Nobody listens."""


async def test_waiting_for_a_turn_is_no_model_time() -> None:
    clock = FakeClock()
    chat = Chat(clock, [answered() for _ in range(3)], seconds=2.0)
    # One request at once, and then one every 30 seconds: two in any minute.
    calls, spending = calls_of(chat, rates_of(clock, {OLLAMA: RateLimit(requests_per_min=2)}))
    for _ in range(3):
        await calls.ask(ASKED, heard)
    assert chat.asked_at == pytest.approx([0.0, 30.0, 60.0], abs=2.1)
    assert spending.model_time_s == 6.0


async def test_two_agents_of_a_provider_share_its_limit_and_another_provider_has_its_own() -> None:
    clock = FakeClock()
    chat = Chat(clock, [answered() for _ in range(3)])
    rates = rates_of(clock, {OLLAMA: RateLimit(requests_per_min=1)})
    first, _ = calls_of(chat, rates)
    second, _ = calls_of(chat, rates)
    other, _ = calls_of(chat, rates, provider="openai")
    await first.ask(ASKED, heard)
    await other.ask(ASKED, heard)
    await second.ask(ASKED, heard)
    assert chat.asked_at == [0.0, 0.0, 60.0]


async def test_a_provider_that_says_when_to_come_back_holds_up_the_next_call_of_every_agent() -> None:
    clock = FakeClock()
    refused = ModelError(error_type="rate_limited", message="429", retryable=True, retry_after_s=7.0)
    chat = Chat(clock, [ModelReply(outcome=refused), answered()])
    rates = rates_of(clock, {})
    first, _ = calls_of(chat, rates)
    second, _ = calls_of(chat, rates)
    assert (await first.ask(ASKED, heard)).outcome == refused
    await second.ask(ASKED, heard)
    assert chat.asked_at == [0.0, 7.0]


async def test_a_pause_of_days_holds_up_nobody() -> None:
    clock = FakeClock()
    refused = ModelError(error_type="rate_limited", message="429", retryable=True, retry_after_s=864_000.0)
    chat = Chat(clock, [ModelReply(outcome=refused), answered()])
    rates = rates_of(clock, {})
    first, _ = calls_of(chat, rates)
    second, _ = calls_of(chat, rates)
    assert (await first.ask(ASKED, heard)).outcome == refused
    await second.ask(ASKED, heard)
    assert chat.asked_at == [0.0, 0.0]


async def test_what_a_call_really_took_counts_for_the_next_one() -> None:
    clock = FakeClock()
    # 6,000 tokens a minute, of which 600 at once; the first call was estimated at 100 and took 2,600.
    chat = Chat(clock, [answered(2_600), answered()])
    calls, _ = calls_of(chat, rates_of(clock, {OLLAMA: RateLimit(tokens_per_min=6_000)}))
    await calls.ask(ASKED, heard)
    await calls.ask(ASKED, heard)
    # 2,100 tokens too many, at 90 a second.
    assert chat.asked_at[1] == pytest.approx(2_100 / 90, abs=0.1)


async def test_a_turn_that_comes_after_the_deadline_ends_the_attempt() -> None:
    class Stands(FakeClock):
        async def sleep(self, seconds: float) -> None:
            del seconds
            await asyncio.Event().wait()

    clock = Stands()
    chat = Chat(clock, [answered(), answered()])
    calls, spending = calls_of(
        chat, rates_of(clock, {OLLAMA: RateLimit(requests_per_min=1)}), Limits(deadline_s=0.01)
    )
    await calls.ask(ASKED, heard)
    used = spending.model_tokens
    with pytest.raises(BudgetExhausted, match="deadline_s"):
        await calls.ask(ASKED, heard)
    assert len(chat.asked_at) == 1
    # Nothing was sent.
    assert spending.model_tokens == used


def test_parts_of_an_answer_are_few_and_of_bounded_size() -> None:
    now = 0.0
    events: list[CallStreamed] = []
    key = AttemptKey(node=NodeId("a"), generation=1, attempt=1)
    parts = StreamedParts(events.append, lambda: now, key, "work.1.0", 3)
    for _ in range(10_000):
        parts.told("word ")
        now += STREAM_EVERY_S / 100
    assert sum(len(event.text) for event in events) == STREAM_CHARS
    assert len(events) == -(-STREAM_CHARS // (100 * len("word ")))
    assert "".join(event.text for event in events) == ("word " * 10_000)[:STREAM_CHARS]
    assert {(event.node, event.step, event.index) for event in events} == {("a", "work.1.0", 3)}
