"""Read tables that stand in notes: which rows have the wanted columns, and the exact place of each cell.

A year may stand in a column's name, in a column of its own, above the table or in the headings; the nearest place that
gives one decides, and a cell of another year fills nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

from agents.evidence import LineSpan
from agents.retrieval.sentences import Unit
from agents.workers.embedded.answering import folded
from agents.workers.embedded.material import Passage
from agents.workers.embedded.table_columns import (
    is_figure,
    is_numbering,
    is_value_name,
    is_year_column,
    is_year_name,
    named_by,
    place_of,
    same_topic,
    topic_of,
    year_given,
    years_of,
)

MATCHED_COLUMNS: Final = 0.5
"""Share of the wanted topics that a table must have for its rows to be taken over."""
LONGEST_CAPTION: Final = 160
"""Characters of a line right above a table that can name it."""

_BORDER = re.compile(r"(?<!\\)\|")
_TRAIL = re.compile(r"\s+>\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteCell:
    """A cell of a table in a note."""

    passage: Passage
    span: LineSpan

    @property
    def text(self) -> str:
        """Return the exact text."""
        start = self.span.start_char - self.passage.start_char
        return self.passage.text[start : start + self.span.end_char - self.span.start_char]


@dataclass(slots=True, kw_only=True)
class NoteRow:
    """What tables of the notes give for one thing."""

    name: str
    cells: dict[str, NoteCell] = field(default_factory=dict)
    """By wanted column; an empty cell has none."""


class _Slice(NamedTuple):
    """One wanted cell as it stands in a table."""

    name: str
    year: str
    """Of its row or of the whole table, empty where none is given."""
    column: str
    cell: NoteCell | None
    """`None`: the table has such a column, and nothing in it."""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A table with its header, as far as a passage holds it."""

    passage: Passage
    header: str
    caption: str
    units: tuple[Unit, ...]

    @cached_property
    def naming(self) -> tuple[int, ...]:
        """The columns that name the rows; empty where none can."""
        return _naming(self, "") or ()

    @cached_property
    def row_names(self) -> tuple[str, ...]:
        return tuple(self.name_of(row) for row in range(len(self.rows)))

    def name_of(self, row: int) -> str:
        """Return what a row is called."""
        cells = self.rows[row]
        return " · ".join(cells[p][0] for p in self.naming if p < len(cells) and cells[p][0])

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(text for text, _ in split_row(self.header))

    @cached_property
    def rows(self) -> tuple[tuple[tuple[str, int], ...], ...]:
        return tuple(split_row(unit.text) for unit in self.units)

    @cached_property
    def levels(self) -> tuple[str, ...]:
        """What stands over the table, nearest first."""
        return (self.caption, *reversed(_TRAIL.split(self.passage.heading)), self.passage.source.title)

    @property
    def title(self) -> str:
        """What names the table itself: the line above it, else its own heading."""
        return self.caption or self.levels[1]

    @cached_property
    def year_place(self) -> int | None:
        return next((p for p, name in enumerate(self.names) if is_year_column(name, self.column(p))), None)

    @property
    def subject(self) -> str:
        """What the whole table is about, where it is about one thing."""
        return next((text for text in self.levels if topic_of(text)), self.passage.source.uri)

    def column(self, place: int) -> list[str]:
        return [row[place][0] for row in self.rows if place < len(row)]

    def cell(self, row: int, place: int) -> NoteCell | None:
        cells, unit = self.rows[row], self.units[row]
        if place >= len(cells) or not cells[place][0]:
            return None
        text, offset = cells[place]
        span = LineSpan(
            source=self.passage.source.id,
            start_line=unit.start_line,
            end_line=unit.end_line,
            start_char=unit.start_char + offset,
            end_char=unit.start_char + offset + len(text),
        )
        return NoteCell(passage=self.passage, span=span)

    def year_of(self, row: int, name: str) -> frozenset[str]:
        """Return the years of a row: of its own column, of its name, else of what stands over the table."""
        cells = self.rows[row]
        own = (
            cells[self.year_place][0] if self.year_place is not None and self.year_place < len(cells) else ""
        )
        return year_given((own, name, *self.levels))


