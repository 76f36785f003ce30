"""Rank texts by words, and turn scores of any scale into shares of a rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

RANK_CONSTANT = 20.0
"""Of reciprocal rank fusion: how quickly a lower rank stops to matter."""
POOL = 60
"""Ranks of each list that take part in the fusion."""

Scores = NDArray[np.float64]


class Bm25:
    """BM25 over lists of terms (bm25s, Lucene's variant), any number of documents."""

    def __init__(self, documents: list[tuple[str, ...]]) -> None:
        self._size = len(documents)
        self._known = {term for found in documents for term in found}
        self._model: Any = None
        if self._known:
            import bm25s  # noqa: PLC0415  (start-up time)

            self._model = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
            self._model.index([list(found) for found in documents], show_progress=False)

    def scores(self, wanted: Sequence[str]) -> Scores:
        """Return one score for each list, 0 where it holds none of `wanted`."""
        known = [term for term in wanted if term in self._known]
        if not known:
            return np.zeros(self._size)
        return np.asarray(self._model.get_scores(known), dtype=np.float64)


def reciprocal(scores: Scores) -> Scores:
    """Return 1 / (constant + rank) for the best `POOL` positive scores, scaled so that rank 0 gives 1; else 0."""
    ranked = np.zeros(len(scores))
    order = np.argsort(-scores, kind="stable")[:POOL]
    for rank, index in enumerate(order):
        if scores[index] <= 0:
            break
        ranked[index] = RANK_CONSTANT / (RANK_CONSTANT + rank)
    return ranked
