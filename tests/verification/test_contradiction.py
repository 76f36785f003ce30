"""Level 1: an output that contradicts itself."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.results import Conflict
from agents.retrieval.tokens import terms
from orchestrator.verification import contradiction
from orchestrator.verification.contradiction import ContradictionChecker, contradictions
from orchestrator.verification.quantities import Quantities, quantities_of
from tests.verification.cases import claim, codes, order, output


@dataclass(frozen=True, kw_only=True)
class Case:
    """Two statements and what they differ in."""

    id: str
    one: str
    other: str
    what: str | None


CASES = (
    Case(id="number", one="The plant stores 32 MWh.", other="The plant stores 30 MWh.", what="number"),
    Case(id="zh number", one="该站总投资为1.2亿元。", other="该站总投资为1.5亿元。", what="number"),
    Case(
        id="scale",
        one="The plant cost 12 million euros.",
        other="The plant cost 12 billion euros.",
        what="number",
    ),
    Case(id="same value", one="The plant cost 1.2 million.", other="The plant cost 1,200,000.", what=None),
    Case(
        id="date",
        one="The plant opened on 3 May 2024.",
        other="The plant opened on 4 June 2024.",
        what="date",
    ),
    Case(id="zh date", one="该站于2024年5月投运。", other="该站于2023年5月投运。", what="date"),
    Case(
        id="coarser date",
        one="The plant opened in May 2024.",
        other="The plant opened on 3 May 2024.",
        what=None,
    ),
    Case(id="negation", one="The pumps are safe.", other="The pumps are not safe.", what="negation"),
    Case(id="zh negation", one="水泵设备通过了验收。", other="水泵设备未通过验收。", what="negation"),
    Case(
        id="two years",
        one="Sales in 2020 were 12 million.",
        other="Sales in 2021 were 15 million.",
        what=None,
    ),
    Case(
        id="two things",
        one="The Riverside plant stores 32 MWh.",
        other="The Hillside plant stores 30 MWh.",
        what=None,
    ),
    Case(id="two models", one="Pump A7 delivers 32 litres.", other="Pump A8 delivers 30 litres.", what=None),
    Case(id="two units", one="The plant stores 32 MWh.", other="The plant stores 8 hours.", what=None),
    Case(
        id="says more",
        one="The plant stores 32 MWh.",
        other="The plant stores 32 MWh and employs 12 people.",
        what=None,
    ),
    Case(id="labels", one="Line 2 is closed today.", other="Line 3 is closed today.", what=None),
    Case(id="zh labels", one="2号线工程已经停运。", other="3号线工程已经停运。", what=None),
    Case(
        id="equal labels",
        one="Line 2 has 12 stations.",
        other="Line 2 has 14 stations.",
        what="number",
    ),
    Case(
        id="two numbers and a date",
        one="Measure 3 costs 7 thousand euros and ends by 2 May 2026.",
        other="Measure 4 costs 9 thousand euros and ends by 3 May 2026.",
        what=None,
    ),
    Case(
        id="date beside a further number",
        one="The plant opened on 3 May 2024 with 12 staff.",
        other="The plant opened on 4 June 2024 with staff.",
        what="date",
    ),
    Case(id="one word", one="Cost 12", other="Cost 15", what=None),
    Case(id="equal", one="The plant stores 32 MWh.", other="The plant stores 32 MWh.", what=None),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
@pytest.mark.parametrize("turned", [False, True], ids=["", "turned"])
def test_pairs(case: Case, turned: bool) -> None:
    pair = [claim(case.one), claim(case.other, core=False)]
    found = list(contradictions(pair[::-1] if turned else pair))
    assert [what for _, _, what in found] == ([] if case.what is None else [case.what])


NOUNS = ("wheel", "valve", "tank", "hall", "gate", "belt", "fan", "lamp", "door", "wall", "roof", "pipe")
SAID = st.lists(
    st.tuples(st.lists(st.sampled_from(NOUNS), max_size=11, unique=True), st.sampled_from([30, 32])),
    max_size=9,
)


def _much_the_same(one: list[str], other: list[str]) -> bool:
    """At least two words and nine in ten of the shorter claim's are shared, and none is more than twice as long."""
    shorter, longer = sorted((len(one), len(other)))
    shared = len(set(one) & set(other))
    return shared >= 2 and 10 * shared >= 9 * shorter and longer <= 2 * shorter


@given(SAID)
def test_of_many_claims_the_pairs_are_found_that_comparing_each_with_each_gives(
    said: list[tuple[list[str], int]],
) -> None:
    assert all(len(terms(noun)) == 1 for noun in NOUNS)
    claims = [claim(f"{' '.join(nouns)} {number} MWh.") for nouns, number in said]
    expected = [
        (claims[first], claims[second], "number")
        for first, second in combinations(range(len(said)), 2)
        if said[first][1] != said[second][1]
        and _much_the_same([*said[first][0], "mwh"], [*said[second][0], "mwh"])
    ]
    assert list(contradictions(claims)) == expected


def test_both_sides_are_named_and_a_declared_conflict_is_not_found_again() -> None:
    one, other = claim("The plant stores 32 MWh."), claim("The plant stores 30 MWh.")
    produced = output([one, other])
    findings = ContradictionChecker().check(order(produced, lang="zh"))
    assert [(each.code, each.claim) for each in findings] == [
        ("surface_contradiction", one.id),
        ("surface_contradiction", other.id),
    ]
    assert all("数字不一致" in each.message and each.severity == "uncertain" for each in findings)
    declared = output([one, other], conflicts=(Conflict(about="storage", claims=(one.id, other.id)),))
    assert codes(ContradictionChecker().check(order(declared))) == ["conflict_declared"]


def test_numbers_are_read_only_of_claims_that_speak_of_the_same_things(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []

    def counted(text: str) -> Quantities:
        read.append(text)
        return quantities_of(text)

    monkeypatch.setattr(contradiction, "quantities_of", counted)
    apart = [
        claim(f"The {first}{second} {first} keeps 7 of {second}s.")
        for first, second in combinations(NOUNS, 2)
    ]
    alike = [claim("The plant stores 32 MWh."), claim("The plant stores 30 MWh.")]
    assert list(contradictions(apart[:1])) == []
    assert list(contradictions(apart[: len(NOUNS) // 2])) == []
    assert read == []
    found = [what for _, _, what in contradictions([*apart[:3], *alike, *apart[3:]])]
    assert found == ["number"]
    assert read == ["The plant stores 32 MWh.", "The plant stores 30 MWh."]
