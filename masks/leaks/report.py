"""Cross what an agent declared with what was detected, and show the result to people."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from masks.bands import DEFAULT_THRESHOLDS, Band, Thresholds, format_mask_value
from masks.domains import DomainId, DomainRegistry, Lang
from masks.leaks.detect import Detection, SentenceSpan
from masks.leaks.markers import (
    MarkerFinding,
    MarkerFindingKind,
    PlacedMarker,
    StrippedText,
    check_marker,
    declared_leaf,
    render_finding,
)
from masks.leaks.provenance import GenerationPath, Leak, SpanTracer
from masks.vector import Mask


class LeakStatus(StrEnum):
    """Say who knows of a leak."""

    UNDECLARED = "undeclared"
    """Detected, not declared: shown first."""
    CONFIRMED = "declared_and_detected"
    """Declared and detected."""
    DECLARED_ONLY = "declared_only"
    """Declared, not detected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakReport:
    """Hold the leaks of one or more outputs, undeclared first, then the strongest first."""

    entries: tuple[Leak, ...] = ()
    findings: tuple[MarkerFinding, ...] = ()
    """What was wrong with declarations; places are those in the text with markers."""

    @property
    def undeclared(self) -> tuple[Leak, ...]:
        """Return the leaks that the agent did not declare."""
        return tuple(leak for leak in self.entries if status(leak) is LeakStatus.UNDECLARED)


class LeakCount(NamedTuple):
    """Count the leaks of one agent into one domain."""

    agent: str
    domain: DomainId
    total: int
    undeclared: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenOutput:
    """Hold one output of an agent as the leak check sees it."""

    agent: str
    mask: Mask
    path: GenerationPath
    stripped: StrippedText
    """The output without markers, and the markers."""
    sentences: tuple[SentenceSpan, ...]
    """Sentences of `stripped.text`, in order; the same that the detector was given."""


def status(leak: Leak) -> LeakStatus:
    """Return who knows of a leak."""
    if not leak.declared:
        return LeakStatus.UNDECLARED
    return LeakStatus.CONFIRMED if leak.detected else LeakStatus.DECLARED_ONLY


def cross(
    output: WrittenOutput,
    detection: Detection,
    tracer: SpanTracer,
    registry: DomainRegistry,
    thresholds: Thresholds = DEFAULT_THRESHOLDS,
) -> LeakReport:
    """Return the leaks of one output, declared and detected ones brought together.

    A marker declares the sentence that it stands in or directly behind, and with it a detected span of the
    same domain that reaches into that sentence. A marker that is unreadable, names another agent, no known leaf
    or a MAIN domain declares nothing and is a finding; one with a wrong strength declares and is a finding. Text
    that was handed to the agent is provenance and no leak (semantics 2).
    """
    declared, findings = _declarations(output, registry, thresholds)
    detected_leaks: list[Leak] = []
    matched: set[_Declared] = set()
    for span in detection.spans:
        mine = {entry for entry in declared if _meets(entry, span.domain, span.sentences)}
        matched |= mine
        leak = _leak(
            output, span.domain, span.sentences, tracer, thresholds, declared=bool(mine), detected=True
        )
        detected_leaks.extend(leak)
    declared_leaks = [
        leak
        for entry in sorted(declared - matched)
        for leak in _leak(
            output, entry.domain, entry.sentences, tracer, thresholds, declared=True, detected=False
        )
    ]
    return LeakReport(entries=_ordered([*detected_leaks, *declared_leaks]), findings=findings)


def merge(reports: Iterable[LeakReport]) -> LeakReport:
    """Return one report over several outputs, in the order of a report."""
    parts = tuple(reports)
    return LeakReport(
        entries=_ordered(leak for part in parts for leak in part.entries),
        findings=tuple(finding for part in parts for finding in part.findings),
    )


def counts(report: LeakReport) -> tuple[LeakCount, ...]:
    """Return leaks per agent and domain, most undeclared ones first, then most leaks, then by name."""
    total = Counter((leak.agent, leak.domain) for leak in report.entries)
    hidden = Counter((leak.agent, leak.domain) for leak in report.undeclared)
    rows = [
        LeakCount(agent, domain, number, hidden[agent, domain]) for (agent, domain), number in total.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.undeclared, -row.total, row.agent, row.domain)))


def render_text(report: LeakReport, lang: Lang) -> str:
    """Return the report as plain lines, undeclared leaks first; one sentence if there is nothing."""
    words = _WORDS[lang]
    if not report.entries and not report.findings:
        return words["nothing"]
    lines: list[str] = []
    groups: dict[LeakStatus, list[Leak]] = defaultdict(list)
    for leak in report.entries:
        groups[status(leak)].append(leak)
    for kind in LeakStatus:
        if groups[kind]:
            lines.append(f"{_STATUS_TEXT[kind][lang]} ({len(groups[kind])})")
            lines.extend(f"  {_line(leak, lang)}" for leak in groups[kind])
    if report.findings:
        lines.append(f"{words['findings']} ({len(report.findings)})")
        lines.extend(f"  {render_finding(finding, lang)}" for finding in report.findings)
    return "\n".join(lines)


