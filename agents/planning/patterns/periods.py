"""Periods that say which value of a field is meant: `honey in 2024 and 2025`, `2024年和2025年的产量`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_MONTH_EN: Final = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
)
PERIOD_AHEAD_EN: Final = (
    r"(?:the\s+)?(?:(?:fiscal\s+|calendar\s+)?(?:years?|seasons?|quarters?|months?)\s+)?"
    rf"(?:(?:19|20)\d{{2}}\b|FY\s?\d{{2,4}}\b|Q[1-4]\b|{_MONTH_EN}\b)"
)
"""The beginning of a period of time, after `in`, `of`, `for`."""

_YEAR_EN = re.compile(r"^(?P<field>.*\S\s+)(?:19|20)\d{2}$")
_BARE_YEAR_EN = re.compile(r"^(?:(?:in|for|of)\s+)?(?P<year>(?:19|20)\d{2})$", re.IGNORECASE)

_YEARS_EN: Final = r"(?:19|20)\d{2}(?:(?:\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or|&)\s+)(?:19|20)\d{2})+"
_LEADING_YEARS_EN = re.compile(rf"^(?:the\s+)?(?P<years>{_YEARS_EN})\s+(?P<rest>[^\s,].*)$", re.IGNORECASE)
_TRAILING_YEARS_EN = re.compile(
    rf"^(?P<rest>.*\S)\s*,?\s+(?:in|for|of|during|over)\s+(?:the\s+)?(?:(?:fiscal\s+|financial\s+|calendar\s+)?years?\s+)?"
    rf"(?P<years>{_YEARS_EN}|(?:19|20)\d{{2}})$",
    re.IGNORECASE,
)
_RANGE_EN = re.compile(
    r"(?:(?:\b(?:from|between|in|for|of|over|during)\s+)(?:the\s+)?(?:years?\s+)?)?"
    r"(?<![\d-])((?:19|20)\d{2})(?:\s*[-–—]\s*|\s+(?:to|through|until)\s+)((?:19|20)\d{2})(?![\d-])",
    re.IGNORECASE,
)

_PERIOD_ZH: Final = (
    r"(?:(?:19|20)\d{2}年?(?:度|(?:第?[一二三四]季度|[上下]半年|\d{1,2}月份?))?|[去今前明]年|[上下本]半?年"
    r"|第?[一二三四]季度|\d{1,2}月份?)"
)
_AND_ZH: Final = r"(?:\s*(?:、|，|,|和|与|及|以及|[-–—~～至到])\s*)"
_LIST_ZH: Final = rf"{_PERIOD_ZH}(?:{_AND_ZH}{_PERIOD_ZH})*"
_TRAILING_ZH = re.compile(rf"^(?P<whose>.*?[^\d\s])\s*在?(?P<periods>{_LIST_ZH})$")
_ALL_ZH = re.compile(r"所有|全部|[各每]一?\w?")
"""Says how many and not of what: in `所有2024年的合同` the year says which contracts."""
_LEADING_ZH = re.compile(rf"^在?(?P<periods>{_LIST_ZH})(?![\d年月季度日号])的?(?P<rest>.+)$")
_RANGE_ZH = re.compile(r"((?:19|20)\d{2})年?(?:度)?\s*[-–—~～至到]\s*((?:19|20)\d{2})年?")
LONGEST_RANGE: Final = 12
"""Years that `2014至2025年` is written out for; a longer range stays one period."""


def split_periods(text: str) -> tuple[str, tuple[str, ...]]:
    """Take periods off the end of the words that say whose field is wanted.

    >>> split_periods("各品种2024年和2025年")
    ('各品种', ('2024年', '2025年'))
    """
    found = _TRAILING_ZH.match(text)
    if found is None or _ALL_ZH.fullmatch(found["whose"]):
        return text, ()
    return found["whose"], _periods(found["periods"])


def leading_periods(text: str) -> tuple[tuple[str, ...], str]:
    """Take periods off the front of a field.

    >>> leading_periods("2024年和2025年的产量")
    (('2024年', '2025年'), '产量')
    """
    found = _LEADING_ZH.match(text)
    return (_periods(found["periods"]), found["rest"]) if found else ((), text)


def in_each_period(periods: Sequence[str], fields: Sequence[str]) -> tuple[str, ...]:
    """Return each field in each period, the fields alone without periods.

    >>> in_each_period(("2024年", "2025年"), ("产量",))
    ('2024年产量', '2025年产量')
    """
    if not periods:
        return tuple(fields)
    return tuple(f"{period}{field}" for field in fields for period in periods)


def written_out_years(text: str) -> str:
    """Write the years of a range one by one.

    >>> written_out_years("revenue from 2023 to 2025 per branch")
    'revenue in 2023, 2024, 2025 per branch'
    """
    return _RANGE_EN.sub(lambda match: _listed(match) or match[0], text)


def leading_years(text: str) -> tuple[tuple[str, ...], str]:
    """Take several years off the front of a field.

    >>> leading_years("the 2024 and 2025 revenue")
    (('2024', '2025'), 'revenue')
    """
    found = _LEADING_YEARS_EN.match(text.strip())
    return (tuple(re.findall(r"\d{4}", found["years"])), found["rest"]) if found else ((), text)


def trailing_years(text: str) -> tuple[tuple[str, ...], str]:
    """Take years off the end.

    >>> trailing_years("revenue of each branch in 2024 and 2025")
    (('2024', '2025'), 'revenue of each branch')
    """
    found = _TRAILING_YEARS_EN.match(text.strip())
    return (tuple(re.findall(r"\d{4}", found["years"])), found["rest"]) if found else ((), text)


def in_each_year(fields: Sequence[str], years: Sequence[str]) -> tuple[str, ...]:
    """Return each field in each year.

    >>> in_each_year(("revenue",), ("2024", "2025"))
    ('revenue 2024', 'revenue 2025')
    """
    return tuple(f"{field} {year}" for field in fields for year in years)


def names_year(field: str) -> bool:
    """Say whether a field says of which year it is wanted."""
    return re.search(r"(?<!\d)(?:19|20)\d{2}(?!\d)", field) is not None


def shared_periods(fields: Sequence[str]) -> tuple[str, ...]:
    """Give a bare year the field of the year before it.

    >>> shared_periods(("site", "honey in 2024", "2025"))
    ('site', 'honey in 2024', 'honey in 2025')
    """
    found: list[str] = []
    for field in fields:
        year, before = _BARE_YEAR_EN.match(field), _YEAR_EN.match(found[-1]) if found else None
        found.append(f"{before['field']}{year['year']}" if year and before else field)
    return tuple(found)


def _periods(text: str) -> tuple[str, ...]:
    """Return the periods of a list; a year gets its 年, a range of years is written out."""
    named = re.findall(_PERIOD_ZH, _RANGE_ZH.sub(_written_out, text))
    return tuple(dict.fromkeys(f"{p}年" if p.isdigit() else p for p in named))


def _listed(match: re.Match[str]) -> str:
    first, last = int(match[1]), int(match[2])
    if not first < last < first + LONGEST_RANGE:
        return ""
    return "in " + ", ".join(str(year) for year in range(first, last + 1))


def _written_out(match: re.Match[str]) -> str:
    first, last = int(match[1]), int(match[2])
    if not first <= last < first + LONGEST_RANGE:
        return match[0]
    return "、".join(f"{year}年" for year in range(first, last + 1))
