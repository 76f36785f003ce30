"""Put things beside each other: a table of items and aspects, each cell quoted from the notes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from agents.citations import one_line
from agents.evidence import Claim, ClaimId, EvidenceId
from agents.operations import field_name
from agents.results import Conflict, OpenQuestion, WorkOutput, WorkResult
from agents.retrieval.tokens import terms
from agents.workers.embedded.answering import answers_text, answers_to, folded, texts_of
from agents.workers.embedded.carried import Carried, carry, output_of
from agents.workers.embedded.conflicts import find_conflicts, without_parts
from agents.workers.embedded.matching import Text, credit, prepared
from agents.workers.embedded.merging import Statement, merge, restated
from agents.workers.embedded.wording import PHRASES, Phrases
from agents.workers.embedded.writing import cited, disagreement, heading, open_list, page, table
from agents.workers.ports import WorkOrder
from graphs.plan import NodeId, natural_key

_HEADING = re.compile(r"^#{1,6}[ \t]+(.+)$", re.MULTILINE)
ITEM_WEIGHT: Final = 1.5
"""Against 1 for the aspect: a sentence on the item in other words beats one that has only the aspect's word."""
OTHER_ITEM_COST: Final = 0.5
"""For each other item that a sentence names too: it compares by itself, or only lists them."""
TABLE_ROW_COST: Final = 0.3
"""A row of a table is hard to read inside another table."""
_HEADING_WORTH = 100
"""A heading that names an item says more of whom an input is about than claims that mention it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    """What the notes say on one aspect of one item."""

    name: str
    statements: tuple[Statement, ...]
    conflicts: tuple[Conflict, ...]

    @property
    def claims(self) -> tuple[Claim, ...]:
        return tuple(claim for statement in self.statements for claim in statement.claims)

    @property
    def text(self) -> str:
        return " ".join(cited(statement.claims) for statement in self.statements)


def compare(order: WorkOrder) -> WorkResult:
    """Return a table of `params["items"]` by `params["aspects"]` from the claims of one input per item.

    A cell holds the one quoted statement that speaks most of it, with the anchors of all claims that say it, or says
    that the notes have nothing; then the field is open with what the input searched. All sides of a disagreement
    with that statement stand in the cell and again below the table. `fields` gives the filled cells by `field_name`.
    What else the inputs say on a cell stays with them; claims on other aspects follow below the table.
    """
    phrases = PHRASES[order.lang]
    wanted, aspects = texts_of(order.params, "items"), texts_of(order.params, "aspects")
    carried = carry(order.inputs)
    inputs = _items_of_inputs(order.inputs, wanted)
    placed = _placed(order.inputs, inputs, carried, wanted, aspects)
    cells = [[_cell(item, aspect, wanted, placed, carried) for aspect in aspects] for item in wanted]
    cells = [_once(aspects, row) for row in _without_shared(wanted, cells)]
    flat = [cell for row in cells for cell in row]
    beside = answers_to((), carried, without={claim.id for claims in placed.values() for claim in claims})
    open_questions = _open_fields(wanted, aspects, cells, order.inputs, inputs, placed)
    disputes = tuple(conflict for cell in flat for conflict in cell.conflicts)
    text = page(
        [
            _table_of(wanted, aspects, cells, phrases),
            *_dispute_blocks(flat, phrases),
            answers_text(replace(beside, open_questions=()), phrases) if beside.claims else "",
            open_list(open_questions, phrases),
        ]
    )
    output = output_of(
        carried,
        text,
        [*(claim for cell in flat for claim in cell.claims), *beside.claims],
        open_questions=open_questions,
        conflicts=(*disputes, *beside.conflicts),
        fields={cell.name: cell.text for cell in flat if cell.claims},
    )
    return WorkResult(output=output, candidate_complete=True, mode="extractive", path=order.path)


def _items_of_inputs(inputs: Mapping[NodeId, WorkOutput], items: Sequence[str]) -> dict[NodeId, str]:
    """Say which item each input is about: the one that it names most, each taken once where several inputs tie.

    An input that names none is taken by its place, where there are as many inputs as items.
    """
    nodes = sorted(inputs, key=natural_key)
    found: dict[NodeId, str] = {}
    for place, node in enumerate(nodes):
        scores = {item: _mentions(inputs[node], item) for item in items}
        best = max(scores.values(), default=0)
        leading = [item for item in items if scores[item] == best]
        if best and len(leading) == 1:
            found[node] = leading[0]
        elif len(nodes) == len(items):
            found[node] = items[place]
    return found


def _mentions(output: WorkOutput, item: str) -> int:
    wanted = folded(item)
    headings = sum(wanted in folded(title) for title in _HEADING.findall(output.text))
    said = [claim.statement for claim in output.claims]
    asked = [question.question for question in output.open_questions]
    searched = [query for question in output.open_questions for query in question.searched]
    named = [*output.fields, *said, *asked, *searched]
    return _HEADING_WORTH * headings + sum(wanted in folded(text) for text in named)


_Place = tuple[str, str]
"""Item and aspect."""


def _placed(
    inputs: Mapping[NodeId, WorkOutput],
    items_of: Mapping[NodeId, str],
    carried: Carried,
    items: Sequence[str],
    aspects: Sequence[str],
) -> dict[_Place, list[Claim]]:
    """Sort the claims into cells; a claim that answers no aspect of an item is in none."""
    known = {claim.id: claim for claim in carried.claims}
    placed: dict[_Place, list[Claim]] = {}
    taken: set[ClaimId] = set()
    for node in sorted(inputs, key=natural_key):
        for claim in inputs[node].claims:
            place = _place_of(claim.question or "", items_of.get(node), items, aspects)
            if place and claim.id not in taken:
                taken.add(claim.id)
                placed.setdefault(place, []).append(known[claim.id])
    return placed


def _place_of(asked: str, item: str | None, items: Sequence[str], aspects: Sequence[str]) -> _Place | None:
    """Read `LFP / cost`, `cost`, `What is the cost of LFP?`; an item that the words name beats the input's own."""
    words = folded(asked)
    fields = {folded(field_name(each, aspect)): (each, aspect) for each in items for aspect in aspects}
    if words in fields:
        return fields[words]
    exact = {folded(aspect): aspect for aspect in aspects}
    if words in exact:
        return (item, exact[words]) if item else None
    named = [each for each in items if folded(each) in words]
    wanted = [aspect for aspect in aspects if folded(aspect) in words]
    whose = max(named, key=len) if named else item
    return (whose, max(wanted, key=len)) if whose and wanted else None


