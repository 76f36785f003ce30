"""How far a text speaks of what a question asks about: coverage of the question's terms, weighted by rarity."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from agents.retrieval.tokens import is_cjk, words
from agents.workers.embedded.question import Question

SHARED_STEM = 5
"""English words that share this many first letters count partly: the stemmer keeps `insure` and `insurance` apart."""
SHARED_STEM_CREDIT = 0.7
PART_CREDIT = 0.8
"""Credit for a Chinese word of which all pairs of characters stand in the text, though not in one word."""
LOOSE_CREDIT = 0.4
"""Credit for a Chinese word whose characters stand apart (`逃税` in `偷逃巨额税款`); needs half of them at least."""

Rarity = Callable[[str], float]


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """A text prepared for matching."""

    folded: str
    words: frozenset[str]
    credits: dict[str, float] = field(default_factory=dict)
    """What `credit` found before: the same sentences are matched against the same terms round after round."""


@lru_cache(maxsize=20_000)
def prepared(text: str) -> Text:
    """Return `text` prepared for matching; remembered, since neighbouring sentences are matched again and again."""
    return Text(folded=text.casefold(), words=frozenset(words(text)))


def with_words(text: Text, more: frozenset[str]) -> Text:
    """Return `text` with the words of `more` in it; the same text without any."""
    if not more:
        return text
    return Text(folded=f"{text.folded} {' '.join(sorted(more))}", words=text.words | more)


def credit(term: str, text: Text) -> float:
    """Return how far `text` holds `term`, in [0, 1].

    1 for the word itself (or, in Chinese, its characters in a row); less for a near form.
    """
    known = text.credits.get(term)
    if known is None:
        known = text.credits[term] = _credit(term, text)
    return known


def _credit(term: str, text: Text) -> float:
    if term in text.words:
        return 1.0
    if is_cjk(term):
        return _chinese_credit(term, text.folded)
    if len(term) >= SHARED_STEM and any(word.startswith(term[:SHARED_STEM]) for word in text.words):
        return SHARED_STEM_CREDIT
    return 0.0


def _chinese_credit(term: str, text: str) -> float:
    if len(term) < 2:
        return 0.0
    if term in text:
        return 1.0
    pairs = [term[i : i + 2] for i in range(len(term) - 1)]
    in_row = sum(pair in text for pair in pairs) / len(pairs)
    apart = sum(char in text for char in term) / len(term)
    return max(PART_CREDIT * in_row, LOOSE_CREDIT * apart if apart >= 0.5 else 0.0)


@dataclass(frozen=True, slots=True)
class Matcher:
    """The terms of a question with their weights; weights sum to 1."""

    weights: Mapping[str, float]

    def coverage(self, *texts: tuple[Text, float]) -> float:
        """Return the weighted share of terms that the texts hold, in [0, 1].

        Each text comes with a factor in [0, 1]: what stands in a heading or next door counts for less.
        """
        return sum(
            weight * max(factor * credit(term, text) for text, factor in texts)
            for term, weight in self.weights.items()
        )

    def missing(self, text: Text) -> tuple[str, ...]:
        """Return the terms that `text` does not hold at least in part, heaviest first."""
        absent = [term for term in self.weights if credit(term, text) < LOOSE_CREDIT]
        return tuple(sorted(absent, key=lambda term: -self.weights[term]))


def matcher_for(question: Question, rarity: Rarity) -> Matcher:
    """Return the matcher of `question`; `rarity` gives the inverse document frequency of a term."""
    raw = {term: rarity(term) * _length_factor(term) for term in question.terms}
    total = sum(raw.values())
    return Matcher({term: weight / total for term, weight in raw.items()} if total else {})


def _length_factor(term: str) -> float:
    """Weigh Chinese terms by length: a single character says little, a long word is a name."""
    if not is_cjk(term):
        return 1.0
    return 0.3 if len(term) == 1 else min(1.6, 0.5 + 0.25 * len(term))
