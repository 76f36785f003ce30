"""Whether a sentence may fill a field: it has to speak of the thing, name the field, and hold a form that fits."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from agents.retrieval.tokens import is_cjk, terms
from agents.workers.embedded.answer_forms import LOOSE, form_strength
from agents.workers.embedded.asking import AnswerKind
from agents.workers.embedded.matching import Rarity, Text, credit, prepared
from agents.workers.embedded.material import Candidate
from agents.workers.embedded.question import MEASURES, Measure, Question
from agents.workers.embedded.subject import MET

HALF_NAMED: Final = 0.5
"""Share of a name, its terms weighted by rarity, that a sentence must hold: of *solar modules* more than *solar*."""

OPENING_WORDS: Final = 4
OPENING_CHARS: Final = 10
"""Words or characters at the beginning of a sentence that name what it is about."""

_REFERS = re.compile(r"\b(?:it|its|this|that|these|those|they|their|both|each)\b|[它其该此这]", re.IGNORECASE)
_DAY = re.compile(r"\b(?:dates?|deadlines?|days?)\b|日期|时间|时候|截止日?", re.IGNORECASE)
"""Fields that a date fills. The word itself needn't be said."""


def names_all(candidate: Candidate, wanted: str) -> bool:
    """Return whether a candidate, with what introduces it, holds every term of `wanted`."""
    said = prepared(f"{candidate.passage.lead_of(candidate.unit) or ''} {candidate.unit.text}")
    return all(credit(term, said) >= MET for term in terms(wanted))


def fills(candidate: Candidate, item: str, field: str, question: Question, rarity: Rarity) -> bool:
    """Return whether a candidate may fill `field` of `item`.

    It speaks of the item by itself, after what introduces it, under its headings, or goes on after a sentence that
    does; it names the field by itself, after what introduces it or in the heading right above; and where the field
    wants an amount or a date, it holds one.
    """
    passage, unit = candidate.passage, candidate.unit
    said = f"{passage.lead_of(unit) or ''} {unit.text}"
    nearest = passage.units[candidate.index - 1] if candidate.index else None
    # A row is of its own thing, and introduces nothing.
    goes_on = nearest and nearest.kind != "table_row" and _goes_on(unit.text, field)
    before = nearest.text if nearest and goes_on else ""
    about = (prepared(said), passage.head, prepared(before))
    if _share(terms(item), about, rarity) < HALF_NAMED:
        return False
    named_in = f"{passage.heading.rsplit(' > ', 1)[-1]} {said}"
    measure = _measure(field)
    wanted = terms(_DAY.sub(" ", field)) or terms(field)
    named = _share(wanted, (prepared(named_in),), rarity) >= HALF_NAMED
    if not named and not (measure and _measure(named_in) == measure):
        return False
    if measure:
        asked = replace(question, kind=AnswerKind.NUMBER, measure=measure)
    elif _DAY.search(field):
        asked = replace(question, kind=AnswerKind.TIME)
    else:
        return True
    return form_strength(asked, unit.text) >= LOOSE


def _goes_on(sentence: str, field: str) -> bool:
    """Say whether a sentence speaks of what the one before named: it refers to it, or begins with the field.

    One that begins with something else has a subject of its own.
    """
    if _REFERS.search(sentence):
        return True
    opening = sentence[:OPENING_CHARS] if is_cjk(sentence) else " ".join(sentence.split()[:OPENING_WORDS])
    said = prepared(opening)
    return any(credit(term, said) >= MET for term in terms(field))


def _measure(text: str) -> Measure:
    folded = text.casefold()
    return next((measure for measure, pattern in MEASURES if pattern.search(folded)), "")


def _share(wanted: Iterable[str], texts: Iterable[Text], rarity: Rarity) -> float:
    weights = {term: rarity(term) for term in wanted}
    total = sum(weights.values())
    held = {term for term in weights for text in texts if credit(term, text) >= MET}
    return sum(weights[term] for term in held) / total if total else 0.0
