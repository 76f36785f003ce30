"""What a new run thinks with: its agents' model and its planner's, by option or by setting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from agents.models.providers import PROVIDERS
from agents.planning.domains import DomainRanker, NoteOutline
from agents.planning.embedded import PlannedGoal, PlanOptions
from agents.planning.model.planner import ModelPlanner
from agents.planning.ports import Planner
from agents.planning.repairs import render_repair
from agents.spec import ModelPolicy
from graphs.contract import Goal
from masks.domains import DomainRegistry
from orchestrator.interfaces.cli.bodies.starting import EMBEDDED, Draft
from orchestrator.interfaces.cli.problems import UsageProblem
from orchestrator.interfaces.cli.session import Session
from orchestrator.interfaces.cli.streams import one_line
from orchestrator.shell.wiring import Workshop


def policy_of(session: Session, draft: Draft) -> ModelPolicy | None:
    """Return what agents think with, `None` for the embedded default; opens the model, so that a fault shows now.

    Raises `UsageProblem` for an address without a model, and a `ChatUnavailable` for a model that can't be opened.
    """
    settings = session.settings
    name, url = draft.model or settings.model, draft.base_url or settings.base_url
    if draft.base_url and not (name or draft.planner_model or settings.planner_model):
        raise UsageProblem(
            "base_url_without_model",
            en=f"--base-url {draft.base_url!r} is the address of a model's server; name the model, too: --model "
            f"PROVIDER:MODEL (providers: {', '.join(PROVIDERS)})",
            zh=f"--base-url {draft.base_url!r} 是模型服务器的地址；请同时给出模型：--model PROVIDER:MODEL"
            f"（提供商：{'、'.join(PROVIDERS)}）",
        )
    return _opened(session.shop(), name, url)


def planner_of(session: Session, shop: Workshop, draft: Draft) -> Planner | None:
    """Return the planner that asks a chat model, `None` for the embedded one; raises as `policy_of` does."""
    settings = session.settings
    name = draft.planner_model or settings.planner_model or draft.model or settings.model
    policy = _opened(shop, name, draft.base_url or settings.base_url)
    if policy is None or shop.models_are_off() or shop.chats is None:
        return None
    chat = shop.chats.of_policy(policy)
    if chat is None:
        return None
    address = policy.base_url or ""
    return _ToldPlanner(
        session=session,
        planner=ModelPlanner(chat, address),
        model=chat.name,
        address=address,
        silence_s=shop.chats.timeout_s,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _ToldPlanner:
    """Says which model is asked before it is, and what became of that when no plan of it came."""

    session: Session
    planner: Planner
    model: str
    address: str
    silence_s: float
    """How long an answer may be silent."""

    async def plan(
        self,
        goal: Goal,
        registry: DomainRegistry,
        rank: DomainRanker,
        catalogue: Sequence[NoteOutline] | None = None,
        options: PlanOptions | None = None,
    ) -> PlannedGoal:
        """Return what the planner behind it returns; raises as it does."""
        named = one_line(f"{self.model} {self.address}".strip())
        since = datetime.now(UTC).strftime("%H:%M:%S UTC")
        self.session.talk(
            f"asking {named} to plan since {since}; it may be silent for {self.silence_s:g} s …",
            f"自 {since} 起请 {named} 制定计划；每次调用最多静默 {self.silence_s:g} 秒……",
        )
        planned = await self.planner.plan(goal, registry, rank, catalogue, options)
        for found in planned.repairs:
            if found.kind in _WITHOUT_IT:
                line = one_line(render_repair(found, self.session.lang), _LINE)
                self.session.talk(line, line)
        return planned


_WITHOUT_IT: Final = frozenset({"fallback"})
"""Repairs after which the plan is not the model's."""
_LINE: Final = 600


def _opened(shop: Workshop, name: str, url: str) -> ModelPolicy | None:
    if not name or name == EMBEDDED:
        return None
    policy = ModelPolicy(kind="model", model=name, base_url=url or None)
    if shop.chats is not None and not shop.models_are_off():
        shop.chats.of_policy(policy)
    return policy
