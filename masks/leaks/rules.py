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

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, TypeAlias

from masks.bands import DEFAULT_THRESHOLDS, MASK_MIN, Band, Thresholds, band
from masks.domains import Lang
from masks.errors import GradientError
from masks.leaks.provenance import GenerationPath

LeakRule: TypeAlias = Literal["1", "2a", "2b"]
"""The rule of specification 3.3 that was applied."""

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
    needs_tainted: bool = False
    """That hint may stem from untrusted text."""
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
    goes_to_l2: bool
    """The output, if it is kept, must be verified at L2."""
    noted_against_agent: bool
    may_extend: bool
    """A repair may extend the mask: only for a required domain that is not at -1."""
    tainted: bool = False
    """The hint behind the question may stem from untrusted text; say so to the person."""


def judge(facts: LeakFacts) -> Judgement:
    """Return what follows from a leak. Pure; nothing an agent says alone ever leads to a wider mask."""
    if facts.band is Band.BACKGROUND:
        return _background(facts)
    if facts.required:
        return _silent(LeakAction.NECESSARY_GAP, "2a", may_extend=facts.m100 > MASK_MIN)
    if facts.needed_by_agent:
        return _silent(LeakAction.ASK_PERSON, "2a", tainted=facts.needs_tainted)
    if facts.spontaneous_before < SPONTANEOUS_TRIES:
        return _silent(LeakAction.BLOCK_AND_REGENERATE, "2b", noted=True)
    return _silent(LeakAction.CHANGE_AGENT_OR_GUARD, "2b", noted=True)


def render_judgement(judgement: Judgement, lang: Lang) -> str:
    """Return one sentence for people that names the rule and what follows."""
    text = _ACTION_TEXT[judgement.action][lang]
    rule = f"Rule {judgement.rule}" if lang == "en" else f"规则{judgement.rule}"
    if judgement.tainted:
        warning = {
            "en": " The request may come from untrusted text.",
            "zh": "该请求可能来自不可信文本。",
        }
        text += warning[lang]
    return f"{rule}: {text}" if lang == "en" else f"{rule}：{text}"


_ACTION_TEXT: Final[Mapping[LeakAction, Mapping[Lang, str]]] = {
    LeakAction.ALLOW_DECLARED: {
        "en": "background knowledge, declared; it stays, marked.",
        "zh": "背景域知识，已声明；保留并标记。",
    },
    LeakAction.DECLARE_AND_NOTE: {
        "en": "background knowledge that was not declared or not allowed on path 1; the system declares it "
        "and notes it.",
        "zh": "背景域知识未声明，或在路径1使用；由系统代为声明并记录。",
    },
    LeakAction.NECESSARY_GAP: {
        "en": "the sub-task cannot be met without this domain; back to assignment (class C).",
        "zh": "没有该知识域，子任务无法完成；退回分配层（C类）。",
    },
    LeakAction.BLOCK_AND_REGENERATE: {
        "en": "spontaneous use of a silent domain; blocked and written again with the suppression prompt.",
        "zh": "静默域被自发激活；阻断本轮并用抑制 prompt 重新生成。",
    },
    LeakAction.CHANGE_AGENT_OR_GUARD: {
        "en": "spontaneous use of a silent domain again; the agent does not fit: change it or inject a "
        "guard.",
        "zh": "静默域再次被自发激活；该 agent 不合适：更换它或注入流程护栏。",
    },
    LeakAction.ASK_PERSON: {
        "en": "the agent says that it needs this domain, the plan does not; a person decides.",
        "zh": "agent 称需要该知识域，而计划未列出；由人决定。",
    },
}


def _background(facts: LeakFacts) -> Judgement:
    allowed = facts.declared and facts.path == 2
    return Judgement(
        action=LeakAction.ALLOW_DECLARED if allowed else LeakAction.DECLARE_AND_NOTE,
        rule="1",
        goes_to_l2=True,
        noted_against_agent=not allowed,
        may_extend=False,
    )


def _silent(
    action: LeakAction,
    rule: LeakRule,
    *,
    may_extend: bool = False,
    noted: bool = False,
    tainted: bool = False,
) -> Judgement:
    return Judgement(
        action=action,
        rule=rule,
        goes_to_l2=True,
        noted_against_agent=noted,
        may_extend=may_extend,
        tainted=tainted,
    )


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
