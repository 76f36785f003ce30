"""Spans of whole runs: what OpenTelemetry is told, that no text is in it unasked, and that it never ends a run."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from agents.models.langchain import LangChainChat
from agents.models.scripted import CallTools, Fail, Reply, ScriptedChatModel
from agents.spec import ModelPolicy
from graphs.contract import Criterion, PortSpec, TaskContract
from orchestrator.core.events import AttemptStarted, AttemptVerified, CallReturned
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Proposal
from orchestrator.core.state import RunState
from orchestrator.shell.tracing import RunSpans
from tests.core.builders import A1, DATABASES, EMBEDDED, ROSTER, agent, plan, proposal, subtask
from tests.flows.stage import NOTES, ROWS, Stage, set_stage, written

QUESTION = "How many rows does the database keep?"
GOAL = "Tell me how many rows there are, for Wendelsby."
FINISHED = {
    "claims": [{"statement": ROWS, "excerpts": ["E1"], "question": 1}],
    "complete": True,
    "open_questions": [],
}
ANSWER = CallTools(calls=(("finish", FINISHED),))


def draft() -> Proposal:
    """A model looks for the answer, code writes the report."""
    thinks = replace(
        agent("A1", {DATABASES: 90}, operations=("research", "report")),
        model_policy=ModelPolicy(kind="model", model="google_genai:flash"),
        responsibility="Looks for rows in Wendelsby.",
    )
    search = replace(subtask("a", domains={DATABASES: 1.0}), kind="loop", params={"questions": [QUESTION]})
    report = replace(
        subtask("b", operation="report", domains={}),
        params={"title": "Report", "questions": [QUESTION]},
        outputs=(PortSpec(name="report", type="report"),),
    )
    criterion = Criterion(id="c1", text="Answered.", kind="question_answered", question=QUESTION)
    made = proposal(
        plan("a>b", a=search, b=report),
        roster=replace(ROSTER, agents=(thinks, *EMBEDDED.agents[1:])),
        contract=TaskContract(kind="research", acceptance=(criterion,)),
    )
    return replace(made, goal=replace(made.goal, text=GOAL), grants={A1: ("search_notes", "read_note")})


def thinking(folder: Path, *replies: Reply) -> Stage:
    model = ScriptedChatModel.in_order(*replies)
    stage = set_stage(written(folder))
    stage.shop.worker_for = None
    stage.shop.chat_for = lambda _: LangChainChat(model, "google_genai")
    return stage


async def traced(stage: Stage, *, content: bool = False) -> tuple[RunId, RunState, tuple[ReadableSpan, ...]]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    spans = RunSpans(provider.get_tracer("test"), content=content)
    run = stage.approved(draft())
    state = await stage.execute(run, listeners=[spans])
    spans.close()
    return run, state, exporter.get_finished_spans()


def named(spans: Sequence[ReadableSpan], name: str) -> ReadableSpan:
    (found,) = [span for span in spans if span.name == name]
    return found


def told(spans: Sequence[ReadableSpan]) -> str:
    """Everything that an exporter is given, as one text."""
    parts: list[str] = []
    for span in spans:
        parts += [span.name, span.status.description or "", repr(dict(span.attributes or {}))]
        parts += [f"{event.name} {dict(event.attributes or {})!r}" for event in span.events]
    return "\n".join(parts)


async def test_a_run_holds_its_attempts_and_they_their_calls(tmp_path: Path) -> None:
    stage = thinking(tmp_path, ANSWER)
    run, state, spans = await traced(stage)
    assert state.status == "completed"
    whole = named(spans, "invoke_workflow maskgrad")
    chat = named(spans, "chat flash")
    search = named(spans, "execute_tool search_notes")
    attempts = [span for span in spans if span.name == "invoke_agent A1"]
    first = next(span for span in attempts if (span.attributes or {})["maskgrad.node"] == "a")
    assert whole.parent is None
    assert [span.parent.span_id if span.parent else 0 for span in attempts] == [whole.context.span_id] * 2
    for call in (chat, search):
        assert call.parent is not None
        assert call.parent.span_id == first.context.span_id
    assert (chat.kind, search.kind, first.kind) == (SpanKind.CLIENT, SpanKind.INTERNAL, SpanKind.INTERNAL)
    assert {(span.attributes or {})["gen_ai.conversation.id"] for span in spans} == {run}
    (model,) = [body for body in stage.bodies(run, CallReturned) if body.call == "model"]
    assert model.usage is not None
    said = dict(chat.attributes or {})
    assert said["gen_ai.operation.name"] == "chat"
    assert said["gen_ai.provider.name"] == "gcp.gemini", "the conventions' name of the provider"
    assert said["gen_ai.usage.input_tokens"] == model.usage.input_tokens > 0
    assert said["gen_ai.usage.output_tokens"] == model.usage.output_tokens > 0
    assert "maskgrad.usage.cost_usd" not in said, "an unknown price is not nothing"
    ended = dict(whole.attributes or {})
    assert (ended["maskgrad.run.outcome"], ended["maskgrad.usage.unpriced_calls"]) == ("completed", 1)
    assert ended["gen_ai.usage.input_tokens"] == model.usage.input_tokens
    assert all(span.status.status_code is StatusCode.UNSET for span in spans)


async def test_times_are_those_of_the_events(tmp_path: Path) -> None:
    stage = thinking(tmp_path, ANSWER)
    run, _, spans = await traced(stage)
    log = stage.log(run)
    (first, *_) = [span for span in spans if span.name == "invoke_agent A1"]
    begun = next(event.ts for event in log if isinstance(event.body, AttemptStarted))
    ended = next(event.ts for event in log if isinstance(event.body, AttemptVerified))
    # The stage's clock begins at 2026-01-01T00:00:00Z, and passes only when somebody sleeps.
    midnight = 1_767_225_600_000_000_000
    assert begun == ended == "2026-01-01T00:00:00.000Z"
    assert (first.start_time, first.end_time) == (midnight, midnight)


async def test_a_model_that_is_not_reached_is_an_error_and_a_retry(tmp_path: Path) -> None:
    stage = thinking(tmp_path, Fail(error=TimeoutError("no answer from Wendelsby")), ANSWER)
    _, state, spans = await traced(stage)
    assert state.status == "completed"
    failed = [span for span in spans if span.status.status_code is StatusCode.ERROR]
    assert [(span.name, (span.attributes or {})["error.type"]) for span in failed] == [
        ("chat flash", "timeout"),
        ("invoke_agent A1", "timeout"),
    ]
    moments = [event.name for event in named(spans, "invoke_workflow maskgrad").events]
    assert moments == ["maskgrad.blockage", "maskgrad.retry"]
    assert "Wendelsby" not in told(spans)


@pytest.mark.parametrize("content", [False, True])
async def test_no_text_of_anybody_is_told_unless_it_is_asked_for(tmp_path: Path, content: bool) -> None:
    stage = thinking(tmp_path, ANSWER)
    run, _, spans = await traced(stage, content=content)
    report = stage.report(run).body
    texts = [GOAL, QUESTION, ROWS, *NOTES.values(), "Wendelsby", "storage.md", report]
    words = {word for text in texts for word in text.split() if len(word) > 4}
    assert {"Wendelsby,", "database", "keeps"} & words, "words of goal, question and notes"
    found = told(spans)
    held = [text for text in texts if text in found]
    if content:
        assert {GOAL, QUESTION, "Wendelsby"} <= set(held), "goal and arguments, where they are asked for"
    else:
        assert held == []
        # `Report` of `report` is no word of the goal; every other long word may stand nowhere at all.
        assert sorted(word for word in words if word in found) == []


class Broken(SpanProcessor):
    """Breaks where it is told to."""

    def __init__(self, where: str) -> None:
        self.where = where

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        del span, parent_context
        if self.where == "start":
            raise OSError("no disk")

    def on_end(self, span: ReadableSpan) -> None:
        del span
        if self.where == "end":
            raise OSError("no disk")


@pytest.mark.parametrize("where", ["start", "end"])
async def test_a_tracer_that_breaks_changes_nothing_of_a_run(
    tmp_path: Path, where: str, caplog: pytest.LogCaptureFixture
) -> None:
    untraced = thinking(tmp_path / "one", ANSWER)
    plain = await untraced.execute(untraced.approved(draft()))
    stage = thinking(tmp_path / "two", ANSWER)
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(Broken(where))
    spans = RunSpans(provider.get_tracer("test"))
    with caplog.at_level(logging.WARNING):
        state = await stage.execute(stage.approved(draft()), listeners=[spans])
        spans.close()
    assert (state.status, state.result) == (plain.status, plain.result)
    assert [record.message for record in caplog.records if "tracer broke" in record.message] == [
        "no more spans of this run, its tracer broke: OSError('no disk')"
    ]


async def test_an_execution_that_is_stopped_ends_its_spans(tmp_path: Path) -> None:
    stage = thinking(tmp_path, ANSWER)
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    spans = RunSpans(provider.get_tracer("test"))
    run = stage.approved(draft())
    whole = await stage.execute(run)
    # As a process that dies in the first attempt: the listener sees no end of anything.
    for event in stage.log(run):
        spans(event, whole)
        if isinstance(event.body, CallReturned):
            break
    spans.close()
    spans.close()
    names = sorted(span.name for span in exporter.get_finished_spans())
    assert names == ["execute_tool search_notes", "invoke_agent A1", "invoke_workflow maskgrad"]
