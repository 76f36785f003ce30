from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from masks.domains import DomainRegistry
from masks.leaks.terms import TERM_EVIDENCE, TERMS_COUNTED, TermEvidence
from tests.masks.fakes import record

ENERGY, LAW, FOOD, SPORT = range(4)
"""Columns: the leaves in the order of their ids."""


def _registry() -> DomainRegistry:
    def leaf(domain: str, en: list[str], zh: list[str], exemplar: str) -> dict[str, object]:
        texts = {"en": [exemplar], "zh": [f"{exemplar}。"]}
        return {**record(domain, exemplars=["x"]), "key_terms": {"en": en, "zh": zh}, "exemplars": texts}

    return DomainRegistry.from_records(
        [
            leaf("a_energy", ["power grid", "power", "battery", "IP 地址"], ["电网", "力"], "nothing here"),
            leaf("b_law", ["contract", "party"], ["合同"], "a battery is sold"),
            leaf("c_food", ["berry", "dish", "pan", "salt", "oven"], ["食谱"], "cooked"),
            leaf("d_sport", ["party"], ["比赛"], "played"),
        ]
    )


EVIDENCE = TermEvidence(_registry())
ONE = TERM_EVIDENCE * log(4)


def _row(text: str) -> list[float]:
    (row,) = EVIDENCE.log_odds([text])
    assert len(row) == 5
    assert row[-1] == 0
    return [float(value) for value in row[:-1]]


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("Two CONTRACTS were signed.", LAW),
        ("A dish of berries", FOOD),
        ("签订合同之后", LAW),
        ("接入电网。", ENERGY),
        ("IP地址已分配", ENERGY),
    ],
)
def test_a_term_is_found_whatever_its_case_number_and_spacing(text: str, column: int) -> None:
    row = _row(text)
    assert row[column] >= ONE - 1e-12
    assert [value for number, value in enumerate(row) if number != column] == [0, 0, 0]


@pytest.mark.parametrize(
    "text", ["", "contractor", "powerful subcontract", "压力很大", "panic, parties' dismay"]
)
def test_a_term_is_bounded_by_words_and_one_chinese_character_is_none(text: str) -> None:
    row = _row(text)
    assert (row[ENERGY], row[FOOD]) == (0, 0)
    assert "part" in text or row[LAW] == 0


def test_a_term_that_more_leaves_use_counts_for_less() -> None:
    # `party` is a key term of two of four leaves; `battery` stands in an exemplar of another leaf.
    assert _row("the party")[LAW] == _row("the party")[SPORT] == pytest.approx(TERM_EVIDENCE * log(2))
    assert _row("a battery")[ENERGY] == pytest.approx(TERM_EVIDENCE * log(2))


def test_the_longest_of_overlapping_terms_counts_once() -> None:
    assert _row("the power grid, the power grid")[ENERGY] == pytest.approx(ONE)
    assert _row("the power grid has power")[ENERGY] == pytest.approx(2 * ONE)


def test_evidence_of_one_leaf_is_bounded() -> None:
    assert _row("berry dish pan salt oven")[FOOD] == pytest.approx(TERMS_COUNTED * ONE)


def test_a_term_of_every_leaf_says_nothing() -> None:
    registry = DomainRegistry.from_records(
        [record(leaf, exemplars=["shared word"]) for leaf in ("one", "two")]
    )
    np.testing.assert_array_equal(TermEvidence(registry).log_odds(["a shared word"]), np.zeros((1, 3)))


_WORDS = ("power", "grid", "battery", "contract", "party", "berry", "ip", "地", "址", "电", "网", "压", "the")
_TERMS: dict[tuple[str, ...], dict[int, float]] = {
    ("power", "grid"): {ENERGY: log(4)},
    ("power",): {ENERGY: log(4)},
    ("battery",): {ENERGY: log(2)},
    ("ip", "地", "址"): {ENERGY: log(4)},
    ("电", "网"): {ENERGY: log(4)},
    ("contract",): {LAW: log(4)},
    ("party",): {LAW: log(2), SPORT: log(2)},
    ("berry",): {FOOD: log(4)},
}
"""The registry's terms that can be put together from `_WORDS`, with what each counts for, worked out by hand."""


@given(st.lists(st.sampled_from(_WORDS), max_size=14))
def test_terms_are_found_as_by_trying_every_length_at_every_place(words: list[str]) -> None:
    found: set[tuple[str, ...]] = set()
    place = 0
    while place < len(words):
        fitting = [length for length in range(1, 6) if tuple(words[place : place + length]) in _TERMS]
        if fitting:
            length = len(tuple(words[place : place + max(fitting)]))
            found.add(tuple(words[place : place + length]))
            place += length
        else:
            place += 1
    expected = [
        TERM_EVIDENCE
        * sum(
            sorted((_TERMS[term][leaf] for term in found if leaf in _TERMS[term]), reverse=True)[
                :TERMS_COUNTED
            ]
        )
        for leaf in range(4)
    ]
    assert _row(" ".join(words)) == pytest.approx(expected)
