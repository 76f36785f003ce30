"""Read and write whole runs in the store: create, load, append without executing, hand messages over.

A run that nobody executes (in review, suspended) is changed by whoever holds its head: appending is compare-and-swap,
so two writers never interleave. While an executor holds the lease, everything goes through its inbox.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from orchestrator.core.events import Body, Event, data_text, from_wire
from orchestrator.core.ids import RunId
from orchestrator.core.reducer import apply, fold, initial
from orchestrator.core.state import RunState
from orchestrator.shell.ports import Clock
from orchestrator.shell.store.holders import living_lease
from orchestrator.shell.store.ports import Refused, RunStore, StoreWrites
from orchestrator.shell.store.rows import Lease, NewEvent, StoredEvent


def refused_as(store: RunStore, state: RunState) -> str:
    """Return the state of a run as a refusal names it: `interrupted` for one that nobody executes any more."""
    left = state.status == "running" and living_lease(store, state.run) is None
    return "interrupted" if left else state.status


def event_of(stored: StoredEvent) -> Event:
    """Return the event of a stored row; raises `UnreadableEvent`."""
    document = {
        "v": stored.v,
        "seq": stored.seq,
        "ts": stored.ts,
        "cause": stored.cause,
        "type": stored.type,
        "data": json.loads(stored.payload),
    }
    return from_wire(document)


def new_event(event: Event) -> NewEvent:
    """Return the row to append for an event."""
    payload = data_text(event.body)
    return NewEvent(v=event.v, type=event.body.type, ts=event.ts, payload=payload, cause=event.cause)


def events_of(store: RunStore, run: RunId, *, after: int = 0, upto: int | None = None) -> Iterator[Event]:
    """Iterate over a run's events in order; raises `UnknownRun` and `UnreadableEvent`."""
    return (event_of(stored) for stored in store.events(run, after, upto))


def load(store: RunStore, run: RunId, *, at: int | None = None) -> RunState:
    """Return the state of a run, now or after the event `at`; raises `UnknownRun`, `UnreadableEvent`, `BrokenLog`."""
    return fold(run, events_of(store, run, upto=at))


def caught_up(store: RunStore, state: RunState) -> RunState:
    """Return the state of a run by now, of which `state` is an earlier one; only what follows it is read.

    Raises as `load` does.
    """
    for event in events_of(store, state.run, after=state.seq):
        state = apply(state, event)
    return state


def create(store: RunStore, clock: Clock, run: RunId, title: str, bodies: Sequence[Body]) -> RunState:
    """Create a run together with its first events and return its state; a crash leaves all of it or nothing.

    Raises `RunExists` and what else the store raises.
    """
    after, rows = _stamped(initial(run), clock, bodies)
    created = clock.now()

    def write(writes: StoreWrites) -> None:
        writes.create_run(run, title, created)
        writes.append(run, 0, rows)

    (outcome,) = store.commit([write])
    if isinstance(outcome, Refused):
        raise outcome.error
    return after


def append(
    store: RunStore,
    clock: Clock,
    state: RunState,
    bodies: Sequence[Body],
    *,
    lease: Lease | None = None,
    delete_threads: Sequence[str] = (),
    folded: Sequence[int] = (),
) -> RunState:
    """Append events to a run that nobody else executes and return its new state.

    In the same transaction, checkpoint threads are deleted and messages are folded away. Raises `HeadMoved` when
    somebody else appended since `state` was read, and, without its `lease`, `RunBusy` while a process executes it.
    """
    after, rows = _stamped(state, clock, bodies)
    store.append(state.run, state.seq, rows, lease=lease, delete_threads=delete_threads, folded=folded)
    return after


def _stamped(state: RunState, clock: Clock, bodies: Sequence[Body]) -> tuple[RunState, list[NewEvent]]:
    rows = []
    for body in bodies:
        event = Event(seq=state.seq + 1, ts=clock.now(), body=body)
        state = apply(state, event)
        rows.append(new_event(event))
    return state, rows


def post(store: RunStore, run: RunId, kind: str, document: dict[str, Any], *, dedup: str) -> int:
    """Leave a message for the run's executor and return its id; the same `dedup` is the same message."""
    payload = json.dumps(document, ensure_ascii=False, sort_keys=True)
    return store.post(run, kind, payload, dedup)
