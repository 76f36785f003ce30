"""The state machine of a loop, against the rules of 003 2.1 and 004 3.5 counted here."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.tools.loops import ActionKey
from agents.workers.model_loop.progress import (
    MOVES,
    CallOutcome,
    Progress,
    asked,
    beyond_repair,
    ending,
    observed,
    room_for_calls,
    unusable,
)
from graphs.contract import Limits

LIMITS = Limits()
OUTCOMES = st.builds(
    CallOutcome,
    key=st.integers(0, 30).map(lambda n: ActionKey(str(n))),
    ok=st.booleans(),
    seeking=st.booleans(),
    expected=st.none() | st.integers(0, 2),
    found=st.none() | st.integers(0, 2),
    news=st.integers(0, 2),
)


def outcome(name: str = "a", *, ok: bool = True, **more: int) -> CallOutcome:
    return CallOutcome(key=ActionKey(name), ok=ok, seeking=True, **more)


def after(*rounds: tuple[CallOutcome, ...]) -> tuple[Progress, list[tuple[str, ...]]]:
    state = Progress()
    fired: list[tuple[str, ...]] = []
    for one in rounds:
        state, triggers = observed(asked(state).moved("act"), one, LIMITS)
        fired.append(tuple(triggers))
        state = state.moved("plan")
    return state, fired


@given(st.lists(st.lists(OUTCOMES, max_size=4).map(tuple), max_size=6))
def test_triggers_and_guards_follow_from_the_outcomes(rounds: list[tuple[CallOutcome, ...]]) -> None:
    _, fired = after(*rounds)
    run, expected = 0, []
    for one in rounds:
        failures = unexpected = False
        for each in one:
            run = 0 if each.ok else run + 1
            failures, run = (True, 0) if run == 2 else (failures, run)
            told = each.ok and each.expected is not None and each.found is not None
            unexpected |= told and (each.expected == 0) is not (each.found == 0)
        expected.append((failures, unexpected))
    assert [("failures_in_a_row" in f, "unexpected_result" in f) for f in fired] == expected


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 1)), max_size=6))
def test_two_rounds_of_seeking_without_news_end_the_search(rounds: list[tuple[bool, int]]) -> None:
    made = [
        (CallOutcome(key=ActionKey(str(n)), ok=True, seeking=seeking, news=news if seeking else 1),)
        for n, (seeking, news) in enumerate(rounds)
    ]
    state, _ = after(*made)
    seeking = "".join(str(news) for looked, news in rounds if looked)
    assert (state.closing == "barren") is ("00" in seeking)


def test_failures_are_counted_over_rounds_and_anew_after_a_reflection() -> None:
    bad = (outcome(ok=False),)
    _, fired = after(bad, bad, bad, bad, (outcome(news=1),), bad)
    assert [bool(triggers) for triggers in fired] == [False, True, False, True, False, False]


def test_half_of_the_steps_without_progress_are_told_once() -> None:
    idle = (CallOutcome(key=ActionKey("a"), ok=False),)
    _, fired = after(*[idle] * 9)
    told = [number for number, triggers in enumerate(fired, 1) if "half_without_progress" in triggers]
    assert told == [LIMITS.max_steps_per_node // 2] == [6]
    _, fired = after((outcome(news=1),), *[idle] * 9)
    assert not any("half_without_progress" in triggers for triggers in fired)


@given(st.text("ab", min_size=1, max_size=8))
def test_a_circle_of_two_takes_the_tools_away(actions: str) -> None:
    rounds = [(CallOutcome(key=ActionKey(letter), ok=True, news=1),) for letter in actions]
    state, _ = after(*rounds)
    assert (state.closing == "alternating") is ("abab" in actions or "baba" in actions)


def test_the_first_reason_to_close_stays() -> None:
    state = Progress().closed("repeated").closed("barren")
    assert state.closing == "repeated"
    assert Progress().closed(None).closing is None


@pytest.mark.parametrize(("phase", "to"), [(a, b) for a in MOVES for b in MOVES if b not in MOVES[a]])
def test_there_is_no_other_move(phase: str, to: str) -> None:
    with pytest.raises(ValueError, match=f"no move from '{phase}' to '{to}'"):
        Progress(phase=phase).moved(to)  # type: ignore[arg-type]


def test_the_third_unusable_answer_in_a_row_is_not_repaired() -> None:
    state = Progress()
    found = []
    for _ in range(3):
        state = unusable(state)
        found.append(beyond_repair(state))
    assert found == [False, False, True]


@given(st.integers(1, 12), st.integers(1, 24), st.integers(0, 18), st.integers(0, 12), st.integers(0, 24))
def test_something_is_always_left_for_the_finish(
    steps: int, actions: int, calls: int, used: int, made: int
) -> None:
    limits = Limits(max_steps_per_node=steps, max_actions=actions, max_tool_calls=calls)
    state = replace(Progress(), steps=used, actions=used + made, tool_calls=made)
    room = room_for_calls(state, limits)
    assert 0 <= room <= max(0, calls - made)
    if room:
        assert state.actions + room + 2 <= actions
    if ending(state, limits) is None:
        assert used < steps
        assert state.actions < actions
