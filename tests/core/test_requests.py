"""An answer is one of the choices with exactly its values; text alone is none (semantics 7, architecture 4)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from orchestrator.core.ids import RequestId, RunId, request_id, run_of_request
from orchestrator.core.requests import (
    CHOICES,
    REASONS,
    Answer,
    ChoiceId,
    InvalidAnswer,
    ReasonCode,
    Request,
    answer_schema,
    check_answer,
)
from tests.core.builders import MEDICINE, failure, n, plan, proposal
from tests.core.simulation import Simulation, fails

ALL: tuple[ChoiceId, ...] = get_args(ChoiceId)


def request(*choices: ChoiceId) -> Request:
    return Request(
        id=RequestId("r-1.q1"),
        kind="suspension",
        node=n("a"),
        reason="depth_limit",
        detail="",
        attempts=(),
        choices=choices or ALL,
        agents=("A2", "A3"),
    )


@pytest.mark.parametrize(
    "answer",
    [
        Answer(choice="retry"),
        Answer(choice="retry", guidance="Use the newer file."),
        Answer(choice="set_mask", agent="A1", domain="law.contracts", value=0),
        Answer(choice="set_mask", agent="A1", domain="law.contracts", value=-100),
        Answer(choice="reassign", agent="A2"),
        Answer(choice="accept"),
        Answer(choice="abandon"),
        Answer(choice="review"),
    ],
)
def test_complete_answers_pass(answer: Answer) -> None:
    check_answer(request(), answer)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (Answer(choice="set_mask", domain="law.contracts", value=10), "needs an agent"),
        (Answer(choice="set_mask", agent="A1", value=10), "needs an agent, a domain"),
        (Answer(choice="set_mask", agent="A1", domain="law.contracts"), "and a value"),
        (
            Answer(choice="set_mask", agent="A1", domain="law.contracts", value=101),
            "101 .* outside -100..100",
        ),
        (Answer(choice="set_mask", agent="A1", domain="law.contracts", value=-101), "-101"),
        (Answer(choice="reassign"), "needs the id of an agent"),
        (Answer(choice="reassign", agent="A1"), "'A1' is no agent that can take 'a'; choose one of: A2, A3"),
    ],
)
def test_incomplete_answers_are_refused(answer: Answer, says: str) -> None:
    with pytest.raises(InvalidAnswer, match=says):
        check_answer(request(), answer)


def test_a_choice_that_is_not_offered_is_refused() -> None:
    with pytest.raises(InvalidAnswer, match=r"'accept' is no choice .* choose one of: retry, review"):
        check_answer(request("retry", "review"), Answer(choice="accept"))


def options_of(choices: tuple[ChoiceId, ...]) -> list[Any]:
    options = answer_schema(choices)["oneOf"]
    assert isinstance(options, list)
    return options


@given(
    st.builds(
        Answer,
        choice=st.sampled_from(ALL),
        guidance=st.sampled_from(["", "", "Look again."]),
        agent=st.sampled_from(["", "A1", "A2", "A9"]),
        domain=st.sampled_from(["", "law.contracts"]),
        value=st.sampled_from([None, None, -101, -100, 0, 100, 101]),
    ),
    st.sampled_from([ALL, ("retry", "abandon"), ("set_mask", "reassign", "review")]),
)
def test_an_answer_passes_exactly_when_it_matches_the_schema(
    answer: Answer, choices: tuple[ChoiceId, ...]
) -> None:
    asked = request(*choices)
    document = {name: value for name, value in asdict(answer).items() if value not in ("", None)}
    fits = Draft202012Validator(answer_schema(choices, asked.agents)).is_valid(document)
    try:
        check_answer(asked, answer)
    except InvalidAnswer:
        assert not fits
    else:
        assert fits


def test_values_that_a_choice_does_not_take_are_refused() -> None:
    with pytest.raises(
        InvalidAnswer, match="'accept' takes no agent and no value; values that go with it: none"
    ):
        check_answer(request(), Answer(choice="accept", agent="A1", value=3))


@pytest.mark.parametrize("name", ["A3", "V1", "A9"])
def test_only_the_mask_of_an_agent_that_can_take_the_sub_task_is_set(name: str) -> None:
    """A3 performs another operation and V1 only checks; A2 could take over from A1."""
    run = Simulation(proposal(plan("a>b")), {"a": [fails(failure("domain_closed", domain=MEDICINE))] * 9})
    run.run()
    (asked,) = run.requests()
    assert set(asked.closed) == {"A1", "A2"}
    for able in ("A1", "A2"):
        check_answer(asked, Answer(choice="set_mask", agent=able, domain=MEDICINE, value=40))
    unable = Answer(choice="set_mask", agent=name, domain=MEDICINE, value=40)
    with pytest.raises(InvalidAnswer, match=f"'{name}' neither works on 'a' nor can take it.*one of: A1, A2"):
        check_answer(asked, unable)
    assert not Draft202012Validator(dict(asked.schema)).is_valid(
        {"choice": "set_mask", "agent": name, "domain": MEDICINE, "value": 40}
    )


def test_a_request_says_what_its_answers_look_like() -> None:
    run = Simulation(proposal(plan("a>b")), {"a": [fails(failure("tool_missing"))] * 9})
    run.run()
    (asked,) = run.requests()
    assert asked.schema == answer_schema(asked.choices, asked.agents, tuple(asked.closed))
    Draft202012Validator.check_schema(asked.schema)


@pytest.mark.parametrize("choices", [ALL, ("retry", "abandon")])
def test_the_schema_offers_exactly_the_choices(choices: tuple[ChoiceId, ...]) -> None:
    options = options_of(choices)
    assert [option["properties"]["choice"]["const"] for option in options] == list(choices)
    assert all(option["additionalProperties"] is False for option in options)


def test_the_schema_asks_for_the_values_that_the_check_asks_for() -> None:
    options = {o["properties"]["choice"]["const"]: o for o in options_of(ALL)}
    assert options["set_mask"]["required"] == ["choice", "agent", "domain", "value"]
    assert options["set_mask"]["properties"]["value"] == {"type": "integer", "minimum": -100, "maximum": 100}
    assert options["reassign"]["required"] == ["choice", "agent"]
    assert options["retry"]["required"] == ["choice"]
    assert "guidance" in options["retry"]["properties"]


def test_everything_is_said_in_both_languages() -> None:
    assert set(CHOICES) == set(ALL)
    assert set(REASONS) == set(get_args(ReasonCode))
    for words in (*CHOICES.values(), *REASONS.values()):
        assert set(words) == {"en", "zh"}
        assert words["en"].isascii()
        assert any("\u4e00" <= character <= "\u9fff" for character in words["zh"])


def test_a_request_names_its_run() -> None:
    assert run_of_request(request_id(RunId("r-1.q2"), 3)) == "r-1.q2"
    for text in ("", "r-1", ".q1", "r-1.q", "r-1.qx", "r-1.q-1"):
        with pytest.raises(ValueError, match="request"):
            run_of_request(text)
