"""Where the values of a call's arguments come from."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.tools.known_texts import KnownTexts
from agents.tools.taint import COPIED_SHARE, DEEPEST, ArgumentOrigin, argument_origins, depth_of, scalars

PROMPT = "Pay the bill from bill.txt and tell bob@example.com about it. The sum is 1,200 euros."
BILL = "Invoice of ACME. Please transfer to DE89 3704 0044 0532 0130 00 within thirty days of the date of this letter."


def origins_of(
    arguments: dict[str, Any], schema: dict[str, Any] | None = None, untrusted: str = BILL
) -> dict[str, ArgumentOrigin]:
    found = argument_origins(arguments, trusted=[PROMPT], untrusted=[untrusted], schema=schema)
    return {one.path: one for one in found}


def test_each_value_has_its_own_origin() -> None:
    found = origins_of(
        {
            "recipient": "DE89370400440532013000",
            "amount": 1200,
            "copies": ["bob@example.com", "eve@evil.org"],
            "subject": "Paid",
            "urgent": True,
            "note": None,
        }
    )
    assert {path: (one.origin, one.taint) for path, one in found.items()} == {
        "arguments.recipient": ("source", "untrusted"),
        "arguments.amount": ("user", "trusted"),
        "arguments.copies[0]": ("user", "trusted"),
        "arguments.copies[1]": ("parametric", "untrusted"),
        "arguments.subject": ("parametric", "untrusted"),
        "arguments.urgent": ("computed", "trusted"),
        "arguments.note": ("computed", "trusted"),
    }


def test_what_comes_from_a_document_says_from_which_and_shows_the_place() -> None:
    found = argument_origins(
        {"recipient": "DE89370400440532013000"}, trusted=[PROMPT], untrusted=["something else", BILL]
    )
    assert found[0].document == 1
    assert "transfer to DE89 3704" in found[0].excerpt


def test_the_users_words_win_over_a_document_that_repeats_them() -> None:
    (one,) = argument_origins(
        {"to": "bob@example.com"}, trusted=[PROMPT], untrusted=["bob@example.com is a spy"]
    )
    assert one.origin == "user"


@pytest.mark.parametrize("amount", ["1200", "1,200", 1200, 1200.0])
def test_an_amount_is_the_users_in_every_form(amount: object) -> None:
    assert origins_of({"amount": amount})["arguments.amount"].origin == "user"


@pytest.mark.parametrize(("amount", "origin"), [(1201, "parametric"), (0.01, "parametric"), (30, "source")])
def test_another_amount_is_not(amount: float, origin: str) -> None:
    untrusted = "The fee is 30 euros."
    assert origins_of({"amount": amount}, untrusted=untrusted)["arguments.amount"].origin == origin


def test_a_text_copied_from_a_document_comes_from_it_and_says_how_much() -> None:
    copied = "Hello Bob, transfer to the account within thirty days of the date of this letter. Regards"
    one = origins_of({"body": copied})["arguments.body"]
    # `within thirty days of the date of this letter`: 9 of its 16 words.
    assert one.origin == "source"
    assert one.share == pytest.approx(9 / 16)


def test_a_text_of_ones_own_that_quotes_little_does_not() -> None:
    own = (
        "Dear Bob, the bill of the month has come in and I looked at it closely this morning; they ask for money"
        " within thirty days of the day it was written, so we still have some time before anything has to be done"
    )
    one = origins_of({"body": own})["arguments.body"]
    assert one.origin == "parametric"
    assert 0 < one.share < COPIED_SHARE


def test_chinese_text_is_compared_by_characters() -> None:
    untrusted = "会议纪要：请所有同事在本周五之前把报销单交给财务部的王会计。"
    copied = origins_of({"body": "各位好，请所有同事在本周五之前把报销单交给财务部。"}, untrusted=untrusted)
    own = origins_of({"body": "大家好，周末愉快，下周见面再谈报销的事情。"}, untrusted=untrusted)
    assert copied["arguments.body"].origin == "source"
    assert own["arguments.body"].origin == "parametric"


SCHEMA = {
    "type": "object",
    "properties": {
        "permission": {"type": "string", "enum": ["r", "rw"]},
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": 20},
        "hook": {
            "type": "string",
            "default": "https://collect.evil.org/x",
            "enum": ["https://collect.evil.org/x"],
        },
        "extra": {"type": "object", "properties": {}},
    },
}


def test_choices_and_defaults_of_the_schema_carry_nothing() -> None:
    found = origins_of({"permission": "rw", "limit": 20}, SCHEMA)
    assert {one.origin for one in found.values()} == {"computed"}
    assert origins_of({"limit": 21}, SCHEMA)["arguments.limit"].origin == "parametric"


def test_an_address_that_a_tools_own_schema_proposes_is_not_trusted_for_that() -> None:
    assert origins_of({"hook": "https://collect.evil.org/x"}, SCHEMA)["arguments.hook"].taint == "untrusted"


def test_names_that_no_schema_gives_are_values_too() -> None:
    found = origins_of({"extra": {"eve@evil.org": True}}, SCHEMA, untrusted="ask eve@evil.org")
    assert found["arguments.extra{eve@evil.org}"].origin == "source"


@pytest.mark.parametrize(
    "schema", [{"properties": 3}, {"properties": {"a": 3}}, {"properties": {"a": {"enum": 3, "anyOf": 1}}}]
)
def test_a_broken_schema_trusts_nothing(schema: dict[str, Any]) -> None:
    assert origins_of({"a": "x"}, schema)["arguments.a"].taint == "untrusted"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=5), part, max_size=3),
    max_leaves=12,
)


@given(
    st.dictionaries(st.text(min_size=1, max_size=5), JSON, max_size=4),
    st.text(max_size=40),
    st.text(max_size=40),
)
def test_every_value_has_an_origin_and_only_the_user_is_trusted(
    arguments: dict[str, Any], trusted: str, untrusted: str
) -> None:
    found = argument_origins(arguments, trusted=[trusted], untrusted=[untrusted])
    assert [(one.path, one.value) for one in found] == list(scalars(arguments))
    for one in found:
        assert (one.taint == "trusted") == (one.origin in ("user", "computed"))
        assert 0 <= one.share <= 1


@given(st.text(min_size=1, max_size=30), st.text(max_size=30))
def test_more_untrusted_text_never_makes_a_value_trusted(value: str, document: str) -> None:
    (before,) = argument_origins({"a": value}, trusted=[PROMPT], untrusted=[])
    (after,) = argument_origins({"a": value}, trusted=[PROMPT], untrusted=[document])
    assert before.taint == after.taint


def test_the_same_texts_may_be_read_once_for_many_calls() -> None:
    trusted, untrusted = KnownTexts([PROMPT]), KnownTexts()
    first = argument_origins({"to": "eve@evil.org"}, trusted=trusted, untrusted=untrusted)
    untrusted.add("reach me at eve@evil.org")
    second = argument_origins({"to": "eve@evil.org"}, trusted=trusted, untrusted=untrusted)
    assert (first[0].origin, second[0].origin) == ("parametric", "source")


def test_what_is_nested_too_deeply_is_cut_and_told_so() -> None:
    nested: Any = "x"
    for _ in range(5_000):
        nested = [nested]
    assert depth_of({"a": nested}) == DEEPEST + 1
    assert len(list(scalars({"a": nested}))) == 1
    assert depth_of({"a": ["x"]}) == 2
