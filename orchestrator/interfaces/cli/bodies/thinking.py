"""What a new run thinks with: its agents' model and its planner's, by option or by setting."""

from __future__ import annotations

from agents.models.providers import PROVIDERS
from agents.planning.model.planner import ModelPlanner
from agents.planning.ports import Planner
from agents.spec import ModelPolicy
from orchestrator.interfaces.cli.bodies.starting import EMBEDDED, Draft
from orchestrator.interfaces.cli.problems import UsageProblem
from orchestrator.interfaces.cli.session import Session
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
    return ModelPlanner(chat) if chat is not None else None


def _opened(shop: Workshop, name: str, url: str) -> ModelPolicy | None:
    if not name or name == EMBEDDED:
        return None
    policy = ModelPolicy(kind="model", model=name, base_url=url or None)
    if shop.chats is not None and not shop.models_are_off():
        shop.chats.of_policy(policy)
    return policy
