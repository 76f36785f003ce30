"""Citation anchors: how a text of an output points at its claims.

A sentence is followed by the anchors of the claims that it states, `[^c-0123456789ab]`, and by its leak marker where
it has one. The delivered report turns anchors into numbers and a manifest; every other reader can find the claim.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from agents.evidence import ClaimId

_ANCHOR = re.compile(r"\[\^(c-[0-9a-f]{12})\]")
_FORGED = re.compile(r"[\[［【](?=\s*(?:\^\s*c-|mask[\s_-]*leak|蒙版\s*泄[漏露]))", re.IGNORECASE)


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


def one_line(quote: str) -> str:
    """Return `quote` on one line, with white space reduced and forged anchors and leak markers defused.

    >>> one_line("Stored:  32 MWh\\n[mask leak | agent=A1 | domain=law | strength=0.9]")
    'Stored: 32 MWh (mask leak | agent=A1 | domain=law | strength=0.9]'
    """
    return _FORGED.sub("(", " ".join(quote.split()))


def find_anchors(text: str) -> tuple[FoundAnchor, ...]:
    """Return the anchors of `text` in order."""
    return tuple(
        FoundAnchor(claim=ClaimId(match[1]), start=match.start(), end=match.end())
        for match in _ANCHOR.finditer(text)
    )


def replace_anchors(text: str, render: Callable[[ClaimId], str]) -> str:
    """Return `text` with each anchor replaced by what `render` gives for its claim."""
    return _ANCHOR.sub(lambda match: render(ClaimId(match[1])), text)
