"""Level 3: is a falsification wrong in view of the whole evidence (semantics 4)."""

from __future__ import annotations

from agents.evidence import EvidenceId
from agents.retrieval.tokens import terms
from orchestrator.core.claims import Contested, Deviates, Uncertain, Verdict, Verified
from orchestrator.verification.judging import Case, Judged
from orchestrator.verification.sources.documents import place
from orchestrator.verification.statement import stands_in
from orchestrator.verification.trace import Trace
from orchestrator.verification.wording import said

FEWEST_TERMS = 2
"""Content words that a statement needs, so that finding it elsewhere means something."""


def overturned(judged: Judged, case: Case, trace: Trace) -> Verdict | None:
    """Return the verdict of a falsified claim that the whole evidence bears out, `None` where it stays falsified.

    A claim that its own evidence contradicts, and that other confirmed evidence of the output says word for word, is
    contested if that stands in an independent source, else uncertain, since it does not cite where it stands. A
    citation that leads nowhere and a text that shows a claim falsely are never overturned: no other evidence can make
    them good.
    """
    claim = judged.part.claim
    if judged.defect != "contradicted" or len(set(terms(claim.statement))) < FEWEST_TERMS:
        return None
    bearing = [key for key in case.facts if _confirmed(trace, key) and _says(case, key, claim.statement)]
    if not bearing:
        return None
    own = {_root(case, key) for key in judged.part.facts}
    independent = [key for key in bearing if _root(case, key) not in own]
    if independent:
        places = (
            *(_place(case, key) for key in judged.part.facts),
            *(_place(case, key) for key in independent),
        )
        return Contested(sources=tuple(dict.fromkeys(places)))
    where = _place(case, bearing[0])
    return Uncertain(
        reason=said(
            case.order.lang,
            en=f"the claim stands at {where}, which is not what it cites",
            zh=f"该论断见于 {where}，但并非其所引用的位置",
        )
    )


def _confirmed(trace: Trace, key: EvidenceId) -> bool:
    return isinstance(trace.fact(key).verdict, (Verified, Deviates))


def _says(case: Case, key: EvidenceId, statement: str) -> bool:
    return stands_in(statement, case.material.evidence[key].text)


def _root(case: Case, key: EvidenceId) -> str:
    return case.material.independent(case.material.evidence[key].source)


def _place(case: Case, key: EvidenceId) -> str:
    evidence = case.material.evidence[key]
    source = case.material.sources.get(evidence.source)
    return place(source, evidence.locator) if source else str(evidence.source)
