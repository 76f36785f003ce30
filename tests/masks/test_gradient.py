from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from masks.bands import Band, Thresholds, band
from masks.domains import DomainId
from masks.errors import GradientError, MaskValueError, NothingToUndo, SuppressedDomain, UnknownDomain
from masks.gradient import (
    extend,
    extend_leaf,
    extension_target,
    lower_by,
    raise_by,
    selection_weight,
    set_leaf,
    set_value,
    suppress,
    undo,
)
from masks.vector import Mask, new_mask
from tests.masks import mask_strategies
from tests.masks.fakes import COOKING, DATABASES, SECURITY, SPORT, small_registry

REGISTRY = small_registry()
LIFE = DomainId("life")


def test_each_operation_is_a_new_version_with_its_reason() -> None:
    old = new_mask("a", {SPORT: 40})
    new = set_value(old, SPORT, 55, registry=REGISTRY, author="ann", reason="she plays")
    assert (old.version, old.value(SPORT), old.changes) == (1, 40, ())
    assert (new.version, new.value(SPORT)) == (2, 55)
    (change,) = new.changes
    assert (change.version, change.domain, change.old, change.new) == (2, SPORT, 40, 55)
    assert (change.author, change.reason, change.operation) == ("ann", "she plays", "set")


@given(mask_strategies.masks(), mask_strategies.leaves, mask_strategies.values)
def test_setting_touches_one_leaf_and_undo_restores_it(mask: Mask, leaf: DomainId, m100: int) -> None:
    changed = set_value(mask, leaf, m100, registry=REGISTRY, author="a", reason="r")
    assert changed.value(leaf) == m100
    assert all(changed.value(other) == mask.value(other) for other in REGISTRY.leaves if other != leaf)
    undone = undo(changed, author="a", reason="back")
    assert undone.values == mask.values
    assert undone.version == mask.version + 2
    assert undo(undone, author="a", reason="again").values == changed.values


@given(
    mask_strategies.masks(), st.lists(st.tuples(mask_strategies.leaves, mask_strategies.values), max_size=8)
)
def test_the_history_replays_to_the_mask(mask: Mask, steps: list[tuple[DomainId, int]]) -> None:
    now = mask
    for leaf, m100 in steps:
        now = set_value(now, leaf, m100, registry=REGISTRY, author="a", reason="r")
    replayed = {leaf: mask.value(leaf) for leaf in REGISTRY.leaves}
    for change in now.changes:
        assert replayed[change.domain] == change.old
        replayed[change.domain] = change.new
    assert {leaf: now.value(leaf) for leaf in REGISTRY.leaves} == replayed
    assert now.version == mask.version + len(steps)
    assert TypeAdapter(Mask).validate_json(TypeAdapter(Mask).dump_json(now)) == now


@given(mask_strategies.masks(), mask_strategies.leaves, st.integers(1, 200))
def test_raising_and_lowering_move_by_the_amount_or_are_refused(
    mask: Mask, leaf: DomainId, amount: int
) -> None:
    old = mask.value(leaf)
    if old == -100:
        with pytest.raises(SuppressedDomain):
            raise_by(mask, leaf, amount, registry=REGISTRY, author="a", reason="r")
    elif old + amount > 100:
        with pytest.raises(MaskValueError):
            raise_by(mask, leaf, amount, registry=REGISTRY, author="a", reason="r")
    else:
        raised = raise_by(mask, leaf, amount, registry=REGISTRY, author="a", reason="r")
        assert raised.value(leaf) == old + amount
        assert lower_by(raised, leaf, amount, registry=REGISTRY, author="a", reason="r").values == mask.values
    if old - amount < -100:
        with pytest.raises(MaskValueError):
            lower_by(mask, leaf, amount, registry=REGISTRY, author="a", reason="r")


@pytest.mark.parametrize("amount", [0, -5, 0.5, True])
def test_amounts_are_positive_whole_hundredths(amount: int) -> None:
    mask = new_mask("a")
    for operation in (raise_by, lower_by):
        with pytest.raises(MaskValueError):
            operation(mask, SPORT, amount, registry=REGISTRY, author="a", reason="r")


def test_a_parent_stands_for_its_leaves_and_is_undone_as_one() -> None:
    mask = new_mask("a", {SPORT: 10, DATABASES: 80})
    changed = set_value(mask, LIFE, 50, registry=REGISTRY, author="a", reason="r")
    assert dict(changed.values) == {COOKING: 50, SPORT: 50, DATABASES: 80}
    assert changed.version == 2
    assert [(c.domain, c.old, c.version) for c in changed.changes] == [(COOKING, 0, 2), (SPORT, 10, 2)]
    assert undo(changed, author="a", reason="r").values == mask.values


@given(mask_strategies.masks(), mask_strategies.leaves, mask_strategies.thresholds())
def test_extending_opens_a_silent_domain_as_background(
    mask: Mask, leaf: DomainId, thresholds: Thresholds
) -> None:
    if mask.value(leaf) == -100:
        with pytest.raises(SuppressedDomain):
            extend(mask, leaf, registry=REGISTRY, author="a", reason="r", thresholds=thresholds)
    elif mask.band(leaf, thresholds) is not Band.SILENT:
        with pytest.raises(GradientError, match="not silent"):
            extend(mask, leaf, registry=REGISTRY, author="a", reason="r", thresholds=thresholds)
    else:
        extended = extend(mask, leaf, registry=REGISTRY, author="a", reason="r", thresholds=thresholds)
        assert extended.value(leaf) == min(thresholds.background + 10, thresholds.main)
        assert extended.band(leaf, thresholds) is Band.BACKGROUND
        assert extended.changes[-1].operation == "extend"


