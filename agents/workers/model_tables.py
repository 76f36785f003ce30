"""Tables out of a model's claims: the model says which cell a claim fills, this code draws the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.citations import one_line
from agents.operations import field_name
from agents.workers.embedded.answering import texts_of
from agents.workers.embedded.wording import PHRASES
from agents.workers.embedded.writing import table
from agents.workers.ports import WorkOrder
from graphs.contract import Lang


@dataclass(frozen=True, slots=True, kw_only=True)
class TableAsked:
    """The table that an order of the operation `extract` asks for."""

    columns: tuple[str, ...]
    rows: tuple[str, ...]
    """Empty: the rows are what the model finds."""

    @property
    def questions(self) -> tuple[str, ...]:
        """What the model is asked: each cell, or each column where the rows are for it to find."""
        if not self.rows:
            return self.columns
        return tuple(field_name(row, column) for row in self.rows for column in self.columns)


def table_asked(order: WorkOrder) -> TableAsked | None:
    """Return the table that `order` asks for, `None` for one that asks for none."""
    params = order.params or order.subtask.params
    columns = texts_of(params, "columns")
    if order.subtask.operation != "extract" or not columns:
        return None
    return TableAsked(columns=columns, rows=texts_of(params, "rows"))


def drawn(asked: TableAsked, rows: Sequence[str], said: Mapping[str, str], lang: Lang) -> str:
    """Return the Markdown table; `said` gives the text of each filled cell by its name."""
    phrases = PHRASES[lang]
    body = [
        [
            one_line(row),
            *(said.get(field_name(row, column), phrases.not_in_the_notes) for column in asked.columns),
        ]
        for row in rows
    ]
    return table([phrases.item, *map(one_line, asked.columns)], body)


def whole_columns(asked: TableAsked, rows: Sequence[str], said: Mapping[str, str]) -> dict[str, str]:
    """Return what each column holds, where the rows were for the model to find: the goal asked for it as a whole."""
    found: dict[str, str] = {}
    for column in () if asked.rows else asked.columns:
        cells = [said[name] for name in (field_name(row, column) for row in rows) if name in said]
        if cells:
            found[column] = "; ".join(cells)
    return found
