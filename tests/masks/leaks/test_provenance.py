from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from masks.bands import Band
from masks.leaks.provenance import Leak, SpanProvenance, SpanTracer, SuppliedText, normalise
from tests.masks.fakes import DATABASES

NOTE = SuppliedText(
    text="# Locks\n\nA transaction was rolled back — two sessions\nwaited for each other. The limit is 15.5 km.",
    kind="source",
    locator="notes/a.md:1-4",
)
HANDED = SuppliedText(
    text="上游结论：两个会话互相等待行锁，数据库回滚了事务。", kind="input", locator="n1.claims"
)
TRACER = SpanTracer([NOTE, HANDED])


@pytest.mark.parametrize(
    "span",
    [
        "A transaction was rolled back",
        "a transaction was rolled back - two sessions waited for each other",
        "“two sessions waited for each other.”".strip("“”"),
        "The limit is 15.5 km.",
    ],
)
def test_a_quoted_span_is_traced_to_its_source(span: str) -> None:
    assert TRACER.trace(span) == SpanProvenance(kind="source", locator="notes/a.md:1-4")


@pytest.mark.parametrize(
    "span", ["两个会话互相等待行锁", "两个会话互相等待行锁,数据库回滚了事务", "两个会话 互相等待行锁"]
)
def test_a_span_of_an_input_is_provenance(span: str) -> None:
    assert TRACER.trace(span) == SpanProvenance(kind="input", locator="n1.claims")


@pytest.mark.parametrize(
    "span",
    [
        "Deadlocks are resolved by a timeout",
        "The limit is 15 km.",
        "The limit is 5.5 km.",
        "The limit is 15",
        "transaction was rolled bac",
        "ransaction was rolled back",
        "it was",
        "15.5",
        "事务",
        "",
        "…",
    ],
)
def test_what_stands_nowhere_or_proves_nothing_is_parametric(span: str) -> None:
    assert TRACER.trace(span) == SpanProvenance(kind="parametric")


def test_a_short_span_is_traced_when_it_is_all_of_a_text() -> None:
    tracer = SpanTracer([SuppliedText(text="1998.", kind="source", locator="t:1")])
    assert tracer.trace("1998").kind == "source"
    assert tracer.trace("998").kind == "parametric"


def test_an_input_wins_over_a_source_and_the_first_source_over_the_next() -> None:
    text = "Every committed row survives a crash."
    first, second = (SuppliedText(text=text, kind="source", locator=name) for name in ("one", "two"))
    handed = SuppliedText(text=text, kind="input", locator="three")
    assert SpanTracer([first, second]).trace(text).locator == "one"
    assert SpanTracer([first, handed]).trace(text) == SpanProvenance(kind="input", locator="three")


def test_a_leak_is_as_traceable_as_its_worst_sentence() -> None:
    quoted, handed, invented = (
        "A transaction was rolled back",
        "两个会话互相等待行锁",
        "Locks are always fair.",
    )
    assert TRACER.trace_all([handed, quoted]).kind == "source"
    assert TRACER.trace_all([handed, quoted, invented]).kind == "parametric"
    assert TRACER.trace_all([handed]).kind == "input"
    assert TRACER.trace_all([]).kind == "parametric"


words = st.lists(
    st.sampled_from(["lock", "Row", "commit", "数据库", "会话", "42", "km"]), min_size=6, max_size=20
)


@given(words, st.integers(0, 5), st.integers(0, 5))
def test_any_run_of_words_of_a_text_is_found_in_it(drawn: list[str], skip_front: int, skip_end: int) -> None:
    text = " ".join(drawn)
    span = " ".join(drawn[skip_front : len(drawn) - skip_end])
    tracer = SpanTracer([SuppliedText(text=f"Before. {text} after.", kind="source", locator="x")])
    long_enough = sum(3 if "\u4e00" <= char <= "\u9fff" else char.isalnum() for char in span) >= 12
    assert (tracer.trace(span).kind == "source") == long_enough


@given(st.text(max_size=40))
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


def test_a_leak_round_trips_as_json_and_states_its_strength() -> None:
    leak = Leak(
        agent="甲",
        domain=DATABASES,
        m100=55,
        band=Band.BACKGROUND,
        origin="source",
        declared=True,
        detected=False,
        start=0,
        end=3,
        text="abc",
        locator="a.md:1",
        path=2,
    )
    assert leak.strength == 55
    adapter = TypeAdapter(Leak)
    assert adapter.validate_json(adapter.dump_json(leak)) == leak


def test_supplied_texts_are_looked_at_when_the_first_span_is_traced_and_once() -> None:
    looked_at: list[str] = []

    def supplied() -> Iterator[SuppliedText]:
        for text in (NOTE, HANDED):
            looked_at.append(text.locator)
            yield text

    tracer = SpanTracer(supplied())
    assert looked_at == []
    for _ in range(2):
        assert tracer.trace("two sessions waited for each other").kind == "source"
        assert tracer.trace("两个会话互相等待行锁").kind == "input"
    assert looked_at == [NOTE.locator, HANDED.locator]