@given(mask_strategies.thresholds())
def test_an_extension_is_background_for_all_thresholds(thresholds: Thresholds) -> None:
    assert band(extension_target(thresholds), thresholds) is Band.BACKGROUND


def test_extending_a_parent_leaves_open_leaves_alone() -> None:
    mask = new_mask("a", {SPORT: 90})
    extended = extend(mask, LIFE, registry=REGISTRY, author="a", reason="r")
    assert dict(extended.values) == {SPORT: 90, COOKING: 40}
    with pytest.raises(SuppressedDomain):
        extend(new_mask("a", {SPORT: -100}), LIFE, registry=REGISTRY, author="a", reason="r")


def test_undo_takes_back_the_last_operation_only() -> None:
    first = set_value(new_mask("a"), SPORT, 50, registry=REGISTRY, author="a", reason="r")
    second = set_value(first, DATABASES, 60, registry=REGISTRY, author="a", reason="r")
    undone = undo(second, author="ann", reason="back")
    assert undone.values == first.values
    (change,) = undone.changes[2:]
    assert (change.operation, change.domain, change.old, change.new) == ("undo", DATABASES, 60, 0)


def test_a_suppressed_domain_is_lifted_only_by_setting_or_undoing() -> None:
    mask = suppress(new_mask("a", {SECURITY: 40}), SECURITY, registry=REGISTRY, author="a", reason="r")
    assert mask.value(SECURITY) == -100
    with pytest.raises(SuppressedDomain, match=r"cs\.security") as caught:
        raise_by(mask, SECURITY, 10, registry=REGISTRY, author="a", reason="r")
    assert "抑制" in caught.value.message("zh")
    assert set_value(mask, SECURITY, 80, registry=REGISTRY, author="ann", reason="r").value(SECURITY) == 80
    assert undo(mask, author="ann", reason="r").value(SECURITY) == 40


def test_operations_are_signed_and_name_known_domains() -> None:
    mask = new_mask("a")
    with pytest.raises(GradientError, match="author"):
        suppress(mask, SPORT, registry=REGISTRY, author=" ", reason="r")
    with pytest.raises(GradientError, match="reason"):
        suppress(mask, SPORT, registry=REGISTRY, author="a", reason="")
    with pytest.raises(UnknownDomain):
        suppress(mask, DomainId("nowhere"), registry=REGISTRY, author="a", reason="r")
    with pytest.raises(NothingToUndo):
        undo(mask, author="a", reason="r")
    with pytest.raises(MaskValueError):
        set_value(mask, SPORT, 101, registry=REGISTRY, author="a", reason="r")


@given(mask_strategies.thresholds(), mask_strategies.values, st.booleans())
def test_the_weight_follows_the_documented_formula(
    thresholds: Thresholds, m100: int, background_open: bool
) -> None:
    weight = selection_weight(m100, thresholds, background_open=background_open)
    where = band(m100, thresholds)
    if where is Band.MAIN or (where is Band.BACKGROUND and background_open):
        exact = Fraction(m100 - thresholds.background, 100 - thresholds.background)
        assert 0 < weight <= 1
        assert weight == pytest.approx(float(exact))
    else:
        assert weight == 0


@given(mask_strategies.thresholds(), mask_strategies.values, mask_strategies.values)
def test_the_gradient_is_real_inside_a_band(thresholds: Thresholds, first: int, second: int) -> None:
    assume(first < second and band(first, thresholds) is band(second, thresholds))
    low = selection_weight(first, thresholds, background_open=True)
    high = selection_weight(second, thresholds, background_open=True)
    if band(first, thresholds) is Band.SILENT:
        assert low == high == 0
    else:
        assert low < high


@given(mask_strategies.thresholds())
def test_main_material_outweighs_background_material(thresholds: Thresholds) -> None:
    strongest_background = selection_weight(thresholds.main, thresholds, background_open=True)
    weakest_main = selection_weight(thresholds.main + 1, thresholds, background_open=True)
    assert strongest_background < weakest_main
    assert selection_weight(100, thresholds, background_open=False) == 1


@given(mask_strategies.masks(), mask_strategies.leaves, mask_strategies.values, mask_strategies.thresholds())
def test_leaf_operations_do_what_those_with_a_registry_do(
    mask: Mask, leaf: DomainId, m100: int, thresholds: Thresholds
) -> None:
    signed = {"author": "a", "reason": "r"}
    assert set_leaf(mask, leaf, m100, **signed) == set_value(mask, leaf, m100, registry=REGISTRY, **signed)
    try:
        expected = extend(mask, leaf, registry=REGISTRY, thresholds=thresholds, **signed)
    except GradientError as refused:
        with pytest.raises(type(refused)):
            extend_leaf(mask, leaf, thresholds=thresholds, **signed)
    else:
        assert extend_leaf(mask, leaf, thresholds=thresholds, **signed) == expected
