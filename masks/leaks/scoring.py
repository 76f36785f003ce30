"""Measure how near a text is to each knowledge domain, by its exemplar sentences and key terms."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from masks.domains import DomainRegistry, Lang
from masks.language import LANGS
from masks.ports import Embedder

Matrix: TypeAlias = NDArray[np.float64]
"""Two-dimensional, one row per text."""

NEAREST_EXEMPLARS: Final = 5
"""How many nearest exemplars of a domain are averaged. One alone follows a chance word; all of them, being
deliberately varied, blur the domain. Leave-one-out accuracy is flat from 5 on."""

TERMS_PER_NEAREST: Final = 6
"""One in so many key terms of a domain is averaged, the nearest ones: in proportion, so that a domain with a long
list is not nearer to everything than one with a short list."""

TERM_WEIGHT: Final = 0.4
"""Share of the key terms in a similarity: where leave-one-out accuracy levels off."""


ROWS_AT_ONCE: Final = 256
"""Texts that are compared in one go: the cosines of a folder of notes would fill hundreds of megabytes."""

PRODUCT_ROWS: Final = 16
"""Rows of the left side that one call of BLAS multiplies."""

PRODUCT_STEPS: Final = 2**18
"""Multiplications that one call of BLAS does at most. OpenBLAS does so many on the calling thread; for more it wakes
its own threads, which then spin for about a tenth of a second of processor time each, whatever there was to do, and
several callers wait for one another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeutralTexts:
    """Hold texts of no domain: headings, transitions, talk about the text itself."""

    key_terms: Mapping[Lang, tuple[str, ...]]
    exemplars: Mapping[Lang, tuple[str, ...]]


@cache
def neutral_texts() -> NeutralTexts:
    """Return the neutral texts that ship with the product, in both languages."""
    data = json.loads(files("masks").joinpath("leaks", "neutral.json").read_text(encoding="utf-8"))
    key_terms, exemplars = ({lang: tuple(data[part][lang]) for lang in LANGS} for part in _PARTS)
    return NeutralTexts(key_terms=key_terms, exemplars=exemplars)


_PARTS: Final = ("key_terms", "exemplars")


class ExemplarIndex:
    """Hold the vectors of every leaf's exemplars and key terms, and of the neutral texts, encoded once."""

    __slots__ = ("_embedder", "_exemplars", "_registry", "_terms")

    def __init__(self, embedder: Embedder, registry: DomainRegistry) -> None:
        """Encode all exemplars and key terms of `registry`, in two calls of `embedder`."""
        self._embedder = embedder
        self._registry = registry
        leaves = [registry.get(leaf) for leaf in registry.leaves]
        neutral = neutral_texts()
        exemplars = [*(leaf.exemplars for leaf in leaves), neutral.exemplars]
        terms = [*(leaf.key_terms for leaf in leaves), neutral.key_terms]
        self._exemplars = _Groups(exemplars, _exemplars_averaged, embedder)
        self._terms = _Groups(terms, _terms_averaged, embedder)

    @property
    def embedder(self) -> Embedder:
        """Return the embedder that the exemplars were encoded with."""
        return self._embedder

    @property
    def registry(self) -> DomainRegistry:
        """Return the registry whose leaves are the columns."""
        return self._registry

    def scores(self, texts: Sequence[str]) -> Matrix:
        """Return similarities in [-1, 1], shape (len(texts), leaves + 1); the last column is neutral.

        A similarity mixes the mean cosine to the nearest `NEAREST_EXEMPLARS` exemplars of the leaf with
        that to the nearest of its key terms, one in `TERMS_PER_NEAREST`, `TERM_WEIGHT` of the latter.
        Nothing is kept: several threads may call it as far as they may call the embedder.
        """
        if not texts:
            return np.zeros((0, len(self._registry.leaves) + 1))
        vectors = np.asarray(self._embedder.encode(list(texts)), dtype=np.float64)
        parts = (vectors[start : start + ROWS_AT_ONCE] for start in range(0, len(vectors), ROWS_AT_ONCE))
        mixed = [self._mix(self._exemplars.cosines(part), self._terms.cosines(part)) for part in parts]
        return mixed[0] if len(mixed) == 1 else np.concatenate(mixed)

    def leave_one_out(self) -> tuple[Matrix, NDArray[np.intp]]:
        """Score every exemplar against the others, without itself and without its twin.

        The twin is the nearest exemplar of the same domain in the other language. Exemplars are often
        written as translations, and with its translation in the index a sentence would always be right
        (0.90 instead of 0.64 for exemplars alone). The nearest key term of the same domain is hidden too:
        whoever wrote the sentence had the key terms before them.

        Returns the scores as `scores` does, and the true column of each row.
        """
        vectors = self._exemplars.vectors
        cosines = self._exemplars.cosines(vectors)
        np.fill_diagonal(cosines, -np.inf)
        twins = self._exemplars.twins(cosines)
        has_twin = twins >= 0
        cosines[np.flatnonzero(has_twin), twins[has_twin]] = -np.inf
        columns = self._exemplars.columns
        return self._mix(cosines, self._terms.without_nearest(self._terms.cosines(vectors), columns)), columns

    def _mix(self, exemplar_cosines: Matrix, term_cosines: Matrix) -> Matrix:
        exemplars = self._exemplars.nearest(exemplar_cosines)
        terms = self._terms.nearest(term_cosines)
        return (1.0 - TERM_WEIGHT) * exemplars + TERM_WEIGHT * terms


