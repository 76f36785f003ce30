"""What the model calls of a plan will consume, and how to learn from what they did (seed 003, 3.3).

The arithmetic is the seed's: each step of a loop sends everything before it again, so the input of `r` steps is `r`
times the fixed part and `r(r-1)/2` times what one step adds; the output is `r` times what a model writes. Its numbers
are guesses until runs have been measured: what finished runs took over what was estimated for them becomes a factor
per kind of sub-task, operation and model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agents.models.contract import Usage
from agents.spec import AgentSpec, ModelPolicy
from graphs.plan import NodeId, SubTask
from orchestrator.core.events import AttemptVerified, CallReturned, Event
from orchestrator.core.proposal import Proposal

PROMPT_TOKENS: Final = 800
"""Of the fixed part of a prompt (003 3.3)."""
TOOL_TOKENS: Final = 92
"""Of one tool on offer: twelve take about 1,100 (003 3.3)."""
WRITTEN_TOKENS: Final = 370
"""That a model writes in one step: 250 of thoughts and 120 of arguments (003 3.3)."""
RESULT_TOKENS: Final = 600
"""Of a tool's result as it is shown (003 3.3)."""
MATERIAL_TOKENS: Final = 2_000
"""Of the material that a single call is given: two whole tool results of 4,000 characters (003 2.3)."""
LOOP_STEPS: Final = 4
"""Expected steps of a loop: two to five are a good split (003 2.1), and the last one finishes."""
TOLERANCE: Final = 0.20
"""An estimate that is off by more than this share is corrected (003 3.3)."""

Price = Callable[[ModelPolicy, Usage], float | None]
"""Returns the cost in USD of a usage whose `model` is `provider:model`; `None`: unknown."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class CostKey:
    """What estimates are calibrated by."""

    kind: str
    operation: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens in and out, of an estimate or as consumed; as a factor: how many times as many as estimated."""

    input: float
    output: float


UNCHANGED: Final = Tokens(input=1.0, output=1.0)
Factors = Mapping[CostKey, Tokens]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEstimate:
    """What a run is expected to consume if each sub-task is accepted at its first attempt."""

    calls: int
    low: Tokens
    """If every loop finishes in its first step."""
    expected: Tokens
    low_usd: float | None
    """`None` where the price of any of its models is unknown."""
    expected_usd: float | None
    unknown_models: tuple[str, ...] = ()
    """Models without a price, each once, by name."""


def estimate_cost(proposal: Proposal, price: Price, factors: Factors) -> CostEstimate | None:
    """Return what the run of `proposal` will consume; `None` where no agent thinks with a model."""
    calls = 0
    lows: list[tuple[ModelPolicy, Tokens]] = []
    expected: list[tuple[ModelPolicy, Tokens]] = []
    for subtask, agent in _thinking(proposal):
        key = cost_key(subtask, agent)
        factor = factors.get(key, UNCHANGED)
        steps = _steps(subtask, proposal)
        calls += steps
        tools = len(proposal.grants.get(agent.id, ())) if subtask.kind == "loop" else 0
        lows.append((agent.model_policy, _times(_tokens(1, tools), factor)))
        expected.append((agent.model_policy, _times(_tokens(steps, tools), factor)))
    if not expected:
        return None
    unknown = sorted(
        {_name(policy) for policy, tokens in expected if price(policy, _usage(policy, tokens)) is None}
    )
    return CostEstimate(
        calls=calls,
        low=_sum(lows),
        expected=_sum(expected),
        low_usd=_usd(lows, price),
        expected_usd=_usd(expected, price),
        unknown_models=tuple(unknown),
    )


def cost_key(subtask: SubTask, agent: AgentSpec) -> CostKey:
    """Return what the estimate of a sub-task is calibrated by."""
    return CostKey(kind=subtask.kind, operation=subtask.operation, model=_name(agent.model_policy))


