"""What spans say of single events: names that a model made up, held calls, backtracks, durations."""

from __future__ import annotations

from dataclasses import replace

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agents.tools.contract import HeldCall
from orchestrator.core.events import (
    AttemptHeld,
    AttemptStarted,
    Body,
    CallReturned,
    CallStreamed,
    Event,
    RunSuspended,
)
from orchestrator.core.ids import ArtefactId, ContentDigest, RunId
from orchestrator.core.reducer import initial
from orchestrator.core.state import RunState
from orchestrator.shell.tracing import RunSpans
from tests.core.builders import A1, n, plan, proposal

STATE: RunState = replace(
    initial(RunId("r-abc")), proposal=replace(proposal(plan("", lone="a")), grants={A1: ("send",)})
)
STARTED = AttemptStarted(
    node=n("a"), generation=1, attempt=1, epoch=1, agent=A1, input_key=ContentDigest("0" * 64)
)


CALLED = CallReturned(
    node=n("a"),
    generation=1,
    attempt=1,
    step="work.1.0",
    index=0,
    call="tool",
    name="send",
    arguments={"to": "Ann"},
    arguments_digest="d",
    arguments_origin="computed",
    arguments_taint="trusted",
    result=ArtefactId("0" * 64),
    ok=True,
    summary="sent to Ann",
    elapsed_ms=1500.0,
)


def spans_of(*bodies: tuple[str, Body], content: bool = False) -> tuple[ReadableSpan, ...]:
    """Return the spans of events at seconds of one minute."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    spans = RunSpans(provider.get_tracer("test"), content=content)
    for seq, (second, body) in enumerate(bodies, 1):
        spans(Event(seq=seq, ts=f"1970-01-01T00:00:{second}Z", body=body), STATE)
    spans.close()
    return exporter.get_finished_spans()


def test_a_call_began_as_long_before_its_end_as_it_took() -> None:
    call, *_ = spans_of(("10.000", STARTED), ("12.000", CALLED))
    assert (call.start_time, call.end_time) == (10_500_000_000, 12_000_000_000)


def test_a_call_does_not_begin_before_its_attempt() -> None:
    call, *_ = spans_of(("10.000", STARTED), ("11.000", replace(CALLED, elapsed_ms=60_000.0)))
    assert (call.start_time, call.end_time) == (10_000_000_000, 11_000_000_000)


@pytest.mark.parametrize(
    ("name", "call_id", "summary", "expected"),
    [
        ("send", "call_7", "NO_SUCH_ADDRESS: Ann is not known", ("send", "call_7", "NO_SUCH_ADDRESS")),
        ("tell Ann", "tell Ann now", "Ann is not known", ("_OTHER", None, "_OTHER")),
    ],
)
def test_what_a_model_or_a_tool_made_up_is_not_told(
    name: str, call_id: str, summary: str, expected: tuple[str, str | None, str]
) -> None:
    failed = replace(CALLED, name=name, call_id=call_id, summary=summary, ok=False)
    call, *_ = spans_of(("10.000", STARTED), ("11.000", failed))
    said = dict(call.attributes or {})
    assert call.name == f"execute_tool {expected[0]}"
    assert (
        said["gen_ai.tool.name"],
        said.get("gen_ai.tool.call.id"),
        said["error.type"],
    ) == expected
    assert "Ann" not in repr(said)


def test_a_held_call_ends_its_attempt_and_the_run_rests() -> None:
    held = HeldCall(
        why="approval_needed",
        step="work.1.0",
        index=0,
        tool="send",
        arguments={"to": "Ann"},
        arguments_digest="d",
        side_effect="external",
        tier="grave",
        preview="a letter to Ann",
    )
    attempt, run = spans_of(
        ("10.000", STARTED),
        ("11.000", AttemptHeld(node=n("a"), generation=1, attempt=1, call=held)),
        ("12.000", RunSuspended(requests=())),
    )
    (moment,) = attempt.events
    assert moment.name == "maskgrad.call.held"
    assert dict(moment.attributes or {}) == {
        "gen_ai.tool.name": "send",
        "maskgrad.call.why": "approval_needed",
        "maskgrad.call.side_effect": "external",
        "maskgrad.call.tier": "grave",
    }
    assert (attempt.end_time, run.end_time) == (11_000_000_000, 12_000_000_000)


@pytest.mark.parametrize(("content", "text"), [(False, None), (True, "It is 42.")])
def test_the_begin_of_an_answer_is_told_where_texts_are_asked_for(content: bool, text: str | None) -> None:
    part = CallStreamed(node=n("a"), generation=1, attempt=1, step="work.1.0", index=0, text="It is ")
    chat, *_ = spans_of(
        ("10.000", STARTED),
        ("10.500", part),
        ("11.000", replace(part, text="42.")),
        ("12.000", replace(CALLED, call="model", name="x:big", summary="final_answer")),
        content=content,
    )
    said = (chat.attributes or {}).get("gen_ai.output.messages")
    whole = f'[{{"role": "assistant", "parts": [{{"type": "text", "content": "{text}"}}]}}]'
    assert said == (whole if text else None)
    assert chat.name == "chat big"
