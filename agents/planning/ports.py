"""The port of planners: what drafts intent, contract and plan of a goal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agents.planning.domains import DomainRanker, NoteOutline
from agents.planning.embedded import PlannedGoal, PlanOptions
from graphs.contract import Goal
from masks.domains import DomainRegistry


class Planner(Protocol):
    """One planner."""

    async def plan(
        self,
        goal: Goal,
        registry: DomainRegistry,
        rank: DomainRanker,
        catalogue: Sequence[NoteOutline] | None = None,
        options: PlanOptions | None = None,
    ) -> PlannedGoal:
        """Return a plan without a lint error; raises as `plan_goal` does, and for nothing that a model says."""
        ...
