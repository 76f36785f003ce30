"""`apply(state, event)`: what is true after an event. The only way in which state changes.

Each event touches the nodes that it names, the successors of a node that it accepts, and the nodes that a backtrack
invalidates; never all nodes, except when a plan is confirmed. An event that can't follow the state before it is refused
with `BrokenLog`: whoever records events drops late results and obsolete commands first (`decide.still_open`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from rpds import HashTrieMap, HashTrieSet

from graphs.plan import NodeId, index_plan
from orchestrator.core.amendment import carried_over
from orchestrator.core.blockage import BlockageClass
from orchestrator.core.events import (
    AttemptCancelled,
    AttemptFailed,
    AttemptProduced,
    AttemptRejected,
    AttemptStarted,
    AttemptVerified,
    Backtracked,
    BlockageClassified,
    Body,
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
from orchestrator.core.ids import RunId
from orchestrator.core.rewinding import backtracked
from orchestrator.core.state import ENDED, Accepted, Counts, NodeState, RunState, RunStatus, call_key
from orchestrator.core.transition import (
    ACTIVE,
    BrokenLog,
    attempted,
    is_running,
    key_of,
    plan_of,
    recorded,
    with_node,
)


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
    return replace(_step(state, event), seq=event.seq)


def _step(state: RunState, event: Event) -> RunState:  # noqa: C901 - one arm per event type
    body = event.body
    match body:
        case RunCreated():
            return replace(state, created=body)
        case ProposalDrafted():
            _check_status(state, body, "drafting", "reviewing")
            return replace(state, proposal=body.proposal, sha256=body.sha256, status="reviewing")
        case ChangesWereRequested():
            _check_status(state, body, "reviewing")
            return state
        case ProposalRejected():
            _check_status(state, body, "reviewing")
            return replace(state, status="blocked", outcome="blocked", gaps=(f"rejected: {body.note}",))
        case ProposalApproved():
            return _confirm(state, body)
        case SourcesRead():
            return state
        case ExecutorTookOver():
            return _taken_over(state, body)
        case RunPaused():
            return replace(state, paused=True, status=_instead(state, "running", "paused"))
        case RunContinued():
            return replace(state, paused=False, status=_instead(state, "paused", "running"))
        case CancelRequested():
            return replace(state, cancelling=True, cancel_seq=state.cancel_seq or event.seq)
        case AttemptStarted():
            return _started(state, body)
        case CallReturned():
            return _called(state, body)
        case AttemptProduced():
            node = attempted(state, body.node, body.generation, body.attempt, *ACTIVE)
            return with_node(state, replace(node, status="verifying"))
        case AttemptVerified():
            return _verified(state, body)
        case AttemptRejected() | AttemptFailed():
            return _blocked(state, body)
        case AttemptCancelled():
            return _cancelled(state, body)
        case NodeReused():
            return _reused(state, body)
        case NodeAcceptedAsIs():
            return _as_is(state, body)
        case NodesSkipped():
            return _skipped(state, body)
        case BlockageClassified():
            return _classified(state, body)
        case RetryScheduled():
            node = attempted(state, body.node, body.generation, body.attempt - 1, "blocked")
            again = replace(
                node,
                status="pending",
                retries=node.retries + 1,
                delay_s=body.delay_s,
                failure=None,
                blockage=None,
            )
            return with_node(state, again)
        case Backtracked():
            return backtracked(state, body.plan)
        case FailureRemembered():
            return replace(state, remembered=state.remembered.insert(body.key))
        case RequestOpened():
            return _asked(state, body)
        case RequestAnswered():
            return _answered(state, body)
        case RunSuspended():
            return replace(state, status="suspended")
        case ReviewReopened():
            return replace(
                state,
                status="reviewing",
                approved_revision=None,
                superseded=state.proposal,
                requests=HashTrieMap(),
            )
        case RunEnded():
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
        case _:
            assert_never(body)


def _check_status(state: RunState, body: Body, *statuses: RunStatus) -> None:
    if state.status not in statuses:
        raise BrokenLog(f"run {state.run!r}: {body.type!r} while the run is {state.status}")


def _instead(state: RunState, before: RunStatus, after: RunStatus) -> RunStatus:
    """Pausing concerns a run that executes; one in review, suspended or ended stays that."""
    return after if state.status == before else state.status


def _confirm(state: RunState, body: ProposalApproved) -> RunState:
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
        agents=agents,
        assigned=assigned,
        counts=Counts(ready=len(index.entries)),
        unresolved=HashTrieSet(),
        requests=HashTrieMap(),
        limit_hit=False,
        internal_error=None,
    )


def _taken_over(state: RunState, body: ExecutorTookOver) -> RunState:
    if body.epoch < state.epoch:
        raise BrokenLog(f"run {state.run!r}: epoch {body.epoch} follows {state.epoch}")
    if state.approved_revision is None or state.status in ENDED:
        return replace(state, epoch=body.epoch)
    return replace(state, epoch=body.epoch, status="paused" if state.paused else "running")


def _started(state: RunState, body: AttemptStarted) -> RunState:
    node = state.nodes.get(body.node)
    resumed = node is not None and node.status in ACTIVE
    before = body.attempt if resumed else body.attempt - 1
    node = attempted(state, body.node, body.generation, before, "pending", *ACTIVE)
    if node.waiting:
        raise BrokenLog(f"run {state.run!r}: {body.node!r} started before its inputs were accepted")
    started = replace(
        node,
        status="running",
        attempt=body.attempt,
        epoch=body.epoch,
        input_key=body.input_key,
        delay_s=0.0,
        calls=node.calls if resumed else HashTrieMap(),
    )
    return with_node(state, started)


def _called(state: RunState, body: CallReturned) -> RunState:
    """A late call of an obsolete attempt was paid for and stays in the log, and means nothing for the node."""
    node = state.nodes.get(body.node)
    if node is None or not is_running(node, body.generation, body.attempt):
        return state
    key = call_key(body.step, body.index, body.arguments_digest)
    return with_node(state, replace(node, calls=node.calls.insert(key, body.result)))


def _verified(state: RunState, body: AttemptVerified) -> RunState:
    node = attempted(state, body.node, body.generation, body.attempt, *ACTIVE)
    accepted = Accepted(
        input_key=key_of(node),
        output=body.output,
        content=body.content,
        path=body.path,
        mode=body.mode,
        verification=body.verification,
        leaks=body.leaks,
    )
    return _accept(state, recorded(state, replace(node, accepted=accepted), "verified"))


def _accept(state: RunState, node: NodeState) -> RunState:
    done = replace(
        node,
        status="accepted",
        failure=None,
        blockage=None,
        answer=None,
        answered=None,
        calls=HashTrieMap(),
        done_seq=state.seq + 1,
    )
    resolved = state.unresolved.discard(node.id)
    return _release(with_node(replace(state, unresolved=resolved), done), node.id)


def _release(state: RunState, node: NodeId) -> RunState:
    for follower in plan_of(state).successors(node):
        waiting = state.node(follower)
        if waiting.waiting == 0:
            raise BrokenLog(f"run {state.run!r}: {node!r} releases {follower!r}, which waits for nothing")
        state = with_node(state, replace(waiting, waiting=waiting.waiting - 1))
    return state


def _reused(state: RunState, body: NodeReused) -> RunState:
    node = state.nodes.get(body.node)
    if node is None or node.generation != body.generation or not node.ready:
        raise BrokenLog(f"run {state.run!r}: {body.node!r} can't be accepted again now")
    if node.accepted is None or node.accepted.input_key != body.input_key:
        raise BrokenLog(f"run {state.run!r}: {body.node!r} has no output of these inputs")
    return _accept(state, replace(node, input_key=body.input_key))


def _as_is(state: RunState, body: NodeAcceptedAsIs) -> RunState:
    node = state.nodes.get(body.node)
    if node is None or node.generation != body.generation or node.status != "blocked":
        raise BrokenLog(f"run {state.run!r}: no output of {body.node!r} is up for a decision")
    if node.rejected is None:
        raise BrokenLog(f"run {state.run!r}: {body.node!r} has no output to take")
    return _accept(state, replace(node, accepted=replace(node.rejected, as_is=True)))


def _blocked(state: RunState, body: AttemptRejected | AttemptFailed) -> RunState:
    node = attempted(state, body.node, body.generation, body.attempt, *ACTIVE)
    node = recorded(state, node, body.failure.kind)
    if isinstance(body, AttemptRejected):
        rejected = Accepted(
            input_key=key_of(node),
            output=body.output,
            content=body.content,
            path=body.path,
            mode=body.mode,
            verification=body.verification,
            leaks=body.leaks,
        )
        node = replace(node, rejected=rejected)
    return with_node(
        state, replace(node, status="blocked", failure=body.failure, blockage=None, calls=HashTrieMap())
    )


def _cancelled(state: RunState, body: AttemptCancelled) -> RunState:
    """The end of an obsolete attempt, of a node that is no longer in the plan too, changes nothing."""
    node = state.nodes.get(body.node)
    if node is None or not is_running(node, body.generation, body.attempt):
        return state
    return with_node(
        state, replace(recorded(state, node, "cancelled"), status="pending", calls=HashTrieMap())
    )


def _classified(state: RunState, body: BlockageClassified) -> RunState:
    node = attempted(state, body.node, body.generation, body.attempt, "blocked")
    state = with_node(state, replace(node, blockage=body.blockage))
    if body.blockage.cls in (BlockageClass.B, BlockageClass.C):
        return replace(state, unresolved=state.unresolved.insert(body.node))
    return state


def _skipped(state: RunState, body: NodesSkipped) -> RunState:
    for name in body.nodes:
        node = state.nodes.get(name)
        if node is None or node.status not in ("pending", "blocked"):
            raise BrokenLog(f"run {state.run!r}: {name!r} can't be given up now")
        skipped = replace(
            node,
            status="skipped",
            skipped_because=body.reason,
            answer=None,
            answered=None,
            blockage=None,
            calls=HashTrieMap(),
        )
        state = with_node(replace(state, unresolved=state.unresolved.discard(name)), skipped)
    for name in body.nodes:
        state = _release(state, name)
    return replace(
        state,
        limit_hit=state.limit_hit or body.reason == "limit",
        internal_error=body.detail if body.reason == "internal" else state.internal_error,
    )


def _asked(state: RunState, body: RequestOpened) -> RunState:
    request = body.request
    node = state.nodes.get(request.node)
    stopped = node is not None and node.ready and node.attempts > 0
    if node is None or not (node.status == "blocked" or stopped) or request.id in state.requests:
        raise BrokenLog(f"run {state.run!r}: request {request.id!r} does not fit {request.node!r}")
    node = replace(node, status="suspended", request=request.id, answer=None, answered=None)
    state = replace(
        state,
        requests=state.requests.insert(request.id, request),
        requests_opened=state.requests_opened + 1,
    )
    return with_node(state, node)


def _answered(state: RunState, body: RequestAnswered) -> RunState:
    request = state.requests.get(body.request)
    if request is None or request.node != body.node:
        raise BrokenLog(f"run {state.run!r}: answer to {body.request!r}, which is not open for {body.node!r}")
    node = state.node(body.node)
    status = state.status
    if status == "suspended":
        status = "paused" if state.paused else "running"
    state = replace(state, requests=state.requests.remove(body.request), status=status)
    # The answer grants one repair beyond the limit: without it a person's own choice could not be carried out.
    answered = replace(
        node,
        status="blocked",
        request=None,
        answer=body.answer,
        answered=body.request,
        granted=node.granted + 1,
    )
    return with_node(state, answered)
