"""Whether a sentence may fill a field: it has to speak of the thing, name the field, and hold a fitting form."""

from __future__ import annotations

from agents.retrieval.tokens import terms
from agents.workers.embedded.matching import credit, prepared
from agents.workers.embedded.material import Candidate
from agents.workers.embedded.subject import MET


def names_all(candidate: Candidate, wanted: str) -> bool:
    """Return whether a candidate, with what introduces it, holds every term of `wanted`."""
    said = prepared(f"{candidate.passage.lead_of(candidate.unit) or ''} {candidate.unit.text}")
    return all(credit(term, said) >= MET for term in terms(wanted))
