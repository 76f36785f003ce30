"""Notes on disk, quotes from them, and check orders, for the tests of the verification.

Offsets, lines and digests are worked out here, not by the code under test.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import JsonValue

from agents.citations import anchor
from agents.evidence import (
    Claim,
    ClaimId,
    Evidence,
    EvidenceId,
    EvidenceKind,
    LeakMark,
    LineSpan,
    Origin,
    Source,
    SourceId,
)
from agents.results import Conflict, Need, OpenQuestion, SearchRound, WorkMode, WorkOutput, WorkResult
from agents.spec import AgentId, AgentSpec
from graphs.contract import Criterion, Lang, PortSpec, PortType, TaskContract
from graphs.plan import NodeId, SubTask, SubTaskKind
from masks.bands import Thresholds
from masks.domains import DomainId
from masks.leaks.provenance import Leak
from masks.leaks.report import LeakReport
from masks.vector import new_mask
from orchestrator.core.claims import Finding, Level, Verdict, Verification
from orchestrator.verification.ports import CheckOrder, FactVerdict

NODE = NodeId("n2")
ROUND = SearchRound(query="q", why="open", hits=3, new_evidence=1, open_after=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """A folder of notes."""

    root: Path

    def write(self, path: str, content: str | bytes, *, copy_of: SourceId | None = None) -> Source:
        """Write a note and return its source."""
        data = content.encode("utf-8") if isinstance(content, str) else content
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        digest = hashlib.sha256(data).hexdigest()
        return Source(
            id=SourceId(f"s-{path}"),
            uri=path,
            title=path,
            digest=digest,
            retrieved_at="2026-01-01T00:00:00+00:00",
            copy_of=copy_of,
        )

    def text(self, source: Source, encoding: str = "utf-8-sig") -> str:
        """Return the note's text as it is now."""
        return (self.root / source.uri).read_bytes().decode(encoding)

    def quote(
        self, source: Source, excerpt: str, *, domain: str | None = None, encoding: str = "utf-8-sig"
    ) -> Evidence:
        """Return the evidence for the first place where the note has `excerpt`."""
        text = self.text(source, encoding)
        start = text.index(excerpt)
        end = start + len(excerpt)
        return evidence(
            source.id, excerpt, (line(text, start), line(text, end - 1)), (start, end), domain=domain
        )


def line(text: str, offset: int) -> int:
    """Return the 1-based line of an offset, counting `\\r\\n`, `\\n` and `\\r` as line ends."""
    before = text[:offset]
    return before.count("\n") + before.count("\r") - before.count("\r\n") + 1


def evidence(
    source: SourceId,
    text: str,
    lines: tuple[int, int] = (1, 1),
    chars: tuple[int, int] | None = None,
    *,
    key: str | None = None,
    kind: EvidenceKind = "fact",
    origin: Origin = "source",
    domain: str | None = None,
    premises: Iterable[Evidence] = (),
) -> Evidence:
    """Return a piece of evidence with the right digest."""
    start, end = chars or (0, len(text))
    return Evidence(
        id=EvidenceId(key or f"e-{source}-{start}-{end}"),
        source=source,
        locator=LineSpan(
            source=source, start_line=lines[0], end_line=lines[1], start_char=start, end_char=end
        ),
        text=text,
        excerpt_sha256=hashlib.sha256(text.encode()).hexdigest(),
        kind=kind,
        origin=origin,
        domain=domain,
        premises=tuple(each.id for each in premises),
    )


def claim(
    statement: str,
    *grounds: Evidence,
    core: bool = True,
    question: str | None = None,
    leaks: tuple[LeakMark, ...] = (),
    origin: Origin = "source",
    node: str = NODE,
) -> Claim:
    """Return a claim on `grounds`."""
    key = "\n".join([node, statement, *(each.id for each in grounds)])
    return Claim(
        id=ClaimId("c-" + hashlib.sha256(key.encode()).hexdigest()[:12]),
        statement=statement,
        evidence=tuple(each.id for each in grounds),
        core=core,
        question=question,
        leaks=leaks,
        origin=origin,
    )


def quoted(*grounds: Evidence, core: bool = True, question: str | None = None) -> Claim:
    """Return the claim that says exactly what its evidence says."""
    return claim(" ".join(each.text for each in grounds), *grounds, core=core, question=question)


def output(
    claims: Sequence[Claim] = (),
    grounds: Iterable[Evidence] = (),
    sources: Iterable[Source] = (),
    *,
    text: str | None = None,
    open_questions: tuple[OpenQuestion, ...] = (),
    conflicts: tuple[Conflict, ...] = (),
    fields: Mapping[str, str] | None = None,
) -> WorkOutput:
    """Return an output whose text lists its claims with their anchors, unless `text` is given."""
    listed = "\n".join(f"- {each.statement} {anchor(each.id)}" for each in claims)
    return WorkOutput(
        text="# Notes\n\n" + listed if text is None else text,
        claims=tuple(claims),
        evidence=tuple(grounds),
        sources=tuple(sources),
        open_questions=open_questions,
        conflicts=conflicts,
        fields=fields or {},
    )


