"""The planner without a model behind the port of planners."""

from __future__ import annotations

from collections.abc import Sequence

from agents.planning.domains import DomainRanker, NoteOutline
from agents.planning.embedded import PlannedGoal, PlanOptions, plan_goal
from graphs.contract import Goal
from masks.domains import DomainRegistry


class EmbeddedPlanner:
    """`plan_goal` behind the port."""

    async def plan(
        self,
        goal: Goal,
        registry: DomainRegistry,
        rank: DomainRanker,
        catalogue: Sequence[NoteOutline] | None = None,
        options: PlanOptions | None = None,
    ) -> PlannedGoal:
        """Return what `plan_goal` returns."""
        return plan_goal(goal, registry, rank, catalogue, options)
