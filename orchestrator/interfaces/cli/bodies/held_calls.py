"""A call that waits for a person's word, as that person sees it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import TypeAdapter

from agents.tools.contract import HeldCall, SideEffectClass
from orchestrator.interfaces.cli.problems import Lang, pick
from orchestrator.interfaces.cli.streams import one_line

_CALL: Final = TypeAdapter(HeldCall)


def call_lines(call: HeldCall, lang: Lang) -> list[str]:
    """Return a call that waits for a person's word: what it is, its exact arguments, why, and what it would change."""
    effect = SIDE_EFFECTS[call.side_effect]
    name = one_line(call.tool, 80)
    lines = [pick(lang, f"  {name} ({effect['en']})", f"  {name}（{effect['zh']}）")]
    for name in sorted(call.arguments):
        value = json.dumps(call.arguments[name], ensure_ascii=False)
        lines.append(f"    {one_line(name, 60)} = {one_line(value, _ARGUMENT)}")
    lines += [f"  {one_line(reason.told(lang), _REASON)}" for reason in call.reasons]
    changes = call.preview.splitlines()
    lines += [f"    | {one_line(line, _PREVIEW_LINE)}" for line in changes[:_PREVIEW_LINES]]
    if len(changes) > _PREVIEW_LINES:
        rest = len(changes) - _PREVIEW_LINES
        lines.append(
            pick(
                lang,
                f"    | … {rest} more lines (--json shows all)",
                f"    | ……另有 {rest} 行（--json 查看全部）",
            )
        )
    return lines


_ARGUMENT: Final = 2_000
"""Characters of an argument that is shown: whoever approves a call must see all of what usually is in one."""
_REASON: Final = 300
_PREVIEW_LINE: Final = 160
_PREVIEW_LINES: Final = 60

SIDE_EFFECTS: Final[Mapping[SideEffectClass, Mapping[Lang, str]]] = {
    "read": {"en": "reads", "zh": "只读"},
    "draft": {"en": "writes a draft", "zh": "写草稿"},
    "write": {"en": "changes your files", "zh": "改动您的文件"},
    "external": {"en": "acts outside of this machine", "zh": "作用于本机之外"},
}
"""What a tool does to the world, in words."""


def call_document(call: HeldCall) -> dict[str, Any]:
    """Return the call as a JSON object, whole."""
    document: dict[str, Any] = _CALL.dump_python(call, mode="json")
    return document


def earlier_lines(call: HeldCall, lang: Lang) -> list[str]:
    """Return what the sub-task did with the tool before: whoever lets a second call be made should know of the first."""
    lines = []
    for before in call.earlier:
        said = json.dumps(dict(before.arguments), ensure_ascii=False, sort_keys=True)
        what = EARLIER[before.outcome][lang]
        lines.append(pick(lang, f"  before ({what}): ", f"  此前（{what}）：") + one_line(said, _EARLIER))
    return lines


_EARLIER: Final = 300
EARLIER: Final[Mapping[str, Mapping[Lang, str]]] = {
    "made": {"en": "made", "zh": "已执行"},
    "failed": {"en": "did nothing", "zh": "未生效"},
    "unknown": {"en": "nobody knows whether it happened", "zh": "无人知晓是否已生效"},
}
"""What came of an earlier call, in words."""
