"""What the user set for a proposal beside the goal: it holds on where the same goal is planned anew.

That happens when a point is decided (the next revision) and when a shadow is drafted. Edits of the plan, the roster and
the masks are no terms: they are about the very plan that they were made for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agents.memory.contract import Recalled
from agents.planning.clarifying import as_decided
from agents.planning.intent import resolve_prohibitions
from agents.planning.reading import read_goal
from agents.spec import AgentSpec
from graphs.contract import Ambiguity
from masks.design import MaskOriginKind
from orchestrator.core.events import ProposalDrafted
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Proposal
from orchestrator.shell.granting import thinks
from orchestrator.shell.proposing import ProposalOptions
from orchestrator.shell.runs import events_of
from orchestrator.shell.wiring import Workshop


def options_of(
    shop: Workshop, run: RunId, proposal: Proposal, settled: Sequence[Ambiguity]
) -> ProposalOptions:
    """Return what the user set for a proposal of `run`; what the goal or a decision forbids by its words is not in it.

    Raises `UnknownRun`.
    """
    goal, contract = proposal.goal, proposal.contract
    reading = as_decided(goal, read_goal(goal.text), settled, shop.registry)
    own = resolve_prohibitions(reading.prohibitions, shop.registry).entries()
    policies = [agent.model_policy for agent in proposal.roster.agents if agent.role == "generate"]
    return ProposalOptions(
        allow_unresolved=contract.allow_unresolved,
        forbidden=tuple(entry for entry in contract.forbidden if entry not in own),
        limits=contract.limits,
        thresholds=proposal.thresholds,
        catalogue=_brought_along(proposal),
        policy=policies[0] if policies else None,
        profile=proposal.profile,
        memories=_left_memories(shop, run, proposal),
        grantable=_left_tools(proposal),
    )


def with_terms_of(before: Proposal, planned: Proposal) -> Proposal:
    """Return `planned` with the user's own terms of the contract of `before`, which no planner makes."""
    asked_for = (*planned.contract.approval_required, *before.contract.approval_required)
    contract = replace(
        planned.contract,
        approval_required=tuple(dict.fromkeys(asked_for)),
        delta_max=before.contract.delta_max,
    )
    return replace(planned, contract=contract)


def _left_memories(shop: Workshop, run: RunId, proposal: Proposal) -> tuple[Recalled, ...] | None:
    """What the user left of what was recalled, which may be nothing; `None` where nothing was recalled so far.

    A revision without memories says nothing by itself: drafts of deterministic planners and agents have none either.
    """
    recalled = any(
        isinstance(event.body, ProposalDrafted) and event.body.proposal.memories
        for event in events_of(shop.store, run)
    )
    return proposal.memories if recalled or proposal.memories else None


def _left_tools(proposal: Proposal) -> frozenset[str] | None:
    """The tools that a proposal grants to any agent; `None` where none of its agents could have been granted one.

    Only agents that think are granted tools beside those of their operations, so the grants of others say nothing of
    what the user wants.
    """
    thinking = [agent.id for agent in proposal.roster.agents if thinks(agent)]
    if not thinking:
        return None
    return frozenset(tool for agent in thinking for tool in proposal.grants.get(agent, ()))


def _brought_along(proposal: Proposal) -> tuple[AgentSpec, ...]:
    """The agents that came from the user's catalogue, by where their masks come from; empty: they were designed."""
    return tuple(
        agent
        for agent in proposal.roster.agents
        if any(
            origin.kind is MaskOriginKind.CATALOGUE
            for origin in proposal.mask_origins.get(agent.id, {}).values()
        )
    )
