"""What was begun and is in the plan no more: an amendment renamed it or took it out. Pure.

What its calls did to the world is not taken back by that. They stay in the record, their late results are taken in,
and where nobody knows whether one happened a person says so before anything of the amended plan is begun: a sub-task of
another name would make the same call under another key.
"""

from __future__ import annotations

from typing import Final

from rpds import HashTrieMap

from agents.tools.contract import HeldCall
from graphs.contract import Lang
from graphs.plan import NodeId, PlanIndex, natural_key
from orchestrator.core.approvals import CommittedCall, earlier_call
from orchestrator.core.changing import changed
from orchestrator.core.commands import AskPerson, Command, ReopenReview, SuspendRun
from orchestrator.core.events import CallReturned, RequestAnswered
from orchestrator.core.ids import request_id
from orchestrator.core.requests import ChoiceId, Request, answer_schema
from orchestrator.core.state import NodeState, RunState
from orchestrator.core.transition import BrokenLog

CHOICES: Final[tuple[ChoiceId, ...]] = ("happened", "nothing", "abandon", "review")
"""There is nobody left who would make the call, so `repeat` is none of them; with `abandon` it stays unknown, and the
end of the run says so."""

_DETAIL: Final[dict[Lang, str]] = {
    "en": "the sub-task that made this call is in the amended plan no more",
    "zh": "修订后的方案已不含作出此调用的子任务",
}


def dropped_by(state: RunState, index: PlanIndex) -> HashTrieMap[NodeId, NodeState]:
    """Return what is left of all sub-tasks that were begun and that the approved plan `index` has no more."""
    kept: HashTrieMap[NodeId, NodeState] = HashTrieMap()
    for name, node in (*state.dropped.items(), *state.nodes.items()):
        if name in index or not _begun(node):
            continue
        # One that a person left open stays so: they are not asked again.
        left = name in state.dropped and node.status == "skipped"
        rest = NodeState(
            id=name,
            status="skipped" if left else "pending",
            generation=node.generation,
            accepted=node.accepted,
            committed=node.committed,
            history=node.history,
        )
        kept = kept.insert(name, rest)
    return kept


def dropped_calls(state: RunState) -> tuple[CommittedCall, ...]:
    """Return the calls with an effect of all that is in the plan no more, by sub-task and place."""
    return tuple(
        call
        for name in sorted(state.dropped.keys(), key=natural_key)
        for call in sorted(state.dropped[name].committed.values(), key=lambda call: call.place)
    )


def about_dropped(state: RunState) -> tuple[Command, ...] | None:
    """Return what comes before anything of the plan is begun, none while a person is asked; `None` if nothing does.

    One call is asked about at a time.
    """
    names = sorted(state.dropped.keys(), key=natural_key)
    for node in (state.dropped[name] for name in names):
        if node.answer is not None and node.answered is not None:
            return (ReopenReview(node=node.id, request=node.answered),)
        if node.request is not None:
            return () if state.status == "suspended" else (SuspendRun(),)
    for node in (state.dropped[name] for name in names):
        call = _open_call(node)
        if call is not None:
            return (_ask(state, node, call),)
    return None


def returned_late(state: RunState, body: CallReturned) -> RunState:
    """Take in what came of a call whose sub-task is in the plan no more."""
    node = state.dropped.get(body.node)
    call = node.committed.get(body.key) if node is not None and body.key else None
    if node is None or call is None:
        return state
    after = changed(call, result=body.result, failed=not body.ok)
    return _with(state, changed(node, committed=node.committed.insert(body.key, after)))


def asked_about(state: RunState, request: Request) -> RunState:
    """Open a request about such a call; raises `BrokenLog` where one is open."""
    node = state.dropped[request.node]
    if node.request is not None or request.id in state.requests:
        raise BrokenLog(f"run {state.run!r}: request {request.id!r} does not fit {request.node!r}")
    state = changed(
        state,
        requests=state.requests.insert(request.id, request),
        requests_opened=state.requests_opened + 1,
    )
    return _with(state, changed(node, request=request.id))


def answered_about(state: RunState, request: Request, body: RequestAnswered) -> RunState:
    """Take a person's word on such a call; what came of it by itself meanwhile counts more."""
    node = changed(state.dropped[body.node], request=None)
    state = changed(state, requests=state.requests.remove(body.request))
    if body.answer.choice == "review":
        return _with(state, changed(node, answer=body.answer, answered=body.request))
    if body.answer.choice == "abandon":
        return _with(state, changed(node, status="skipped"))
    call = _open_call(node)
    if call is None or request.call is None or call.arguments_digest != request.call.arguments_digest:
        return _with(state, node)
    happened = body.answer.choice == "happened"
    told = changed(call, happened=happened, failed=not happened)
    return _with(state, changed(node, committed=node.committed.insert(call.key, told)))


def _begun(node: NodeState) -> bool:
    return node.generation > 1 or node.attempt > 0 or len(node.committed) > 0


def _open_call(node: NodeState) -> CommittedCall | None:
    """The oldest call of which nobody knows whether it happened, unless a person left that open."""
    if node.status == "skipped":
        return None
    calls = sorted(node.committed.values(), key=lambda call: call.place)
    return next((call for call in calls if call.unsettled), None)


def _ask(state: RunState, node: NodeState, call: CommittedCall) -> AskPerson:
    assert state.proposal is not None, "only an approved plan has sub-tasks"
    detail = _DETAIL[state.proposal.goal.lang]
    held = HeldCall(
        why="outcome_unknown",
        step=call.step,
        index=call.index,
        tool=call.tool,
        arguments=call.arguments,
        arguments_digest=call.arguments_digest,
        side_effect=call.side_effect,
        tier=call.side_effect,
        preview=detail,
        earlier=tuple(
            earlier_call(other)
            for other in sorted(node.committed.values(), key=lambda each: each.place)
            if other.tool == call.tool and other.key != call.key
        ),
    )
    return AskPerson(
        request=Request(
            id=request_id(state.run, state.requests_opened + 1),
            kind="call",
            node=node.id,
            reason="outcome_unknown",
            detail=detail,
            attempts=node.history,
            choices=CHOICES,
            call=held,
            schema=answer_schema(CHOICES),
        )
    )


def _with(state: RunState, node: NodeState) -> RunState:
    return changed(state, dropped=state.dropped.insert(node.id, node))
