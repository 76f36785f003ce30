"""Is everything that was asked addressed: the checks' answer to the worker's `candidate_complete` (seed 000, 7.3)."""

from __future__ import annotations

from collections.abc import Iterable

from agents.citations import find_anchors
from agents.evidence import ClaimId
from orchestrator.core.claims import ClaimVerdict, Falsified
from orchestrator.core.same_question import same_question
from orchestrator.verification.ports import CheckOrder
from orchestrator.verification.questions import asked_of, field_value, names_of, open_entry


def verified_complete(order: CheckOrder, verdicts: Iterable[ClaimVerdict]) -> bool:
    """Return whether every question and field of the sub-task is addressed.

    A question is addressed by a core claim that was not falsified (a claim without a verdict was not), a field by
    such a claim or by a value whose anchors all lead to such claims, both by an entry among the open questions that
    says what was searched. A sub-task that was asked nothing in particular has to give at least one claim that was
    not falsified, or an open question; one that owes no claims, a text.
    """
    false = {verdict.claim for verdict in verdicts if isinstance(verdict.verdict, Falsified)}
    asked = asked_of(order)
    if asked.invalid:
        return False
    if asked.questions or asked.fields:
        everything = (*asked.questions, *asked.fields)
        return all(
            any(_addressed(order, name, false) for name in names_of(order, each)) for each in everything
        )
    output = order.result.output
    if not any(port.type in {"claims", "report", "table"} for port in order.subtask.outputs):
        return bool(output.text.strip() or output.fields)
    return any(claim.id not in false for claim in output.claims) or any(
        each.searched for each in output.open_questions
    )


def _addressed(order: CheckOrder, asked: str, false: set[ClaimId]) -> bool:
    output = order.result.output
    left_open = open_entry(output, asked)
    if left_open is not None and left_open.searched:
        return True
    if any(c.core and same_question(c.question, asked) and c.id not in false for c in output.claims):
        return True
    good = {claim.id for claim in output.claims} - false
    anchors = {found.claim for found in find_anchors(field_value(output, asked))}
    return bool(anchors) and anchors <= good
