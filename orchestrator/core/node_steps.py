"""What the events of single sub-tasks do to the state: attempts, failures, retries, requests. Pure.

Each touches the nodes that it names, the successors of a node that it accepts, and the nodes that a backtrack
invalidates; never all nodes.
"""

from __future__ import annotations

from typing import Final

from rpds import HashTrieMap

from graphs.plan import NodeId
from orchestrator.core.approvals import CallWord, CommittedCall, RefusedCall
from orchestrator.core.blockage import BlockageClass
from orchestrator.core.changing import changed
from orchestrator.core.dropped import answered_about, asked_about, returned_late
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
    MessageRefused,
    NodeAcceptedAsIs,
    NodeReused,
    NodesSkipped,
    RequestAnswered,
    RequestOpened,
    RetryScheduled,
)
from orchestrator.core.ids import ArtefactId
from orchestrator.core.requests import CALL_CHOICES, AttemptRow, Request
from orchestrator.core.rewinding import backtracked as rewound
from orchestrator.core.state import MODEL_CALL, Accepted, NodeState, NodeStatus, RunState, call_key
from orchestrator.core.transition import (
    ACTIVE,
    BrokenLog,
    attempted,
    is_running,
    key_of,
    placed,
    plan_of,
    recorded,
    row_of,
    with_node,
)

_RESUMED: Final[tuple[NodeStatus, ...]] = ("blocked", *ACTIVE)
"""What an attempt can be in that is gone on with."""
_NO_CALLS: Final[HashTrieMap[str, ArtefactId]] = HashTrieMap()


def started(state: RunState, body: AttemptStarted) -> RunState:
    """Let an attempt run; a resumed one keeps the results of its calls."""
    node = state.nodes.get(body.node)
    # One that a crash cut, or that a person's word on one of its calls lets go on.
    resumed = node is not None and (node.status in ACTIVE or node.held is not None)
    before = body.attempt if resumed else body.attempt - 1
    node = attempted(state, body.node, body.generation, before, *(_RESUMED if resumed else ("pending",)))
    if node.waiting:
        raise BrokenLog(f"run {state.run!r}: {body.node!r} started before its inputs were accepted")
    started = changed(
        node,
        status="running",
        attempt=body.attempt,
        epoch=body.epoch,
        input_key=body.input_key,
        delay_s=0.0,
        calls=node.calls if resumed else _NO_CALLS,
        held=None,
        answer=None,
        answered=None,
    )
    nodes, counts = placed(state, started)
    return changed(state, seq=state.seq + 1, nodes=nodes, counts=counts)


def called(state: RunState, body: CallReturned) -> RunState:
    """Keep a result for the attempt, should it be gone on with; and what came of a call with an effect for good.

    A late call of an obsolete attempt was paid for and may have had its effect: that counts; its result means nothing
    for the node any more.
    """
    node = state.nodes.get(body.node)
    if body.usage is not None:
        state = changed(state, spent=state.spent.plus(body.usage))
    if node is None:
        return returned_late(state, body)
    done = node.committed.get(body.key) if body.key else None
    if done is not None:
        after = changed(done, result=body.result, failed=not body.ok)
        node = changed(node, committed=node.committed.insert(body.key, after))
        word = node.words.get(body.arguments_digest)
        if word is not None and word.word == "happened":
            # It said what came of this call; of another one it says nothing.
            spent = changed(word, used=True)
            node = changed(node, words=node.words.insert(body.arguments_digest, spent))
    if is_running(node, body.generation, body.attempt):
        what = MODEL_CALL if body.call == "model" else body.arguments_digest
        key = call_key(body.step, body.index, what)
        node = changed(node, calls=node.calls.insert(key, body.result))
    return with_node(state, node)


def committed(state: RunState, body: CallCommitted) -> RunState:
    """Use up the word that lets the call be made, and remember that it may have had its effect.

    Raises `BrokenLog` for a word that is not that of this call, or that was used before.
    """
    node = attempted(state, body.node, body.generation, body.attempt, *ACTIVE)
    words = node.words
    if body.approval is not None:
        word = words.get(body.arguments_digest)
        # "Repeat" lets the call of unknown outcome be made that was committed before, and no other.
        before = node.committed.get(body.key)
        again = word is not None and word.word == "repeat" and before is not None and before.unsettled
        good = word is not None and (word.word == "approve" or again)
        if word is None or word.request != body.approval or word.used or not good:
            raise BrokenLog(f"run {state.run!r}: {body.tool!r} of {body.node!r} was not let be made")
        words = words.insert(body.arguments_digest, changed(word, used=True))
    call = CommittedCall(
        tool=body.tool,
        key=body.key,
        side_effect=body.side_effect,
        generation=body.generation,
        attempt=body.attempt,
        step=body.step,
        index=body.index,
        arguments=body.arguments,
        arguments_digest=body.arguments_digest,
        approved=body.approval is not None,
    )
    return with_node(state, changed(node, words=words, committed=node.committed.insert(body.key, call)))


