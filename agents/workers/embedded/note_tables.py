"""Read tables that stand in notes: which rows have the wanted columns, and the exact place of each cell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from agents.evidence import LineSpan
from agents.retrieval.sentences import Unit
from agents.workers.embedded.answering import folded
from agents.workers.embedded.material import Passage

MATCHED_COLUMNS: Final = 0.5
"""Share of the wanted columns that a table's header must have for its rows to be taken over."""

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

    A row that occurs again under the same name, in whatever table, is left out.
    """
    rows: dict[str, NoteRow] = {}
    for passage in passages:
        for unit in passage.units:
            row = _row(passage, unit, columns)
            if row is not None:
                rows.setdefault(folded(row.name), row)
    return tuple(rows.values())


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
    names = [folded(text) for text, _ in split_row(header)]
    cells = split_row(unit.text)
    places = {column: _place(folded(column), names) for column in columns}
    known = {column: place for column, place in places.items() if place is not None and place < len(cells)}
    if len(known) < MATCHED_COLUMNS * len(columns) or not cells[0][0]:
        return None
    spans = {
        column: _span(passage, unit, *cells[place]) for column, place in known.items() if cells[place][0]
    }
    return NoteRow(name=cells[0][0], passage=passage, cells=spans)


def _place(wanted: str, names: Sequence[str]) -> int | None:
    exact = [place for place, name in enumerate(names) if name == wanted]
    near = [place for place, name in enumerate(names) if name and (wanted in name or name in wanted)]
    return next(iter([*exact, *near]), None)


def _span(passage: Passage, unit: Unit, text: str, offset: int) -> LineSpan:
    return LineSpan(
        source=passage.source.id,
        start_line=unit.start_line,
        end_line=unit.end_line,
        start_char=unit.start_char + offset,
        end_char=unit.start_char + offset + len(text),
    )
