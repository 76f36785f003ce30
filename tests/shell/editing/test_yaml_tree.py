"""Strict reading: each kind of value, and what is said about a wrong one."""

from __future__ import annotations

import pytest

from orchestrator.core.errors import InvalidProposal
from orchestrator.shell.editing.problems import Problems
from orchestrator.shell.editing.yaml_tree import Item, read_tree


def tree(text: str) -> tuple[Item, Problems]:
    problems = Problems()
    root = read_tree(text, problems)
    assert root is not None
    return root, problems


def said(problems: Problems) -> tuple[str, ...]:
    with pytest.raises(InvalidProposal) as caught:
        problems.raise_any()
    return caught.value.problems["en"]


def test_scalars_follow_the_core_schema_of_yaml_1_2() -> None:
    root, problems = tree(
        "[no, on, 2026-01-31, 12:30, 0o17, 007, 1_000, <<, 1, -2, 1.5, .5, 1e3, true, ~, '']"
    )
    assert root.json() == [
        *("no", "on", "2026-01-31", "12:30", "0o17", "007", "1_000", "<<"),
        *(1, -2, 1.5, 0.5, 1000.0, True, None, ""),
    ]
    assert not problems


def test_a_number_in_the_place_of_text_is_taken_as_it_was_typed() -> None:
    root, problems = tree("title: 2026\nother: 0x1F")
    assert [item.text("") for item in root.entries().values()] == ["2026", "0x1F"]
    assert not problems


def test_each_place_has_its_line() -> None:
    root, _ = tree("a:\n  b: 1\n  c:\n    - x\n    - y: 2\n")
    assert root.places() == {"": 1, "a": 1, "a.b": 2, "a.c": 3, "a.c[0]": 4, "a.c[1]": 5, "a.c[1].y": 5}
    inner = root.entries()["a"].entries()["c"].items()[1]
    assert (inner.path, inner.line) == ("a.c[1]", 5)


def test_fields_name_unknown_and_missing_keys() -> None:
    root, problems = tree("title: x\nestimat: 2\nother: 3\n")
    assert list(root.fields(("title", "kind", "estimate"), required=("title", "kind", "estimate"))) == [
        "title"
    ]
    assert said(problems) == (
        "line 1: the key 'kind' is missing. Write it; an empty value is written [] or {}.",
        "estimat (line 2): unknown key 'estimat'; accepted: title, kind, estimate. Did you mean 'estimate'?",
        "other (line 3): unknown key 'other'; accepted: title, kind, estimate.",
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x: {a: 1}", "a mapping"),
        ("x: [1]", "a list"),
        ("x:", "nothing"),
        ("x: '1'", "'1'"),
        ("x: 1.5", "'1.5'"),
    ],
)
def test_a_wrong_type_is_named(text: str, shown: str) -> None:
    root, problems = tree(text)
    assert root.entries()["x"].whole(7) == 7
    assert said(problems) == (f"x (line 1): got {shown}; accepted: a whole number.",)


def test_keys_have_to_be_text() -> None:
    root, problems = tree("[a]: 1\n~: 2\n'': 3\n")
    assert root.json() == {"": 3}
    assert len(said(problems)) == 2


def test_a_long_value_is_shortened() -> None:
    root, problems = tree("x: " + "y" * 500)
    root.entries()["x"].flag(False)
    assert len(said(problems)[0]) < 120


def test_anchors_are_refused_before_they_multiply() -> None:
    problems = Problems()
    assert read_tree("a: &x [1]\nb: [*x, *x]\n", problems) is None
    assert said(problems) == (
        "line 1: no valid YAML at column 4: anchors (&) and aliases (*) are not accepted. "
        "Quote text with special characters; indent by two spaces.",
    )
