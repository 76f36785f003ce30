"""Claims out of what a chat model answered: this code attaches the citations, the model only names numbers.

A number that no excerpt has cites nothing; a statement without an excerpt is `parametric`, and verification treats it
as such. Markers stay in the text as the model wrote them: the check stage judges them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from agents.citations import anchor, one_line
from agents.evidence import (
    Claim,
    ClaimId,
    Evidence,
    EvidenceId,
    LeakMark,
    Source,
    SourceId,
    claim_of,
    quote,
    with_leak,
)
from agents.models.advice import explained
from agents.models.contract import ModelError, ModelReply
from agents.operations import field_name
from agents.prompts import Excerpt
from agents.results import Need, OpenQuestion, OpenReason, WorkOutput
from agents.workers.embedded.access import Access
from agents.workers.embedded.carried import carry
from agents.workers.embedded.material import Candidate, Material, Passage
from agents.workers.embedded.wording import PHRASES
from agents.workers.embedded.writing import open_list, page
from agents.workers.model_citations import named_keys
from agents.workers.model_tables import TableAsked, drawn, table_asked, whole_columns
from agents.workers.ports import WorkFailed, WorkFailureKind, WorkOrder
from masks.bands import Band
from masks.domains import DomainId, DomainRegistry
from masks.errors import UnknownDomain
from masks.leaks.markers import declared_leaf, find_markers, strip_markers

MAX_REPAIRS: Final = 2
"""Times that a model is told what is wrong with its answer; each is a call of its own, paid and recorded."""

MAX_EXCERPTS: Final = 40
"""Pieces of material in one prompt."""

MAX_EXCERPT_CHARS: Final = 8_000
"""Characters of material in one prompt: two full tool results (003 2.3)."""

_FAILURES: Final[Mapping[str, WorkFailureKind]] = {
    "timeout": "timeout",
    "rate_limited": "rate_limited",
    "unavailable": "unavailable",
    "bad_request": "bad_request",
    "overflow": "bad_request",
    "refused": "refused",
    "misconfigured": "misconfigured",
    # Nobody can say that it has to do with the input, so it is tried again, as often as class A allows.
    "unknown": "unavailable",
}


MAX_WORK_TOKENS: Final = 4_000
"""Longest answer of one step, thinking included: some sixty claims, and what every provider takes. A model that repeats
itself stops here; so an attempt's answers are at most its steps times this. Our choice."""


