"""Which of the user's tools the agents of a new proposal are granted: by the goal's words, shown in the review."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

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


def granting(designed: DesignedRoster, goal: Goal, specs: Sequence[ToolSpec]) -> Granting:
    """Return the grants of `designed`, with those of `specs` that the goal calls for where an agent has a model.

    A deterministic agent calls no tool but those of its operations, so it is granted none. What the goal does not call
    for is not granted: the user can add it in the review.
    """
    thinking = [agent for agent in designed.roster.agents if _thinks(agent)]
    if not thinking or not specs:
        return Granting(grants=designed.grants)
    derived = derive_grants(goal.text, specs)
    names = tuple(grant.tool for grant in (*derived.reads, *derived.writes))
    grants = {
        agent: tuple(dict.fromkeys((*tools, *(names if agent in {one.id for one in thinking} else ()))))
        for agent, tools in designed.grants.items()
    }
    return Granting(grants=grants, notes=tuple(_notes(derived, goal.lang)))


def _thinks(agent: AgentSpec) -> bool:
    return agent.role == "generate" and agent.model_policy.kind == "model"


def _notes(derived: Grants, lang: Lang) -> Iterator[str]:
    for grant in derived.reads:
        yield _granted(grant, lang, asked=False)
    for grant in derived.writes:
        yield _granted(grant, lang, asked=True)
    for grant in derived.outside:
        if grant.reason == "forbidden":
            said = grant.told(lang)
            yield (
                f"未授予工具 {grant.tool}：{said}"
                if lang == "zh"
                else f"tool not granted: {grant.tool}: {said}"
            )


def _granted(grant: Grant, lang: Lang, *, asked: bool) -> str:
    if lang == "zh":
        word = "（每次调用须经您批准）" if asked else ""
        return f"已授予工具 {grant.tool}{word}：{grant.told(lang)}"
    word = " (each call needs your approval)" if asked else ""
    return f"tool granted: {grant.tool}{word}: {grant.told(lang)}"
