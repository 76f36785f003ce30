"""Arguments of tool calls against the tool's schema."""

from __future__ import annotations

from typing import Any

import pytest

from agents.tools.builtin.notes import READ_NOTE, SEARCH_NOTES
from orchestrator.shell.argument_schema import argument_problems

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 1, "maxLength": 5},
        "limit": {"type": "integer", "minimum": 1, "maximum": 20},
        "share": {"type": "number", "maximum": 1},
        "flag": {"type": "boolean"},
        "kind": {"enum": ["a", "b"]},
        "names": {"type": "array"},
        "maybe": {"type": ["string", "null"]},
    },
    "required": ["query"],
}


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "abc"},
        {"query": "abc", "limit": 20, "share": 0.5, "flag": True, "kind": "a", "names": ["x"], "maybe": None},
        {"query": "五个汉字啊", "share": -3, "maybe": "x"},
    ],
)
def test_what_fits_has_no_problem(arguments: dict[str, Any]) -> None:
    assert argument_problems(arguments, SCHEMA) == ()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "argument 'query' is missing"),
        ({"query": "a", "path": "/"}, "unknown argument 'path'; accepted: flag, kind, limit"),
        ({"query": 5}, "argument 'query' is 5; accepted: string"),
        ({"query": ""}, "argument 'query' has the length 0; accepted: from 1 to 5"),
        ({"query": "abcdef"}, "argument 'query' has the length 6; accepted: from 1 to 5"),
        ({"query": "a", "limit": 0}, "argument 'limit' has the value 0; accepted: from 1 to 20"),
        ({"query": "a", "limit": 2.5}, "argument 'limit' is 2.5; accepted: integer"),
        ({"query": "a", "limit": True}, "argument 'limit' is True; accepted: integer"),
        ({"query": "a", "flag": 1}, "argument 'flag' is 1; accepted: boolean"),
        ({"query": "a", "share": 1.5}, "argument 'share' has the value 1.5; accepted: from any to 1"),
        ({"query": "a", "kind": "c"}, "argument 'kind' is 'c'; accepted: 'a', 'b'"),
        ({"query": "a", "maybe": 1}, "argument 'maybe' is 1; accepted: string or null"),
    ],
)
def test_what_does_not_fit_is_named_with_what_is_accepted(arguments: dict[str, Any], told: str) -> None:
    (problem,) = argument_problems(arguments, SCHEMA)
    assert problem.startswith(told)


def test_every_problem_is_told_and_long_values_are_cut() -> None:
    problems = argument_problems({"query": ["x" * 500], "limit": "7"}, SCHEMA)
    assert len(problems) == 2
    assert all(len(problem) < 160 for problem in problems)


def test_the_note_tools_accept_what_they_offer() -> None:
    assert argument_problems({"query": "why", "limit": 5, "offset": 0}, SEARCH_NOTES.input_schema) == ()
    assert argument_problems({"source": "s-1", "start_line": 1}, READ_NOTE.input_schema) == ()
    assert argument_problems({"source": "s-1", "start_line": 0}, READ_NOTE.input_schema)
