"""Count the key terms of each knowledge domain in a text, as log-odds beside its similarity.

A section is encoded by its heading and its first words only; key terms are looked for in all of it. For the
sentences of an output they are not counted: they make more labels right but as many more wrong, and a wrong label is
an accusation there.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log
from typing import Final, TypeAlias

import numpy as np

from masks.domains import DomainRegistry, Lang
from masks.language import LANGS
from masks.leaks.scoring import Matrix

TERM_EVIDENCE: Final = 0.4
"""Log-odds of one key term that only one leaf uses, as a share of the logarithm of the number of leaves: where the
loss over the registry's own exemplars, left out one by one, is smallest (flat from 0.3 to 0.5)."""

TERMS_COUNTED: Final = 3
"""Key terms of one leaf that count, the rarest first: terms of one text don't speak independently."""

_Tokens: TypeAlias = tuple[str, ...]

_HAN: Final = r"\u3400-\u9fff\uf900-\ufaff"
_TOKEN: Final = re.compile(rf"[{_HAN}]|[^\W_{_HAN}]+")
_SHORTEST_INFLECTED: Final = 4
"""Shorter words are taken as they are: `gas` and `bus` are no plurals."""


class TermEvidence:
    """Find key terms, bounded by words where a script has them. Immutable, safe to use from several threads."""

    __slots__ = ("_columns", "_leaves", "_lengths", "_rarity")

    def __init__(self, registry: DomainRegistry) -> None:
        """Index the key terms of every leaf and how many leaves use each, in their key terms or exemplars.

        A single Chinese character is no term: it stands inside words of any domain.
        """
        columns: dict[_Tokens, set[int]] = {}
        for column, leaf in enumerate(registry.leaves):
            for written in _texts(registry.get(leaf).key_terms):
                tokens = tuple(_tokens(written))
                if len("".join(tokens)) > 1:
                    columns.setdefault(tokens, set()).add(column)
        self._leaves = len(registry.leaves)
        self._columns = columns
        self._lengths = _lengths_by_first_token(columns)
        users = {term: set(found) for term, found in columns.items()}
        for column, leaf in enumerate(registry.leaves):
            for exemplar in _texts(registry.get(leaf).exemplars):
                for term in self._found(exemplar):
                    users[term].add(column)
        self._rarity = {term: log(self._leaves / len(used)) for term, used in users.items()}

    def log_odds(self, texts: Sequence[str]) -> Matrix:
        """Return the evidence per text and leaf, at least 0, in nats; the last column, of no domain, is 0.

        A leaf's evidence is `TERM_EVIDENCE` times the sum over its `TERMS_COUNTED` rarest terms in the text of
        log(leaves / leaves that use the term). A term counts once, and of overlapping terms the longest.
        """
        evidence = np.zeros((len(texts), self._leaves + 1))
        for row, text in zip(evidence, texts, strict=True):
            by_column: dict[int, list[float]] = {}
            for term in self._found(text):
                for column in self._columns[term]:
                    by_column.setdefault(column, []).append(self._rarity[term])
            for column, rarities in by_column.items():
                row[column] = TERM_EVIDENCE * sum(sorted(rarities, reverse=True)[:TERMS_COUNTED])
        return evidence

    def _found(self, text: str) -> tuple[_Tokens, ...]:
        """The terms in a text, each once, in order; the longest at each place."""
        tokens = tuple(_tokens(text))
        found: dict[_Tokens, None] = {}
        # Most words begin no term, so that one look at each of them is all that is done.
        at = [place for place, token in enumerate(tokens) if token in self._lengths]
        end = 0
        for place in at:
            if place >= end:
                for length in self._lengths[tokens[place]]:
                    term = tokens[place : place + length]
                    if term in self._columns:
                        found[term] = None
                        end = place + length
                        break
        return tuple(found)


def _lengths_by_first_token(terms: Iterable[_Tokens]) -> dict[str, tuple[int, ...]]:
    """How many tokens the terms have that begin with each token, the most first."""
    lengths: dict[str, set[int]] = {}
    for term in terms:
        lengths.setdefault(term[0], set()).add(len(term))
    return {token: tuple(sorted(found, reverse=True)) for token, found in lengths.items()}


def _texts(by_language: Mapping[Lang, tuple[str, ...]]) -> Iterator[str]:
    for lang in LANGS:
        yield from by_language.get(lang, ())


def _tokens(text: str) -> Iterator[str]:
    """Words, case-folded and in the singular; each Chinese character is a token of its own."""
    return map(_singular, _TOKEN.findall(text.casefold()))


def _singular(word: str) -> str:
    """Cut a regular English plural; the same for key terms and texts, so that a wrong cut does no harm."""
    # Most words end in another letter: that is asked first.
    if word[-1] != "s" or len(word) < _SHORTEST_INFLECTED or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("ches", "shes", "sses", "xes", "zes")) else word[:-1]
