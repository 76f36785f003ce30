"""What differs between two revisions of a proposal, one line each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from pydantic import JsonValue, TypeAdapter

from agents.spec import AgentSpec
from graphs.contract import Lang
from graphs.diff import cut_apart
from masks.bands import Thresholds, band, format_mask_value
from masks.domains import DomainRegistry
from orchestrator.core.proposal import PROPOSAL, Proposal, canonical_json, proposal_sha256
from orchestrator.shell.editing.operations import plan_operations, render_operations
from orchestrator.shell.editing.wording import BANDS
from orchestrator.shell.editing.yaml_text import one_line

_SHOWN: Final = 60
"""Characters of a value that a line shows."""

_DERIVED: Final = ("mask_origins", "candidates")
"""Parts that follow from others: shown only where nothing else explains them."""

_AGENT: Final = TypeAdapter(AgentSpec)

_THRESHOLDS: Final[Mapping[Lang, tuple[str, str]]] = {
    "en": ("main threshold", "background threshold"),
    "zh": ("主激活阈值", "背景阈值"),
}

_PARTS: Final[Mapping[str, str]] = {
    "goal": "目标",
    "intent": "理解",
    "contract": "契约",
    "plan": "计划",
    "roster": "名单",
    "assignment": "指派",
    "thresholds": "阈值",
    "agent_thresholds": "单个 agent 的阈值",
    "grants": "授权",
    "envelope": "修复范围",
    "mask_origins": "蒙版来源",
    "candidates": "候选",
    "notes": "说明",
    "memories": "记忆",
}
"""The parts of a proposal in Chinese; in English the field's name is shown."""


def changes_between(old: Proposal, new: Proposal, registry: DomainRegistry, lang: Lang) -> tuple[str, ...]:
    """Return what `new` says differently, one line each; empty exactly when both have the same hash.

    Masks read `A1 energy.storage 0.95 -> 0.50 (main -> background)`; of the plan the operations are said that lead to
    the new one (`plan_operations`). The revision number does not count. Raises `InvalidPlanError` if a plan uses an id
    twice.
    """
    del registry  # ids name the domains; kept so that every function of the package takes the same arguments
    if proposal_sha256(old) == proposal_sha256(new):
        return ()
    before, after = _document(old), _document(new)
    lines: list[str] = []
    for part in before:
        if part in _DERIVED or _same(before[part], after[part]):
            continue
        found = _lines(part, before[part], after[part], old, new, lang)
        # A difference for which a part has no words of its own is still said, value by value.
        lines.extend(found or _differences(_part(part, lang), before[part], after[part], lang))
    if not lines:
        for part in _DERIVED:
            lines.extend(_differences(_part(part, lang), before[part], after[part], lang))
    return tuple(one_line(line) for line in lines)


def _document(proposal: Proposal) -> dict[str, JsonValue]:
    document: dict[str, JsonValue] = PROPOSAL.dump_python(replace(proposal, revision=0), mode="json")
    return document


def _lines(
    part: str, before: JsonValue, after: JsonValue, old: Proposal, new: Proposal, lang: Lang
) -> list[str]:
    match part:
        case "plan":
            return list(_plan_lines(old, new, lang))
        case "roster":
            return list(_roster_lines(old, new, lang))
        case "thresholds":
            return list(_threshold_lines("", old.thresholds, new.thresholds, lang))
        case "agent_thresholds":
            return list(_override_lines(old, new, lang))
        case "envelope":
            return list(_envelope_lines(old, new, lang))
        case _:
            return list(_differences(_part(part, lang), before, after, lang))


def _plan_lines(old: Proposal, new: Proposal, lang: Lang) -> Iterator[str]:
    yield from render_operations(old.plan, plan_operations(old.plan, new.plan), lang)
    before, after = [s.id for s in old.plan.subtasks], [s.id for s in new.plan.subtasks]
    common = set(before) & set(after)
    if [node for node in before if node in common] != [node for node in after if node in common]:
        yield "~ order of the sub-tasks" if lang == "en" else "~ 子任务的书写顺序"
    shared = set(old.plan.dependencies) & set(new.plan.dependencies)
    if [e for e in old.plan.dependencies if e in shared] != [e for e in new.plan.dependencies if e in shared]:
        yield "~ order of the dependencies" if lang == "en" else "~ 依赖的书写顺序"


def _roster_lines(old: Proposal, new: Proposal, lang: Lang) -> Iterator[str]:
    before = {agent.id: agent for agent in old.roster.agents}
    after = {agent.id: agent for agent in new.roster.agents}
    for agent in old.roster.agents:
        if agent.id not in after:
            yield f"- agent {agent.id} {_short(agent.responsibility)}"
    for agent in new.roster.agents:
        known = before.get(agent.id)
        if known is None:
            yield f"+ agent {agent.id} {_short(agent.responsibility)}"
            yield from _mask_lines(None, agent, old.thresholds, new.thresholds_of(agent.id), lang)
        else:
            yield from _agent_lines(known, agent, lang)
            yield from _mask_lines(
                known, agent, old.thresholds_of(agent.id), new.thresholds_of(agent.id), lang
            )
    common = before.keys() & after.keys()
    if [a for a in before if a in common] != [a for a in after if a in common]:
        yield "~ order of the agents" if lang == "en" else "~ agent 的书写顺序"


def _agent_lines(old: AgentSpec, new: AgentSpec, lang: Lang) -> Iterator[str]:
    before, after = _agent_document(old), _agent_document(new)
    for name in before:
        yield from _differences(f"{new.id} {name}", before[name], after[name], lang)


def _agent_document(agent: AgentSpec) -> dict[str, JsonValue]:
    document = _AGENT.dump_python(agent, mode="json")
    return {name: value for name, value in document.items() if name not in ("id", "mask")}


