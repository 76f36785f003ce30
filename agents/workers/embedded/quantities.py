"""Read the measured quantities, dates and labels of a sentence, in English and Chinese.

Precision before recall: a number whose unit is not understood is a plain number, and plain numbers are never compared
as measures. Numbers spelled out in words are not read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NamedTuple

from agents.dates import DATES, Day, day_of

NEARLY_EQUAL: Final = Decimal("0.005")
"""Relative difference up to which two measures are the same one, rounded differently."""

PLAIN: Final = "number"
"""The dimension of a number without a unit that is understood."""


class Measure(NamedTuple):
    """A number with its dimension, in the dimension's base unit."""

    dimension: str
    """E.g. `energy`, `money:EUR`, `money:EUR/kwh`, `percent`, `count:bus`, or `PLAIN`."""
    value: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantities:
    """What a sentence says in numbers."""

    measures: tuple[Measure, ...]
    days: tuple[Day, ...]
    labels: frozenset[str]
    """Which one is meant: `line 2`, `2号`, `phase b`; sentences with different labels speak of different things."""
    rest: str
    """The sentence without its numbers, units and dates: what the numbers are about."""


_SCALES: Final[Mapping[str, Decimal]] = {
    "thousand": Decimal(10**3),
    "million": Decimal(10**6),
    "billion": Decimal(10**9),
    "trillion": Decimal(10**12),
    "bn": Decimal(10**9),
    "千": Decimal(10**3),
    "万": Decimal(10**4),
    "百万": Decimal(10**6),
    "千万": Decimal(10**7),
    "亿": Decimal(10**8),
    "万亿": Decimal(10**12),
}
_UNITS: Final[Mapping[str, tuple[str, Decimal]]] = {
    name: (dimension, Decimal(factor))
    for dimension, table in {
        "energy": "Wh:1 kWh:1000 MWh:1000000 GWh:1000000000 千瓦时:1000 兆瓦时:1000000 度电:1000",
        "power": "W:1 kW:1000 MW:1000000 GW:1000000000 瓦:1 千瓦:1000 兆瓦:1000000",
        "length": (
            "mm:0.001 cm:0.01 m:1 km:1000 metre:1 metres:1 meter:1 meters:1 kilometre:1000 kilometres:1000 "
            "kilometer:1000 kilometers:1000 毫米:0.001 厘米:0.01 米:1 千米:1000 公里:1000"
        ),
        "area": (
            "m²:1 m2:1 km²:1000000 ha:10000 hectare:10000 hectares:10000 "
            "平方米:1 公顷:10000 亩:666.6667 平方公里:1000000"
        ),
        "volume": "l:0.001 litre:0.001 litres:0.001 liter:0.001 liters:0.001 m³:1 m3:1 升:0.001 立方米:1",
        "mass": "mg:0.000001 g:0.001 kg:1 t:1000 tonne:1000 tonnes:1000 毫克:0.000001 克:0.001 千克:1 公斤:1 吨:1000",
        "time": (
            "s:1 second:1 seconds:1 min:60 minute:60 minutes:60 h:3600 hour:3600 hours:3600 day:86400 days:86400 "
            "week:604800 weeks:604800 秒:1 分钟:60 小时:3600 天:86400 周:604800"
        ),
        "months": "month:1 months:1 year:12 years:12 个月:1 年:12",
        "percent": "%:1 percent:1 ％:1",
        "temperature": "°C:1 ℃:1 摄氏度:1",
        "money:EUR": "€:1 EUR:1 euro:1 euros:1 欧元:1",
        "money:USD": "$:1 USD:1 dollar:1 dollars:1 美元:1",
        "money:GBP": "£:1 GBP:1 pound:1 pounds:1 英镑:1",
        "money:CNY": "¥:1 ￥:1 CNY:1 RMB:1 yuan:1 元:1 人民币:1",
        "noise": "dB:1 dB(A):1 分贝:1",
    }.items()
    for name, factor in (entry.rsplit(":", 1) for entry in table.split())
}
EARLY_YEAR: Final = (
    r"\b(?:in|since|until|till|from|before|after|around|about|circa|c\.|year|early|late)\s+(?:the\s+year\s+)?"
    r"(?P<y>1[0-8]\d{2})\b(?![.,]\d|\s*[-–%€$£¥]|\s+(?!"
    r"(?:by|and|but|or|to|for|as|on|at|in|the|a|an|when|with|after|before|until|from|under|near|of|is|was|it|its|he"
    r"|she|they|because|while|which|who|that|then|so|during|over|through|without|AD|CE)\b)[^\W\d])"
)
"""A year before 1900 that reads as one: with a word of time before it, and nothing after it that it could count."""
_DATES: Final = (
    *DATES,
    re.compile(EARLY_YEAR, re.IGNORECASE),
    re.compile(
        r"\b(?:in|since|by|until|from|before|after|of|year)\s+(?P<y>(?:19|20)\d{2})\b(?!\s*[-–]\s*\d)",
        re.IGNORECASE,
    ),
)
"""A bare year counts with a word of time before it."""
_LABEL_NOUNS: Final = (
    "line|phase|unit|no|number|section|table|figure|fig|step|version|chapter|article|annex|level|type|class|lot|"
    "block|building|room|site|stage|option|item|part|rule|grade|zone|route|bus|pump|tank|page|group|team|scenario|"
    "transformer|container|quarter|week|round|model|plant|station|area|district|variant|case"
)
_LABELS: Final = (
    re.compile(rf"\b(?:{_LABEL_NOUNS})s?\b\.?\s*(?:\d+(?:\.\d+)*|[A-Z])\b(?!\s*[%€$£])", re.IGNORECASE),
    re.compile(r"第\s*[0-9一二三四五六七八九十百]+\s*[\u4e00-\u9fff]"),
    re.compile(r"(?:\d+|[一二三四五六七八九十])\s*(?:号(?!召)|期|标段|#)"),
    re.compile(r"[甲乙丙丁戊](?=[\u4e00-\u9fff])"),
    re.compile(r"\b[A-Z]{1,5}-?\d+[A-Z0-9-]*\b"),
)
_UNIT_NAME = "|".join(re.escape(name) for name in sorted(_UNITS, key=len, reverse=True))
_SCALE_NAME = "|".join(sorted(_SCALES, key=len, reverse=True))
_NUMBER = re.compile(
    rf"(?P<prefix>[€$£¥￥]|\b(?:EUR|USD|GBP|CNY|RMB)\s)?\s*"
    rf"(?P<number>(?<![\w.])[-−]?\d+(?:,\d{{3}})+(?:\.\d+)?|(?<![A-Za-z0-9.])[-−]?\d+(?:\.\d+)?)"
    rf"\s*(?P<scale>(?:{_SCALE_NAME})(?![瓦米克])|[mk](?![\w²³]))?"
    rf"\s*(?P<unit>(?:{_UNIT_NAME})(?![A-Za-z0-9²³]))?"
    r"(?P<per>\s*(?:/|\bper\b|\ba\b)\s*(?:[A-Za-z²³]+|[\u4e00-\u9fff]{1,3}))?"
    r"(?P<noun>\s*(?:[a-z]{3,}|[\u4e00-\u9fff]))?"
)
_NO_COUNTED_NOUN = re.compile(
    "[的和与及或至到在是为之以由其]"
    "|and|but|for|the|with|from|per|when|while|than|nor|yet|into|onto|without|within|until|since|after|before|under|"
    "over|above|below|each|was|were|are|has|had|will|would|may|can|must|not"
)


