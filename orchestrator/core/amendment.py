"""What of the work done stays valid when a person approves an amended proposal. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agents.spec import AgentSpec
from graphs.plan import NodeId, PlanIndex, SubTask, canonical_subtask
from masks.domains import DomainId
from orchestrator.core.proposal import Proposal, base_agent
from orchestrator.core.state import NodeState, RunState


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """One sub-task as it enters the amended plan."""

    node: NodeState
    agent: AgentSpec | None = None
    """Who works on it, where repairs of the earlier plan are kept; `None`: as the amended proposal assigns it."""


def carried_over(state: RunState, proposal: Proposal, index: PlanIndex, name: NodeId) -> Carried:
    """Return how `name` starts under the amended `proposal`, whose plan is `index`.

    In a new generation, with no repairs charged. Its last accepted output stays, so that equal inputs make it accepted
    again without running; also of one that an earlier amendment took out and this one brings back, whose calls must not
    have the keys of the first time. Where it was accepted and the amendment changes nothing about it, the repairs that
    led there stay too: a valid sub-task never runs again (semantics 6).
    """
    before = state.nodes.get(name) or state.dropped.get(name)
    waiting = len(index.predecessors(name))
    if before is None:
        return Carried(node=NodeState(id=name, waiting=waiting))
    fresh = NodeState(
        id=name,
        waiting=waiting,
        generation=before.generation + 1,
        accepted=before.accepted,
        committed=before.committed,
        history=before.history,
    )
    if before.status != "accepted" or not _unchanged(state, proposal, index.subtask(name)):
        return Carried(node=fresh)
    return Carried(
        node=replace(
            fresh,
            params=before.params,
            guards=before.guards,
            start_path=before.start_path,
            extended=before.extended,
            forced_level=before.forced_level,
        ),
        agent=state.agent_of(name),
    )


def _unchanged(state: RunState, proposal: Proposal, subtask: SubTask) -> bool:
    """Whether the amendment says of `subtask` what was approved before, and still grants the repairs made for it."""
    old, name = state.superseded, subtask.id
    if old is None or state.index is None or name not in proposal.assignment:
        return False
    if canonical_subtask(subtask) != canonical_subtask(state.index.subtask(name)):
        return False
    before, after = old.agent_of(name), proposal.agent_of(name)
    if before != after or old.thresholds_of(before.id) != proposal.thresholds_of(after.id):
        return False
    now = state.agent_of(name)
    base = next((agent for agent in proposal.roster.agents if agent.id == base_agent(now.id)), None)
    if base is None or base != old.roster.get(base.id):
        return False
    if now == after:
        return True
    within = all(
        now.mask.value(DomainId(domain)) <= proposal.ceiling(now.id, DomainId(domain))
        for domain in state.node(name).extended
    )
    return proposal.envelope.reassign and within