def rows_with(columns: Sequence[str], passages: Iterable[Passage], each: str = "") -> tuple[NoteRow, ...]:
    """Return the rows of tables that have at least `MATCHED_COLUMNS` of the topics of `columns`, in the given order.

    `each` says of what kind the rows are ("branch"): the column of that name names them, else the first one that
    neither numbers the rows nor gives their year. What several tables tell of one thing is one row. Where `columns`
    name no year and the tables give several for one thing, each year is a row; where `each` is a name for years, only
    years are. A row that has none of `columns` is left out, and so is a cell told again.
    """
    by_year = not any(years_of(column) for column in columns)
    found = [one for grid in grids(passages) for one in _slices(grid, columns, each)]
    years: dict[str, set[str]] = {}
    for one in found:
        years.setdefault(folded(one.name), set()).update([one.year] if one.year else [])
    rows: dict[str, NoteRow] = {}
    for one in found:
        apart = by_year and one.year and len(years[folded(one.name)]) > 1
        name = f"{one.name} ({one.year})" if apart else one.name
        row = rows.setdefault(folded(name), NoteRow(name=name))
        if one.cell is not None:
            row.cells.setdefault(one.column, one.cell)
    return tuple(rows.values())


def tells(passage: Passage, unit: Unit, column: str) -> bool:
    """Say whether `unit`, quoted whole, may fill a cell of `column`.

    A row of a table may only if the table has such a column, or the row such a name. Where `column` names a year,
    the unit, its table or its headings must give that year.
    """
    header = passage.lead_of(unit) if unit.kind == "table_row" else None
    if header is not None:
        names = [text for text, _ in split_row(header)]
        called = [text for text, _ in split_row(unit.text)][:1]
        if place_of(column, names, passage.heading) is None and not any(
            same_topic(column, n) for n in called
        ):
            return False
    wanted = years_of(column)
    above = (*reversed(_TRAIL.split(passage.heading)), passage.source.title, passage.source.uri)
    own = " ".join((unit.text, header or ""))
    return not wanted or wanted <= year_given((own, *above))


def holds_table(passage: Passage) -> bool:
    """Say whether a passage holds a table, or rows of one."""
    return any(unit.kind == "table_row" for unit in passage.units)


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


def grids(passages: Iterable[Passage]) -> Iterator[Grid]:
    """Yield the tables of `passages` that have a header."""
    for passage in passages:
        by_header: dict[tuple[int, int], list[Unit]] = {}
        for unit in passage.units:
            if unit.kind == "table_row" and unit.lead is not None and passage.lead_of(unit) is not None:
                by_header.setdefault(unit.lead, []).append(unit)
        for lead, units in by_header.items():
            header = passage.lead_of(units[0]) or ""
            yield Grid(passage=passage, header=header, caption=_caption(passage, lead[0]), units=tuple(units))


def _caption(passage: Passage, start: int) -> str:
    """Return the line right above a table if it names it: one that is no full sentence."""
    above = [unit for unit in passage.units if unit.end_char <= start]
    if not above or above[-1].kind != "sentence" or len(above[-1].text) > LONGEST_CAPTION:
        return ""
    between = passage.text[above[-1].end_char - passage.start_char : start - passage.start_char]
    names_it = not between.strip("*_ \t\r\n") and not above[-1].text.endswith(
        (".", "。", "!", "！", "?", "？")
    )
    return above[-1].text if names_it else ""


def _slices(grid: Grid, columns: Sequence[str], each: str) -> list[_Slice]:
    """Read a table in the first way that knows enough of the wanted topics: by columns, by years, by records."""
    topics = {topic_of(column) for column in columns}
    readings = (_of_years,) if is_year_name(each) else (_by_columns, _by_year_rows, _by_records)
    for read in readings:
        found = read(grid, columns, each)
        known = {topic_of(one.column) for one in found}
        if known and len(known) >= MATCHED_COLUMNS * len(topics):
            return found
    return []


def _by_columns(grid: Grid, columns: Sequence[str], each: str) -> list[_Slice]:
    """Read a table with one thing a row and its properties in the columns."""
    about = " ".join((*grid.levels, grid.caption))
    places = {column: place_of(column, grid.names, about) for column in columns}
    naming = _naming(grid, each)
    if naming is None:
        return []
    taken = {*naming, grid.year_place, *places.values()}
    values = [p for p, name in enumerate(grid.names) if p not in taken and is_value_name(name)]
    if len(values) == 1:
        for column, place in places.items():
            if place is None and named_by(column, grid.title):
                places[column] = values[0]
    of_one = naming == (grid.year_place,) and any(map(years_of, columns))
    found = []
    for row, cells in enumerate(grid.rows):
        name = " · ".join(cells[p][0] for p in naming if p < len(cells) and cells[p][0])
        name = grid.subject if of_one else name
        if not name:
            continue
        given = grid.year_of(row, "" if of_one else name)
        for column, place in places.items():
            if place is None:
                continue
            told = years_of(grid.names[place]) or given
            if not years_of(column) or years_of(column) == told:
                found.append(_Slice(name, _only(given), column, grid.cell(row, place)))
    return _certain(found)


