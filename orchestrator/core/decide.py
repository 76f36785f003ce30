"""`decide(state, event)`: what to do next. The one place where the course of a run is decided; pure.

The state is the one after the event. `decide` looks only at the nodes that the event concerns; `recover` asks the same
question of every node, after a restart. Both build on `next_for_node`, so that no command is lost or doubled: what
`decide` returned and was not carried out, `recover` returns again.

    attempt rejected or failed ─► RecordBlockage ─► (classified) ─► one of
        A: RetryAttempt             same input and mask, after a delay
        B: Backtrack to the parent  parameters corrected, once
        C: Backtrack at the node    mask extended once, agent changed once, inside the envelope
        D, or a bound reached:      AskPerson
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from graphs.plan import NodeId, PlanIndex
from orchestrator.core.commands import (
    CancelAll,
    CancelAttempts,
    Command,
    Deliver,
    EndCancelled,
    RecordBlockage,
    ReuseOutput,
    StartAttempt,
    SuspendRun,
)
from orchestrator.core.events import (
    AttemptCancelled,
    AttemptFailed,
    AttemptProduced,
    AttemptRejected,
    AttemptStarted,
    AttemptVerified,
    Backtracked,
    BlockageClassified,
    CallReturned,
    CancelRequested,
    ChangesWereRequested,
    Event,
    ExecutorTookOver,
    FailureRemembered,
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
from orchestrator.core.input_key import input_key
from orchestrator.core.recovery import blockage_of, repair
from orchestrator.core.state import ENDED, NodeState, RunState


def decide(state: RunState, event: Event) -> tuple[Command, ...]:
    """Return the commands that `event` enabled, in order; `state` is the state after it.

    Costs the nodes that the event concerns: one node, the successors of an accepted one, the invalidated ones of a
    backtrack.
    """
    if not _executing(state):
        return ()
    if state.cancelling:
        stop: tuple[Command, ...] = (CancelAll(),) if isinstance(event.body, CancelRequested) else ()
        return (*stop, *_for_run(state, settled=True))
    commands = list(_for_nodes(state, _concerned(state, event)))
    if isinstance(event.body, Backtracked):
        commands = [*_cancellations(state, event.body.plan.invalidated), *commands]
    return (*commands, *_for_run(state, settled=not commands))


def recover(state: RunState) -> tuple[Command, ...]:
    """Return every open command of a run that is to be executed, after a restart; looks at every node once."""
    if not _executing(state) or state.index is None:
        return ()
    if state.cancelling:
        return (EndCancelled(),)
    commands = list(_for_nodes(state, state.index.order, restart=True))
    return (*commands, *_for_run(state, settled=not commands))


def next_for_node(state: RunState, name: NodeId, *, restart: bool = False) -> Command | None:
    """Return the one command that sub-task `name` waits for, or `None`.

    With `restart`, a running attempt is one that the last process left behind and is to be gone on with.
    """
    node = state.node(name)
    match node.status:
        case "pending":
            return _start(state, node) if node.waiting == 0 else None
        case "running" | "verifying":
            return _resume(node) if restart else None
        case "blocked":
            if node.failure is None:
                return None
            if node.blockage is None:
                return _classify(state, node)
            return repair(state, node, node.blockage)
        case "accepted" | "suspended" | "skipped":
            return None
        case _:
            assert_never(node.status)


def _executing(state: RunState) -> bool:
    return state.approved_revision is not None and state.status not in ENDED and state.epoch > 0


def _concerned(state: RunState, event: Event) -> Iterable[NodeId]:
    body = event.body
    match body:
        case AttemptVerified() | NodeReused() | NodeAcceptedAsIs():
            return _plan(state).successors(body.node)
        case (
            AttemptRejected() | AttemptFailed() | AttemptCancelled() | BlockageClassified() | RetryScheduled()
        ):
            return (body.node,)
        case RequestAnswered(node=node):
            return (node,)
        case Backtracked(plan=plan):
            return plan.invalidated
        case NodesSkipped(nodes=nodes):
            return _after(_plan(state), nodes)
        case (
            RunCreated()
            | ProposalDrafted()
            | ChangesWereRequested()
            | ProposalRejected()
            | ProposalApproved()
            | SourcesRead()
            | ExecutorTookOver()
            | RunPaused()
            | RunContinued()
            | CancelRequested()
            | AttemptStarted()
            | CallReturned()
            | AttemptProduced()
            | FailureRemembered()
            | RequestOpened()
            | RunSuspended()
            | ReviewReopened()
            | RunEnded()
        ):
            return ()
        case _:
            assert_never(body)


def _after(index: PlanIndex, nodes: Iterable[NodeId]) -> tuple[NodeId, ...]:
    skipped = tuple(nodes)
    return tuple(dict.fromkeys(n for name in skipped for n in index.successors(name)))


def _for_nodes(state: RunState, names: Iterable[NodeId], *, restart: bool = False) -> Iterator[Command]:
    for name in names:
        command = next_for_node(state, name, restart=restart)
        if command is not None:
            yield command


def _for_run(state: RunState, *, settled: bool) -> Iterator[Command]:
    """What the run as a whole waits for, once no node has a command of its own."""
    counts = state.counts
    if not settled or counts.active:
        return
    if state.cancelling:
        yield EndCancelled()
    elif counts.ready or counts.blocked:
        return
    elif counts.accepted + counts.skipped == len(state.nodes):
        yield Deliver()
    elif counts.suspended and state.status != "suspended":
        yield SuspendRun()


def _start(state: RunState, node: NodeState) -> Command:
    key = input_key(state, node.id)
    if node.accepted is not None and node.accepted.input_key == key and not node.accepted.as_is:
        return ReuseOutput(node=node.id, generation=node.generation, input_key=key)
    return StartAttempt(
        node=node.id,
        generation=node.generation,
        attempt=node.attempt + 1,
        input_key=key,
        delay_s=node.delay_s,
    )


def _resume(node: NodeState) -> Command | None:
    if node.input_key is None:
        return None
    return StartAttempt(
        node=node.id,
        generation=node.generation,
        attempt=node.attempt,
        input_key=node.input_key,
        resumed=True,
    )


def _classify(state: RunState, node: NodeState) -> Command:
    return RecordBlockage(
        node=node.id,
        generation=node.generation,
        attempt=node.attempt,
        blockage=blockage_of(state, node),
    )


def _cancellations(state: RunState, nodes: Iterable[NodeId]) -> Iterator[Command]:
    """A backtrack stops what runs in its scope: the generation has risen, so what still runs is of an older one."""
    for name in nodes:
        generation = state.node(name).generation
        if generation > 1:
            yield CancelAttempts(node=name, before=generation)


def _plan(state: RunState) -> PlanIndex:
    assert state.index is not None, "executing implies an approved plan"
    return state.index
