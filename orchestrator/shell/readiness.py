"""Refuse what can't be executed here before anything starts: each refusal names what it is about and the next step."""

from __future__ import annotations

from pathlib import Path

from agents.spec import AgentSpec
from graphs.contract import Goal
from orchestrator.core.errors import ModelUnavailable, SeveralSources, SourcesMissing, SubTaskUnsupported
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Proposal
from orchestrator.shell.wiring import Workshop


def check_runnable(shop: Workshop, run: RunId, proposal: Proposal) -> None:
    """Return when every sub-task and agent of an approved proposal can be served by `shop`.

    Raises `SubTaskUnsupported` for a sub-task for a person, and `ModelUnavailable` for an agent whose model or script
    is not configured, unless models are switched off. An agent that verifies and has no sub-task is not asked: rules
    check in its name, and no repair gives it one.
    """
    for subtask in proposal.plan.subtasks:
        if subtask.kind == "human":
            raise SubTaskUnsupported(run, subtask.id, subtask.kind)
    assigned = set(proposal.assignment.values())
    for agent in proposal.roster.agents:
        works = agent.role == "generate" or agent.id in assigned
        if works and not _is_served(shop, agent):
            policy = agent.model_policy
            raise ModelUnavailable(run, agent.id, policy.kind, policy.model)


def _is_served(shop: Workshop, agent: AgentSpec) -> bool:
    match agent.model_policy.kind:
        case "embedded":
            return True
        case "model":
            # A worker of the caller's own reaches its model through the broker, too: it is what pays and records.
            return shop.models_are_off() or shop.chat_for(agent) is not None
        case "scripted":
            return shop.worker_for is not None


def one_folder(goal: Goal) -> Path | None:
    """Return the folder of sources of a goal, `None` without one; raises `SeveralSources` for more than one."""
    if len(goal.sources) > 1:
        raise SeveralSources(goal.sources)
    return Path(goal.sources[0]) if goal.sources else None


def searched_folder(proposal: Proposal) -> Path | None:
    """Return the folder of sources; raises `SourcesMissing` when a sub-task searches and there is none.

    Raises `SeveralSources` for more than one.
    """
    folder = one_folder(proposal.goal)
    if folder is None and any(subtask.kind == "loop" for subtask in proposal.plan.subtasks):
        raise SourcesMissing
    return folder