def streamed(state: RunState, body: CallStreamed) -> RunState:
    """Change nothing: a part of an answer is for who watches."""
    del body
    return state


def held(state: RunState, body: AttemptHeld) -> RunState:
    """Let the attempt rest; a person is asked next. Its calls keep their results."""
    node = attempted(state, body.node, body.generation, body.attempt, *ACTIVE)
    return with_node(state, changed(node, status="blocked", held=body.call, failure=None, blockage=None))


def produced(state: RunState, body: AttemptProduced) -> RunState:
    """Begin the check of an output."""
    node = attempted(state, body.node, body.generation, body.attempt, *ACTIVE)
    nodes, counts = placed(state, changed(node, status="verifying"))
    return changed(state, seq=state.seq + 1, nodes=nodes, counts=counts)


def verified(state: RunState, body: AttemptVerified) -> RunState:
    """Accept the output of an attempt and release what waits for it."""
    node = attempted(state, body.node, body.generation, body.attempt, *ACTIVE)
    return _accept(state, node, _output(node, body), tried=(row_of(state, node, "verified"),))


def reused(state: RunState, body: NodeReused) -> RunState:
    """Accept an earlier output again."""
    node = state.nodes.get(body.node)
    if node is None or node.generation != body.generation or not node.ready:
        raise BrokenLog(f"run {state.run!r}: {body.node!r} can't be accepted again now")
    if node.accepted is None or node.accepted.input_key != body.input_key:
        raise BrokenLog(f"run {state.run!r}: {body.node!r} has no output of these inputs")
    return _accept(state, changed(node, input_key=body.input_key), node.accepted)


def accepted_as_is(state: RunState, body: NodeAcceptedAsIs) -> RunState:
    """Accept the rejected output that a person took."""
    node = state.nodes.get(body.node)
    if node is None or node.generation != body.generation or node.status != "blocked":
        raise BrokenLog(f"run {state.run!r}: no output of {body.node!r} is up for a decision")
    if node.rejected is None:
        raise BrokenLog(f"run {state.run!r}: {body.node!r} has no output to take")
    return _accept(state, node, changed(node.rejected, as_is=True))


def blocked(state: RunState, body: AttemptRejected | AttemptFailed) -> RunState:
    """Keep the failure of an attempt, and the output that did not pass."""
    node = attempted(state, body.node, body.generation, body.attempt, *ACTIVE)
    node = recorded(state, node, body.failure.kind)
    if isinstance(body, AttemptRejected):
        node = changed(node, rejected=_output(node, body))
    return with_node(
        state,
        changed(node, status="blocked", failure=body.failure, blockage=None, held=None, calls=_NO_CALLS),
    )


def cancelled(state: RunState, body: AttemptCancelled) -> RunState:
    """The end of an obsolete attempt, of a node that is no longer in the plan too, changes nothing."""
    node = state.nodes.get(body.node)
    if node is None or not is_running(node, body.generation, body.attempt):
        return state
    return with_node(state, changed(recorded(state, node, "cancelled"), status="pending", calls=_NO_CALLS))


def classified(state: RunState, body: BlockageClassified) -> RunState:
    """Keep the class of a failure."""
    node = attempted(state, body.node, body.generation, body.attempt, "blocked")
    state = with_node(state, changed(node, blockage=body.blockage))
    if body.blockage.cls in (BlockageClass.B, BlockageClass.C):
        return changed(state, unresolved=state.unresolved.insert(body.node))
    return state


def retry_scheduled(state: RunState, body: RetryScheduled) -> RunState:
    """Let the same attempt be made again after its delay."""
    node = attempted(state, body.node, body.generation, body.attempt - 1, "blocked")
    again = changed(
        node,
        status="pending",
        retries=node.retries + 1,
        delay_s=body.delay_s,
        failure=None,
        blockage=None,
    )
    return with_node(state, again)


def backtracked(state: RunState, body: Backtracked) -> RunState:
    """Make the repair, and let what was built on the fault start over."""
    return rewound(state, body.plan)


def skipped(state: RunState, body: NodesSkipped) -> RunState:
    """Give sub-tasks up and release what goes on without them."""
    for name in body.nodes:
        node = state.nodes.get(name)
        if node is None or node.status not in ("pending", "blocked"):
            raise BrokenLog(f"run {state.run!r}: {name!r} can't be given up now")
        if node.held is not None:
            node = recorded(state, node, "given_up")
        skipped = changed(
            node,
            status="skipped",
            skipped_because=body.reason,
            answer=None,
            answered=None,
            blockage=None,
            held=None,
            calls=_NO_CALLS,
        )
        state = with_node(changed(state, unresolved=state.unresolved.discard(name)), skipped)
    for name in body.nodes:
        nodes, counts = placed(state, *_released(state, name))
        state = changed(state, nodes=nodes, counts=counts)
    return changed(
        state,
        limit_hit=state.limit_hit or body.reason == "limit",
        internal_error=body.detail if body.reason == "internal" else state.internal_error,
    )


