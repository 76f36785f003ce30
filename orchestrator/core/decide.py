"""`decide(state, event)`: what to do next. The one place where the course of a run is decided; pure.

The state is the one after the event. `decide` looks only at the nodes that the event concerns; `recover` asks the same
question of every node, after a restart. Both build on `next_for_node`, so that no command is lost or doubled: what
`decide` returned and was not carried out, `recover` returns again. A command that waited while other events were
recorded may be obsolete, or stand for something else by now: `still_open` says what to carry out in its place.

    attempt held ─► AskPerson ─► (answered) ─► StartAttempt of the same attempt
    attempt rejected or failed ─► RecordBlockage ─► (classified) ─► one of
        A: RetryAttempt             same input and mask, after a delay
        B: Backtrack to the parent  parameters corrected, once
        C: Backtrack at the node    mask extended once, agent changed once, inside the envelope
        D, or a bound reached:      AskPerson

A bound is looked at before an attempt is dispatched too: a sub-task that others' repairs invalidated had its attempts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, assert_never

from graphs.plan import NodeId, PlanIndex
from orchestrator.core.answering import carry_out
from orchestrator.core.commands import (
    AcceptAsIs,
    AskPerson,
    Backtrack,
    CancelAll,
    CancelAttempts,
    Command,
    Deliver,
    EndCancelled,
    RecordBlockage,
    ReopenReview,
    RetryAttempt,
    ReuseOutput,
    SkipNodes,
    StartAttempt,
    SuspendRun,
)
from orchestrator.core.dropped import about_dropped
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
from orchestrator.core.going_back import ask_about_call, give_back
from orchestrator.core.input_key import input_key
from orchestrator.core.recovery import attempts_exhausted, blockage_of, repair
from orchestrator.core.state import ENDED, NodeState, RunState, RunStatus

_AT_REST: Final[frozenset[RunStatus]] = ENDED | {"confirmed"}
Repairing = RetryAttempt | Backtrack | AskPerson | AcceptAsIs | SkipNodes | ReopenReview
"""The commands that answer a failure, or a person's answer to one."""
_SETTLING: Final = (AttemptVerified, NodeReused, NodeAcceptedAsIs, NodesSkipped, RequestOpened)
"""The events after which nothing may be left to do but to deliver, or to wait for a person."""


def decide(state: RunState, event: Event) -> tuple[Command, ...]:
    """Return the commands that `event` enabled, in order; `state` is the state after it.

    Costs the nodes that the event concerns: one node, the successors of an accepted one, the invalidated ones of a
    backtrack. An executor that takes over asks `recover` instead.
    """
    if not _executing(state):
        return ()
    if state.cancelling:
        return tuple(_for_cancellation(state, event))
    if len(state.dropped):
        first = _before_all(state, event)
        if first is not None:
            return first
    commands = list(_for_nodes(state, _concerned(state, event)))
    if isinstance(event.body, Backtracked):
        commands = [*_cancellations(state, event.body.plan.invalidated), *commands]
    if not commands and isinstance(event.body, _SETTLING):
        commands.extend(_for_run(state))
    return tuple(commands)


def recover(state: RunState) -> tuple[Command, ...]:
    """Return every open command of a run that is to be executed, after a restart; looks at every node once."""
    if not _executing(state):
        return ()
    if state.cancelling:
        # What the last process left under way is ended first; the end of the last one ends the run.
        return (CancelAll(),) if state.counts.active else (EndCancelled(),)
    first = about_dropped(state)
    if first is not None:
        return first
    commands = list(_for_nodes(state, _plan(state).order, restart=True))
    return tuple(commands) or tuple(_for_run(state))


def still_open(state: RunState, command: Command) -> Command | None:
    """Return what to carry out in place of `command` now, `None` when it is obsolete.

    For whoever carries commands out later than they were decided: events in between may have invalidated its node, or
    changed what its backtrack costs and what the next request is called. What replaces an obsolete command was
    enabled by the event that made it obsolete.
    """
    if not _executing(state):
        return None
    if isinstance(command, CancelAttempts):
        return command
    if state.cancelling:
        return command if isinstance(command, CancelAll | EndCancelled) else None
    if isinstance(command, AskPerson | ReopenReview) and _repaired_node(command) in state.dropped:
        # Nothing else goes on until that is said, not even where the late result came meanwhile.
        return command
    match command:
        case StartAttempt(node=node, resumed=resumed):
            return _same_attempt(next_for_node(state, node, restart=resumed), command)
        case ReuseOutput(node=node) | RecordBlockage(node=node):
            fresh = next_for_node(state, node)
            same = isinstance(fresh, type(command)) and fresh.generation == command.generation
            return fresh if same else None
        case SuspendRun() | Deliver():
            return command if command in _for_run(state) else None
        case CancelAll() | EndCancelled():
            return None
        case _:
            return _same_need(state, command)


