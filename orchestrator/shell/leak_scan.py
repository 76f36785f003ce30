"""Find the leaks of one output, cross them with what was declared, and mark the claims that carry them.

Quoted material has the label of the section that it stands in, given once when the notes were read; everything else
that an agent wrote is labelled sentence by sentence by the detector. What was handed to the agent (parameters, accepted
inputs) is provenance and no leak of this agent (semantics 2).
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from agents.citations import find_anchors
from agents.evidence import Claim, Evidence, EvidenceId, LeakMark, with_leak
from agents.results import WorkOutput, WorkResult
from agents.retrieval.library import SectionLabel
from agents.retrieval.sentences import sentence_ranges
from agents.workers.ports import WorkOrder
from masks.bands import Band
from masks.domains import DomainId, DomainRegistry
from masks.leaks.detect import (
    DetectedSpan,
    Detection,
    DetectionRequest,
    LeakDetector,
    SentenceSpan,
    excuses_ambiguity,
)
from masks.leaks.markers import strip_markers
from masks.leaks.provenance import Leak, SpanTracer, SuppliedText
from masks.leaks.report import LeakReport, WrittenOutput, cross
from masks.leaks.rules import Judgement, LeakAction, LeakFacts, judge
from orchestrator.shell.shown_places import ShownPlaces, TakenPlaces

MaterialLabel = Callable[[Evidence], SectionLabel | None]
"""Returns the label of the section that evidence stands in, `None` for evidence that the material does not hold. Never
takes the worker's word for it."""
Held = Mapping[EvidenceId, SectionLabel]
"""The labels of the evidence that the material really holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakScan:
    """What the leak check found in one output."""

    result: WorkResult
    """With markers taken out of the text and leak marks on the claims."""
    report: LeakReport
    judgements: tuple[Judgement, ...]
    """One per entry of the report, in its order."""

    @property
    def leaks(self) -> tuple[Leak, ...]:
        """The leaks, undeclared first."""
        return self.report.entries

    @property
    def spontaneous(self) -> tuple[str, ...]:
        """Silent domains that the agent used of its own accord: the output is blocked (rule 2b)."""
        return self._domains(LeakAction.BLOCK_AND_REGENERATE, LeakAction.CHANGE_AGENT_OR_GUARD)

    @property
    def necessary(self) -> tuple[str, ...]:
        """Silent domains that the sub-task requires: class C (rule 2a)."""
        return self._domains(LeakAction.NECESSARY_GAP)

    @property
    def asked_for(self) -> tuple[str, ...]:
        """Silent domains that only the agent asks for: a person decides (rule 2a)."""
        return self._domains(LeakAction.ASK_PERSON)

    def _domains(self, *actions: LeakAction) -> tuple[str, ...]:
        pairs = zip(self.report.entries, self.judgements, strict=True)
        return tuple(dict.fromkeys(str(leak.domain) for leak, ruling in pairs if ruling.action in actions))


class LeakScanner:
    """Scans outputs with one detector and one registry."""

    def __init__(self, detector: LeakDetector, registry: DomainRegistry, label: MaterialLabel) -> None:
        self._detector = detector
        self._registry = registry
        self._label = label

    def scan(self, result: WorkResult, order: WorkOrder, blocked: Collection[str] = ()) -> LeakScan:
        """Return the leaks of `result`, which is the answer to `order`.

        `blocked` are the silent domains for whose spontaneous use an earlier answer to it was discarded.
        """
        output = _without_field_markers(result.output)
        declared = strip_markers(output.text)
        held = self._held(output)
        own, shown = _own(output, order), ShownPlaces(declared.text)
        # What is delivered beside the text, in fields or in claims that the text does not show, is looked at as if it
        # stood below the text.
        stripped, beside = declared, _beside(shown, own, output, order)
        if beside:
            stripped = replace(declared, text=declared.text + beside)
            shown = ShownPlaces(stripped.text)
        pieces = _pieces(stripped.text, shown, own, output, order, held)
        written = WrittenOutput(
            agent=order.agent.id,
            mask=order.agent.mask,
            path=result.path,
            stripped=stripped,
            sentences=tuple(piece.span for piece in pieces),
        )
        report = cross(
            written,
            self._detect(pieces, order, held),
            SpanTracer(_supplied(output, order, held)),
            self._registry,
            order.thresholds,
        )
        if not report.entries:
            return LeakScan(result=_with_output(result, output, declared.text), report=report, judgements=())
        marked = replace(output, claims=_marked(output.claims, report, pieces, order))
        judgements = tuple(_judged(leak, result, order, blocked) for leak in report.entries)
        report = replace(report, entries=tuple(map(_noted, report.entries, judgements)))
        return LeakScan(
            result=_with_output(result, marked, declared.text), report=report, judgements=judgements
        )

    def _held(self, output: WorkOutput) -> Held:
        labels = ((item.id, self._label(item)) for item in output.evidence)
        return {identifier: label for identifier, label in labels if label is not None}

    def _detect(self, pieces: Sequence[_Piece], order: WorkOrder, held: Held) -> Detection:
        """Labelled material by its section's label, the rest by the detector, as one detection."""
        request = DetectionRequest(
            sentences=tuple(piece.span for piece in pieces if piece.quoted is None),
            mask=order.agent.mask,
            thresholds=order.thresholds,
        )
        free = [index for index, piece in enumerate(pieces) if piece.quoted is None]
        found = self._detector.detect(request)
        spans = [replace(span, sentences=tuple(free[i] for i in span.sentences)) for span in found.spans]
        for index, piece in enumerate(pieces):
            domain = self._domain_of(held[piece.quoted], order) if piece.quoted is not None else None
            if domain is not None and order.agent.mask.band(domain, order.thresholds) is not Band.MAIN:
                spans.append(
                    DetectedSpan(
                        domain=domain,
                        start=piece.span.start,
                        end=piece.span.end,
                        sentences=(index,),
                        probability=1.0,
                    )
                )
        spans.sort(key=lambda span: (span.start, span.domain))
        return Detection(distributions=(), spans=tuple(spans), detector=found.detector)

    def _domain_of(self, label: SectionLabel, order: WorkOrder) -> DomainId | None:
        """The domain that decides about a quote; `None`: unclassified, or excused below its parent (semantics 1)."""
        if label.domain is not None:
            return DomainId(label.domain)
        if label.parent is None or label.leaf is None:
            return None
        excused = excuses_ambiguity(
            DomainId(label.parent), order.agent.mask, order.thresholds, self._registry
        )
        return None if excused else DomainId(label.leaf)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """One sentence of an output; `quoted` is the evidence that it repeats word for word, if it does."""

    span: SentenceSpan
    claim: Claim | None = None
    quoted: EvidenceId | None = None


