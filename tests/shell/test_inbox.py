"""Messages of other processes and the events that they lead to."""

from __future__ import annotations

import json
from typing import Any

import pytest

from orchestrator.core.events import (
    CancelRequested,
    MessageRefused,
    RequestAnswered,
    RunContinued,
    RunPaused,
)
from orchestrator.core.requests import Answer
from orchestrator.shell.inbox import ANSWER, UnreadableMessage, asked_for
from orchestrator.shell.store.rows import InboxMessage
from tests.core.builders import SOLO, failure, plan, proposal
from tests.core.simulation import Simulation, fails


def message(kind: str, **document: Any) -> InboxMessage:
    return InboxMessage(
        id=1, run="r-test", kind=kind, payload=json.dumps(document), ts="2026-01-01T00:00:00Z"
    )


def suspended() -> Simulation:
    simulation = Simulation(proposal(plan("a>b"), roster=SOLO), {"a": [fails(failure("refused"))] * 9})
    simulation.run()
    assert simulation.state.status == "suspended"
    return simulation


def test_pause_continue_and_cancel_apply_once() -> None:
    run = Simulation(proposal(plan("a>b")))
    assert asked_for(run.state, message("pause", by="ann")) == RunPaused(by="ann")
    assert asked_for(run.state, message("continue", by="ann")) is None
    run.pause()
    assert asked_for(run.state, message("pause", by="ann")) is None
    assert asked_for(run.state, message("continue", by="bob")) == RunContinued(by="bob")
    assert asked_for(run.state, message("cancel")) == CancelRequested(by="unknown")
    run.cancel()
    assert asked_for(run.state, message("cancel", by="ann")) is None


def test_an_answer_is_taken_while_its_request_is_open() -> None:
    run = suspended()
    (request,) = run.requests()
    answer = Answer(choice="retry", guidance="look again")
    given = message("answer", request=request.id, answer=ANSWER.dump_python(answer, mode="json"), by="ann")
    assert asked_for(run.state, given) == RequestAnswered(
        request=request.id, node=request.node, answer=answer, by="ann"
    )
    run.answer(request, answer)
    assert asked_for(run.state, given) is None


@pytest.mark.parametrize(
    "answer",
    [
        {"choice": "accept"},
        {"choice": "reassign"},
        {"choice": "reassign", "agent": "A7"},
        {"choice": "set_mask", "agent": "A1", "domain": "law.contracts"},
        {"choice": "set_mask", "agent": "A1", "domain": "law.contracts", "value": 120},
    ],
)
def test_what_is_no_choice_of_the_request_is_refused(answer: object) -> None:
    run = suspended()
    (request,) = run.requests()
    refused = asked_for(run.state, message("answer", request=request.id, answer=answer, by="ann"))
    assert isinstance(refused, MessageRefused)
    assert (refused.kind, refused.request, refused.by) == ("answer", request.id, "ann")


def test_an_answer_to_a_question_that_is_not_open_is_dropped() -> None:
    run = suspended()
    assert asked_for(run.state, message("answer", request="r-test.q9", answer={"choice": "retry"})) is None


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"choice": "retry", "hint": "look again"}, "hint"),
        ({"choice": "set_mask", "agent": "A1", "domain": "law.contracts", "value": "40"}, "'40'"),
    ],
)
def test_an_answer_that_is_not_written_as_its_schema_asks_is_told(answer: object, told: str) -> None:
    run = suspended()
    (request,) = run.requests()
    assert "set_mask" in request.choices
    with pytest.raises(UnreadableMessage, match=r"is no answer to 'r-test\.q1'") as refused:
        asked_for(run.state, message("answer", request=request.id, answer=answer, by="ann"))
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "payload", "told"),
    [
        ("approve", '{"by": "ann"}', "unknown kind 'approve'"),
        ("pause", "[]", "is no 'pause'"),
        ("cancel", "null", "is no 'cancel'"),
        ("continue", "not json", "is no 'continue'"),
        ("pause", '{"by": 7}', "by: "),
        ("answer", '{"by": "ann"}', "request: Field required; answer: Field required"),
        ("answer", '{"request": [], "answer": {"choice": "retry"}}', "request: "),
        ("answer", '{"request": "r-test.q1", "answer": "yes"}', "answer: "),
    ],
)
def test_a_message_that_is_not_of_its_kinds_shape_is_told_apart(kind: str, payload: str, told: str) -> None:
    written = InboxMessage(id=1, run="r-test", kind=kind, payload=payload, ts="2026-01-01T00:00:00Z")
    with pytest.raises(UnreadableMessage, match="message 1 of run 'r-test'") as refused:
        asked_for(suspended().state, written)
    assert told in str(refused.value)
