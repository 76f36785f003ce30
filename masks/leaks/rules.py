"""Decide what follows from a leak: rules 1, 2a and 2b (specification 3.3, semantics 2).

| band | case | action |
| --- | --- | --- |
| BACKGROUND | path 2, declared | allowed (rule 1) |
| BACKGROUND | undeclared, or on path 1 | declared by the system, noted against the agent (rule 1) |
| SILENT | the plan or contract requires the domain | class C blockage, back to assignment (rule 2a) |
| SILENT | only the agent says it needs it | a person decides (rule 2a) |
| SILENT | spontaneous, first time | blocked, regenerated once with the suppression prompt (rule 2b) |
| SILENT | spontaneous, again | change the agent or inject a guard, never extend the mask (rule 2b) |
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from masks.bands import DEFAULT_THRESHOLDS, Band, Thresholds, band
from masks.errors import GradientError
from masks.leaks.provenance import GenerationPath, LeakRule

SPONTANEOUS_TRIES: Final = 1
"""How often a spontaneous leak is blocked and regenerated before the agent is judged unfit (semantics 2)."""


class LeakAction(StrEnum):
    """Say what to do about a leak."""

    ALLOW_DECLARED = "allow_declared"
    """Keep it; it is declared and allowed."""
    DECLARE_AND_NOTE = "declare_and_note"
    """Keep it, declare it for the agent and note that against the agent."""
    NECESSARY_GAP = "necessary_gap"
    """Stop: the sub-task cannot be met without the domain. A class C blockage, back to assignment."""
    BLOCK_AND_REGENERATE = "block_and_regenerate"
    """Discard the output and write it again with the suppression prompt."""
    CHANGE_AGENT_OR_GUARD = "change_agent_or_guard"
    """The agent does not fit: change it or inject a process guard."""
    ASK_PERSON = "ask_person"
    """A person decides whether the domain is necessary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakFacts:
    """Hold what is known about one leak when it is judged.

    Raises `GradientError` for a value in the MAIN band, which is no leak.
    """

    m100: int
    """The agent's mask value for the domain, in hundredths."""
    path: GenerationPath
    declared: bool
    required: bool = False
    """`required_domains`, the output contract or an acceptance criterion of the approved plan asks for it."""
    needed_by_agent: bool = False
    """The agent lists the domain in its `needs`: a hint, never a reason by itself."""
    spontaneous_before: int = 0
    """How often this sub-task's output was blocked for a spontaneous leak of this domain."""
    thresholds: Thresholds = DEFAULT_THRESHOLDS

    def __post_init__(self) -> None:
        if self.band is Band.MAIN:
            raise _no_leak(self.m100)

    @property
    def band(self) -> Band:
        """Return the band of the value."""
        return band(self.m100, self.thresholds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Hold what follows from one leak."""

    action: LeakAction
    rule: LeakRule
    noted_against_agent: bool


def judge(facts: LeakFacts) -> Judgement:
    """Return what follows from a leak. Pure; nothing that an agent says alone makes a domain a necessary one."""
    if facts.band is Band.BACKGROUND:
        return _background(facts)
    if facts.required:
        return Judgement(action=LeakAction.NECESSARY_GAP, rule="2a", noted_against_agent=False)
    if facts.needed_by_agent:
        return Judgement(action=LeakAction.ASK_PERSON, rule="2a", noted_against_agent=False)
    first = facts.spontaneous_before < SPONTANEOUS_TRIES
    action = LeakAction.BLOCK_AND_REGENERATE if first else LeakAction.CHANGE_AGENT_OR_GUARD
    return Judgement(action=action, rule="2b", noted_against_agent=True)


def _background(facts: LeakFacts) -> Judgement:
    allowed = facts.declared and facts.path == 2
    action = LeakAction.ALLOW_DECLARED if allowed else LeakAction.DECLARE_AND_NOTE
    return Judgement(action=action, rule="1", noted_against_agent=not allowed)


def _no_leak(m100: int) -> GradientError:
    return GradientError(
        en=(
            f"A mask value of {m100!r} hundredths is in the MAIN band, so its use is no leak. Accepted: a "
            "value "
            f"at or below theta_main. Do not judge it."
        ),
        zh=(
            f"蒙版值 {m100!r}（百分之一）属于主激活域，使用它不是泄漏。可接受：不高于 theta_main 的值。"
            "无需裁决。"
        ),
    )
