"""Hand-built notes, claims and outputs for the tests of workers and reports."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.broker import BudgetExhausted
from agents.evidence import (
    Claim,
    Evidence,
    LeakMark,
    LineSpan,
    Source,
    SourceId,
    claim_of,
    quote,
    source_id,
    with_leak,
)
from agents.models.contract import ModelReply, ModelRequest
from agents.results import WorkOutput
from agents.retrieval.library import NotesLibrary, SectionLabel
from agents.retrieval.reading import Corpus, document_from_text
from agents.spec import AgentId, AgentSpec
from agents.tools.builtin.notes import NotesTools
from agents.tools.contract import ToolCall, ToolResult
from agents.workers.ports import WorkOrder
from graphs.contract import Lang
from graphs.plan import NodeId, SubTask
from masks.bands import Thresholds
from masks.domains import DomainId
from masks.leaks.labels import SectionText
from masks.vector import new_mask


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A note and its source."""

    source: Source
    text: str

    def evidence(self, excerpt: str, domain: str | None = None) -> Evidence:
        """Return the evidence for the first occurrence of `excerpt`; lines counted here, independently."""
        start = self.text.index(excerpt)
        first = self.text.count("\n", 0, start) + 1
        span = LineSpan(
            source=self.source.id,
            start_line=first,
            end_line=first + excerpt.count("\n"),
            start_char=start,
            end_char=start + len(excerpt),
        )
        return quote(self.source.id, span, excerpt, domain=domain)