def read_quantities(sentence: str) -> Quantities:
    """Return the quantities of `sentence`; each stretch of it is read once, dates first, then labels, then numbers.

    >>> found = read_quantities("Line 2 stores 1.2 MWh since 3 May 2024.")
    >>> found.measures, found.days, sorted(found.labels)
    ((Measure(dimension='energy', value=Decimal('1200000.0')),), (Day(year=2024, month=5, day=3),), ['line 2'])
    """
    days: list[Day] = []
    labels: set[str] = set()
    measures: list[Measure] = []

    def take_day(match: re.Match[str]) -> str:
        day = day_of(match)
        if day is None:
            return match[0]
        days.append(day)
        return " ; "

    def take_label(match: re.Match[str]) -> str:
        labels.add(" ".join(match[0].casefold().split()))
        return " ; "

    def take_number(match: re.Match[str]) -> str:
        measures.append(_measure(match))
        return f" {match['noun'] or ''}"

    rest = sentence
    for pattern in _DATES:
        rest = pattern.sub(take_day, rest)
    for pattern in _LABELS:
        rest = pattern.sub(take_label, rest)
    rest = _NUMBER.sub(take_number, rest)
    return Quantities(measures=tuple(measures), days=tuple(days), labels=frozenset(labels), rest=rest)


def nearly_equal(a: Decimal, b: Decimal) -> bool:
    """Return whether two values differ by at most `NEARLY_EQUAL` of the larger one."""
    return abs(a - b) <= NEARLY_EQUAL * max(abs(a), abs(b))


def _measure(match: re.Match[str]) -> Measure:
    value = Decimal(match["number"].replace(",", "").replace("−", "-"))
    prefix = (match["prefix"] or "").strip()
    scale = match["scale"]
    if scale in ("m", "k") and not prefix:
        # A bare `m` is a metre; only behind a currency it is a million.
        return Measure("length", value) if scale == "m" else Measure(PLAIN, value * 1000)
    if scale:
        value *= {"m": Decimal(10**6), "k": Decimal(10**3)}.get(scale) or _SCALES[scale]
    dimension, factor = _UNITS.get(prefix or match["unit"] or "", (PLAIN, Decimal(1)))
    noun = (match["noun"] or "").strip()
    if dimension == PLAIN and noun and not _NO_COUNTED_NOUN.fullmatch(noun):
        return Measure(f"count:{noun.removesuffix('s')}", value)
    per = re.sub(r"^\s*(?:/|per|a)\s*", "/", match["per"] or "").casefold()
    return Measure(dimension + per, value * factor)
