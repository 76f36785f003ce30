"""Find texts that repeat each other, so that a copy never counts as a second witness.

Texts are compared by their shingles (runs of words): the share of the shorter text's shingles that the longer one
holds too. Changing a number or two leaves most shingles as they are, so a copy with another value is still found;
`carries_same_numbers` tells both apart.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from agents.evidence import SourceId
from agents.retrieval.reading import Document
from agents.retrieval.tokens import words

SHINGLE_WORDS = 5
"""Words in a row that independent authors rarely share."""
COPY_SHARE = 0.5
"""From this share of its shingles on, a document counts as a copy: most of it is not its author's."""
PASSAGE_SHARE = 0.6
"""The same for a single passage, where a changed figure already breaks five shingles."""
SHORT_TEXT_SHINGLES = 16
"""Texts with fewer shingles share some because they speak of one thing: `SHORT_TEXT_SHARE` holds for them."""
SHORT_TEXT_SHARE = 0.9
_FEW_SHINGLES = 4
"""Below this number of shingles, equality of words decides."""

Shingles = frozenset[tuple[str, ...]]

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def shingles(text: str) -> Shingles:
    """Return the runs of `SHINGLE_WORDS` words of `text`."""
    found = words(text)
    return frozenset(found[i : i + SHINGLE_WORDS] for i in range(len(found) - SHINGLE_WORDS + 1))


def containment(first: Shingles, second: Shingles) -> float:
    """Return the share of the smaller set that the other holds too, in [0, 1]; 0 if one is empty."""
    smaller = min(len(first), len(second))
    return len(first & second) / smaller if smaller else 0.0


def repeats(first: str, second: str) -> bool:
    """Return whether one of two passages repeats the other's words."""
    a, b = shingles(first), shingles(second)
    if min(len(a), len(b)) < _FEW_SHINGLES:
        return words(first) == words(second)
    return containment(a, b) >= _needed(min(len(a), len(b)), PASSAGE_SHARE)


def carries_same_numbers(first: str, second: str) -> bool:
    """Return whether two passages name the same numbers, in any order."""
    return sorted(_NUMBER.findall(first)) == sorted(_NUMBER.findall(second))


def copies_among(documents: Sequence[Document]) -> Mapping[SourceId, SourceId]:
    """Return, for each document that repeats another, the first one (by order) of its group.

    Groups are transitive: a copy of a copy belongs to the first original. Front matter and headings count as text.
    """
    sets = [shingles(document.text) for document in documents]
    parent = list(range(len(documents)))

    def root(index: int) -> int:
        while parent[index] != index:
            index = parent[index]
        return index

    for (first, second), shared in sorted(_shared_counts(sets).items()):
        smaller = min(len(sets[first]), len(sets[second]))
        if shared / smaller >= _needed(smaller, COPY_SHARE):
            a, b = sorted((root(first), root(second)))
            parent[b] = a
    return {
        documents[index].source.id: documents[root(index)].source.id
        for index in range(len(documents))
        if root(index) != index
    }


def _needed(size: int, share: float) -> float:
    return share if size >= SHORT_TEXT_SHINGLES else SHORT_TEXT_SHARE


def _shared_counts(sets: Sequence[Shingles]) -> dict[tuple[int, int], int]:
    holders: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, found in enumerate(sets):
        for shingle in found:
            holders[shingle].append(index)
    shared: dict[tuple[int, int], int] = defaultdict(int)
    for held in holders.values():
        for position, first in enumerate(held):
            for second in held[position + 1 :]:
                shared[first, second] += 1
    return shared
