"""How well a sentence answers a question, and whether anything fetched answers it at all.

Every feature can be read by a person: how much of the question the sentence and what stands around it speak of
(terms weighted by rarity), whether the years, days and names of the question are there, and whether a form that can
answer (a date for *when*, a person for *who*) is there. The factors were set by hand. The thresholds come
from questions that we wrote about our example notes, asked with and without the lines that answer them
(`tests/agents/workers/embedded/answerability_cases.json`); no weight was fitted by a program.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from agents.workers.embedded.answer_forms import NONE, form_strength
from agents.workers.embedded.asking import AnswerKind
from agents.workers.embedded.deeds import deed_of, doer_strength, done_by_pronoun
from agents.workers.embedded.implied import implied_terms
from agents.workers.embedded.matching import Matcher, Text, credit, prepared, with_words
from agents.workers.embedded.material import Candidate, Material, Passage
from agents.workers.embedded.note_tables import split_row
from agents.workers.embedded.question import Question
from agents.workers.embedded.subject import MET, Reach, is_reached, reach, says_enough

FACTUAL_KINDS: Final = frozenset(
    {
        AnswerKind.TIME,
        AnswerKind.DURATION,
        AnswerKind.NUMBER,
        AnswerKind.PERSON,
        AnswerKind.PLACE,
        AnswerKind.COLOUR,
        AnswerKind.NAME,
    }
)
"""Kinds that one value answers: a sentence has it or not. All others are answered by what the notes say about it."""
FACTUAL_THRESHOLD: Final = {"en": 0.57, "zh": 0.70}
"""Support from which a factual question counts as answered: halfway between our answerable questions and the same
questions with their answers taken out. Chinese words are matched in parts too, so their coverage runs higher."""
OPEN_THRESHOLD: Final = 0.40
"""The same for the other kinds. Our own questions are told apart best near 0.5; it is lower because a partial answer to
*how* or *why* still helps: at 0.4, four of five questions on software manuals get one, and about half of the
unanswerable ones do too. A search goes on until `FULL_SUPPORT`."""
FULL_SUPPORT: Final = 0.55
"""From it on, and with no term of the question missing, a question counts as settled and its search ends."""

NEAR_FACTOR: Final = 0.7
"""Of a term that stands only in the sentence before or after."""
WINDOW_SHARE: Final = 0.55
"""Share of the coverage with neighbours in the support; the rest is the sentence's own."""
FORM_NEAR: Final = 0.75
"""Of a form that stands only next door."""
FORM_UNKNOWN: Final = 0.9
"""Of a name asked for: it has no form of its own, so nothing shows that it is there."""
FORM_MISSING: Final = 0.35
"""Without a form that can answer, a sentence supports hardly anything."""
OTHER_YEAR: Final = 0.5
"""The sentence names a year, and not the question's."""
YEAR_NEAR: Final = 0.95
YEAR_IN_NOTE: Final = 0.85
YEAR_NOWHERE: Final = 0.7
DAY_NEAR: Final = 0.9
DAY_NOWHERE: Final = 0.6
NAME_WEIGHT: Final = 0.4
"""How much is lost if none of the question's names is anywhere in the note."""
NAME_NEAR: Final = 0.1
NAME_IN_NOTE: Final = 0.35
"""Share of `NAME_WEIGHT` for a name that stands in the headings or next door, or elsewhere in the note."""

