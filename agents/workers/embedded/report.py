"""Write the text of the delivered report: everything upstream, question by question, quoted and cited."""

from __future__ import annotations

from agents.citations import find_anchors
from agents.evidence import ClaimId
from agents.results import WorkResult
from agents.workers.embedded.answering import answers_text, answers_to, texts_of
from agents.workers.embedded.carried import Carried, carry, output_of
from agents.workers.embedded.merging import Statement
from agents.workers.embedded.wording import PHRASES
from agents.workers.embedded.writing import disagreement, heading, page
from agents.workers.ports import WorkOrder


def report(order: WorkOrder) -> WorkResult:
    """Return the report titled `params["title"]` on `params["questions"]`.

    Tables of the inputs come first and are carried as they are; then one section a question with the quoted answers,
    disagreements with all sides, what else the inputs found, and the open questions with what was searched. No claim
    of the inputs is missing: it is shown, or one that says the same on the same source is.
    """
    phrases = PHRASES[order.lang]
    carried = carry(order.inputs)
    title = next(iter(texts_of(order.params, "title")), order.subtask.title or phrases.report)
    in_tables = _in_tables(carried)
    answers = answers_to(texts_of(order.params, "questions"), carried, without=in_tables)
    tabled = [claim for claim in carried.claims if claim.id in in_tables]
    nothing = "" if carried.claims else phrases.nothing_found
    in_cells = tuple(conflict for conflict in carried.conflicts if set(conflict.claims) <= in_tables)
    by_id = {claim.id: claim for claim in tabled}
    disputes = [
        disagreement([Statement(claims=(by_id[claim],)) for claim in conflict.claims], phrases)
        for conflict in in_cells
    ]
    text = page([heading(1, title), nothing, *carried.tables, *disputes, answers_text(answers, phrases)])
    output = output_of(
        carried,
        text,
        [*tabled, *answers.claims],
        open_questions=answers.open_questions,
        conflicts=(*in_cells, *answers.conflicts),
        fields=carried.fields,
    )
    return WorkResult(output=output, candidate_complete=True, mode="extractive", path=order.path)


def _in_tables(carried: Carried) -> frozenset[ClaimId]:
    known = {claim.id for claim in carried.claims}
    anchored = {found.claim for table in carried.tables for found in find_anchors(table)}
    return frozenset(anchored & known)
