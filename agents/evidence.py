"""Sources, evidence and claims as workers hand them over.

A claim rests on evidence, evidence is an exact excerpt of a source, a source is a document with a digest. Each
carries its *origin* (how it came into the run) and its *taint* (whether the text may be trusted as an instruction:
text from documents and tools never is). Verdicts on claims are not here: only the verification procedure gives them
(`orchestrator.core.claims`).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Literal, NewType

SourceId = NewType("SourceId", str)
"""Identifies a source within a run: `s-` and the first 12 hex digits of its digest and path."""
EvidenceId = NewType("EvidenceId", str)
"""Identifies a piece of evidence within a run: derived from its source and locator, so equal excerpts coincide."""
ClaimId = NewType("ClaimId", str)
"""Identifies a claim within a run: derived from the node that first made it, its statement and its evidence."""

Origin = Literal["user", "source", "upstream", "computed", "parametric"]
"""`user`: typed by the user; `source`: excerpt of a document or tool result; `upstream`: output of another sub-task;
`computed`: recomputed by code; `parametric`: out of a model's weights."""

Taint = Literal["trusted", "untrusted"]
"""`trusted`: the user's own channel or our code; `untrusted`: documents, tools, models."""

EvidenceKind = Literal["fact", "inference", "experience"]
"""Specification 4.3, step 2: a checkable fact, a derivation from premises, a judgement by experience."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A document that evidence is taken from."""

    id: SourceId
    uri: str
    """Path relative to the sources folder, with `/`, as the user's file system spells it."""
    title: str
    digest: str
    """SHA-256 of the file's bytes, hex: a changed source becomes visible."""
    retrieved_at: str
    """ISO 8601, UTC, when the file was read."""
    version: str | None = None
    origin: Origin = "source"
    taint: Taint = "untrusted"
    copy_of: SourceId | None = None
    """The source whose text this one repeats: both count as one independent source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineSpan:
    """An exact stretch of a text document."""

    source: SourceId
    start_line: int
    """1-based, inclusive."""
    end_line: int
    """1-based, inclusive, `>= start_line`."""
    start_char: int
    """0-based offset into the decoded text of the whole document."""
    end_char: int
    """Exclusive offset, `> start_char`."""
    kind: Literal["line_span"] = "line_span"


Locator = LineSpan
"""Where evidence stands. A union that grows (cell, page, recomputation, call): match on `kind`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakMark:
    """A leak that a claim carries to the delivered report, whoever repeats it (semantics 2)."""

    agent: str
    domain: str
    strength: int
    """The mask value of the domain when it leaked, in hundredths, -100..100."""
    origin: Literal["source", "parametric"]
    declared: bool
    node: str
    """The sub-task where it leaked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """An excerpt that a claim rests on."""

    id: EvidenceId
    source: SourceId
    locator: Locator
    text: str
    """The excerpt, exactly as in the source."""
    excerpt_sha256: str
    kind: EvidenceKind = "fact"
    origin: Origin = "source"
    taint: Taint = "untrusted"
    domain: str | None = None
    """Knowledge domain of the section that it stands in; `None` below the calibrated margin."""
    premises: tuple[EvidenceId, ...] = ()
    """For an inference: what it was derived from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One statement of an output and what it rests on."""

    id: ClaimId
    statement: str
    evidence: tuple[EvidenceId, ...]
    core: bool
    """Whether it answers a question or an acceptance criterion (counts double in the confidence)."""
    question: str | None = None
    """The question or field that it answers, in the words of the sub-task's parameters."""
    origin: Origin = "source"
    taint: Taint = "untrusted"
    leaks: tuple[LeakMark, ...] = ()
    label: str = ""
    """What a value is the value of, as its table calls it: shown before the statement, and no part of it."""


def excerpt_digest(text: str) -> str:
    """Return the SHA-256 of an excerpt's UTF-8 bytes, in hex."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def source_id(uri: str, digest: str) -> SourceId:
    """Return the id of the document at `uri` with content `digest`."""
    return SourceId("s-" + hashlib.sha256(f"{digest}\n{uri}".encode()).hexdigest()[:12])


def evidence_id(source: SourceId, start_char: int, end_char: int) -> EvidenceId:
    """Return the id of the excerpt that stands from `start_char` to before `end_char` in `source`."""
    key = f"{source}:{start_char}:{end_char}"
    return EvidenceId("e-" + hashlib.sha256(key.encode()).hexdigest()[:12])


def quote(source: SourceId, locator: LineSpan, text: str, *, domain: str | None = None) -> Evidence:
    """Return the evidence for an exact excerpt `text` that stands at `locator`."""
    return Evidence(
        id=evidence_id(source, locator.start_char, locator.end_char),
        source=source,
        locator=locator,
        text=text,
        excerpt_sha256=excerpt_digest(text),
        domain=domain,
    )


def claim_of(
    node: str, statement: str, evidence: tuple[EvidenceId, ...], *, core: bool, question: str | None = None
) -> Claim:
    """Return the claim that `node` makes with `statement` on `evidence`; equal arguments give an equal id."""
    key = "\n".join([node, statement, *evidence])
    identifier = ClaimId("c-" + hashlib.sha256(key.encode("utf-8")).hexdigest()[:12])
    return Claim(id=identifier, statement=statement, evidence=evidence, core=core, question=question)


def with_leak(claim: Claim, mark: LeakMark) -> Claim:
    """Return `claim` carrying `mark` too; a mark that it carries already is not repeated."""
    return claim if mark in claim.leaks else replace(claim, leaks=(*claim.leaks, mark))