def note(path: str, text: str, *, copy_of: SourceId | None = None) -> Note:
    """Return a note at `path`."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    source = Source(
        id=source_id(path, digest),
        uri=path,
        title=path.rsplit(".", 1)[0],
        digest=digest,
        retrieved_at="2026-01-02T03:04:05+00:00",
        copy_of=copy_of,
    )
    return Note(source=source, text=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """A claim, its evidence and its source."""

    claim: Claim
    evidence: Evidence
    source: Source


def quoted(
    node: str,
    where: Note,
    sentence: str,
    *,
    question: str | None = None,
    core: bool = True,
    leak: LeakMark | None = None,
) -> Quoted:
    """Return what a research worker would hand over for one quoted sentence."""
    evidence = where.evidence(sentence)
    claim = claim_of(node, sentence, (evidence.id,), core=core, question=question)
    return Quoted(claim=with_leak(claim, leak) if leak else claim, evidence=evidence, source=where.source)


def output(parts: Sequence[Quoted], text: str = "", **more: Any) -> WorkOutput:
    """Return an output of `parts`; further fields of `WorkOutput` by name."""
    return WorkOutput(
        text=text or "\n".join(f"- {part.claim.statement} [^{part.claim.id}]" for part in parts),
        claims=tuple(part.claim for part in parts),
        evidence=tuple(dict.fromkeys(part.evidence for part in parts)),
        sources=tuple(dict.fromkeys(part.source for part in parts)),
        **more,
    )


def mark(
    domain: str = "law.contract", *, agent: str = "A1", strength: int = 55, node: str = "n1"
) -> LeakMark:
    """Return a declared leak of a fetched source."""
    return LeakMark(agent=agent, domain=domain, strength=strength, origin="source", declared=True, node=node)


def agent(values: Mapping[str, int] | None = None, *, operations: tuple[str, ...] = ("report",)) -> AgentSpec:
    """Return an agent `A1` with the given mask values in hundredths."""
    mask = new_mask("A1", {DomainId(domain): value for domain, value in (values or {}).items()})
    return AgentSpec(
        id=AgentId("A1"), responsibility="works", role="generate", operations=operations, mask=mask
    )


def order(
    operation: str,
    inputs: Mapping[str, WorkOutput] | None = None,
    params: Mapping[str, Any] | None = None,
    *,
    lang: Lang = "en",
    title: str = "Task",
    who: AgentSpec | None = None,
    path: int = 1,
) -> WorkOrder:
    """Return an order for `operation`."""
    subtask = SubTask(
        id=NodeId("n9"), title=title, kind="function", operation=operation, params=dict(params or {})
    )
    return WorkOrder(
        subtask=subtask,
        agent=who or agent(operations=(operation,)),
        thresholds=Thresholds(),
        path=2 if path == 2 else 1,
        lang=lang,
        inputs={NodeId(node): made for node, made in (inputs or {}).items()},
        params=dict(params or {}),
    )


def retold(part: Quoted, sentence: str) -> Quoted:
    """Return `part` with another statement on the same evidence."""
    return replace(
        part,
        claim=claim_of(
            "n1", sentence, part.claim.evidence, core=part.claim.core, question=part.claim.question
        ),
    )


class NoBroker:
    """A broker for workers that need neither tools nor models: any call is a failure of the test."""

    async def call_tool(self, call: ToolCall) -> ToolResult:
        raise AssertionError(f"no tool expected, got {call.tool}")

    async def call_model(self, request: ModelRequest) -> ModelReply:
        raise AssertionError(f"no model expected, got {request.purpose}")


class LibraryBroker:
    """A broker that performs the note tools over a library, in this process, and keeps the calls."""

    def __init__(self, library: NotesLibrary, *, most_calls: int = 1_000) -> None:
        self._tools = NotesTools(library)
        self._most = most_calls
        self.calls: list[ToolCall] = []

    async def call_tool(self, call: ToolCall) -> ToolResult:
        self.calls.append(call)
        if len(self.calls) > self._most:
            raise BudgetExhausted("max_tool_calls", len(self.calls), self._most)
        return self._tools.call(call.tool, call.arguments)

    async def call_model(self, request: ModelRequest) -> ModelReply:
        raise AssertionError(f"no model expected, got {request.purpose}")


class LabelByWord:
    """Labels a section with the domain of the first word that it holds."""

    def __init__(self, domains: Mapping[str, str]) -> None:
        self._domains = dict(domains)

    def label(self, sections: Sequence[SectionText]) -> Sequence[SectionLabel]:
        texts = [section.excerpt for section in sections]
        found = [next((d for w, d in self._domains.items() if w in text), None) for text in texts]
        return [SectionLabel(domain=domain) for domain in found]


class OneMeaning:
    """An embedder for which all texts mean the same: every section matches every query a little."""

    name = "one-meaning"
    version = "1"
    dimension = 2

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.tile(np.array([1.0, 0.0], dtype=np.float32), (len(texts), 1))


def library(
    notes: Mapping[str, str], domains: Mapping[str, str] | None = None, *, by_words_only: bool = True
) -> NotesLibrary:
    """Return a library of notes by path; copies are found as in a run."""
    documents = tuple(document_from_text(path, text) for path, text in sorted(notes.items()))
    labeller = LabelByWord(domains) if domains else None
    embedder = None if by_words_only else OneMeaning()
    return NotesLibrary(Corpus(documents=documents), embedder=embedder, labeller=labeller)


def assert_exact(result: WorkOutput, notes: Mapping[str, str]) -> None:
    """Check every piece of evidence against the notes: characters, lines and digest, counted here."""
    uris = {source.id: source.uri for source in result.sources}
    for piece in result.evidence:
        text = notes[uris[piece.source]]
        where = piece.locator
        assert text[where.start_char : where.end_char] == piece.text
        assert text.count("\n", 0, where.start_char) + 1 == where.start_line
        assert text.count("\n", 0, where.end_char) + 1 == where.end_line
        assert hashlib.sha256(piece.text.encode()).hexdigest() == piece.excerpt_sha256
    known = {piece.id for piece in result.evidence}
    assert all(set(claim.evidence) <= known for claim in result.claims)


def uncited(made: WorkOutput) -> list[str]:
    """Return the claims of an output that no anchor of its text points at."""
    return [str(claim.id) for claim in made.claims if f"[^{claim.id}]" not in made.text]
