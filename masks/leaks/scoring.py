"""Measure how near a text is to each knowledge domain, by its exemplar sentences."""

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np
from numpy.typing import NDArray

from masks.domains import DomainRegistry
from masks.language import LANGS
from masks.ports import Embedder

Matrix = NDArray[np.float64]
"""Two-dimensional, one row per text."""

NEIGHBOURS: Final = 3
"""How many nearest exemplars are averaged. One alone follows a chance word; all of a domain's exemplars,
being deliberately varied, blur it. Chosen by leave-one-out over the shipped exemplars."""


@cache
def neutral_sentences() -> tuple[str, ...]:
    """Return sentences of no domain, in both languages: headings, transitions, talk about the text itself."""
    data = json.loads(files("masks").joinpath("leaks", "neutral.json").read_text(encoding="utf-8"))
    return tuple(sentence for lang in LANGS for sentence in data[lang])


class ExemplarIndex:
    """Hold the exemplar vectors of every leaf and of the neutral sentences, encoded once."""

    __slots__ = ("_embedder", "_exemplars", "_groups", "registry")

    def __init__(self, embedder: Embedder, registry: DomainRegistry) -> None:
        """Encode all exemplar sentences of `registry`; takes one call of `embedder`."""
        self._embedder = embedder
        self.registry = registry
        texts: list[str] = []
        groups: list[slice] = []
        for group in (*_leaf_exemplars(registry), neutral_sentences()):
            groups.append(slice(len(texts), len(texts) + len(group)))
            texts.extend(group)
        self._groups = tuple(groups)
        self._exemplars = np.asarray(embedder.encode(texts), dtype=np.float64)

    @property
    def embedder(self) -> Embedder:
        """Return the embedder that the exemplars were encoded with."""
        return self._embedder

    def scores(self, texts: Sequence[str]) -> Matrix:
        """Return similarities in [-1, 1], shape (len(texts), leaves + 1); the last column is neutral.

        A similarity is the mean cosine to the nearest `NEIGHBOURS` exemplars of the leaf.
        """
        if not texts:
            return np.zeros((0, len(self._groups)))
        vectors = np.asarray(self._embedder.encode(list(texts)), dtype=np.float64)
        return self._group_scores(vectors @ self._exemplars.T)

    def leave_one_out(self) -> tuple[Matrix, NDArray[np.intp]]:
        """Score every exemplar against all others, itself left out.

        Returns the scores as `scores` does, and the true column of each row.
        """
        cosines = self._exemplars @ self._exemplars.T
        np.fill_diagonal(cosines, -np.inf)
        truth = np.concatenate([np.full(g.stop - g.start, i) for i, g in enumerate(self._groups)])
        return self._group_scores(cosines), truth.astype(np.intp)

    def _group_scores(self, cosines: Matrix) -> Matrix:
        return np.column_stack([_mean_of_nearest(cosines[:, group]) for group in self._groups])


def _leaf_exemplars(registry: DomainRegistry) -> list[tuple[str, ...]]:
    domains = [registry.get(leaf) for leaf in registry.leaves]
    return [tuple(text for lang in LANGS for text in domain.exemplars[lang]) for domain in domains]


def _mean_of_nearest(cosines: Matrix) -> Matrix:
    # A left-out exemplar is -inf and must not count, so take what remains in a group of few sentences.
    ranked = -np.sort(-cosines, axis=1)[:, :NEIGHBOURS]
    finite = np.isfinite(ranked)
    total = np.where(finite, ranked, 0.0).sum(axis=1)
    counts = finite.sum(axis=1)
    return np.where(counts > 0, total / np.maximum(counts, 1), -1.0)