def _by_year_rows(grid: Grid, columns: Sequence[str], each: str) -> list[_Slice]:
    """Read a table with one year a row and one thing a column, its topic in the headings."""
    if grid.year_place is None:
        return []
    topics = [column for column in columns if years_of(column) and named_by(column, grid.title, each)]
    things = [p for p in range(len(grid.names)) if p != grid.year_place and not _numbers_rows(grid, p)]
    return [
        _Slice(grid.names[place], "", column, grid.cell(row, place))
        for column in topics
        for place in things
        for row in range(len(grid.rows))
        if grid.names[place] and grid.year_of(row, "") == years_of(column)
    ]


def _of_years(grid: Grid, columns: Sequence[str], _each: str) -> list[_Slice]:
    """Read what a table gives for each year: a year a row, or a year a column and one wanted topic a row."""
    if grid.year_place is not None:
        about = " ".join((*grid.levels, grid.caption))
        places = {column: place_of(column, grid.names, about) for column in columns}
        years = [_only(grid.year_of(row, "")) for row in range(len(grid.rows))]
        # Where a year has several rows, they are about several things: none of them is the year's value.
        return [
            _Slice(year, "", column, grid.cell(row, place))
            for row, year in enumerate(years)
            for column, place in places.items()
            if place is not None and years.count(year) == 1
        ]
    dated = {p: _only(years_of(name)) for p, name in enumerate(grid.names) if years_of(name)}
    free = [p for p in range(len(grid.names)) if p not in dated and not _numbers_rows(grid, p)]
    if not dated or not free:
        return []
    return [
        _Slice(year, "", column, grid.cell(row, place))
        for row, cells in enumerate(grid.rows)
        for column in columns
        if free[0] < len(cells) and same_topic(column, cells[free[0]][0])
        for place, year in dated.items()
        if topic_of(grid.names[place]) in ("", topic_of(column))
    ]


def _by_records(grid: Grid, columns: Sequence[str], _each: str) -> list[_Slice]:
    """Read a table with one property a row: in the one other column, or in the column of the wanted year."""
    naming = _naming(grid, "")
    if naming is None:
        return []
    found = []
    for row, cells in enumerate(grid.rows):
        called = cells[naming[0]][0]
        for column in columns:
            if called and same_topic(column, called) and not years_of(called):
                place = _record_place(grid, column, naming[0])
                if place is not None:
                    found.append(_Slice(grid.subject, "", column, grid.cell(row, place)))
    return found


def _record_place(grid: Grid, column: str, naming: int) -> int | None:
    wanted = years_of(column)
    dated = [p for p, name in enumerate(grid.names) if p != naming and years_of(name)]
    if wanted and dated:
        return next((p for p in dated if years_of(grid.names[p]) == wanted), None)
    left = [p for p in range(len(grid.names)) if p != naming and not _numbers_rows(grid, p)]
    if len(left) != 1 or (wanted and year_given(grid.levels) != wanted):
        return None
    return left[0]


def _naming(grid: Grid, each: str) -> tuple[int, ...] | None:
    """Return the columns that name the rows: one, or as many of the first ones as tell the rows apart."""
    free = [
        p
        for p in range(len(grid.names))
        if p != grid.year_place and not _numbers_rows(grid, p) and any(grid.column(p))
    ]
    worded = [p for p in free if any(not is_figure(cell) for cell in grid.column(p))]
    free = worded or (free if grid.year_place is None else [])
    if not free:
        return None if grid.year_place is None else (grid.year_place,)
    called = [p for p in free if each and same_topic(each, grid.names[p])]
    first = called[0] if called else free[0]
    naming: tuple[int, ...] = (first,)
    for place in (p for p in free if p > first):
        if _apart(grid, naming) or any(any(c.isdigit() for c in cell) for cell in grid.column(place)):
            break
        naming = (*naming, place)
    return naming if _apart(grid, naming) else (first,)


def _apart(grid: Grid, naming: tuple[int, ...]) -> bool:
    wholly = (*naming, grid.year_place) if grid.year_place is not None else naming
    keys = [tuple(row[p][0] for p in wholly if p < len(row)) for row in grid.rows]
    return len(set(keys)) == len(keys)


def _numbers_rows(grid: Grid, place: int) -> bool:
    return place != grid.year_place and is_numbering(grid.names[place], grid.column(place))


def _certain(found: list[_Slice]) -> list[_Slice]:
    """Leave out the cells without a wanted year whose value changes with the year, where other columns name years."""
    if not any(years_of(one.column) for one in found):
        return found
    values: dict[tuple[str, str], set[str]] = {}
    for one in found:
        if one.cell is not None:
            values.setdefault((folded(one.name), one.column), set()).add(one.cell.text)
    return [
        one
        for one in found
        if years_of(one.column) or len(values.get((folded(one.name), one.column), ())) < 2
    ]


def _only(years: frozenset[str]) -> str:
    return next(iter(years)) if len(years) == 1 else ""