PREVIEW: Final = 80
"""Characters of a span that the text report shows."""

_WORDS: Final[Mapping[Lang, Mapping[str, str]]] = {
    "en": {"nothing": "No leaks.", "findings": "Faulty markers", "strength": "strength", "path": "path"},
    "zh": {"nothing": "没有泄漏。", "findings": "有误的标记", "strength": "强度", "path": "路径"},
}

_STATUS_TEXT: Final[Mapping[LeakStatus, Mapping[Lang, str]]] = {
    LeakStatus.UNDECLARED: {"en": "Undeclared", "zh": "未声明"},
    LeakStatus.CONFIRMED: {"en": "Declared and detected", "zh": "已声明且被检出"},
    LeakStatus.DECLARED_ONLY: {"en": "Declared only", "zh": "仅声明"},
}

_BAND_TEXT: Final[Mapping[Band, Mapping[Lang, str]]] = {
    Band.MAIN: {"en": "main", "zh": "主激活域"},
    Band.BACKGROUND: {"en": "background", "zh": "背景域"},
    Band.SILENT: {"en": "silent", "zh": "静默域"},
}

_ORIGIN_TEXT: Final[Mapping[str, Mapping[Lang, str]]] = {
    "source": {"en": "source", "zh": "来源"},
    "parametric": {"en": "parametric, nothing to trace", "zh": "参数化，无可追溯"},
}


class _Declared(NamedTuple):
    """A readable declaration: a domain, and the sentence it stands in or behind (none for no sentence)."""

    domain: DomainId
    sentences: tuple[int, ...]


def _declarations(
    output: WrittenOutput, registry: DomainRegistry, thresholds: Thresholds
) -> tuple[set[_Declared], tuple[MarkerFinding, ...]]:
    declared: set[_Declared] = set()
    findings: list[MarkerFinding] = []
    for placed in output.stripped.markers:
        found = placed.found
        problems = check_marker(found, output.agent, output.mask, registry, thresholds)
        findings.extend(problems)
        leaf = None if found.marker is None else declared_leaf(found.marker, registry)
        if leaf is not None and not any(problem.kind in _VOID for problem in problems):
            declared.add(_Declared(leaf, _marked_sentence(placed, output.sentences)))
    return declared, tuple(findings)


_VOID: Final = frozenset(
    {
        MarkerFindingKind.MALFORMED,
        MarkerFindingKind.UNKNOWN_DOMAIN,
        MarkerFindingKind.WRONG_AGENT,
        MarkerFindingKind.NO_LEAK,
    }
)


def _marked_sentence(placed: PlacedMarker, sentences: Sequence[SentenceSpan]) -> tuple[int, ...]:
    before = [index for index, sentence in enumerate(sentences) if sentence.start < placed.position]
    if before:
        return (before[-1],)
    return (0,) if sentences else ()


def _meets(declared: _Declared, domain: DomainId, sentences: Sequence[int]) -> bool:
    return declared.domain == domain and not set(declared.sentences).isdisjoint(sentences)


def _leak(
    output: WrittenOutput,
    domain: DomainId,
    indices: Sequence[int],
    tracer: SpanTracer,
    thresholds: Thresholds,
    *,
    declared: bool,
    detected: bool,
) -> list[Leak]:
    spans = [output.sentences[index] for index in indices]
    provenance = tracer.trace_all([span.text for span in spans])
    if provenance.kind == "input":
        return []
    start = spans[0].start if spans else 0
    end = spans[-1].end if spans else 0
    return [
        Leak(
            agent=output.agent,
            domain=domain,
            m100=output.mask.value(domain),
            band=output.mask.band(domain, thresholds),
            origin=provenance.kind,
            declared=declared,
            detected=detected,
            start=start,
            end=end,
            text=output.stripped.text[start:end],
            locator=provenance.locator,
            path=output.path,
        )
    ]


def _ordered(leaks: Iterable[Leak]) -> tuple[Leak, ...]:
    return tuple(
        sorted(leaks, key=lambda leak: (leak.declared, -leak.m100, leak.agent, leak.start, leak.domain))
    )


def _line(leak: Leak, lang: Lang) -> str:
    words = _WORDS[lang]
    text = " ".join(leak.text.split())
    preview = text if len(text) <= PREVIEW else f"{text[: PREVIEW - 1]}…"
    where = leak.locator or _ORIGIN_TEXT[leak.origin][lang]
    origin = where if leak.locator is None else f"{_ORIGIN_TEXT[leak.origin][lang]} {where}"
    return (
        f"{leak.agent} -> {leak.domain} | {_BAND_TEXT[leak.band][lang]} | "
        f"{words['strength']} {format_mask_value(leak.strength)} | {words['path']} {leak.path} | "
        f"{origin} | {leak.start}-{leak.end} | {preview}"
    )
