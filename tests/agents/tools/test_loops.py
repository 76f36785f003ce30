"""Keys of actions and the circle of two, against definitions written here."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agents.tools.loops import ActionKey, action_key, alternates

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
ARGUMENTS = st.dictionaries(st.text(max_size=4), VALUES, max_size=4)


@given(ARGUMENTS, st.randoms(use_true_random=False))
def test_the_order_of_arguments_does_not_count(arguments: dict[str, Any], random: Any) -> None:
    items = list(arguments.items())
    random.shuffle(items)
    assert action_key("t", dict(items)) == action_key("t", arguments)


@given(ARGUMENTS, ARGUMENTS)
def test_other_arguments_are_another_action(one: dict[str, Any], other: dict[str, Any]) -> None:
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (action_key("t", one) == action_key("t", other)) is same


def test_tool_and_version_of_the_source_belong_to_the_action() -> None:
    keys = {action_key(tool, {"q": "a"}, version) for tool in ("s", "t") for version in (None, "1", "2")}
    assert len(keys) == 6


def test_a_default_that_is_spelled_out_counts_as_left_out() -> None:
    schema = {"properties": {"limit": {"type": "integer", "default": 1}, "all": {"default": True}}}
    bare = action_key("t", {}, schema=schema)
    assert action_key("t", {"limit": 1, "all": True}, schema=schema) == bare
    # 1 and true are equal in Python and two values in JSON.
    assert action_key("t", {"limit": True}, schema=schema) != bare
    assert action_key("t", {"all": 1}, schema=schema) != bare
    assert action_key("t", {"limit": 2}, schema=schema) != bare


@given(st.text("AB", max_size=8))
def test_only_a_circle_of_two_that_is_closed_twice_alternates(actions: str) -> None:
    keys = [ActionKey(letter) for letter in actions]
    assert alternates(keys) is actions.endswith(("ABAB", "BABA"))
