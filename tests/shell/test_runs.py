"""Whole runs in the store: rows and events are two forms of one thing; appending is compare-and-swap."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.core.events import (
    Body,
    ChangesWereRequested,
    Event,
    ProposalDrafted,
    RunCreated,
    UnreadableEvent,
)
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import proposal_sha256
from orchestrator.core.reducer import initial
from orchestrator.shell.runs import append, create, event_of, events_of, load, new_event, post
from orchestrator.shell.store.errors import (
    AlreadyRecorded,
    HeadMoved,
    NotStorable,
    RunBusy,
    RunExists,
    UnknownRun,
)
from orchestrator.shell.store.memory_store import MemoryStore
from orchestrator.shell.store.ports import RunStore
from orchestrator.shell.store.rows import NewEvent, StoredEvent
from orchestrator.shell.store.sqlite_store import SqliteStore
from tests.core.builders import plan, proposal
from tests.flows.stage import FakeClock

RUN = RunId("r-1")
DRAFT = proposal(plan("a>b b>c"))
BODIES: tuple[Body, ...] = (
    RunCreated(goal="为什么？", lang="zh", sources=("/笔记",), run_seed="seed", versions={"product": "0"}),
    ProposalDrafted(proposal=DRAFT, sha256=proposal_sha256(DRAFT), author="planner"),
)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> RunStore:
    made: RunStore = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "runs.db")
    made.create_run(RUN, "为什么？", "2026-01-01T00:00:00.000Z")
    return made


def stored(row: object, seq: int, run: str = RUN) -> StoredEvent:
    fields = {name: getattr(row, name) for name in ("v", "type", "ts", "payload", "cause", "idem")}
    return StoredEvent(run=run, seq=seq, **fields)


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.type)
def test_an_event_comes_back_from_its_row(body: Body) -> None:
    event = Event(seq=3, ts="2026-01-01T00:00:00.000Z", cause=2, body=body)
    row = new_event(event)
    assert row.type == body.type
    assert "type" not in json.loads(row.payload)
    assert event_of(stored(row, 3)) == event


def test_a_row_of_a_newer_program_or_another_shape_is_unreadable() -> None:
    row = new_event(Event(seq=1, ts="t", body=BODIES[0]))
    for broken in (replace(row, v=99), replace(row, payload="{}"), replace(row, type="run.unheard_of")):
        with pytest.raises(UnreadableEvent):
            event_of(stored(broken, 1))


def test_what_was_appended_is_loaded_now_and_as_it_was(store: RunStore) -> None:
    clock = FakeClock()
    state = append(store, clock, initial(RUN), BODIES)
    clock.t = 1.5
    state = append(store, clock, state, [ChangesWereRequested(note="shorter")])
    assert (state.seq, state.status) == (3, "reviewing")
    assert load(store, RUN) == state
    assert load(store, RUN, at=1).status == "drafting"
    assert load(store, RUN, at=2).proposal == DRAFT
    assert [event.ts for event in events_of(store, RUN)] == [
        "2026-01-01T00:00:00.000Z",
        "2026-01-01T00:00:00.000Z",
        "2026-01-01T00:00:01.500Z",
    ]
    assert [event.seq for event in events_of(store, RUN, after=1, upto=2)] == [2]
    with pytest.raises(UnknownRun):
        load(store, RunId("r-9"))


def test_two_writers_never_interleave(store: RunStore) -> None:
    state = append(store, FakeClock(), initial(RUN), BODIES)
    append(store, FakeClock(), state, [ChangesWereRequested(note="first")])
    with pytest.raises(HeadMoved):
        append(store, FakeClock(), state, [ChangesWereRequested(note="second")])
    assert load(store, RUN).seq == 3


def test_while_a_process_executes_nobody_appends_beside_it(store: RunStore) -> None:
    state = append(store, FakeClock(), initial(RUN), BODIES)
    store.acquire(RUN, "somebody", 30.0)
    with pytest.raises(RunBusy):
        append(store, FakeClock(), state, [ChangesWereRequested(note="no")])


def test_a_message_is_left_once(store: RunStore) -> None:
    first = post(store, RUN, "answer", {"b": "é", "a": 1}, dedup="answer:1")
    assert post(store, RUN, "answer", {"a": 1, "b": "é"}, dedup="answer:1") == first
    with pytest.raises(AlreadyRecorded):
        post(store, RUN, "answer", {"a": 2}, dedup="answer:1")
    (message,) = store.pending(RUN)
    assert (message.kind, json.loads(message.payload)) == ("answer", {"a": 1, "b": "é"})


def test_a_run_is_created_with_its_first_events(store: RunStore) -> None:
    made = create(store, FakeClock(), RunId("r-2"), "为什么？", BODIES)
    assert load(store, RunId("r-2")) == made
    assert (made.seq, made.status) == (2, "reviewing")
    assert {row.id for row in store.runs()} == {RUN, "r-2"}
    with pytest.raises(RunExists):
        create(store, FakeClock(), RunId("r-2"), "again", BODIES)
    assert load(store, RunId("r-2")) == made


def test_a_run_whose_first_events_are_refused_does_not_exist(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a crash between the run and its events: what is refused takes the run with it."""

    def broken(event: Event) -> NewEvent:
        return replace(new_event(event), cause=99)

    monkeypatch.setattr("orchestrator.shell.runs.new_event", broken)
    with pytest.raises(NotStorable):
        create(store, FakeClock(), RunId("r-2"), "Why?", BODIES)
    with pytest.raises(UnknownRun):
        store.run("r-2")
    assert [row.id for row in store.runs()] == [RUN]
