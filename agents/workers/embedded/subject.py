"""Which sentences speak of what a question asks about, and whether anything does.

A sentence is read as a person reads it: with its headings, with the header row or sentence that introduces it, and
after the sentence before it. What follows it says nothing about its subject. One shared English word is no
subject: `The decision is expected in May` has nothing to do with an expected yield.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agents.workers.embedded.matching import Matcher, Text, credit, prepared
from agents.workers.embedded.material import Candidate
from graphs.contract import Lang

TERMS_NEEDED: Final = 0.7
SHARE_NEEDED: Final = 0.1
FEWEST_SHARE: Final = 0.3
MOST_SHARE: Final = 0.6
"""Share of a question's terms, weighted by rarity, that the best sentence must reach for the notes to be about it: a
good part of one term's worth, so less of a long question than of a short one; the most where no sentence meets what is
asked for by name. Not chosen blind: `TERMS_NEEDED` and `ENOUGH_TERMS` answer more of the development questions of
`benchmarks.job`, for one refusal less in each language on our own (`answerability_cases.json`) than a
whole term and two."""
BESIDE_BEST: Final = 0.4
"""Share of the best sentence's reach that any other one in the answer needs."""
BEFORE_FACTOR: Final = 0.7
"""Of a term that stands only in the sentence before."""
MET: Final = 0.5
"""Credit from which a term counts as met; one character of two, or characters that stand apart, are another word."""
ENOUGH_TERMS: Final[Mapping[Lang, int]] = {"en": 2, "zh": 1}
"""Different terms that a sentence must meet, of a question that has as many. A Chinese compound names alone what
English needs an adjective and a noun for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How far a sentence speaks of a question's subject."""

    share: float = 0.0
    """Weighted share of the question's terms that it holds, with its headings, lead and the sentence before; [0, 1]."""
    met: frozenset[str] = frozenset()
    """The terms that it holds at least in part."""
    own: bool = True
    """Whether one of them stands in the sentence itself or in what introduces it."""
    named: frozenset[str] = frozenset()
    """Those of them that stand in the sentence itself, in what introduces it or in the heading right above."""
    head: float = 0.0
    """The share that the headings alone hold."""


def reach(matcher: Matcher, candidate: Candidate, text: Text | None = None) -> Reach:
    """Return how far `candidate` speaks of what the matcher's question asks about.

    `text` is its prepared text, with what that says in other words than the question's.
    """
    passage, unit = candidate.passage, candidate.unit
    lead = passage.lead_of(unit)
    said = [text or prepared(unit.text)] + ([] if lead is None else [prepared(lead)])
    before = prepared(passage.units[candidate.index - 1].text) if candidate.index else None
    texts = [(text, 1.0) for text in (*said, passage.head)]
    if before is not None:
        texts.append((before, BEFORE_FACTOR))
    found = {
        term: max((factor * _sure(term, text) for text, factor in texts), default=0.0)
        for term in matcher.weights
    }
    here = (*said, prepared(passage.heading.rsplit(" > ", 1)[-1]))
    return Reach(
        share=sum(matcher.weights[term] * share for term, share in found.items()),
        met=frozenset(term for term, share in found.items() if share > 0),
        named=frozenset(term for term in found if any(_sure(term, text) > 0 for text in here)),
        own=any(_sure(term, text) > 0 for term in matcher.weights for text in said),
        head=sum(weight * _sure(term, passage.head) for term, weight in matcher.weights.items()),
    )


def _sure(term: str, text: Text) -> float:
    found = credit(term, text)
    return found if found >= MET else 0.0


def is_reached(reaches: Sequence[Reach], terms: int, subject: frozenset[str], lang: Lang) -> bool:
    """Return whether any of `reaches` is enough for the notes to be about a question of so many terms."""
    if not terms:
        return False
    usual = min(MOST_SHARE, max(FEWEST_SHARE, TERMS_NEEDED / terms + SHARE_NEEDED))
    return any(
        one.share >= MOST_SHARE
        or (one.share >= usual and says_enough(one, terms, lang) and (not subject or bool(subject & one.met)))
        for one in reaches
    )


def says_enough(one: Reach, terms: int, lang: Lang) -> bool:
    """Return whether a sentence meets `ENOUGH_TERMS` of a question of so many terms, or its only one."""
    return len(one.met) >= min(ENOUGH_TERMS[lang], terms)


def on_subject(reaches: Mapping[Candidate, Reach], subject: frozenset[str]) -> frozenset[Candidate]:
    """Return the candidates that speak of the question's subject, measured beside the best one.

    `subject` are the terms that name what is asked for (of an expected yield, the yield); where any sentence that
    reaches far enough names them, the others have to. The sentence right after one of them goes on about it.
    """
    best = max((one.share for one in reaches.values()), default=0.0)
    floor = BESIDE_BEST * best
    close = [one for one in reaches.values() if one.share >= floor]
    by_name = any(subject & one.named for one in close)

    def speaks(one: Reach) -> bool:
        named = bool(subject & one.named) or not by_name
        return named and one.share >= floor and (one.own or one.head >= floor)

    fitting = {candidate for candidate, one in reaches.items() if speaks(one)}
    places = {(candidate.passage.key, candidate.index) for candidate in fitting}
    going_on = {
        candidate
        for candidate in reaches
        if candidate.unit.kind in {"sentence", "list_item"}
        and (candidate.passage.key, candidate.index - 1) in places
    }
    return frozenset(fitting | going_on)
