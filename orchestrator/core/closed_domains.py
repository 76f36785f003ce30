"""When a domain that the mask silences keeps a question open: a capability gap, or an open question? Pure."""

from __future__ import annotations

from collections.abc import Collection

from agents.results import Need, OpenQuestion, WorkResult
from graphs.contract import TaskContract
from orchestrator.core.blockage import Failure
from orchestrator.core.same_question import same_question


def closed_domain(result: WorkResult, required: Collection[str], contract: TaskContract) -> Failure | None:
    """Return the failure that a silent domain is for `result`, or `None`; needs in the order of the worker.

    A *required* domain is a capability gap whatever the contract says (semantics 2, rule 2a). Any other that the worker
    needs goes to a person, where an unanswered core question of the contract hangs on it and the contract does not
    allow unresolved ones. Where it does, the question stays open and says that a domain is closed; which one, the
    attempt's `needs` record. A need that was read in a document counts for a required domain only, and as tainted.
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


def _is_open(need: Need, left: Collection[OpenQuestion]) -> bool:
    return any(same_question(need.question, each.question) for each in left)


def _is_core(question: str, contract: TaskContract) -> bool:
    """Whether the contract can't do without an answer."""
    return not contract.allow_unresolved and any(
        criterion.core and same_question(criterion.question or criterion.field, question)
        for criterion in contract.acceptance
    )