def _beside(shown: ShownPlaces, own: Sequence[Claim], output: WorkOutput, order: WorkOrder) -> str:
    """What is delivered and does not stand in the text: claims that it does not show, and free words of fields."""
    hidden = [
        claim.statement for claim in own if claim.statement.strip() and not shown.shows(claim.statement)
    ]
    fields = list(output.fields.values()) if order.agent.model_policy.kind != "embedded" else []
    return "".join(f"\n{' '.join(part.split())}" for part in [*hidden, *fields] if part.strip())


def _own(output: WorkOutput, order: WorkOrder) -> list[Claim]:
    """The claims that this agent makes: not those that it carries on from its inputs in the same words."""
    carried = {(claim.id, claim.statement) for given in order.inputs.values() for claim in given.claims}
    return [claim for claim in output.claims if (claim.id, claim.statement) not in carried]


def _with_output(result: WorkResult, output: WorkOutput, text: str) -> WorkResult:
    """`result` with `output`, which says `text`; the same object where nothing was taken out and nothing marked."""
    if text != output.text:
        output = replace(output, text=text)
    return result if output is result.output else replace(result, output=output)


def _without_field_markers(output: WorkOutput) -> WorkOutput:
    """A marker declares in the text only; in a field it would be delivered as words."""
    if not output.fields:
        return output
    return replace(output, fields={name: strip_markers(value).text for name, value in output.fields.items()})


