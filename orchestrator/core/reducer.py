"""`apply(state, event)`: what is true after an event. The only way in which state changes.

Each event touches the nodes that it names, the successors of a node that it accepts, and the nodes that a backtrack
invalidates; never all nodes, except when a plan is confirmed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from rpds import HashTrieMap

from graphs.plan import NodeId, PlanIndex, index_plan
from orchestrator.core.backtrack import (
    BacktrackPlan,
    ChangeAgent,
    CorrectParameters,
    ExtendMask,
    InjectGuard,
    SetMask,
)
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
from orchestrator.core.requests import AttemptRow
from orchestrator.core.state import Accepted, Counts, NodeState, RunState, call_key


class BrokenLog(ValueError):
    """An event that can't follow the state before it: a gap in `seq`, or a type out of place. The log is damaged."""


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
            return replace(state, proposal=body.proposal, sha256=body.sha256, status="reviewing")
        case ChangesWereRequested():
            return replace(state, status="reviewing")
        case ProposalRejected():
            return replace(state, status="blocked", outcome="blocked", gaps=(f"rejected: {body.note}",))
        case ProposalApproved():
            return _confirm(state, body)
        case SourcesRead():
            return state
        case ExecutorTookOver():
            return replace(state, epoch=body.epoch, status="paused" if state.paused else "running")
        case RunPaused():
            return replace(state, paused=True, status="paused")
        case RunContinued():
            return replace(state, paused=False, status="running")
        case CancelRequested():
            return replace(state, cancelling=True)
        case AttemptStarted():
            return _started(state, body)
        case CallReturned():
            key = call_key(body.step, body.index, body.arguments_digest)
            return _set(state, _with_call(state.node(body.node), key, body))
        case AttemptProduced():
            return _set(state, replace(state.node(body.node), status="verifying"))
        case AttemptVerified():
            return _verified(state, body)
        case AttemptRejected() | AttemptFailed():
            return _blocked(state, body)
        case AttemptCancelled():
            return _cancelled(state, body)
        case NodeReused():
            return _accept(state, replace(state.node(body.node), input_key=body.input_key))
        case NodeAcceptedAsIs():
            return _as_is(state, body.node)
        case NodesSkipped():
            return _skipped(state, body)
        case BlockageClassified():
            return _classified(state, body)
        case RetryScheduled():
            node = state.node(body.node)
            again = replace(
                node,
                status="pending",
                retries=node.retries + 1,
                delay_s=body.delay_s,
                failure=None,
                blockage=None,
            )
            return _set(state, again)
        case Backtracked():
            return _backtracked(state, body.plan)
        case FailureRemembered():
            return replace(state, remembered=state.remembered.insert(body.key))
        case RequestOpened():
            return _asked(state, body)
        case RequestAnswered():
            return _answered(state, body)
        case RunSuspended():
            return replace(state, status="suspended")
        case ReviewReopened():
            return replace(state, status="reviewing", approved_revision=None)
        case RunEnded():
            return replace(
                state,
                status=body.outcome,
                outcome=body.outcome,
                gaps=body.gaps,
                stopped=body.stopped,
                report=body.report,
                result=body.result,
            )
        case _:
            assert_never(body)


def _confirm(state: RunState, body: ProposalApproved) -> RunState:
    proposal = state.proposal
    if proposal is None or proposal.revision != body.revision or state.sha256 != body.sha256:
        raise BrokenLog(f"run {state.run!r}: approval of revision {body.revision} that is not under review")
    index = index_plan(proposal.plan)
    old = state.nodes
    nodes: HashTrieMap[NodeId, NodeState] = HashTrieMap()
    ready = 0
    for name in index.order:
        waiting = len(index.predecessors(name))
        ready += waiting == 0
        nodes = nodes.insert(name, _reviewed(old.get(name), name, waiting))
    return replace(
        state,
        status="confirmed",
        approved_revision=body.revision,
        index=index,
        nodes=nodes,
        agents=HashTrieMap({agent.id: agent for agent in proposal.roster.agents}),
        assigned=HashTrieMap(dict(proposal.assignment)),
        counts=Counts(ready=ready),
        last_blocked=None,
        requests=HashTrieMap(),
    )


def _reviewed(before: NodeState | None, name: NodeId, waiting: int) -> NodeState:
    """A node after an amended approval keeps its last accepted output, so that unchanged work is reused."""
    if before is None:
        return NodeState(id=name, waiting=waiting)
    return NodeState(
        id=name,
        waiting=waiting,
        generation=before.generation + 1,
        accepted=before.accepted,
        history=before.history,
    )


