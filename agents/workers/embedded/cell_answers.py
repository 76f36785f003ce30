"""The cell of a table in the notes that fills a field of a thing: its row is the thing, its column the field."""

from __future__ import annotations

from collections.abc import Sequence

from agents.retrieval.tokens import terms
from agents.workers.embedded.answering import folded
from agents.workers.embedded.material import Candidate, Passage
from agents.workers.embedded.note_tables import NoteCell, NoteRow, rows_with


def cell_of(item: str, field: str, passages: Sequence[Passage]) -> Candidate | None:
    """Return the cell that gives `field` of `item`: of the row called so, else of the only one whose name fits.

    What the first of `passages` says wins; an empty cell says nothing.
    """
    row = row_of(item, rows_with((field,), passages))
    cell = row.cells.get(field) if row else None
    return _candidate(cell) if cell else None


def row_of(item: str, rows: Sequence[NoteRow]) -> NoteRow | None:
    """Return the row called `item`, else the only one whose name has all words of `item`, or none but those."""
    exact = [row for row in rows if folded(row.name) == folded(item)]
    near = [row for row in rows if is_called(row.name, item)]
    return exact[0] if exact else near[0] if len(near) == 1 else None


def is_called(name: str, item: str) -> bool:
    """Say whether one of two names has all words of the other.

    >>> is_called("Brandt", "Brandt oven"), is_called("North gate", "South gate")
    (True, False)
    """
    first, second = set(terms(name)), set(terms(item))
    return bool(first and second) and (first <= second or second <= first)


def _candidate(cell: NoteCell) -> Candidate:
    start, end = cell.span.start_char, cell.span.end_char
    index = next(n for n, unit in enumerate(cell.passage.units) if unit.start_char <= start < unit.end_char)
    return Candidate(passage=cell.passage, index=index, part=(start, end))
