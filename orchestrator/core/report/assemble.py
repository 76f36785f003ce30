"""Put a delivered report together from what the terminal sub-tasks handed over and what the checks said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from agents.citations import find_anchors
from agents.evidence import Claim, ClaimId, Evidence, EvidenceId, Source, SourceId, with_leak
from agents.results import OpenQuestion, OpenReason, WorkMode, WorkOutput
from graphs.contract import Lang
from graphs.plan import NodeId, natural_key
from masks.leaks.provenance import Leak
from orchestrator.core.claims import ClaimVerdict, Verification, verdict_weight
from orchestrator.core.effects import EffectCall
from orchestrator.core.events import RunOutcome
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Proposal, Sha256
from orchestrator.core.report.contents import (
    Citation,
    CitedPlace,
    DeliveredReport,
    LeakRow,
    NodeConfidence,
    ReportedConflict,
)
from orchestrator.core.same_question import same_question

TITLE_LENGTH = 120
"""Characters of a title that is made from a goal."""

_TELLING: Final[tuple[OpenReason, ...]] = ("domain_closed", "limit_reached", "not_answerable", "not_found")
"""Where several sub-tasks left a question open: the reason that a person can do most about."""
_TITLE_LINE = re.compile(r"\A\s*#[ \t]+(?P<title>[^\n]+?)[ \t]*(?:\n|\Z)")


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalOutput:
    """The accepted output of one terminal sub-task."""

    node: NodeId
    title: str
    output: WorkOutput
    """Leak markers stripped."""
    verification: Verification
    mode: WorkMode
    accepted_as_is: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What the report says of the run itself."""

    run: RunId
    proposal: Sha256
    revision: int
    outcome: RunOutcome
    lang: Lang
    objective: str
    """The title where no terminal output begins with one: the goal in the user's words."""
    gaps: tuple[str, ...] = ()
    changes: tuple[EffectCall, ...] = ()
    stopped: bool = False


def run_facts(
    run: RunId,
    proposal: Proposal,
    sha256: Sha256,
    outcome: RunOutcome,
    *,
    gaps: tuple[str, ...] = (),
    changes: tuple[EffectCall, ...] = (),
    stopped: bool = False,
) -> RunFacts:
    """Return the facts of a run under an approved `proposal` with hash `sha256`."""
    return RunFacts(
        run=run,
        proposal=sha256,
        revision=proposal.revision,
        outcome=outcome,
        lang=proposal.goal.lang,
        objective=_title_of(proposal.goal.text),
        gaps=gaps,
        changes=changes,
        stopped=stopped,
    )


def _title_of(goal: str) -> str:
    line = " ".join(goal.split())
    return line if len(line) <= TITLE_LENGTH else f"{line[: TITLE_LENGTH - 1].rstrip()}…"


def assemble_report(
    facts: RunFacts, terminals: Iterable[TerminalOutput], leaks: Mapping[NodeId, Sequence[Leak]]
) -> DeliveredReport:
    """Return the report of a run; the order in which `terminals` and `leaks` are given does not matter.

    `leaks` are those of every sub-task. A claim without a verdict is shown as not checked. A run that ended without
    an output gives a report with an empty body.
    """
    ordered = sorted(terminals, key=lambda terminal: natural_key(terminal.node))
    title, body = _title_and_body(facts, ordered)
    fields = {name: text for terminal in ordered for name, text in terminal.output.fields.items()}
    citations = _citations(ordered, body, fields)
    numbers = {citation.claim: citation.number for citation in citations}
    return DeliveredReport(
        run=facts.run,
        proposal=facts.proposal,
        revision=facts.revision,
        outcome=facts.outcome,
        title=title,
        lang=facts.lang,
        mode=_one_mode(ordered),
        body=body,
        citations=citations,
        open_questions=_open_questions(ordered),
        conflicts=_conflicts(ordered, numbers),
        leaks=_leak_rows(leaks),
        confidence=tuple(_node_confidence(terminal) for terminal in ordered),
        not_traced=tuple(citation.number for citation in citations if not citation.traced),
        unknown_anchors=_unknown_anchors((body, *fields.values()), numbers),
        gaps=facts.gaps,
        changes=facts.changes,
        stopped=facts.stopped,
        fields=fields,
    )


def _title_and_body(facts: RunFacts, ordered: Sequence[TerminalOutput]) -> tuple[str, str]:
    """Give the first terminal's own title, and the bodies; with several terminals each keeps its title as a section."""
    texts = [terminal.output.text.strip() for terminal in ordered]
    opening = _TITLE_LINE.match(texts[0]) if len(texts) == 1 else None
    if opening:
        return opening["title"].strip(), texts[0][opening.end() :].strip()
    return facts.objective, "\n\n".join(text for text in texts if text)


def _one_mode(ordered: Sequence[TerminalOutput]) -> WorkMode | None:
    modes = {terminal.mode for terminal in ordered}
    return modes.pop() if len(modes) == 1 else None


def _citations(
    ordered: Sequence[TerminalOutput], body: str, fields: Mapping[str, str]
) -> tuple[Citation, ...]:
    claims = _claims(ordered)
    in_text = [found.claim for text in (body, *fields.values()) for found in find_anchors(text)]
    sequence = [claim for claim in dict.fromkeys([*in_text, *claims]) if claim in claims]
    cited = set(in_text)
    verdicts = _verdicts(ordered)
    places = _Places(ordered)
    return tuple(
        _citation(number, claims[claim], verdicts.get(claim), places, in_text=claim in cited)
        for number, claim in enumerate(sequence, start=1)
    )