def agent(**values: int) -> AgentSpec:
    """Return an agent; `law_tax=20` is domain `law.tax` at 0.20."""
    mask = new_mask("A1", {DomainId(name.replace("_", ".", 1)): value for name, value in values.items()})
    return AgentSpec(
        id=AgentId("A1"), responsibility="works", role="generate", operations=("research",), mask=mask
    )


def order(
    produced: WorkOutput,
    *,
    node: NodeId = NODE,
    kind: SubTaskKind = "loop",
    operation: str = "gather",
    port: PortType = "claims",
    ports_in: tuple[PortSpec, ...] = (),
    params: Mapping[str, JsonValue] | None = None,
    required: Mapping[str, float] | None = None,
    criteria: tuple[Criterion, ...] = (),
    delta_max: float = 0.05,
    path: Literal[1, 2] = 1,
    mode: WorkMode = "extractive",
    rounds: tuple[SearchRound, ...] = (ROUND,),
    needs: tuple[Need, ...] = (),
    worker: AgentSpec | None = None,
    leaks: tuple[Leak, ...] = (),
    inputs: Mapping[NodeId, WorkOutput] | None = None,
    verifications: Mapping[NodeId, Verification] | None = None,
    taken_as_is: Mapping[NodeId, WorkOutput] | None = None,
    lang: Lang = "en",
    seed: str = "seed",
    terminal: bool = False,
    forced_level: Level | None = None,
    triggers: tuple[str, ...] = (),
    extended: tuple[str, ...] = (),
    corrected: Mapping[str, Any] | None = None,
) -> CheckOrder:
    """Return a check order for `produced`."""
    subtask = SubTask(
        id=node,
        title="t",
        kind=kind,
        operation=operation,
        params=params or {},
        inputs=ports_in,
        outputs=(PortSpec(name="out", type=port),),
        acceptance=tuple(each.id for each in criteria),
        required_domains=required or {},
    )
    result = WorkResult(
        output=produced, candidate_complete=True, mode=mode, path=path, rounds=rounds, needs=needs
    )
    return CheckOrder(
        subtask=subtask,
        contract=TaskContract(kind="research", acceptance=criteria, delta_max=delta_max),
        agent=worker or agent(),
        thresholds=Thresholds(),
        result=result,
        leaks=LeakReport(entries=leaks),
        inputs=inputs or {},
        lang=lang,
        seed=seed,
        terminal=terminal,
        forced_level=forced_level,
        triggers=triggers,
        extended_domains=extended,
        params=corrected or {},
        verifications=verifications or {},
        taken_as_is=taken_as_is or {},
    )


Answer = Verdict | None | BaseException


class ScriptedSource:
    """A fact source that answers what a test sets, one answer after the other; the last one stays.

    Answers are found by the id of the evidence, else by its text; an exception is raised.
    """

    def __init__(self, answers: Mapping[str, Sequence[Answer]], name: str = "scripted") -> None:
        self.name = name
        self._answers = {key: list(given) for key, given in answers.items()}
        self.asked: list[EvidenceId] = []

    def trace(
        self, evidence: Evidence, sources: Mapping[SourceId, Source], *, lang: Lang
    ) -> FactVerdict | None:
        """Return or raise the next answer."""
        del sources, lang
        self.asked.append(evidence.id)
        answers = self._answers.get(evidence.id, self._answers.get(evidence.text, [None]))
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return None if answer is None else FactVerdict(verdict=answer)


class BrokenSource:
    """A fact source whose material can't be read."""

    name = "archive"

    def trace(
        self, evidence: Evidence, sources: Mapping[SourceId, Source], *, lang: Lang
    ) -> FactVerdict | None:
        """Raise."""
        del evidence, sources, lang
        raise PermissionError("archive.md: permission denied")


class BrokenChecker:
    """A checker with a bug."""

    name = "spelling"

    def check(self, order: CheckOrder) -> tuple[Finding, ...]:
        """Raise."""
        raise KeyError(order.seed)


def codes(findings: Iterable[Finding]) -> list[str]:
    """Return the codes of `findings`, in order."""
    return [finding.code for finding in findings]


def altered(
    piece: Evidence,
    *,
    start_line: int | None = None,
    end_line: int | None = None,
    start_char: int | None = None,
    end_char: int | None = None,
) -> Evidence:
    """Return `piece` with another locator."""
    old = piece.locator
    span = LineSpan(
        source=old.source,
        start_line=old.start_line if start_line is None else start_line,
        end_line=old.end_line if end_line is None else end_line,
        start_char=old.start_char if start_char is None else start_char,
        end_char=old.end_char if end_char is None else end_char,
    )
    return replace(piece, locator=span)
