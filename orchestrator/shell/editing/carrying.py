"""Carry what a document does not say over to the edited proposal: origins of mask values, ranked candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from agents.assignment import rank_candidates
from agents.roster import Roster
from agents.spec import AgentId, AgentSpec
from graphs.contract import Lang, TaskContract, forbidden_domains
from graphs.plan import NodeId
from masks.bands import MASK_MIN
from masks.design import MaskOrigin, MaskOriginKind
from masks.domains import DomainId, DomainRegistry
from masks.gradient import suppress
from orchestrator.core.proposal import Candidate, Proposal
from orchestrator.shell.editing.reading_roster import USER

_FORBIDDEN: Final[Mapping[Lang, str]] = {"en": "forbidden in the review", "zh": "审核时禁止"}


def suppress_forbidden(
    roster: Roster, base: Proposal, contract: TaskContract, registry: DomainRegistry
) -> Roster:
    """Return the roster with the domains that the edit forbids at -1 in every mask (semantics 1).

    A value that the same edit set to something else is left for the checks to refuse: it contradicts the prohibition.
    """
    banned = newly_forbidden(base.contract, contract, registry)
    if not banned:
        return roster
    before = {agent.id: agent for agent in base.roster.agents}
    agents = []
    for agent in roster.agents:
        mask = agent.mask
        for leaf in sorted(banned):
            old = before[agent.id].mask.value(leaf) if agent.id in before else 0
            if mask.value(leaf) == old != MASK_MIN:
                reason = _FORBIDDEN[base.goal.lang]
                mask = suppress(mask, leaf, registry=registry, author=USER, reason=reason)
        agents.append(replace(agent, mask=mask))
    return Roster(agents=tuple(agents))


def newly_forbidden(old: TaskContract, new: TaskContract, registry: DomainRegistry) -> frozenset[DomainId]:
    """Return the leaves that `new` forbids and `old` did not; unknown domains are left out."""
    return _forbidden(new, registry) - _forbidden(old, registry)


def carry_origins(
    base: Proposal, edited: Proposal, registry: DomainRegistry
) -> Mapping[AgentId, Mapping[DomainId, MaskOrigin]]:
    """Return why each mask value is what it is: as before where it is the same, the user's where it changed."""
    before = {agent.id: agent for agent in base.roster.agents}
    after = {agent.id: agent for agent in edited.roster.agents}
    banned = newly_forbidden(base.contract, edited.contract, registry)
    origins = {
        agent: own for agent, own in base.mask_origins.items() if agent in after or agent not in before
    }
    for agent in edited.roster.agents:
        changed = _changed_values(before.get(agent.id), agent)
        if changed:
            by_user = {
                leaf: MaskOrigin(
                    kind=MaskOriginKind.FORBIDDEN
                    if leaf in banned and agent.mask.value(leaf) == MASK_MIN
                    else MaskOriginKind.USER
                )
                for leaf in sorted(changed)
            }
            origins[agent.id] = {**origins.get(agent.id, {}), **by_user}
    return origins


def carry_candidates(base: Proposal, edited: Proposal) -> Mapping[NodeId, tuple[Candidate, ...]]:
    """Return the ranked candidates: as before for sub-tasks whose ranking can't have changed, else ranked anew."""
    same_agents = (
        base.roster == edited.roster
        and base.thresholds == edited.thresholds
        and base.agent_thresholds == edited.agent_thresholds
    )
    before = {subtask.id: subtask for subtask in base.plan.subtasks}
    gone = before.keys() - {subtask.id for subtask in edited.plan.subtasks}
    candidates = {node: ranked for node, ranked in base.candidates.items() if node not in gone}
    for subtask in edited.plan.subtasks:
        if same_agents and before.get(subtask.id) == subtask:
            continue
        candidates[subtask.id] = tuple(
            Candidate(agent=found.agent, fit=round(found.fit, 4), reasons=found.reasons[base.goal.lang])
            for found in rank_candidates(subtask, edited.roster, edited.thresholds, edited.agent_thresholds)
        )
    return candidates


def _changed_values(before: AgentSpec | None, after: AgentSpec) -> frozenset[DomainId]:
    old = dict(before.mask.values) if before is not None else {}
    new = dict(after.mask.values)
    return frozenset(domain for domain in old.keys() | new.keys() if old.get(domain, 0) != new.get(domain, 0))


def _forbidden(contract: TaskContract, registry: DomainRegistry) -> frozenset[DomainId]:
    return frozenset(
        leaf
        for domain in forbidden_domains(contract)
        if domain in registry
        for leaf in registry.leaves_under(DomainId(domain))
    )
