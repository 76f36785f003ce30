"""Tools in words, calls as JSON: read back tolerantly, and what does not parse keeps nothing else from running."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.json_schema import schema_problems
from agents.models.action_protocol import action_words, call_schema, call_words, read_actions
from agents.models.contract import InvalidOutput, ToolCalls, ToolOffer
from agents.tools.contract import ToolCall


def calls_in(text: str) -> list[tuple[str, dict[str, Any]]]:
    found = read_actions(text)
    assert isinstance(found, ToolCalls), found
    return [(call.tool, dict(call.arguments)) for call in found.calls]


ARGUMENTS = st.dictionaries(
    st.text(max_size=5), st.none() | st.booleans() | st.integers() | st.text(max_size=8), max_size=3
)
CALLS = st.lists(st.tuples(st.text(min_size=1, max_size=8), ARGUMENTS), min_size=1, max_size=4)


@given(CALLS)
def test_what_is_written_is_read_back(calls: list[tuple[str, Mapping[str, Any]]]) -> None:
    text = call_words([ToolCall(tool=tool, arguments=arguments) for tool, arguments in calls])
    for form in (text, f"I will look.\n```json\n{text}\n```\nThen I go on."):
        assert calls_in(form) == [(tool, dict(arguments)) for tool, arguments in calls]


@pytest.mark.parametrize(
    "text",
    [
        '{"tool": "search", "arguments": {"q": "泵"}}',
        '[{"tool": "search", "arguments": {"q": "泵"}}]',
        '{"name": "search", "arguments": {"q": "泵"}}',
        '<tool_call>\n{"name": "search", "arguments": {"q": "泵"}}\n</tool_call>',
        '{"tool": "search", "arguments": {"q": "泵",},}',
        'Sure. {"tool": "search", "arguments": {"q": "泵"}, "why": "to find it"}',
    ],
)
def test_forms_that_models_use(text: str) -> None:
    assert calls_in(text) == [("search", {"q": "泵"})]


def test_a_call_without_arguments() -> None:
    assert calls_in('{"tool": "today"}') == [("today", {})]


def test_valid_siblings_stay() -> None:
    text = json.dumps(
        [
            {"tool": "search", "arguments": "x"},
            {"tool": "read", "arguments": {"path": "a"}},
            "and",
            {"tool": 5, "arguments": {}},
        ]
    )
    found = read_actions(text)
    assert isinstance(found, ToolCalls)
    assert [(call.tool, call.taint, call.origin) for call in found.calls] == [
        ("read", "untrusted", "parametric")
    ]
    assert [(bad.tool, bad.reason.partition(";")[0]) for bad in found.invalid] == [
        ("search", "arguments is 'x'"),
        ("", 'accepted: {"tool": NAME, "arguments": {...}}'),
        ("", "tool is 5"),
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"tool": "search", "arguments": [1]}', "'search': arguments is [1]; accepted: an object"),
        ('{"tool": "search", "arguments": {"q": "x', "cut off"),
        ('{"tool": search}', "not valid JSON"),
    ],
)
def test_calls_that_can_not_be_read(text: str, told: str) -> None:
    found = read_actions(text)
    assert isinstance(found, InvalidOutput)
    assert told in found.reason


@pytest.mark.parametrize(
    "text", ["", "No tool is needed: the pump is broken.", '{"claims": [], "complete": true}', "[]", "[1, 2]"]
)
def test_an_answer_is_no_call(text: str) -> None:
    assert read_actions(text) is None


def test_every_tool_is_told_with_its_schema() -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    offers = [
        ToolOffer(name=name, description=f"For {name}.", input_schema=schema) for name in ("search", "读")
    ]
    words = action_words(offers)
    told = [json.loads(line) for line in words.split("\n") if line.startswith("{")]
    assert [(one["tool"], one["description"], one["arguments"]) for one in told] == [
        ("search", "For search.", schema),
        ("读", "For 读.", schema),
    ]


OFFERS = tuple(
    ToolOffer(
        name=name,
        description="",
        input_schema={"type": "object", "properties": {given: {"type": "string"}}, "required": [given]},
    )
    for name, given in (("search", "query"), ("finish", "answer"))
)


@pytest.mark.parametrize(
    ("answer", "offered", "is_call"),
    [
        ({"tool": "search", "arguments": {"query": "x"}}, 2, True),
        ({"tool": "finish", "arguments": {"answer": "x"}}, 2, True),
        ({"tool": "search", "arguments": {"query": "x"}}, 1, True),
        ({"tool": "finish", "arguments": {"answer": "x"}}, 1, False),
        ({"tool": "search", "arguments": {"answer": "x"}}, 2, False),
        ({"tool": "delete", "arguments": {}}, 2, False),
        ({"tool": "search"}, 2, False),
        ({"answer": "x"}, 2, False),
        ([{"tool": "search", "arguments": {"query": "x"}}], 2, False),
    ],
)
def test_the_schema_of_a_call_holds_to_what_is_offered(answer: Any, offered: int, is_call: bool) -> None:
    assert (not schema_problems(answer, call_schema(OFFERS[:offered]), at="")) == is_call


def test_no_tools_have_no_schema() -> None:
    with pytest.raises(ValueError, match="no tools"):
        call_schema(())
