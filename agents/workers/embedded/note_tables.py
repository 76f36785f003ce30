"""Read tables that stand in notes: which rows have the wanted columns, and the exact place of each cell."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from agents.evidence import LineSpan
from agents.retrieval.sentences import Unit
from agents.retrieval.tokens import terms
from agents.workers.embedded.answering import folded
from agents.workers.embedded.material import Passage

MATCHED_COLUMNS: Final = 0.5
"""Share of the wanted columns that a table's header must have for its rows to be taken over."""

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)")
_YEAR_ZH = re.compile(r"(?<!\d)(?:19|20)\d{2}\s*年度?")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_BRACKET = re.compile(r"[(\[][^()\[\]]*[)\]]")
_BETWEEN = re.compile(r"\b(?:in|of|for|from|the|an?|per|year|season)\b|的", re.IGNORECASE)
_BORDER = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRow:
    """A row of a table in a note."""

    name: str
    """The text of its first cell."""
    passage: Passage
    cells: Mapping[str, LineSpan]
    """The place of each wanted column's text; an empty cell has none."""

    def text(self, column: str) -> str:
        """Return the exact text of a cell; raises `KeyError` for a column that it does not have."""
        span = self.cells[column]
        start = span.start_char - self.passage.start_char
        return self.passage.text[start : start + span.end_char - span.start_char]


def rows_with(columns: Sequence[str], passages: Iterable[Passage]) -> tuple[NoteRow, ...]:
    """Return the rows of tables whose header has at least `MATCHED_COLUMNS` of `columns`, in the given order.

    A column whose header gives another year or number than the wanted one is another column; so is each of several
    that differ by their numbers alone where none is wanted.

    A row that occurs again under the same name, in whatever table, is left out.
    """
    rows: dict[str, NoteRow] = {}
    for passage in passages:
        for unit in passage.units:
            row = _row(passage, unit, columns)
            if row is not None:
                rows.setdefault(folded(row.name), row)
    return tuple(rows.values())


def of_other_years(passage: Passage, unit: Unit, wanted: str) -> bool:
    """Say whether `unit` is a row of a table whose header gives years, and neither gives all years of `wanted`."""
    header = passage.lead_of(unit) if unit.kind == "table_row" else None
    given = frozenset(_YEAR.findall(header or ""))
    return bool(given) and not frozenset(_YEAR.findall(wanted)) <= given | frozenset(_YEAR.findall(unit.text))


def split_row(row: str) -> tuple[tuple[str, int], ...]:
    r"""Return the cells between the bars of a table row, each with its offset, without surrounding space.

    >>> split_row(r"| LFP | a \| b |")
    (('LFP', 2), ('a \\| b', 8))
    """
    borders = [match.start() for match in _BORDER.finditer(row)]
    found = []
    for left, right in pairwise(borders):
        inner = row[left + 1 : right]
        found.append((inner.strip(), left + 1 + len(inner) - len(inner.lstrip())))
    return tuple(found)


def _row(passage: Passage, unit: Unit, columns: Sequence[str]) -> NoteRow | None:
    header = passage.lead_of(unit) if unit.kind == "table_row" else None
    if header is None:
        return None
    names = [text for text, _ in split_row(header)]
    about = frozenset(terms(f"{passage.source.title} {passage.heading}"))
    cells = split_row(unit.text)
    places = {column: _place(column, names, about) for column in columns}
    known = {column: place for column, place in places.items() if place is not None and place < len(cells)}
    if len(known) < MATCHED_COLUMNS * len(columns) or not cells[0][0]:
        return None
    spans = {
        column: _span(passage, unit, *cells[place]) for column, place in known.items() if cells[place][0]
    }
    return NoteRow(name=cells[0][0], passage=passage, cells=spans)


def _place(wanted: str, names: Sequence[str], about: frozenset[str]) -> int | None:
    """Return the column that is called `wanted`, else one whose name holds it or is held by it."""
    for place, name in enumerate(names):
        if folded(name) == folded(wanted):
            return place
    near = [place for place, name in enumerate(names) if _near(wanted, name, about)]
    near = [place for place in near if _topic(names[place]) == _topic(wanted)] or near
    if not near:
        return None
    called = _topic(names[near[0]])
    rivals = [
        p for p in near if _topic(names[p]) == called and _numbers(names[p]) != _numbers(names[near[0]])
    ]
    return None if rivals else near[0]


def _near(wanted: str, name: str, about: frozenset[str]) -> bool:
    """Say whether one of the two holds the other, apart from numbers, units and words between.

    All numbers of `wanted` stand in the name, and the name has no year that is not wanted. A name that is a year and
    nothing else takes its topic from the headings over the table, whose terms are `about`.
    """
    asked, given = _topic(wanted), _topic(name)
    if not given and _YEAR.search(name):
        return _numbers(wanted) == _numbers(name) and not about.isdisjoint(
            terms(_NUMBER.sub(" ", _YEAR_ZH.sub(" ", wanted)))
        )
    if not asked or not given or not (asked in given or given in asked):
        return False
    numbers, years = _numbers(wanted), frozenset(_YEAR.findall(wanted))
    other_year = bool(years) and not frozenset(_YEAR.findall(name)) <= years
    return numbers <= _numbers(name) and not other_year


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(_BRACKET.sub(" ", unicodedata.normalize("NFKC", text)))) | frozenset(
        _YEAR.findall(text)
    )


def _topic(text: str) -> str:
    """Return what a header is about, without its numbers, its unit in brackets and words between."""
    plain = _BRACKET.sub(" ", unicodedata.normalize("NFKC", text))
    return folded(_BETWEEN.sub(" ", _NUMBER.sub(" ", _YEAR_ZH.sub(" ", plain))))


def _span(passage: Passage, unit: Unit, text: str, offset: int) -> LineSpan:
    return LineSpan(
        source=passage.source.id,
        start_line=unit.start_line,
        end_line=unit.end_line,
        start_char=unit.start_char + offset,
        end_char=unit.start_char + offset + len(text),
    )
