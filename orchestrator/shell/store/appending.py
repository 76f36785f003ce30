"""The rules of appending: what a repeated append is, and which events fit behind a head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from orchestrator.shell.store.errors import NotStorable
from orchestrator.shell.store.rows import NewEvent, StoredEvent


class NamedAt(NamedTuple):
    """The first event of an append that has a name."""

    position: int
    idem: str


def first_named(events: Sequence[NewEvent]) -> NamedAt | None:
    """Return the first event with a name: where it is stored shows whether the append is a repetition."""
    for position, event in enumerate(events):
        if event.idem is not None:
            return NamedAt(position, event.idem)
    return None


def repeats(stored: Sequence[StoredEvent], events: Sequence[NewEvent]) -> bool:
    """Tell whether `events` are exactly the stored ones: names, types and payloads, in this order.

    Times and versions may differ: the event that happened first is the one that stands.
    """
    return len(stored) == len(events) and all(
        (old.idem, old.type, old.payload) == (new.idem, new.type, new.payload)
        for old, new in zip(stored, events, strict=True)
    )


def require_earlier_causes(head: int, events: Sequence[NewEvent]) -> None:
    """Raise `NotStorable` for an event, to be stored behind `head`, whose cause is not an earlier event."""
    for seq, event in enumerate(events, start=head + 1):
        if event.cause is not None and not 1 <= event.cause < seq:
            raise NotStorable(
                f"The cause of event {seq!r} ({event.type!r})",
                event.cause,
                accepted_en=f"None, or the seq of an earlier event, from 1 to {seq - 1}",
                accepted_zh=f"None，或更早事件的 seq（1 到 {seq - 1}）",
            )


def require_distinct_names(events: Sequence[NewEvent]) -> None:
    """Raise `NotStorable` for an append that has a name twice."""
    seen: set[str] = set()
    for event in events:
        if event.idem in seen:
            raise NotStorable(
                "A second event of one append with the name",
                event.idem,
                accepted_en="a name once in a run",
                accepted_zh="每个运行中每个名称只出现一次",
            )
        if event.idem is not None:
            seen.add(event.idem)


def require_run_id(run: str) -> None:
    """Raise `NotStorable` for an id that cannot lead a thread id."""
    if not run or "/" in run:
        raise NotStorable(
            "The run id",
            run,
            accepted_en="a text that is not empty and has no '/'",
            accepted_zh="非空且不含“/”的文本",
        )
