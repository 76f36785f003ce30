"""Hand-built notes, claims and outputs for the tests of workers and reports."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

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
from agents.results import WorkOutput
from agents.spec import AgentId, AgentSpec
from agents.tools.contract import ModelReply, ModelRequest, ToolCall, ToolResult
from agents.workers.ports import WorkOrder
from graphs.contract import Lang
from graphs.plan import NodeId, SubTask
from masks.bands import Thresholds
from masks.domains import DomainId
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
