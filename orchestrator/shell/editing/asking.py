"""Check that what the contract wants answered is asked by the sub-tasks that take care of it.

The acceptor counts an answer only under the question of its criterion (semantics 7). A criterion and a sub-task that
ask in different words would run to the end and deliver "not answered": that is said before anything runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pydantic import JsonValue

from agents.operations import OPERATIONS, field_name
from graphs.contract import Criterion
from graphs.plan import NodeId, SubTask
from orchestrator.core.proposal import Proposal
from orchestrator.core.same_question import same_question
from orchestrator.shell.editing.findings import Finding, error

_ASKING: Final = ("questions", "statements", "topic", "fields", "columns")
"""The parameters whose texts become the questions of claims."""


def unasked(proposal: Proposal) -> Iterator[Finding]:
    """Yield an error for each question or field of the contract that nothing working on it asks for.

    A sub-task works on a criterion if it names it in `acceptance`, or feeds one that does. Says nothing on a criterion
    that no sub-task names (`graphs.lint` does) and where an operation outside the vocabulary is at work: what it asks
    can't be known.
    """
    for criterion in proposal.contract.acceptance:
        named = [subtask for subtask in proposal.plan.subtasks if criterion.id in subtask.acceptance]
        working = _feeding(named, proposal)
        wanted = criterion.question if criterion.kind == "question_answered" else criterion.field
        if criterion.kind not in ("question_answered", "field_filled") or not wanted or not named:
            continue
        if any(subtask.operation not in OPERATIONS for subtask in working):
            continue
        if not any(_asks(subtask.params, criterion, wanted) for subtask in working):
            yield _unasked(criterion, wanted, working, named)


def _feeding(named: Sequence[SubTask], proposal: Proposal) -> list[SubTask]:
    """The sub-tasks and whatever feeds them, in the plan's order; the plan need not be sound."""
    reached: set[NodeId] = set()
    waiting = [subtask.id for subtask in named]
    while waiting:
        node = waiting.pop()
        if node not in reached:
            reached.add(node)
            waiting += [edge.source for edge in proposal.plan.dependencies if edge.target == node]
    return [subtask for subtask in proposal.plan.subtasks if subtask.id in reached]


def _asks(params: Mapping[str, JsonValue], criterion: Criterion, wanted: str) -> bool:
    if criterion.kind == "question_answered":
        return any(same_question(text, wanted) for text in (*_texts(params, *_ASKING), *_fields(params)))
    if any(same_question(name, wanted) for name in _fields(params)):
        return True
    # Rows that are found in the notes get their names there; only the columns are known before.
    columns = () if _texts(params, "rows") else _texts(params, "columns")
    return any(same_question(wanted.rpartition(" / ")[2], column) for column in columns)


def _fields(params: Mapping[str, JsonValue]) -> Iterator[str]:
    """The names of the fields that the parameters fill: one thing and its fields, items by aspects, rows by columns."""
    for things, aspects in (
        ("item", ("fields", "questions")),
        ("items", ("aspects",)),
        ("rows", ("columns",)),
    ):
        for thing in _texts(params, things):
            yield from (field_name(thing, aspect) for aspect in _texts(params, *aspects))


def _texts(params: Mapping[str, JsonValue], *names: str) -> tuple[str, ...]:
    found: list[str] = []
    for name in names:
        value = params.get(name)
        listed = value if isinstance(value, list | tuple) else (value,)
        found += [text for text in listed if isinstance(text, str) and text.strip()]
    return tuple(found)


def _unasked(
    criterion: Criterion, wanted: str, working: Sequence[SubTask], named: Sequence[SubTask]
) -> Finding:
    asker = next(
        (s for s in (*named, *working) if _texts(s.params, *_ASKING) or any(_fields(s.params))), named[0]
    )
    asked = tuple(dict.fromkeys((*_fields(asker.params), *_texts(asker.params, *_ASKING))))
    shown = ", ".join(repr(text) for text in asked[:3]) or "-"
    where = f"plan.subtasks.{asker.id}.params"
    what = "question" if criterion.kind == "question_answered" else "field"
    return error(
        f"{what}_not_asked",
        where,
        {
            "en": f"the {what} {wanted!r} of contract.acceptance.{criterion.id} is asked by no sub-task that works on "
            f"it ({', '.join(s.id for s in working)}); {asker.id} asks: {shown}. Write the same words in both places.",
            "zh": f"contract.acceptance.{criterion.id} 的 {what} {wanted!r} 没有任何负责它的子任务"
            f"（{'、'.join(s.id for s in working)}）去查找；{asker.id} 的内容为：{shown}。请在两处写相同的文字。",
        },
        criterion.id,
        *(subtask.id for subtask in working),
    )
