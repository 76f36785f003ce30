"""What a person's word on a call is worth: only the very call, once, for an hour."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphs.plan import NodeId
from orchestrator.core.approvals import CallWord, Standing, idempotency_key, standing
from orchestrator.core.ids import RequestId, RunId

WORD = CallWord(
    request=RequestId("r-1.q1"),
    run=RunId("r-1"),
    node=NodeId("a"),
    generation=2,
    tool="send",
    arguments_digest="d1",
    word="approve",
    at="2026-01-01T12:00:00.000Z",
)
SAME: dict[str, object] = {
    "run": "r-1",
    "node": "a",
    "generation": 2,
    "tool": "send",
    "arguments_digest": "d1",
    "now": "2026-01-01T12:30:00.000Z",
}


def stands(word: CallWord | None, **changes: object) -> Standing:
    return standing(word, **{**SAME, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("word", "changes", "expected"),
    [
        (WORD, {}, "good"),
        (None, {}, "none"),
        (WORD, {"run": "r-2"}, "foreign"),
        (WORD, {"node": "b"}, "foreign"),
        (WORD, {"generation": 3}, "foreign"),
        (WORD, {"tool": "pay"}, "foreign"),
        (WORD, {"arguments_digest": "d2"}, "changed"),
        (replace(WORD, used=True), {}, "used"),
        (replace(WORD, word="refuse"), {}, "refused"),
        (WORD, {"now": "2026-01-01T13:00:00.000Z"}, "good"),
        (WORD, {"now": "2026-01-01T13:00:00.001Z"}, "expired"),
        (WORD, {"now": "2026-01-01T11:59:55.000Z"}, "good"),
        (WORD, {"now": "2026-01-01T11:59:54.999Z"}, "expired"),
        (WORD, {"now": "noon"}, "expired"),
        (replace(WORD, at=""), {}, "expired"),
        (replace(WORD, at="2026-01-01T12:00:00"), {}, "expired"),  # of no time zone: it can't be compared
    ],
)
def test_only_the_very_call_in_time_and_once(
    word: CallWord | None, changes: dict[str, object], expected: Standing
) -> None:
    assert stands(word, **changes) == expected


OTHERS = {
    "run": st.sampled_from(["r-2", "r-1.q1", ""]),
    "node": st.sampled_from(["b", "A", "a "]),
    "generation": st.integers(-3, 9).filter(lambda g: g != 2),
    "tool": st.sampled_from(["pay", "Send", "send "]),
    "arguments_digest": st.text(max_size=5).filter(lambda text: text != "d1"),
}


@given(st.fixed_dictionaries({}, optional=OTHERS), st.booleans(), st.integers(-10_000, 10_000))
def test_nothing_that_differs_in_anything_is_good(
    changes: dict[str, object], used: bool, minutes: int
) -> None:
    late = not 0 <= minutes <= 60
    moment = (
        f"2026-01-{8 + (720 + minutes) // 1440:02d}T{(720 + minutes) // 60 % 24:02d}:{minutes % 60:02d}:00Z"
    )
    word = replace(WORD, used=used, at="2026-01-08T12:00:00Z")
    found = stands(word, **{**changes, "now": moment})
    assert (found == "good") == (not changes and not used and not late)


def test_a_key_is_of_one_call_in_one_generation() -> None:
    key = idempotency_key(RunId("r-1"), NodeId("a"), 1, "d1")
    others = [
        idempotency_key(RunId("r-2"), NodeId("a"), 1, "d1"),
        idempotency_key(RunId("r-1"), NodeId("b"), 1, "d1"),
        idempotency_key(RunId("r-1"), NodeId("a"), 2, "d1"),
        idempotency_key(RunId("r-1"), NodeId("a"), 1, "d2"),
        idempotency_key(RunId("r-1\na"), NodeId("1"), 1, "d1"),
    ]
    assert key == idempotency_key(RunId("r-1"), NodeId("a"), 1, "d1")
    assert len({key, *others}) == 6