def model_failure(error: ModelError, reply: ModelReply, order: WorkOrder) -> WorkFailed:
    """Return the failure of work whose model could not be reached or refused (`reply`), in the goal's language."""
    name = order.agent.model_policy.model or "-"
    said = explained(error, model=name, lang=order.lang, elapsed_ms=reply.elapsed_ms)
    return WorkFailed(_FAILURES[error.error_type], said, retry_after_s=error.retry_after_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """An excerpt with what a claim that cites it rests on."""

    excerpt: Excerpt
    evidence: tuple[Evidence, ...]
    sources: tuple[Source, ...]
    leaks: tuple[LeakMark, ...] = ()


def questions_of(order: WorkOrder) -> tuple[str, ...]:
    """Return what an order asks, in the words of its parameters: questions, fields, statements, cells or columns."""
    params = order.params or order.subtask.params
    if (asked := table_asked(order)) is not None:
        return asked.questions
    for name in ("questions", "fields", "statements", "columns"):
        listed = params.get(name)
        if isinstance(listed, list | tuple) and listed:
            return tuple(str(entry) for entry in listed)
    topic = params.get("topic")
    return (str(topic),) if topic else ()


def queries_of(order: WorkOrder, questions: Sequence[str]) -> tuple[str, ...]:
    """Return what code looks up for an order: its questions, each with the thing that it is about; else its title.

    Of a table with rows: each row with its columns, since the cells of one are mostly said in one place.
    """
    item = (order.params or order.subtask.params).get("item")
    asked_table = table_asked(order)
    if asked_table is not None and asked_table.rows:
        return tuple(" ".join((row, *asked_table.columns)) for row in asked_table.rows)
    asked = [f"{item} {question}" if isinstance(item, str) else question for question in questions]
    return tuple(asked or [order.subtask.title])


def unsearched(questions: Sequence[str], queries: int, searched: int) -> tuple[str, ...]:
    """Return the questions that `searched` of so many `queries` left out; a query stands for as many of them each.

    >>> unsearched(["a / x", "a / y", "b / x", "b / y"], 2, 1)
    ('b / x', 'b / y')
    """
    return tuple(questions[searched * len(questions) // max(1, queries) :])


def selected(material: Material, access: Access) -> list[Piece]:
    """Return the units of open passages: those of a passage with rank times mask weight highest come first."""
    return [piece_of(candidate, access) for candidate in open_candidates(material, access)]


def open_candidates(material: Material, access: Access) -> list[Candidate]:
    """Return the units that may be shown, of the passages that weigh most first; each stretch of text once.

    Left out: what the mask closes on this path, evidence that a check falsified, text that gives orders to its reader.
    """
    weights = {key: shown_weight(passage, access) for key, passage in material.passages.items()}
    ranked = sorted(material.candidates(), key=lambda c: -weights[c.passage.key])
    chosen: list[Candidate] = []
    seen: set[object] = set()
    for candidate in ranked:
        if weights[candidate.passage.key] <= 0 or candidate.key in seen:
            continue
        if candidate.unit in candidate.passage.orders or access.excludes(candidate):
            continue
        seen.add(candidate.key)
        chosen.append(candidate)
    return chosen


def shown_weight(passage: Passage, access: Access) -> float:
    """Return by what material is ranked for a model: how well it matched, times what the mask gives it; in [0, 1]."""
    return access.weight(passage) * passage.rank


def piece_of(candidate: Candidate, access: Access) -> Piece:
    """Return a unit of a note as an excerpt, still without a number."""
    passage, unit = candidate.passage, candidate.unit
    evidence = quote(passage.source.id, candidate.span, unit.text, domain=access.domain(passage))
    where = f"{passage.source.uri}:{unit.start_line}"
    return Piece(
        excerpt=Excerpt(key="", text=unit.text, where=where), evidence=(evidence,), sources=(passage.source,)
    )


def handed_in(order: WorkOrder) -> tuple[Piece, ...]:
    """Return the claims of the inputs, each resting on the evidence that it rests on there."""
    carried = carry(order.inputs)
    pieces = []
    for claim in carried.claims:
        evidence = tuple(carried.evidence[e] for e in claim.evidence if e in carried.evidence)
        sources = tuple(carried.sources[e.source] for e in evidence if e.source in carried.sources)
        where = ", ".join(dict.fromkeys(source.uri for source in sources)) or claim.id
        excerpt = Excerpt(key="", text=claim.statement, where=where)
        pieces.append(Piece(excerpt=excerpt, evidence=evidence, sources=sources, leaks=claim.leaks))
    return tuple(pieces)


@dataclass(slots=True, kw_only=True)
class Answer:
    """The model's claims while they are turned into an output."""

    order: WorkOrder
    registry: DomainRegistry
    questions: Sequence[str]
    pieces: Sequence[Piece]
    claims: dict[ClaimId, Claim] = field(default_factory=dict)
    evidence: dict[EvidenceId, Evidence] = field(default_factory=dict)
    sources: dict[SourceId, Source] = field(default_factory=dict)
    sentences: dict[ClaimId, str] = field(default_factory=dict)
    """The text of each claim: statement, anchor, markers as written."""
    rows: dict[str, None] = field(default_factory=dict)
    """Of a table whose rows the model finds: those that it named, in its order."""

    @property
    def table(self) -> TableAsked | None:
        """The table that is asked for."""
        return table_asked(self.order)

    def add(self, entry: Mapping[str, Any]) -> None:
        """Take over one claim; a number of no excerpt cites nothing."""
        written = str(entry["statement"])
        statement = " ".join(strip_markers(written).text.split())
        if not statement:
            return
        keys = named_keys(entry["excerpts"])
        cited = [piece for piece in self.pieces if piece.excerpt.key in keys]
        evidence = {e.id: e for piece in cited for e in piece.evidence}
        question = self._asked(entry)
        node = self.order.subtask.id
        claim = claim_of(node, statement, tuple(evidence), core=question is not None, question=question)
        if (known := self.claims.get(claim.id)) is not None and known.question != question:
            # One statement may answer two questions: each gets its own claim.
            claim = claim_of(
                f"{node}\n{question}",
                statement,
                tuple(evidence),
                core=question is not None,
                question=question,
            )
        claim = replace(claim, taint="untrusted", origin="source" if evidence else "parametric")
        for mark in (*(m for piece in cited for m in piece.leaks), *self._declared(written, bool(evidence))):
            claim = with_leak(claim, mark)
        self.claims[claim.id] = claim
        self.evidence.update(evidence)
        self.sources.update({s.id: s for piece in cited for s in piece.sources})
        markers = " ".join(found.raw for found in find_markers(written))
        self.sentences[claim.id] = " ".join(part for part in (statement + anchor(claim.id), markers) if part)

    def output(
        self,
        searched: Sequence[str],
        reason: Callable[[str], OpenReason],
        *,
        told: Sequence[str] | None = None,
    ) -> WorkOutput:
        """Return what was taken over; questions without a claim are open, for the `reason` that is given for each.

        `told` are those of the queries `searched` that the text names; `None`: all of them.
        """
        open_questions = tuple(
            OpenQuestion(question=name, reason=reason(question), searched=tuple(searched))
            for name, question in self.left_open()
        )
        named = tuple(searched if told is None else told)
        listed = [replace(question, searched=named) for question in open_questions]
        return WorkOutput(
            text=page([self._text(), open_list(listed, PHRASES[self.order.lang])]),
            claims=tuple(self.claims.values()),
            evidence=tuple(self.evidence.values()),
            sources=tuple(self.sources.values()),
            open_questions=open_questions,
            fields=self._fields(),
        )

    def left_open(self) -> list[tuple[str, str]]:
        """Return what has no claim, each with the question that it belongs to: a cell with its column.

        A column that no row fills is open once, as a whole.
        """
        answered = {claim.question for claim in self.claims.values()}
        if not self.rows:
            return [(self.name_of(asked), asked) for asked in self.questions if asked not in answered]
        cells = {(row, column): field_name(row, column) for row in self.rows for column in self.questions}
        filled = {column for (_, column), cell in cells.items() if cell in answered}
        empty = [(cell, at[1]) for at, cell in cells.items() if at[1] in filled and cell not in answered]
        return empty + [(column, column) for column in self.questions if column not in filled]

    def name_of(self, question: str) -> str:
        """Return what an open question or a need calls one of `questions`: itself, or the field of the thing."""
        item = self._item
        return question if item is None else field_name(item, question)

    @property
    def _item(self) -> str | None:
        """The thing that is asked for its fields, where one is."""
        item = (self.order.params or self.order.subtask.params).get("item")
        return item if isinstance(item, str) else None

    def _text(self) -> str:
        if (asked := self.table) is not None:
            rows = asked.rows or tuple(self.rows)
            said = self._said()
            beside = [self.sentences[c.id] for c in self.claims.values() if c.question is None]
            return page([drawn(asked, rows, said, self.order.lang), *beside])
        parts: list[str] = []
        for question in (*self.questions, None):
            own = [self.sentences[c.id] for c in self.claims.values() if c.question == question]
            if own and question is not None:
                parts.append(f"## {' '.join(question.split())}")
            parts.extend(own)
        return "\n\n".join(parts)

    def _fields(self) -> dict[str, str]:
        said = self._said()
        if (asked := self.table) is not None:
            return said | whole_columns(asked, tuple(self.rows), said)
        return {} if self._item is None else {self.name_of(name): text for name, text in said.items()}

    def _said(self) -> dict[str, str]:
        """Return the text of each question that has claims."""
        found: dict[str, str] = {}
        for claim in self.claims.values():
            if claim.question is not None:
                parts = (found.get(claim.question), self.sentences[claim.id])
                found[claim.question] = " ".join(part for part in parts if part)
        return found

    def needs(self, listed: Sequence[Mapping[str, Any]]) -> tuple[Need, ...]:
        """Return the closed domains that the model says it lacks; hints, and tainted by what it has read.

        One for each question that it names; one that names none is lacking for all of the order.
        """
        found: dict[tuple[str, str], Need] = {}
        for entry in listed:
            domain = self._closed(str(entry["domain"]))
            if domain is None:
                continue
            named, band = self._numbered(entry.get("question")), self._band(domain)
            for question in (named,) if named else self.questions or (self.order.subtask.title,):
                need = Need(
                    domain=domain,
                    question=self.name_of(question) if question in self.questions else question,
                    band="BACKGROUND" if band is Band.BACKGROUND else "SILENT",
                    match=0.0,
                    taint="untrusted",
                )
                found.setdefault((domain, question), need)
        return tuple(found.values())

    def _closed(self, name: str) -> DomainId | None:
        """Return the leaf that `name` stands for, unless it is MAIN."""
        try:
            domain = self.registry.resolve(name)
        except UnknownDomain:
            return None
        return domain if self.registry.is_leaf(domain) and self._band(domain) is not Band.MAIN else None

    def _band(self, domain: DomainId) -> Band:
        return self.order.agent.mask.band(domain, self.order.thresholds)

    def _asked(self, entry: Mapping[str, Any]) -> str | None:
        """Return what a claim answers: a question, or the cell of a row that the model found."""
        question = self._question(entry.get("question"))
        asked = self.table
        if question is None or asked is None or asked.rows:
            return question
        row = one_line(str(entry.get("row") or ""))
        if not row:
            return None
        self.rows.setdefault(row)
        return field_name(row, question)

    def _question(self, number: object) -> str | None:
        return self._numbered(number) or (self.questions[0] if len(self.questions) == 1 else None)

    def _numbered(self, number: object) -> str | None:
        if isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= len(self.questions):
            return self.questions[number - 1]
        return None

    def _declared(self, written: str, traceable: bool) -> list[LeakMark]:
        """Return the marks of the readable markers; what is wrong with the others the check stage finds."""
        marks = []
        for found in find_markers(written):
            leaf = declared_leaf(found.marker, self.registry) if found.marker is not None else None
            if leaf is None:
                continue
            marks.append(
                LeakMark(
                    agent=self.order.agent.id,
                    domain=leaf,
                    strength=self.order.agent.mask.value(leaf),
                    origin="source" if traceable else "parametric",
                    declared=True,
                    node=self.order.subtask.id,
                )
            )
        return marks
