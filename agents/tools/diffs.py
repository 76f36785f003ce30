"""What a write would change, for whoever approves it: a unified diff in which nothing can hide."""

from __future__ import annotations

import unicodedata
from difflib import unified_diff
from typing import Final

LONGEST_DIFF: Final = 20_000
"""Characters that are shown; more is counted, and a person who has to read on opens the file."""


def diff_of(old: str | None, new: str | None, path: str) -> str:
    """Return the change from `old` to `new` as a unified diff; `None` is a file that is not there.

    Control and direction characters are shown by their code point: text that is shown in another order than it is
    written would be approved as what it is not.
    """
    before, after = _lines(old), _lines(new)
    names = ("/dev/null" if old is None else f"a/{path}", "/dev/null" if new is None else f"b/{path}")
    text = "\n".join(unified_diff(before, after, *names, lineterm=""))
    if not text:
        return f"{path}: no line changes" if (old is None) == (new is None) else f"{path}: an empty file"
    if len(text) <= LONGEST_DIFF:
        return text
    left = text.count("\n", LONGEST_DIFF) + 1
    return f"{text[:LONGEST_DIFF]}\n… {left} more lines of the change are not shown"


def visible(line: str) -> str:
    """Return `line` with each character that can't be seen written as its code point.

    >>> visible("pay 10\u202e01")
    'pay 10<U+202E>01'
    """
    return "".join(
        f"<U+{ord(char):04X}>" if char != "\t" and unicodedata.category(char)[0] == "C" else char
        for char in line
    )


def _lines(text: str | None) -> list[str]:
    if not text:
        return []
    lines = [visible(line) for line in text.split("\n")]
    if lines[-1] == "":
        return lines[:-1]
    lines[-1] += "<no line end>"
    return lines
