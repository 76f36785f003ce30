from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from masks.bands import (
    THETA_BG,
    THETA_MAIN,
    Band,
    Suppression,
    Thresholds,
    band,
    format_mask_value,
    parse_mask_value,
    suppression,
)
from masks.errors import MaskValueError, ThresholdError
from tests.masks import mask_strategies

EVERY_VALUE = range(-100, 101)


def test_default_thresholds_are_those_of_the_specification() -> None:
    assert (THETA_MAIN, THETA_BG) == (70, 30)
    assert Thresholds() == Thresholds(main=70, background=30)


@pytest.mark.parametrize("m100", EVERY_VALUE)
def test_each_value_lies_in_the_band_of_the_definition(m100: int) -> None:
    m = Fraction(m100, 100)
    main, background, silent = (
        m > Fraction(7, 10),
        Fraction(3, 10) < m <= Fraction(7, 10),
        m <= Fraction(3, 10),
    )
    assert main + background + silent == 1
    expected = Band.MAIN if main else Band.BACKGROUND if background else Band.SILENT
    assert band(m100) is expected


@pytest.mark.parametrize("m100", EVERY_VALUE)
def test_only_silent_values_have_a_shade(m100: int) -> None:
    shade = suppression(m100)
    if m100 > 30:
        assert shade is None
    elif m100 >= 0:
        assert shade is Suppression.DORMANT
    else:
        assert shade is (Suppression.SUPPRESSED if m100 == -100 else Suppression.WEAKLY_SUPPRESSED)


@given(mask_strategies.thresholds())
def test_bands_divide_the_scale_for_all_thresholds(thresholds: Thresholds) -> None:
    bands = [band(m100, thresholds) for m100 in EVERY_VALUE]
    assert bands.count(Band.MAIN) == 100 - thresholds.main
    assert bands.count(Band.BACKGROUND) == thresholds.main - thresholds.background
    assert bands.count(Band.SILENT) == thresholds.background + 101
    assert bands == [Band.SILENT] * bands.count(Band.SILENT) + [Band.BACKGROUND] * bands.count(
        Band.BACKGROUND
    ) + [Band.MAIN] * bands.count(Band.MAIN)


@pytest.mark.parametrize(("main", "background"), [(70, 70), (30, 70), (100, 30), (70, -1), (0, 0), (150, 10)])
def test_thresholds_that_divide_nothing_are_refused(main: int, background: int) -> None:
    with pytest.raises(ThresholdError, match=f"main={main}") as caught:
        Thresholds(main=main, background=background)
    assert "阈值" in caught.value.message("zh")


def test_thresholds_refuse_fractions_and_booleans() -> None:
    for main in (0.7, True, "70"):
        with pytest.raises(ThresholdError):
            Thresholds(main=main)  # type: ignore[arg-type]  # that is the point of the test


def test_thresholds_read_from_a_document_are_checked() -> None:
    adapter = TypeAdapter(Thresholds)
    assert adapter.validate_json('{"main": 80, "background": 20}') == Thresholds(main=80, background=20)
    with pytest.raises(ValidationError, match="Thresholds main=20"):
        adapter.validate_json('{"main": 20, "background": 80}')
    with pytest.raises(ValidationError, match="mian"):
        adapter.validate_json('{"mian": 80}')


@pytest.mark.parametrize("m100", EVERY_VALUE)
def test_written_values_read_back(m100: int) -> None:
    text = format_mask_value(m100)
    assert Fraction(text) == Fraction(m100, 100)
    assert len(text.lstrip("-")) == 4
    assert parse_mask_value(text) == parse_mask_value(m100 / 100) == m100


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (1, 100),
        (-1, -100),
        (0, 0),
        ("1", 100),
        (".5", 50),
        ("0.550", 55),
        (" 0.3 ", 30),
        ("０．３５", 35),
        ("−0.25", -25),
        ("+0.07", 7),
        (np.float64(0.29), 29),
        (1e-2, 1),
    ],
)
def test_mask_values_are_read_as_people_write_them(text: object, expected: int) -> None:
    assert parse_mask_value(text) == expected


@pytest.mark.parametrize(
    "value",
    [
        1.2,
        -1.01,
        0.555,
        float("nan"),
        float("inf"),
        "NaN",
        "",
        "half",
        "1e-2",
        "0.5.5",
        "1_0",
        True,
        None,
        [0.5],
        2,
    ],
)
def test_what_is_no_mask_value_is_refused_with_the_value_named(value: object) -> None:
    with pytest.raises(MaskValueError) as caught:
        parse_mask_value(value)
    assert repr(value) in str(caught.value)
    assert "0.01" in str(caught.value)
    assert repr(value) in caught.value.message("zh")


@given(st.decimals(min_value=-2, max_value=2, places=4))
def test_nothing_is_rounded(number: object) -> None:
    hundredths = Fraction(str(number)) * 100
    if hundredths.denominator == 1 and abs(hundredths) <= 100:
        assert parse_mask_value(str(number)) == hundredths
    else:
        with pytest.raises(MaskValueError):
            parse_mask_value(str(number))


@pytest.mark.parametrize("m100", [-101, 101, 10_000])
def test_hundredths_outside_the_scale_are_refused(m100: int) -> None:
    for function in (band, suppression, format_mask_value):
        with pytest.raises(MaskValueError):
            function(m100)
