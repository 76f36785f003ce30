"""What the events of a run as a whole do to its state: drafting, review, approval, pause, cancellation, end. Pure."""

from __future__ import annotations

from dataclasses import replace

from rpds import HashTrieMap, HashTrieSet

from graphs.plan import NodeId, index_plan
from orchestrator.core.amendment import carried_over
from orchestrator.core.dropped import dropped_by
from orchestrator.core.events import (
    Body,
    CancelRequested,
    ChangesWereRequested,
    ExecutorTookOver,
    FailureRemembered,
    ProposalApproved,
    ProposalDrafted,
    ProposalRejected,
    ReviewReopened,
    RunContinued,
    RunCreated,
    RunEnded,
    RunPaused,
    RunSuspended,
    SourcesRead,
)
from orchestrator.core.state import ENDED, Counts, NodeState, RunState, RunStatus
from orchestrator.core.transition import BrokenLog


def created(state: RunState, body: RunCreated) -> RunState:
    """Begin the draft."""
    return replace(state, created=body)


def drafted(state: RunState, body: ProposalDrafted) -> RunState:
    """Put a revision under review."""
    _check_status(state, body, "drafting", "reviewing")
    spent = state.spent
    for usage in body.usage:
        spent = spent.plus(usage)
    return replace(state, proposal=body.proposal, sha256=body.sha256, status="reviewing", spent=spent)


def changes_requested(state: RunState, body: ChangesWereRequested) -> RunState:
    """Stay in the review."""
    _check_status(state, body, "reviewing")
    return state


def rejected(state: RunState, body: ProposalRejected) -> RunState:
    """End the run before it began; why is for the event to say."""
    _check_status(state, body, "reviewing")
    return replace(state, status="blocked", outcome="blocked")


def approved(state: RunState, body: ProposalApproved) -> RunState:
    """Make the approved plan the one that is executed; the only event that touches every sub-task."""
    proposal = state.proposal
    if proposal is None or proposal.revision != body.revision or state.sha256 != body.sha256:
        raise BrokenLog(f"run {state.run!r}: approval of revision {body.revision} that is not under review")
    _check_status(state, body, "reviewing")
    index = index_plan(proposal.plan)
    nodes: HashTrieMap[NodeId, NodeState] = HashTrieMap()
    agents = HashTrieMap({agent.id: agent for agent in proposal.roster.agents})
    assigned = HashTrieMap(dict(proposal.assignment))
    for name in index.order:
        carried = carried_over(state, proposal, index, name)
        nodes = nodes.insert(name, carried.node)
        if carried.agent is not None:
            agents = agents.insert(carried.agent.id, carried.agent)
            assigned = assigned.insert(name, carried.agent.id)
    return replace(
        state,
        status="confirmed",
        approved_revision=body.revision,
        superseded=None,
        index=index,
        nodes=nodes,
        dropped=dropped_by(state, index),
        agents=agents,
        assigned=assigned,
        counts=Counts(ready=len(index.entries)),
        unresolved=HashTrieSet(),
        taken_as_is=HashTrieSet(),
        requests=HashTrieMap(),
        limit_hit=False,
        internal_error=None,
    )


def sources_read(state: RunState, body: SourcesRead) -> RunState:
    """Change nothing: what was read is for the report and the log."""
    del body
    return state


def taken_over(state: RunState, body: ExecutorTookOver) -> RunState:
    """Count the executor; writes of an older one are refused by the store."""
    if body.epoch < state.epoch:
        raise BrokenLog(f"run {state.run!r}: epoch {body.epoch} follows {state.epoch}")
    if state.approved_revision is None or state.status in ENDED:
        return replace(state, epoch=body.epoch)
    return replace(state, epoch=body.epoch, status="paused" if state.paused else "running")


def paused(state: RunState, body: RunPaused) -> RunState:
    """Hold back further attempts."""
    del body
    return replace(state, paused=True, status=_instead(state, "running", "paused"))


def continued(state: RunState, body: RunContinued) -> RunState:
    """Let attempts start again."""
    del body
    return replace(state, paused=False, status=_instead(state, "paused", "running"))


def cancel_requested(state: RunState, body: CancelRequested) -> RunState:
    """Remember the first cancellation: it is the one that is carried out."""
    del body
    return replace(state, cancelling=True, cancel_seq=state.cancel_seq or state.seq + 1)


def failure_remembered(state: RunState, body: FailureRemembered) -> RunState:
    """Take a repair out of those that may be tried."""
    return replace(state, remembered=state.remembered.insert(body.key))


def suspended(state: RunState, body: RunSuspended) -> RunState:
    """Wait for a person."""
    del body
    return replace(state, status="suspended")


def review_reopened(state: RunState, body: ReviewReopened) -> RunState:
    """Go back to the review; the plan approved before is kept to compare the amended one with."""
    del body
    return replace(
        state,
        status="reviewing",
        approved_revision=None,
        superseded=state.proposal,
        requests=HashTrieMap(),
    )


def ended(state: RunState, body: RunEnded) -> RunState:
    """Set the outcome, once."""
    if state.status in ENDED:
        raise BrokenLog(f"run {state.run!r}: a second end, after {state.status}")
    return replace(
        state,
        status=body.outcome,
        outcome=body.outcome,
        gaps=body.gaps,
        stopped=body.stopped,
        report=body.report,
        result=body.result,
        internal_error=state.internal_error or body.error,
    )


def _check_status(state: RunState, body: Body, *statuses: RunStatus) -> None:
    if state.status not in statuses:
        raise BrokenLog(f"run {state.run!r}: {body.type!r} while the run is {state.status}")


def _instead(state: RunState, before: RunStatus, after: RunStatus) -> RunStatus:
    """Pausing concerns a run that executes; one in review, suspended or ended stays that."""
    return after if state.status == before else state.status