def _mask_lines(
    old: AgentSpec | None, new: AgentSpec, before: Thresholds, after: Thresholds, lang: Lang
) -> Iterator[str]:
    known = dict(old.mask.values) if old is not None else {}
    values = dict(new.mask.values)
    changed = [d for d in sorted(known.keys() | values.keys()) if known.get(d, 0) != values.get(d, 0)]
    for domain in changed:
        was, now = known.get(domain, 0), values.get(domain, 0)
        bands = f"{BANDS[band(was, before)][lang]} -> {BANDS[band(now, after)][lang]}"
        yield f"{new.id} {domain} {format_mask_value(was)} -> {format_mask_value(now)} ({bands})"
    if old is not None and not changed and old.mask != new.mask:
        versions = f"{old.mask.version} -> {new.mask.version}"
        if lang == "en":
            yield f"{new.id} mask: history (version {versions}), values as before"
        else:
            yield f"{new.id} 蒙版：历史（版本 {versions}），取值不变"


def _threshold_lines(agent: str, old: Thresholds, new: Thresholds, lang: Lang) -> Iterator[str]:
    mark = f"{agent} " if agent else ""
    for name, was, now in (
        (_THRESHOLDS[lang][0], old.main, new.main),
        (_THRESHOLDS[lang][1], old.background, new.background),
    ):
        if was != now:
            yield f"{mark}{name} {format_mask_value(was)} -> {format_mask_value(now)}"


def _override_lines(old: Proposal, new: Proposal, lang: Lang) -> Iterator[str]:
    for agent in sorted({*old.agent_thresholds, *new.agent_thresholds}):
        was, now = old.agent_thresholds.get(agent), new.agent_thresholds.get(agent)
        if was is not None and now is not None:
            yield from _threshold_lines(agent, was, now, lang)
        elif now is not None:
            yield f"+ {agent} {_pair(now, lang)}"
        elif was is not None:
            own = "as everybody" if lang == "en" else "与全局相同"
            yield f"- {agent} {_pair(was, lang)} -> {own}"


def _pair(thresholds: Thresholds, lang: Lang) -> str:
    main, background = format_mask_value(thresholds.main), format_mask_value(thresholds.background)
    names = _THRESHOLDS[lang]
    return (
        f"{names[0]} {main}, {names[1]} {background}"
        if lang == "en"
        else f"{names[0]} {main}，{names[1]} {background}"
    )


def _envelope_lines(old: Proposal, new: Proposal, lang: Lang) -> Iterator[str]:
    name = _part("envelope", lang)
    ceilings = (old.envelope.ceilings, new.envelope.ceilings)
    for agent in sorted({*ceilings[0], *ceilings[1]}):
        was, now = ceilings[0].get(agent, {}), ceilings[1].get(agent, {})
        for domain in sorted({*was, *now}):
            values = [format_mask_value(v[domain]) if domain in v else "-" for v in (was, now)]
            if values[0] != values[1]:
                yield f"{name} ceilings.{agent}.{domain} {values[0]} -> {values[1]}"
    for field in ("reassign", "resplit_factor"):
        yield from _differences(
            f"{name} {field}", getattr(old.envelope, field), getattr(new.envelope, field), lang
        )


def _differences(path: str, old: JsonValue, new: JsonValue, lang: Lang) -> Iterator[str]:
    """At least one line exactly if the two JSON values differ."""
    if _same(old, new):
        return
    mark = ": " if lang == "en" else "："
    if isinstance(old, dict) and isinstance(new, dict):
        for key in (*old, *(key for key in new if key not in old)):
            inner = f"{path}.{key}" if " " in path else f"{path} {key}"
            if key not in new:
                yield f"- {inner}{mark}{_short(old[key])}"
            elif key not in old:
                yield f"+ {inner}{mark}{_short(new[key])}"
            else:
                yield from _differences(inner, old[key], new[key], lang)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _list_differences(path, old, new, lang)
    else:
        was, now = (one_line(canonical_json(value)) for value in (old, new))
        yield "~ {}{}{} -> {}".format(path, mark, *cut_apart(was, now, _SHOWN))


def _list_differences(path: str, old: list[JsonValue], new: list[JsonValue], lang: Lang) -> Iterator[str]:
    """Members by their id where they have one, else what came and what went, else the order."""
    before, after = _by_id(old), _by_id(new)
    mark = ": " if lang == "en" else "："
    if before is not None and after is not None and before.keys() | after.keys():
        lines = list(_differences(path, before, after, lang))
    else:
        gone = Counter(map(canonical_json, old)) - Counter(map(canonical_json, new))
        come = Counter(map(canonical_json, new)) - Counter(map(canonical_json, old))
        lines = [f"- {path}{mark}{_cut(text)}" for text in gone.elements()]
        lines += [f"+ {path}{mark}{_cut(text)}" for text in come.elements()]
    yield from lines or [f"~ {path}{mark}order" if lang == "en" else f"~ {path}{mark}顺序"]


def _by_id(members: list[JsonValue]) -> dict[str, JsonValue] | None:
    """The members by their `id`; `None` unless every one has its own."""
    found: dict[str, JsonValue] = {}
    for member in members:
        name = member.get("id") if isinstance(member, dict) else None
        if not isinstance(name, str) or name in found:
            return None
        found[name] = member
    return found


def _same(old: JsonValue, new: JsonValue) -> bool:
    return canonical_json(old) == canonical_json(new)


def _short(value: JsonValue) -> str:
    return _cut(canonical_json(value))


def _cut(text: str) -> str:
    text = one_line(text)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _part(part: str, lang: Lang) -> str:
    return part if lang == "en" else _PARTS[part]