def next_for_node(state: RunState, name: NodeId, *, restart: bool = False) -> Command | None:
    """Return the one command that sub-task `name` waits for, or `None`.

    With `restart`, a running attempt is one that the last process left behind and is to be gone on with.
    """
    node = state.node(name)
    match node.status:
        case "pending":
            return _dispatch(state, node) if node.waiting == 0 else None
        case "running" | "verifying":
            return _resume(node) if restart else None
        case "blocked":
            if node.answer is not None:
                return carry_out(state, node, node.answer)
            if node.held is not None:
                return ask_about_call(state, node, node.held)
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
    """An approved plan is executed from the moment on when an executor took it over."""
    return state.approved_revision is not None and state.status not in _AT_REST and state.epoch > 0


def _concerned(state: RunState, event: Event) -> Iterable[NodeId]:
    body = event.body
    match body:
        case AttemptVerified() | NodeReused() | NodeAcceptedAsIs():
            return _plan(state).successors(body.node)
        case AttemptRejected() | AttemptFailed() | AttemptHeld() | BlockageClassified() | RetryScheduled():
            return (body.node,)
        case AttemptCancelled():
            return (body.node,) if _was_under_way(state, body) else ()
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
            | CallCommitted()
            | CallStreamed()
            | CallReturned()
            | AttemptProduced()
            | FailureRemembered()
            | RequestOpened()
            | MessageRefused()
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


def _for_run(state: RunState) -> Iterator[Command]:
    """What the run as a whole waits for, when no node has a command of its own."""
    first = about_dropped(state)
    if first is not None:
        yield from first
        return
    counts = state.counts
    if counts.active or counts.ready or counts.blocked:
        return
    if counts.accepted + counts.skipped == len(state.nodes):
        yield Deliver()
    elif counts.suspended and state.status != "suspended":
        yield SuspendRun()


def _before_all(state: RunState, event: Event) -> tuple[Command, ...] | None:
    """What comes before the amended plan: whether the calls happened that sub-tasks made which it has no more."""
    first = about_dropped(state)
    if first is not None:
        return first if isinstance(event.body, RequestOpened | RequestAnswered) else ()
    asked = isinstance(event.body, RequestAnswered) and event.body.node in state.dropped
    return recover(state) if asked else None


def _for_cancellation(state: RunState, event: Event) -> Iterator[Command]:
    """Stop everything once, and end the run once when the last attempt has ended."""
    body = event.body
    if event.seq == state.cancel_seq:
        yield CancelAll()
        if not state.counts.active:
            yield EndCancelled()
        return
    ended = isinstance(body, AttemptVerified | AttemptRejected | AttemptFailed) or (
        isinstance(body, AttemptCancelled) and _was_under_way(state, body)
    )
    if ended and not state.counts.active:
        yield EndCancelled()


def _was_under_way(state: RunState, body: AttemptCancelled) -> bool:
    """Whether the cancelled attempt was the current one; the end of an obsolete one enables nothing."""
    node = state.nodes.get(body.node)
    return (
        node is not None
        and (node.generation, node.attempt) == (body.generation, body.attempt)
        and node.status == "pending"
    )


def _same_attempt(fresh: Command | None, command: StartAttempt) -> Command | None:
    """The same attempt, or the output that is at hand now that what came of the sub-task's calls is known."""
    if isinstance(fresh, ReuseOutput) and fresh.generation == command.generation:
        return fresh
    if not isinstance(fresh, StartAttempt):
        return None
    named = (command.generation, command.attempt, command.resumed)
    return fresh if (fresh.generation, fresh.attempt, fresh.resumed) == named else None


def _same_need(state: RunState, command: Repairing) -> Command | None:
    """What the node of a repair waits for now, where that still is a repair and not an attempt or a classification."""
    node = state.nodes.get(_repaired_node(command))
    if node is None or node.status not in ("blocked", "pending"):
        return None
    fresh = next_for_node(state, node.id)
    if node.status == "pending":
        return fresh if isinstance(fresh, type(command)) else None
    return None if isinstance(fresh, RecordBlockage) else fresh


def _repaired_node(command: Repairing) -> NodeId:
    match command:
        case RetryAttempt() | AcceptAsIs() | ReopenReview():
            return command.node
        case Backtrack(plan=plan):
            return plan.node
        case AskPerson(request=request):
            return request.node
        case SkipNodes(nodes=nodes):
            # In topological order: the one that is given up comes before what it takes with it.
            return nodes[0]
        case _:
            assert_never(command)


def _dispatch(state: RunState, node: NodeState) -> Command:
    """An attempt, unless its output is at hand already or the contract allows the sub-task no further one.

    While nobody knows what came of a call of the sub-task, its output at hand says nothing of that: an attempt finds
    out.
    """
    key = input_key(state, node.id)
    open_calls = any(call.unsettled for call in node.committed.values())
    if node.accepted is not None and node.accepted.input_key == key and not open_calls:
        return ReuseOutput(node=node.id, generation=node.generation, input_key=key)
    if attempts_exhausted(state, node):
        return give_back(state, node, "attempts_exhausted")
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
