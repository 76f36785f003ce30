"""The ladder of repairs for a blocked sub-task (specification 5, semantics 5 and 6). Pure.

Every repair stays inside the approved envelope and is charged to its region; where a bound is reached a person is
asked. The rungs, each at most once per node: B corrects parameters, C extends the mask, C changes the agent; after
that D. Nothing here is chosen by a model or a document.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, assert_never

from graphs.contract import MAX_REPAIR_DEPTH, MAX_TRANSIENT_RETRIES
from graphs.plan import NodeId
from masks.domains import DomainId
from orchestrator.core.backtrack import ChangeAgent, InjectGuard
from orchestrator.core.blockage import (
    MAX_ASKED_WAIT_S,
    Blockage,
    BlockageClass,
    BlockageHistory,
    ClassReason,
    FailureKind,
    classify,
)
from orchestrator.core.claims import Level, RootCause
from orchestrator.core.commands import Command, RetryAttempt, SkipNodes
from orchestrator.core.giving_up import given_up_with
from orchestrator.core.going_back import ask, backtrack, give_back
from orchestrator.core.repairs import (
    approved_index,
    approved_proposal,
    blamed_parent,
    correction,
    extension,
    guard_text,
    lacks_domain,
    may_extend,
    memory_key,
    other_agent,
    reader_of_changed,
    reads_guards,
)
from orchestrator.core.requests import ReasonCode
from orchestrator.core.split_faults import split_faults
from orchestrator.core.state import NodeState, RunState

BACKOFF_BASE_S: Final = 0.5
"""Upper bound of the first delay of class A, in seconds; it doubles with each retry (full jitter)."""
BACKOFF_CAP_S: Final = 30.0
"""Upper bound of any delay that the provider did not ask for, in seconds."""

_OUTSIDE: Final[frozenset[FailureKind]] = frozenset({"timeout", "rate_limited", "unavailable"})
"""Failures that nothing inside the run can repair."""


def max_attempts(nodes: int, answers: int, approvals: int = 1) -> int:
    """Return how many attempts a run of `nodes` sub-tasks can make at most, when persons gave `answers` answers.

    A node's generation rises only when a repair invalidates it; a repair charges every node that it invalidates with
    one more than the most charged of them, up to `MAX_REPAIR_DEPTH`, plus one for each answer; and a generation has at
    most `1 + MAX_TRANSIENT_RETRIES` attempts. So each node has at most
    `(1 + MAX_REPAIR_DEPTH + answers) x (1 + MAX_TRANSIENT_RETRIES)`, anew with each of `approvals` (an amended
    proposal starts with no repairs charged; `nodes` is then the greatest number of them). Attempts that were cut off
    by a cancellation or a crash are not counted.
    """
    return approvals * nodes * (1 + MAX_REPAIR_DEPTH + answers) * (1 + MAX_TRANSIENT_RETRIES)


def attempts_exhausted(state: RunState, node: NodeState) -> bool:
    """Tell whether `node` had the attempts that the contract allows it, and those that persons granted.

    Counted since the plan was approved, with the attempts that a backtrack made obsolete; each answer to a request of
    the sub-task grants one more.
    """
    most = approved_proposal(state).contract.limits.max_attempts_per_node
    return node.attempts >= most + node.granted


def blockage_of(state: RunState, node: NodeState) -> Blockage:
    """Return the classified failure of a blocked node, escalated to D where two nodes of a path block in a row."""
    assert node.failure is not None, "only a failed node is classified"
    subtask = approved_index(state).subtask(node.id)
    history = BlockageHistory(
        transient_retries=node.retries,
        repaired_parameters="correct_parameters" in node.repairs,
        required_domains=frozenset(subtask.required_domains),
    )
    blockage = classify(node.failure, history, max_transient_retries=MAX_TRANSIENT_RETRIES)
    return _escalated(state, node, blockage)


def repair(state: RunState, node: NodeState, blockage: Blockage) -> Command:
    """Return the one command that answers `blockage`."""
    failure = blockage.failure
    if failure.kind == "misconfigured":
        # A wrong key, name or address is for a person to correct: a try more, or another agent, would only hide it.
        return give_back(state, node, "model_misconfigured")
    if failure.kind not in ("limit", "internal") and attempts_exhausted(state, node):
        return give_back(state, node, "attempts_exhausted")
    match failure.kind:
        case "limit" | "internal":
            detail = failure.trace or failure.message
            return SkipNodes(nodes=given_up_with(state, node.id), reason=failure.kind, detail=detail)
        case "not_verified" if blockage.cls is not BlockageClass.A:
            return ask(state, node, "not_verified")
        case "falsified":
            return _redo(state, node, blockage)
        case _:
            return _by_class(state, node, blockage)


def _by_class(state: RunState, node: NodeState, blockage: Blockage) -> Command:
    match blockage.cls:
        case BlockageClass.A:
            return RetryAttempt(
                node=node.id,
                generation=node.generation,
                attempt=node.attempt + 1,
                delay_s=retry_delay(state, node, blockage.failure.retry_after_s),
            )
        case BlockageClass.B:
            return _correct(state, node, blockage)
        case BlockageClass.C:
            return _capability(state, node, blockage)
        case BlockageClass.D:
            return give_back(state, node, "split_at_fault")
        case _:
            assert_never(blockage.cls)


def retry_delay(state: RunState, node: NodeState, retry_after_s: float | None) -> float:
    """Return the delay before the next attempt, in seconds: exponential backoff with full jitter.

    Drawn from [0, min(cap, base x 2^retries)) by a digest of proposal, run seed, node, generation and attempt, so that
    a replay draws the same; never less than what the provider asked for, up to `MAX_ASKED_WAIT_S`.
    """
    seed = state.created.run_seed if state.created else ""
    key = f"{state.sha256}|{seed}|{node.id}|{node.generation}|{node.attempt}"
    fraction = int.from_bytes(hashlib.sha256(key.encode()).digest()[:7]) / (1 << 56)
    jitter = fraction * min(BACKOFF_CAP_S, BACKOFF_BASE_S * 2.0**node.retries)
    return max(jitter, min(retry_after_s or 0.0, MAX_ASKED_WAIT_S))


def _redo(state: RunState, node: NodeState, blockage: Blockage) -> Command:
    """A falsified output: the repair that fits the root cause, once; a second falsification suspends."""
    diagnosis = blockage.failure.diagnosis
    if node.redone:
        return ask(state, node, "second_falsification")
    if blockage.cls is BlockageClass.D:
        return give_back(state, node, "split_at_fault")
    if blockage.domain is not None and blockage.domain in node.extended:
        return _cross(state, node, blockage.domain)
    if diagnosis is None or diagnosis.cause is RootCause.PROCESS:
        return _by_process(state, node, blockage)
    if diagnosis.cause is RootCause.INPUT and blockage.cls is BlockageClass.B:
        return _correct(state, node, blockage)
    return _capability(state, node, blockage)


def _by_process(state: RunState, node: NodeState, blockage: Blockage) -> Command:
    """The same agent does it again under a guard; one that reads none leaves the falsified evidence out instead."""
    if reads_guards(state, node.id):
        return backtrack(state, node, InjectGuard(node=node.id, guard=guard_text(state, blockage)), redo=True)
    fix = correction(state, node, node.id, blockage)
    if fix is None:
        return _capability(state, node, blockage)
    return backtrack(state, node, fix, redo=True)


def _cross(state: RunState, node: NodeState, domain: str) -> Command:
    """Crossing rule (specification 6.2): the extension was wrong for this class of task, and is remembered as such.

    The mask is not rolled back; another agent, to which the domain is open by design, takes the sub-task.
    """
    change = _agent_left(state, node, domain)
    if change is None:
        return give_back(state, node, _why_no_agent(state))
    remember = memory_key(state, node.id, "extend_mask", domain)
    return backtrack(state, node, change, redo=True, forced=Level.L2, remember=remember)


def _correct(state: RunState, node: NodeState, blockage: Blockage) -> Command:
    """Class B: back to the blamed parent (else the latest completed one; a root node: itself).

    Where a source was changed, to the sub-task that read it: one that only passed it on would pass it on again.
    Where a correction would only repeat the same attempt, the next rung is taken at once.
    """
    redo = blockage.failure.kind == "falsified"
    parent = reader_of_changed(state, node) or blamed_parent(state, node, blockage)
    fix = correction(state, node, parent or node.id, blockage)
    if fix is None:
        return _capability(state, node, blockage)
    return backtrack(state, node, fix, parent=parent, redo=redo)


def _capability(state: RunState, node: NodeState, blockage: Blockage) -> Command:
    """Class C: extend the mask once, change the agent once, then D."""
    redo = blockage.failure.kind == "falsified"
    domain = None if _not_needed(blockage) else blockage.domain
    refused: ReasonCode = _why_no_agent(state)
    if refused == "repairs_exhausted" and blockage.failure.kind in _OUTSIDE:
        refused = "outside_failed"
    if domain is not None and "extend_mask" not in node.repairs:
        wanted = DomainId(domain)
        if lacks_domain(state, node, wanted):
            if _is_untrusted(state, node, blockage, wanted):
                return ask(state, node, "untrusted_need")
            if not may_extend(state, node, wanted):
                refused = "outside_envelope"
            elif memory_key(state, node.id, "extend_mask", domain) not in state.remembered:
                repaired = extension(state, node, wanted)
                return backtrack(state, node, repaired, redo=redo, start_path=2, forced=Level.L2)
    change = _agent_left(state, node, domain)
    if change is None:
        return give_back(state, node, refused)
    return backtrack(state, node, change, redo=redo)


def _not_needed(blockage: Blockage) -> bool:
    """Whether the domain was used without need, so that nobody needs it open (semantics 2): a spontaneous leak."""
    diagnosis = blockage.failure.diagnosis
    by_process = diagnosis is not None and diagnosis.cause is RootCause.PROCESS
    return blockage.failure.kind == "spontaneous_leak" or by_process


def _is_untrusted(state: RunState, node: NodeState, blockage: Blockage, domain: DomainId) -> bool:
    """Whether the need for a domain rests on something that is no reason for an extension (semantics 2)."""
    required = approved_index(state).subtask(node.id).required_domains
    return blockage.failure.domain_tainted or domain not in required


def _agent_left(state: RunState, node: NodeState, domain: str | None) -> ChangeAgent | None:
    """The one change of agent that a node has, while it has it and the envelope grants it."""
    if "change_agent" in node.repairs or not approved_proposal(state).envelope.reassign:
        return None
    return other_agent(state, node, domain)


def _why_no_agent(state: RunState) -> ReasonCode:
    return "repairs_exhausted" if approved_proposal(state).envelope.reassign else "outside_envelope"


def _escalated(state: RunState, node: NodeState, blockage: Blockage) -> Blockage:
    """B or C on two different nodes of one path in a row: lints decide whether the split is at fault.

    In a row: the other node was not accepted since. What happens on other paths in between does not count.
    """
    if blockage.cls not in (BlockageClass.B, BlockageClass.C):
        return blockage
    others = set(_unresolved_on_path(state, node.id))
    if not others:
        return blockage
    proposal = approved_proposal(state)
    faults = split_faults(proposal.plan, proposal.contract, {node.id, *others})
    named = tuple(map(str, sorted(others, key=approved_index(state).rank)))
    reasons = (*blockage.reasons, ClassReason(code="follows", values=named))
    if not faults:
        return replace(blockage, reasons=(*reasons, ClassReason(code="split_sound")))
    doubts = ClassReason(code="split_doubtful", values=tuple(str(finding.code) for finding in faults))
    return replace(blockage, cls=BlockageClass.D, reasons=(*reasons, doubts))


def _unresolved_on_path(state: RunState, name: NodeId) -> Iterator[NodeId]:
    if not state.unresolved.discard(name):
        return
    index = approved_index(state)
    related = index.ancestors(name) | index.descendants(name)
    yield from (other for other in state.unresolved if other in related)
