"""Choose the sentences that answer a question, under a length budget and under the mask.

Two steps. *Valuing* says which open sentences answer the question and how much each adds: the mask's bands act here
(closed material is left out, a leak never stands for a sentence that is none), values inside a band do not. *Filling*
takes them in the order of value times mask weight, as far as they fit.

So the gradient is monotone: raising a domain's mask value inside its band never lowers the length that its sentences
take of the answer. All of them have one weight, so their order among themselves stays, that of the others too, and
the new order comes from the old one by letting one of them pass one of the others, time and again. Where that changes
what fits, it fits itself now and did not beside the other; what the domain had in the rest was shorter than it is.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agents.retrieval.copies import carries_same_numbers, repeats
from agents.retrieval.tokens import terms
from agents.workers.embedded.answer_forms import LOOSE
from agents.workers.embedded.matching import credit, prepared
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
ROW_FACTOR: Final = 0.7
"""A table row stands behind prose that speaks of as much: it is hard to read without its table."""
ASKS_FACTOR: Final = 0.2
"""A question in the notes is no answer; what follows it may be."""
QUESTION_WEIGHT: Final = 3.0
"""Weight of all of the question's terms together, against 1 for the most telling term of the material."""
TELLING_PASSAGES: Final = 20
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
FEWEST_ASKED: Final = 2
"""Or terms of the question in it: `The gate is locked` is short, and the answer."""
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
    leaks: bool = False
    """Whether its use is a leak: it is open, and not MAIN."""

    @property
    def candidate(self) -> Candidate:
        """Return the candidate."""
        return self.support.candidate


def length_of(text: str, lang: Lang) -> int:
    """Return the length of `text` in the unit of answer budgets: words in English, characters in Chinese."""
    return len(text.split()) if lang == "en" else len(text)


def relevance(one: Support) -> float:
    """Return how relevant a candidate is: its passage's rank, its coverage and its form; above 0, at most 1.2."""
    unit = one.candidate.unit
    shape = CODE_FACTOR if unit.kind == "code" else ASKS_FACTOR if _ASKS.search(unit.text) else 1.0
    return (RELEVANCE_FLOOR + one.coverage) * one.candidate.passage.rank * one.constraints * one.form * shape


def is_row(one: Weighted) -> bool:
    """Return whether a candidate is the row of a table."""
    return one.candidate.unit.kind == "table_row"


def admit(candidates: Sequence[Weighted], count: int = ADMITTED) -> tuple[Weighted, ...]:
    """Return the `count` open candidates of the highest relevance, best first; ties keep their order.

    Closed ones (weight 0) are left out.
    """
    opened = [one for one in candidates if one.weight > 0]
    return tuple(sorted(opened, key=lambda one: -one.relevance)[:count])


def choose(
    admitted: Sequence[Weighted], question_terms: Mapping[str, float], budget: int, lang: Lang
) -> tuple[Weighted, ...]:
    """Return the sentences of an answer to an open question, in the order they were chosen.

    The value of a sentence is what it says that no better one says, in terms that are telling for the material or
    asked for, times its relevance, per length. `budget` is in the unit of `length_of`.
    """
    return _filled(_valued(admitted, question_terms, budget, lang), budget, lang)


def choose_factual(
    candidates: Sequence[Weighted], budget: int, lang: Lang, asked: Collection[str] = ()
) -> tuple[Weighted, ...]:
    """Return the sentences that hold the value asked for, those of the highest support times weight first.

    Sentences that repeat a better one are left out; those of other notes stay, since they may disagree. Beside the
    one with the best support, only sentences with an answering form of their own are taken, and of its table no row
    that lacks one of the `asked` terms that it holds.
    """
    fitting = [
        one
        for one in candidates
        if one.weight > 0
        and not _ASKS.search(one.candidate.unit.text)
        and length_of(one.candidate.unit.text, lang) <= budget
    ]
    ranked = sorted(fitting, key=lambda one: (-one.support.score, is_row(one)))
    floor = FACTUAL_SHARE * ranked[0].support.score if ranked else 0.0
    holding = [
        one
        for one in ranked
        if one is ranked[0]
        or (
            one.support.score >= floor
            and one.support.form >= LOOSE
            and not _is_another_row(one.candidate, ranked[0].candidate, asked)
        )
    ]
    return _filled([(one, one.support.score) for one in _unrepeated(holding)], budget, lang)


def _is_another_row(one: Candidate, best: Candidate, asked: Collection[str]) -> bool:
    if best.unit.kind != "table_row" or one.unit.kind != "table_row" or one.passage.key != best.passage.key:
        return False
    row, wanted = prepared(one.unit.text), prepared(best.unit.text)
    return any(credit(term, row) < credit(term, wanted) for term in asked)


def _filled(valued: Sequence[tuple[Weighted, float]], budget: int, lang: Lang) -> tuple[Weighted, ...]:
    """Take what fits, in the order of value times weight."""
    chosen: list[Weighted] = []
    left = budget
    for one, _ in sorted(valued, key=lambda pair: -pair[1] * pair[0].weight):
        length = length_of(one.candidate.unit.text, lang)
        if length <= left:
            chosen.append(one)
            left -= length
    return tuple(chosen)


def _valued(
    admitted: Sequence[Weighted], question_terms: Mapping[str, float], budget: int, lang: Lang
) -> list[tuple[Weighted, float]]:
    """Pair the sentences that may stand in an answer with what each adds, by greedy coverage; best first."""
    telling = _telling(admitted, question_terms)
    pool = _worth_quoting(admitted, frozenset(question_terms), budget, lang)
    said: set[str] = set()
    valued: list[tuple[Weighted, float]] = []
    while pool:
        gains = [
            (
                sum(telling.get(term, 0.0) for term in words if term not in said)
                * one.relevance
                * (ROW_FACTOR if is_row(one) else 1.0)
                / effort,
                -place,
            )
            for place, (one, words, effort) in enumerate(pool)
        ]
        gain, place = max(gains)
        if gain <= 0:
            break
        one, words, _ = pool.pop(-place)
        valued.append((one, gain))
        said.update(words)
    return valued


def _worth_quoting(
    admitted: Sequence[Weighted], asked: frozenset[str], budget: int, lang: Lang
) -> list[tuple[Weighted, tuple[str, ...], float]]:
    """Give the sentences that may stand in an answer, with their terms and the effort of reading them."""
    floor = OPEN_SHARE * max((one.relevance for one in admitted), default=0.0)
    pool = []
    for one in _unrepeated([one for one in admitted if one.relevance >= floor]):
        text = one.candidate.unit.text
        words, length = tuple(dict.fromkeys(terms(text))), length_of(text, lang)
        telling = len(words) >= FEWEST_TERMS or len(asked.intersection(words)) >= FEWEST_ASKED
        if telling and 0 < length <= budget:
            pool.append((one, words, _effort(length, lang)))
    return pool


def _unrepeated(ranked: Sequence[Weighted]) -> list[Weighted]:
    """Leave out what repeats one before it (best first), and leaks that repeat a sentence which is none."""
    kept: list[Weighted] = []
    for one in sorted(ranked, key=lambda one: one.leaks):
        if not _said_already(one, kept):
            kept.append(one)
    return kept


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
