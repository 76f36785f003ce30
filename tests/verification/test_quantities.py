"""Numbers, dates, names and negations of sentences."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.dates import Day
from orchestrator.verification.quantities import fold_width, negated, quantities_of, scaled


@dataclass(frozen=True, kw_only=True)
class Case:
    """A text and its numbers as value and unit."""

    id: str
    text: str
    numbers: tuple[tuple[str, str], ...]


NUMBERS = (
    Case(id="percent", text="fell by 12.5 %", numbers=(("12.5", "%"),)),
    Case(id="per cent", text="fell by 12 per cent", numbers=(("12", "%"),)),
    Case(id="percentage points", text="by 3 percentage points", numbers=(("3", "pp"),)),
    Case(id="zh percentage points", text="提高3个百分点", numbers=(("3", "pp"),)),
    Case(id="scale word", text="1.2 million kWh", numbers=(("1200000", "kwh"),)),
    Case(id="separators", text="$1,234,567.89", numbers=(("1234567.89", "$"),)),
    Case(id="zh scale", text="120万人", numbers=(("1200000", "人"),)),
    Case(id="zh double scale", text="3千万元", numbers=(("30000000", "元"),)),
    Case(id="zh numeral", text="共三十二座", numbers=(("32", ""),)),
    Case(id="zh large numeral", text="三千五百万元", numbers=(("35000000", ""),)),
    Case(id="zh percent numeral", text="占百分之五十", numbers=(("50", "%"),)),
    Case(id="zh words are no numbers", text="十分重要，一些地方，万一", numbers=()),
    Case(id="negative", text="at -4 °C", numbers=(("-4", "°c"),)),
    Case(id="range", text="3-5 km", numbers=(("3", ""), ("5", "km"))),
    Case(id="full width", text="共１２座", numbers=(("12", "座"),)),
    Case(id="year with a unit", text="2020 MW", numbers=(("2020", "mw"),)),
    Case(id="words", text="twelve pumps", numbers=()),
    Case(id="glued unit", text="a 12MW plant", numbers=(("12", "mw"),)),
)


@pytest.mark.parametrize("case", NUMBERS, ids=lambda case: case.id)
def test_numbers(case: Case) -> None:
    found = quantities_of(case.text)
    values = [(number.readings, number.unit) for number in found.numbers]
    assert values == [(frozenset({Decimal(value)}), unit) for value, unit in case.numbers]
    assert found.dates == ()


def test_a_letter_may_be_scale_or_unit() -> None:
    (number,) = quantities_of("€12m").numbers
    assert number.readings == {Decimal(12), Decimal(12_000_000)}


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2024-03-05", Day(2024, 3, 5)),
        ("2024/3/5", Day(2024, 3, 5)),
        ("2024年3月5日", Day(2024, 3, 5)),
        ("２０２４年３月", Day(2024, 3, None)),
        ("3月5日", Day(None, 3, 5)),
        ("2024年", Day(2024, None, None)),
        ("5 March 2024", Day(2024, 3, 5)),
        ("March 5th, 2024", Day(2024, 3, 5)),
        ("Sept. 2024", Day(2024, 9, None)),
        ("5th of May", Day(None, 5, 5)),
        ("2024-03", Day(2024, 3, None)),
        ("in 2024", Day(2024, None, None)),
        ("在2024", Day(2024, None, None)),
    ],
)
def test_dates(text: str, day: Day) -> None:
    found = quantities_of(f"x {text} y")
    assert found.dates == (day,)
    assert found.numbers == ()


def test_a_span_of_years_is_two_years() -> None:
    assert quantities_of("1999-2003").dates == (Day(1999, None, None), Day(2003, None, None))


def test_impossible_parts_of_a_date_are_numbers() -> None:
    found = quantities_of("2024-13-45")
    assert found.dates == (Day(2024, None, None),)
    assert [number.text for number in found.numbers] == ["13", "45"]


def test_names_are_kept_whole() -> None:
    assert quantities_of("CVE-2020-1234 in v2.3.1 at 14:30, pump A7站").names == {
        "cve-2020-1234",
        "v2.3.1",
        "14:30",
        "a7",
    }


def test_words_and_short_numerals_are_evidence_only() -> None:
    found = quantities_of("twenty-one pumps and three million euros; 五座")
    assert found.numbers == ()
    assert found.spelt == {Decimal(21), Decimal(3_000_000), Decimal(5)}


def test_very_long_digits_are_no_quantity() -> None:
    assert quantities_of("9" * 5000).numbers == ()


@pytest.mark.parametrize(
    "text",
    ["is not safe", "never", "doesn't", "no pump", "fails to start", "不安全", "没有", "未完工", "without"],
)
def test_negation(text: str) -> None:
    assert negated(text)


@pytest.mark.parametrize(
    "text", ["No. 5", "notable nothingness", "非常安全", "不仅安全", "未来", "是否", "不锈钢", "无人机"]
)
def test_words_that_only_look_like_a_negation(text: str) -> None:
    assert not negated(text)


def test_a_date_is_within_a_finer_one_and_not_the_reverse() -> None:
    assert Day(2024, 3, None).within(Day(2024, 3, 5))
    assert not Day(2024, 3, 5).within(Day(2024, 3, None))
    assert not Day(2023, 3, None).within(Day(2024, 3, 5))


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_can_be_read_and_keeps_its_length(text: str) -> None:
    quantities_of(text)
    assert len(fold_width(text)) == len(text)


@settings(deadline=None)
@given(st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**12), max_value=10**12))
def test_scaling_is_exact(value: Decimal) -> None:
    assert scaled(scaled(value, 8), -8) == value
    assert scaled(value, 2) == value * 100


@settings(deadline=None)
@given(st.integers(min_value=1, max_value=10**9))
def test_an_integer_is_read_back(value: int) -> None:
    grouped = f"{value:,} pieces"
    (number,) = (
        quantities_of(f"it has {grouped}").numbers
        if value < 1500 or value > 2099
        else quantities_of(f"it has {value:,} t").numbers
    )
    assert number.readings == {Decimal(value)}
