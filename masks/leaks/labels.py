"""Label texts with the knowledge domain they belong to.

Material is labelled once per section, seen with the rest of its document; a goal or a question is ranked for
planning; the leak detector labels every sentence of an output. All three use this one labeller, so that what counts
as a domain never depends on who asks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from masks.domains import DomainId, DomainRegistry
from masks.leaks.calibration import Calibration, probabilities
from masks.leaks.pooling import pooled, section_weights
from masks.leaks.scoring import ExemplarIndex, Matrix
from masks.leaks.terms import TermEvidence
from masks.ports import Embedder


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainDistribution:
    """Hold how likely a text belongs to each leaf, or to none; everything sums to 1."""

    leaves: tuple[DomainId, ...]
    """Every leaf of the registry, in the registry's order."""
    masses: tuple[float, ...]
    """One per leaf, in that order, and last that of `no domain at all`."""

    @property
    def probabilities(self) -> tuple[tuple[DomainId, float], ...]:
        """Return every leaf with its probability, in the registry's order."""
        return tuple(zip(self.leaves, self.masses[:-1], strict=True))

    @property
    def none(self) -> float:
        """Return the mass of `no domain at all`."""
        return self.masses[-1]

    def probability(self, domain: DomainId) -> float:
        """Return the probability of a leaf, 0 for a domain that is no leaf of the registry."""
        return self.masses[self.leaves.index(domain)] if domain in self.leaves else 0.0

    def best(self) -> tuple[DomainId, float]:
        """Return the most probable leaf with its probability; the first of the order on a tie."""
        place = max(range(len(self.leaves)), key=self.masses.__getitem__)
        return self.leaves[place], self.masses[place]


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainLabel:
    """Hold the decision about one text.

    Told apart: `domain` is set. Ambiguous below the parent: only `parent` is set. Unclassified: neither;
    such material is selectable on path 1 and never a leak (semantics 2).
    """

    domain: DomainId | None
    parent: DomainId | None
    """The parent of `domain`, or the parent under which the text could not be told apart."""
    probability: float
    """The probability of `domain`, of all leaves under `parent`, or of `none`."""
    margin: float
    """How far that probability leads the next."""
    distribution: DomainDistribution


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionText:
    """Hold one section of a document, to be labelled with the rest of it."""

    document: str
    """Identifies the document; sections with the same one inform each other."""
    excerpt: str
    """What is encoded: the headings above the section and its first words."""
    text: str
    """All of the section, where key terms are looked for."""


class RankedDomain(NamedTuple):
    """Pair a leaf with its probability."""

    domain: DomainId
    probability: float


class DomainLabeller:
    """Decide which domain a text belongs to, by its nearest exemplar sentences."""

    __slots__ = ("_branches", "_calibration", "_index", "_terms")

    def __init__(self, embedder: Embedder, registry: DomainRegistry, calibration: Calibration) -> None:
        """Encode the exemplars of `registry` once."""
        self._index = ExemplarIndex(embedder, registry)
        self._terms = TermEvidence(registry)
        self._calibration = calibration
        self._branches = _branches(registry)

    @property
    def registry(self) -> DomainRegistry:
        """Return the registry whose leaves are told apart."""
        return self._index.registry

    @property
    def calibration(self) -> Calibration:
        """Return the constants in use."""
        return self._calibration

    @property
    def embedder(self) -> Embedder:
        """Return the embedder in use."""
        return self._index.embedder

    def label(self, texts: Sequence[str], *, strict: bool = False) -> tuple[DomainLabel, ...]:
        """Return one label per text, in order. A text without a letter or digit is unclassified.

        `strict` is for the sentences of an output: it asks for the larger lead that calling a sentence a leak needs,
        and counts no key terms.
        """
        if not texts:
            return ()
        if strict:
            return tuple(self._decide(row, self._calibration.leak_margin) for row in self._mass(texts))
        mass = self._mass(texts, self._terms.log_odds(texts))
        return tuple(self._decide(row, self._calibration.margin) for row in mass)

    def label_sections(self, sections: Sequence[SectionText]) -> tuple[DomainLabel, ...]:
        """Return one label per section, in order; give all sections of a document together.

        A section's own distribution comes from its excerpt and the key terms in its text; it is then seen with the
        others of its document. A section whose excerpt holds no letter or digit is unclassified.
        """
        if not sections:
            return ()
        texts = [section.text for section in sections]
        own = self._mass([section.excerpt for section in sections], self._terms.log_odds(texts))
        mass = pooled(own, [section.document for section in sections], section_weights(texts))
        return tuple(self._decide(row, self._calibration.margin) for row in mass)

    def domains_of_text(self, text: str, limit: int = 5) -> tuple[RankedDomain, ...]:
        """Return up to `limit` leaves that lead `none`, most probable first; for planning.

        Empty if the text looks like no domain at all.
        """
        row = self._mass([text])[0]
        leaves = self.registry.leaves
        ranked = sorted(range(len(leaves)), key=lambda i: (-row[i], i))[:limit]
        return tuple(RankedDomain(leaves[i], float(row[i])) for i in ranked if row[i] > row[-1])

    def _mass(self, texts: Sequence[str], evidence: Matrix | None = None) -> Matrix:
        scores = self._index.scores(texts)
        mass = probabilities(scores, self._calibration.temperature, self._calibration.none_score)
        if evidence is not None:
            mass = mass * np.exp(evidence)
            mass /= mass.sum(axis=1, keepdims=True)
        blank = [row for row, text in enumerate(texts) if not any(map(str.isalnum, text))]
        if blank:
            mass[blank] = 0.0
            mass[blank, -1] = 1.0
        return mass

    def _decide(self, row: Matrix, margin: float) -> DomainLabel:
        leaves = self.registry.leaves
        masses: list[float] = row.tolist()
        distribution = DomainDistribution(leaves=leaves, masses=tuple(masses))
        first, lead = _leader(masses)
        if first < len(leaves) and lead >= margin:
            leaf = leaves[first]
            return DomainLabel(
                domain=leaf,
                parent=self.registry.parent_of(leaf),
                probability=masses[first],
                margin=lead,
                distribution=distribution,
            )
        return self._decide_branch(distribution, margin)

    def _decide_branch(self, distribution: DomainDistribution, margin: float) -> DomainLabel:
        masses = distribution.masses
        parents = tuple(self._branches)
        by_branch = [sum([masses[column] for column in columns]) for columns in self._branches.values()]
        first, lead = _leader([*by_branch, distribution.none])
        told = first < len(parents) and lead >= margin
        parent = parents[first] if told else None
        return DomainLabel(
            domain=None,
            parent=parent,
            probability=distribution.none if parent is None else by_branch[first],
            margin=lead,
            distribution=distribution,
        )


def _branches(registry: DomainRegistry) -> dict[DomainId | None, list[int]]:
    """Group leaf columns by direct parent; a leaf without parent forms no branch with others."""
    groups: dict[DomainId | None, list[int]] = {}
    for column, leaf in enumerate(registry.leaves):
        groups.setdefault(registry.parent_of(leaf), []).append(column)
    return groups


def _leader(masses: list[float]) -> tuple[int, float]:
    """Return the place of the largest mass, the first on a tie, and how far it leads the next."""
    largest = max(masses)
    first = masses.index(largest)
    return first, largest - max(masses[:first] + masses[first + 1 :])