def _claims(ordered: Sequence[TerminalOutput]) -> dict[ClaimId, Claim]:
    """Give each claim once, with the leak marks of all its occurrences."""
    claims: dict[ClaimId, Claim] = {}
    for terminal in ordered:
        for claim in terminal.output.claims:
            kept = claims.get(claim.id, claim)
            for mark in claim.leaks:
                kept = with_leak(kept, mark)
            claims[claim.id] = kept
    return claims


def _verdicts(ordered: Sequence[TerminalOutput]) -> dict[ClaimId, ClaimVerdict]:
    """Give the worst verdict of each claim, should two terminal sub-tasks hold the same one."""
    worst: dict[ClaimId, ClaimVerdict] = {}
    for terminal in ordered:
        for verdict in terminal.verification.verdicts:
            other = worst.get(verdict.claim)
            if other is None or _rank(verdict) < _rank(other):
                worst[verdict.claim] = verdict
    return worst


def _rank(verdict: ClaimVerdict) -> tuple[float, bool]:
    return verdict_weight(verdict.verdict), verdict.traced


class _Places:
    """Looks evidence and sources up over all terminal outputs."""

    def __init__(self, ordered: Sequence[TerminalOutput]) -> None:
        self._evidence: dict[EvidenceId, Evidence] = {}
        self._sources: dict[SourceId, Source] = {}
        for terminal in ordered:
            self._evidence |= {piece.id: piece for piece in terminal.output.evidence}
            self._sources |= {source.id: source for source in terminal.output.sources}

    def of(self, claim: Claim) -> tuple[CitedPlace, ...]:
        return tuple(place for piece in claim.evidence if (place := self._place(piece)) is not None)

    def _place(self, evidence: EvidenceId) -> CitedPlace | None:
        piece = self._evidence.get(evidence)
        source = self._sources.get(piece.source) if piece else None
        if piece is None or source is None:
            return None
        original = self._sources.get(source.copy_of) if source.copy_of else None
        return CitedPlace(
            evidence=piece.id,
            source=source.id,
            uri=source.uri,
            title=source.title,
            source_digest=source.digest,
            start_line=piece.locator.start_line,
            end_line=piece.locator.end_line,
            start_char=piece.locator.start_char,
            end_char=piece.locator.end_char,
            excerpt=piece.text,
            domain=piece.domain,
            copy_of=original.uri if original else source.copy_of,
            also_in=tuple(
                sorted(other.uri for other in self._sources.values() if other.copy_of == source.id)
            ),
        )


def _citation(
    number: int, claim: Claim, verdict: ClaimVerdict | None, places: _Places, *, in_text: bool
) -> Citation:
    found = places.of(claim)
    known = {place.evidence for place in found}
    return Citation(
        number=number,
        claim=claim.id,
        statement=claim.statement,
        core=claim.core,
        question=claim.question,
        places=found,
        verdict=verdict.verdict if verdict else None,
        level=verdict.level if verdict else None,
        traced=verdict.traced if verdict else False,
        leaks=claim.leaks,
        in_text=in_text,
        origin=claim.origin,
        taint=claim.taint,
        missing_evidence=tuple(piece for piece in claim.evidence if piece not in known),
    )


def _open_questions(ordered: Sequence[TerminalOutput]) -> tuple[OpenQuestion, ...]:
    """Give each question once, with all that was searched for it."""
    found: list[OpenQuestion] = []
    for question in (each for terminal in ordered for each in terminal.output.open_questions):
        known = next(
            (n for n, one in enumerate(found) if same_question(one.question, question.question)), None
        )
        if known is None:
            found.append(question)
        else:
            found[known] = _both(found[known], question)
    return tuple(found)


def _both(first: OpenQuestion, second: OpenQuestion) -> OpenQuestion:
    kept = first if first.nearest else second
    return replace(
        first,
        reason=min(first.reason, second.reason, key=_TELLING.index),
        searched=tuple(dict.fromkeys([*first.searched, *second.searched])),
        nearest=kept.nearest,
        nearest_text=kept.nearest_text,
        closed=tuple(dict.fromkeys([*first.closed, *second.closed])),
    )


def _conflicts(
    ordered: Sequence[TerminalOutput], numbers: Mapping[ClaimId, int]
) -> tuple[ReportedConflict, ...]:
    found: dict[ReportedConflict, None] = {}
    for terminal in ordered:
        for conflict in terminal.output.conflicts:
            cited = tuple(sorted({numbers[claim] for claim in conflict.claims if claim in numbers}))
            found[ReportedConflict(about=conflict.about, citations=cited)] = None
    return tuple(found)


def _leak_rows(leaks: Mapping[NodeId, Sequence[Leak]]) -> tuple[LeakRow, ...]:
    rows = [LeakRow(node=node, leak=leak) for node, found in leaks.items() for leak in found]
    return tuple(sorted(rows, key=_leak_order))


def _leak_order(row: LeakRow) -> tuple[object, ...]:
    leak = row.leak
    return (leak.declared, -leak.m100, natural_key(row.node), leak.start, leak.end, leak.domain, leak.agent)


def _node_confidence(terminal: TerminalOutput) -> NodeConfidence:
    return NodeConfidence(
        node=terminal.node,
        title=terminal.title,
        confidence=terminal.verification.confidence,
        outcome=terminal.verification.outcome,
        accepted_as_is=terminal.accepted_as_is,
    )


def _unknown_anchors(texts: Iterable[str], numbers: Mapping[ClaimId, int]) -> tuple[str, ...]:
    unknown = [found.claim for text in texts for found in find_anchors(text) if found.claim not in numbers]
    return tuple(dict.fromkeys(unknown))