def _cell(
    item: str, aspect: str, items: Sequence[str], placed: Mapping[_Place, list[Claim]], carried: Carried
) -> _Cell:
    """Choose the statement that speaks most of the aspect of the item, and those that disagree with it."""
    about = [c for c in placed.get((item, aspect), []) if not _of_another(c.statement, item, items)]
    merged = merge(about, carried)
    name = field_name(item, aspect)
    if not merged.statements:
        return _Cell(name=name, statements=(), conflicts=())
    best = max(merged.statements, key=lambda said: _fit(said.shown, item, aspect, items, carried))
    handed_in = restated(carried.conflicts, merged.statements, merged.dropped)
    found = without_parts([*handed_in, *find_conflicts(merged.statements, carried)])
    conflicts = tuple(conflict for conflict in found if best.shown.id in conflict.claims)
    sides = {claim for conflict in conflicts for claim in conflict.claims}
    chosen = tuple(said for said in merged.statements if said is best or said.shown.id in sides)
    return _Cell(name=name, statements=chosen, conflicts=conflicts)


def _without_shared(items: Sequence[str], cells: Sequence[Sequence[_Cell]]) -> list[list[_Cell]]:
    """Empty the cells whose only sentence says nothing of their item by itself.

    That is a sentence that does not name the item and stands in the rows of several items, or in all cells that
    are filled.
    """
    filled = [(item, cell) for item, row in zip(items, cells, strict=True) for cell in row if cell.claims]
    # Equal cells of a table stand at different places: each is of its own row.
    rows: dict[tuple[EvidenceId, ...], set[str]] = {}
    for item, cell in filled:
        for said in cell.statements:
            rows.setdefault(said.shown.evidence, set()).add(item)
    everywhere = len(filled) > 1 and len(rows) == 1
    shared = {place for place, named in rows.items() if everywhere or len(named) > 1}

    def kept(item: str, cell: _Cell) -> _Cell:
        unsaid = all(
            said.shown.evidence in shared and not _names(said.shown.statement, item)
            for said in cell.statements
        )
        return replace(cell, statements=(), conflicts=()) if unsaid else cell

    return [[kept(item, cell) for cell in row] for item, row in zip(items, cells, strict=True)]


