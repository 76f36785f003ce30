"""A ranker without a model: domains by how many of their key terms a text holds."""

from masks.domains import DomainId, DomainRegistry, default_registry
from masks.leaks.labels import RankedDomain

REGISTRY: DomainRegistry = default_registry()


def by_key_terms(text: str) -> tuple[RankedDomain, ...]:
    """Rank the leaves whose key terms occur in `text`; a tenth for each."""
    folded = text.casefold()
    counts: dict[DomainId, int] = {}
    for leaf in REGISTRY.leaves:
        words = [term for terms in REGISTRY.get(leaf).key_terms.values() for term in terms]
        counts[leaf] = sum(term.casefold() in folded for term in words)
    ranked = sorted((leaf for leaf in counts if counts[leaf]), key=lambda leaf: (-counts[leaf], leaf))
    return tuple(RankedDomain(leaf, counts[leaf] / 10) for leaf in ranked[:5])


def always(*domains: tuple[str, float]) -> "FixedRanker":
    """Return a ranker that gives the same for every text."""
    return FixedRanker(tuple(RankedDomain(DomainId(domain), weight) for domain, weight in domains))


class FixedRanker:
    """Ranks every text alike."""

    def __init__(self, ranked: tuple[RankedDomain, ...]) -> None:
        self._ranked = ranked

    def __call__(self, text: str) -> tuple[RankedDomain, ...]:
        return self._ranked if text else ()