def _started(state: RunState, body: AttemptStarted) -> RunState:
    node = state.node(body.node)
    _check_current(state, node, body.generation)
    resumed = node.status in ("running", "verifying") and node.attempt == body.attempt
    started = replace(
        node,
        status="running",
        attempt=body.attempt,
        epoch=body.epoch,
        input_key=body.input_key,
        delay_s=0.0,
        calls=node.calls if resumed else HashTrieMap(),
    )
    return _set(state, started)


def _with_call(node: NodeState, key: str, body: CallReturned) -> NodeState:
    return replace(node, calls=node.calls.insert(key, body.result))


def _verified(state: RunState, body: AttemptVerified) -> RunState:
    node = state.node(body.node)
    _check_current(state, node, body.generation)
    if node.input_key is None:
        raise BrokenLog(f"run {state.run!r}: {body.node!r} was verified without a start")
    accepted = Accepted(
        input_key=node.input_key,
        output=body.output,
        content=body.content,
        path=body.path,
        mode=body.mode,
        verification=body.verification,
        leaks=body.leaks,
    )
    return _accept(state, _record(state, replace(node, accepted=accepted), "verified"))


def _accept(state: RunState, node: NodeState) -> RunState:
    done = replace(
        node,
        status="accepted",
        failure=None,
        blockage=None,
        answer=None,
        calls=HashTrieMap(),
        done_seq=state.seq + 1,
    )
    blocked = None if state.last_blocked == node.id else state.last_blocked
    return _release(_set(replace(state, last_blocked=blocked), done), node.id)


def _release(state: RunState, node: NodeId, *, without: frozenset[NodeId] = frozenset()) -> RunState:
    for follower in _plan(state).successors(node):
        if follower in without:
            continue
        waiting = state.node(follower)
        state = _set(state, replace(waiting, waiting=waiting.waiting - 1))
    return state


def _as_is(state: RunState, name: NodeId) -> RunState:
    node = state.node(name)
    if node.rejected is None:
        raise BrokenLog(f"run {state.run!r}: {name!r} has no output to take")
    return _accept(state, replace(node, accepted=replace(node.rejected, as_is=True)))


def _blocked(state: RunState, body: AttemptRejected | AttemptFailed) -> RunState:
    node = state.node(body.node)
    _check_current(state, node, body.generation)
    node = _record(state, node, body.failure.kind)
    if isinstance(body, AttemptRejected) and node.input_key is not None:
        rejected = Accepted(
            input_key=node.input_key,
            output=body.output,
            content=body.content,
            path=body.path,
            mode=body.mode,
            verification=body.verification,
            leaks=body.leaks,
        )
        node = replace(node, rejected=rejected)
    return _set(
        state, replace(node, status="blocked", failure=body.failure, blockage=None, calls=HashTrieMap())
    )


def _cancelled(state: RunState, body: AttemptCancelled) -> RunState:
    node = state.node(body.node)
    if node.generation != body.generation or node.attempt != body.attempt:
        return state
    return _set(state, replace(_record(state, node, "cancelled"), status="pending", calls=HashTrieMap()))


def _classified(state: RunState, body: BlockageClassified) -> RunState:
    node = state.node(body.node)
    state = _set(state, replace(node, blockage=body.blockage))
    if body.blockage.cls in (BlockageClass.B, BlockageClass.C):
        return replace(state, last_blocked=body.node)
    return state


def _skipped(state: RunState, body: NodesSkipped) -> RunState:
    given_up = frozenset(body.nodes)
    for name in body.nodes:
        node = state.node(name)
        skipped = replace(
            node,
            status="skipped",
            skipped_because=body.reason,
            answer=None,
            blockage=None,
            calls=HashTrieMap(),
        )
        state = _set(state, skipped)
    for name in body.nodes:
        state = _release(state, name, without=given_up)
    return replace(
        state,
        limit_hit=state.limit_hit or body.reason == "limit",
        internal_error=body.detail if body.reason == "internal" else state.internal_error,
    )


def _asked(state: RunState, body: RequestOpened) -> RunState:
    request = body.request
    node = replace(state.node(request.node), status="suspended", request=request.id)
    state = replace(
        state,
        requests=state.requests.insert(request.id, request),
        requests_opened=state.requests_opened + 1,
    )
    return _set(state, node)


def _answered(state: RunState, body: RequestAnswered) -> RunState:
    if body.request not in state.requests:
        raise BrokenLog(f"run {state.run!r}: answer to {body.request!r}, which is not open")
    node = state.node(body.node)
    status = "running" if state.status == "suspended" else state.status
    state = replace(state, requests=state.requests.remove(body.request), status=status)
    # The answer grants one repair beyond the limit: without it a person's own choice could not be carried out.
    answered = replace(node, status="blocked", request=None, answer=body.answer, granted=node.granted + 1)
    return _set(state, answered)


