"""Choose which facts level 2 traces: a seeded sample, core claims first (specification 4.4, semantics 4)."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence

from agents.evidence import ClaimId, EvidenceId
from orchestrator.verification.splitting import ClaimParts

SAMPLE_MIN_PERCENT = 30
"""Lower bound of the sample (specification 4.4, level 2)."""
SAMPLE_MAX_PERCENT = 50
"""Upper bound of the sample (specification 4.4, level 2)."""
SAMPLE_PERCENT = 40
"""Default share of the facts (semantics 4)."""


def sample_size(facts: int, percent: int = SAMPLE_PERCENT) -> int:
    """Return how many of `facts` to trace: the share rounded, within the bounds, at least one where there is one.

    Raises `ValueError` for a share outside the bounds.

    >>> [sample_size(n) for n in (0, 1, 2, 5, 10, 31)]
    [0, 1, 1, 2, 4, 12]
    """
    check_percent(percent)
    if facts <= 1:
        return max(0, facts)
    lowest = -(-facts * SAMPLE_MIN_PERCENT // 100)
    highest = facts * SAMPLE_MAX_PERCENT // 100
    return max(1, min(max((2 * facts * percent + 100) // 200, lowest), highest))


def check_percent(percent: int) -> int:
    """Return `percent`; raises `ValueError` outside the bounds of the specification."""
    if not SAMPLE_MIN_PERCENT <= percent <= SAMPLE_MAX_PERCENT:
        raise ValueError(
            f"sample of {percent!r} percent is outside the accepted {SAMPLE_MIN_PERCENT} to {SAMPLE_MAX_PERCENT}; "
            f"choose a whole number in that range, {SAMPLE_PERCENT} by default"
        )
    return percent


def sample_facts(
    parts: Sequence[ClaimParts],
    seed: str,
    *,
    percent: int = SAMPLE_PERCENT,
    all_core: bool = False,
    always: Collection[ClaimId] = (),
) -> tuple[EvidenceId, ...]:
    """Return the facts to trace, in the order of tracing, the same for the same arguments.

    Claims are taken whole, so that a sample completes claims instead of touching many: core claims first, each class
    in an order that `seed` decides. With `all_core` (a terminal sub-task) every fact of a core claim is taken, however
    many; the facts of the claims in `always` (those that level 1 found fault with) come on top of the sample.
    """
    order = sorted(parts, key=lambda part: (not part.claim.core, _draw(seed, part.claim.id)))
    facts = list(_distinct(order))
    needed = len(set(_distinct(part for part in order if part.claim.core))) if all_core else 0
    taken = facts[: max(sample_size(len(facts), percent), needed)]
    flagged = _distinct(part for part in order if part.claim.id in always)
    return tuple(dict.fromkeys((*taken, *flagged)))


def _distinct(parts: Iterable[ClaimParts]) -> dict[EvidenceId, None]:
    return dict.fromkeys(fact for part in parts for fact in part.facts)


def _draw(seed: str, claim: ClaimId) -> bytes:
    return hashlib.sha256(f"{seed}\n{claim}".encode()).digest()
