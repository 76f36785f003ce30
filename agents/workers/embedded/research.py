"""The research worker: answers questions, or fills the fields of one thing, with sentences quoted from the notes.

Deterministic and extractive: it invents nothing, follows nothing that a note says, and leaves open what the notes
don't answer, with what it searched for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from agents.results import WorkResult
from agents.retrieval.tokens import is_cjk
from agents.tools.contract import Broker
from agents.workers.embedded.access import Access
from agents.workers.embedded.answering import texts_of
from agents.workers.embedded.composing import Answer, answer, compose, needs_of
from agents.workers.embedded.inquiry import Inquiry, NotesReader, ResearchLimits, inquire
from agents.workers.embedded.question import read_question
from agents.workers.ports import WorkFailed, WorkOrder
from graphs.contract import Lang

DEFAULT_BUDGET: Final[Mapping[Lang, int]] = {"en": 120, "zh": 240}
"""Length of one answer: words of an English question's answer, characters of a Chinese one's."""
FEWEST_CALLS: Final = 2
"""Tool calls that a question gets, however many there are: one search and one reading."""


@dataclass(frozen=True, slots=True)
class ResearchWorker:
    """Performs orders of the operation `research`."""

    limits: ResearchLimits = field(default_factory=ResearchLimits)

    async def work(self, order: WorkOrder, broker: Broker) -> WorkResult:
        """Return quoted answers to `params["questions"]`, or to `params["fields"]` of `params["item"]`.

        `params["budget"]` sets the length of one answer (`DEFAULT_BUDGET`). Raises `WorkFailed` (`bad_request`) if
        there is nothing to ask or the budget is no positive whole number, and for tools that can't be used; lets
        `BudgetExhausted` pass.
        """
        access = Access(mask=order.agent.mask, thresholds=order.thresholds, path=order.path)
        inquiries = _inquiries(order.params or order.subtask.params, access)
        reader = NotesReader(broker)
        for position, inquiry in enumerate(inquiries):
            left = max(0, self.limits.tool_calls - reader.calls)
            share = max(FEWEST_CALLS, left // (len(inquiries) - position))
            await inquire(inquiry, reader, self.limits, min(left, share) if left >= FEWEST_CALLS else 0)
        budget = _budget(order.params or order.subtask.params)
        answers = [answer(inquiry, budget or DEFAULT_BUDGET[inquiry.question.lang]) for inquiry in inquiries]
        return _result(order, answers, inquiries)


def _result(order: WorkOrder, answers: Sequence[Answer], inquiries: Sequence[Inquiry]) -> WorkResult:
    return WorkResult(
        output=compose(order, answers),
        candidate_complete=all(one.chosen for one in answers),
        mode="extractive",
        path=order.path,
        rounds=tuple(one for inquiry in inquiries for one in inquiry.rounds),
        needs=needs_of(inquiries),
        acted_through=("selection", "filter"),
    )


def _inquiries(params: Mapping[str, Any], access: Access) -> list[Inquiry]:
    questions, fields = texts_of(params, "questions"), texts_of(params, "fields")
    item = params.get("item")
    if not questions and not (fields and isinstance(item, str) and item.strip()):
        raise WorkFailed(
            "bad_request",
            f"nothing to research in the parameters {sorted(params)!r}; give `questions`, or `item` and `fields`",
        )
    found = [Inquiry(question=read_question(text), asked=text, access=access) for text in questions]
    if fields and isinstance(item, str):
        found += [
            Inquiry(question=read_question(_phrase(item, name)), asked=name, access=access, about=item)
            for name in fields
        ]
    return found


def _phrase(item: str, name: str) -> str:
    return f"{item}的{name}" if is_cjk(item + name) else f"{item}: {name}"


def _budget(params: Mapping[str, Any]) -> int | None:
    value = params.get("budget")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise WorkFailed("bad_request", f"`budget` is {value!r}; give a whole number from 1")
    return value
