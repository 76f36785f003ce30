"""Write the text of the delivered report: everything upstream, question by question, quoted and cited."""

from __future__ import annotations

from agents.results import WorkResult
from agents.workers.embedded.answering import texts_of
from agents.workers.embedded.carried import carry, output_of
from agents.workers.embedded.compiling import compiled
from agents.workers.embedded.wording import PHRASES
from agents.workers.embedded.writing import heading, page
from agents.workers.ports import WorkOrder


def report(order: WorkOrder) -> WorkResult:
    """Return the report titled `params["title"]` (default: the sub-task's title) on `params["questions"]`.

    It holds what `compiled` says: tables, answers, disagreements with all sides, what else was found, and the open
    questions with what was searched.
    """
    phrases = PHRASES[order.lang]
    carried = carry(order.inputs)
    title = next(iter(texts_of(order.params, "title")), order.subtask.title or phrases.report)
    body = compiled(texts_of(order.params, "questions"), carried, phrases)
    output = output_of(
        carried,
        page([heading(1, title), body.text]),
        body.claims,
        open_questions=body.open_questions,
        conflicts=body.conflicts,
        fields=body.fields,
    )
    return WorkResult(output=output, candidate_complete=True, mode="extractive", path=order.path)
