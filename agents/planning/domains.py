"""Which knowledge domains a sub-task needs, and how much (specification 2.2, semantics 1)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from agents.retrieval.tokens import terms
from masks.domains import DomainId, DomainRegistry
from masks.leaks.labels import RankedDomain

DomainRanker = Callable[[str], Sequence[RankedDomain] | None]
"""Ranks the leaves that a text belongs to, best first; empty for a text of no domain, `None` for one that the notes
don't speak of."""

MAX_DOMAINS_PER_NODE: Final = 4
"""Domains that one sub-task requires at most: what one designed agent may hold as MAIN."""

MIN_RELEVANCE: Final = 0.15
"""Relevance, against the strongest domain of the sub-task, below which a domain is not required."""

MIN_SHARE: Final = 0.05
"""The same for the notes at large: a summary of everything leaves out only what is hardly there."""

_OUTLINES_READ: Final = 3
"""Notes whose title and headings match a question best; their domains count."""

_HEADING_WEIGHT: Final = 0.5
"""Weight of all matching notes together against the words of the text themselves."""

_SMALLEST: Final = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOutline:
    """A table of a note as planning sees it: things by their properties."""

    about: str
    """What stands over it, and the name of the column that names its rows."""
    rows: tuple[str, ...]
    """What its rows are called."""
    columns: tuple[str, ...]
    """The names of its other columns that hold figures or short texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteOutline:
    """One note as planning sees it."""

    title: str
    headings: tuple[str, ...] = ()
    domains: Mapping[DomainId, float] = field(default_factory=dict)
    """Leaf to the number of sections that it holds, where the sections have been labelled; else empty."""
    trails: tuple[tuple[str, ...], ...] = ()
    """Of each section the titles down to it."""
    tables: tuple[TableOutline, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainFinder:
    """Finds the domains of a text among those that are not forbidden."""

    rank: DomainRanker
    registry: DomainRegistry
    outlines: tuple[NoteOutline, ...] = ()
    forbidden: frozenset[DomainId] = frozenset()
    """Leaves."""

    def of(self, text: str, limit: int = MAX_DOMAINS_PER_NODE) -> dict[str, float]:
        """Return the domains that a sub-task about `text` requires, with relevances in (0, 1].

        The strongest has 1; others count in proportion. The words of the text and the notes whose headings match
        it count alike. A text of no domain takes the domains of the notes at large; one that the notes don't speak
        of requires none, since no domain would open an answer.
        """
        ranked = self.rank(text)
        if ranked is None:
            return {}
        scores: dict[DomainId, float] = {}
        for found in ranked:
            _add(scores, found.domain, found.probability)
        for outline, weight in self._matching(text):
            for domain, share in self._domains_of(outline).items():
                _add(scores, domain, _HEADING_WEIGHT * weight * share)
        return self._relevances(scores or self._of_all(), limit, MIN_RELEVANCE)

    def everywhere(self) -> dict[str, float]:
        """Return all domains of the notes with relevances in (0, 1], strongest first; empty without notes."""
        return self._relevances(self._of_all(), len(self.registry.leaves), MIN_SHARE)

    def _relevances(self, scores: Mapping[DomainId, float], limit: int, least: float) -> dict[str, float]:
        allowed = {
            domain: score
            for domain, score in scores.items()
            if score > 0 and domain not in self.forbidden and self.registry.is_leaf(domain)
        }
        top = max(allowed.values(), default=0.0)
        ranked = sorted(allowed, key=lambda domain: (-allowed[domain], domain))
        relevances = {domain: round(allowed[domain] / top, 2) for domain in ranked}
        return {
            str(domain): max(_SMALLEST, relevance)
            for domain, relevance in list(relevances.items())[:limit]
            if relevance >= least
        }

    def _matching(self, text: str) -> list[tuple[NoteOutline, float]]:
        """Return the best matching notes with weights that sum to at most 1."""
        wanted = frozenset(terms(text))
        scored: list[tuple[float, int]] = []
        for position, outline in enumerate(self.outlines):
            offered = frozenset(terms(" ".join((outline.title, *outline.headings))))
            overlap = len(wanted & offered) / len(wanted) if wanted else 0.0
            if overlap > 0:
                scored.append((overlap, position))
        best = sorted(scored, key=lambda entry: (-entry[0], entry[1]))[:_OUTLINES_READ]
        return [(self.outlines[position], overlap / len(best)) for overlap, position in best]

    def _domains_of(self, outline: NoteOutline) -> Mapping[DomainId, float]:
        """Return the share of each domain in a note; the shares sum to 1, or none is known."""
        if outline.domains:
            total = sum(outline.domains.values())
            return (
                {domain: count / total for domain, count in sorted(outline.domains.items())} if total else {}
            )
        ranked = self.rank(" ".join((outline.title, *outline.headings))) or ()
        total = sum(found.probability for found in ranked)
        return {found.domain: found.probability / total for found in ranked} if total else {}

    def _of_all(self) -> dict[DomainId, float]:
        scores: dict[DomainId, float] = {}
        for outline in self.outlines:
            for domain, share in self._domains_of(outline).items():
                _add(scores, domain, share)
        return scores


def strongest(required: Sequence[Mapping[str, float]], limit: int = MAX_DOMAINS_PER_NODE) -> dict[str, float]:
    """Return the `limit` most relevant domains of several sub-tasks together, each with its highest relevance."""
    together: dict[str, float] = {}
    for domains in required:
        for domain, relevance in domains.items():
            together[domain] = max(relevance, together.get(domain, 0.0))
    ranked = sorted(together, key=lambda domain: (-together[domain], domain))
    return {domain: together[domain] for domain in ranked[:limit]}


def leaves_of(domains: Collection[DomainId], registry: DomainRegistry) -> frozenset[DomainId]:
    """Return all leaves at or below `domains`; raises `UnknownDomain`."""
    return frozenset(leaf for domain in domains for leaf in registry.leaves_under(domain))


def _add(scores: dict[DomainId, float], domain: DomainId, score: float) -> None:
    scores[domain] = scores.get(domain, 0.0) + score
