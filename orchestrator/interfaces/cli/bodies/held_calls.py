"""A call that waits for a person's word, as that person sees it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import TypeAdapter

from agents.tools.contract import HeldCall, SideEffectClass
from agents.tools.diffs import is_unseen, visible
from orchestrator.interfaces.cli.problems import Lang, pick
from orchestrator.interfaces.cli.streams import columns_of

_CALL: Final = TypeAdapter(HeldCall)


def call_lines(call: HeldCall, lang: Lang) -> list[str]:
    """Return a call that waits for a person's word: what it is, its exact arguments, why, and what it would change.

    Nothing is left out and nothing is shortened, for it is approved as it is shown. A line that is longer than
    `COLUMNS` goes on behind `↳`; in an argument, which is written as JSON, what can't be seen stands as `\\uXXXX`.
    """
    effect = SIDE_EFFECTS[call.side_effect]
    name = visible(call.tool)
    lines = [*_wrapped("  ", pick(lang, f"{name} ({effect['en']})", f"{name}（{effect['zh']}）"))]
    lines += _wrapped("  ", _tier(call, lang))
    for key in sorted(call.arguments):
        shown = key if _PLAIN_NAME.fullmatch(key) else _exact(key)
        lines += _wrapped("    ", f"{shown} = {_exact(call.arguments[key])}")
    for reason in call.reasons:
        lines += _wrapped("  ", visible(reason.told(lang)))
    if call.preview:
        for line in call.preview.removesuffix("\n").split("\n"):
            lines += _wrapped("    | ", visible(line))
    return lines


COLUMNS: Final = 100
"""Of a terminal, behind the indentation."""
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_\-]*")


def _tier(call: HeldCall, lang: Lang) -> str:
    tier = TIER_NAMES.get(call.tier, {"en": visible(call.tier), "zh": visible(call.tier)})
    if call.tier == call.side_effect:
        return pick(lang, f"tier: {tier['en']}", f"级别：{tier['zh']}")
    effect = TIER_NAMES[call.side_effect]
    return pick(
        lang,
        f"tier: {tier['en']}, raised above {effect['en']}: an argument is not in your words, see below",
        f"级别：{tier['zh']}（高于“{effect['zh']}”：有参数并非出自您的话，见下文）",
    )


def _exact(value: object) -> str:
    """A JSON value, with each character that can't be seen as JSON escapes it."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(json.dumps(char)[1:-1] if is_unseen(char) else char for char in text)


def _wrapped(indent: str, text: str) -> Iterator[str]:
    """Yield `text` in lines of at most `COLUMNS`, each behind `indent`; none ends in spaces, which nobody would see."""
    prefix = indent
    while text:
        taken = columns = 0
        for char in text:
            columns += columns_of(char)
            if columns > COLUMNS:
                break
            taken += 1
        if taken < len(text):
            taken = len(text[:taken].rstrip(" ")) or taken
        yield prefix + text[:taken]
        text, prefix = text[taken:], f"{indent}↳ "
    if prefix == indent:
        yield indent.rstrip(" ")


SIDE_EFFECTS: Final[Mapping[SideEffectClass, Mapping[Lang, str]]] = {
    "read": {"en": "reads", "zh": "只读"},
    "draft": {"en": "writes a draft", "zh": "写草稿"},
    "write": {"en": "changes your files", "zh": "改动您的文件"},
    "external": {"en": "acts outside of this machine", "zh": "作用于本机之外"},
}
"""What a tool does to the world, in words."""

TIER_NAMES: Final[Mapping[str, Mapping[Lang, str]]] = {
    "read": {"en": "read", "zh": "只读"},
    "draft": {"en": "draft", "zh": "草稿"},
    "write": {"en": "write", "zh": "写入"},
    "external": {"en": "external", "zh": "外部"},
    "highest": {"en": "highest", "zh": "最高"},
}
"""The tiers of `agents.tools.gate`, least first."""


def call_document(call: HeldCall) -> dict[str, Any]:
    """Return the call as a JSON object, whole."""
    document: dict[str, Any] = _CALL.dump_python(call, mode="json")
    return document


def earlier_lines(call: HeldCall, lang: Lang) -> list[str]:
    """Return what the sub-task did with the tool before, whole: who lets a second call be made knows of the first."""
    lines: list[str] = []
    for before in call.earlier:
        what = EARLIER[before.outcome][lang]
        said = _exact(dict(sorted(before.arguments.items())))
        lines += _wrapped("  ", pick(lang, f"before ({what}): {said}", f"此前（{what}）：{said}"))
    return lines


EARLIER: Final[Mapping[str, Mapping[Lang, str]]] = {
    "made": {"en": "made", "zh": "已执行"},
    "failed": {"en": "did nothing", "zh": "未生效"},
    "unknown": {"en": "nobody knows whether it happened", "zh": "无人知晓是否已生效"},
}
"""What came of an earlier call, in words."""
