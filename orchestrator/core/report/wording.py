"""The fixed words of a delivered report, in English and Chinese."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, assert_never

from pydantic import JsonValue

from agents.results import ClosedBy, OpenReason, WorkMode
from graphs.contract import Lang
from orchestrator.core.claims import (
    CheckOutcome,
    Confidence,
    Contested,
    Deviates,
    Falsified,
    SoftClaim,
    Uncertain,
    Verdict,
    Verified,
)
from orchestrator.core.effects import EffectCall, EffectOutcome
from orchestrator.core.events import RunOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Headings and words of one language."""

    open_questions: str
    conflicts: str
    gaps: str
    changes: str
    changed: Mapping[EffectOutcome, str]
    """What came of a call that was to change something; those that changed nothing are not shown."""
    approved: str
    leaks: str
    no_leaks: str
    evidence: str
    no_evidence: str
    checks: str
    outcome: str
    stopped: str
    how: str
    verified_means: str
    """What "verified" says of a quote, and what it doesn't."""
    not_traced: str
    none: str
    searched: str
    not_searched: str
    nearest: str
    no_word: str
    fields: str
    missing_evidence: str
    copy_of: str
    also_in: str
    declared: str
    undeclared: str
    not_detected: str
    not_in_text: str
    unknown_anchors: str
    accepted_as_is: str
    not_checked: str
    traced: str
    untraced: str
    colon: str
    separator: str
    """Between the items of an enumeration."""
    outcomes: Mapping[RunOutcome, str]
    modes: Mapping[WorkMode, str]
    reasons: Mapping[OpenReason, str]
    closed_by: Mapping[ClosedBy, str]
    """With `domain`, `agent`, `value`."""
    checks_ended: Mapping[CheckOutcome, str]


WORDS: Final[Mapping[Lang, Words]] = {
    "en": Words(
        open_questions="Open questions",
        conflicts="Where the sources disagree",
        gaps="Missing",
        changes="What was changed",
        changed={
            "made": "made",
            "unknown": "begun; nobody knows whether it happened",
            "nothing": "failed, nothing happened",
            "refused": "refused by you, not made",
            "held": "waits for your word",
        },
        approved="approved by you",
        leaks="Knowledge from outside the masks",
        no_leaks="No leak was declared or detected.",
        evidence="Evidence",
        no_evidence="No claim rests on a source.",
        checks="Checks",
        outcome="Outcome",
        stopped="stopped by a limit",
        how="Text",
        verified_means=(
            "“Verified” means: the quote stands at the cited place. "
            "Whether it answers the question is for the reader to judge."
        ),
        not_traced="Not traced to a source",
        none="none",
        searched="searched",
        not_searched="no search was made",
        nearest="nearest",
        no_word="no word of it occurs in the notes",
        fields="Fields",
        missing_evidence="evidence missing",
        copy_of="repeats",
        also_in="same text repeated in",
        declared="declared",
        undeclared="undeclared",
        not_detected="declared only",
        not_in_text="not in the text",
        unknown_anchors="Anchors without a claim",
        accepted_as_is="taken by a person as it is",
        not_checked="not checked",
        traced="traced",
        untraced="not traced",
        colon=": ",
        separator="; ",
        outcomes={
            "completed": "completed",
            "partial": "partial",
            "blocked": "blocked",
            "cancelled": "cancelled",
            "failed": "failed",
        },
        modes={
            "extractive": "quoted from the notes",
            "model": "written by a model",
            "scripted": "scripted",
        },
        reasons={
            "not_found": "no material found",
            "not_answerable": "no sentence was found that answers it",
            "domain_closed": "the material lies in a domain that the mask closes",
            "limit_reached": "a limit ended the search",
        },
        closed_by={
            "contract": "{domain}, which the task contract forbids",
            "person": "{domain}, which a person set to {value} in the mask of {agent}",
            "plan": "{domain}, which the plan puts at {value} in the mask of {agent}",
        },
        checks_ended={
            "passed": "passed",
            "qualified": "qualified",
            "structural_failure": "structural failure",
            "falsified": "falsified",
            "not_verified": "not verified",
        },
    ),
    "zh": Words(
        open_questions="未解决的问题",
        conflicts="来源不一致之处",
        gaps="缺失内容",
        changes="所作改动",
        changed={
            "made": "已执行",
            "unknown": "已开始，但无人知晓是否生效",
            "nothing": "失败，未产生任何改动",
            "refused": "您已拒绝，未执行",
            "held": "等待您的决定",
        },
        approved="经您批准",
        leaks="蒙版之外的知识",
        no_leaks="没有声明或检测到泄漏。",
        evidence="证据",
        no_evidence="没有依据来源的论断。",
        checks="核查",
        outcome="结果",
        stopped="因限额停止",
        how="文本",
        verified_means="“已核实”是指引文确实出现在所引位置；它是否回答了问题，由读者判断。",
        not_traced="未追溯到来源",
        none="无",
        searched="检索过",
        not_searched="未做检索",
        nearest="最接近",
        no_word="其中没有一个词出现在笔记中",
        fields="字段",
        missing_evidence="缺少证据",
        copy_of="重复自",
        also_in="同样的文字重复见于",
        declared="已声明",
        undeclared="未声明",
        not_detected="仅有声明",
        not_in_text="未见于正文",
        unknown_anchors="没有对应论断的引用",
        accepted_as_is="由人按原样接受",
        not_checked="未核查",
        traced="已追溯",
        untraced="未追溯",
        colon="：",
        separator="；",
        outcomes={
            "completed": "完成",
            "partial": "部分完成",
            "blocked": "受阻",
            "cancelled": "已取消",
            "failed": "失败",
        },
        modes={"extractive": "摘自笔记", "model": "由模型撰写", "scripted": "脚本生成"},
        reasons={
            "not_found": "没有找到材料",
            "not_answerable": "没有找到回答它的句子",
            "domain_closed": "材料所在的知识域被蒙版关闭",
            "limit_reached": "检索因限额结束",
        },
        closed_by={
            "contract": "{domain}（任务合同禁止）",
            "person": "{domain}（由人在 {agent} 的蒙版中设为 {value}）",
            "plan": "{domain}（方案在 {agent} 的蒙版中设为 {value}）",
        },
        checks_ended={
            "passed": "通过",
            "qualified": "合格",
            "structural_failure": "结构不合格",
            "falsified": "被证伪",
            "not_verified": "未核实",
        },
    ),
}


