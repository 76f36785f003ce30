import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from masks.bands import Thresholds, band
from masks.domains import DomainId
from masks.errors import MaskShapeError, MaskValueError, UnknownDomain
from masks.gradient import suppress
from masks.vector import Mask, MaskChange, new_mask
from tests.masks import mask_strategies
from tests.masks.fakes import COOKING, DATABASES, SPORT, small_registry

REGISTRY = small_registry()


@given(st.dictionaries(mask_strategies.leaves, mask_strategies.values), mask_strategies.thresholds())
def test_a_mask_answers_like_a_dictionary_with_default_zero(
    values: dict[DomainId, int], thresholds: Thresholds
) -> None:
    mask = new_mask("a", values)
    expected = [values.get(leaf, 0) for leaf in REGISTRY.leaves]
    assert [mask.value(leaf) for leaf in REGISTRY.leaves] == expected
    assert [mask.band(leaf, thresholds) for leaf in REGISTRY.leaves] == [
        band(m, thresholds) for m in expected
    ]


@given(mask_strategies.masks())
def test_masks_round_trip_as_json(mask: Mask) -> None:
    changed = suppress(mask, DomainId("life"), registry=REGISTRY, author="张三", reason="goal forbids it")
    adapter = TypeAdapter(Mask)
    for each in (mask, changed):
        again = adapter.validate_json(adapter.dump_json(each))
        assert again == each
        assert again.digest == each.digest


def test_the_digest_covers_the_values_alone() -> None:
    one = new_mask("a", {DATABASES: 80, SPORT: 0})
    two = Mask(agent="b", version=7, values=((DATABASES, 80),))
    assert one.digest == two.digest
    assert new_mask("a", {DATABASES: 81}).digest != one.digest
    assert new_mask("a", {SPORT: 80}).digest != one.digest
    assert new_mask("a").digest == new_mask("b").digest


def test_equal_masks_are_equal_whatever_the_order_given() -> None:
    assert new_mask("a", {SPORT: 1, DATABASES: 2}) == new_mask(
        "a", [(DATABASES, 2), (SPORT, 1), (COOKING, 0)]
    )
    assert hash(new_mask("a", {SPORT: 1})) == hash(new_mask("a", {SPORT: 1}))


@pytest.mark.parametrize(
    "values",
    [((SPORT, 1), (DATABASES, 2)), ((SPORT, 1), (SPORT, 2)), ((SPORT, 0),)],
    ids=["unsorted", "repeated", "zero"],
)
def test_masks_that_are_not_canonical_are_refused(values: tuple[tuple[DomainId, int], ...]) -> None:
    with pytest.raises(MaskShapeError, match="new_mask"):
        Mask(agent="a", values=values)


def test_versions_do_not_fall_behind_their_changes() -> None:
    change = MaskChange(version=3, domain=SPORT, old=0, new=5, author="a", reason="b", operation="set")
    with pytest.raises(MaskShapeError, match="at least 3"):
        Mask(agent="a", version=2, changes=(change,))
    with pytest.raises(MaskShapeError, match="at least 1"):
        Mask(agent="a", version=0)


def test_values_off_the_scale_are_refused_everywhere() -> None:
    with pytest.raises(MaskValueError, match="120"):
        new_mask("a", {SPORT: 120})
    document = json.dumps({"agent": "a", "version": 1, "values": [["life.sport", 120]], "changes": []})
    with pytest.raises(ValidationError, match="120"):
        TypeAdapter(Mask).validate_json(document)


def test_a_domain_of_another_registry_is_not_ignored() -> None:
    mask = new_mask("a", {DomainId("life.sprot"): 80})
    with pytest.raises(UnknownDomain) as caught:
        mask.check_against(REGISTRY)
    assert caught.value.matches[0] == SPORT
    with pytest.raises(UnknownDomain, match="'life'"):
        new_mask("a", {DomainId("life"): 80}).check_against(REGISTRY)


def test_an_unknown_field_of_a_document_is_refused() -> None:
    with pytest.raises(ValidationError, match="valeus"):
        TypeAdapter(Mask).validate_json('{"agent": "a", "valeus": []}')
