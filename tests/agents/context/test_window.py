"""The window keeps three messages in full; what was before is a short summary of what is settled."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.context.window import SUMMARY_CHARS, summary_of, window_of
from agents.context.working_state import (
    Finding,
    InvalidWorkingState,
    WorkingState,
    read_working_state,
)
from agents.evidence import EvidenceId
from agents.models.contract import Message
from agents.tools.contract import ToolCall
from graphs.contract import Lang

E1, E2 = EvidenceId("e-1"), EvidenceId("e-2")


def said(text: str) -> Message:
    return Message(role="assistant", content=text)


def called(*ids: str) -> list[Message]:
    calls = tuple(ToolCall(tool="search", arguments={}, id=name) for name in ids)
    results = [Message(role="tool", content="found", call_id=name) for name in ids]
    return [Message(role="assistant", content="", calls=calls), *results]


STATE = (
    WorkingState(goal="What does it cost?")
    .with_open("read the offer", "ask for the date")
    .with_finding("It costs 12 million.", [E1])
    .with_finding("It may be late.")
    .with_excluded("the minutes name no price")
    .with_done("read the offer", "artefact-7")
)


def test_the_summary_holds_confirmed_facts_and_excluded_directions_and_nothing_else() -> None:
    assert summary_of(STATE, "en") == "confirmed: It costs 12 million.\nexcluded: the minutes name no price"
    assert summary_of(STATE, "zh") == "已确认：It costs 12 million.\n已排除：the minutes name no price"
    assert summary_of(WorkingState(goal="?", findings=(Finding(statement="Perhaps."),)), "en") == ""


def test_three_messages_stay_and_a_call_is_not_parted_from_its_results() -> None:
    plain = [said(str(number)) for number in range(5)]
    window = window_of(plain, STATE, "en")
    assert [message.content for message in window.recent] == ["2", "3", "4"]
    assert (window.folded, window.summary) == (2, summary_of(STATE, "en"))
    parallel = [said("0"), *called("a", "b", "c"), said("5")]
    assert window_of(parallel, STATE, "en").recent == tuple(parallel[1:])
    short = window_of(plain[:3], STATE, "en")
    assert (short.folded, short.summary) == (0, "")


def test_the_newest_of_each_kind_come_first_and_the_rest_is_counted() -> None:
    state = WorkingState(goal="?")
    for number in range(30):
        state = state.with_finding(f"Fact {number} about a long thing.", [E1])
    state = state.with_excluded("the archive")
    text = summary_of(state, "en")
    assert "Fact 29" in text
    assert "excluded: the archive" in text
    assert "Fact 0 " not in text
    shown = text.count("Fact")
    assert text.endswith(f"+{30 - shown}")
    assert text.index("Fact 28") < text.index("Fact 29")


@given(
    st.lists(st.text(min_size=1, max_size=120), max_size=8),
    st.lists(st.text(min_size=1, max_size=120), max_size=8),
    st.sampled_from(["en", "zh"]),
)
def test_a_summary_is_short_and_its_entries_are_whole(
    facts: list[str], excluded: list[str], lang: Lang
) -> None:
    state = WorkingState(goal="?")
    for fact in facts:
        state = state.with_finding(fact, [E1])
    for direction in excluded:
        state = state.with_excluded(direction)
    text = summary_of(state, lang)
    assert len(text) <= SUMMARY_CHARS
    whole = {" ".join(entry.split()) for entry in (*facts, *excluded)}
    for line in text.splitlines():
        if line.startswith("+"):
            continue
        _, _, entries = line.partition("：" if lang == "zh" else ": ")
        left = entries
        for entry in sorted(whole, key=len, reverse=True):
            left = left.replace(entry, "")
        assert set(left) <= set("; ；"), (line, left)


@given(
    st.builds(
        WorkingState,
        goal=st.text(max_size=9),
        done=st.lists(st.text(max_size=9), unique=True).map(tuple),
        findings=st.lists(
            st.builds(
                Finding,
                statement=st.text(max_size=9),
                evidence=st.lists(st.text(max_size=9).map(EvidenceId)).map(tuple),
            )
        ).map(tuple),
        excluded=st.lists(st.text(max_size=9)).map(tuple),
        open_points=st.lists(st.text(max_size=9)).map(tuple),
        artefacts=st.lists(st.text(max_size=9)).map(tuple),
    )
)
def test_a_working_state_comes_back_from_json(state: WorkingState) -> None:
    assert read_working_state(json.loads(json.dumps(state.document()))) == state


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "maskgrad.working-state/2"},
        {"goal": 3},
        {"done": "read"},
        {"excluded": [3]},
        {"findings": [{"statement": "x"}]},
        {"findings": ["x"]},
        {"extra": 1},
    ],
)
def test_a_document_of_another_shape_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(InvalidWorkingState):
        read_working_state({**STATE.document(), **change})


def test_no_document_at_all_is_refused() -> None:
    documents: tuple[object, ...] = (None, [], "x", {"goal": "?"})
    for document in documents:
        with pytest.raises(InvalidWorkingState, match="expected"):
            read_working_state(document)


def test_what_is_known_is_kept_once_and_lost_evidence_takes_the_confirmation() -> None:
    twice = STATE.with_finding("It costs 12 million.", [E1, E2]).with_done("read the offer", "artefact-7")
    assert twice.findings[0] == Finding(statement="It costs 12 million.", evidence=(E1, E2))
    assert (twice.done, twice.artefacts) == (("read the offer",), ("artefact-7",))
    assert twice.open_points == ("ask for the date",)
    assert twice.without_evidence([E1]).confirmed[0].evidence == (E2,)
    assert twice.without_evidence([E1, E2]).confirmed == ()
