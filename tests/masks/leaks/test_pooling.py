import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from masks.leaks.pooling import PRIOR_SECTIONS, WHOLE_SECTION, pooled, section_weights

Rows = NDArray[np.float64]


def _rows(values: list[list[float]]) -> Rows:
    rows = np.array(values)
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


distributions = st.lists(st.lists(st.floats(0.01, 1), min_size=4, max_size=4), min_size=1, max_size=8).map(
    _rows
)


def test_a_section_is_multiplied_by_the_shares_of_the_others() -> None:
    mass = _rows([[6, 2, 2], [1, 8, 1], [1, 7, 2]])
    weights = np.array([1.0, 1.0, 0.5])
    prior = PRIOR_SECTIONS / 3
    first = [0.6 * (prior + 0.1 + 0.05), 0.2 * (prior + 0.8 + 0.35), 0.2 * (prior + 0.1 + 0.1)]
    got = pooled(mass, ["d", "d", "d"], weights)
    np.testing.assert_allclose(got[0], np.array(first) / sum(first))


@given(distributions)
def test_every_row_stays_a_distribution_and_a_lone_section_as_it_is(mass: Rows) -> None:
    together = pooled(mass, ["d"] * len(mass), np.ones(len(mass)))
    np.testing.assert_allclose(together.sum(axis=1), 1)
    alone = pooled(mass, [str(number) for number in range(len(mass))], np.ones(len(mass)))
    np.testing.assert_allclose(alone, mass)


@given(distributions)
def test_the_order_of_sections_does_not_matter(mass: Rows) -> None:
    order = np.argsort(mass[:, 0], kind="stable")
    documents = [f"d{number % 2}" for number in range(len(mass))]
    weights = np.linspace(0.1, 1, len(mass))
    first = pooled(mass, documents, weights)[order]
    second = pooled(mass[order], [documents[i] for i in order], weights[order])
    np.testing.assert_allclose(first, second)


def test_documents_do_not_touch_each_other_and_the_input_stays() -> None:
    mass = _rows([[6, 4], [9, 1], [1, 9]])
    before = mass.copy()
    got = pooled(mass, ["a", "a", "b"], np.ones(3))
    np.testing.assert_array_equal(mass, before)
    np.testing.assert_allclose(got[2], mass[2])
    assert got[0, 0] > mass[0, 0]


def test_a_clear_section_among_many_others_stays_what_it_is() -> None:
    mass = _rows([[0.98, 0.01, 0.01], *[[0.05, 0.9, 0.05]] * 12])
    got = pooled(mass, ["d"] * 13, np.ones(13))
    assert got[0].argmax() == 0
    assert (got[1:, 1] > mass[1:, 1]).all()


def test_a_short_section_says_less_about_its_document() -> None:
    weights = section_weights(["", " \n", "x" * (WHOLE_SECTION // 2), "x" * WHOLE_SECTION, "x" * 9999])
    assert weights.tolist() == pytest.approx([0, 0, 0.5, 1, 1])
