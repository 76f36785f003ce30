"""What is written is what is read, whatever the text."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from orchestrator.core.proposal import canonical_json
from orchestrator.shell.editing.problems import Problems
from orchestrator.shell.editing.yaml_text import Page, Verbatim, flow, scalar
from orchestrator.shell.editing.yaml_tree import read_tree
from tests.shell.editing.strategies import json_values, texts


def read(text: str) -> JsonValue:
    problems = Problems()
    root = read_tree(text, problems)
    assert root is not None, text
    value = root.json()
    problems.raise_any()
    return value


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(texts, json_values, max_size=4))
def test_json_values_come_back_with_their_types(values: dict[str, JsonValue]) -> None:
    page = Page()
    for key, value in values.items():
        page.put(key, value)
    if values:
        assert canonical_json(read(page.text())) == canonical_json(values)


@settings(max_examples=150, deadline=None)
@given(json_values)
def test_one_line_comes_back_too(value: JsonValue) -> None:
    line = flow(value)
    assert "\n" not in line
    assert canonical_json(read(f"x: {line}")) == canonical_json({"x": value})


@settings(max_examples=150, deadline=None)
@given(texts, texts)
def test_other_readers_of_yaml_see_the_same_text(key: str, value: str) -> None:
    page = Page()
    page.put(key, [value, {"inner": value}])
    assert yaml.safe_load(page.text()) == {key: [value, {"inner": value}]}


@settings(max_examples=100, deadline=None)
@given(texts)
def test_a_comment_is_never_content(text: str) -> None:
    page = Page()
    page.comment(text)
    page.put("a", 1, note=text)
    assert read(page.text()) == {"a": 1}


def test_the_page_reads_well() -> None:
    page = Page()
    page.comment("what it is")
    with page.under("plan"):
        page.put("title", "Find it: now")
        page.put("instruction", "First.\nThen, at last.")
        page.put("items", ["a", {"b": 1, "c": []}])
        page.put_flow("ids", ["n1", "n2"])
        page.items("ports", [{"name": "claims"}])
        with page.under("nothing"):
            pass
        page.put("value", Verbatim("0.50"), note="half")
    assert page.text() == (
        "# what it is\n"
        "plan:\n"
        '  title: "Find it: now"\n'
        "  instruction: |-\n"
        "    First.\n"
        "    Then, at last.\n"
        "  items:\n"
        "    - a\n"
        "    - b: 1\n"
        "      c: []\n"
        "  ids: [n1, n2]\n"
        "  ports:\n"
        "    - {name: claims}\n"
        "  nothing: {}\n"
        "  value: 0.50  # half\n"
    )


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("on", '"on"'),
        ("Yes", '"Yes"'),
        ("1.0", '"1.0"'),
        ("a#b", '"a#b"'),
        ("三个方案", "三个方案"),
        (True, "true"),
    ],
)
def test_only_text_that_could_be_misread_is_quoted(value: JsonValue, written: str) -> None:
    assert scalar(value) == written
