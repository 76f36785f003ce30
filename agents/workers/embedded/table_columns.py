"""Tell which column of a table is the wanted one, and of which year a name speaks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from agents.retrieval.tokens import terms
from agents.workers.embedded.answering import folded
from agents.workers.embedded.quantities import PLAIN, read_quantities

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)")
_YEAR_ZH = re.compile(r"(?<!\d)(?:19|20)\d{2}\s*年度?")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_BRACKET = re.compile(r"[(\[][^()\[\]]*[)\]]")
_BETWEEN = re.compile(r"\b(?:in|of|for|from|the|an?|per|year|season)\b|的", re.IGNORECASE)
_YEAR_HEADER: Final = re.compile(
    r"(?:fiscal |calendar |financial |business )?years?|fy|年份|年度|年|财年|会计年度|时间", re.IGNORECASE
)
_YEAR_CELL = re.compile(r"(?:FY\s*)?(?:19|20)\d{2}\s*(?:年度?|年)?", re.IGNORECASE)
_NUMBERING_HEADER: Final = re.compile(
    r"(?:no|nr|num|number|item no|row|line|index|#|№|s/?n|序号|序|编号|项次|行号|号|次序)\.?", re.IGNORECASE
)
_VALUE_HEADER: Final = re.compile(
    r"(?:amounts?|values?|figures?|totals?|sums?|numbers?|results?|quantity|count|数值|数额|金额|数量|数据|合计|总计|值|数)?",
    re.IGNORECASE,
)
_SCALE = re.compile(
    r"^(?:k|m|bn|thousands?|millions?|billions?|[十百千万亿]+)(?:\s*(?:of\s+)?)(?=\S)", re.IGNORECASE
)
_LABEL = re.compile(r"(?:\b(?:tab(?:le|\.)?|figure)|表)\s*[:：.]?", re.IGNORECASE)
_MEASURED: Final = (
    (
        "money",
        re.compile(
            r"\b(?:costs?|prices?|expenses?|fees?|charges?)\b|成本|价格|售价|单价|造价|费用|价钱|金额"
        ),
    ),
    ("time", re.compile(r"\b(?:times?|durations?|periods?)\b|时间|时长|工期|周期|期限|耗时")),
    ("mass", re.compile(r"\b(?:weights?|mass)\b|重量")),
    ("area", re.compile(r"\bareas?\b|面积")),
)
"""Words that say what is measured, and nothing of what it is measured of."""
_FIGURE = re.compile(r"[^\w]*\d|[$€£¥￥]|(?:EUR|USD|GBP|CNY|RMB)\b")
_ORDINAL_CELL = re.compile(r"[(（]?(\d{1,4})[.)）、]?")


def years_of(text: str) -> frozenset[str]:
    """Return the years that a text names.

    >>> sorted(years_of("Revenue 2024 and 2025年"))
    ['2024', '2025']
    """
    return frozenset(_YEAR.findall(text))


def topic_of(text: str) -> str:
    """Return what a name is about, without its numbers, its unit in brackets and words between.

    >>> topic_of("Honey in 2025 (kg)") == topic_of("2025 honey")
    True
    """
    plain = _BRACKET.sub(" ", unicodedata.normalize("NFKC", text))
    return folded(_BETWEEN.sub(" ", _NUMBER.sub(" ", _YEAR_ZH.sub(" ", plain))))


def is_year_column(name: str, cells: Sequence[str]) -> bool:
    """Say whether a column tells the year of its rows: every cell is a year, and its name may be one for years."""
    given = [cell for cell in cells if cell]
    if not given or not all(_YEAR_CELL.fullmatch(cell) for cell in given):
        return False
    return _YEAR_HEADER.fullmatch(name.strip()) is not None or len(given) > 1 or not name.strip()


def is_year_name(name: str) -> bool:
    """Say whether a name is one for years.

    >>> is_year_name("fiscal year"), is_year_name("年度"), is_year_name("branch")
    (True, True, False)
    """
    return _YEAR_HEADER.fullmatch(name.strip()) is not None


def is_numbering(name: str, cells: Sequence[str]) -> bool:
    """Say whether a column only numbers its rows: each cell one more than the cell before.

    A column that holds one row alone is told by its name.

    >>> is_numbering("Site", ["1", "2", "3"]), is_numbering("Contract", ["C-7", "C-8"])
    (True, False)
    """
    found = [_ORDINAL_CELL.fullmatch(cell) for cell in cells]
    numbers = [int(match[1]) for match in found if match]
    if not cells or len(numbers) < len(cells):
        return False
    rises = all(after == before + 1 for before, after in pairwise(numbers))
    return rises and (len(numbers) > 1 or _NUMBERING_HEADER.fullmatch(name.strip()) is not None)


def place_of(wanted: str, names: Sequence[str], about: str) -> int | None:
    """Return the column that is called `wanted`, else one whose name holds it or is held by it.

    A column whose name gives another year or number than the wanted one is another column; so is each of several that
    differ by their numbers alone where none is wanted. A name that is a year and nothing else takes its topic from
    `about`, the headings over the table.
    """
    for place, name in enumerate(names):
        if folded(name) == folded(wanted):
            return place
    over = frozenset(terms(about))
    near = [place for place, name in enumerate(names) if _near(wanted, name, over)]
    near = [place for place in near if topic_of(names[place]) == topic_of(wanted)] or near
    if not near:
        alike = [place for place, name in enumerate(names) if _measures_same(wanted, name)]
        return alike[0] if len(alike) == 1 else None
    called = topic_of(names[near[0]])
    rivals = [
        p for p in near if topic_of(names[p]) == called and _numbers(names[p]) != _numbers(names[near[0]])
    ]
    return None if rivals else near[0]


def named_by(wanted: str, title: str, each: str = "") -> bool:
    """Say whether the title of a table names the topic of `wanted`, and nothing else but units and `each`.

    >>> named_by("revenue for 2024", "Revenue in k€"), named_by("revenue for 2024", "Revenue and costs")
    (True, False)
    """
    asked, given = _subject_terms(wanted), _subject_terms(title)
    return bool(asked) and asked <= given <= asked | frozenset(terms(each))


def is_figure(cell: str) -> bool:
    """Say whether a cell holds a number, with or without its unit, and no words.

    >>> is_figure("€ 1,240.50"), is_figure("12 MW"), is_figure("Unit 12")
    (True, True, False)
    """
    found = read_quantities(cell)
    return bool(found.measures or found.days) and not terms(found.rest) and bool(_FIGURE.match(cell))


def is_value_name(name: str) -> bool:
    """Say whether the name of a column says only that it holds values, or in what unit.

    >>> is_value_name("k€"), is_value_name("金额（万元）"), is_value_name("Staff")
    (True, True, False)
    """
    plain = _BRACKET.sub(" ", unicodedata.normalize("NFKC", name)).strip()
    bare = _SCALE.sub("", plain) or plain
    measures = read_quantities(f"1 {bare}").measures
    unit = (
        bool(measures) and measures[0].dimension != PLAIN and not measures[0].dimension.startswith("count:")
    )
    return _VALUE_HEADER.fullmatch(plain) is not None or unit


def _subject_terms(text: str) -> frozenset[str]:
    plain = _NUMBER.sub(" ", _YEAR_ZH.sub(" ", _BRACKET.sub(" ", unicodedata.normalize("NFKC", text))))
    plain = _LABEL.sub(" ", _BETWEEN.sub(" ", plain))
    return frozenset(term for word in plain.split() if not is_value_name(word) for term in terms(word))


def same_topic(wanted: str, name: str) -> bool:
    """Say whether the topic of one of two names holds that of the other."""
    asked, given = topic_of(wanted), topic_of(name)
    return bool(asked and given) and (asked in given or given in asked)


def year_given(levels: Iterable[str]) -> frozenset[str]:
    """Return the years of the first of `levels`, nearest first, that names any."""
    return next((years for level in levels if (years := years_of(level))), frozenset())


def _near(wanted: str, name: str, over: frozenset[str]) -> bool:
    if not topic_of(name) and years_of(name):
        return _numbers(wanted) == _numbers(name) and not over.isdisjoint(
            terms(_NUMBER.sub(" ", _YEAR_ZH.sub(" ", wanted)))
        )
    if not same_topic(wanted, name):
        return False
    # A name without a year leaves it to its row or its heading.
    other_year = bool(years_of(wanted)) and not years_of(name) <= years_of(wanted)
    lacks_year = bool(years_of(name)) and not years_of(wanted) <= years_of(name)
    return _numbers(wanted) - years_of(wanted) <= _numbers(name) and not other_year and not lacks_year


def _measures_same(wanted: str, name: str) -> bool:
    """Say whether two names differ only in how they call what is measured (`delivery time`, `Delivery weeks`)."""
    (kind, about), (other, told) = measured(wanted), measured(name)
    return bool(kind) and kind == other and about == told and years_of(name) <= years_of(wanted)


def measured(name: str) -> tuple[str, frozenset[str]]:
    """Return what a name gives amounts of, empty where it does not say, and its other words."""
    plain = unicodedata.normalize("NFKC", name).casefold().strip()
    words = _BRACKET.sub(" ", plain).split()
    last = _unit_kind(words[-1]) if len(words) > 1 else ""
    rest = " ".join(words[:-1] if last else words)
    units = [last, *(_unit_kind(found.strip("()[] ")) for found in _BRACKET.findall(plain))]
    worded = [kind for kind, pattern in _MEASURED if pattern.search(rest)]
    for _, pattern in _MEASURED:
        rest = pattern.sub(" ", rest)
    return next(filter(None, (*units, *worded)), ""), frozenset(terms(_BETWEEN.sub(" ", rest)))


def _unit_kind(unit: str) -> str:
    """Return of what a unit is one: `money`, `time`, ...; empty for a word that is none."""
    found = read_quantities(f"1 {unit}").measures
    dimension = found[0].dimension.split(":")[0] if found else PLAIN
    return "" if dimension in (PLAIN, "count") else "time" if dimension == "months" else dimension


def _numbers(text: str) -> frozenset[str]:
    plain = _BRACKET.sub(" ", unicodedata.normalize("NFKC", text))
    return frozenset(_NUMBER.findall(plain)) | years_of(text)
