"""Which of the user's tools the agents of a new proposal are granted: by the goal's words, shown in the review."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agents.planning.roster_design import DesignedRoster
from agents.spec import AgentId, AgentSpec
from agents.tools.contract import ToolSpec
from agents.tools.grants import Grant, Grants, derive_grants
from graphs.contract import Goal, Lang


@dataclass(frozen=True, slots=True, kw_only=True)
class Granting:
    """The tools of a proposal's agents."""

    grants: Mapping[AgentId, tuple[str, ...]]
    notes: tuple[str, ...] = ()
    """One for each tool that the goal grants or forbids, and why; in the goal's language."""


def granting(
    designed: DesignedRoster,
    goal: Goal,
    specs: Sequence[ToolSpec],
    grantable: frozenset[str] | None = None,
) -> Granting:
    """Return the grants of `designed`, with those of `specs` that the goal calls for where an agent has a model.

    A deterministic agent calls no tool but those of its operations, so it is granted none. What the goal does not call
    for is not granted: the user can add it in the review. `grantable` are the tools that may be granted at all; `None`:
    each.
    """
    thinking = [agent for agent in designed.roster.agents if thinks(agent)]
    if not thinking or not specs:
        return Granting(grants=designed.grants)
    derived = derive_grants(goal.text, specs)
    held_back = derived.granted - (derived.granted if grantable is None else grantable)
    called_for = [grant.tool for grant in (*derived.reads, *derived.writes)]
    names = tuple(tool for tool in called_for if tool not in held_back)
    grants = {
        agent: tuple(dict.fromkeys((*tools, *(names if agent in {one.id for one in thinking} else ()))))
        for agent, tools in designed.grants.items()
    }
    return Granting(grants=grants, notes=tuple(_notes(derived, held_back, goal.lang)))


def thinks(agent: AgentSpec) -> bool:
    """Tell whether an agent may be granted tools beside those of its operations."""
    return agent.role == "generate" and agent.model_policy.kind == "model"


def _notes(derived: Grants, held_back: frozenset[str], lang: Lang) -> Iterator[str]:
    for grant in (*derived.reads, *derived.writes):
        if grant.tool in held_back:
            yield _not_granted(grant.tool, _HELD_BACK[lang], lang)
        else:
            yield _granted(grant, lang, asked=grant in derived.writes)
    for grant in derived.outside:
        if grant.reason == "forbidden":
            yield _not_granted(grant.tool, grant.told(lang), lang)


_HELD_BACK: Final[Mapping[Lang, str]] = {
    "en": "the goal calls for it, the proposal that this one follows does not grant it",
    "zh": "目标需要它，但本方案所依据的方案未授予它",
}


def _not_granted(tool: str, why: str, lang: Lang) -> str:
    return f"未授予工具 {tool}：{why}" if lang == "zh" else f"tool not granted: {tool}: {why}"


def _granted(grant: Grant, lang: Lang, *, asked: bool) -> str:
    if lang == "zh":
        word = "（每次调用须经您批准）" if asked else ""
        return f"已授予工具 {grant.tool}{word}：{grant.told(lang)}"
    word = " (each call needs your approval)" if asked else ""
    return f"tool granted: {grant.tool}{word}: {grant.told(lang)}"
