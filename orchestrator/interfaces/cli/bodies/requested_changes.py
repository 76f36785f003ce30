"""Show what a person asked to be different in the revision of a proposal that is the newest."""

from __future__ import annotations

from typing import Final

from orchestrator.core.events import ChangesWereRequested, ProposalDrafted
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.session import Session
from orchestrator.interfaces.cli.streams import one_line
from orchestrator.shell.runs import events_of

NOTE_CHARS: Final = 2_000
"""What is shown of one note; the log keeps all of it."""


def requested_changes(session: Session, state: RunState) -> tuple[str, ...]:
    """Return the notes on the newest revision up to `state`, oldest first; a revision after them answers them."""
    notes: list[str] = []
    for event in events_of(session.store(), state.run, upto=state.seq):
        match event.body:
            case ProposalDrafted():
                notes.clear()
            case ChangesWereRequested(note=note):
                notes.append(note)
            case _:
                pass
    return tuple(notes)


def requested_lines(session: Session, state: RunState) -> list[str]:
    """Return the notes for people, one a line; nothing without notes."""
    head = session.pick("change asked for: ", "要求的改动：")
    return [head + one_line(note, NOTE_CHARS) for note in requested_changes(session, state)]