def _backtracked(state: RunState, plan: BacktrackPlan) -> RunState:
    index = _plan(state)
    scope = frozenset(plan.invalidated)
    state = _repaired(state, plan)
    for name in plan.invalidated:
        node = state.node(name)
        if node.request is not None:
            state = replace(state, requests=state.requests.discard(node.request))
        waiting = sum(1 for p in index.predecessors(name) if p in scope or not _is_done(state, p))
        state = _set(state, _invalidated(node, plan, waiting))
    return state


def _invalidated(node: NodeState, plan: BacktrackPlan, waiting: int) -> NodeState:
    repaired = node.id == plan.repair.node
    reset = replace(
        node,
        status="pending",
        waiting=waiting,
        failure=None,
        blockage=None,
        request=None,
        answer=None,
        delay_s=0.0,
        calls=HashTrieMap(),
        skipped_because=None,
        forced_level=plan.forced_level if repaired else node.forced_level,
        start_path=plan.start_path if repaired else node.start_path,
        redone=node.redone or (plan.redo and node.id == plan.node),
    )
    if node.attempt == 0 and node.status == "pending":
        return reset
    return replace(
        reset, generation=node.generation + 1, attempt=0, retries=0, depth=plan.depth, region=plan.region
    )


def _repaired(state: RunState, plan: BacktrackPlan) -> RunState:
    repair = plan.repair
    failing = state.node(plan.node)
    state = _set(state, replace(failing, repairs=(*failing.repairs, repair.kind)))
    if plan.remember is not None:
        state = replace(state, remembered=state.remembered.insert(plan.remember))
    node = state.node(repair.node)
    match repair:
        case CorrectParameters():
            params = node.params
            for name, value in repair.params.items():
                params = params.insert(name, value)
            guards = (*node.guards, repair.guard) if repair.guard else node.guards
            return _set(state, replace(node, params=params, guards=guards))
        case InjectGuard():
            return _set(state, replace(node, guards=(*node.guards, repair.guard)))
        case ChangeAgent():
            return replace(state, assigned=state.assigned.insert(repair.node, repair.new))
        case ExtendMask() | SetMask():
            extended = (
                (*node.extended, str(repair.domain)) if isinstance(repair, ExtendMask) else node.extended
            )
            state = _set(state, replace(node, extended=extended))
            return replace(
                state,
                agents=state.agents.insert(repair.successor.id, repair.successor),
                assigned=state.assigned.insert(repair.node, repair.successor.id),
            )
        case _:
            assert_never(repair)


def _record(state: RunState, node: NodeState, outcome: str) -> NodeState:
    row = AttemptRow(
        generation=node.generation,
        attempt=node.attempt,
        agent=str(state.assigned[node.id]),
        outcome=outcome,
        repair=node.repairs[-1] if node.repairs else None,
    )
    return replace(node, history=(*node.history, row))


def _check_current(state: RunState, node: NodeState, generation: int) -> None:
    if node.generation != generation:
        raise BrokenLog(
            f"run {state.run!r}: event for generation {generation} of {node.id!r}, which is at {node.generation}"
        )


def _is_done(state: RunState, name: NodeId) -> bool:
    """A skipped node outside a backtrack's scope holds nobody up: who can't do without it was skipped with it."""
    return state.node(name).status in ("accepted", "skipped")


def _plan(state: RunState) -> PlanIndex:
    if state.index is None:
        raise BrokenLog(f"run {state.run!r}: an event of execution before an approval")
    return state.index


def _set(state: RunState, node: NodeState) -> RunState:
    counts = _count(_count(state.counts, state.nodes[node.id], -1), node, +1)
    return replace(state, nodes=state.nodes.insert(node.id, node), counts=counts)


def _count(counts: Counts, node: NodeState, by: int) -> Counts:
    match node.status:
        case "pending":
            return replace(counts, ready=counts.ready + by) if node.waiting == 0 else counts
        case "running" | "verifying":
            return replace(counts, active=counts.active + by)
        case "accepted":
            return replace(counts, accepted=counts.accepted + by)
        case "blocked":
            return replace(counts, blocked=counts.blocked + by)
        case "suspended":
            return replace(counts, suspended=counts.suspended + by)
        case "skipped":
            return replace(counts, skipped=counts.skipped + by)
        case _:
            assert_never(node.status)
