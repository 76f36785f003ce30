"""Citation anchors: how a text of an output points at its claims.

A sentence is followed by the anchors of the claims that it states, `[^c-0123456789ab]`, and by its leak marker where
it has one. The delivered report turns anchors into numbers and a manifest; every other reader can find the claim.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from agents.evidence import Claim, ClaimId

_ANCHOR = re.compile(r"\[\^(c-[0-9a-f]{12})\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundAnchor:
    """One anchor and where it stands."""

    claim: ClaimId
    start: int
    end: int


def anchor(claim: ClaimId) -> str:
    """Return the anchor of a claim.

    >>> anchor(ClaimId("c-0123456789ab"))
    '[^c-0123456789ab]'
    """
    return f"[^{claim}]"


def find_anchors(text: str) -> tuple[FoundAnchor, ...]:
    """Return the anchors of `text` in order."""
    return tuple(
        FoundAnchor(claim=ClaimId(match[1]), start=match.start(), end=match.end())
        for match in _ANCHOR.finditer(text)
    )


def replace_anchors(text: str, render: Callable[[ClaimId], str]) -> str:
    """Return `text` with each anchor replaced by what `render` gives for its claim."""
    return _ANCHOR.sub(lambda match: render(ClaimId(match[1])), text)


def uncited(text: str, claims: Iterable[Claim]) -> tuple[ClaimId, ...]:
    """Return the claims that no anchor of `text` points at, in their order."""
    cited = {found.claim for found in find_anchors(text)}
    return tuple(claim.id for claim in claims if claim.id not in cited)
