"""Spans of a run by OpenTelemetry's conventions for generative AI, made from its events as they are recorded.

    invoke_workflow maskgrad          one execution of the run in this process
      invoke_agent A1                 one attempt of a sub-task
        chat gpt-5                    a model call
        execute_tool search_notes     a tool call

A program that executes runs itself gives `RunSpans` to `orchestrator.run.execute` among the listeners, with a tracer
of its own; the command line opens one from the settings (`orchestrator.shell.telemetry`). No tracer is asked for
anything but to take a span, so nothing waits for an exporter; and whatever breaks in one ends the tracing, never the
run.
"""

# ruff: noqa: PLC0415 - OpenTelemetry is an extra: whoever does without it must not need it.

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final

from orchestrator.core.blockage import Failure
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
    CallReturned,
    CallStreamed,
    Event,
    NodesSkipped,
    RequestAnswered,
    RequestOpened,
    RetryScheduled,
    ReviewReopened,
    RunEnded,
    RunSuspended,
)
from orchestrator.core.state import RunState
from orchestrator.shell import span_attributes as say

if TYPE_CHECKING:
    from opentelemetry.trace import Span, SpanKind, Tracer

_LOG: Final = logging.getLogger(__name__)
_NS_PER_MS: Final = 1_000_000

AttemptName = tuple[str, int, int]
"""Node, generation, attempt."""
_Ends = AttemptVerified | AttemptRejected | AttemptFailed | AttemptCancelled | AttemptHeld


