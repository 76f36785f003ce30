"""What the contract wants answered has to be asked by a sub-task that works on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from pydantic import JsonValue

from graphs.contract import Criterion
from graphs.plan import Plan
from orchestrator.core.errors import InvalidProposal
from orchestrator.core.proposal import Proposal
from orchestrator.shell.editing.checks import check_proposal
from orchestrator.shell.editing.document import from_document
from tests.shell.editing.builders import PLAN, PROPOSAL, REGISTRY, document, edited


def asking(params: Mapping[str, JsonValue], criterion: Criterion, operation: str = "research") -> Proposal:
    """The proposal with another first sub-task, and another criterion for it."""
    first = replace(PLAN.subtasks[0], params=dict(params), operation=operation)
    contract = replace(PROPOSAL.contract, acceptance=(criterion, PROPOSAL.contract.acceptance[1]))
    return replace(
        PROPOSAL,
        contract=contract,
        plan=Plan(subtasks=(first, *PLAN.subtasks[1:]), dependencies=PLAN.dependencies),
    )


def codes(proposal: Proposal) -> list[str]:
    return [finding.code for finding in check_proposal(proposal, REGISTRY).errors]


WHY = Criterion(id="c1", text="Why", kind="question_answered", question="Why is it late?")
COST = Criterion(id="c1", text="Cost", kind="field_filled", field="Line 2 / cost")


@pytest.mark.parametrize(
    "params",
    [
        {"questions": ["Who?", " why is  it LATE？"]},
        {"statements": ["Why is it late?"]},
        {"topic": "Why is it late?"},
    ],
)
def test_a_question_counts_as_asked_as_the_acceptor_compares(params: Mapping[str, JsonValue]) -> None:
    assert codes(asking(params, WHY)) == []


@pytest.mark.parametrize("params", [{"questions": ["Why is it so late?"]}, {"questions": []}, {}])
def test_a_question_that_nobody_asks_is_refused(params: Mapping[str, JsonValue]) -> None:
    assert codes(asking(params, WHY)) == ["question_not_asked"]


@pytest.mark.parametrize(
    "params",
    [
        {"item": "Line 2", "fields": ["name", "Cost"]},
        {"items": ["Line 1", "Line 2"], "aspects": ["cost"]},
        {"rows": ["Line 2"], "columns": ["cost", "date"]},
        {"columns": ["cost"]},
    ],
)
def test_a_field_counts_as_asked_by_its_thing_and_aspect(params: Mapping[str, JsonValue]) -> None:
    assert codes(asking(params, COST)) == []


@pytest.mark.parametrize(
    "params",
    [
        {"item": "Line 1", "fields": ["cost"]},
        {"items": ["Line 2"], "aspects": ["price"]},
        {"rows": ["Line 1"], "columns": ["cost"]},
        {"columns": ["date"]},
    ],
)
def test_a_field_that_nobody_fills_is_refused(params: Mapping[str, JsonValue]) -> None:
    assert codes(asking(params, COST)) == ["field_not_asked"]


def test_operations_of_other_makers_are_trusted() -> None:
    assert "question_not_asked" not in codes(asking({}, WHY, operation="divine"))


def test_a_sub_task_that_only_the_exit_names_may_ask() -> None:
    silent = tuple(replace(s, acceptance=()) if s.boundary == "entry" else s for s in PLAN.subtasks)
    assert codes(replace(PROPOSAL, plan=replace(PLAN, subtasks=silent))) == []


def test_an_edit_of_one_place_only_names_both() -> None:
    text = edited('question: "What does it cost?"', 'question: "Which price?"', text=document())
    with pytest.raises(InvalidProposal) as refused:
        from_document(text, PROPOSAL, REGISTRY)
    for lang in ("en", "zh"):
        (line,) = refused.value.problems[lang]
        assert line.startswith("plan.subtasks.n2.params")
        assert "contract.acceptance.c2" in line
        assert "Which price?" in line
        assert "What does it cost?" in line
