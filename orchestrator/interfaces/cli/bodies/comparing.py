"""Two runs beside each other. Pure: both logs are folded, nothing is executed."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Final

from graphs.plan import NodeId
from masks.bands import format_mask_value
from orchestrator.core.comparing import compare_runs
from orchestrator.core.comparison import (
    COMPARISON,
    BacktrackFacts,
    Comparison,
    MaskDifference,
    NodeComparison,
    NodeFacts,
    RunFacts,
    SameStart,
)
from orchestrator.core.decision_trail import Decision
from orchestrator.core.ids import RunId
from orchestrator.core.report.wording import WORDS
from orchestrator.interfaces.cli.bodies.summaries import NODE_WORDS, shadow_words, status_words
from orchestrator.interfaces.cli.problems import Lang, pick
from orchestrator.interfaces.cli.progress.logfmt import logfmt
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.interfaces.cli.streams import one_line
from orchestrator.shell.runs import events_of

_START: Final[dict[str, tuple[str, str]]] = {
    "goal": ("goal", "目标"),
    "sources": ("sources", "资料"),
    "contract": ("contract", "契约"),
    "plan": ("plan", "计划"),
    "agents": ("agents", "agent"),
    "models": ("models", "模型"),
    "profile": ("profile", "运行配置"),
    "masks": ("masks", "蒙版"),
    "versions": ("versions", "版本"),
    "seed": ("seed", "种子"),
}
_FIELDS: Final[dict[str, tuple[str, str]]] = {
    "status": ("state", "状态"),
    "agent": ("agent", "agent"),
    "attempts": ("attempts", "尝试次数"),
    "level": ("checked to", "核验级别"),
    "path": ("path", "路径"),
    "failures": ("failures", "失败类别"),
    "output": ("output", "产出"),
}
_THRESHOLDS: Final[dict[str, tuple[str, str]]] = {
    "threshold.main": ("main threshold", "主激活阈值"),
    "threshold.background": ("background threshold", "背景阈值"),
}
_KINDS: Final[dict[str, tuple[str, str]]] = {
    "embedded": ("the embedded default", "内置方式"),
    "scripted": ("a script", "脚本"),
}
"""What an agent without a model thinks with."""
_LISTED: Final = 20
"""Numbers of masks that are shown to people; `--json` has all."""
_DIGEST: Final = 12
"""Characters of a digest that are shown to people; `--json` has all."""


def compare(session: Session, first: str, second: str) -> Result:
    """Return two runs beside each other; raises `UnknownRun` and what reading a log raises."""
    store = session.store()
    one, other = RunId(first), RunId(second)
    comparison = compare_runs(one, events_of(store, one), other, events_of(store, other))
    data: dict[str, Any] = COMPARISON.dump_python(comparison, mode="json")
    text = "\n".join(_lines(comparison, session.lang))
    return Result(data={"equal": comparison.equal, **data}, text=text)


def _lines(found: Comparison, lang: Lang) -> list[str]:
    first, second = found.first, found.second
    return [
        f"A  {first.run}  {status_words(first.status, lang)}{shadow_words(first.shadow_of, lang)}  #{first.seq}",
        f"B  {second.run}  {status_words(second.status, lang)}{shadow_words(second.shadow_of, lang)}  #{second.seq}",
        pick(lang, "started from the same: ", "起点相同：") + _start(found.same, True, lang),
        pick(lang, "started from another: ", "起点不同：") + _start(_known(found), False, lang),
        *_unread_lines(found, lang),
        *_profile_lines(found, lang),
        *_model_lines(found, lang),
        *_mask_lines(found, lang),
        *_call_lines(found, lang),
        *_difference_lines(found, lang),
        *_node_lines(found, lang),
        *_backtrack_lines(found, lang),
        *_outcome_lines(found, lang),
    ]


def _start(same: SameStart, wanted: bool, lang: Lang) -> str:
    names = [field.name for field in fields(same) if getattr(same, field.name) is wanted]
    return pick(lang, ", ", "、").join(pick(lang, *_START[name]) for name in names) or "-"


def _known(found: Comparison) -> SameStart:
    """What differs for certain: sources that only one run has read may be the same."""
    both = found.first.sources_read == found.second.sources_read
    return found.same if both else replace(found.same, sources=True)


def _unread_lines(found: Comparison, lang: Lang) -> list[str]:
    if found.first.sources_read == found.second.sources_read:
        return []
    name = "B" if found.first.sources_read else "A"
    return [pick(lang, f"sources: not read yet in {name}", f"资料：{name} 尚未读取")]


def _profile_lines(found: Comparison, lang: Lang) -> list[str]:
    profiles = found.first.profile, found.second.profile
    if profiles[0] == profiles[1]:
        return []
    said = " | ".join("-" if profile is None else profile for profile in profiles)
    return [pick(lang, f"profile: A | B: {said}", f"运行配置：A | B：{said}")]


def _model_lines(found: Comparison, lang: Lang) -> list[str]:
    different = found.model_differences
    if not different:
        return []
    return [
        pick(lang, "models: A | B", "模型：A | B"),
        *(f"  {each.agent} {_model(each.first, lang)} | {_model(each.second, lang)}" for each in different),
    ]


def _model(name: str | None, lang: Lang) -> str:
    if name is None:
        return "-"
    return pick(lang, *_KINDS[name]) if name in _KINDS else one_line(name, 120)


def _call_lines(found: Comparison, lang: Lang) -> list[str]:
    different = found.call_differences
    if not different:
        return []
    lines = [pick(lang, "calls that change something: A | B", "会产生改动的调用：A | B")]
    for each in different[:_LISTED]:
        said = " | ".join(
            pick(lang, ", ", "，").join(WORDS[lang].changed[outcome] for outcome in outcomes) or "-"
            for outcomes in (each.first, each.second)
        )
        call = one_line(f"{each.tool} {each.arguments}", 200)
        lines.append(f"  {each.node} {call}{pick(lang, ': ', '：')}{said}")
    left = len(different) - _LISTED
    if left > 0:
        lines.append(pick(lang, f"  and {left} more: --json has all", f"  另有 {left} 项：--json 给出全部"))
    return lines


def _mask_lines(found: Comparison, lang: Lang) -> list[str]:
    different = found.mask_differences
    if not different:
        return []
    lines = [
        pick(lang, "masks: A | B", "蒙版：A | B"),
        *(f"  {_mask(each, lang)}" for each in different[:_LISTED]),
    ]
    left = len(different) - _LISTED
    if left > 0:
        lines.append(pick(lang, f"  and {left} more: --json has all", f"  另有 {left} 项：--json 给出全部"))
    return lines


def _mask(each: MaskDifference, lang: Lang) -> str:
    values = ["-" if m100 is None else format_mask_value(m100) for m100 in (each.first, each.second)]
    about = pick(lang, *_THRESHOLDS[each.about]) if each.about in _THRESHOLDS else each.about
    return f"{each.agent} {about} {values[0]} | {values[1]}"


def _difference_lines(found: Comparison, lang: Lang) -> list[str]:
    difference = found.first_difference
    if difference is None:
        return [pick(lang, "decisions: all equal", "决策：全部相同")]
    subject = difference.node or pick(lang, "the run", "整个运行")
    return [
        pick(lang, f"first different decision: {subject}", f"首个不同的决策：{subject}"),
        "  A  " + _decision(difference.first, lang),
        "  B  " + _decision(difference.second, lang),
    ]


def _decision(decision: Decision | None, lang: Lang) -> str:
    if decision is None:
        return pick(lang, "no further one", "没有更多决策")
    said = logfmt(((name, one_line(text, 200)) for name, text in decision.said.items()))
    return f"#{decision.seq}  {decision.type}  {said}".rstrip()


def _node_lines(found: Comparison, lang: Lang) -> list[str]:
    different = [node for node in found.nodes if node.differs]
    equal = len(found.nodes) - len(different)
    head = pick(
        lang,
        f"sub-tasks: {equal} equal, {len(different)} different",
        f"子任务：{equal} 个相同，{len(different)} 个不同",
    )
    return [head, *(f"  {node.node:<5} {_node(node, lang)}" for node in different)]


def _node(node: NodeComparison, lang: Lang) -> str:
    if node.first is None or node.second is None:
        return pick(lang, "only in ", "仅见于 ") + ("A" if node.second is None else "B")
    return " · ".join(
        f"{pick(lang, *_FIELDS[name])} {_value(node.first, name, lang)} | {_value(node.second, name, lang)}"
        for name in node.differs
    )


def _value(facts: NodeFacts, name: str, lang: Lang) -> str:
    value = getattr(facts, name)
    match name:
        case "status":
            return pick(lang, *NODE_WORDS[value])
        case "failures":
            return " ".join(value) or "-"
        case "output":
            return value[:_DIGEST] if value else "-"
        case _:
            return "-" if value is None else str(value)


def _backtrack_lines(found: Comparison, lang: Lang) -> list[str]:
    first, second = found.first.backtracks, found.second.backtracks
    word = pick(lang, "backtracks: ", "回溯：")
    if found.backtracks_equal:
        same = pick(lang, "the same", "相同")
        return [f"{word}{len(first)}{pick(lang, ', ', '，')}{same}" if first else f"{word}0"]
    return [
        f"{word}{len(first)} | {len(second)}",
        *(f"  A  {_backtrack(each)}" for each in first),
        *(f"  B  {_backtrack(each)}" for each in second),
    ]


def _backtrack(each: BacktrackFacts) -> str:
    nodes: tuple[NodeId, ...] = each.invalidated
    said = {"level": each.level, "repair": each.repair, "depth": str(each.depth)}
    return f"#{each.seq}  {each.node}  {logfmt(said.items())} invalidated={','.join(nodes)}"


def _outcome_lines(found: Comparison, lang: Lang) -> list[str]:
    first, second = found.first, found.second
    words = pick(lang, "outcome: ", "结局："), pick(lang, "result: ", "结果：")
    outcome = (
        pick(lang, "equal", "相同")
        if found.outcome_equal
        else f"{status_words(first.status, lang)} | {status_words(second.status, lang)}"
    )
    lines = [f"{words[0]}{outcome}"]
    if sorted(first.gaps) != sorted(second.gaps):
        lines += [f"  A  {gap}" for gap in _gaps(first, second, lang)]
        lines += [f"  B  {gap}" for gap in _gaps(second, first, lang)]
    digests = " | ".join((facts.result or "-")[:_DIGEST] for facts in (first, second))
    verdict = (
        pick(lang, "equal", "相同")
        if found.result_equal
        else pick(lang, "different", "不同")
        if first.result is not None and second.result is not None
        else pick(lang, "not delivered by both", "并非两者都有交付")
    )
    return [*lines, f"{words[1]}{verdict}  {digests}"]


def _gaps(facts: RunFacts, beside: RunFacts, lang: Lang) -> list[str]:
    only = [gap for gap in facts.gaps if gap not in beside.gaps]
    return [pick(lang, "missing: ", "缺少：") + one_line(gap, 300) for gap in only]
