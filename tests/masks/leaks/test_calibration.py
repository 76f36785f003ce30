import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from masks.domains import DomainRegistry
from masks.errors import CalibrationError
from masks.leaks.calibration import (
    LABEL_PRECISION,
    LEAK_PRECISION,
    SHIPPED,
    Calibration,
    calibrate,
    probabilities,
    shipped_calibration,
)
from masks.leaks.scoring import ExemplarIndex
from tests.masks.fakes import NgramEmbedder, record, small_registry

scores = st.lists(st.lists(st.floats(-1, 1), min_size=4, max_size=4), min_size=1, max_size=5).map(np.array)


@given(scores, st.floats(0.01, 1), st.floats(-1, 1))
def test_a_distribution_sums_to_one_and_follows_the_scores(
    rows: np.ndarray[tuple[int, int], np.dtype[np.float64]], temperature: float, none_score: float
) -> None:
    mass = probabilities(rows, temperature, none_score)
    np.testing.assert_allclose(mass.sum(axis=1), 1.0)
    assert (mass >= 0).all()
    for row, scored in zip(mass, rows, strict=True):
        floor = np.append(scored[:-1], max(scored[-1], none_score))
        weights = np.exp((floor - floor.max()) / temperature)
        np.testing.assert_allclose(row, weights / weights.sum(), atol=1e-12)


def test_nothing_is_changed_in_the_scores() -> None:
    rows = np.array([[0.1, 0.2, -1.0]])
    probabilities(rows, 0.1, 0.5)
    np.testing.assert_array_equal(rows, [[0.1, 0.2, -1.0]])


def test_calibrating_is_deterministic_and_keeps_its_promise() -> None:
    registry = small_registry()
    first, second = (calibrate(NgramEmbedder(), registry) for _ in range(2))
    assert first == second
    assert first.embedder == "fake-ngrams"
    assert first.registry_sha256 == registry.sha256
    assert first.leak_margin >= first.margin
    assert first.leak_coverage <= first.coverage <= 1

    rows, truth = ExemplarIndex(NgramEmbedder(), registry).leave_one_out()
    mass = probabilities(rows, first.temperature, first.none_score)
    ranked = np.sort(mass, axis=1)
    lead = ranked[:, -1] - ranked[:, -2]
    right = mass.argmax(axis=1) == truth
    assert first.accuracy == pytest.approx(right.mean(), abs=1e-4)
    assert right[lead >= first.margin].mean() >= LABEL_PRECISION
    assert right[lead >= first.leak_margin].mean() >= LEAK_PRECISION
    if first.margin > 0:
        assert right[lead >= first.margin - 0.01].mean() < LABEL_PRECISION


def test_a_registry_of_one_leaf_cannot_be_calibrated() -> None:
    registry = DomainRegistry.from_records([record("one", exemplars=["aaaa bbbb"])])
    with pytest.raises(CalibrationError, match="1 leaves"):
        calibrate(NgramEmbedder(), registry)


def test_an_embedder_without_constants_is_refused_with_the_next_step() -> None:
    with pytest.raises(CalibrationError, match="'fake-ngrams'") as caught:
        shipped_calibration("fake-ngrams")
    for calibration in SHIPPED:
        assert repr(calibration.embedder) in str(caught.value)
        assert shipped_calibration(calibration.embedder) is calibration
    assert "calibrate" in caught.value.message("zh")


def test_calibrations_round_trip_as_json() -> None:
    adapter = TypeAdapter(Calibration)
    for calibration in SHIPPED:
        assert adapter.validate_json(adapter.dump_json(calibration)) == calibration