def asked(state: RunState, body: RequestOpened) -> RunState:
    """Suspend a sub-task until a person answered."""
    request = body.request
    if request.node in state.dropped:
        return asked_about(state, request)
    node = state.nodes.get(request.node)
    stopped = node is not None and node.ready and node.attempts > 0
    if node is None or not (node.status == "blocked" or stopped) or request.id in state.requests:
        raise BrokenLog(f"run {state.run!r}: request {request.id!r} does not fit {request.node!r}")
    node = changed(node, status="suspended", request=request.id, answer=None, answered=None)
    state = changed(
        state,
        requests=state.requests.insert(request.id, request),
        requests_opened=state.requests_opened + 1,
    )
    return with_node(state, node)


def refused(state: RunState, body: MessageRefused) -> RunState:
    """Note at an open request that an answer to it could not be taken; it stays open."""
    request = state.requests.get(body.request) if body.request is not None else None
    if request is None:
        return state
    noted = changed(request, refused=(*request.refused, body.why))
    return changed(state, requests=state.requests.insert(noted.id, noted))


def answered(state: RunState, body: RequestAnswered) -> RunState:
    """Take a person's answer, which `decide` carries out."""
    request = state.requests.get(body.request)
    if request is None or request.node != body.node:
        raise BrokenLog(f"run {state.run!r}: answer to {body.request!r}, which is not open for {body.node!r}")
    status = state.status
    if status == "suspended":
        status = "paused" if state.paused else "running"
    if body.node in state.dropped:
        return answered_about(changed(state, status=status), request, body)
    node = state.node(body.node)
    refusals = state.refused
    if request.call is not None and body.answer.choice == "refuse":
        refusals = (*refusals, RefusedCall(node=node.id, call=request.call))
    state = changed(state, requests=state.requests.remove(body.request), status=status, refused=refusals)
    # The answer grants one repair beyond the limit: without it a person's own choice could not be carried out.
    answered = changed(
        node,
        status="blocked",
        request=None,
        answer=body.answer,
        answered=body.request,
        granted=node.granted + (body.answer.choice not in CALL_CHOICES),
        words=_words(state, node, request, body),
    )
    return with_node(state, answered)


def _words(
    state: RunState, node: NodeState, request: Request, body: RequestAnswered
) -> HashTrieMap[str, CallWord]:
    """The words on a node's calls after an answer; one about a call is bound to exactly that call."""
    call, choice = request.call, body.answer.choice
    if call is None or choice not in ("approve", "refuse", "happened", "repeat"):
        return node.words
    word = CallWord(
        request=request.id,
        run=state.run,
        node=node.id,
        generation=node.generation,
        tool=call.tool,
        arguments_digest=call.arguments_digest,
        word=choice,
        at=body.at,
        note=body.answer.guidance,
    )
    return node.words.insert(call.arguments_digest, word)


def _output(node: NodeState, body: AttemptVerified | AttemptRejected) -> Accepted:
    return Accepted(
        input_key=key_of(node),
        output=body.output,
        content=body.content,
        path=body.path,
        mode=body.mode,
        verification=body.verification,
        leaks=body.leaks,
    )


def _accept(
    state: RunState, node: NodeState, accepted: Accepted, *, tried: tuple[AttemptRow, ...] = ()
) -> RunState:
    """Accept `accepted` as the output of `node` and release what waits for it; `tried` are attempts that just ended."""
    done = changed(
        node,
        status="accepted",
        accepted=accepted,
        history=(*node.history, *tried),
        attempts=node.attempts + len(tried),
        failure=None,
        blockage=None,
        answer=None,
        answered=None,
        calls=_NO_CALLS,
        done_seq=state.seq + 1,
    )
    nodes, counts = placed(state, done, *_released(state, node.id))
    return changed(
        state,
        seq=state.seq + 1,
        nodes=nodes,
        counts=counts,
        unresolved=state.unresolved.discard(node.id),
        taken_as_is=state.taken_as_is.insert(node.id)
        if accepted.as_is
        else state.taken_as_is.discard(node.id),
    )


def _released(state: RunState, node: NodeId) -> list[NodeState]:
    """What waits for `node`, with one sub-task less to wait for."""
    released = []
    for follower in plan_of(state).successors(node):
        waiting = state.node(follower)
        if waiting.waiting == 0:
            raise BrokenLog(f"run {state.run!r}: {node!r} releases {follower!r}, which waits for nothing")
        released.append(changed(waiting, waiting=waiting.waiting - 1))
    return released
