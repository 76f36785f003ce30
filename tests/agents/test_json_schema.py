"""JSON values against a schema: what fits, what is told of what does not, and schemas that can't be applied."""

from __future__ import annotations

from typing import Any

import pytest

from agents.json_schema import schema_problems
from agents.tools.builtin.notes import READ_NOTE, SEARCH_NOTES

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 1, "maxLength": 5},
        "limit": {"type": "integer", "minimum": 1, "maximum": 20},
        "share": {"type": "number", "maximum": 1},
        "flag": {"type": "boolean"},
        "kind": {"enum": ["a", "b"]},
        "names": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "maybe": {"type": ["string", "null"]},
        "day": {"type": "string", "pattern": "^[0-9]{4}$"},
    },
    "required": ["query"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "abc"},
        {"query": "abc", "limit": 20, "share": 0.5, "flag": True, "kind": "a", "names": ["x"], "maybe": None},
        {"query": "五个汉字啊", "share": -3, "maybe": "x", "day": "2024"},
        {"query": "abc", "names": ("x", "y")},
    ],
)
def test_what_fits_has_no_problem(arguments: dict[str, Any]) -> None:
    assert schema_problems(arguments, SCHEMA) == ()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([1], "$ is [1]; accepted: object"),
        ({}, "$: 'query' is missing; accepted: an object with 'query'"),
        ({"query": "a", "path": "/"}, "$ has the unknown 'path'; accepted: 'query', 'limit', 'share'"),
        ({"query": 5}, "$.query is 5; accepted: string"),
        ({"query": ""}, "$.query has the length 0; accepted: from 1 to 5"),
        ({"query": "abcdef"}, "$.query has the length 6; accepted: from 1 to 5"),
        ({"query": "a", "limit": 0}, "$.limit is 0; accepted: from 1 to 20"),
        ({"query": "a", "limit": 2.5}, "$.limit is 2.5; accepted: integer"),
        ({"query": "a", "limit": 2.0}, "$.limit is 2.0; accepted: integer"),
        ({"query": "a", "limit": True}, "$.limit is True; accepted: integer"),
        ({"query": "a", "flag": 1}, "$.flag is 1; accepted: boolean"),
        ({"query": "a", "share": 1.5}, "$.share is 1.5; accepted: at most 1"),
        ({"query": "a", "kind": "c"}, "$.kind is 'c'; accepted: 'a', 'b'"),
        ({"query": "a", "maybe": 1}, "$.maybe is 1; accepted: string or null"),
        ({"query": "a", "names": []}, "$.names has 0 entries; accepted: at least 1"),
        ({"query": "a", "names": ["x", 5]}, "$.names[1] is 5; accepted: string"),
        ({"query": "a", "day": "May"}, "$.day is 'May'; accepted: pattern "),
    ],
)
def test_what_does_not_fit_is_named_with_what_is_accepted(arguments: object, told: str) -> None:
    (problem,) = schema_problems(arguments, SCHEMA)
    assert problem.startswith(told)


def test_every_problem_is_told_and_long_values_are_cut() -> None:
    problems = schema_problems({"query": ["x" * 500], "limit": "7", "more": 1}, SCHEMA, at="arguments")
    assert len(problems) == 3
    assert all(problem.startswith("arguments") and len(problem) < 160 for problem in problems)


def form(choice: str, *needed: str, **properties: dict[str, Any]) -> dict[str, Any]:
    """Return one of several forms, told apart by a fixed value."""
    return {
        "type": "object",
        "properties": {"choice": {"const": choice}, **properties},
        "required": ["choice", *needed],
        "additionalProperties": False,
    }


TEXT = {"type": "string"}
ANSWERS = {
    "oneOf": [
        form("retry", guidance=TEXT),
        form("set_mask", "value", domain=TEXT, value={"type": "integer", "minimum": -100, "maximum": 100}),
        form("abandon"),
    ]
}


@pytest.mark.parametrize(
    "answer",
    [
        {"choice": "abandon"},
        {"choice": "retry"},
        {"choice": "retry", "guidance": "look at the annex"},
        {"choice": "set_mask", "domain": "law.contracts", "value": 40},
    ],
)
def test_one_of_several_forms_is_enough(answer: dict[str, Any]) -> None:
    assert schema_problems(answer, ANSWERS) == ()


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"choice": "accept"}, ["$.choice is 'accept'; accepted: 'retry', 'set_mask', 'abandon'"]),
        ({"choice": "retry", "guidance": 4}, ["$.guidance is 4; accepted: string"]),
        (
            {"choice": "set_mask", "domain": "law", "value": 400},
            ["$.value is 400; accepted: from -100 to 100"],
        ),
        ({"choice": "abandon", "agent": "A1"}, ["$ has the unknown 'agent'; accepted: 'choice'"]),
    ],
)
def test_of_several_forms_the_nearest_is_told(answer: dict[str, Any], told: list[str]) -> None:
    assert list(schema_problems(answer, ANSWERS)) == told


@pytest.mark.parametrize(
    "schema",
    [{"type": "text"}, {"pattern": "("}, {"$ref": "https://example.org/schema.json"}],
    ids=["unknown type", "no expression", "elsewhere"],
)
def test_nothing_passes_a_schema_that_can_not_be_applied(schema: dict[str, Any]) -> None:
    (problem,) = schema_problems("x", schema)
    assert problem.startswith("$ can't be checked, because its schema is broken")


def test_the_note_tools_accept_what_they_offer() -> None:
    assert schema_problems({"query": "why", "limit": 5, "offset": 0}, SEARCH_NOTES.input_schema) == ()
    assert schema_problems({"source": "s-1", "start_line": 1}, READ_NOTE.input_schema) == ()
    assert schema_problems({"source": "s-1", "start_line": 0}, READ_NOTE.input_schema)
