"""Which claims stand against each other in independent sources (semantics 4, verdict `contested`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from agents.evidence import ClaimId, SourceId
from agents.results import WorkOutput
from orchestrator.core.claims import ClaimVerdict, Contested, Deviates, Falsified, Verdict, Verified
from orchestrator.verification.sources.documents import place
from orchestrator.verification.splitting import ClaimParts, Material


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """Claims that can't all hold, each in a source of its own."""

    claim: ClaimId
    others: tuple[ClaimId, ...]
    """Those that stand in sources independent of the claim's."""


def disagreements(
    output: WorkOutput, parts: Mapping[ClaimId, ClaimParts], material: Material
) -> dict[ClaimId, Disagreement]:
    """Return, for each claim of a declared conflict, the claims of independent sources that it stands against.

    Copies of one text are one source: a conflict between a text and its copy is none.
    """
    found: dict[ClaimId, dict[ClaimId, None]] = {}
    for conflict in output.conflicts:
        known = [claim for claim in dict.fromkeys(conflict.claims) if claim in parts]
        for one, other in combinations(known, 2):
            mine, theirs = _roots(parts[one], material), _roots(parts[other], material)
            if mine and theirs and mine.isdisjoint(theirs):
                found.setdefault(one, {})[other] = None
                found.setdefault(other, {})[one] = None
    return {claim: Disagreement(claim=claim, others=tuple(others)) for claim, others in found.items()}


def contested(
    verdict: ClaimVerdict,
    disagreement: Disagreement,
    verdicts: Mapping[ClaimId, ClaimVerdict],
    parts: Mapping[ClaimId, ClaimParts],
    material: Material,
) -> Verdict:
    """Return the claim's verdict in view of the claims that it stands against.

    Contested when its own source confirms it and one of the others was not falsified; unchanged otherwise.
    """
    against = [other for other in disagreement.others if not isinstance(verdicts[other].verdict, Falsified)]
    if not against or not verdict.traced or not isinstance(verdict.verdict, (Verified, Deviates)):
        return verdict.verdict
    places = [where for claim in (disagreement.claim, *against) for where in _places(parts[claim], material)]
    return Contested(sources=tuple(dict.fromkeys(places)))


def _roots(part: ClaimParts, material: Material) -> set[SourceId]:
    return {material.independent(material.evidence[fact].source) for fact in part.facts}


def _places(part: ClaimParts, material: Material) -> list[str]:
    places = []
    for fact in part.facts:
        evidence = material.evidence[fact]
        source = material.sources.get(evidence.source)
        places.append(place(source, evidence.locator) if source else str(evidence.source))
    return places
