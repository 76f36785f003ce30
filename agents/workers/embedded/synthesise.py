"""Bring the claims of several sub-tasks together, question by question. Nothing is rewritten, nothing is added."""

from __future__ import annotations

from agents.results import WorkResult
from agents.workers.embedded.answering import texts_of
from agents.workers.embedded.carried import carry, output_of
from agents.workers.embedded.compiling import compiled
from agents.workers.embedded.wording import PHRASES
from agents.workers.ports import WorkOrder


def synthesise(order: WorkOrder) -> WorkResult:
    """Return the claims of the inputs, merged per question of `params["questions"]`; tables are carried as they are.

    What says the same on the same evidence or on copies of one source is one claim; independent sources stay side by
    side; disagreements are shown with all sides. Every claim keeps id, evidence and leak marks, and questions that no
    input answers stay open. Complete: every question is answered or listed open.
    """
    carried = carry(order.inputs)
    merged = compiled(texts_of(order.params, "questions"), carried, PHRASES[order.lang])
    output = output_of(
        carried,
        merged.text,
        merged.claims,
        open_questions=merged.open_questions,
        conflicts=merged.conflicts,
        fields=merged.fields,
    )
    return WorkResult(output=output, candidate_complete=True, mode="extractive", path=order.path)
