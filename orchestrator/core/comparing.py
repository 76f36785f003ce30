"""Two runs beside each other: what they started from, where they first decided differently, what came of it. Pure.

In what order the sub-tasks of a run take turns is chance, so decisions are compared sub-task by sub-task and never
across them; delays, ids and times are left out for the same reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from pydantic import TypeAdapter

from agents.spec import AgentId, ModelPolicy
from agents.tools.contract import Profile
from graphs.plan import NodeId, natural_key, plan_sha256
from masks.vector import new_mask
from orchestrator.core.effects import EffectOutcome, effects_of, outcomes_by_call
from orchestrator.core.events import (
    AttemptStarted,
    Backtracked,
    BlockageClassified,
    Body,
    Event,
    NodeAcceptedAsIs,
    NodeReused,
    NodesSkipped,
    ProposalApproved,
    RequestAnswered,
    RequestOpened,
    RetryScheduled,
    ReviewReopened,
    RunEnded,
    SourcesRead,
)
from orchestrator.core.ids import ContentDigest, RunId
from orchestrator.core.proposal import PROPOSAL, Proposal, digest_of
from orchestrator.core.reducer import fold
from orchestrator.core.state import RunState, RunStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One decision of a run about a sub-task, or about the run."""

    seq: int
    node: NodeId | None
    """`None`: about the run as a whole."""
    type: str
    """Of the event that records it."""
    said: Mapping[str, str]
    """What was decided, without what is chance (delays) or follows from the run's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstDifference:
    """The first decision that the other run did not make at this place in the same sub-task."""

    node: NodeId | None
    first: Decision | None
    """`None`: the first run made no further decision about it."""
    second: Decision | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SameStart:
    """What both runs started from: `True` where it is equal. What neither has is equal."""

    goal: bool
    sources: bool
    """The documents that were read, by their digest."""
    contract: bool
    plan: bool
    agents: bool
    """The roster without masks and models, who works on what, and the tools granted."""
    models: bool
    """What each agent thinks with."""
    profile: bool
    masks: bool
    """The values and the thresholds, of each agent."""
    versions: bool
    """Of product, prompts, registry, embedder and model."""
    seed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskDifference:
    """One number of an agent that is not the same in both runs, in hundredths."""

    agent: AgentId
    about: str
    """The id of a domain, `threshold.main` or `threshold.background`."""
    first: int | None
    """`None`: the first run has no such agent."""
    second: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDifference:
    """An agent that does not think with the same in both runs."""

    agent: AgentId
    first: str | None
    """`provider:model`, with its address where one is given, else the kind; `None`: the first run has no such agent."""
    second: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDifference:
    """A call with an effect that did not come to the same in both runs."""

    node: NodeId
    tool: str
    arguments: str
    """As canonical JSON."""
    first: tuple[EffectOutcome, ...]
    """What came of it in the first run; none: it was not proposed there, or it was only pretended."""
    second: tuple[EffectOutcome, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFacts:
    """What came of one sub-task in one run."""

    status: str
    agent: str
    """Who worked on it last."""
    attempts: int
    """That were started; one that a restart resumed counts once."""
    level: str | None
    """How deep the output was checked; of the accepted one, or of the one that did not pass."""
    path: int | None
    failures: tuple[str, ...]
    """The class of each failure, in order."""
    output: ContentDigest | None
    """Of the output that is accepted now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeComparison:
    """One sub-task in both runs; `None` in a run whose approved plan does not have it."""

    node: NodeId
    first: NodeFacts | None
    second: NodeFacts | None
    differs: tuple[str, ...]
    """The fields of `NodeFacts` that are not equal; all of them where only one run has the sub-task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BacktrackFacts:
    """One backtrack."""

    seq: int
    node: NodeId
    level: str
    repair: str
    depth: int
    invalidated: tuple[NodeId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What came of one run."""

    run: RunId
    seq: int
    status: RunStatus
    """The outcome, of a run that ended."""
    profile: Profile | None
    """`None`: without a proposal."""
    shadow_of: RunId | None
    sources_read: bool
    """A run that was never executed has read none yet; then `SameStart.sources` says nothing about them."""
    gaps: tuple[str, ...]
    stopped: bool
    result: ContentDigest | None
    """The result digest; equal for equal results, whatever the times and ids."""
    backtracks: tuple[BacktrackFacts, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two runs beside each other."""

    first: RunFacts
    second: RunFacts
    same: SameStart
    mask_differences: tuple[MaskDifference, ...]
    """By agent, then domain, then threshold; none where a run has no proposal."""
    model_differences: tuple[ModelDifference, ...]
    """By agent; none where a run has no proposal."""
    call_differences: tuple[CallDifference, ...]
    """Calls that were to change something: by sub-task, tool and arguments."""
    first_difference: FirstDifference | None
    """`None`: both decided the same about every sub-task."""
    nodes: tuple[NodeComparison, ...]
    """In the order of the first run's plan, then what only the second has."""
    outcome_equal: bool
    """Status, gaps and whether a limit ended it."""
    result_equal: bool
    """Never for runs that delivered nothing."""
    backtracks_equal: bool
    """The same ones, in whatever order."""

    @property
    def equal(self) -> bool:
        """Whether both runs decided the same, with the same outcome and outputs; what they started from apart."""
        return (
            self.first_difference is None
            and self.outcome_equal
            and self.first.result == self.second.result
            and self.backtracks_equal
            and not self.call_differences
            and not any(node.differs for node in self.nodes)
        )


COMPARISON: TypeAdapter[Comparison] = TypeAdapter(Comparison)
"""(De)serialises comparisons at the borders."""


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
        first_difference=_first_difference(one, other),
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


def _first_difference(one: _Log, other: _Log) -> FirstDifference | None:
    left, right = _decisions(one.events), _decisions(other.events)
    found = [
        difference
        for name in dict.fromkeys((*left, *right))
        if (difference := _parting(name, left.get(name, []), right.get(name, []))) is not None
    ]
    return min(found, key=_place, default=None)


def _place(difference: FirstDifference) -> tuple[int, tuple[object, ...]]:
    """Where it stands: in whichever run it came first."""
    seqs = [made.seq for made in (difference.first, difference.second) if made is not None]
    return min(seqs), natural_key(difference.node or "")


def _parting(
    name: NodeId | None, first: Sequence[Decision], second: Sequence[Decision]
) -> FirstDifference | None:
    for place in range(max(len(first), len(second))):
        one = first[place] if place < len(first) else None
        other = second[place] if place < len(second) else None
        if one is None or other is None or (one.type, one.said) != (other.type, other.said):
            return FirstDifference(node=name, first=one, second=other)
    return None


def _decisions(events: Iterable[Event]) -> dict[NodeId | None, list[Decision]]:
    """The decisions about each sub-task, in order; those about the whole run under `None`."""
    found: dict[NodeId | None, list[Decision]] = {}
    resumed: set[tuple[object, ...]] = set()
    for event in events:
        said = _said(event.body)
        if said is None:
            continue
        if isinstance(event.body, AttemptStarted):
            # A restart starts the same attempt again: that is no decision about the work.
            key = (event.body.node, *said.items())
            if key in resumed:
                continue
            resumed.add(key)
        if isinstance(event.body, ProposalApproved):
            resumed.clear()
        name = _subject(event.body)
        found.setdefault(name, []).append(Decision(seq=event.seq, node=name, type=event.body.type, said=said))
    return found


def _subject(body: Body) -> NodeId | None:
    match body:
        case Backtracked(plan=plan):
            return plan.node
        case NodesSkipped(nodes=nodes):
            return nodes[0]
        case RequestOpened(request=request):
            return request.node
        case ProposalApproved() | ReviewReopened() | RunEnded():
            return None
        case _:
            node: NodeId | None = getattr(body, "node", None)
            return node


def _said(body: Body) -> dict[str, str] | None:
    """What a decision says; `None` for an event that is none.

    A suspension of the run is none: whether one comes between two answers depends on what else was under way.
    """
    match body:
        case AttemptStarted(agent=agent):
            return _numbers(body) | {"agent": agent}
        case NodeReused(generation=generation) | NodeAcceptedAsIs(generation=generation):
            return {"generation": str(generation)}
        case BlockageClassified(blockage=blockage):
            return _numbers(body) | {"class": blockage.cls, "failure": blockage.failure.kind}
        case RetryScheduled():
            return _numbers(body)
        case Backtracked(plan=plan):
            return {
                "level": plan.level,
                "repair": plan.repair.kind,
                "at": plan.repair.node,
                "depth": str(plan.depth),
                "invalidated": ",".join(sorted(plan.invalidated, key=natural_key)),
            }
        case NodesSkipped(nodes=nodes, reason=reason):
            return {"nodes": ",".join(sorted(nodes, key=natural_key)), "reason": reason}
        case RequestOpened(request=request):
            return {"kind": request.kind, "reason": request.reason}
        case RequestAnswered(answer=answer):
            value = "" if answer.value is None else str(answer.value)
            asked = {"agent": answer.agent, "domain": answer.domain, "value": value}
            return {"choice": answer.choice} | {name: text for name, text in asked.items() if text}
        case ProposalApproved(revision=revision, sha256=sha256):
            return {"revision": str(revision), "sha256": sha256}
        case ReviewReopened():
            return {}
        case RunEnded(outcome=outcome, stopped=stopped):
            return {"outcome": outcome, "stopped": str(stopped).lower()}
        case _:
            return None


def _numbers(body: AttemptStarted | BlockageClassified | RetryScheduled) -> dict[str, str]:
    return {"generation": str(body.generation), "attempt": str(body.attempt)}