def inner_products(left: Matrix, right: Matrix) -> Matrix:
    """Return the inner product of each row of `left` with each row of `right`, shape (len(left), len(right)).

    Multiplied in blocks of at most `PRODUCT_ROWS` rows and `PRODUCT_STEPS` multiplications (one column at least), so
    that neither time nor the last bits depend on how many threads BLAS has.
    """
    products = np.empty((len(left), len(right)))
    for top in range(0, len(left), PRODUCT_ROWS):
        rows = left[top : top + PRODUCT_ROWS]
        width = max(1, PRODUCT_STEPS // max(1, rows.size))
        for start in range(0, len(right), width):
            out = products[top : top + PRODUCT_ROWS, start : start + width]
            np.matmul(rows, right[start : start + width].T, out=out)
    return products


class _Groups:
    """Hold the vectors of several groups of texts, each group in two languages."""

    __slots__ = ("_averaged", "_counts", "_languages", "_most", "_places", "columns", "vectors")

    def __init__(
        self,
        groups: Sequence[Mapping[Lang, tuple[str, ...]]],
        averaged: Callable[[int], int],
        embedder: Embedder,
    ) -> None:
        """Encode the texts; `averaged` says how many of a group's nearest texts count, given its size."""
        written = [
            [(text, number) for number, lang in enumerate(LANGS) for text in group[lang]] for group in groups
        ]
        texts = [text for group in written for text, _ in group]
        sizes = [len(group) for group in written]
        self._languages = np.array([number for group in written for _, number in group])
        self.vectors = np.asarray(embedder.encode(texts), dtype=np.float64)
        self.columns = np.repeat(np.arange(len(sizes), dtype=np.intp), sizes)
        # One row of places per group, filled up with a place behind the last text that is never near.
        self._places = np.full((len(sizes), max(sizes)), len(texts), dtype=np.intp)
        for row, start, size in zip(self._places, np.cumsum([0, *sizes]), sizes, strict=False):
            row[:size] = np.arange(start, start + size)
        counts = np.array([averaged(size) for size in sizes])
        self._counts = counts
        self._most = int(counts.max())
        self._averaged = np.arange(self._most) < counts[:, None]

    def cosines(self, vectors: Matrix) -> Matrix:
        return inner_products(vectors, self.vectors)

    def nearest(self, cosines: Matrix) -> Matrix:
        """Return the mean cosine to the nearest texts of each group, one column per group.

        A left-out text is -inf and does not count; a group without a text left has -1.
        """
        distances = np.full((len(cosines), cosines.shape[1] + 1), np.inf)
        near = np.negative(cosines, out=distances[:, :-1])
        ranked = np.sort(distances.take(self._places, axis=1), axis=-1)[..., : self._most]
        if np.isfinite(near).all():
            return np.asarray(np.where(self._averaged, ranked, 0.0).sum(axis=-1) / -self._counts)
        counted = np.isfinite(ranked) & self._averaged
        kept = counted.sum(axis=-1)
        total = np.where(counted, ranked, 0.0).sum(axis=-1)
        return np.where(kept > 0, -total / np.maximum(kept, 1), -1.0)

    def without_nearest(self, cosines: Matrix, columns: NDArray[np.intp]) -> Matrix:
        """Return the cosines with the nearest text of the group `columns[row]` hidden in each row."""
        own = np.where(self.columns[None, :] == columns[:, None], cosines, -np.inf)
        hidden = cosines.copy()
        hidden[np.arange(len(hidden)), own.argmax(axis=1)] = -np.inf
        return hidden

    def twins(self, cosines: Matrix) -> NDArray[np.intp]:
        """Return per text the nearest one of its group in the other language, -1 if there is none."""
        same_group = self.columns[:, None] == self.columns[None, :]
        other_language = self._languages[:, None] != self._languages[None, :]
        candidates = np.where(same_group & other_language, cosines, -np.inf)
        best = candidates.argmax(axis=1)
        found = np.isfinite(candidates[np.arange(len(best)), best])
        return np.where(found, best, -1)


def _exemplars_averaged(size: int) -> int:
    return min(size, NEAREST_EXEMPLARS)


def _terms_averaged(size: int) -> int:
    return max(1, round(size / TERMS_PER_NEAREST))
