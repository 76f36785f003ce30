"""Read a table row that answers a question: the cell that is asked for, and what it is called in its table."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from agents.retrieval.tokens import is_cjk, terms
from agents.workers.embedded.asking import AnswerKind
from agents.workers.embedded.matching import credit, prepared
from agents.workers.embedded.material import Candidate
from agents.workers.embedded.note_tables import Grid, grids
from agents.workers.embedded.question import Question
from agents.workers.embedded.subject import MET
from agents.workers.embedded.table_columns import measured

_DOER: Final = re.compile(
    r"who|responsible|person(?: in charge| responsible)?|in charge|lead|owner|assignee"
    r"|负责人?|责任人|经办人|牵头人|承办人|主管",
    re.IGNORECASE,
)
_PAYING = re.compile(r"\b(?:cost|costs|pay|paid|price)\b|多少钱|价格|造价|成本|费用|花费", re.IGNORECASE)


def asked_cell(question: Question, candidate: Candidate) -> Candidate:
    """Return the only cell of a row that the question asks for, where it names the row; else the candidate itself."""
    found = _grid_and_row(candidate)
    if found is None or candidate.part is not None:
        return candidate
    grid, row = found
    asked = prepared(question.text)
    name = terms(grid.name_of(row))
    if not name or not any(credit(term, asked) >= MET for term in name):
        return candidate
    places = [
        p for p in range(len(grid.names)) if p not in grid.naming and _is_asked(question, grid.names[p])
    ]
    cell = grid.cell(row, places[0]) if len(places) == 1 else None
    return replace(candidate, part=(cell.span.start_char, cell.span.end_char)) if cell else candidate


def label_of(candidate: Candidate) -> str:
    """Return what a row, or a cell of one, is called in its table; empty for anything else.

    A cell has the name of its row and of its column, a row the names of all columns.
    """
    found = _grid_and_row(candidate)
    if found is None:
        return ""
    grid, row = found
    if candidate.part is None:
        return " | ".join(name for name in grid.names if name)
    start = candidate.part[0] - grid.units[row].start_char
    place = next(
        p for p, (text, offset) in enumerate(grid.rows[row]) if offset <= start <= offset + len(text)
    )
    names = [name for name in (grid.name_of(row), grid.names[place]) if name]
    return ("，" if is_cjk("".join(names)) else ", ").join(names)


def _grid_and_row(candidate: Candidate) -> tuple[Grid, int] | None:
    unit = candidate.passage.units[candidate.index]
    if unit.kind != "table_row":
        return None
    for grid in grids([candidate.passage]):
        for row, own in enumerate(grid.units):
            if own.start_char == unit.start_char:
                return grid, row
    return None


def _is_asked(question: Question, header: str) -> bool:
    """Say whether a question names a column, or asks for what it holds: who, or how much money."""
    if question.kind is AnswerKind.PERSON:
        return _DOER.fullmatch(header.strip()) is not None
    kind, words = measured(header)
    asked = prepared(question.text)
    if words:
        return all(credit(term, asked) >= MET for term in words)
    return kind == "money" and _PAYING.search(question.text) is not None
