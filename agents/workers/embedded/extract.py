"""Fill a table from the notes: every cell is quoted, an empty one is open with what was searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from agents.broker import Broker
from agents.citations import one_line
from agents.evidence import Claim, Evidence, LeakMark, Source, claim_of, quote, with_leak
from agents.operations import field_name
from agents.results import OpenQuestion, OpenReason, WorkOutput, WorkResult
from agents.retrieval.copies import repeats
from agents.retrieval.tokens import is_cjk
from agents.tools.texts.calls import ORDERS
from agents.tools.texts.contract import say
from agents.workers.embedded.access import Access, access_of
from agents.workers.embedded.answering import folded, texts_of
from agents.workers.embedded.composing import Answer, compose, needs_of, weighted
from agents.workers.embedded.conflicts import disagree
from agents.workers.embedded.field_answers import names_all
from agents.workers.embedded.inquiry import Inquiry, NotesReader, ResearchLimits, inquire
from agents.workers.embedded.material import Material, Passage
from agents.workers.embedded.note_tables import NoteRow, holds_table, rows_with, tells
from agents.workers.embedded.question import read_question
from agents.workers.embedded.selection import Weighted, admit
from agents.workers.embedded.table_columns import is_year_name, same_topic, years_of
from agents.workers.embedded.wording import PHRASES
from agents.workers.embedded.writing import cited, declared, open_list, page, table
from agents.workers.ports import WorkFailed, WorkOrder
from graphs.contract import Lang

MOST_ROWS: Final = 40
"""Rows of a table whose rows the goal does not name."""
FEWEST_CALLS: Final = 2
"""Tool calls of one cell: a search and a reading."""


class _Cell(NamedTuple):
    """A cell that is looked for in the sentences of the notes."""

    column: str
    inquiry: Inquiry
    row: str = ""
    others: tuple[str, ...] = ()
    """The other rows, where the goal names them: a sentence on one of them tells nothing of this one."""
    year: str = ""
    """The year that the row is, where each row is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """What was found for a table."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    copied: Mapping[str, NoteRow]
    """Rows of tables in the notes, by the row's name."""
    cells: tuple[_Cell, ...]
    """The cells that no table fills."""
    overview: Inquiry | None = None
    """The search for rows, where the goal names none."""
    absent: tuple[str, ...] = ()
    """Columns that nothing in the notes fills in any row."""
    left_out: int = 0
    """Rows beyond `MOST_ROWS`."""


