"""What a person does with a run: look at it, decide on its proposal, answer its requests, stop it.

Nothing here drafts or executes, so nothing waits for LangGraph or an embedder. `orchestrator.run` offers all of it
too; a program that only decides imports this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from agents.models.contract import Usage
from masks.domains import DomainRegistry
from orchestrator.core.errors import NoReport, NothingToDo, StaleApproval, UnknownRequest, WrongState
from orchestrator.core.events import (
    Body,
    CancelRequested,
    ChangesWereRequested,
    ProposalApproved,
    ProposalDrafted,
    ProposalRejected,
    RunEnded,
)
from orchestrator.core.ids import RunId, run_of_request
from orchestrator.core.proposal import HASH_PREFIX_LENGTH, Proposal, proposal_sha256
from orchestrator.core.report import REPORT, DeliveredReport
from orchestrator.core.requests import Answer, InvalidAnswer, Request, check_answer
from orchestrator.core.state import ENDED, RunState
from orchestrator.core.unsettled import end_gaps
from orchestrator.shell.cancelling import cancel_left_behind
from orchestrator.shell.inbox import ANSWER, answer_name
from orchestrator.shell.ports import Clock
from orchestrator.shell.runs import append, load, post, refused_as
from orchestrator.shell.store.errors import ArtefactUnreadable, HeadMoved, RunBusy
from orchestrator.shell.store.ports import RunStore


class Desk(Protocol):
    """What deciding needs; a `Workshop` is one, and so is an `OpenDesk`."""

    @property
    def store(self) -> RunStore: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def registry(self) -> DomainRegistry: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDesk:
    """A desk without a workshop behind it."""

    store: RunStore
    clock: Clock
    registry: DomainRegistry


def revise(
    desk: Desk, run: RunId, proposal: Proposal, changes: Sequence[str], usage: Sequence[Usage] = ()
) -> RunState:
    """Put an edited proposal up for review as the next revision; return the run, back in review.

    The proposal has been checked (`orchestrator.shell.editing`). `usage` is that of the model calls which it cost.
    Raises `WrongState` outside of a review.
    """
    state = _in_review(desk, run)
    assert state.proposal is not None, "a run in review has a proposal"
    edited = replace(proposal, revision=state.proposal.revision + 1)
    body = ProposalDrafted(
        proposal=edited,
        sha256=proposal_sha256(edited),
        author="user",
        changes=tuple(changes),
        usage=tuple(usage),
    )
    return append(desk.store, desk.clock, state, [body])


def approve(desk: Desk, run: RunId, revision: int, sha256: str, *, by: str) -> RunState:
    """Approve exactly one revision; `sha256` is its hash or the first 8 or more digits of it.

    Raises `StaleApproval` unless both name what is under review, `NothingToDo` for a proposal without a sub-task, and
    `WrongState` outside of a review.
    """
    state = _in_review(desk, run)
    assert state.proposal is not None, "a run in review has a proposal"
    assert state.sha256 is not None, "a run in review has a hash"
    named = len(sha256) >= HASH_PREFIX_LENGTH and state.sha256.startswith(sha256)
    if revision != state.proposal.revision or not named:
        raise StaleApproval(run, f"{run}@{revision}-{sha256}", approval_token(state))
    check_task(state.proposal)
    body = ProposalApproved(revision=revision, sha256=state.sha256, by=by)
    return append(desk.store, desk.clock, state, [body])


def check_task(proposal: Proposal) -> None:
    """Raise `NothingToDo` for a proposal without a sub-task: its execution would deliver an empty report."""
    if not proposal.plan.subtasks:
        raise NothingToDo(proposal.goal.text)


def request_changes(desk: Desk, run: RunId, note: str) -> RunState:
    """Write down what the user wants changed; the run stays in review. Text is never an approval."""
    return append(desk.store, desk.clock, _in_review(desk, run), [ChangesWereRequested(note=note)])


def reject(desk: Desk, run: RunId, note: str) -> RunState:
    """Reject the proposal: the run ends as blocked."""
    return append(desk.store, desk.clock, _in_review(desk, run), [ProposalRejected(note=note)])


def approval_token(state: RunState) -> str:
    """Return what an approval of the revision under review has to name: `ID@REV-HASH8`."""
    assert state.proposal is not None, "a run in review has a proposal"
    assert state.sha256 is not None, "a run in review has a hash"
    return f"{state.run}@{state.proposal.revision}-{state.sha256[:HASH_PREFIX_LENGTH]}"


def answer(desk: Desk, request: str, reply: Answer, *, by: str) -> Request:
    """Hand a person's answer over to its run and return the request; the run's executor folds it in.

    Works from any process. Raises `ValueError` for a text that is no request id, `UnknownRequest`, `InvalidAnswer`
    (`check_answer`) and `UnknownRun`.
    """
    run = run_of_request(request)
    state = load(desk.store, run)
    wanted = next((known for known in state.requests.values() if known.id == request), None)
    if wanted is None:
        raise UnknownRequest(request, tuple(sorted(state.requests.keys())))
    check_answer(wanted, reply)
    _check_names(desk, state, reply)
    document = {
        "request": request,
        "answer": ANSWER.dump_python(reply, mode="json"),
        "by": by,
        "at": desk.clock.now(),
    }
    post(desk.store, run, "answer", document, dedup=answer_name(wanted))
    return wanted


def post_control(
    desk: Desk, run: RunId, kind: Literal["pause", "continue", "cancel"], *, by: str
) -> RunState:
    """Ask a run to pause, go on or cancel; whoever executes it folds that in. Return the run as it is now.

    A run that nobody executes is cancelled at once, also one that a crash left under way: neither its notes nor a
    workshop is needed for that. Raises `WrongState` for a run that ended.
    """
    state = load(desk.store, run)
    if state.status in ENDED:
        raise WrongState(run, state.status, wanted="not ended", next_step=f"maskgrad show {run}")
    if kind == "cancel":
        with suppress(RunBusy, HeadMoved):
            return _cancelled(desk, state, by)
    waiting = [
        message for message in desk.store.pending(run) if message.kind in ("pause", "continue", "cancel")
    ]
    if not waiting or waiting[-1].kind != kind:
        last = waiting[-1].id if waiting else 0
        post(desk.store, run, kind, {"by": by}, dedup=f"{kind}:{state.seq}:{last}:{by}")
    return state


def state_of(desk: Desk, run: RunId, *, at: int | None = None) -> RunState:
    """Return a run as it is, or as it was after the event `at`; no effect is performed."""
    return load(desk.store, run, at=at)


def report_of(desk: Desk, run: RunId) -> DeliveredReport:
    """Return what a run delivered; raises `NoReport` for one that delivered nothing (yet).

    Raises `ArtefactUnreadable` for a damaged store, naming the run.
    """
    state = load(desk.store, run)
    if state.report is None:
        raise NoReport(run, refused_as(desk.store, state))
    try:
        return REPORT.validate_json(desk.store.get_artefact(state.report))
    except ArtefactUnreadable as error:
        error.needed_by(run)
        raise


def _cancelled(desk: Desk, state: RunState, by: str) -> RunState:
    """End a run that nobody executes; raises `RunBusy` while a process does, and `HeadMoved`."""
    if state.status in ("reviewing", "confirmed", "suspended") and desk.store.lease(state.run) is None:
        bodies: list[Body] = [CancelRequested(by=by), RunEnded(outcome="cancelled", gaps=end_gaps(state))]
        return append(desk.store, desk.clock, state, bodies)
    return cancel_left_behind(desk.store, desk.clock, state.run, by=by)


def _check_names(desk: Desk, state: RunState, reply: Answer) -> None:
    """Refuse an answer that names what does not exist: once it is posted, no other answer counts."""
    if reply.choice not in ("reassign", "set_mask"):
        return
    known = {str(agent): spec for agent, spec in state.agents.items()}
    if reply.agent not in known or known[reply.agent].role != "generate":
        able = ", ".join(sorted(name for name, spec in known.items() if spec.role == "generate"))
        raise InvalidAnswer(f"{reply.agent!r} is no agent that works on sub-tasks; choose one of: {able}")
    if reply.choice == "set_mask" and not desk.registry.is_leaf(reply.domain):
        near = ", ".join(desk.registry.close_matches(reply.domain)) or "see `maskgrad domains`"
        raise InvalidAnswer(
            f"{reply.domain!r} is no knowledge domain that a mask has a value for; near: {near}"
        )


def _in_review(desk: Desk, run: RunId) -> RunState:
    state = load(desk.store, run)
    if state.status != "reviewing":
        status = refused_as(desk.store, state)
        raise WrongState(run, status, wanted="'reviewing'", next_step=f"maskgrad show {run}")
    return state
