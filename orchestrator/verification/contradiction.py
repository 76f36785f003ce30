"""Level 1: does an output contradict itself on the surface (specification 4.4, third check).

Two claims that speak of the same things, word for word nearly, and differ in a number, a date or a negation. Precision
before recall: a difference in words is for a fact source, a model or a person to judge.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import ceil

from agents.evidence import Claim
from agents.retrieval.tokens import terms
from orchestrator.core.claims import Finding
from orchestrator.verification.ports import CheckOrder
from orchestrator.verification.quantities import Number, Quantities, quantities_of
from orchestrator.verification.statement import plain
from orchestrator.verification.wording import said

FEWEST_SHARED_TERMS = 2
"""Content words that two claims must have in common."""
SHARED_SHARE = 0.9
"""Share of the shorter claim's content words that the other must have too: one strange word in ten is let pass."""
LONGEST_RATIO = 2.0
"""A claim with more than this many times the other's content words says more, and is not compared."""


_LABEL = re.compile(
    r"\b(?:line|phase|unit|no|number|nr|section|table|figure|fig|step|version|chapter|article|annex|level|type|class|lot|"
    r"block|building|room|stage|option|item|part|zone|route|page|group|scenario|week|round|question|rule|paragraph|plant|"
    r"pump|site|station|area|district|model|case)s?\b\.?\s*(?:\d+(?:\.\d+)*|[A-Z]\b)|第\s*\d+\s*[\u4e00-\u9fff]|\d+\s*[号期#]",
    re.IGNORECASE | re.ASCII,
)
"""Says which one is meant: `line 2`, `3号`; claims with different labels speak of different things."""
_SCALES = frozenset(terms("hundred thousand million billion trillion"))


@dataclass(frozen=True)
class _Reading:
    """What a claim says; labels and quantities are read when another claim speaks of the same things."""

    claim: Claim
    text: str
    terms: frozenset[str]

    @cached_property
    def labels(self) -> frozenset[str]:
        return frozenset("".join(match.group().split()).casefold() for match in _LABEL.finditer(self.text))

    @cached_property
    def found(self) -> Quantities:
        return quantities_of(_LABEL.sub(" ", self.text))

    @property
    def fewest_shared(self) -> int:
        """How many terms a claim with at least as many must share with this one."""
        return max(FEWEST_SHARED_TERMS, ceil(SHARED_SHARE * len(self.terms)))


class ContradictionChecker:
    """Finds claims of one output that contradict each other, and the conflicts that the output itself declares."""

    name = "contradiction"

    def check(self, order: CheckOrder) -> tuple[Finding, ...]:
        """Return one finding per pair that contradicts itself and per declared conflict; all ask for level 2."""
        output, lang = order.result.output, order.lang
        declared = [set(conflict.claims) for conflict in output.conflicts]
        found = [
            Finding(
                code="conflict_declared",
                message=said(lang, en=f"shown as disputed: {c.about}", zh=f"已标明有分歧：{c.about}"),
                severity="uncertain",
            )
            for c in output.conflicts
        ]
        for one, other, what in contradictions(output.claims):
            if any({one.id, other.id} <= claims for claims in declared):
                continue
            message = said(
                lang,
                en=f"differ in {_WHAT[what]['en']}: {one.statement!r} / {other.statement!r}",
                zh=f"{_WHAT[what]['zh']}不一致：{one.statement!r} / {other.statement!r}",
            )
            found.extend(
                Finding(code="surface_contradiction", message=message, severity="uncertain", claim=claim.id)
                for claim in (one, other)
            )
        return tuple(found)


_WHAT = {
    "number": {"en": "a number", "zh": "数字"},
    "date": {"en": "a date", "zh": "日期"},
    "negation": {"en": "a negation", "zh": "否定"},
}


def contradictions(claims: Iterable[Claim]) -> Iterator[tuple[Claim, Claim, str]]:
    """Yield pairs of claims with what they differ in, `number`, `date` or `negation`, in the order of the claims.

    >>> from agents.evidence import claim_of
    >>> a = claim_of("n1", "The plant stores 32 MWh.", (), core=True)
    >>> b = claim_of("n1", "The plant stores 30 MWh.", (), core=True)
    >>> [what for _, _, what in contradictions([a, b])]
    ['number']
    """
    listed = tuple(claims)
    if len(listed) < 2:
        return
    readings = [_read(claim) for claim in listed]
    for first, second in _alike(readings):
        one, other = readings[first], readings[second]
        if one.labels == other.labels and one.found.names == other.found.names:
            what = _difference(one.found, other.found)
            if what is not None:
                yield one.claim, other.claim, what


def _read(claim: Claim) -> _Reading:
    text = plain(claim.statement)
    return _Reading(claim=claim, text=text, terms=frozenset(t for t in terms(text) if not _of_a_number(t)))


@lru_cache(maxsize=10_000)
def _of_a_number(term: str) -> bool:
    return term in _SCALES or term[0] in "十百千万亿" or any(char.isdigit() for char in term)


def _alike(readings: Sequence[_Reading]) -> list[tuple[int, int]]:
    """Return the pairs of places of claims that speak of the same things, in order.

    Two claims that share enough share one of the shorter's rarest terms: as many as it may lack, and one more. Only
    claims that share such a term are compared, so that not every claim is compared with every other.
    """
    using: dict[str, list[int]] = defaultdict(list)
    for place, reading in enumerate(readings):
        for term in reading.terms:
            using[term].append(place)
    pairs: list[tuple[int, int]] = []
    for place, shorter in enumerate(readings):
        size, needed = len(shorter.terms), shorter.fewest_shared
        by_rarity = sorted(shorter.terms, key=lambda term: (len(using[term]), term))
        telling = by_rarity[: size - needed + 1]
        for other in {other for term in telling for other in using[term]}:
            theirs = readings[other].terms
            # Of two claims as long as each other, the first looks for the second.
            looks = (size, place) < (len(theirs), other) and len(theirs) <= LONGEST_RATIO * size
            if looks and len(shorter.terms & theirs) >= needed:
                pairs.append((min(place, other), max(place, other)))
    return sorted(pairs)


def _difference(one: Quantities, other: Quantities) -> str | None:
    """Return the one thing that differs; two differences are two cases, not a contradiction."""
    left, right = _unmatched(one.numbers, other.numbers), _unmatched(other.numbers, one.numbers)
    dates = _dates_differ(one, other)
    if left and right:
        single = len(left) == len(right) == 1 and left[0].unit == right[0].unit
        return "number" if single and not dates else None
    if dates:
        return "date"
    same = len(one.numbers) == len(other.numbers) and len(one.dates) == len(other.dates)
    return "negation" if same and one.negated != other.negated else None


def _unmatched(mine: tuple[Number, ...], theirs: tuple[Number, ...]) -> list[Number]:
    """Return the numbers of one claim whose value the other does not have in that unit."""
    return [n for n in mine if not any(n.readings & m.readings and n.unit == m.unit for m in theirs)]


def _dates_differ(one: Quantities, other: Quantities) -> bool:
    left = [a for a in one.dates if not any(a.within(b) or b.within(a) for b in other.dates)]
    right = [b for b in other.dates if not any(a.within(b) or b.within(a) for a in one.dates)]
    return bool(left) and bool(right)