class RunSpans:
    """A listener that turns the events of one execution into spans; `close` it when the execution is over."""

    def __init__(self, tracer: Tracer, *, content: bool = False) -> None:
        """Return a listener that makes its spans with `tracer`.

        `content` lets goal, agents' responsibilities, arguments, summaries of results, messages of failures and the
        begin of models' answers into attributes; without it no text of a person, a note or a model gets there.
        """
        self._tracer = tracer
        self._content = content
        self._run: Span | None = None
        self._run_started = 0
        self._attempts: dict[AttemptName, tuple[Span, int]] = {}
        self._streamed: dict[tuple[AttemptName, str, int], str] = {}
        self._last = 0
        self._broken = False

    def __call__(self, event: Event, state: RunState) -> None:
        """Take an event; never raises."""
        if self._broken:
            return
        try:
            self._take(event, state)
        except Exception as error:  # noqa: BLE001 - tracer and processors are foreign code, and no run may end by them
            self._broken = True
            _LOG.warning("no more spans of this run, its tracer broke: %r", error)

    def close(self) -> None:
        """End what is still open, because the execution was stopped or suspended; may be called again."""
        if self._broken:
            return
        try:
            self._end_all(self._last)
        except Exception as error:  # noqa: BLE001 - as in `__call__`
            self._broken = True
            _LOG.warning("no more spans of this run, its tracer broke: %r", error)

    def _take(self, event: Event, state: RunState) -> None:
        at = self._last = _ns(event.ts)
        if self._run is None:
            self._run_started = at
            self._run = self._begin("invoke_workflow maskgrad", None, at, say.of_run(state, self._content))
        match event.body:
            case AttemptStarted() as body:
                self._start_attempt(body, state, at)
            case CallReturned() as body:
                self._call(body, state, at)
            case CallStreamed() as body:
                key = ((body.node, body.generation, body.attempt), body.step, body.index)
                if self._content:
                    self._streamed[key] = self._streamed.get(key, "") + body.text
            case AttemptProduced() as body:
                span, _ = self._parent((body.node, body.generation, body.attempt))
                span.add_event("maskgrad.produced", {"maskgrad.path": body.path}, at)
            case (
                AttemptVerified() | AttemptRejected() | AttemptFailed() | AttemptCancelled() | AttemptHeld()
            ) as body:
                self._end_attempt(body, state, at)
            case _:
                self._of_the_run(event, state, at)

    def _of_the_run(self, event: Event, state: RunState, at: int) -> None:
        """Take what is a moment of the run, or its end."""
        assert self._run is not None, "the first event opened it"
        match event.body:
            case Backtracked(plan=plan):
                self._run.add_event("maskgrad.backtrack", say.of_backtrack(plan), at)
            case BlockageClassified() as body:
                classed: say.Attributes = {
                    "maskgrad.node": str(body.node),
                    "maskgrad.blockage.class": str(body.blockage.cls),
                }
                self._run.add_event("maskgrad.blockage", classed, at)
            case RetryScheduled() as body:
                retry: say.Attributes = {"maskgrad.node": str(body.node), "maskgrad.delay_s": body.delay_s}
                self._run.add_event("maskgrad.retry", retry, at)
            case NodesSkipped() as body:
                skipped: say.Attributes = {
                    "maskgrad.nodes": len(body.nodes),
                    "maskgrad.reason": body.reason,
                }
                self._run.add_event("maskgrad.skipped", skipped, at)
            case RequestOpened(request=request):
                asked: say.Attributes = {
                    "maskgrad.node": str(request.node),
                    "maskgrad.request.kind": request.kind,
                }
                self._run.add_event("maskgrad.request", asked, at)
            case RequestAnswered() as body:
                answered: say.Attributes = {
                    "maskgrad.node": str(body.node),
                    "maskgrad.answer": body.answer.choice,
                }
                self._run.add_event("maskgrad.answer", answered, at)
            case RunEnded() as body:
                self._run.set_attributes(say.of_ended_run(body, state))
                if body.outcome == "failed":
                    self._fail(self._run, {"error.type": "internal"})
                self._end_all(at)
            case RunSuspended() | ReviewReopened():
                self._run.set_attribute("maskgrad.run.outcome", state.status)
                self._end_all(at)
            case _:
                pass

    def _start_attempt(self, body: AttemptStarted, state: RunState, at: int) -> None:
        name = (body.node, body.generation, body.attempt)
        if name in self._attempts:  # gone on with after a rest
            self._attempts.pop(name)[0].end(at)
        attributes = say.of_attempt(body, state, self._content)
        span = self._begin(f"invoke_agent {body.agent}", self._run, at, attributes)
        self._attempts[name] = (span, at)

    def _call(self, body: CallReturned, state: RunState, at: int) -> None:
        name = (body.node, body.generation, body.attempt)
        parent, earliest = self._parent(name)
        # The clock that measured it is another one than that of the events: a span lies within its parent.
        begun = max(earliest, at - round(body.elapsed_ms * _NS_PER_MS))
        if body.call == "model":
            attributes = say.of_chat(body, state)
            title = f"chat {attributes['gen_ai.request.model']}"
            text = self._streamed.pop((name, body.step, body.index), "")
            if text:
                attributes["gen_ai.output.messages"] = say.streamed_message(text)
            span = self._begin(title, parent, begun, attributes, client=True)
        else:
            attributes = say.of_tool(body, state, self._content)
            span = self._begin(f"execute_tool {attributes['gen_ai.tool.name']}", parent, begun, attributes)
        if not body.ok:
            self._fail(span, {})
        span.end(at)

    def _end_attempt(self, body: _Ends, state: RunState, at: int) -> None:
        name = (body.node, body.generation, body.attempt)
        span, _ = self._parent(name)
        match body:
            case AttemptRejected(failure=failure) | AttemptFailed(failure=failure):
                self._failed_by(span, failure)
            case AttemptHeld(call=call):
                span.add_event("maskgrad.call.held", say.of_held(call, state), at)
            case AttemptCancelled():
                span.set_attribute("maskgrad.cancelled", True)
            case AttemptVerified():
                pass
        if name in self._attempts:
            del self._attempts[name]
            span.end(at)
        for key in [key for key in self._streamed if key[0] == name]:
            del self._streamed[key]

    def _parent(self, name: AttemptName) -> tuple[Span, int]:
        """Return the span of an attempt and its begin; those of the run for one that ended or began elsewhere."""
        assert self._run is not None, "the first event opened it"
        return self._attempts.get(name, (self._run, self._run_started))

    def _end_all(self, at: int) -> None:
        for span, _ in self._attempts.values():
            span.end(at)
        self._attempts.clear()
        self._streamed.clear()
        if self._run is not None:
            self._run.end(at)
            self._run = None

    def _failed_by(self, span: Span, failure: Failure) -> None:
        self._fail(span, say.of_failure(failure, self._content))

    def _fail(self, span: Span, attributes: Mapping[str, say.Value]) -> None:
        from opentelemetry.trace import Status, StatusCode

        span.set_attributes(attributes)
        span.set_status(Status(StatusCode.ERROR))

    def _begin(
        self, name: str, parent: Span | None, at: int, attributes: say.Attributes, *, client: bool = False
    ) -> Span:
        from opentelemetry.context import Context
        from opentelemetry.trace import set_span_in_context

        # An empty context and not the current one: attempts are tasks of one loop, and none is inside another.
        context = Context() if parent is None else set_span_in_context(parent, Context())
        return self._tracer.start_span(
            name, context, kind=_kind(client), attributes=attributes, start_time=at
        )


def _kind(client: bool) -> SpanKind:
    from opentelemetry.trace import SpanKind

    return SpanKind.CLIENT if client else SpanKind.INTERNAL


def _ns(ts: str) -> int:
    """Return the nanoseconds since 1970 of an event's time, without the rounding of a float of seconds.

    >>> _ns("1970-01-01T00:00:01.250Z")
    1250000000
    """
    moment = datetime.fromisoformat(ts)
    return int(moment.replace(microsecond=0).timestamp()) * 1_000_000_000 + moment.microsecond * 1_000
