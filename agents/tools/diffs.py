"""What a write would change, for whoever approves it: a unified diff in which nothing can hide."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from difflib import unified_diff
from typing import Any, Final

from graphs.contract import Lang

LONGEST_DIFF: Final = 20_000
"""Characters that are shown; more is counted, and a person who has to read on opens the file."""


def diff_of(old: str | None, new: str | None, path: str, lang: Lang = "en") -> str:
    """Return the change from `old` to `new` as a unified diff; `None` is a file that is not there.

    Control and direction characters are shown by their code point: text that is shown in another order than it is
    written would be approved as what it is not.
    """
    before, after = _lines(old, lang), _lines(new, lang)
    names = ("/dev/null" if old is None else f"a/{path}", "/dev/null" if new is None else f"b/{path}")
    text = "\n".join(unified_diff(before, after, *names, lineterm=""))
    if not text:
        same = (old is None) == (new is None)
        if lang == "zh":
            return f"{path}：没有改动任何行" if same else f"{path}：空文件"
        return f"{path}: no line changes" if same else f"{path}: an empty file"
    if len(text) <= LONGEST_DIFF:
        return text
    left = text.count("\n", LONGEST_DIFF) + 1
    rest = {"en": f"… {left} more lines of the change are not shown", "zh": f"……改动另有 {left} 行未显示"}
    return f"{text[:LONGEST_DIFF]}\n{rest[lang]}"


def call_preview(name: str, arguments: Mapping[str, Any], lang: Lang) -> str:
    """Return a call as it would be made, for a tool of which nobody knows what it makes of it.

    >>> print(call_preview("send", {"to": "bob"}, "en"))
    send with
    {
     "to": "bob"
    }
    """
    told = json.dumps(dict(arguments), ensure_ascii=True, indent=1, sort_keys=True)
    return f"{name} with\n{told}" if lang == "en" else f"{name}，参数为\n{told}"


def visible(line: str) -> str:
    """Return `line` with each character that can't be seen, but a tab, written as its code point.

    >>> visible("pay 10\u202e01")
    'pay 10<U+202E>01'
    """
    return "".join(f"<U+{ord(char):04X}>" if char != "\t" and is_unseen(char) else char for char in line)


def is_unseen(char: str) -> bool:
    """Return whether nobody sees a character, or takes it for a plain space: controls, direction marks, fillers.

    >>> [is_unseen(char) for char in ("a", " ", "\u3000", "\u00a0", "\u200b", "\u3164", "\ufe0f")]
    [False, False, False, True, True, True, True]
    """
    if char in " \u3000":
        return False
    return unicodedata.category(char)[0] in "CZ" or bool(_FILLERS.match(char))


_FILLERS: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Letters, marks and signs that are shown as nothing."""


def _lines(text: str | None, lang: Lang) -> list[str]:
    if not text:
        return []
    lines = [visible(line) for line in text.split("\n")]
    if lines[-1] == "":
        return lines[:-1]
    lines[-1] += {"en": "<no line end>", "zh": "<末尾无换行>"}[lang]
    return lines
