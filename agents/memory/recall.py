"""Find what is remembered for a goal: words and meaning together, then a second look at what was found.

Ranks are fused as those of notes are (`agents.retrieval.index`). A store of memories always has a nearest one, so a hit
counts only when it shares words with the goal or means something near it (003 2.2: top-k, then filtered again).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from agents.memory.contract import Memory, Recalled
from agents.memory.ports import newest_first
from agents.retrieval.ranking import Bm25, Scores, reciprocal
from agents.retrieval.tokens import terms
from masks.ports import Embedder

RECALLED: Final = 5
"""Memories for one goal, beside as many preferences."""
MEANING_SHARE: Final = 0.3
"""Of the semantic list in the fusion, as for notes (`agents.retrieval.index.Weights`)."""
SHARED_TERMS: Final = 2
"""Distinct words of the goal that a memory has to hold, where meaning does not speak for it; fewer where the goal has
fewer."""
NEAR: Final = 0.4
"""Cosine from which on a memory is near a goal whose words it does not share, such as one in another language. With the
shipped embedder goals and solutions of one thing had 0.41 to 0.61 across English and Chinese, of others up to 0.27."""


def recall(
    memories: Sequence[Memory],
    query: str,
    *,
    now: str,
    embedder: Embedder | None = None,
    limit: int = RECALLED,
) -> tuple[Recalled, ...]:
    """Return the newest `limit` preferences, then the `limit` solutions and lessons that fit `query`, best first.

    What has expired at `now` is never found. Without an embedder words alone decide.
    """
    active = [memory for memory in memories if memory.active(now)]
    preferences = newest_first([memory for memory in active if memory.kind == "preference"])
    others = newest_first([memory for memory in active if memory.kind != "preference"])
    found = [Recalled(memory=memory, score=1.0) for memory in preferences[:limit]]
    return (*found, *_ranked(others, query, embedder)[:limit])


def _ranked(memories: Sequence[Memory], query: str, embedder: Embedder | None) -> list[Recalled]:
    if not memories or not query.strip():
        return []
    wanted = terms(query)
    words = [terms(f"{memory.task_class} {memory.text}") for memory in memories]
    cosines = _cosines(memories, query, embedder)
    scores = reciprocal(Bm25(words).scores(wanted)) + MEANING_SHARE * reciprocal(cosines)
    least = min(SHARED_TERMS, len(set(wanted)))
    fitting = [
        int(place)
        for place in np.argsort(-scores, kind="stable")
        if scores[place] > 0
        and (cosines[place] >= NEAR or (least and len(set(wanted) & set(words[place])) >= least))
    ]
    return [Recalled(memory=memories[place], score=float(scores[place])) for place in fitting]


def _cosines(memories: Sequence[Memory], query: str, embedder: Embedder | None) -> Scores:
    if embedder is None:
        return np.zeros(len(memories))
    vectors = embedder.encode([query, *(memory.text for memory in memories)])
    # einsum, not a BLAS product: the same bits on every machine and thread count.
    cosines: Scores = np.einsum("ij,j->i", vectors[1:], vectors[0]).astype(np.float64)
    return cosines
