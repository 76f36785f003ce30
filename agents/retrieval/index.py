"""Find the sections of a corpus that answer a query: words and meaning together.

Two lexical scores (BM25 over sections, and over sentence units with their heading) and one semantic (cosine of
section embeddings) are fused by reciprocal ranks, so that no score's scale decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from agents.retrieval.ranking import Bm25, Scores, reciprocal
from agents.retrieval.reading import Document
from agents.retrieval.sections import Section, sections_of
from agents.retrieval.sentences import Unit, units_of
from agents.retrieval.tokens import terms
from masks.ports import Embedder

EMBEDDED_CHARS = 160
"""Characters of a section (after its heading) that its embedding stands for."""
EXCERPT_CHARS = 420


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Shares of the three lists in the fusion."""

    section: float = 1.0
    unit: float = 1.0
    meaning: float = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A section of the corpus with its units."""

    document: Document
    section: Section
    units: tuple[Unit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A section that matches a query."""

    entry: int
    """Position in `NoteIndex.entries`."""
    score: float
    """Fused score, above 0; comparable within one query only."""
    cosine: float
    """Similarity of meaning between query and section, in [-1, 1]; 0 without an embedder."""
    best_unit: int | None
    """Position of the unit that matches best by words, in the entry's units."""


class NoteIndex:
    """An immutable hybrid index over documents."""

    def __init__(self, documents: Sequence[Document], embedder: Embedder | None) -> None:
        self.entries = tuple(
            Entry(document=document, section=section, units=units_of(document, section))
            for document in documents
            for section in sections_of(document)
        )
        self._embedder = embedder
        section_terms = [section_terms_of(entry) for entry in self.entries]
        self._frequency = Counter(term for found in section_terms for term in set(found))
        self._sections = Bm25(section_terms)
        self._owner: list[tuple[int, int]] = []
        unit_terms: list[tuple[str, ...]] = []
        for position, entry in enumerate(self.entries):
            heading = terms(entry.section.heading)
            for number, unit in enumerate(entry.units):
                self._owner.append((position, number))
                unit_terms.append((*heading, *terms(unit.text)))
        self._units = Bm25(unit_terms)
        self._vectors: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.entries)

    def rarity(self, term: str) -> float:
        """Return the inverse document frequency of `term` over sections, above 0; highest for unseen terms."""
        return log(1 + (len(self.entries) + 1) / (self._frequency.get(term, 0) + 0.5))

    def frequency(self, term: str) -> int:
        """Return the number of sections that hold `term`."""
        return self._frequency.get(term, 0)

    def search(
        self, query: str, limit: int, offset: int = 0, weights: Weights | None = None
    ) -> tuple[Hit, ...]:
        """Return the hits at ranks `offset` to `offset + limit`, best first; ties by position in the corpus."""
        shares = weights or Weights()
        wanted = terms(query)
        if not self.entries:
            return ()
        by_section = self._sections.scores(wanted)
        by_unit, best = self._best_units(self._units.scores(wanted))
        cosines = self._cosines(query)
        fused = (
            shares.section * reciprocal(by_section)
            + shares.unit * reciprocal(by_unit)
            + shares.meaning * reciprocal(cosines)
        )
        order = [int(i) for i in np.argsort(-fused, kind="stable") if fused[i] > 0]
        return tuple(
            Hit(entry=i, score=float(fused[i]), cosine=float(cosines[i]), best_unit=best.get(i))
            for i in order[offset : offset + limit]
        )

    def _best_units(self, scores: Scores) -> tuple[Scores, dict[int, int]]:
        best: dict[int, int] = {}
        top = np.zeros(len(self.entries))
        for index in np.nonzero(scores > 0)[0]:
            position, number = self._owner[int(index)]
            if scores[index] > top[position]:
                top[position] = scores[index]
                best[position] = number
        return top, best

    def _cosines(self, query: str) -> Scores:
        if self._embedder is None or not query.strip():
            return np.zeros(len(self.entries))
        if self._vectors is None:
            self._vectors = self._embedder.encode([embedded_text(entry) for entry in self.entries])
        vector = self._embedder.encode([query])[0]
        # einsum, not a BLAS product: the same bits on every machine and thread count.
        cosines: Scores = np.einsum("ij,j->i", self._vectors, vector).astype(np.float64)
        return cosines


def section_terms_of(entry: Entry) -> tuple[str, ...]:
    """Return the terms that a section is found by: its headings and its text."""
    section = entry.section
    return (
        *terms(entry.document.source.title),
        *terms(section.heading),
        *terms(entry.document.text[section.start_char : section.end_char]),
    )


def embedded_text(entry: Entry) -> str:
    """Return the text that a section's embedding stands for: its headings and the start of its prose."""
    prose = [unit.text for unit in entry.units if unit.kind != "code"]
    return f"{entry.section.heading}. {' '.join(prose)}"[: len(entry.section.heading) + EMBEDDED_CHARS]
