"""The research worker: answers questions, or fills the fields of one thing, with sentences quoted from the notes.

Deterministic and extractive: it invents nothing, follows nothing that a note says, and leaves open what the notes
don't answer, with what it searched for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from agents.broker import Broker
from agents.results import WorkResult
from agents.retrieval.tokens import is_cjk
from agents.tools.texts.calls import ORDERS
from agents.tools.texts.contract import say
from agents.workers.embedded.access import Access, access_of
from agents.workers.embedded.answering import texts_of
from agents.workers.embedded.asking import AnswerKind
from agents.workers.embedded.composing import Answer, answer, compose, needs_of
from agents.workers.embedded.inquiry import Inquiry, NotesReader, ResearchLimits, search_round
from agents.workers.embedded.question import Question, read_question
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
        there is nothing to ask or the budget is no positive whole number, and for tools that can't be used.
        """
        access = access_of(order)
        inquiries = _inquiries(order.params or order.subtask.params, access)
        await self._search(inquiries, NotesReader(broker))
        budget = _budget(order.params or order.subtask.params)
        answers = [answer(inquiry, budget or DEFAULT_BUDGET[inquiry.question.lang]) for inquiry in inquiries]
        return _result(order, answers, inquiries)

    async def _search(self, inquiries: Sequence[Inquiry], reader: NotesReader) -> None:
        """Take turns: a round for each question that is still open, until none is or the calls are used up.

        A turn may use half of what is left, divided by the questions that wait for theirs, so that something remains
        for those that the first turn does not settle.
        """
        waiting = list(inquiries)
        while waiting:
            again = []
            for position, inquiry in enumerate(waiting):
                left = self.limits.tool_calls - reader.calls
                share = max(FEWEST_CALLS, left // (2 * (len(waiting) - position)))
                if await search_round(inquiry, reader, self.limits, min(left, share)):
                    again.append(inquiry)
            waiting = again


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
            say(ORDERS, "nothing_to_research", given=repr(sorted(params))),
        )
    found = [Inquiry(question=read_question(text), asked=text, access=access) for text in questions]
    if fields and isinstance(item, str):
        found += [
            Inquiry(question=_field_question(item, name), asked=name, access=access, about=item)
            for name in fields
        ]
    return found


def _field_question(item: str, name: str) -> Question:
    """Read a field as a question about its item; one that asks for no number, date or person is explained."""
    question = read_question(f"{item}的{name}" if is_cjk(item + name) else f"{item}: {name}")
    return replace(question, kind=AnswerKind.OPEN) if question.kind is AnswerKind.NAME else question


def _budget(params: Mapping[str, Any]) -> int | None:
    value = params.get("budget")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise WorkFailed("bad_request", say(ORDERS, "budget", value=repr(value)))
    return value
