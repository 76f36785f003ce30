"""Tell lines that are statements of their own from the wrapped lines of one sentence.

Notes and minutes put one statement on a line, often without a full stop. Precision before recall: a break in the middle
of a sentence spoils a quote, so a line end counts only where nothing speaks for wrapping.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final
from unicodedata import east_asian_width

WRAP_COLUMNS: Final = 60
"""Prose is hardly wrapped at fewer columns: a line that had room for the next word up to here was ended on purpose."""
CJK_WRAP_COLUMNS: Final = 40
"""The same for Chinese, whose characters take two columns each."""
EVEN_COLUMNS: Final = 2
"""Wrapped Chinese fills its lines: their widths differ by at most one character."""

_LINE = re.compile(r"[^\r\n]+")
_LABEL = re.compile(r"[A-Z][\w'’-]*(?: [\w'’-]+){0,3}: \S|[\u3400-\u9fff]{2,8}[：:]\s*[^\s/]")
_OPENS = re.compile(r"[A-Z][\w'’.-]*|[\u3400-\u9fff]")
_CJK = re.compile(r"[\u3400-\u9fff]")
_UNFINISHED = re.compile(
    r"(?:[^\w\s)）\]】\"'”’」』%％€$£¥￥*_`]"
    r"|\b(?:a|an|the|this|that|these|those|of|in|on|at|by|for|from|to|with|and|or|but|nor|as|than|per|into|over|under|"
    r"between|is|are|was|were|be|been|has|have|had|will|shall|should|must|can|may|its|their|his|her|our|your|my|not|no|"
    r"if|when|which|who|whose|where|because|via|against|mr|mrs|ms|dr)"
    r"|[的和与及或在是为于由向从对把被将以至到按经])$",
    re.IGNORECASE,
)
"""Ends after which a sentence goes on, or after which its own full stop says whether it does."""
_GOES_ON = re.compile(r"[的和与及或而但并则等也且之了着过]|I\b|因此|所以|如果|以及|其中")
_ENDS_IN_NAME = re.compile(r"\b[A-Z][\w'’-]*$")
_STOPPED = re.compile(r"[.!?。！？]\W*$")
_LOWER = re.compile(r"[a-z]")


def statement_starts(text: str) -> tuple[int, ...]:
    """Return the offsets in the paragraph `text` at which a line begins that is no continuation of the line before it.

    >>> text = "Present: Ines Varga\\nThe extractor costs\\n€3,900\\nNext meeting: 4 May"
    >>> [text[start:start + 4] for start in statement_starts(text)]
    ['The ', 'Next']
    """
    lines = [(match.start(), match[0].strip()) for match in _LINE.finditer(text) if match[0].strip()]
    shown = [line for _, line in lines]
    longest = max(map(_columns, shown), default=0)
    wrapped = _is_wrapped(shown, longest)
    prose = bool(shown) and _STOPPED.search(shown[-1]) is not None
    return tuple(
        start
        for (_, before), (start, line) in pairwise(lines)
        if not (prose and _may_split_a_name(before))
        and _begins(before, line, longest if wrapped else max(WRAP_COLUMNS, CJK_WRAP_COLUMNS))
    )


def _begins(before: str, line: str, width: int) -> bool:
    if _UNFINISHED.search(before) or _GOES_ON.match(line):
        return False
    if _LABEL.match(line):
        return True
    opening = _OPENS.match(line)
    if opening is None:
        return False
    chinese = _CJK.match(before[-1]) or _CJK.match(opening[0])
    needed = _columns(before) + _columns(opening[0]) + (0 if chinese else 1)
    return needed <= min(width, CJK_WRAP_COLUMNS if chinese else WRAP_COLUMNS)


def _may_split_a_name(before: str) -> bool:
    return _ENDS_IN_NAME.search(before) is not None and not _LABEL.match(before)


def _is_wrapped(lines: Sequence[str], longest: int) -> bool:
    """Say whether the lines of a paragraph look like wrapped prose: one goes on in lower case, or all are filled."""
    if any(_LOWER.match(line) for line in lines[1:]):
        return True
    full = lines[:-1]
    return len(full) > 1 and all(
        _CJK.search(line) and longest - _columns(line) <= EVEN_COLUMNS for line in full
    )


def _columns(text: str) -> int:
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)
