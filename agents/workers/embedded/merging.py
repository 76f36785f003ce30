"""Bring claims that say the same together: repeated ones are merged, independent ones confirm each other.

Two claims say the same if their texts are equal but for case, punctuation, markup and spacing, or if one holds nearly
only the other's words; numbers and negations must be the same ones. Different wording is never merged: telling a
paraphrase from another fact is not a matter of similar words.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from agents.evidence import Claim, ClaimId
from agents.results import Conflict
from agents.retrieval.tokens import words
from agents.workers.embedded.carried import Carried, with_marks_of

CONTAINED_SHARE: Final = 0.9
"""Share of the longer claim's words that the shorter one must have, all of its own being among them."""

_NOT_ALNUM = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nor|neither|without|cannot)\b|n['’]t\b|[不未没無无非勿禁]|停止|取消",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One thing that is said, by one claim or by several of independent sources."""

    claims: tuple[Claim, ...]
    """The claim whose words are shown comes first."""

    @property
    def shown(self) -> Claim:
        """Return the claim whose words are shown."""
        return self.claims[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """Statements, and what became of the claims that only repeated another."""

    statements: tuple[Statement, ...]
    """In the order in which their first claim was given."""
    dropped: Mapping[ClaimId, ClaimId]
    """The claim that stands for each one left out."""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Return the claims that are kept, statement by statement."""
        return tuple(claim for statement in self.statements for claim in statement.claims)


def merge(claims: Sequence[Claim], carried: Carried) -> Merged:
    """Return what `claims` (of one question) say, each thing once.

    Of claims that say the same, those resting on the same evidence or on the same independent sources are one: the
    claim of the original source stays, with the leak marks of all. Claims of independent sources stay side by side.
    """
    dropped: dict[ClaimId, ClaimId] = {}
    statements: list[Statement] = []
    for group in _groups(claims):
        kept = _one_per_source(group, carried, dropped)
        kept.sort(key=lambda claim: _preference(claim, carried))
        statements.append(Statement(claims=tuple(kept)))
    still_kept = {claim.id for statement in statements for claim in statement.claims}
    return Merged(
        statements=tuple(statements),
        dropped={claim: kept for claim, kept in dropped.items() if claim not in still_kept},
    )


def restated(
    conflicts: Iterable[Conflict], statements: Iterable[Statement], dropped: Mapping[ClaimId, ClaimId]
) -> tuple[Conflict, ...]:
    """Return `conflicts` in terms of the shown claims of `statements`; one without two sides among them is left out."""
    shown = {claim.id: statement.shown.id for statement in statements for claim in statement.claims}
    found = []
    for conflict in conflicts:
        sides = (shown.get(dropped.get(claim, claim)) for claim in conflict.claims)
        claims = tuple(dict.fromkeys(side for side in sides if side is not None))
        if len(claims) > 1:
            found.append(Conflict(about=conflict.about, claims=claims))
    return tuple(found)


def says_the_same(a: str, b: str) -> bool:
    """Return whether two sentences say the same by the rule of this module.

    >>> says_the_same("The plant stores 32 MWh.", "the plant **stores** 32 MWh")
    True
    >>> says_the_same("The plant stores 32 MWh.", "The plant stores 30 MWh.")
    False
    """
    first, second = _fingerprint(a), _fingerprint(b)
    if a == b or (first.letters and first.letters == second.letters):
        return True
    if first.numbers != second.numbers or first.negations != second.negations:
        return False
    short, long = sorted((first.words, second.words), key=Counter.total)
    return not short - long and short.total() >= CONTAINED_SHARE * long.total() and short.total() > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fingerprint:
    letters: str
    words: Counter[str]
    numbers: tuple[str, ...]
    negations: int


@lru_cache(maxsize=20_000)
def _fingerprint(text: str) -> _Fingerprint:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _Fingerprint(
        letters=_NOT_ALNUM.sub("", folded)
        if not _NUMBER.search(folded)
        else " ".join(folded.split()).strip(" .。；;"),
        words=Counter(words(folded)),
        numbers=tuple(sorted(_NUMBER.findall(folded))),
        negations=len(_NEGATION.findall(folded)),
    )


def _groups(claims: Sequence[Claim]) -> list[list[Claim]]:
    """Group claims that say the same, in the order of their first; only those with the same numbers can."""
    groups: list[list[Claim]] = []
    by_numbers: dict[tuple[str, ...], list[list[Claim]]] = {}
    for claim in claims:
        near = by_numbers.setdefault(_fingerprint(claim.statement).numbers, [])
        home = next((g for g in near if any(says_the_same(claim.statement, c.statement) for c in g)), None)
        if home is None:
            home = []
            groups.append(home)
            near.append(home)
        home.append(claim)
    return groups


def _one_per_source(group: Sequence[Claim], carried: Carried, dropped: dict[ClaimId, ClaimId]) -> list[Claim]:
    by_source: dict[frozenset[object], list[Claim]] = {}
    for claim in group:
        roots: frozenset[object] = carried.roots(claim) or frozenset({claim.id})
        by_source.setdefault(roots, []).append(claim)
    kept: list[Claim] = []
    for same in by_source.values():
        best = min(same, key=lambda claim: _preference(claim, carried))
        for claim in same:
            if claim.id != best.id:
                dropped[claim.id] = best.id
        for claim in same:
            best = with_marks_of(best, claim)
        kept.append(best)
    return kept


def _preference(claim: Claim, carried: Carried) -> tuple[bool, bool, int, str]:
    pieces = (carried.evidence.get(piece) for piece in claim.evidence)
    sources = [carried.sources.get(piece.source) for piece in pieces if piece]
    repeats = any(source.copy_of for source in sources if source)
    return repeats, not claim.core, -len(claim.statement), claim.id