_REFERS = re.compile(r"\b(?:it|its|this|that|these|those|they|their|both|each)\b|[它其该此这]", re.IGNORECASE)
"""Words that go on about what was named before."""
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """How well one candidate answers."""

    candidate: Candidate
    coverage: float
    """Share of the question's terms in the sentence, its headings and its neighbours, in [0, 1]."""
    own: float
    """Share of the terms in the sentence and its headings alone, in [0, 1]."""
    constraints: float
    """What is left after years, days and names of the question that are missing, in (0, 1]."""
    form: float
    """1 if the sentence holds a form that fits the question, less for a loose one, one next door, or none."""
    score: float
    """In [0, 1]; 1: it speaks of everything asked for and holds an answer by its form."""
    reach: Reach = field(default_factory=Reach)
    """How far it speaks of the question's subject."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answerability:
    """Whether a question is answered by the material."""

    answered: bool
    score: float
    threshold: float
    best: Support | None
    missing: tuple[str, ...] = ()
    """Terms of the question that the best passage does not hold, heaviest first."""


def support(question: Question, matcher: Matcher, candidate: Candidate, note: str) -> Support:
    """Return how well `candidate` answers `question`; `note` is all that was fetched of its note, case-folded."""
    passage, unit = candidate.passage, candidate.unit
    near_text = passage.around(candidate.index)
    lead = passage.lead_of(unit)
    text = with_words(prepared(unit.text), implied_terms(question, unit.text, lead))
    near, head = prepared(near_text), passage.head
    above = ((head, 1.0),) if lead is None else ((head, 1.0), (prepared(lead), 1.0))
    own = matcher.coverage((text, 1.0), *above)
    coverage = matcher.coverage((text, 1.0), *above, (near, NEAR_FACTOR))
    constraints = _constraints(question, text, near.folded + head.folded, note)
    reached = reach(matcher, candidate, text)
    form = _form(question, unit.text, _going_on(question, matcher, candidate, near_text), lead)
    if question.kind is AnswerKind.PERSON and not says_enough(reached, len(question.terms), question.lang):
        # A person stands in many sentences: it takes the deed and its object to be the one asked for.
        form = FORM_MISSING
    score = (WINDOW_SHARE * coverage + (1 - WINDOW_SHARE) * own) * constraints * form
    return Support(
        candidate=candidate,
        coverage=coverage,
        own=own,
        constraints=constraints,
        form=form,
        score=score,
        reach=reached,
    )


def supports(question: Question, matcher: Matcher, material: Material) -> tuple[Support, ...]:
    """Return the support of every candidate, best first; ties in the order of the material."""
    notes: dict[str, str] = {}
    for passage in material.passages.values():
        known = notes.get(passage.source.id, f"{passage.source.title} {passage.source.uri}".casefold())
        notes[passage.source.id] = f"{known} {passage.heading.casefold()} {passage.text.casefold()}"
    found = [
        support(question, matcher, candidate, notes[candidate.passage.source.id])
        for candidate in material.candidates()
    ]
    return tuple(sorted(found, key=lambda one: -one.score))


def answerability(question: Question, matcher: Matcher, ranked: tuple[Support, ...]) -> Answerability:
    """Return whether the best of `ranked` (best first) answers `question`.

    A factual question needs one sentence with the answer in it. Any other is judged by the passage: its coverage,
    that of its best sentence, and its similarity of meaning; and one sentence must reach the question's subject.
    """
    if not ranked:
        return Answerability(
            answered=False, score=0.0, threshold=OPEN_THRESHOLD, best=None, missing=question.terms
        )
    best = ranked[0]
    if question.kind in FACTUAL_KINDS:
        threshold = FACTUAL_THRESHOLD[question.lang]
        score, about_it = best.score, True
    else:
        threshold = OPEN_THRESHOLD
        score = _open_score(matcher, ranked)
        about_it = is_reached(
            [one.reach for one in ranked], len(question.terms), frozenset(question.subject), question.lang
        )
    passage = best.candidate.passage
    missing = matcher.missing(prepared(f"{passage.heading} {passage.source.title} {passage.text}"))
    return Answerability(
        answered=about_it and score >= threshold, score=score, threshold=threshold, best=best, missing=missing
    )


def _open_score(matcher: Matcher, ranked: tuple[Support, ...]) -> float:
    best = ranked[0]
    passages: dict[object, Passage] = {one.candidate.passage.key: one.candidate.passage for one in ranked}
    widest = max(matcher.coverage((passage.body, 1.0), (passage.head, 1.0)) for passage in passages.values())
    meaning = max(0.0, *(passage.cosine for passage in passages.values()))
    return best.constraints * (0.4 * best.coverage + 0.4 * widest) + 0.2 * meaning


def _constraints(question: Question, text: Text, around: str, note: str) -> float:
    factor = 1.0
    for year in question.years:
        if year in text.folded:
            continue
        if _YEAR.search(text.folded):
            factor *= OTHER_YEAR
        elif year in around:
            factor *= YEAR_NEAR
        else:
            factor *= YEAR_IN_NOTE if year in note else YEAR_NOWHERE
    for day in question.days:
        if day not in text.folded:
            factor *= DAY_NEAR if day in around else DAY_NOWHERE
    return factor * _names_factor(question, text, around, note)


def _names_factor(question: Question, text: Text, around: str, note: str) -> float:
    if not question.names:
        return 1.0
    missing = 0.0
    for name in (name.casefold() for name in question.names):
        if name in text.folded:
            continue
        missing += NAME_NEAR if name in around else NAME_IN_NOTE if name in note else 1.0
    return 1.0 - NAME_WEIGHT * missing / len(question.names)


def _going_on(question: Question, matcher: Matcher, candidate: Candidate, near: str) -> str:
    """Return the text next door that may hold the value: a measure there is one of what the sentence there is about."""
    if question.kind is AnswerKind.COLOUR:
        return ""
    if not question.measure:
        return near
    units, index = candidate.passage.units, candidate.index
    beside = [units[i].text for i in (index - 1, index + 1) if 0 <= i < len(units)]
    return " ".join(
        text
        for text in beside
        if _REFERS.search(text) or any(credit(term, prepared(text)) >= MET for term in matcher.weights)
    )


def _form(question: Question, text: str, near: str, lead: str | None) -> float:
    if question.kind is AnswerKind.NAME:
        return FORM_UNKNOWN
    if question.kind is AnswerKind.PERSON and deed_of(question.text):
        # Another deed of somebody else answers nothing, and a name next door does only for a pronoun.
        named = doer_strength(question, text, lead)
        behind = FORM_NEAR * form_strength(question, near) if done_by_pronoun(question, text) else 0.0
        return max(named, behind, FORM_MISSING)
    return max(_own_form(question, text, lead), FORM_NEAR * form_strength(question, near), FORM_MISSING)


def _own_form(question: Question, text: str, lead: str | None) -> float:
    """Read the cells of a row with the names of their columns: there stand the units and what is counted."""
    strength = form_strength(question, text)
    if lead is None or not (text.lstrip().startswith("|") and lead.lstrip().startswith("|")):
        return strength
    heads, cells = ([part for part, _ in split_row(row)] for row in (lead, text))
    named = [
        form_strength(question, said)
        for head, cell in zip(heads, cells, strict=False)
        for said in (f"{cell} {head}", f"{head} {cell}")
    ]
    return max(strength, *named, NONE)