def verdict_words(verdict: Verdict | None, lang: Lang) -> str:
    """Return what a verdict says, in a few words; `None` reads as not checked.

    >>> verdict_words(Verified(source="a.md:3"), "en")
    'verified against a.md:3'
    >>> verdict_words(Deviates(source="a.md:3", delta=0.02, found="51"), "zh")
    '有偏差 2.0%（a.md:3 中为 51）'
    """
    zh = lang == "zh"
    match verdict:
        case None:
            return WORDS[lang].not_checked
        case Verified(source=source):
            return f"已核实（对照 {source}）" if zh else f"verified against {source}"
        case Deviates(source=source, delta=delta, found=found):
            share = f"{delta:.1%}"
            return (
                f"有偏差 {share}（{source} 中为 {found}）"
                if zh
                else f"deviates by {share}: {found} in {source}"
            )
        case Contested(sources=sources):
            listed = WORDS[lang].separator.join(sources)
            return f"有争议（{listed}）" if zh else f"contested: {listed}"
        case Falsified(reason=reason):
            return f"被证伪（{reason}）" if zh else f"falsified: {reason}"
        case Uncertain(reason=reason):
            return f"不确定（{reason}）" if zh else f"uncertain: {reason}"
        case SoftClaim():
            return "经验性判断" if zh else "judgement by experience"
        case _:
            assert_never(verdict)


def confidence_words(confidence: Confidence, lang: Lang) -> str:
    """Return a confidence with its level and what it covers, never as a bare number; without claims there is none.

    >>> from orchestrator.core.claims import Level
    >>> some = Confidence(value=0.861, level=Level.L2, traced=12, total=31)
    >>> confidence_words(some, "en"), confidence_words(some, "zh")
    ('L2 0.86, 12 of 31 traced', 'L2 0.86，31 条中已追溯 12 条')
    >>> confidence_words(Confidence(value=0.4, level=Level.L2, traced=0, total=0), "en")
    'no claims to check'
    """
    if confidence.total == 0:
        return "no claims to check" if lang == "en" else "没有可核验的论断"
    if lang == "en":
        return str(confidence)
    return f"{confidence.level} {confidence.value:.2f}，{confidence.total} 条中已追溯 {confidence.traced} 条"


ARGUMENT_SHOWN: Final = 200
"""Characters of an argument that a line shows; the JSON has all of it."""


def effect_words(call: EffectCall, lang: Lang) -> str:
    """Return a call that was to change something in one line: tool, arguments, what came of it.

    Arguments are JSON values and may hold anything: whoever shows the line escapes it for where it stands.
    """
    words = WORDS[lang]
    shown = " ".join(f"{name}={_argument(value)}" for name, value in sorted(call.arguments.items()))
    facts = [words.changed[call.outcome], *([words.approved] if call.approved else [])]
    comma = "，" if lang == "zh" else ", "
    return f"{call.tool} {shown}".strip() + f" — {comma.join(facts)}"


def _argument(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= ARGUMENT_SHOWN else f"{text[: ARGUMENT_SHOWN - 1]}…"
