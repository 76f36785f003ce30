"""How the mask opens and weighs material."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.evidence import Source, SourceId
from agents.workers.embedded.access import Access
from agents.workers.embedded.material import Passage
from masks.bands import Band, Thresholds
from masks.domains import DomainId
from masks.vector import new_mask

SOURCE = Source(
    id=SourceId("s-1"), uri="a.md", title="A", digest="0" * 64, retrieved_at="2026-01-01T00:00:00+00:00"
)


def passage(domain: str | None = None, parent: str | None = None) -> Passage:
    return Passage(
        source=SOURCE,
        heading="",
        section=(1, 1),
        start_line=1,
        start_char=0,
        text="x",
        whole=True,
        rank=1.0,
        cosine=0.0,
        domain=domain,
        parent=parent,
    )


def access(values: dict[str, int], path: Literal[1, 2] = 1) -> Access:
    mask = new_mask("A1", {DomainId(domain): value for domain, value in values.items()})
    return Access(mask=mask, thresholds=Thresholds(), path=path)


def test_path_1_opens_main_and_path_2_background_too() -> None:
    values = {"law.public": 90, "econ.finance": 50, "med.care": 30, "env.water": -100}
    first, second = access(values), access(values, path=2)
    opened = {
        domain: (first.weight(passage(domain)) > 0, second.weight(passage(domain)) > 0)
        for domain in (*values, "hum.history")
    }
    assert opened == {
        "law.public": (True, True),
        "econ.finance": (False, True),
        "med.care": (False, False),
        "env.water": (False, False),
        "hum.history": (False, False),
    }


def test_unclassified_material_is_open_and_weighs_less_than_any_main() -> None:
    found = access({"law.public": 71})
    assert 0 < found.weight(passage()) < found.weight(passage("law.public"))
    assert found.band(passage()) is None
    assert found.leak_strength(passage()) is None


def test_only_what_is_not_main_leaks() -> None:
    found = access({"law.public": 90, "econ.finance": 50}, path=2)
    assert found.leak_strength(passage("law.public")) is None
    assert found.leak_strength(passage("econ.finance")) == 50
    assert found.band(passage("econ.finance")) is Band.BACKGROUND


@pytest.mark.parametrize(
    ("values", "domain"),
    [
        ({"law.public": 90}, None),
        ({"law.public": 90, "law.tax": 0}, None),
        ({"law.public": 90, "law.tax": -1}, "law.private"),
        ({"law.public": 60}, "law.private"),
        ({"econ.law": 90}, "law.private"),
    ],
)
def test_a_section_ambiguous_below_its_parent(values: dict[str, int], domain: str | None) -> None:
    assert access(values).domain(passage("law.private", parent="law")) == domain


@given(st.integers(71, 99), st.integers(1, 29))
def test_weight_rises_inside_a_band(low: int, step: int) -> None:
    high = min(100, low + step)
    lower, higher = access({"law.public": low}), access({"law.public": high})
    assert lower.weight(passage("law.public")) < higher.weight(passage("law.public")) <= 1


@pytest.mark.parametrize(
    ("value", "path", "weight"),
    [(100, 1, 1.0), (71, 1, 0.5 + 0.5 * 41 / 70), (40, 2, 0.5 + 0.5 * 10 / 70), (40, 1, 0.0), (30, 2, 0.0)],
)
def test_half_of_the_weight_is_being_open_and_half_the_gradient(
    value: int, path: Literal[1, 2], weight: float
) -> None:
    assert access({"law.public": value}, path).weight(passage("law.public")) == pytest.approx(weight)
