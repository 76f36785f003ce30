"""A worker that lets a chat model choose and word what the sub-task's material says.

The model proposes; this code disposes. Citations are attached by code from the numbers of the excerpts that were
given, so a source that was not given can't be cited. A statement without an excerpt is kept as `parametric`, and
verification treats it as such. Markers are kept as the model wrote them: the check stage judges them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from agents.broker import Broker
from agents.citations import anchor
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
from agents.models.contract import FinalAnswer, InvalidOutput, Message, ModelError, ModelRequest, ToolCalls
from agents.operations import field_name, tools_of
from agents.prompts import WORK_SCHEMA, Excerpt, render_prompt, repair_messages
from agents.results import Need, OpenQuestion, OpenReason, WorkOutput, WorkResult
from agents.workers.embedded.access import Access, access_of
from agents.workers.embedded.carried import carry
from agents.workers.embedded.inquiry import NotesReader
from agents.workers.embedded.instructions import planted
from agents.workers.embedded.material import Candidate, Material
from agents.workers.ports import Worker, WorkFailed, WorkFailureKind, WorkOrder
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
    # Nobody can say that it has to do with the input, so it is tried again, as often as class A allows.
    "unknown": "unavailable",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """An excerpt with what a claim that cites it rests on."""

    excerpt: Excerpt
    evidence: tuple[Evidence, ...]
    sources: tuple[Source, ...]
    leaks: tuple[LeakMark, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelWorker:
    """Performs orders with the chat model behind the broker."""

    registry: DomainRegistry
    functions: Worker | None = None
    """Does the sub-tasks of kind `function`: they are deterministic code for model agents too. `None`: the model
    does them."""

    async def work(self, order: WorkOrder, broker: Broker) -> WorkResult:
        """Return the model's claims with citations, its open questions and its needs.

        Raises `WorkFailed` when the model can't be reached or refuses, and `invalid_output` when it gives nothing
        usable after `MAX_REPAIRS` repairs; lets the `BudgetExhausted` of a model call pass.
        """
        if self.functions is not None and order.subtask.kind == "function":
            return await self.functions.work(order, broker)
        questions = questions_of(order)
        pieces, searched = await _material(order, questions, broker)
        prompt = render_prompt(order, self.registry, questions, [piece.excerpt for piece in pieces])
        data = await _ask(prompt.messages, order, broker)
        answer = _Answer(order=order, registry=self.registry, questions=questions, pieces=pieces)
        for entry in data["claims"]:
            answer.add(entry)
        output = answer.output(searched)
        return WorkResult(
            output=output,
            candidate_complete=bool(data["complete"]) and not output.open_questions,
            mode="model",
            path=order.path,
            needs=answer.needs(data.get("needs", ())),
            acted_through=("prompt", "selection", "filter") if searched else ("prompt",),
        )


def questions_of(order: WorkOrder) -> tuple[str, ...]:
    """Return what an order asks, in the words of its parameters: questions, fields, statements or columns."""
    params = order.params or order.subtask.params
    for name in ("questions", "fields", "statements", "columns"):
        listed = params.get(name)
        if isinstance(listed, list | tuple) and listed:
            return tuple(str(entry) for entry in listed)
    topic = params.get("topic")
    return (str(topic),) if topic else ()


async def _ask(messages: Sequence[Message], order: WorkOrder, broker: Broker) -> Mapping[str, Any]:
    """Return the structured answer; tells the model what is wrong with it at most `MAX_REPAIRS` times."""
    sent = tuple(messages)
    problem = InvalidOutput(raw="", reason="")
    for _ in range(1 + MAX_REPAIRS):
        request = ModelRequest(purpose="work", messages=sent, output_schema=WORK_SCHEMA)
        outcome = (await broker.call_model(request)).outcome
        match outcome:
            case FinalAnswer(data=dict() as data):
                return data
            case FinalAnswer():
                problem = InvalidOutput(raw=outcome.text, reason="the answer is no JSON object")
            case ToolCalls():
                names = ", ".join(call.tool for call in outcome.calls)
                problem = InvalidOutput(raw=names, reason="no tools are on offer here; answer with JSON")
            case InvalidOutput():
                problem = outcome
            case ModelError():
                kind = _FAILURES[outcome.error_type]
                raise WorkFailed(kind, outcome.message, retry_after_s=outcome.retry_after_s)
        sent = (*messages, *repair_messages(problem.raw, problem.reason, order.lang))
    raise WorkFailed("invalid_output", f"no usable answer after {MAX_REPAIRS} repairs: {problem.reason}")


async def _material(
    order: WorkOrder, questions: Sequence[str], broker: Broker
) -> tuple[tuple[_Piece, ...], tuple[str, ...]]:
    """Return the numbered material and the queries that were searched, in the order of the questions."""
    handed = _handed_in(order)
    if not tools_of(order.subtask.operation):
        return _numbered(handed), ()
    access = access_of(order)
    reader = NotesReader(broker)
    material = Material()
    item = (order.params or order.subtask.params).get("item")
    queries = [f"{item} {question}" if isinstance(item, str) else question for question in questions]
    searched: list[str] = []
    for query in (queries or [order.subtask.title])[: _searches(order)]:
        hits = await reader.search(query, 0)
        if hits is None:
            break
        material.add_hits(hits)
        searched.append(query)
    return _numbered((*handed, *_selected(material, access))), tuple(searched)


def _searches(order: WorkOrder) -> int:
    """Return how many searches the attempt's limits leave beside the model's answer and its repairs."""
    limits = order.limits
    answering = min(1 + MAX_REPAIRS, limits.max_steps_per_node)
    return max(0, min(limits.max_tool_calls, limits.max_actions - answering))


def _selected(material: Material, access: Access) -> list[_Piece]:
    """Return the units of open passages: those of a passage with rank times mask weight highest come first."""
    weights = {key: access.weight(passage) * passage.rank for key, passage in material.passages.items()}
    ranked = sorted(material.candidates(), key=lambda c: -weights[c.passage.key])
    chosen: list[_Piece] = []
    seen: set[object] = set()
    for candidate in ranked:
        if weights[candidate.passage.key] <= 0 or candidate.key in seen:
            continue
        if candidate.unit in planted(candidate.passage.units) or access.excludes(candidate):
            continue
        seen.add(candidate.key)
        chosen.append(_piece(candidate, access))
    return chosen


def _piece(candidate: Candidate, access: Access) -> _Piece:
    passage, unit = candidate.passage, candidate.unit
    evidence = quote(passage.source.id, candidate.span, unit.text, domain=access.domain(passage))
    where = f"{passage.source.uri}:{unit.start_line}"
    return _Piece(
        excerpt=Excerpt(key="", text=unit.text, where=where), evidence=(evidence,), sources=(passage.source,)
    )


def _handed_in(order: WorkOrder) -> tuple[_Piece, ...]:
    carried = carry(order.inputs)
    pieces = []
    for claim in carried.claims:
        evidence = tuple(carried.evidence[e] for e in claim.evidence if e in carried.evidence)
        sources = tuple(carried.sources[e.source] for e in evidence if e.source in carried.sources)
        where = ", ".join(dict.fromkeys(source.uri for source in sources)) or claim.id
        excerpt = Excerpt(key="", text=claim.statement, where=where)
        pieces.append(_Piece(excerpt=excerpt, evidence=evidence, sources=sources, leaks=claim.leaks))
    return tuple(pieces)


def _numbered(pieces: Sequence[_Piece]) -> tuple[_Piece, ...]:
    """Give the material that fits into the prompt its numbers."""
    kept: list[_Piece] = []
    room = MAX_EXCERPT_CHARS
    for piece in pieces[:MAX_EXCERPTS]:
        room -= len(piece.excerpt.text)
        if room < 0 and kept:
            break
        kept.append(replace(piece, excerpt=replace(piece.excerpt, key=f"E{len(kept) + 1}")))
    return tuple(kept)


@dataclass(slots=True, kw_only=True)
class _Answer:
    """The model's claims while they are turned into an output."""

    order: WorkOrder
    registry: DomainRegistry
    questions: Sequence[str]
    pieces: Sequence[_Piece]
    claims: dict[ClaimId, Claim] = field(default_factory=dict)
    evidence: dict[EvidenceId, Evidence] = field(default_factory=dict)
    sources: dict[SourceId, Source] = field(default_factory=dict)
    sentences: dict[ClaimId, str] = field(default_factory=dict)
    """The text of each claim: statement, anchor, markers as written."""

    def add(self, entry: Mapping[str, Any]) -> None:
        """Take over one claim; a number of no excerpt cites nothing."""
        written = str(entry["statement"])
        statement = " ".join(strip_markers(written).text.split())
        if not statement:
            return
        cited = [piece for piece in self.pieces if piece.excerpt.key in _keys(entry["excerpts"])]
        evidence = {e.id: e for piece in cited for e in piece.evidence}
        question = self._question(entry.get("question"))
        claim = claim_of(
            self.order.subtask.id, statement, tuple(evidence), core=question is not None, question=question
        )
        claim = replace(claim, taint="untrusted", origin="source" if evidence else "parametric")
        for mark in (*(m for piece in cited for m in piece.leaks), *self._declared(written, bool(evidence))):
            claim = with_leak(claim, mark)
        self.claims[claim.id] = claim
        self.evidence.update(evidence)
        self.sources.update({s.id: s for piece in cited for s in piece.sources})
        markers = " ".join(found.raw for found in find_markers(written))
        self.sentences[claim.id] = " ".join(part for part in (statement + anchor(claim.id), markers) if part)

    def output(self, searched: Sequence[str]) -> WorkOutput:
        """Return what was taken over; questions without a claim are open."""
        answered = {claim.question for claim in self.claims.values()}
        unsearched = self.questions[len(searched) :] if tools_of(self.order.subtask.operation) else ()
        open_questions = tuple(
            OpenQuestion(
                question=question,
                reason="limit_reached" if question in unsearched else self._reason(),
                searched=tuple(searched),
            )
            for question in self.questions
            if question not in answered
        )
        return WorkOutput(
            text=self._text(),
            claims=tuple(self.claims.values()),
            evidence=tuple(self.evidence.values()),
            sources=tuple(self.sources.values()),
            open_questions=open_questions,
            fields=self._fields(),
        )

    def _reason(self) -> OpenReason:
        return "not_answerable" if self.pieces else "not_found"

    def _text(self) -> str:
        parts: list[str] = []
        for question in (*self.questions, None):
            own = [self.sentences[c.id] for c in self.claims.values() if c.question == question]
            if own and question is not None:
                parts.append(f"## {' '.join(question.split())}")
            parts.extend(own)
        return "\n\n".join(parts)

    def _fields(self) -> dict[str, str]:
        item = (self.order.params or self.order.subtask.params).get("item")
        if not isinstance(item, str):
            return {}
        found: dict[str, str] = {}
        for claim in self.claims.values():
            if claim.question is not None:
                name = field_name(item, claim.question)
                found[name] = " ".join(part for part in (found.get(name), self.sentences[claim.id]) if part)
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
                    question=question,
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


def _keys(listed: Sequence[object]) -> frozenset[str]:
    """Read `E3`, `[E3]` and `e3` alike."""
    return frozenset(str(entry).strip(" []").upper() for entry in listed)
