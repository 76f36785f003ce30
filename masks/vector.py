"""Hold one agent's mask: one value per knowledge domain, versioned, with its history."""

import hashlib
import json
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from pydantic import ConfigDict

from masks.bands import DEFAULT_THRESHOLDS, Band, Thresholds, band, check_m100
from masks.domains import DomainId, DomainRegistry
from masks.errors import MaskShapeError, UnknownDomain

MaskOperation: TypeAlias = Literal["set", "raise", "lower", "extend", "suppress", "undo"]
"""set: to a given value; raise, lower: by an amount; extend: silent to background; suppress: to -1; undo."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskChange:
    """Record one changed value of one domain."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    version: int
    """The version of the mask that this change made; changes of one operation share it."""
    domain: DomainId
    old: int
    """Hundredths before."""
    new: int
    """Hundredths after."""
    author: str
    """Who changed it: a person, or the part of the system that decided."""
    reason: str
    operation: MaskOperation


@dataclass(frozen=True, slots=True, kw_only=True)
class Mask:
    """Hold the mask m(agent, .) in sparse canonical form.

    A domain that is not listed has the value 0 (DORMANT). Build one with `new_mask`; change one with
    `masks.gradient`. Raises `MaskShapeError` if the values are unsorted, repeated or zero, or the version
    is below 1 or below the newest change, and `MaskValueError` for a value outside -100..100.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    agent: str
    version: int = 1
    """1 as designed, one more with every operation."""
    values: tuple[tuple[DomainId, int], ...] = ()
    """(leaf, hundredths), sorted by leaf, zeros left out."""
    changes: tuple[MaskChange, ...] = ()
    """All changes since the design, oldest first."""

    def __post_init__(self) -> None:
        domains = [domain for domain, _ in self.values]
        if any(left >= right for left, right in pairwise(domains)):
            raise _shape(self.agent, "values", domains, "sorted by domain, each domain once")
        for domain, m100 in self.values:
            if check_m100(m100) == 0:
                raise _shape(self.agent, "values", domain, "no zero (0 is the value of an unlisted domain)")
        newest = max((change.version for change in self.changes), default=1)
        if self.version < newest:
            raise _shape(self.agent, "version", self.version, f"at least {newest}")

    def value(self, domain: DomainId) -> int:
        """Return the hundredths of a leaf, 0 if it is not listed. Whether the leaf exists is not checked."""
        place = bisect_left(self.values, domain, key=lambda entry: entry[0])
        if place < len(self.values) and self.values[place][0] == domain:
            return self.values[place][1]
        return 0

    def band(self, domain: DomainId, thresholds: Thresholds = DEFAULT_THRESHOLDS) -> Band:
        """Return the band of a leaf. Whether the leaf exists is not checked."""
        return band(self.value(domain), thresholds)

    def check_against(self, registry: DomainRegistry) -> None:
        """Raise `UnknownDomain` for the first listed domain that is no leaf of the registry."""
        for domain, _ in self.values:
            if not registry.is_leaf(domain):
                raise UnknownDomain(domain, registry.close_matches(domain))

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the values alone: two agents with equal masks have equal digests."""
        canonical = json.dumps(list(self.values), ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()


def new_mask(agent: str, values: Mapping[DomainId, int] | Iterable[tuple[DomainId, int]] = ()) -> Mask:
    """Return version 1 of a mask; order and zeros of `values` do not matter.

    Raises `MaskValueError` for a value outside -100..100.
    """
    return Mask(agent=agent, values=canonical_values(dict(values)))


def canonical_values(values: Mapping[DomainId, int]) -> tuple[tuple[DomainId, int], ...]:
    """Return the sparse, sorted form of `values`.

    Raises `MaskValueError` for a value outside -100..100.
    """
    return tuple(sorted((domain, m100) for domain, m100 in values.items() if check_m100(m100) != 0))


def _shape(agent: str, field: str, got: object, accepted: str) -> MaskShapeError:
    return MaskShapeError(
        en=(
            f"Mask of agent {agent!r}: {field} {got!r} is not canonical. Accepted: {accepted}. "
            f"Build it with `masks.vector.new_mask`."
        ),
        zh=(
            f"agent {agent!r} 的蒙版：{field} {got!r} 不是规范形式。可接受：{accepted}。"
            f"请用 `masks.vector.new_mask` 构造。"
        ),
    )