def _pieces(
    text: str,
    shown: ShownPlaces,
    own: Sequence[Claim],
    output: WorkOutput,
    order: WorkOrder,
    held: Held,
) -> list[_Piece]:
    """The sentences of the agent's own: claims first, then what stands between them.

    What an extractive worker writes between quotes are fixed words of ours; they are not looked at.
    """
    made = {id(claim) for claim in own}
    evidence = {item.id: item for item in output.evidence}
    pieces: list[_Piece] = []
    taken = TakenPlaces()
    for claim in output.claims:
        place = taken.take_first(shown.places(claim.statement))
        if place is not None and id(claim) in made:
            span = SentenceSpan(text=claim.statement, start=place[0], end=place[1])
            pieces.append(_Piece(span=span, claim=claim, quoted=_quoted(claim, evidence, held)))
    if order.agent.model_policy.kind != "embedded":
        anchors = [(anchor.start, anchor.end) for anchor in find_anchors(text)]
        pieces += [_Piece(span=span) for span in _between(text, [*taken, *anchors])]
    return sorted(pieces, key=lambda piece: piece.span.start)


def _quoted(claim: Claim, evidence: Mapping[EvidenceId, Evidence], held: Held) -> EvidenceId | None:
    for identifier in claim.evidence:
        item = evidence.get(identifier)
        if item is not None and identifier in held and claim.statement.strip() == item.text.strip():
            return identifier
    return None


def _between(text: str, taken: Sequence[tuple[int, int]]) -> Iterable[SentenceSpan]:
    position = 0
    for start, end in [*sorted(taken), (len(text), len(text))]:
        for first, last in sentence_ranges(text[position:start]):
            sentence = text[position + first : position + last]
            if any(character.isalpha() for character in sentence):
                yield SentenceSpan(text=sentence, start=position + first, end=position + last)
        position = max(position, end)


def _supplied(output: WorkOutput, order: WorkOrder, held: Held) -> Iterable[SuppliedText]:
    """What the agent was handed, and what it fetched: evidence that the material does not hold was not fetched."""
    yield SuppliedText(text=order.subtask.title, kind="input", locator="title")
    for name, value in {**order.subtask.params, **order.params}.items():
        for text in value if isinstance(value, list | tuple) else [value]:
            written = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
            yield SuppliedText(text=written, kind="input", locator=f"params.{name}")
    for node, given in order.inputs.items():
        yield SuppliedText(text=given.text, kind="input", locator=str(node))
        for claim in given.claims:
            yield SuppliedText(text=claim.statement, kind="input", locator=f"{node}/{claim.id}")
    uris = {source.id: source.uri for source in output.sources}
    for item in (item for item in output.evidence if item.id in held):
        where = item.locator
        last = "" if where.end_line == where.start_line else f"-{where.end_line}"
        locator = f"{uris.get(item.source, item.source)}:{where.start_line}{last}"
        yield SuppliedText(text=item.text, kind="source", locator=locator)


def _marked(
    claims: Sequence[Claim], report: LeakReport, pieces: Sequence[_Piece], order: WorkOrder
) -> tuple[Claim, ...]:
    marks: dict[str, list[LeakMark]] = {}
    # Pieces share no character, so that their ends rise with their starts.
    starts, ends = [piece.span.start for piece in pieces], [piece.span.end for piece in pieces]
    for leak in report.entries:
        mark = LeakMark(
            agent=leak.agent,
            domain=str(leak.domain),
            strength=leak.strength,
            origin=leak.origin,
            declared=leak.declared,
            node=order.subtask.id,
        )
        for piece in pieces[bisect_right(ends, leak.start) : bisect_left(starts, leak.end)]:
            if piece.claim is not None:
                marks.setdefault(piece.claim.id, []).append(mark)
    return tuple(_with_all(claim, marks.get(claim.id, ())) for claim in claims)


def _with_all(claim: Claim, marks: Iterable[LeakMark]) -> Claim:
    for mark in marks:
        claim = with_leak(claim, mark)
    return claim


def _noted(leak: Leak, judgement: Judgement) -> Leak:
    return replace(leak, noted=judgement.rule) if judgement.noted_against_agent else leak


def _judged(leak: Leak, result: WorkResult, order: WorkOrder, blocked: Collection[str]) -> Judgement:
    return judge(
        LeakFacts(
            m100=leak.m100,
            path=leak.path,
            declared=leak.declared,
            required=str(leak.domain) in order.subtask.required_domains,
            needed_by_agent=any(need.domain == leak.domain for need in result.needs),
            spontaneous_before=int(leak.domain in blocked),
            thresholds=order.thresholds,
        )
    )
