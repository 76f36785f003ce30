"""What other processes ask of a run: messages in the store's inbox, and the events that they lead to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pydantic import TypeAdapter, ValidationError

from agents.spec import AgentId
from orchestrator.core.events import Body, CancelRequested, RequestAnswered, RunContinued, RunPaused
from orchestrator.core.ids import RequestId
from orchestrator.core.requests import Answer, InvalidAnswer, check_answer
from orchestrator.core.state import RunState
from orchestrator.shell.store.rows import FailureRecord, InboxMessage, Lease

ANSWER: TypeAdapter[Answer] = TypeAdapter(Answer)
"""(De)serialises answers at the borders."""


class Inbox(Protocol):
    """The store, as far as the executor needs it beyond the journal."""

    def pending(self, run: str, after: int = 0) -> Sequence[InboxMessage]:
        """Return messages that were not folded in yet, in order."""
        ...

    def mark_folded(self, run: str, ids: Sequence[int], *, lease: Lease | None = None) -> None:
        """Take messages out of `pending` that lead to no event."""
        ...

    def renew(self, lease: Lease, ttl_s: float) -> Lease:
        """Prolong the lease; raises when it is no longer current."""
        ...

    def failures(self, task_class: str | None = None) -> Sequence[FailureRecord]:
        """Return what is remembered of repairs for a class of task, over all runs."""
        ...

    def add_failure(self, task_class: str, repair: str, outcome: str, run: str) -> int:
        """Remember what a repair led to."""
        ...


def asked_for(state: RunState, message: InboxMessage) -> Body | None:
    """Return the event that a message of another process asks for, or `None` when it no longer applies.

    Kinds: `pause`, `continue`, `cancel` with `{"by"}`; `answer` with `{"request", "answer", "by"}`. An answer counts
    only while its request is open and only if it is one of the choices; the first valid one wins.
    """
    document = json.loads(message.payload)
    by = str(document.get("by", "unknown"))
    match message.kind:
        case "pause":
            return None if state.paused else RunPaused(by=by)
        case "continue":
            return RunContinued(by=by) if state.paused else None
        case "cancel":
            return None if state.cancelling else CancelRequested(by=by)
        case "answer":
            return _answered(state, document, by)
        case _:
            return None


def _answered(state: RunState, document: Mapping[str, Any], by: str) -> RequestAnswered | None:
    request = state.requests.get(RequestId(str(document.get("request"))))
    if request is None:
        return None
    try:
        answer = ANSWER.validate_python(document.get("answer"))
        check_answer(request, answer)
    except (ValidationError, InvalidAnswer):
        return None
    if answer.agent and AgentId(answer.agent) not in state.agents:
        return None
    return RequestAnswered(request=request.id, node=request.node, answer=answer, by=by)
