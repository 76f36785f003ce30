"""Choose the sentences that answer a question, under a length budget and under the mask.

Two steps. *Admission* keeps the best candidates by relevance times mask weight: here the gradient acts, and raising a
domain's value inside its band can only move its material up (`selection_share`). *Choice* then fills the budget from
the admitted ones, each time with the sentence that adds most of what is not said yet, per length.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agents.retrieval.copies import carries_same_numbers, repeats
from agents.retrieval.tokens import terms
from agents.workers.embedded.answer_forms import LOOSE
from agents.workers.embedded.material import Candidate
from agents.workers.embedded.support import Support
from graphs.contract import Lang

ADMITTED: Final = 60
"""Candidates that take part in the choice."""
RELEVANCE_FLOOR: Final = 0.2
"""Added to a candidate's own coverage, so that a sentence that continues the answer without repeating the question
still counts."""
CODE_FACTOR: Final = 0.3
"""Code is quoted where it says much more than prose: it is hard to read without its surroundings."""
ASKS_FACTOR: Final = 0.2
"""A question in the notes is no answer; what follows it may be."""
QUESTION_WEIGHT: Final = 3.0
"""Weight of all of the question's terms together, against 1 for the most telling term of the material."""
TELLING_PASSAGES: Final = 10
"""Best passages that say which terms matter for an answer (pseudo relevance feedback)."""
LENGTH_POWER: Final = 0.7
"""How strongly gain is divided by length: 0 prefers long sentences, 1 short ones."""
LENGTH_OFFSET: Final[Mapping[Lang, int]] = {"en": 5, "zh": 10}
"""Added to each length, so that fragments don't win by being short."""
OPEN_SHARE: Final = 0.4
"""An answer to an open question takes no sentence below this share of the best admitted relevance. Not of the score:
whether a sentence has to do with the question is no matter of the mask, which orders what has."""
FEWEST_TERMS: Final = 3
"""Content terms of a sentence worth quoting in an answer to an open question; `Delivery.` says nothing."""
FACTUAL_SHARE: Final = 0.7
"""A factual answer stops at sentences below this share of the best one's support: one value needs no essay."""

