"""What `finish` takes and what it names."""

from collections.abc import Mapping
from typing import Any

import pytest

from agents.json_schema import schema_problems
from agents.prompts_loop import finish_words
from agents.workers.model_loop.finish import FINISH_SCHEMA, finish_offer, read_finish

CLAIM = {"statement": "S", "excerpts": ["E1"], "question": 1}
WHOLE: dict[str, Any] = {"claims": [CLAIM], "complete": True, "open_questions": []}


def test_a_whole_finish_is_accepted() -> None:
    needs = [{"domain": "cs.security", "question": None}]
    read = read_finish({**WHOLE, "needs": needs}, ["Q?"], "en")
    assert (read.claims, read.complete, read.needs, read.problems) == ((CLAIM,), True, tuple(needs), ())


@pytest.mark.parametrize("missing", ["claims", "complete", "open_questions"])
def test_a_missing_field_is_named_and_the_others_are_kept(missing: str) -> None:
    read = read_finish({name: value for name, value in WHOLE.items() if name != missing}, ["Q?"], "en")
    assert any(missing in problem for problem in read.problems)
    assert read.claims == (() if missing == "claims" else (CLAIM,))
    assert read.complete is (missing != "complete")


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"claims": [{"statement": "S"}]}, "excerpts"),
        ({"claims": [{**CLAIM, "question": "1"}]}, "question"),
        ({"claims": {"statement": "S"}}, "claims"),
        ({"complete": "yes"}, "complete"),
        ({"extra": 1}, "extra"),
        ({"open_questions": [{"question": 2}]}, "why"),
        ({"claims": [{**CLAIM, "question": 3}]}, "question is 3; accepted: 1 to 2"),
        ({"open_questions": [{"question": 0, "why": "x"}]}, "question is 0; accepted: 1 to 2"),
        ({}, "question 2 has neither a claim nor an entry in open_questions"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(changed: dict[str, Any], named: str) -> None:
    read = read_finish({**WHOLE, **changed}, ["Q1?", "Q2?"], "en")
    assert any(named in problem for problem in read.problems), read.problems


def test_entries_that_fit_are_kept_beside_those_that_do_not() -> None:
    read = read_finish({**WHOLE, "claims": [CLAIM, {"statement": 1}, "x"]}, ["Q?"], "en")
    assert read.claims == (CLAIM,)
    assert read.problems


def test_the_only_question_needs_no_number_and_an_order_without_questions_a_claim() -> None:
    unnumbered = {"statement": "S", "excerpts": []}
    assert read_finish({**WHOLE, "claims": [unnumbered]}, ["Q?"], "en").problems == ()
    assert read_finish({**WHOLE, "claims": [unnumbered]}, [], "en").problems == ()
    (problem,) = read_finish({**WHOLE, "claims": []}, [], "en").problems
    assert "claims is empty" in problem


def test_the_offer_holds_the_schema_in_both_languages() -> None:
    for lang in ("en", "zh"):
        offer = finish_offer(lang)
        assert (offer.name, offer.input_schema["required"]) == ("finish", FINISH_SCHEMA["required"])
        assert all(f"`{name}`" in offer.description for name in FINISH_SCHEMA["properties"])
    assert finish_words("en") != finish_words("zh")
    assert schema_problems(WHOLE, FINISH_SCHEMA) == ()


CITED: Mapping[str, Any] = {"statement": "S", "excerpts": ["E1"], "question": 1}


@pytest.mark.parametrize(
    ("claim", "fits"),
    [
        (CITED, True),
        ({**CITED, "question": 2}, True),
        ({**CITED, "question": None}, True),
        ({**CITED, "question": 3}, False),
        ({**CITED, "question": 0}, False),
        ({**CITED, "excerpts": []}, True),
        ({**CITED, "excerpts": ["notes.md:11"]}, False),
    ],
)
def test_what_is_offered_is_narrower_than_what_is_read(claim: Mapping[str, Any], fits: bool) -> None:
    offered = finish_offer("en", 2).input_schema
    given = {"claims": [claim], "complete": False, "open_questions": []}
    assert (not schema_problems(given, offered)) == fits
    assert schema_problems(given, FINISH_SCHEMA) == ()


def test_without_questions_a_claim_answers_none_and_with_rows_it_names_its_own() -> None:
    plain, rows = finish_offer("en").input_schema, finish_offer("en", 2, rows=True).input_schema
    given = {"claims": [{**CITED, "question": None}], "complete": False, "open_questions": []}
    assert not schema_problems(given, plain)
    assert schema_problems({**given, "claims": [CITED]}, plain)
    assert schema_problems(given, rows)
    assert not schema_problems({**given, "claims": [{**CITED, "row": "Index"}]}, rows)
