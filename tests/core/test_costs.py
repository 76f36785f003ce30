"""The arithmetic of costs, worked out by hand, and what is learnt from a run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.models.contract import Usage
from agents.results import WorkMode
from agents.spec import ModelPolicy
from graphs.plan import SubTaskKind
from orchestrator.core.costs import CostKey, Tokens, estimate_cost, measured, recalibrated
from orchestrator.core.events import AttemptVerified, Body, CallReturned, Event
from orchestrator.core.ids import ArtefactId, ContentDigest
from orchestrator.core.proposal import Proposal
from orchestrator.core.state import Spent
from tests.core.builders import A1, EMBEDDED, ROSTER, agent, n, plan, proposal, subtask, verification

KEY = CostKey(kind="loop", operation="research", model="x:big")


def drafted(
    *, tools: int = 2, model: str | None = "x:big", kinds: tuple[SubTaskKind, ...] = ("loop",)
) -> Proposal:
    """A plan with one sub-task per kind, all of one agent."""
    policy = ModelPolicy(kind="model", model=model) if model else ModelPolicy()
    thinks = replace(agent("A1", {}), model_policy=policy)
    names = "abcdef"[: len(kinds)]
    tasks = {name: replace(subtask(name), kind=kind) for name, kind in zip(names, kinds, strict=True)}
    drawn = plan("", lone=" ".join(names))
    made = proposal(
        replace(drawn, subtasks=tuple(replace(task, kind=tasks[task.id].kind) for task in drawn.subtasks)),
        roster=replace(ROSTER, agents=(thinks, *EMBEDDED.agents[1:])),
    )
    return replace(made, grants={A1: tuple(f"tool_{number}" for number in range(tools))})


def ten_a_million(policy: ModelPolicy, usage: Usage) -> float | None:
    assert policy.model == usage.model
    return (usage.input_tokens + 2 * usage.output_tokens) * 10 / 1_000_000 if usage.model == "x:big" else None


def test_a_loop_sends_what_came_before_again() -> None:
    """Four steps, 984 fixed (800 and two tools of 92), 970 added by each: 4 x 984 + 6 x 970 = 9,756."""
    found = estimate_cost(drafted(), ten_a_million, {})
    assert found is not None
    assert (found.calls, found.expected, found.low) == (
        4,
        Tokens(input=9_756, output=1_480),
        Tokens(input=984, output=370),
    )
    assert found.expected_usd == pytest.approx((9_756 + 2_960) / 100_000)
    assert found.low_usd == pytest.approx((984 + 740) / 100_000)


def test_one_call_and_no_more_steps_than_the_contract_allows() -> None:
    one = estimate_cost(drafted(kinds=("call",)), ten_a_million, {})
    assert one is not None
    assert (one.calls, one.expected) == (1, Tokens(input=2_800, output=370))
    made = drafted()
    limits = replace(made.contract.limits, max_steps_per_node=1)
    capped = estimate_cost(replace(made, contract=replace(made.contract, limits=limits)), ten_a_million, {})
    assert capped is not None
    assert capped.expected == capped.low == Tokens(input=984, output=370)


def test_code_costs_nothing_and_is_not_estimated() -> None:
    assert estimate_cost(drafted(model=None), ten_a_million, {}) is None
    assert estimate_cost(drafted(kinds=("function",)), ten_a_million, {}) is None


def test_an_unknown_price_is_not_nothing() -> None:
    found = estimate_cost(drafted(model="y:small"), ten_a_million, {})
    assert found is not None
    assert (found.expected_usd, found.low_usd, found.unknown_models) == (None, None, ("y:small",))


def events(*, used: Usage, mode: WorkMode = "model", times: int = 1) -> list[Event]:
    call = CallReturned(
        node=n("a"),
        generation=1,
        attempt=1,
        step="work.1.0",
        index=0,
        call="model",
        name="x:big",
        arguments={},
        arguments_digest="d",
        arguments_origin="computed",
        arguments_taint="trusted",
        result=ArtefactId("0" * 64),
        ok=True,
        summary="final_answer",
        usage=used,
    )
    done = AttemptVerified(
        node=n("a"),
        generation=1,
        attempt=1,
        output=ArtefactId("0" * 64),
        content=ContentDigest("0" * 64),
        path=1,
        mode=mode,
        verification=verification("passed"),
    )
    bodies: list[Body] = [*[call] * times, done]
    return [Event(seq=seq, ts="2026-01-01T00:00:00Z", body=body) for seq, body in enumerate(bodies, 1)]


def test_what_was_used_over_what_the_arithmetic_says() -> None:
    found = measured(
        drafted(), events(used=Usage(model="x:big", input_tokens=9_756, output_tokens=740), times=2)
    )
    assert found == {KEY: Tokens(input=2.0, output=1.0)}
    replayed = Usage(model="x:big", input_tokens=9_756, output_tokens=740, recorded=True)
    assert measured(drafted(), events(used=replayed)) == {}, "what it took another time"
    by_code = events(used=Usage(input_tokens=500, output_tokens=5), mode="extractive")
    assert measured(drafted(), by_code) == {}, (
        "the embedded default took over: its model calls are half a story"
    )


@pytest.mark.parametrize(("times", "kept"), [(1.19, 1.0), (1.21, 1.21), (0.81, 1.0), (0.79, 0.79)])
def test_more_than_a_fifth_off_is_corrected(times: float, kept: float) -> None:
    new = recalibrated({}, {KEY: Tokens(input=times, output=1.0)})
    assert new.get(KEY, Tokens(input=1.0, output=1.0)).input == kept


@given(st.integers(1, 10**7), st.integers(1, 10**7))
def test_a_corrected_estimate_is_what_was_used(given_in: int, given_out: int) -> None:
    """Whatever a run used, the next estimate is within a fifth of it, and measuring it again changes nothing."""
    found = measured(
        drafted(), events(used=Usage(model="x:big", input_tokens=given_in, output_tokens=given_out))
    )
    factors = recalibrated({}, found)
    estimate = estimate_cost(drafted(), ten_a_million, factors)
    assert estimate is not None
    # Off by at most a fifth of the estimate: 1 +- 0.2 of it is what was used.
    assert abs(given_in - estimate.expected.input) <= 0.2 * estimate.expected.input + 1e-6
    assert abs(given_out - estimate.expected.output) <= 0.2 * estimate.expected.output + 1e-6
    assert recalibrated(factors, found) == factors


def test_what_no_provider_counted_is_counted_apart() -> None:
    spent = (
        Spent().plus(Usage(model="m", input_tokens=5)).plus(Usage(model="m", input_tokens=7, estimated=True))
    )
    assert (spent.calls, spent.input_tokens, spent.estimated) == (2, 12, 1)
