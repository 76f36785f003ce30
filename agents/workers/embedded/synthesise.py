"""Bring the claims of several sub-tasks together, question by question. Nothing is rewritten, nothing is added."""

from __future__ import annotations

from agents.results import WorkResult
from agents.workers.embedded.answering import answers_text, answers_to, texts_of
from agents.workers.embedded.carried import carry, output_of
from agents.workers.embedded.wording import PHRASES
from agents.workers.ports import WorkOrder


def synthesise(order: WorkOrder) -> WorkResult:
    """Return the claims of the inputs, merged per question of `params["questions"]`.

    What says the same on the same evidence or on copies of one source is one claim; independent sources stay side by
    side; disagreements are shown with all sides. Every claim keeps id, evidence and leak marks, and questions that no
    input answers stay open. Complete: every question is answered or listed open.
    """
    carried = carry(order.inputs)
    answers = answers_to(texts_of(order.params, "questions"), carried)
    output = output_of(
        carried,
        answers_text(answers, PHRASES[order.lang]),
        answers.claims,
        open_questions=answers.open_questions,
        conflicts=answers.conflicts,
        fields=carried.fields,
    )
    return WorkResult(output=output, candidate_complete=True, mode="extractive", path=order.path)
