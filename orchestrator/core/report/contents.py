"""What a run delivers, as one value: text, numbered citations, what stays open, leaks, confidence, gaps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter

from agents.evidence import ClaimId, EvidenceId, LeakMark, Origin, SourceId, Taint
from agents.results import OpenQuestion, WorkMode
from graphs.contract import Lang
from graphs.plan import NodeId
from masks.leaks.provenance import Leak
from orchestrator.core.claims import CheckOutcome, Confidence, Level, Verdict
from orchestrator.core.effects import EffectCall
from orchestrator.core.events import RunOutcome
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedPlace:
    """One place that a claim rests on, with the exact words that stand there."""

    evidence: EvidenceId
    source: SourceId
    uri: str
    """Path relative to the sources folder."""
    title: str
    source_digest: str
    """SHA-256 of the file's bytes when it was read."""
    start_line: int
    """1-based, inclusive."""
    end_line: int
    """1-based, inclusive."""
    start_char: int
    """0-based offset into the decoded text."""
    end_char: int
    """Exclusive."""
    excerpt: str
    """Exactly as in the source."""
    domain: str | None = None
    copy_of: str | None = None
    """Path of the source that this one repeats; both count as one."""
    also_in: tuple[str, ...] = ()
    """Paths of the sources that repeat this one, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A claim of the report under its number."""

    number: int
    """From 1, in the order of the text; claims that the text does not point at come last."""
    claim: ClaimId
    statement: str
    core: bool
    question: str | None
    places: tuple[CitedPlace, ...]
    verdict: Verdict | None
    """`None`: nobody checked it, which is never a pass."""
    level: Level | None
    traced: bool
    leaks: tuple[LeakMark, ...]
    in_text: bool
    """Whether the text points at it."""
    origin: Origin = "source"
    taint: Taint = "untrusted"
    missing_evidence: tuple[EvidenceId, ...] = ()
    """Evidence that the claim names and the output does not hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedConflict:
    """Sources that can't both hold, by the numbers of their citations."""

    about: str
    citations: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakRow:
    """One leak of the run: the sub-task where it happened, and the leak."""

    node: NodeId
    leak: Leak


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeConfidence:
    """How far the output of one terminal sub-task can be relied on."""

    node: NodeId
    title: str
    confidence: Confidence
    outcome: CheckOutcome
    accepted_as_is: bool = False
    """A person took it although it did not pass its check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveredReport:
    """The result of a run. A value without times: equal runs give equal reports but for the run's id."""

    run: RunId
    proposal: Sha256
    revision: int
    outcome: RunOutcome
    title: str
    lang: Lang
    """Language of `body`."""
    mode: WorkMode | None
    """How the text came about; `None` when the terminal sub-tasks differ."""
    body: str
    """Markdown with citation anchors (`agents.citations`), without the title."""
    citations: tuple[Citation, ...] = ()
    open_questions: tuple[OpenQuestion, ...] = ()
    conflicts: tuple[ReportedConflict, ...] = ()
    leaks: tuple[LeakRow, ...] = ()
    """Of every sub-task, undeclared first, then the strongest."""
    confidence: tuple[NodeConfidence, ...] = ()
    """Per terminal sub-task, in the order of ids."""
    not_traced: tuple[int, ...] = ()
    """Numbers of the citations that no check traced to a source."""
    unknown_anchors: tuple[str, ...] = ()
    """Anchors of the text that point at no claim: never shown as citations."""
    gaps: tuple[str, ...] = ()
    """What of the contract is missing."""
    changes: tuple[EffectCall, ...] = ()
    """Calls that were to change something, by sub-task, and what came of them; also those that a person refused."""
    stopped: bool = False
    """Whether a limit ended the run early."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Named fields of the outputs, their text with anchors."""


REPORT: TypeAdapter[DeliveredReport] = TypeAdapter(DeliveredReport)
"""(De)serialises reports at the borders."""


def report_json(report: DeliveredReport) -> dict[str, Any]:
    """Return `report` as the JSON object that `REPORT` reads back."""
    document: dict[str, Any] = REPORT.dump_python(report, mode="json")
    return document