@dataclass(frozen=True, slots=True)
class ExtractWorker:
    """Performs orders of the operation `extract`."""

    limits: ResearchLimits = field(default_factory=ResearchLimits)

    async def work(self, order: WorkOrder, broker: Broker) -> WorkResult:
        """Return a table with `params["columns"]` and one row for each of `params["rows"]`.

        Without `rows`, each row of a table in the notes with such a header is one (`params["each"]`: of what kind
        they are), else each note that fills a column, or each year where they are years. A cell holds what a table of
        the notes gives for it, else the sentence that says it; a column that nothing fills is open as a whole. `fields`
        gives the filled cells by `field_name`; without `rows` also each filled column as a whole, by its name. Raises
        `WorkFailed` (`bad_request`) without columns and for tools that can't be used.
        """
        columns, rows = texts_of(order.params, "columns"), texts_of(order.params, "rows")
        if not columns:
            got = order.params.get("columns")
            raise WorkFailed("bad_request", say(ORDERS, "columns", value=repr(got)))
        access = access_of(order)
        reader = NotesReader(broker)
        if rows:
            return _result(order, await self._named(rows, columns, access, reader))
        return _result(order, await self._discovered(columns, access, reader, order))

    async def _named(
        self, rows: tuple[str, ...], columns: tuple[str, ...], access: Access, reader: NotesReader
    ) -> _Table:
        """Ask for each cell; the cells of one row share what was fetched for any of them."""
        cells: list[_Cell] = []
        copied: dict[str, NoteRow] = {}
        for number, row in enumerate(rows):
            shared = Material()
            for place, column in enumerate(columns):
                if row in copied and column in copied[row].cells:
                    continue
                cell = Inquiry(
                    question=read_question(_phrase(row, column)),
                    asked=field_name(row, column),
                    access=access,
                    material=shared,
                )
                waiting = (len(rows) - number) * len(columns) - place
                await self._ask(cell, reader, waiting)
                others = tuple(other for other in rows if other != row)
                cells.append(_Cell(column, cell, row, others))
                if (same := _row_named(row, columns, cell)) is not None:
                    copied[row] = same
        tabled = {field_name(row, column) for row, found in copied.items() for column in found.cells}
        left = tuple(cell for cell in cells if cell.inquiry.asked not in tabled)
        return _Table(rows=rows, columns=columns, copied=copied, cells=left)

    async def _ask(self, cell: Inquiry, reader: NotesReader, waiting: int) -> None:
        if cell.material.passages:
            cell.judge()
        left = self.limits.tool_calls - reader.calls
        if left <= 0:
            cell.limited = True
            return
        await inquire(cell, reader, self.limits, min(left, max(FEWEST_CALLS, left // waiting)))

    async def _discovered(
        self, columns: tuple[str, ...], access: Access, reader: NotesReader, order: WorkOrder
    ) -> _Table:
        query = ("、" if order.lang == "zh" else ", ").join(columns)
        overview = Inquiry(
            question=read_question(query), asked=order.subtask.title, access=access, queries=[query]
        )
        await self._look_over(overview, reader)
        each = next(iter(texts_of(order.params, "each")), "")
        found = _rows(columns, overview, each)
        if found:
            names = tuple(row.name for row in found)[:MOST_ROWS]
            filled = {column for row in found for column in row.cells}
            return _Table(
                rows=names,
                columns=columns,
                copied=dict(zip(names, found, strict=False)),
                cells=(),
                overview=overview,
                absent=tuple(column for column in columns if column not in filled),
                left_out=len(found) - len(names),
            )
        names, cells = (_per_year if is_year_name(each) else _per_note)(overview, columns)
        filled = {cell.column for cell in cells if cell.inquiry.answered}
        return _Table(
            rows=names,
            columns=columns,
            copied={},
            cells=tuple(cell for cell in cells if cell.column in filled),
            overview=overview,
            absent=tuple(column for column in columns if column not in filled),
        )

    async def _look_over(self, overview: Inquiry, reader: NotesReader) -> None:
        """Fetch page after page of the overview's query, and read the tables that came in part."""
        (query,) = overview.queries
        offset: int | None = 0
        known: set[object] = set()
        while offset is not None and reader.calls < self.limits.tool_calls:
            data = await reader.search(query, offset)
            if data is None:
                overview.stopped = True
                overview.queries = overview.queries if offset else []
                break
            known = set(overview.material.passages)
            overview.material.add_hits(data)
            offset = data["next_offset"]
            await self._complete_tables(overview, reader)
        overview.judge()
        # Pages come best first: one that tells nothing is not followed by one that does.
        overview.limited = offset is not None and any(
            one.candidate.passage.key not in known and overview.is_evidence(one) for one in overview.ranked
        )

    async def _complete_tables(self, overview: Inquiry, reader: NotesReader) -> None:
        for passage in list(overview.material.passages.values()):
            at_hand = not passage.whole and not passage.read and overview.access.weight(passage) > 0
            while at_hand and holds_table(passage) and reader.calls < self.limits.tool_calls:
                data = await reader.read(passage)
                if data is None:
                    return
                overview.material.add_reading(passage, data)
                break


def _phrase(row: str, column: str) -> str:
    return f"{row}的{column}" if is_cjk(row + column) else f"{row}: {column}"


def _opened(inquiry: Inquiry) -> list[Passage]:
    opened = [p for p in inquiry.material.passages.values() if inquiry.access.weight(p) > 0]
    return sorted(opened, key=lambda passage: -passage.rank)


def _rows(columns: Sequence[str], inquiry: Inquiry, each: str = "") -> list[NoteRow]:
    """Return the rows of open tables without their excluded cells."""
    access = inquiry.access
    return [
        replace(row, cells={c: cell for c, cell in row.cells.items() if not access.excludes_span(cell.span)})
        for row in rows_with(columns, _opened(inquiry), each)
    ]


def _row_named(row: str, columns: Sequence[str], cell: Inquiry) -> NoteRow | None:
    """Return the row called `row`, else the only one whose name holds it or is held by it."""
    found = _rows(columns, cell)
    exact = [one for one in found if folded(one.name) == folded(row)]
    near = [one for one in found if same_topic(row, one.name)]
    return exact[0] if exact else near[0] if len(near) == 1 else None


def _per_note(overview: Inquiry, columns: Sequence[str]) -> tuple[tuple[str, ...], tuple[_Cell, ...]]:
    """Give one row for each note that fills a column, named by its title (by its path where titles repeat)."""
    notes: dict[str, list[Passage]] = {}
    for passage in overview.material.passages.values():
        if passage.source.copy_of is None:
            notes.setdefault(passage.source.uri, []).append(passage)
    titles = [passages[0].source.title for passages in notes.values()]
    names: list[str] = []
    cells: list[_Cell] = []
    for path in sorted(notes):
        title = notes[path][0].source.title
        name = title if titles.count(title) == 1 else path
        row = [_Cell(column, _cell_of_note(overview, notes[path], name, column)) for column in columns]
        if any(_answer(cell).chosen for cell in row) and len(names) < MOST_ROWS:
            names.append(name)
            cells.extend(row)
    return tuple(names), tuple(cells)


def _per_year(overview: Inquiry, columns: Sequence[str]) -> tuple[tuple[str, ...], tuple[_Cell, ...]]:
    """Give one row for each year of which a sentence tells a column."""
    telling = [one.candidate.unit.text for one in overview.ranked if overview.is_evidence(one)]
    years = sorted({year for text in telling for year in years_of(text)})
    names: list[str] = []
    cells: list[_Cell] = []
    for year in years[:MOST_ROWS]:
        row = [_Cell(column, _cell_of_year(overview, year, column), year=year) for column in columns]
        if any(_answer(cell).chosen for cell in row):
            names.append(year)
            cells.extend(row)
    return tuple(names), tuple(cells)


def _cell_of_year(overview: Inquiry, year: str, column: str) -> Inquiry:
    cell = Inquiry(
        question=read_question(_phrase(year, column)),
        asked=field_name(year, column),
        access=overview.access,
        material=overview.material,
        queries=list(overview.queries),
        stopped=overview.stopped,
    )
    cell.judge()
    return cell


def _cell_of_note(overview: Inquiry, passages: Sequence[Passage], name: str, column: str) -> Inquiry:
    material = Material(
        passages={passage.key: passage for passage in passages},
        sections=overview.material.sections,
        frequency=overview.material.frequency,
    )
    cell = Inquiry(
        question=read_question(column),
        asked=field_name(name, column),
        access=overview.access,
        material=material,
        queries=list(overview.queries),
        stopped=overview.stopped,
    )
    cell.judge()
    return cell


def _answer(cell: _Cell) -> Answer:
    """Choose the best sentence, and those of other notes that disagree with it; none if the cell stays open."""
    inquiry = cell.inquiry
    fit = [
        one
        for one in inquiry.ranked
        if tells(one.candidate.passage, one.candidate.unit, f"{cell.column} {cell.year}".strip())
        and not _of_another(one.candidate.unit.text, cell)
        and (not cell.year or names_all(one.candidate, cell.column))
    ]
    admitted = admit([weighted(one, inquiry.access) for one in fit]) if inquiry.answered else ()
    ranked = sorted(admitted, key=lambda one: -one.support.score * one.weight)
    chosen = [one for one in ranked if one is ranked[0] or _disagrees(one, ranked[0], inquiry.asked)]
    return Answer(inquiry=inquiry, chosen=tuple(chosen))


def _of_another(sentence: str, cell: _Cell) -> bool:
    """Say whether a sentence names another row and not the cell's own."""
    told = folded(sentence)
    return folded(cell.row) not in told and any(folded(other) in told for other in cell.others)


def _disagrees(one: Weighted, best: Weighted, asked: str) -> bool:
    claims = [claim_of("", w.candidate.unit.text, (), core=True, question=asked) for w in (one, best)]
    return not _one_source(one, best) and disagree(*claims)


def _one_source(one: Weighted, other: Weighted) -> bool:
    first, second = one.candidate.passage, other.candidate.passage
    originals = {passage.source.copy_of or passage.source.id for passage in (first, second)}
    return len(originals) == 1 or repeats(one.candidate.unit.text, other.candidate.unit.text)


def _result(order: WorkOrder, found: _Table) -> WorkResult:
    nothing = () if found.rows or found.overview is None else (Answer(inquiry=found.overview, chosen=()),)
    told = compose(order, [*map(_answer, found.cells), *nothing])
    copied = _copied(order, found)
    said: dict[str, list[Claim]] = {}
    for claim in (*copied.claims, *told.claims):
        said.setdefault(claim.question or "", []).append(claim)
    open_questions = _open(found, told.open_questions)
    output = WorkOutput(
        text=_text(order.lang, found, said, open_questions),
        claims=(*copied.claims, *told.claims),
        evidence=tuple({piece.id: piece for piece in (*copied.evidence, *told.evidence)}.values()),
        sources=tuple({source.id: source for source in (*copied.sources, *told.sources)}.values()),
        open_questions=open_questions,
        conflicts=told.conflicts,
        # Leak markers stand in the text alone, where the check takes them out.
        fields={name: " ".join(cited([claim]) for claim in claims) for name, claims in said.items()}
        | _whole_columns(found, said),
    )
    inquiries = [cell.inquiry for cell in found.cells]
    searches = (*inquiries, *([found.overview] if found.overview else []))
    return WorkResult(
        output=output,
        candidate_complete=bool(found.rows) and not open_questions,
        mode="extractive",
        path=order.path,
        rounds=tuple(one for search in searches for one in search.rounds),
        needs=needs_of(inquiries),
        acted_through=("selection", "filter"),
    )


def _whole_columns(found: _Table, said: Mapping[str, Sequence[Claim]]) -> dict[str, str]:
    """Give what each column holds, where the notes say what the rows are: the goal asked for the column alone."""
    columns: dict[str, str] = {}
    for column in found.columns if found.overview is not None else ():
        claims = [claim for row in found.rows for claim in said.get(field_name(row, column), ())]
        if claims:
            columns[column] = "; ".join(cited([claim]) for claim in claims)
    return columns


def _text(
    lang: Lang,
    found: _Table,
    said: Mapping[str, Sequence[Claim]],
    open_questions: tuple[OpenQuestion, ...],
) -> str:
    phrases = PHRASES[lang]

    def cell(row: str, column: str) -> str:
        claims = said.get(field_name(row, column), ())
        return " ".join(declared(claim, lang) for claim in claims) or phrases.not_in_the_notes

    naming = _naming_column(found, said)
    columns = [column for column in found.columns if column != naming]
    header = [one_line(naming) if naming else phrases.item, *map(one_line, columns)]
    body = [
        [cell(row, naming) if naming else one_line(row), *(cell(row, column) for column in columns)]
        for row in found.rows
    ]
    cut = phrases.rows_left_out.format(n=found.left_out) if found.left_out else ""
    return page([table(header, body), cut, open_list(open_questions, phrases)])


def _naming_column(found: _Table, said: Mapping[str, Sequence[Claim]]) -> str | None:
    """Return the wanted column that holds the names of the rows: it needn't be shown twice."""
    for column in found.columns if found.rows else ():
        told = [said.get(field_name(row, column), ()) for row in found.rows]
        if all(
            len(claims) == 1 and folded(claims[0].statement) == folded(row)
            for row, claims in zip(found.rows, told, strict=True)
        ):
            return column
    return None


def _open(found: _Table, told: Sequence[OpenQuestion]) -> tuple[OpenQuestion, ...]:
    """Give what stays open: asked cells, cells that a table leaves empty, and each column that nothing fills once."""
    over = found.overview
    whole = next((one for one in told if over is not None and one.question == over.asked), None)
    if whole is None and over is not None:
        reason: OpenReason = "limit_reached" if over.cut_short else "not_found"
        whole = OpenQuestion(question=over.asked, reason=reason, searched=tuple(over.queries))
    asked = {cell.inquiry.asked for cell in found.cells}
    empty = [
        field_name(row, column)
        for row, copied in found.copied.items()
        for column in found.columns
        if column not in copied.cells and column not in found.absent
    ]
    pattern = whole or OpenQuestion(question="", reason="not_found", searched=())
    return (
        *(one for one in told if over is None or one.question != over.asked),
        *(replace(pattern, question=name) for name in empty if name not in asked),
        *(replace(pattern, question=column) for column in found.absent),
    )


def _copied(order: WorkOrder, found: _Table) -> WorkOutput:
    """Return claims, evidence and sources of the cells that tables of the notes fill."""
    claims: dict[str, Claim] = {}
    evidence: dict[str, Evidence] = {}
    sources: dict[str, Source] = {}
    access = access_of(order)
    for name, row in found.copied.items():
        for column, cell in row.cells.items():
            text, source, asked = cell.text, cell.passage.source, field_name(name, column)
            piece = quote(source.id, cell.span, text, domain=access.domain(cell.passage))
            node = order.subtask.id
            claim = claim_of(node, text, (piece.id,), core=True, question=asked)
            if claim.id in claims:
                # One cell may fill two fields: each gets its own claim.
                claim = claim_of(f"{node}\n{asked}", text, (piece.id,), core=True, question=asked)
            claims[claim.id] = _marked(replace(claim, taint="untrusted"), cell.passage, access, order)
            evidence[piece.id] = piece
            sources[source.id] = source
    return WorkOutput(
        text="",
        claims=tuple(claims.values()),
        evidence=tuple(evidence.values()),
        sources=tuple(sources.values()),
    )


def _marked(claim: Claim, passage: Passage, access: Access, order: WorkOrder) -> Claim:
    strength, domain = access.leak_strength(passage), access.domain(passage)
    if strength is None or domain is None:
        return claim
    mark = LeakMark(
        agent=order.agent.id,
        domain=domain,
        strength=strength,
        origin="source",
        declared=True,
        node=order.subtask.id,
    )
    return with_leak(claim, mark)
