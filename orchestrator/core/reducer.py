"""`apply(state, event)`: what is true after an event. The only way in which state changes.

Each event touches the nodes that it names, the successors of a node that it accepts, and the nodes that a backtrack
invalidates; never all nodes, except when a plan is confirmed. An event that can't follow the state before it is refused
with `BrokenLog`: whoever records events drops late results and obsolete commands first (`decide.still_open`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from orchestrator.core import node_steps, run_steps
from orchestrator.core.changing import changed
from orchestrator.core.events import (
    AttemptCancelled,
    AttemptFailed,
    AttemptHeld,
    AttemptProduced,
    AttemptRejected,
    AttemptStarted,
    AttemptVerified,
    Backtracked,
    BlockageClassified,
    Body,
    CallCommitted,
    CallReturned,
    CallStreamed,
    CancelRequested,
    ChangesWereRequested,
    Event,
    ExecutorTookOver,
    FailureRemembered,
    MessageRefused,
    NodeAcceptedAsIs,
    NodeReused,
    NodesSkipped,
    ProposalApproved,
    ProposalDrafted,
    ProposalRejected,
    RequestAnswered,
    RequestOpened,
    RetryScheduled,
    ReviewReopened,
    RunContinued,
    RunCreated,
    RunEnded,
    RunPaused,
    RunSuspended,
    SourcesRead,
)
from orchestrator.core.ids import RunId
from orchestrator.core.state import RunState
from orchestrator.core.transition import BrokenLog

Step = Callable[[RunState, Any], RunState]
"""What one type of event does to the state before it; its second argument is a body of that type.

`apply` sets the `seq` of what it returns, unless the step did: the frequent ones do, which saves a copy of the state.
"""

STEPS: Final[Mapping[type[Body], Step]] = {
    RunCreated: run_steps.created,
    ProposalDrafted: run_steps.drafted,
    ChangesWereRequested: run_steps.changes_requested,
    ProposalRejected: run_steps.rejected,
    ProposalApproved: run_steps.approved,
    SourcesRead: run_steps.sources_read,
    ExecutorTookOver: run_steps.taken_over,
    RunPaused: run_steps.paused,
    RunContinued: run_steps.continued,
    CancelRequested: run_steps.cancel_requested,
    FailureRemembered: run_steps.failure_remembered,
    RunSuspended: run_steps.suspended,
    ReviewReopened: run_steps.review_reopened,
    RunEnded: run_steps.ended,
    AttemptStarted: node_steps.started,
    CallCommitted: node_steps.committed,
    CallStreamed: node_steps.streamed,
    CallReturned: node_steps.called,
    AttemptHeld: node_steps.held,
    AttemptProduced: node_steps.produced,
    AttemptVerified: node_steps.verified,
    AttemptRejected: node_steps.blocked,
    AttemptFailed: node_steps.blocked,
    AttemptCancelled: node_steps.cancelled,
    NodeReused: node_steps.reused,
    NodeAcceptedAsIs: node_steps.accepted_as_is,
    NodesSkipped: node_steps.skipped,
    BlockageClassified: node_steps.classified,
    RetryScheduled: node_steps.retry_scheduled,
    Backtracked: node_steps.backtracked,
    RequestOpened: node_steps.asked,
    MessageRefused: node_steps.refused,
    RequestAnswered: node_steps.answered,
}
"""One step per type of event. A test compares it with the union `Body`: a new type without a step fails there."""


def initial(run: RunId) -> RunState:
    """Return the state of a run before its first event."""
    return RunState(run=run)


def fold(run: RunId, events: Iterable[Event]) -> RunState:
    """Return the state after `events`, which have to be a prefix of the run's log; raises `BrokenLog`."""
    state = initial(run)
    for event in events:
        state = apply(state, event)
    return state


def apply(state: RunState, event: Event) -> RunState:
    """Return the state after `event`; raises `BrokenLog` unless its `seq` is the next one."""
    if event.seq != state.seq + 1:
        raise BrokenLog(f"run {state.run!r}: event {event.seq} follows {state.seq}; the log has a gap")
    after = STEPS[type(event.body)](state, event.body)
    return after if after.seq == event.seq else changed(after, seq=event.seq)