_ASKS = re.compile(r"[?？][\"'”’*_)）\s]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighted:
    """A candidate with what decides about its admission."""

    support: Support
    relevance: float
    """How relevant it is to the question, whatever the mask; above 0."""
    weight: float
    """The mask's weight of its domain, in [0, 1]."""
    domain: str | None = None
    """The domain that the weight is of; `None`: unclassified."""

    @property
    def candidate(self) -> Candidate:
        """Return the candidate."""
        return self.support.candidate

    @property
    def score(self) -> float:
        """Return relevance times weight."""
        return self.relevance * self.weight


def length_of(text: str, lang: Lang) -> int:
    """Return the length of `text` in the unit of answer budgets: words in English, characters in Chinese."""
    return len(text.split()) if lang == "en" else len(text)


def relevance(one: Support) -> float:
    """Return how relevant a candidate is: its passage's rank, its coverage and its form; above 0, at most 1.2."""
    unit = one.candidate.unit
    shape = CODE_FACTOR if unit.kind == "code" else ASKS_FACTOR if _ASKS.search(unit.text) else 1.0
    return (RELEVANCE_FLOOR + one.coverage) * one.candidate.passage.rank * one.constraints * one.form * shape


def admit(candidates: Sequence[Weighted], count: int = ADMITTED) -> tuple[Weighted, ...]:
    """Return the `count` candidates with the highest score, best first; ties keep their order. Closed ones (weight 0)
    are left out.
    """
    opened = [one for one in candidates if one.weight > 0]
    return tuple(sorted(opened, key=lambda one: -one.score)[:count])


def selection_share(admitted: Sequence[Weighted], domain: str) -> float:
    """Return the share of the admitted score that stands in `domain`, in [0, 1]; 0 if nothing is admitted.

    With relevances fixed, raising the domain's weight never lowers its share: its scores rise and no other's does,
    so its candidates keep their places or take those of others.
    """
    total = sum(one.score for one in admitted)
    inside = sum(one.score for one in admitted if one.domain == domain)
    return inside / total if total else 0.0


def choose(
    admitted: Sequence[Weighted], question_terms: Mapping[str, float], budget: int, lang: Lang
) -> tuple[Weighted, ...]:
    """Return the sentences of an answer to an open question, in the order they were chosen.

    Greedy coverage: the value of a sentence is what it says that is not said yet, in terms that are telling for the
    material or asked for, times its score, per length. `budget` is in the unit of `length_of`.
    """
    value = _telling(admitted, question_terms)
    pool = _worth_quoting(admitted, lang)
    chosen: list[Weighted] = []
    said: set[str] = set()
    left = budget
    while True:
        gains = [
            (
                sum(value.get(term, 0.0) for term in words if term not in said)
                * one.score
                / _effort(length, lang),
                -position,
            )
            for position, (one, words, length) in enumerate(pool)
            if 0 < length <= left
        ]
        best = max(gains, default=(0.0, 0))
        if best[0] <= 0:
            return tuple(chosen)
        one, words, length = pool.pop(-best[1])
        if _said_already(one, chosen):
            continue
        chosen.append(one)
        said.update(words)
        left -= length


def _worth_quoting(admitted: Sequence[Weighted], lang: Lang) -> list[tuple[Weighted, tuple[str, ...], int]]:
    """Pair the sentences that may stand in an answer with their terms and lengths."""
    floor = OPEN_SHARE * max((one.relevance for one in admitted), default=0.0)
    pool = []
    for one in admitted:
        text = one.candidate.unit.text
        words = tuple(dict.fromkeys(terms(text)))
        if one.relevance >= floor and len(words) >= FEWEST_TERMS:
            pool.append((one, words, length_of(text, lang)))
    return pool


def choose_factual(admitted: Sequence[Weighted], budget: int, lang: Lang) -> tuple[Weighted, ...]:
    """Return the sentences that hold the value asked for, best support (times weight) first.

    Sentences that repeat a chosen one are left out; those of other notes stay, since they may disagree. After the
    first, only sentences with an answering form of their own are taken.
    """
    ranked = sorted(
        (one for one in admitted if not _ASKS.search(one.candidate.unit.text)),
        key=lambda one: -one.support.score * one.weight,
    )
    chosen: list[Weighted] = []
    left = budget
    for one in ranked:
        length = length_of(one.candidate.unit.text, lang)
        if chosen and one.support.score < FACTUAL_SHARE * chosen[0].support.score:
            break
        formless = bool(chosen) and one.support.form < LOOSE
        if length > left or formless or _said_already(one, chosen):
            continue
        chosen.append(one)
        left -= length
    return tuple(chosen)


def _said_already(one: Weighted, chosen: Sequence[Weighted]) -> bool:
    """Return whether a chosen sentence repeats this one; the same words with other numbers say something else."""
    text = one.candidate.unit.text
    return any(
        carries_same_numbers(text, other.candidate.unit.text) and repeats(text, other.candidate.unit.text)
        for other in chosen
    )


def _telling(admitted: Sequence[Weighted], question_terms: Mapping[str, float]) -> dict[str, float]:
    """Weigh terms by how much of the best passages they make up, the question's own on top."""
    passages = {one.candidate.passage.key: one.candidate.passage for one in admitted}
    best = sorted(passages.values(), key=lambda passage: -passage.rank)[:TELLING_PASSAGES]
    value: dict[str, float] = defaultdict(float)
    for passage in best:
        found = [term for unit in passage.units if unit.kind != "code" for term in terms(unit.text)]
        for term in found:
            value[term] += passage.rank / len(found)
    most = max(value.values(), default=1.0)
    scaled = {term: weight / most for term, weight in value.items()}
    for term, weight in question_terms.items():
        scaled[term] = scaled.get(term, 0.0) + QUESTION_WEIGHT * weight
    return scaled


def _effort(length: int, lang: Lang) -> float:
    return float((length + LENGTH_OFFSET[lang]) ** LENGTH_POWER)
