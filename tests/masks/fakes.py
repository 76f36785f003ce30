"""A small registry and a deterministic embedder, so that the algebra is tested without a model."""

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from masks.domains import DomainId, DomainRegistry

DATABASES, SECURITY, COOKING, SPORT = map(
    DomainId, ("cs.databases", "cs.security", "life.food", "life.sport")
)


class NgramEmbedder:
    """Hash character 3-grams into a fixed number of buckets; equal texts have cosine 1, disjoint ones 0."""

    name = "fake-ngrams"
    version = "1"
    dimension = 4096

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append(tuple(texts))
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for start in range(len(text) - 2):
                row[zlib.crc32(text[start : start + 3].encode()) % self.dimension] += 1.0
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows /= np.maximum(lengths, 1e-9)
        return rows


def record(
    domain: str,
    *,
    parent: str | None = None,
    exemplars: Sequence[str] = (),
    aliases: Sequence[str] = (),
    zh: str = "",
) -> dict[str, object]:
    """Return a complete record; a leaf needs exemplars, which serve both languages and as key terms."""
    texts = {"en": list(exemplars), "zh": [f"{text}。" for text in exemplars]}
    return {
        "id": domain,
        "parent": parent,
        "names": {"en": f"The {domain} field", "zh": zh or f"{domain}领域"},
        "aliases": list(aliases),
        "descriptions": {"en": "A description.", "zh": "说明。"},
        "key_terms": texts if exemplars else {},
        "exemplars": texts if exemplars else {},
    }


def small_records() -> list[dict[str, object]]:
    """Return two branches with two leaves each, whose vocabularies don't overlap between branches."""
    return [
        record("cs"),
        record(
            DATABASES,
            parent="cs",
            aliases=["SQL", "数据库"],
            exemplars=["table index query", "query joins table rows", "transaction rollback query"],
        ),
        record(
            SECURITY,
            parent="cs",
            exemplars=["password firewall attack", "attacker steals password", "firewall blocks attacker"],
        ),
        record("life"),
        record(
            COOKING,
            parent="life",
            exemplars=["simmer onion soup", "dough in the oven", "onion dough simmer"],
        ),
        record(
            SPORT,
            parent="life",
            exemplars=["coach wins marathon", "marathon medal", "coach trains runners"],
        ),
    ]


def small_registry() -> DomainRegistry:
    """Return the registry of `small_records`."""
    return DomainRegistry.from_records(small_records())
