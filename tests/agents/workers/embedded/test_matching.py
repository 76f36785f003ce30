"""How far a text holds the terms of a question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.workers.embedded.matching import LOOSE_CREDIT, SHARED_STEM_CREDIT, credit, matcher_for, prepared
from agents.workers.embedded.question import read_question


@pytest.mark.parametrize(
    ("term", "text", "found"),
    [
        ("pump", "Two pumps run.", 1.0),
        ("insur", "The insurance is due.", 1.0),
        ("electr", "Electrical work", 1.0),
        ("battery", "The batteries", SHARED_STEM_CREDIT),
        ("gas", "gasoline", 0.0),
        ("总投资", "工程总投资为3亿元", 1.0),
        ("吞吐量", "旅客吞吐创新高", 0.4),
        ("逃税", "偷逃巨额税款", LOOSE_CREDIT),
        ("鼓风机", "水泵", 0.0),
        ("量", "流水", 0.0),
    ],
)
def test_credit(term: str, text: str, found: float) -> None:
    assert credit(term, prepared(text)) == pytest.approx(found)


def test_rare_terms_decide() -> None:
    rarity = {"insur": 5.0, "premium": 5.0, "plant": 0.5}
    matcher = matcher_for(read_question("insurance premium plant"), lambda term: rarity.get(term, 1.0))
    common = matcher.coverage((prepared("the plant"), 1.0))
    rare = matcher.coverage((prepared("insurance and premium"), 1.0))
    assert common < 0.1 < 0.9 < rare
    assert matcher.missing(prepared("the plant")) == ("insur", "premium")
    assert sum(matcher.weights.values()) == pytest.approx(1)


@given(st.lists(st.sampled_from(["pump", "valve", "水泵", "阀门", "noise"]), max_size=5), st.floats(0, 1))
def test_coverage_grows_with_text_and_factor(parts: list[str], factor: float) -> None:
    matcher = matcher_for(read_question("pump valve 水泵 阀门 noise"), lambda _term: 1.0)
    text = prepared(" ".join(parts))
    full, less = matcher.coverage((text, 1.0)), matcher.coverage((text, factor))
    assert 0 <= less <= full <= 1 + 1e-9
    both = matcher.coverage((text, factor), (prepared("pump"), 1.0))
    assert both >= less - 1e-9


def test_a_question_without_terms_covers_nothing() -> None:
    assert matcher_for(read_question(""), lambda _term: 1.0).coverage((prepared("x"), 1.0)) == 0