def measured(proposal: Proposal, events: Iterable[Event]) -> Mapping[CostKey, Tokens]:
    """Return what a run consumed over what the raw arithmetic says, for each key that was worked on by a model.

    Only sub-tasks that were accepted with a model's output count, with all their attempts: what failures cost is part
    of what such a sub-task costs. One with an answer from a recording does not: that is what it took another time,
    maybe of another version.
    """
    used: dict[NodeId, Tokens] = {}
    replayed: set[NodeId] = set()
    by_model: set[NodeId] = set()
    for event in events:
        match event.body:
            case CallReturned(call="model", usage=Usage(recorded=True), node=node):
                replayed.add(node)
            case CallReturned(call="model", usage=Usage() as usage, node=node):
                before = used.get(node, Tokens(input=0, output=0))
                used[node] = Tokens(
                    input=before.input + usage.input_tokens, output=before.output + usage.output_tokens
                )
            case AttemptVerified(mode="model", node=node):
                by_model.add(node)
            case _:
                pass
    actual: dict[CostKey, list[Tokens]] = {}
    raw: dict[CostKey, list[Tokens]] = {}
    for subtask, agent in _thinking(proposal):
        if subtask.id not in by_model - replayed or subtask.id not in used:
            continue
        tools = len(proposal.grants.get(agent.id, ())) if subtask.kind == "loop" else 0
        actual.setdefault(cost_key(subtask, agent), []).append(used[subtask.id])
        raw.setdefault(cost_key(subtask, agent), []).append(_tokens(_steps(subtask, proposal), tools))
    return {
        key: Tokens(
            input=sum(t.input for t in actual[key]) / sum(t.input for t in raw[key]),
            output=sum(t.output for t in actual[key]) / sum(t.output for t in raw[key]),
        )
        for key in actual
    }


def recalibrated(factors: Factors, found: Mapping[CostKey, Tokens]) -> Factors:
    """Return the factors to use from now on: a found one replaces its key's where that is off by over `TOLERANCE`."""
    changed = dict(factors)
    for key, now in found.items():
        old = factors.get(key, UNCHANGED)
        if _is_off(old.input, now.input) or _is_off(old.output, now.output):
            changed[key] = now
    return changed


def _is_off(old: float, now: float) -> bool:
    return abs(now - old) > TOLERANCE * old


def _thinking(proposal: Proposal) -> Iterable[tuple[SubTask, AgentSpec]]:
    """The sub-tasks that a model will think about: functions are code for every agent."""
    agents = {agent.id: agent for agent in proposal.roster.agents}
    for subtask in proposal.plan.subtasks:
        name = proposal.assignment.get(subtask.id)
        agent = agents.get(name) if name is not None else None
        if agent is not None and agent.model_policy.kind == "model" and subtask.kind in ("loop", "call"):
            yield subtask, agent


def _steps(subtask: SubTask, proposal: Proposal) -> int:
    return min(LOOP_STEPS if subtask.kind == "loop" else 1, proposal.contract.limits.max_steps_per_node)


def _tokens(steps: int, tools: int) -> Tokens:
    """Return what `steps` steps with `tools` tools on offer consume, by the arithmetic of 003 3.3."""
    fixed = PROMPT_TOKENS + TOOL_TOKENS * tools + (0 if tools else MATERIAL_TOKENS)
    added = WRITTEN_TOKENS + RESULT_TOKENS
    return Tokens(input=steps * fixed + added * steps * (steps - 1) // 2, output=steps * WRITTEN_TOKENS)


def _times(tokens: Tokens, factor: Tokens) -> Tokens:
    return Tokens(input=tokens.input * factor.input, output=tokens.output * factor.output)


def _sum(listed: Sequence[tuple[ModelPolicy, Tokens]]) -> Tokens:
    return Tokens(input=sum(t.input for _, t in listed), output=sum(t.output for _, t in listed))


def _usd(listed: Sequence[tuple[ModelPolicy, Tokens]], price: Price) -> float | None:
    prices = [price(policy, _usage(policy, tokens)) for policy, tokens in listed]
    known = [usd for usd in prices if usd is not None]
    return sum(known) if len(known) == len(prices) else None


def _name(policy: ModelPolicy) -> str:
    return policy.model or "unknown:model"


def _usage(policy: ModelPolicy, tokens: Tokens) -> Usage:
    return Usage(model=_name(policy), input_tokens=round(tokens.input), output_tokens=round(tokens.output))
