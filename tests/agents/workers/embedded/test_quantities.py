"""Measures, dates and labels of sentences in both languages."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.dates import Day
from agents.workers.embedded.quantities import nearly_equal, read_quantities


@dataclass(frozen=True)
class Case:
    id: str
    sentence: str
    measures: dict[str, list[float]]
    days: tuple[Day, ...] = ()
    labels: frozenset[str] = frozenset()


def day(year: int | None = None, month: int | None = None, of_month: int | None = None) -> Day:
    return Day(year=year, month=month, day=of_month)


CASES = [
    Case("money with a scale", "It costs €9.6 million.", {"money:EUR": [9_600_000]}),
    Case("money behind the number", "It costs 300 euros per kWh.", {"money:EUR/kwh": [300]}),
    Case("short million", "Budget: $4.5m", {"money:USD": [4_500_000]}),
    Case("a metre is no million", "They stand 3 m apart.", {"length": [3]}),
    Case("thousands separator", "It weighs 12,500 kg.", {"mass": [12_500]}),
    Case("percent", "The gel has 2.5 %.", {"percent": [2.5]}),
    Case("counted noun", "It has 15 buses.", {"count:buse": [15]}),
    Case("one unit in two spellings", "From 1.2 MWh to 1200 kWh", {"energy": [1_200_000, 1_200_000]}),
    Case("万元", "工程投资为35200万元", {"money:CNY": [352_000_000]}),
    Case("亿元", "总投资3.52亿元", {"money:CNY": [352_000_000]}),
    Case("kilowatt hour is no thousand", "电耗为0.62千瓦时/立方米", {"energy/立方米": [620]}),
    Case("万千瓦时", "年发电120万千瓦时", {"energy": [1_200_000_000]}),
    Case("years and months", "The lifetime is 15 years, the test 6 months.", {"months": [180, 6]}),
    Case("date in words", "Accepted by 17 April 2026.", {}, (day(2026, 4, 17),)),
    Case("date, month first", "Accepted by April 17, 2026.", {}, (day(2026, 4, 17),)),
    Case("month and year", "Opened in May 2024.", {}, (day(2024, 5),)),
    Case("ISO date", "On 2026-02-12 it passed.", {}, (day(2026, 2, 12),)),
    Case("year alone", "It opened in 2019.", {}, (day(2019),)),
    Case("Chinese date", "通水日期为2027年6月30日。", {}, (day(2027, 6, 30),)),
    Case("Chinese day of a month", "会议定于3月5日。", {}, (day(None, 3, 5),)),
    Case("impossible date stays a number", "Code 2024-13-45 is spare.", {"number": [2024, 13, 45]}),
    Case("labels", "Line 2 and phase B opened.", {}, (), frozenset({"line 2", "phase b"})),
    Case("Chinese labels", "2号线与三期工程", {}, (), frozenset({"2号", "三期"})),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_sentence_is_read(case: Case) -> None:
    found = read_quantities(case.sentence)
    measures: dict[str, list[float]] = {}
    for measure in found.measures:
        measures.setdefault(measure.dimension, []).append(float(measure.value))

    assert measures == case.measures
    assert found.days == case.days
    assert found.labels == case.labels


def test_the_rest_has_no_numbers_left() -> None:
    rest = read_quantities("On 3 May 2024 line 2 stored 1.5 MWh for 12 buses.").rest

    assert not any(char.isdigit() for char in rest)
    assert "stored" in rest
    assert "buses" in rest


@pytest.mark.parametrize(
    ("a", "b", "contradict"),
    [
        (day(2027, 6, 30), day(2027, 9, 30), True),
        (day(2027), day(2027, 9, 30), False),
        (day(None, 6, 30), day(2027, 6, 30), False),
        (day(2026), day(2027, 6), True),
    ],
)
def test_dates_contradict_only_in_what_both_give(a: Day, b: Day, contradict: bool) -> None:
    assert a.contradicts(b) is contradict
    assert b.contradicts(a) is contradict


@given(st.decimals(-1000, 1000, places=3), st.decimals(-1000, 1000, places=3))
def test_near_equality_is_symmetric_and_at_most_half_a_percent(a: Decimal, b: Decimal) -> None:
    assert nearly_equal(a, b) is nearly_equal(b, a)
    if nearly_equal(a, b):
        assert float(abs(a - b)) <= 0.005 * max(abs(float(a)), abs(float(b))) + 1e-9


@given(st.text(max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    read_quantities(text)
