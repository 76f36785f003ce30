"""What a sub-task was asked, read from its parameters and from the criteria that it has to satisfy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agents.operations import field_name
from agents.results import OpenQuestion, WorkOutput
from graphs.contract import Criterion
from orchestrator.core.same_question import same_question
from orchestrator.verification.ports import CheckOrder

_ASKING = ("questions", "fields")
"""Parameters that list what has to be answered, one claim or open question each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What has to be addressed."""

    questions: tuple[str, ...] = ()
    """Questions and fields of the parameters, and the questions of `question_answered` criteria."""
    fields: tuple[str, ...] = ()
    """Fields of `field_filled` criteria."""
    invalid: tuple[str, ...] = ()
    """Parameters that are no list of texts."""


def effective_params(order: CheckOrder) -> Mapping[str, object]:
    """Return the parameters after corrections, or those of the plan where nothing was corrected."""
    return order.params or order.subtask.params


def criteria_of(order: CheckOrder) -> tuple[Criterion, ...]:
    """Return the contract's criteria that the sub-task has to satisfy, in the contract's order."""
    return tuple(each for each in order.contract.acceptance if each.id in order.subtask.acceptance)


def asked_of(order: CheckOrder) -> Asked:
    """Return what the sub-task was asked, each thing once, in order."""
    params = effective_params(order)
    questions: dict[str, None] = {}
    invalid = []
    for name in _ASKING:
        listed = texts_in(params.get(name))
        if listed is None:
            invalid.append(name)
        else:
            questions.update(dict.fromkeys(listed))
    criteria = criteria_of(order)
    questions.update(
        (each.question, None) for each in criteria if each.kind == "question_answered" and each.question
    )
    fields = tuple(each.field for each in criteria if each.kind == "field_filled" and each.field)
    return Asked(questions=tuple(questions), fields=fields, invalid=tuple(invalid))


def texts_in(value: object) -> tuple[str, ...] | None:
    """Return the texts of a list parameter, nothing for an absent one, `None` for any other value."""
    if value is None:
        return ()
    if isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value):
        return tuple(str(each) for each in value)
    return None


def names_of(order: CheckOrder, asked: str) -> tuple[str, ...]:
    """Return what an output may call something asked: its own words, a field of an item also by its full name."""
    params = effective_params(order)
    item = params.get("item")
    if isinstance(item, str) and asked in (texts_in(params.get("fields")) or ()):
        return asked, field_name(item, asked)
    return (asked,)


def open_entry(output: WorkOutput, question: str) -> OpenQuestion | None:
    """Return the entry that leaves `question` open, if there is one."""
    return next((each for each in output.open_questions if same_question(each.question, question)), None)


def field_value(output: WorkOutput, name: str) -> str:
    """Return what the output gives for a named field, without surrounding space; empty where it gives nothing."""
    return next((value.strip() for field, value in output.fields.items() if same_question(field, name)), "")
