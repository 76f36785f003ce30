"""Two runs beside each other: what they started from, where they first decided differently, what came of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from agents.spec import AgentId, ModelPolicy
from graphs.plan import NodeId, natural_key, plan_sha256
from masks.vector import new_mask
from orchestrator.core.comparison import (
    BacktrackFacts,
    CallDifference,
    Comparison,
    MaskDifference,
    ModelDifference,
    NodeComparison,
    NodeFacts,
    RunFacts,
    SameStart,
)
from orchestrator.core.decision_trail import first_difference
from orchestrator.core.effects import effects_of, outcomes_by_call
from orchestrator.core.events import (
    AttemptStarted,
    Backtracked,
    BlockageClassified,
    Event,
    ProposalApproved,
    SourcesRead,
)
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import PROPOSAL, Proposal, digest_of
from orchestrator.core.reducer import fold
from orchestrator.core.state import RunState


@dataclass(frozen=True, slots=True, kw_only=True)
class _Log:
    state: RunState
    events: Sequence[Event]


def compare_runs(
    first: RunId, first_events: Iterable[Event], second: RunId, second_events: Iterable[Event]
) -> Comparison:
    """Return two runs beside each other, each given by its log up to where it is to be compared.

    Raises `BrokenLog` for events that are no prefix of a run's log.
    """
    logs = [
        _Log(state=fold(run, events), events=events)
        for run, events in ((first, tuple(first_events)), (second, tuple(second_events)))
    ]
    one, other = logs
    facts = _facts_of(one), _facts_of(other)
    return Comparison(
        first=facts[0],
        second=facts[1],
        same=_same_start(one, other),
        mask_differences=_mask_differences(one.state.proposal, other.state.proposal),
        model_differences=_model_differences(one.state.proposal, other.state.proposal),
        call_differences=_call_differences(one.state, other.state),
        first_difference=first_difference(one.events, other.events),
        nodes=_nodes(one, other),
        outcome_equal=_outcome(facts[0]) == _outcome(facts[1]),
        result_equal=facts[0].result is not None and facts[0].result == facts[1].result,
        backtracks_equal=_unordered(facts[0].backtracks) == _unordered(facts[1].backtracks),
    )


def _facts_of(log: _Log) -> RunFacts:
    state = log.state
    return RunFacts(
        run=state.run,
        seq=state.seq,
        status=state.status,
        profile=state.proposal.profile if state.proposal is not None else None,
        shadow_of=state.shadow_of,
        sources_read=any(isinstance(event.body, SourcesRead) for event in log.events),
        gaps=state.gaps,
        stopped=state.stopped,
        result=state.result,
        backtracks=tuple(
            BacktrackFacts(
                seq=event.seq,
                node=event.body.plan.node,
                level=event.body.plan.level,
                repair=event.body.plan.repair.kind,
                depth=event.body.plan.depth,
                invalidated=event.body.plan.invalidated,
            )
            for event in log.events
            if isinstance(event.body, Backtracked)
        ),
    )


def _outcome(facts: RunFacts) -> tuple[object, ...]:
    return facts.status, sorted(facts.gaps), facts.stopped


def _unordered(backtracks: Iterable[BacktrackFacts]) -> list[tuple[object, ...]]:
    return sorted((b.node, b.depth, b.level, b.repair, sorted(b.invalidated)) for b in backtracks)


def _same_start(one: _Log, other: _Log) -> SameStart:
    left, right = _start_of(one), _start_of(other)
    return SameStart(**{name: left[name] == right[name] for name in left})


def _start_of(log: _Log) -> dict[str, object]:
    created = log.state.created
    proposal = log.state.proposal
    return {
        "goal": created and (created.goal, created.lang),
        "sources": [event.body.digest for event in log.events if isinstance(event.body, SourcesRead)][-1:],
        "contract": proposal and proposal.contract,
        "plan": proposal and plan_sha256(proposal.plan),
        "agents": proposal and _agents(proposal),
        "models": proposal and _models(proposal),
        "profile": proposal and proposal.profile,
        "masks": proposal and _masks(proposal),
        "versions": created and dict(created.versions),
        "seed": created and created.run_seed,
    }


def _agents(proposal: Proposal) -> str:
    bare = tuple(
        replace(agent, mask=new_mask(agent.id), model_policy=ModelPolicy())
        for agent in proposal.roster.agents
    )
    document = PROPOSAL.dump_python(
        replace(proposal, roster=replace(proposal.roster, agents=bare)),
        mode="json",
        include={"roster", "assignment", "grants"},
    )
    return digest_of(document)


def _models(proposal: Proposal) -> dict[AgentId, str]:
    return {agent.id: _thinks_with(agent.model_policy) for agent in proposal.roster.agents}


def _thinks_with(policy: ModelPolicy) -> str:
    if policy.kind != "model" or policy.model is None:
        return policy.kind
    return policy.model if policy.base_url is None else f"{policy.model} {policy.base_url}"


def _model_differences(one: Proposal | None, other: Proposal | None) -> tuple[ModelDifference, ...]:
    if one is None or other is None:
        return ()
    left, right = _models(one), _models(other)
    return tuple(
        ModelDifference(agent=agent, first=left.get(agent), second=right.get(agent))
        for agent in sorted(left.keys() | right.keys(), key=natural_key)
        if left.get(agent) != right.get(agent)
    )


def _call_differences(one: RunState, other: RunState) -> tuple[CallDifference, ...]:
    left, right = (outcomes_by_call(effects_of(state)) for state in (one, other))
    return tuple(
        CallDifference(
            node=key[0], tool=key[1], arguments=key[2], first=left.get(key, ()), second=right.get(key, ())
        )
        for key in sorted(left.keys() | right.keys(), key=lambda key: (natural_key(key[0]), key[1:]))
        if left.get(key) != right.get(key)
    )


def _masks(proposal: Proposal) -> dict[str, Any]:
    return {
        str(agent.id): (agent.mask.values, proposal.thresholds_of(agent.id))
        for agent in proposal.roster.agents
    }


def _mask_differences(one: Proposal | None, other: Proposal | None) -> tuple[MaskDifference, ...]:
    if one is None or other is None:
        return ()
    left, right = _numbers_of_agents(one), _numbers_of_agents(other)
    found = []
    for agent in sorted(left.keys() | right.keys(), key=natural_key):
        first, second = left.get(agent), right.get(agent)
        names = {**(first or {}), **(second or {})}
        for name in sorted(names, key=lambda name: (name in _THRESHOLDS, _THRESHOLDS.get(name, 0), name)):
            # A domain that a mask does not list is at 0.
            values = [None if numbers is None else numbers.get(name, 0) for numbers in (first, second)]
            if values[0] != values[1]:
                found.append(MaskDifference(agent=agent, about=name, first=values[0], second=values[1]))
    return tuple(found)


_THRESHOLDS: Final[Mapping[str, int]] = {"threshold.main": 1, "threshold.background": 2}
"""The names of the thresholds among the numbers of an agent, with their order."""


def _numbers_of_agents(proposal: Proposal) -> dict[AgentId, dict[str, int]]:
    found = {}
    for agent in proposal.roster.agents:
        thresholds = proposal.thresholds_of(agent.id)
        numbers = {str(domain): m100 for domain, m100 in agent.mask.values}
        numbers |= {"threshold.main": thresholds.main, "threshold.background": thresholds.background}
        found[agent.id] = numbers
    return found


def _nodes(one: _Log, other: _Log) -> tuple[NodeComparison, ...]:
    left, right = _node_facts(one), _node_facts(other)
    names = [*left, *sorted(right.keys() - left.keys(), key=natural_key)]
    return tuple(
        NodeComparison(
            node=name,
            first=left.get(name),
            second=right.get(name),
            differs=tuple(
                field.name
                for field in fields(NodeFacts)
                if getattr(left.get(name), field.name, _ABSENT)
                != getattr(right.get(name), field.name, _ABSENT)
            ),
        )
        for name in names
    )


_ABSENT = object()


def _node_facts(log: _Log) -> dict[NodeId, NodeFacts]:
    started: dict[NodeId, set[tuple[int, int, int]]] = {}
    failures: dict[NodeId, list[str]] = {}
    approvals = 0
    for event in log.events:
        match event.body:
            case ProposalApproved():
                approvals += 1
            case AttemptStarted(node=node, generation=generation, attempt=attempt):
                started.setdefault(node, set()).add((approvals, generation, attempt))
            case BlockageClassified(node=node, blockage=blockage):
                failures.setdefault(node, []).append(blockage.cls)
            case _:
                pass
    found = {}
    for name in log.state.index.order if log.state.index is not None else ():
        now = log.state.node(name)
        output = now.accepted if now.status == "accepted" else now.rejected
        found[name] = NodeFacts(
            status=now.status,
            agent=log.state.assigned[name],
            attempts=len(started.get(name, ())),
            level=output.verification.level if output is not None else None,
            path=output.path if output is not None else None,
            failures=tuple(failures.get(name, ())),
            output=output.content if output is not None and now.status == "accepted" else None,
        )
    return found
