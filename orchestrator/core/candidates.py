"""What an answer to a request can name: agents that can take a sub-task, domains whose mask value may help. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from agents.operations import tools_of
from agents.spec import AgentSpec
from graphs.contract import forbidden_domains
from graphs.plan import NodeId
from masks.bands import MASK_MIN, Band
from masks.domains import DomainId
from orchestrator.core.blockage import FailureKind
from orchestrator.core.proposal import Proposal, base_agent
from orchestrator.core.requests import is_closed
from orchestrator.core.state import NodeState, RunState

_NOT_OF_THE_MASK: Final[frozenset[FailureKind]] = frozenset(
    {
        "timeout",
        "rate_limited",
        "unavailable",
        "not_verified",
        "bad_request",
        "invalid_output",
        "misconfigured",
        "tool_missing",
    }
)
"""Failures that no mask value changes."""


def able_agents(state: RunState, node: NodeState) -> tuple[AgentSpec, ...]:
    """Return the approved agents other than the present one that can take `node`, as the assignment ranked them.

    One can that generates, performs the operation and was granted the tools that the operation needs.
    """
    proposal = _proposal(state)
    assert state.index is not None, "candidates exist for approved plans only"
    operation = state.index.subtask(node.id).operation
    needed = frozenset(tools_of(operation))
    current = base_agent(state.assigned[node.id])
    return tuple(
        agent
        for agent in _ranked(proposal, node.id)
        if agent.id != current
        and agent.role == "generate"
        and operation in agent.operations
        and needed <= set(proposal.grants.get(agent.id, ()))
    )


def helpful_domains(state: RunState, node: NodeState) -> tuple[str, ...]:
    """Return the domains whose mask value may help: the one that the failure names, and required ones below MAIN.

    Those that are closed to the present agent are left out; none for a failure that has nothing to do with the mask.
    """
    if node.failure is None or node.failure.kind in _NOT_OF_THE_MASK or changed_sources(node):
        return ()
    proposal, agent = _proposal(state), state.agent_of(node.id)
    assert state.index is not None, "candidates exist for approved plans only"
    thresholds = proposal.thresholds_of(agent.id)
    required = state.index.subtask(node.id).required_domains
    below = [name for name in required if agent.mask.band(DomainId(name), thresholds) is not Band.MAIN]
    named = node.blockage.domain if node.blockage is not None else node.failure.domain
    found = dict.fromkeys(
        [*([named] if named else []), *sorted(below, key=lambda name: (-required[name], name))]
    )
    shut = closed_domains(state, node).get(str(agent.id), ())
    return tuple(domain for domain in found if not is_closed(domain, shut))


def changed_sources(node: NodeState) -> tuple[str, ...]:
    """Return the cited sources that the last failure found changed or deleted since they were read."""
    diagnosis = node.failure.diagnosis if node.failure is not None else None
    return diagnosis.changed if diagnosis is not None else ()


def mask_agents(state: RunState, node: NodeState) -> tuple[AgentSpec, ...]:
    """Return the agents whose mask an answer about `node` can set: who works on it, who it is a copy of, who could."""
    present = state.assigned[node.id]
    names = dict.fromkeys([present, base_agent(present), *(agent.id for agent in able_agents(state, node))])
    return tuple(state.agents[name] for name in names if name in state.agents)


def closed_domains(state: RunState, node: NodeState) -> dict[str, tuple[str, ...]]:
    """Return, per agent of `mask_agents`, the domains that no answer opens (semantics 5, envelope)."""
    forbidden = forbidden_domains(_proposal(state).contract)
    return {
        str(agent.id): tuple(
            sorted({*forbidden, *(str(name) for name, value in agent.mask.values if value == MASK_MIN)})
        )
        for agent in mask_agents(state, node)
    }


def _ranked(proposal: Proposal, name: NodeId) -> Iterator[AgentSpec]:
    """The roster, as the assignment ranked it for `name`; a candidate that an edit took off the roster is none."""
    roster = {agent.id: agent for agent in proposal.roster.agents}
    ranked = [candidate.agent for candidate in proposal.candidates.get(name, ())]
    for agent in dict.fromkeys((*ranked, *roster)):
        if agent in roster:
            yield roster[agent]


def _proposal(state: RunState) -> Proposal:
    assert state.proposal is not None, "candidates exist for approved plans only"
    return state.proposal
