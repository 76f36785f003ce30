from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from masks.bands import Band, Thresholds, band
from masks.design import (
    DesignedMask,
    MaskOrigin,
    MaskOriginKind,
    background_value,
    catalogue_mask,
    design_mask,
    render_origin,
    required_value,
)
from masks.domains import DomainId
from masks.errors import DesignError, UnknownDomain
from masks.vector import new_mask
from tests.masks import mask_strategies
from tests.masks.fakes import COOKING, DATABASES, SECURITY, SPORT, small_registry

REGISTRY = small_registry()
EVERY_PAIR = [Thresholds(main=main, background=low) for main in range(1, 100) for low in range(main)]
RELEVANCES = [1e-9, 0.001, 0.01, 0.1, 0.25, 0.4, 0.5, 0.625, 0.75, 0.9, 0.999, 1.0]


def test_a_required_domain_is_main_for_all_thresholds() -> None:
    for main in range(1, 100):
        thresholds = Thresholds(main=main, background=0)
        values = [required_value(relevance, thresholds) for relevance in RELEVANCES]
        assert all(band(m100, thresholds) is Band.MAIN for m100 in values)
        assert all(left <= right for left, right in pairwise(values))
        assert values[-1] == 100


@given(mask_strategies.thresholds(), st.floats(1e-6, 1.0))
def test_the_value_is_the_formula_on_the_grid(thresholds: Thresholds, relevance: float) -> None:
    exact = thresholds.main + (100 - thresholds.main) * (
        Fraction(1, 5) + Fraction(4, 5) * Fraction(relevance)
    )
    value = required_value(relevance, thresholds)
    if exact > thresholds.main + 1:
        assert abs(value - exact) <= Fraction(1, 2) + Fraction(1, 10**9)
    else:
        assert value == thresholds.main + 1


@pytest.mark.parametrize(
    ("relevance", "expected"),
    [(1.0, 100), (0.5, 88), (0.1, 78), (0.25, 82), (0.75, 94)],
)
def test_default_values_by_hand(relevance: float, expected: int) -> None:
    # 70 + 30 x (0.2 + 0.8 r): 100, 88, 78.4, 82, 94.
    assert required_value(relevance) == expected


def test_a_tie_rounds_up() -> None:
    # 75 + 25 x (0.2 + 0.8 x 0.125) = 82.5
    assert required_value(0.125, Thresholds(main=75, background=30)) == 83


def test_the_midpoint_is_background_for_every_pair_of_thresholds() -> None:
    for pair in EVERY_PAIR:
        value = background_value(pair)
        assert band(value, pair) is Band.BACKGROUND
        assert 0 <= 2 * value - (pair.main + pair.background) <= 1
    assert background_value() == 50


def test_a_designed_mask_says_where_each_value_comes_from() -> None:
    designed = design_mask("a", {DATABASES: 0.5}, [DATABASES, SECURITY], [SPORT], Thresholds(), REGISTRY)
    assert dict(designed.mask.values) == {DATABASES: 88, SECURITY: 50, SPORT: -100}
    assert designed.mask.agent == "a"
    assert designed.mask.version == 1
    assert {leaf: origin.kind.name for leaf, origin in designed.origins.items()} == {
        DATABASES: "REQUIRED",
        SECURITY: "NEIGHBOUR",
        COOKING: "DEFAULT",
        SPORT: "FORBIDDEN",
    }
    assert designed.origins[DATABASES].relevance == 0.5


def test_parents_stand_for_leaves_and_the_higher_relevance_wins() -> None:
    designed = design_mask(
        "a",
        {DomainId("cs"): 0.25, DATABASES: 1.0},
        [DomainId("life")],
        [SPORT],
        Thresholds(),
        REGISTRY,
    )
    assert dict(designed.mask.values) == {DATABASES: 100, SECURITY: 82, COOKING: 50, SPORT: -100}


def test_a_domain_both_required_and_forbidden_is_refused() -> None:
    with pytest.raises(DesignError, match=r"'cs\.security'.*forbidden") as caught:
        design_mask("a", {SECURITY: 1.0}, [], [DomainId("cs")], Thresholds(), REGISTRY)
    assert "禁止" in caught.value.message("zh")


@pytest.mark.parametrize("relevance", [0.0, -0.1, 1.01, float("nan")])
def test_a_relevance_outside_its_range_is_refused(relevance: float) -> None:
    with pytest.raises(DesignError, match="above 0, at most 1"):
        design_mask("a", {SPORT: relevance}, [], [], Thresholds(), REGISTRY)
    with pytest.raises(DesignError):
        required_value(relevance)


def test_unknown_domains_are_refused_wherever_they_stand() -> None:
    unknown = DomainId("nowhere")
    for required, near, banned in (({unknown: 1.0}, [], []), ({}, [unknown], []), ({}, [], [unknown])):
        with pytest.raises(UnknownDomain):
            design_mask("a", required, near, banned, Thresholds(), REGISTRY)


def test_a_catalogue_agent_keeps_its_own_mask() -> None:
    mask = new_mask("a", {SPORT: 91})
    designed = catalogue_mask(mask, REGISTRY)
    assert designed.mask is mask
    assert {origin.kind for origin in designed.origins.values()} == {MaskOriginKind.CATALOGUE}
    assert set(designed.origins) == set(REGISTRY.leaves)
    with pytest.raises(UnknownDomain):
        catalogue_mask(new_mask("a", {DomainId("nowhere"): 91}), REGISTRY)


def test_designed_masks_round_trip_as_json() -> None:
    designed = design_mask("甲", {SPORT: 0.3}, [COOKING], [SECURITY], Thresholds(), REGISTRY)
    adapter = TypeAdapter(DesignedMask)
    assert adapter.validate_json(adapter.dump_json(designed)) == designed


@pytest.mark.parametrize("kind", MaskOriginKind)
def test_every_origin_can_be_shown_in_both_languages(kind: MaskOriginKind) -> None:
    english, chinese = (render_origin(MaskOrigin(kind=kind), lang) for lang in ("en", "zh"))
    assert english.isascii()
    assert not chinese.isascii()


def test_the_shown_relevance_is_the_given_one() -> None:
    origin = MaskOrigin(kind=MaskOriginKind.REQUIRED, relevance=0.8)
    assert render_origin(origin, "zh") == "其子任务所需（相关度 0.80）"


def test_a_value_that_the_user_set_says_so() -> None:
    origin = MaskOrigin(kind=MaskOriginKind.USER)
    assert (render_origin(origin, "en"), render_origin(origin, "zh")) == ("set by the user", "用户设定")
    assert TypeAdapter(MaskOrigin).dump_python(origin, mode="json") == {"kind": "user", "relevance": None}
