"""Say what a row of a table of the notes tells of a statement.

A cell speaks with the name of its row and the header of its column.
"""

from __future__ import annotations

import re
from collections.abc import Set
from typing import Final

from agents.retrieval.tokens import terms
from agents.workers.embedded.findings import Finding, same_measure, within
from agents.workers.embedded.matching import credit, prepared
from agents.workers.embedded.note_tables import Grid
from agents.workers.embedded.quantities import PLAIN, Quantities, read_quantities
from agents.workers.embedded.sentence_sense import content, is_negated
from agents.workers.embedded.table_columns import is_figure, years_of

NAMED_CREDIT: Final = 0.7
"""How far a statement must hold each word of a row's or column's name: the word, or one of its stem."""

_AFTER_NUMBER = re.compile(r"\d\s*([^\W\d_]+)")
_BOUND = re.compile(
    r"\b(?:more|less|fewer|over|under|above|below|least|most|up to|than|between|about|around|nearly|almost|roughly)\b"
    r"|超过|不少于|不低于|不高于|不多于|至少|至多|最多|大于|小于|低于|高于|多于|少于|不足|以上|以下|约|近|左右",
    re.IGNORECASE,
)
_STRICT = re.compile(
    r"\b(?:than|over|under|above|below)\b|超过|大于|小于|低于|高于|多于|少于|不足", re.IGNORECASE
)
"""Bounds that the value itself does not keep."""
_UNIT = re.compile(r"[(（]([^()（）]*)[)）]")
_PERSON = re.compile(
    r"who|responsible|person(?: in charge| responsible)?|in charge|lead|owner|assignee"
    r"|负责人?|责任人|经办人|牵头人|承办人|主管",
    re.IGNORECASE,
)
"""Headers of a column that says who does what its row names."""
_RESPONSIBLE: Final = frozenset(
    terms("done responsible charge lead leads carried handles owner 负责 承担 牵头 主管 完成")
)
_MEASURING: Final = frozenset(
    terms(
        "costs price amounts needs requires takes lasts weighs measures uses total"
        " 花费 费用 造价 价格 耗资 用时 耗时 总共 总计"
    )
)
"""Verbs and nouns that say no more than that something has a value."""


def finding_on_row(statement: str, grid: Grid, row: int) -> Finding | None:
    """Return what the row at `row` of a table says of `statement`; `None`: nothing that rules can tell.

    The statement must name the row and the column (header or headings may hold its other words); then the cell has its
    number, date or words, or another one. Other words say otherwise only if the statement's own stand in that column
    of another row.
    """
    name = grid.name_of(row)
    if not _named(name, statement) or any(
        _named(other, statement) and set(terms(name)) < set(terms(other)) for other in grid.row_names
    ):
        return None
    found = [
        finding
        for place in range(len(grid.names))
        if place not in grid.naming and (finding := _on_cell(statement, grid, row, place, name)) is not None
    ]
    return found[0] if found and len(set(found)) == 1 else None


def _on_cell(statement: str, grid: Grid, row: int, place: int, name: str) -> Finding | None:
    cells, header = grid.rows[row], grid.names[place]
    cell = cells[place][0] if place < len(cells) else ""
    topic = _UNIT.sub(" ", header)
    years = years_of(topic)
    if not cell or not years <= years_of(statement):
        return None
    asked = read_quantities(_without_years(statement, years))
    meant: Set[str] = set()
    if not _named(topic, statement):
        if _is_of_kind(asked, grid, place):
            meant = _MEASURING
        elif _PERSON.fullmatch(header.strip()) and _names_one(statement, grid.column(place)):
            meant = _RESPONSIBLE
        else:
            return None
    about = prepared(" ".join((name, header, *grid.levels, *(grid.names[p] for p in grid.naming))))
    left = {
        term
        for term in content(_without_years(statement, years))
        if not any(char.isdigit() for char in term) and credit(term, about) < NAMED_CREDIT
    } - meant
    if asked.measures or asked.days:
        return _of_figures(statement, asked, left, cell, header)
    return _of_words(left, cell, grid.column(place), denied=is_negated(statement))


def _is_of_kind(asked: Quantities, grid: Grid, place: int) -> bool:
    """Say whether a column is the only one that gives values of the kind of the statement's only one."""
    if len(asked.measures) != 1 or asked.days:
        return False
    kinds = [_kind_of(header) for header in grid.names]
    return kinds[place] == asked.measures[0].dimension and kinds.count(kinds[place]) == 1


def _kind_of(header: str) -> str:
    """Return the dimension that the unit in a header gives, in brackets or at its end; empty for none."""
    for unit in (*_UNIT.findall(header), header.split()[-1] if len(header.split()) > 1 else ""):
        for measure in read_quantities(f"1 {unit}").measures if unit.strip() else ():
            if measure.dimension != PLAIN and not measure.dimension.startswith("count:"):
                return measure.dimension
    return ""


def _names_one(statement: str, column: list[str]) -> bool:
    return any(cell and not is_figure(cell) and _named(cell, statement) for cell in column)


def _of_figures(statement: str, asked: Quantities, left: Set[str], cell: str, header: str) -> Finding | None:
    """Compare the only value of a statement with a cell that holds one; units may stand in the header."""
    unit = " ".join(_UNIT.findall(header)) or (header.split()[-1] if _kind_of(header) else "")
    told = read_quantities(f"{cell} {unit}" if is_figure(cell) else cell)
    units = {term for text in (unit, statement) for term in _unit_words(text)}
    same_words = not (left - units - set(terms(cell)))
    years, values = years_of(statement), [*asked.measures]
    if not same_words or len(values) > 1:
        return None
    if asked.days or (years and not values):
        equal = bool(told.days) and all(any(within(b, a) for b in told.days) for a in asked.days)
        equal = equal or (bool(years_of(cell)) and years_of(cell) == years)
        comparable = len(told.days) == 1 or len(years_of(cell)) == 1
    else:
        equal = any(same_measure(values[0], other) for other in told.measures)
        comparable = len(told.measures) == 1 and PLAIN not in (
            values[0].dimension,
            told.measures[0].dimension,
        )
        comparable = comparable and values[0].dimension == told.measures[0].dimension
        comparable = comparable or (is_figure(cell) and len(told.measures) == 1)
    denied = is_negated(statement)
    if _BOUND.search(statement):
        return "says_so" if equal and not denied and not _STRICT.search(statement) else None
    if equal:
        return "says_otherwise" if denied else "says_so"
    return "says_otherwise" if comparable and not denied else None


def _of_words(left: Set[str], cell: str, column: list[str], *, denied: bool) -> Finding | None:
    own = set(terms(cell))
    if not left or is_figure(cell):
        return None
    if left <= own:
        return "says_otherwise" if denied else "says_so"
    elsewhere = any(other != cell and left == set(terms(other)) for other in column)
    return "says_otherwise" if elsewhere and not left & own and not denied else None


def _named(name: str, statement: str) -> bool:
    held = prepared(statement)
    wanted = [term for term in terms(name) if not years_of(term)]
    return bool(wanted) and all(credit(term, held) >= NAMED_CREDIT for term in wanted)


def _unit_words(text: str) -> tuple[str, ...]:
    """Return the words of a text that stand for the unit of a number."""
    return tuple(word for found in _AFTER_NUMBER.findall(text) for word in terms(found))


def _without_years(text: str, years: Set[str]) -> str:
    for year in years:
        text = re.sub(rf"(?<!\d){year}(?!\d)\s*年?度?", " ", text)
    return text
