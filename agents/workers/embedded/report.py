"""Write the text of the delivered report: everything upstream, question by question, quoted and cited."""

from __future__ import annotations

from agents.citations import one_line
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
    questions with what was searched. Sentences of the goal that were read as `params["background"]` are named last.
    """
    phrases = PHRASES[order.lang]
    carried = carry(order.inputs)
    title = next(iter(texts_of(order.params, "title")), order.subtask.title or phrases.report)
    body = compiled(texts_of(order.params, "questions"), carried, phrases)
    output = output_of(
        carried,
        page([heading(1, title), body.text, _background(order)]),
        body.claims,
        open_questions=body.open_questions,
        conflicts=body.conflicts,
        fields=body.fields,
    )
    return WorkResult(output=output, candidate_complete=True, mode="extractive", path=order.path)


def _background(order: WorkOrder) -> str:
    """Name the sentences of the goal that no task was made of, so that none is thought to be checked or answered."""
    told = texts_of(order.params, "background")
    if not told:
        return ""
    phrases = PHRASES[order.lang]
    return page([heading(2, phrases.background), "\n".join(f"- {one_line(text)}" for text in told)])