def _once(aspects: Sequence[str], row: Sequence[_Cell]) -> list[_Cell]:
    """Empty the cells whose quote stands in several columns of the row and does not name theirs.

    Of a quote that names none of the columns, the first one stays.
    """
    columns: dict[tuple[EvidenceId, ...], list[str]] = {}
    for aspect, cell in zip(aspects, row, strict=True):
        for said in cell.statements[:1]:
            columns.setdefault(said.shown.evidence, []).append(aspect)

    def kept(aspect: str, cell: _Cell) -> bool:
        if not cell.statements:
            return True
        shown = cell.statements[0].shown
        filled = columns[shown.evidence]
        named = [each for each in filled if _names(shown.statement, each)]
        return len(filled) == 1 or aspect in (named or filled[:1])

    return [
        cell if kept(aspect, cell) else replace(cell, statements=(), conflicts=())
        for aspect, cell in zip(aspects, row, strict=True)
    ]


def _names(statement: str, item: str) -> bool:
    return folded(item) in folded(statement) or _share(item, prepared(statement)) == 1.0


def _of_another(statement: str, item: str, items: Sequence[str]) -> bool:
    """Say whether a sentence names another item, and not this one."""
    return folded(item) not in folded(statement) and _others_named(statement, item, items) > 0


def _others_named(statement: str, item: str, items: Sequence[str]) -> int:
    said = folded(statement)
    return sum(folded(each) in said for each in items if folded(each) not in folded(item))


def _fit(claim: Claim, item: str, aspect: str, items: Sequence[str], carried: Carried) -> tuple[float, bool]:
    """Rate how much a claim speaks of the item (by itself or by its note's title) and of the aspect; ties: core."""
    pieces = [carried.evidence.get(piece) for piece in claim.evidence]
    sources = [carried.sources.get(piece.source) for piece in pieces if piece]
    titles = " ".join(source.title for source in sources if source)
    named = _share(item, prepared(f"{claim.statement} {titles}"))
    row = TABLE_ROW_COST if claim.statement.lstrip().startswith("|") else 0.0
    others = OTHER_ITEM_COST * _others_named(claim.statement, item, items)
    return ITEM_WEIGHT * named + _share(aspect, prepared(claim.statement)) - others - row, claim.core


def _share(wanted: str, text: Text) -> float:
    found = set(terms(wanted))
    return sum(credit(term, text) for term in found) / len(found) if found else 0.0


def _table_of(
    items: Sequence[str], aspects: Sequence[str], cells: Sequence[Sequence[_Cell]], phrases: Phrases
) -> str:
    rows = [
        [one_line(item), *(cell.text or phrases.not_in_the_notes for cell in row)]
        for item, row in zip(items, cells, strict=True)
    ]
    return table([phrases.item, *map(one_line, aspects)], rows)


def _dispute_blocks(cells: Sequence[_Cell], phrases: Phrases) -> list[str]:
    blocks = []
    for cell in cells:
        by_claim = {statement.shown.id: statement for statement in cell.statements}
        blocks += [
            page(
                [heading(3, cell.name), disagreement([by_claim[claim] for claim in dispute.claims], phrases)]
            )
            for dispute in cell.conflicts
        ]
    return blocks


def _open_fields(
    items: Sequence[str],
    aspects: Sequence[str],
    cells: Sequence[Sequence[_Cell]],
    inputs: Mapping[NodeId, WorkOutput],
    items_of: Mapping[NodeId, str],
    placed: Mapping[_Place, Sequence[Claim]],
) -> tuple[OpenQuestion, ...]:
    """Give one open question for each cell without a core claim, with what the inputs searched for it.

    Where an input brought something that does not fill the cell, the field was searched for.
    """
    searched: dict[_Place, OpenQuestion] = {}
    for node in sorted(inputs, key=natural_key):
        for question in inputs[node].open_questions:
            place = _place_of(question.question, items_of.get(node), items, aspects)
            if place:
                searched.setdefault(place, question)
    found = []
    for item, row in zip(items, cells, strict=True):
        for aspect, cell in zip(aspects, row, strict=True):
            if not any(claim.core for claim in cell.claims):
                known = searched.get((item, aspect))
                sought = (cell.name,) if placed.get((item, aspect)) else ()
                found.append(
                    OpenQuestion(
                        question=cell.name,
                        reason=known.reason if known else "not_answerable" if sought else "not_found",
                        searched=known.searched if known else sought,
                        nearest=known.nearest if known else None,
                    )
                )
    return tuple(found)
