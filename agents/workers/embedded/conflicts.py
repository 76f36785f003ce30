"""Find claims of independent sources that give different values for the same quantity.

Precision before recall: two sentences disagree only if they speak of nearly the same things and differ in exactly
one number or date; one of the same form about another thing is no contradiction. Contradictions in words are for a
model or a person to see.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import combinations
from typing import Final

from agents.evidence import Claim, ClaimId
from agents.results import Conflict
from agents.retrieval.tokens import terms
from agents.workers.embedded.carried import Carried
from agents.workers.embedded.instructions import gives_orders
from agents.workers.embedded.merging import Statement
from agents.workers.embedded.other_things import of_other_things
from agents.workers.embedded.quantities import PLAIN, Quantities, nearly_equal, read_quantities

SHARED_TERMS: Final = 0.75
"""Share of the content words of the shorter sentence that the other must have too."""
SHARED_TERMS_OF_ONE_QUESTION: Final = 0.6
"""The same for two claims that answer the same question."""
FEWEST_SHARED: Final = 2
"""Content words that two sentences must have in common at least."""

_NAME = re.compile(r"(?<![.!?。！？]\s)(?<!^)\b[A-Z][A-Za-z]{1,}\b")


def find_conflicts(statements: Sequence[Statement], carried: Carried) -> tuple[Conflict, ...]:
    """Return the disagreements among `statements`, each with the claims of all its sides, in their order.

    A statement that disagrees with several others makes one conflict with all of them. One that gives orders to an
    automated reader is no side of any: what it says was planted.
    """
    sides: dict[ClaimId, set[ClaimId]] = {}
    valued = [statement.shown for statement in statements if _is_side(statement.shown)]
    roots = {claim.id: carried.roots(claim) for claim in valued}
    for a, b in combinations(valued, 2):
        if not roots[a.id] & roots[b.id] and disagree(a, b):
            sides.setdefault(a.id, {a.id}).add(b.id)
    order = {statement.shown.id: n for n, statement in enumerate(statements)}
    merged: list[set[ClaimId]] = []
    for side in sides.values():
        overlapping = [known for known in merged if known & side]
        merged = [known for known in merged if not known & side]
        merged.append(side.union(*overlapping))
    groups = sorted((sorted(group, key=order.__getitem__) for group in merged), key=lambda g: order[g[0]])
    by_id = {statement.shown.id: statement.shown for statement in statements}
    return tuple(
        Conflict(about=_about([by_id[claim] for claim in group]), claims=tuple(group)) for group in groups
    )


def without_parts(conflicts: Iterable[Conflict]) -> tuple[Conflict, ...]:
    """Return `conflicts` in order, without those whose sides all stand in another one."""
    kept: list[Conflict] = []
    for conflict in conflicts:
        sides = set(conflict.claims)
        if not any(sides <= set(known.claims) for known in kept):
            kept = [known for known in kept if not set(known.claims) <= sides]
            kept.append(conflict)
    return tuple(kept)


def disagree(a: Claim, b: Claim) -> bool:
    """Return whether two claims give different values for what the rule of this module takes for the same quantity."""
    first, second = _read(a.statement), _read(b.statement)
    if first.quantities.labels != second.quantities.labels or (
        first.names - second.names and second.names - first.names
    ):
        return False
    shared = first.terms & second.terms
    needed = SHARED_TERMS_OF_ONE_QUESTION if a.question and a.question == b.question else SHARED_TERMS
    shorter = min(len(first.terms), len(second.terms))
    if len(shared) < FEWEST_SHARED or len(shared) < needed * shorter:
        return False
    return _differ_in_one(first.quantities, second.quantities) and not of_other_things(
        a.statement, b.statement
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    quantities: Quantities
    terms: frozenset[str]
    names: frozenset[str]


@lru_cache(maxsize=20_000)
def _read(sentence: str) -> _Reading:
    quantities = read_quantities(sentence)
    return _Reading(
        quantities=quantities,
        terms=frozenset(terms(quantities.rest)),
        names=frozenset(_NAME.findall(quantities.rest)),
    )


def _is_side(claim: Claim) -> bool:
    quantities = _read(claim.statement).quantities
    return bool(quantities.measures or quantities.days) and not gives_orders(claim.statement)


def _differ_in_one(a: Quantities, b: Quantities) -> bool:
    differing = 0
    dimensions = {measure.dimension for measure in a.measures} & {measure.dimension for measure in b.measures}
    for dimension in dimensions:
        only_a, only_b = _unmatched(_values(a, dimension), _values(b, dimension))
        if not only_a or not only_b:
            continue
        if dimension == PLAIN or len(only_a) > 1 or len(only_b) > 1:
            # Which value belongs to which can't be told.
            return False
        differing += 1
    dates = _dates_differ(a, b)
    return dates is not None and differing + dates == 1


def _values(quantities: Quantities, dimension: str) -> list[Decimal]:
    return [measure.value for measure in quantities.measures if measure.dimension == dimension]


def _unmatched(a: list[Decimal], b: list[Decimal]) -> tuple[list[Decimal], list[Decimal]]:
    rest = list(b)
    only_a: list[Decimal] = []
    for value in a:
        twin = next((other for other in rest if nearly_equal(value, other)), None)
        if twin is None:
            only_a.append(value)
        else:
            rest.remove(twin)
    return only_a, rest


def _dates_differ(a: Quantities, b: Quantities) -> int | None:
    """Give 1 for one date on each side that contradicts the other, 0 for none, `None` when it can't be told."""
    only_a = [day for day in a.days if all(day.contradicts(other) for other in b.days)] if b.days else []
    only_b = [day for day in b.days if all(day.contradicts(other) for other in a.days)] if a.days else []
    if not only_a or not only_b:
        return 0
    return 1 if len(only_a) == len(only_b) == 1 else None


def _about(claims: Sequence[Claim]) -> str:
    """Name what the claims disagree about: their question, or the words that all of them have in common."""
    questions = {claim.question for claim in claims}
    if len(questions) == 1 and (question := claims[0].question):
        return question
    shared = frozenset.intersection(*(_read(claim.statement).terms for claim in claims))
    pieces = re.findall(r"[\u3400-\u9fff]+|[^\s\u3400-\u9fff]+", _read(claims[0].statement).quantities.rest)
    kept = [piece.strip(".,;:!?，。；：、|") for piece in pieces if set(terms(piece)) & shared]
    return " ".join(piece for piece in kept if piece)
