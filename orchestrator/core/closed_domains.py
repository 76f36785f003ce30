"""When a domain that the mask silences keeps a question open: a capability gap, or an open question? Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from agents.results import ClosedBy, ClosedDomain, Need, OpenQuestion, WorkOutput, WorkResult
from graphs.contract import TaskContract, forbidden_domains
from masks.domains import DomainId
from masks.vector import Mask
from orchestrator.core.blockage import Failure
from orchestrator.core.requests import is_closed
from orchestrator.core.same_question import same_question

_PERSONS: Final = frozenset({"user", "person"})
"""Authors of mask changes that stand for a person: in the review, and in an answer to a request."""


def closed_domain(result: WorkResult, required: Collection[str], contract: TaskContract) -> Failure | None:
    """Return the failure that a silent domain is for `result`, or `None`; needs in the order of the worker.

    A *required* domain is a capability gap whatever the contract says (semantics 2, rule 2a). Any other that the worker
    needs goes to a person, where an unanswered core question of the contract hangs on it and the contract does not
    allow unresolved ones. Where it does, the question stays open and names the domain (`with_closed_domains`). A need
    that was read in a document counts for a required domain only, and as tainted.
    """
    for need in result.needs:
        if need.band != "SILENT" or not _is_open(need, result.output.open_questions):
            continue
        if need.domain in required or (need.taint == "trusted" and _is_core(need.question, contract)):
            return Failure(
                kind="domain_closed",
                message=f"not possible without the silent domains {need.domain}",
                domain=need.domain,
                domain_tainted=need.taint == "untrusted",
            )
    return None


def with_closed_domains(result: WorkResult, mask: Mask, contract: TaskContract) -> WorkOutput:
    """Return the output of `result` with each question that a closed domain keeps open naming it, and who closed it."""
    questions = tuple(
        replace(question, closed=_closing(question, result.needs, mask, contract))
        if question.reason == "domain_closed" and not question.closed
        else question
        for question in result.output.open_questions
    )
    return replace(result.output, open_questions=questions)


def _closing(
    question: OpenQuestion, needs: Collection[Need], mask: Mask, contract: TaskContract
) -> tuple[ClosedDomain, ...]:
    domains = dict.fromkeys(
        DomainId(need.domain)
        for need in sorted(needs, key=lambda need: -need.match)
        if need.band == "SILENT" and same_question(need.question, question.question)
    )
    return tuple(
        ClosedDomain(
            domain=domain, agent=mask.agent, value=mask.value(domain), by=_closed_by(domain, mask, contract)
        )
        for domain in domains
    )


def _closed_by(domain: DomainId, mask: Mask, contract: TaskContract) -> ClosedBy:
    if is_closed(domain, tuple(forbidden_domains(contract))):
        return "contract"
    changes = [change for change in mask.changes if change.domain == domain]
    return "person" if changes and changes[-1].author in _PERSONS else "plan"


def _is_open(need: Need, left: Collection[OpenQuestion]) -> bool:
    return any(same_question(need.question, each.question) for each in left)


def _is_core(question: str, contract: TaskContract) -> bool:
    """Whether the contract can't do without an answer."""
    return not contract.allow_unresolved and any(
        criterion.core and same_question(criterion.question or criterion.field, question)
        for criterion in contract.acceptance
    )
