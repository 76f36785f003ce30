"""Take what a comparison leaves unsaid from the notes: which things, and by what."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from agents.planning.domains import NoteOutline, TableOutline
from agents.planning.patterns.compare import ComparedKind, compared_kind
from agents.planning.readings import CompareTask, ExtractTask, Reading, Task, UnclearTask
from agents.retrieval.tokens import is_cjk, terms

MOST_CRITERIA: Final = 8
"""Columns of a table, or headings, by which things are compared that the goal compares by nothing."""

_NUMBERED = re.compile(r"^\s*(?:\d+(?:\.\d+)*[.)、]?|[一二三四五六七八九十]+[、.．])\s*")


def with_notes(reading: Reading, outlines: Sequence[NoteOutline]) -> Reading:
    """Return `reading` with what its comparisons leave unsaid, as far as the notes say it.

    "The three ovens" are the rows of the table that has them. Things without criteria are compared by the columns of
    the table whose rows they are, else by the headings that the notes have under each of them; if there are none,
    the assumed criteria stay. A kind of thing without such a table but with criteria is a table to fill.
    """
    return replace(reading, tasks=tuple(_task(task, outlines) for task in reading.tasks))


def _task(task: Task, outlines: Sequence[NoteOutline]) -> Task:
    if isinstance(task, UnclearTask) and task.comparison and (kind := compared_kind(task.topic)):
        return _of_kind(kind, outlines) or task
    if isinstance(task, CompareTask) and task.assumed_aspects:
        found = _columns(task.items, outlines) or _common_headings(task.items, outlines)
        return replace(task, aspects=found) if found else task
    return task


def _of_kind(kind: ComparedKind, outlines: Sequence[NoteOutline]) -> Task | None:
    for table in _tables(outlines):
        counted = len(table.rows) == kind.count if kind.count else len(table.rows) > 1
        if counted and _speaks_of(kind.kind, table.about):
            aspects = kind.aspects or table.columns[:MOST_CRITERIA]
            if aspects:
                return CompareTask(items=table.rows, aspects=aspects, assumed_aspects=not kind.aspects)
    if not kind.aspects:
        return None
    each = f"各{kind.kind}" if is_cjk(kind.kind) else f"all {kind.kind}"
    return ExtractTask(columns=kind.aspects, each=each)


def _columns(items: Sequence[str], outlines: Sequence[NoteOutline]) -> tuple[str, ...]:
    for table in _tables(outlines):
        rows = [_row(item, table) for item in items]
        if None not in rows and len(set(rows)) == len(items) and table.columns:
            return table.columns[:MOST_CRITERIA]
    return ()


def _row(item: str, table: TableOutline) -> str | None:
    """Return the only row that an item names: by all its words, beside words that stand over the table."""
    wanted, over = set(terms(item)), set(terms(table.about))
    found = [row for row in table.rows if set(terms(row)) == wanted]
    found = found or [
        row for row in table.rows if (named := set(terms(row))) and named <= wanted and wanted - named <= over
    ]
    found = found or [row for row in table.rows if wanted and wanted <= set(terms(row))]
    return found[0] if len(found) == 1 else None


def _common_headings(items: Sequence[str], outlines: Sequence[NoteOutline]) -> tuple[str, ...]:
    """Return the headings that stand below a heading, or in a note, called after each of the items."""
    below: list[dict[str, str]] = []
    for item in items:
        found: dict[str, str] = {}
        for outline in outlines:
            for trail in outline.trails:
                levels = (outline.title, *trail)
                deep = next((n for n, title in enumerate(levels) if _called(title, item, items)), None)
                for title in levels[deep + 1 :] if deep is not None else ():
                    if not _called(title, item, items):
                        bare = _NUMBERED.sub("", title).strip()
                        found.setdefault(" ".join(terms(bare)), bare)
        below.append(found)
    first, *rest = below
    return tuple(title for key, title in first.items() if key and all(key in other for other in rest))[
        :MOST_CRITERIA
    ]


def _called(title: str, item: str, items: Sequence[str]) -> bool:
    """Say whether a title names one item, and no other one."""

    def names(each: str) -> bool:
        wanted = set(terms(each))
        return bool(wanted) and wanted <= set(terms(title))

    return names(item) and not any(names(other) for other in items if other != item)


def _tables(outlines: Sequence[NoteOutline]) -> list[TableOutline]:
    return [table for outline in outlines for table in outline.tables]


def _speaks_of(kind: str, about: str) -> bool:
    wanted = set(terms(kind))
    return bool(wanted) and wanted <= set(terms(about))
