"""Find what contradicts a sentence that was found: the question or statement may name less than both of them share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from agents.retrieval.copies import repeats
from agents.workers.embedded.findings import other_value
from agents.workers.embedded.instructions import gives_orders
from agents.workers.embedded.material import Candidate
from agents.workers.embedded.selection import Weighted

MOST_RIVALS: Final = 2
"""Sentences that are quoted against one answer."""
LOOKED_AT: Final = 60
"""Best-supported sentences among which rivals are looked for."""


def rivals(
    found: Sequence[Candidate], others: Iterable[Candidate], asked: str | None = None
) -> tuple[Candidate, ...]:
    """Return those of `others` that give another value for what a sentence of `found` says; best first, a few.

    With `asked`, a statement, the value must be one of its own. Sentences of one note, of its copies, and rows of
    tables are no rivals, nor is what gives orders to its reader.
    """
    sentences = [one for one in found if one.unit.kind != "table_row"]
    kept: list[Candidate] = []
    for other in list(others)[:LOOKED_AT]:
        told = any(other.unit.text == one.unit.text for one in (*found, *kept))
        if told or other.unit.kind == "table_row" or gives_orders(other.unit.text):
            continue
        if any(
            not _of_one_source(one, other) and other_value(one.unit.text, other.unit.text, asked)
            for one in sentences
        ):
            kept.append(other)
    return tuple(kept[:MOST_RIVALS])


def candidates_of(weighed: Sequence[Weighted]) -> tuple[Candidate, ...]:
    """Return the sentences that were chosen."""
    return tuple(one.candidate for one in weighed)


def _of_one_source(one: Candidate, other: Candidate) -> bool:
    first, second = (c.passage.source.copy_of or c.passage.source.id for c in (one, other))
    return first == second or repeats(one.passage.text, other.passage.text)
