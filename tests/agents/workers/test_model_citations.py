"""What counts as a citation in a model's answer: a number, or words that stand in an excerpt; nothing else."""

from __future__ import annotations

import pytest

from agents.prompts import Excerpt
from agents.workers.model_citations import key_by_words, key_instead, named_keys

APART = "Battery containers must stand at least 3 m apart on all sides."
LIMIT = "改造后出水总磷的限值是 0.3 mg/L。"
EXCERPTS = {
    "E1": Excerpt(key="E1", text="Walls resist fire for 90 minutes.", where="fire.md:9"),
    "E2": Excerpt(key="E2", text=f"{APART} Nothing that burns is stored within 6 m.", where="fire.md:11"),
    "E3": Excerpt(key="E3", text=LIMIT, where="permit.md:4"),
}


@pytest.mark.parametrize(
    ("entry", "keys"),
    [
        ("E3", {"E3"}),
        (" [e3] ", {"E3"}),
        ("E3, E4", {"E3", "E4"}),
        ("E3、E4；[E5]", {"E3", "E4", "E5"}),
        ("> E3 notes/E7.md:11", {"E3"}),
        ("[E12] notes.md:11", {"E12"}),
        ("见摘录E3", {"E3"}),
        ("> E2-E22 fire.md:11", set()),
        ("E2 to E5", set()),
        ("E2至E5", set()),
        ("the excerpt", set()),
        ("TREE3", set()),
        ("3", set()),
        ("", set()),
    ],
)
def test_numbers(entry: str, keys: set[str]) -> None:
    assert named_keys([entry]) == keys


@pytest.mark.parametrize(
    ("listed", "statement", "key"),
    [
        ([f"> {APART}"], "They stand apart.", "E2"),
        (["E1-E9"], APART, "E2"),
        ([], "battery  containers must stand AT LEAST 3 m apart on all sides", "E2"),
        ([], f"{APART} [mask leak | agent=A1 | domain=law | strength=0.9]", "E2"),
        (["“改造后出水总磷的限值是 0.3 mg/L”"], "限值为 0.3", "E3"),
        ([], "Battery containers must stand at least 5 m apart on all sides.", None),
        (["90 minutes"], "90 minutes", None),
        (["总磷的限值"], "限值", None),
        ([], "", None),
    ],
)
def test_words(listed: list[str], statement: str, key: str | None) -> None:
    assert key_by_words(listed, statement, EXCERPTS) == key


@pytest.mark.parametrize(
    ("named", "statement", "key"),
    [
        ({"E1"}, APART, "E2"),
        ({"E3"}, "battery containers must stand at least 3 m apart on all sides", "E2"),
        ({"E1", "E2"}, APART, None),
        ({"E1"}, "Battery containers must stand at least 5 m apart on all sides.", None),
        ({"E1"}, "3 m apart", None),
        ({"E2"}, "“改造后出水总磷的限值是 0.3 mg/L。”", "E3"),
        ({"E2"}, "", None),
    ],
)
def test_a_copied_statement_cites_where_it_stands(named: set[str], statement: str, key: str | None) -> None:
    assert key_instead(named, statement, EXCERPTS) == key


def test_a_statement_that_stands_in_two_other_places_is_left_as_it_is() -> None:
    twice = {**EXCERPTS, "E4": Excerpt(key="E4", text=f"Repeated: {APART}", where="annex.md:2")}
    assert key_instead({"E1"}, APART, twice) is None
