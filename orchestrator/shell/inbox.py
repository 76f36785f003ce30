"""What other processes ask of a run: messages in the store's inbox, and the events that they lead to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from pydantic import TypeAdapter, ValidationError

from agents.json_schema import schema_problems
from agents.spec import AgentId
from orchestrator.core.events import (
    Body,
    CancelRequested,
    MessageRefused,
    RequestAnswered,
    RunContinued,
    RunPaused,
)
from orchestrator.core.ids import RequestId
from orchestrator.core.requests import Answer, InvalidAnswer, Request, check_answer
from orchestrator.core.state import RunState
from orchestrator.shell.store.rows import FailureRecord, InboxMessage

M = TypeVar("M")

ANSWER: TypeAdapter[Answer] = TypeAdapter(Answer)
"""(De)serialises answers at the borders."""


class Inbox(Protocol):
    """The store, as far as the executor reads it; what it writes goes through the journal."""

    def pending(self, run: str, after: int = 0) -> Sequence[InboxMessage]:
        """Return messages that were not folded in yet, in order."""
        ...

    def failures(self, task_class: str | None = None) -> Sequence[FailureRecord]:
        """Return what is remembered of repairs for a class of task, over all runs."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What a message of the kinds `pause`, `continue` and `cancel` says."""

    by: str = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """What a message of the kind `answer` says."""

    request: RequestId
    answer: Answer
    by: str = "unknown"
    at: str = ""
    """When it was given, ISO 8601; empty: when it is read."""


_ASKING: Final = TypeAdapter(Asking)
_ANSWERING: Final = TypeAdapter(Answering)


class UnreadableMessage(ValueError):
    """A message whose kind is unknown or whose payload is not of its kind's shape; it can lead to no event."""


def answer_name(request: Request) -> str:
    """Return the name under which an answer is posted: two at once are told apart, and a refused one bars no other."""
    return f"answer:{request.id}" + (f":{len(request.refused) + 1}" if request.refused else "")


def refusal(state: RunState, message: InboxMessage, why: str) -> MessageRefused:
    """Return the event that says why `message` leads to nothing, with the open request that it names, if it does."""
    try:
        written = json.loads(message.payload)
    except ValueError:
        written = None
    named = written if isinstance(written, dict) else {}
    request, by = named.get("request"), named.get("by")
    known = state.requests.get(RequestId(request)) if isinstance(request, str) else None
    return MessageRefused(
        kind=message.kind,
        request=known.id if known is not None else None,
        by=by if isinstance(by, str) else "unknown",
        why=why,
    )


def asked_for(state: RunState, message: InboxMessage) -> Body | None:
    """Return the event that a message of another process asks for, or `None` when it no longer applies.

    Kinds: `pause`, `continue`, `cancel` with `{"by"}`; `answer` with `{"request", "answer", "by", "at"}`. An answer
    counts only while its request is open and only if it is one of the choices, written as the request's schema asks;
    the first valid one wins, and one that does not fit its open request is refused. Raises `UnreadableMessage`.
    """
    match message.kind:
        case "pause":
            by = _read(_ASKING, message).by
            return None if state.paused else RunPaused(by=by)
        case "continue":
            by = _read(_ASKING, message).by
            return RunContinued(by=by) if state.paused else None
        case "cancel":
            by = _read(_ASKING, message).by
            return None if state.cancelling else CancelRequested(by=by)
        case "answer":
            return _answered(state, message, _read(_ANSWERING, message))
        case _:
            raise UnreadableMessage(
                f"message {message.id} of run {message.run!r} has the unknown kind {message.kind!r}; "
                "accepted: pause, continue, cancel, answer"
            )


def _read(shape: TypeAdapter[M], message: InboxMessage) -> M:
    try:
        return shape.validate_json(message.payload)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(part) for part in found['loc']) or 'payload'}: {found['msg']}"
            for found in error.errors(include_url=False, include_input=False)
        )
        raise UnreadableMessage(
            f"message {message.id} of run {message.run!r} is no {message.kind!r}: {problems}"
        ) from error


def _answered(
    state: RunState, message: InboxMessage, given: Answering
) -> RequestAnswered | MessageRefused | None:
    request = state.requests.get(given.request)
    if request is None:
        return None
    try:
        check_answer(request, given.answer)
    except InvalidAnswer as invalid:
        return refusal(state, message, str(invalid))
    if given.answer.agent and AgentId(given.answer.agent) not in state.agents:
        return refusal(state, message, f"{given.answer.agent!r} is no agent of the run")
    _check_written(request, message)
    return RequestAnswered(
        request=request.id, node=request.node, answer=given.answer, by=given.by, at=given.at
    )


def _check_written(request: Request, message: InboxMessage) -> None:
    """Refuse an answer that passes once it is read, and was not written as the request's schema asks.

    Reading forgives (a number written as text, a value of an unknown name); a program that writes so means something
    else. Values that are empty count as left out.
    """
    written = json.loads(message.payload)["answer"]
    values = {name: value for name, value in written.items() if value not in ("", None)}
    problems = schema_problems(values, request.schema, at="answer")
    if problems:
        raise UnreadableMessage(
            f"message {message.id} of run {message.run!r} is no answer to {request.id!r}: {'; '.join(problems)}"
        )
