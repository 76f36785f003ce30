import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.models.json_answers import Parsed, Unparsed, read_json_answer

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "size": {"type": ["integer", "null"], "minimum": 1, "maximum": 9},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1},
    },
    "required": ["name"],
    "additionalProperties": False,
}

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(st.lists(JSON_VALUES, max_size=3) | st.dictionaries(st.text(max_size=5), JSON_VALUES, max_size=3))
def test_what_json_writes_is_read_back(value: object) -> None:
    for text in (json.dumps(value), f"Sure:\n```json\n{json.dumps(value, indent=1)}\n```\nDone."):
        assert read_json_answer(text) == Parsed(data=value)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "x",}',
        '```\n{"name": "x"}\n```',
        'The answer is {"name": "x"} as asked.',
        '\ufeff{"name": "x"}',
        'Not this: [1] but {"name": "x"}',
        'Thinking {not json} … {"name": "x"}',
    ],
)
def test_form_is_forgiven(text: str) -> None:
    assert read_json_answer(text, SCHEMA) == Parsed(data={"name": "x"})


def test_a_comma_or_bracket_inside_a_string_is_left_alone() -> None:
    text = '{"name": "a,] } \\" ,}",}'
    assert read_json_answer(text, SCHEMA) == Parsed(data={"name": 'a,] } " ,}'})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no JSON value found"),
        ("I can't.", "no JSON value found"),
        ('{"name": "x", "tags": ["a"', "cut off"),
        ('{"name": NaN}', "NaN is no JSON number"),
        ('{"size": 1}', "'name' is missing"),
        ('[{"name": "x"}]', "$ is [{'name': 'x'}]; accepted: object"),
        ('{"name": 5}', "$.name is 5; accepted: string"),
        ('{"name": "x", "size": true}', "$.size is True; accepted: integer or null"),
        ('{"name": "x", "size": 12}', "$.size is 12; accepted: from 1 to 9"),
        ('{"name": "x", "tags": []}', "$.tags has 0 entries; accepted: at least 1"),
        ('{"name": "x", "tags": ["a", "z"]}', "$.tags[1] is 'z'; accepted: 'a', 'b'"),
        ('{"name": "x", "more": 1}', "unknown 'more'"),
        ('{"name": x}', "not valid JSON"),
    ],
)
def test_content_is_not_guessed(text: str, told: str) -> None:
    found = read_json_answer(text, SCHEMA)
    assert isinstance(found, Unparsed)
    assert told in found.reason


def test_every_misfit_is_told_up_to_a_handful() -> None:
    found = read_json_answer('{"name": 5, "size": 0}', SCHEMA)
    assert found == Unparsed(reason="$.name is 5; accepted: string; $.size is 0; accepted: from 1 to 9")
    many = read_json_answer(json.dumps({"name": "x", "tags": ["z"] * 50}), SCHEMA)
    assert isinstance(many, Unparsed)
    assert many.reason.count("accepted") == 5


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    assert isinstance(read_json_answer(text), Parsed | Unparsed)
