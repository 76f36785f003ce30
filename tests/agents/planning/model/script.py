"""Plan with a scripted model: what it is to answer stands in the test."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from agents.models.langchain import LangChainChat
from agents.models.scripted import Fail, Reply, SayJson, ScriptedChatModel
from agents.planning.domains import DomainRanker, NoteOutline
from agents.planning.embedded import PlannedGoal, PlanOptions
from agents.planning.language import detect_language
from agents.planning.model.planner import ModelPlanner
from graphs.contract import Goal, Lang
from graphs.plan import Plan
from tests.agents.planning.rankers import REGISTRY, by_key_terms

INTENT = SayJson(data={"objective": "Find out what was asked.", "ambiguities": []})
"""A reading of a goal that adds nothing."""


def step(identifier: str, operation: str, after: Sequence[str] = (), **params: Any) -> dict[str, Any]:
    """Return one step as a model that keeps to the form writes it."""
    return {
        "id": identifier,
        "operation": operation,
        "title": params.pop("title", f"Step {identifier}"),
        "after": list(after),
        **params,
    }


def steps(*listed: Mapping[str, Any]) -> SayJson:
    """Answer with these steps."""
    return SayJson(data={"steps": list(listed)})


def plan_with(
    text: str,
    *replies: Reply,
    lang: Lang | None = None,
    rank: DomainRanker = by_key_terms,
    catalogue: Sequence[NoteOutline] | None = None,
    options: PlanOptions | None = None,
) -> tuple[PlannedGoal, ScriptedChatModel]:
    """Return what the model planner makes of a goal with these answers, and the model that gave them."""
    model = ScriptedChatModel.in_order(*replies)
    planner = ModelPlanner(LangChainChat(model, "scripted:model"))
    goal = Goal(text=text, lang=lang or detect_language(text).lang, sources=("notes",))
    return asyncio.run(planner.plan(goal, REGISTRY, rank, catalogue, options)), model


def told(model: ScriptedChatModel, request: int) -> str:
    """Return all that the model was sent with one of its requests, from 0."""
    return "\n".join(str(message.content) for message in model.requests[request])


def shape(plan: Plan) -> list[tuple[str, str, list[str]]]:
    """Return id, operation and sources of each sub-task."""
    return [
        (s.id, s.operation, [edge.source for edge in plan.dependencies if edge.target == s.id])
        for s in plan.subtasks
    ]


def kinds(planned: PlannedGoal) -> list[str]:
    """Return the kinds of the repairs in order."""
    return [found.kind for found in planned.repairs]


__all__ = ["INTENT", "Fail", "kinds", "plan_with", "shape", "step", "steps", "told"]
