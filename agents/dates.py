"""Read calendar dates out of a text, in English and Chinese: the one reader of workers and checks.

It reads and judges nothing: which dates disagree, and what a year without a word of time means, its callers decide.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_MONTH_NAMES = """january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sept sep|
october oct|november nov|december dec"""
_MONTHS: Final = {
    name: month for month, names in enumerate(_MONTH_NAMES.split("|"), start=1) for name in names.split()
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))

DATES: Final = tuple(
    re.compile(pattern, re.IGNORECASE | re.ASCII)
    for pattern in (
        r"(?<![\d.])(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?![\d.]*\d)",
        r"(?<!\d)(?P<y>\d{4})\s*年\s*(?P<m>\d{1,2})\s*月(?:\s*(?P<d>\d{1,2})\s*[日号])?",
        r"(?<!\d)(?P<m>\d{1,2})\s*月\s*(?P<d>\d{1,2})\s*[日号]",
        r"(?<!\d)(?P<y>(?:1[5-9]|20)\d\d)\s*年",
        rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<b>{_MONTH})\b\.?(?:,?\s+(?P<y>\d{{4}})\b)?",
        rf"\b(?P<b>{_MONTH})\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\s*\d)(?:,?\s+(?P<y>\d{{4}})\b)?",
        rf"\b(?P<b>{_MONTH})\.?,?\s+(?P<y>\d{{4}})\b",
        r"(?<![\d.,/-])(?P<y>(?:1[5-9]|20)\d\d)-(?P<m>0[1-9]|1[0-2])(?![\d-])",
    )
)
"""Unmistakable dates, in the order in which they are looked for; each stretch of a text is read once."""


class Day(NamedTuple):
    """A calendar date, as far as it is given."""

    year: int | None
    month: int | None
    day: int | None

    def within(self, other: Day) -> bool:
        """Return whether everything that this date gives is given equally by `other`."""
        return all(mine is None or mine == theirs for mine, theirs in zip(self, other, strict=True))

    def contradicts(self, other: Day) -> bool:
        """Return whether a part that both give differs."""
        return any(a is not None and b is not None and a != b for a, b in zip(self, other, strict=True))


def day_of(match: re.Match[str]) -> Day | None:
    """Return the date of a match with the groups `y`, `m` or `b` (a month's name), and `d`; `None` for no real one.

    >>> day_of(DATES[0].search("on 2024-05-03"))
    Day(year=2024, month=5, day=3)
    >>> day_of(DATES[0].search("part 2024-13-03")) is None
    True
    """
    parts = match.groupdict()
    month = _MONTHS[parts["b"].lower()] if parts.get("b") else int(parts["m"]) if parts.get("m") else None
    day = int(parts["d"]) if parts.get("d") else None
    if (month is not None and not 1 <= month <= 12) or (day is not None and not 1 <= day <= 31):
        return None
    return Day(int(parts["y"]) if parts.get("y") else None, month, day)
