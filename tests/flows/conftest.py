"""What holds for every run of these tests: what its log says is what was true while it ran."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import pytest

from orchestrator.core.events import Event
from orchestrator.core.reducer import apply
from orchestrator.core.state import RunState
from orchestrator.shell.journal import Appender, Journal, Listener
from orchestrator.shell.ports import Clock
from orchestrator.shell.runs import event_of, new_event
from orchestrator.shell.store.rows import Lease, StoredEvent

BEGIN = Journal.__init__


@pytest.fixture(autouse=True)
def every_run_replays(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep the state after each event of each journal, and fold the events again from their stored form.

    A journal begins with the fold of what is stored, so this reaches every `seq` of a run from where it is executed.
    """
    begun: list[tuple[RunState, list[tuple[Event, RunState]]]] = []

    def watched(
        journal: Journal,
        state: RunState,
        writer: Appender,
        clock: Clock,
        lease: Lease,
        listeners: Sequence[Listener] = (),
        **how: Any,
    ) -> None:
        live: list[tuple[Event, RunState]] = []
        begun.append((state, live))
        # First: a listener that crashes the run must not keep what was applied from being seen.
        first = lambda event, after: live.append((event, after))  # noqa: E731 - a listener
        BEGIN(journal, state, writer, clock, lease, (first, *listeners), **how)

    monkeypatch.setattr(Journal, "__init__", watched)
    yield
    for state, live in begun:
        compared = Compared()
        for event, expected in live:
            state = apply(state, reread(state, event))
            assert compared.equal(state, expected), f"after event {event.seq} of run {state.run!r}"


@dataclass
class Compared:
    """Compares two states after each event of a run, as `==` does.

    Only faster: a field in which both sides kept the very objects that were found equal before is not compared again.
    """

    kept: dict[str, tuple[object, object]] = field(default_factory=dict)

    def equal(self, one: RunState, other: RunState) -> bool:
        return all(
            self._equal(each.name, getattr(one, each.name), getattr(other, each.name))
            for each in fields(RunState)
            if each.compare
        )

    def _equal(self, name: str, one: object, other: object) -> bool:
        before = self.kept.get(name)
        if before is not None and before[0] is one and before[1] is other:
            return True
        equal = bool(one == other)  # not by `!=`: rpds says of two empty maps that they differ
        if equal:
            self.kept[name] = (one, other)
        return equal


def reread(state: RunState, event: Event) -> Event:
    """The event as the store gives it back."""
    row = new_event(event)
    return event_of(
        StoredEvent(
            run=state.run,
            seq=event.seq,
            v=row.v,
            type=row.type,
            ts=row.ts,
            cause=row.cause,
            idem=row.idem,
            payload=row.payload,
        )
    )
