"""Weights and confidence (semantics 4, table of verdicts)."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.evidence import Claim, ClaimId
from orchestrator.core.claims import (
    ClaimVerdict,
    Confidence,
    Contested,
    Deviates,
    Falsified,
    Level,
    SoftClaim,
    Uncertain,
    Verdict,
    Verified,
    confidence,
    verdict_weight,
)

WEIGHTS: list[tuple[Verdict, Fraction]] = [
    (Verified(source="x"), Fraction(1)),
    (Deviates(source="x", delta=0.25, found="9"), Fraction(3, 4)),
    (Contested(sources=("x", "y")), Fraction(1, 2)),
    (Uncertain(reason="r"), Fraction(1, 2)),
    (SoftClaim(), Fraction(1, 2)),
    (Falsified(reason="r"), Fraction(0)),
]


def claim(number: int, *, core: bool = False) -> Claim:
    return Claim(id=ClaimId(f"c{number}"), statement="s", evidence=(), core=core)


def judged(number: int, verdict: Verdict, *, traced: bool = True) -> ClaimVerdict:
    return ClaimVerdict(claim=ClaimId(f"c{number}"), verdict=verdict, level=Level.L2, traced=traced)


@pytest.mark.parametrize(("verdict", "weight"), WEIGHTS)
def test_weights(verdict: Verdict, weight: Fraction) -> None:
    assert verdict_weight(verdict) == float(weight)


def test_relabelling_as_experience_gains_nothing() -> None:
    assert verdict_weight(SoftClaim()) <= verdict_weight(Uncertain(reason="r"))


def test_by_hand() -> None:
    # Core verified (2 x 1), plain falsified (1 x 0); a third is not traced: mean 2/3, discount 1 - 0.2 / 3.
    found = confidence(
        [claim(1, core=True), claim(2), claim(3)],
        [
            judged(1, Verified(source="x")),
            judged(2, Falsified(reason="r")),
            judged(3, Uncertain(reason="r"), traced=False),
        ],
        Level.L2,
    )
    assert found.value == pytest.approx(2 / 3 * (1 - 0.2 / 3))
    assert (found.traced, found.total, found.level) == (2, 3, Level.L2)


def test_shown_with_level_and_share() -> None:
    assert str(Confidence(value=0.8549, level=Level.L2, traced=12, total=31)) == "L2 0.85, 12 of 31 traced"


def test_everything_traced_and_verified_is_one() -> None:
    assert confidence([claim(1)], [judged(1, Verified(source="x"))], Level.L3).value == 1.0


def test_nothing_traced_is_half_of_what_is_left() -> None:
    assert confidence([claim(1)], [], Level.L1).value == pytest.approx(0.4)


def test_verdicts_on_other_claims_do_not_count() -> None:
    assert confidence([claim(1)], [judged(2, Verified(source="x"))], Level.L2).traced == 0


cases = st.lists(st.tuples(st.sampled_from(WEIGHTS), st.booleans(), st.booleans()), max_size=8)


@given(cases)
def test_is_the_weighted_mean_over_the_traced_times_the_discount(
    case: list[tuple[tuple[Verdict, Fraction], bool, bool]],
) -> None:
    claims = [claim(i, core=core) for i, (_, core, _) in enumerate(case)]
    verdicts = [judged(i, verdict, traced=traced) for i, ((verdict, _), _, traced) in enumerate(case)]
    counted = [(2 if core else 1, weight) for (_, weight), core, traced in case if traced]
    total = sum(factor for factor, _ in counted)
    mean = sum(factor * weight for factor, weight in counted) / Fraction(total) if total else Fraction(1, 2)
    share = Fraction(len(counted), len(case)) if case else Fraction(0)
    expected = mean * (1 - Fraction(1, 5) * (1 - share))
    found = confidence(claims, reversed(verdicts), Level.L2)
    assert found.value == pytest.approx(float(expected))
    assert 0 <= found.value <= 1
    assert (found.traced, found.total) == (len(counted), len(case))
