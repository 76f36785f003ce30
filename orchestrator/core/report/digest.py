"""The digest of what a run found: equal for equal results, whatever the run's id, the times and the order."""

from __future__ import annotations

from collections.abc import Mapping

from agents.citations import replace_anchors
from agents.evidence import ClaimId
from orchestrator.core.claims import Deviates, Verdict
from orchestrator.core.ids import ContentDigest
from orchestrator.core.proposal import digest_of
from orchestrator.core.report.contents import Citation, DeliveredReport


def result_digest(report: DeliveredReport) -> ContentDigest:
    """Return the SHA-256 over artefacts, claims and verdicts of `report` (architecture 5).

    Artefacts are the text and the fields, with what they leave open and where sources disagree; an anchor counts as
    the content of its claim. Left out: ids of run, proposal, nodes, claims and evidence, the numbers of citations,
    leaks of sub-tasks whose claims were not delivered, confidence, and the prose of verdicts.
    """
    claims = {citation.claim: _claim_content(citation) for citation in report.citations}
    keys = {claim: str(digest_of(content)) for claim, content in claims.items()}
    by_number = {citation.number: keys[citation.claim] for citation in report.citations}
    document = {
        "text": _with_content(report.body, keys),
        "title": report.title,
        "fields": {name: _with_content(text, keys) for name, text in report.fields.items()},
        "claims": sorted(
            [keys[citation.claim], _verdict_content(citation.verdict), citation.traced]
            for citation in report.citations
        ),
        "open": sorted([q.question, q.reason, *q.searched] for q in report.open_questions),
        "conflicts": sorted(
            [conflict.about, *sorted(by_number[number] for number in conflict.citations)]
            for conflict in report.conflicts
        ),
    }
    return ContentDigest(digest_of(document))


def _claim_content(citation: Citation) -> list[object]:
    places = sorted(
        [place.uri, place.source_digest, place.start_char, place.end_char, place.excerpt]
        for place in citation.places
    )
    leaks = sorted(
        [mark.agent, mark.domain, mark.strength, mark.origin, mark.declared] for mark in citation.leaks
    )
    return [citation.statement, citation.core, citation.question or "", places, leaks]


def _verdict_content(verdict: Verdict | None) -> str:
    match verdict:
        case None:
            return "not_checked"
        case Deviates(delta=delta):
            return f"deviates {delta!r}"
        case _:
            return verdict.kind


def _with_content(text: str, keys: Mapping[ClaimId, str]) -> str:
    return replace_anchors(text, lambda claim: f"[^{keys.get(claim, '')}]")
