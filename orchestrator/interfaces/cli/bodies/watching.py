"""Follow a run that another process executes, by reading the store again and again."""

from __future__ import annotations

import time
from typing import Final

from orchestrator.core.events import Event, to_wire
from orchestrator.core.ids import RunId
from orchestrator.core.reducer import apply, initial
from orchestrator.core.state import ENDED, RunState
from orchestrator.interfaces.cli.bodies.looking import living_lease, whole_number
from orchestrator.interfaces.cli.bodies.outcomes import outcome_of
from orchestrator.interfaces.cli.progress.displays import RunDisplay, display_for
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.shell.runs import events_of

POLL_S: Final = 0.25
"""How often the store is read, in seconds."""


def watch(session: Session, run: str, after: str) -> Result:
    """Show the events behind `after` as they are stored, until the run rests; return what it came to.

    A run rests when it ended, waits for a person, or is executed by nobody. Reading is all that is done: ending the
    command leaves the run alone.
    """
    name, first = RunId(run), whole_number("--after", after, least=0)
    invocation = session.invocation
    display = display_for(invocation.display, session.streams, session.lang, invocation.environment)
    with display:
        state = _follow(session, initial(name), first, display)
    return outcome_of(session, state)


def _follow(session: Session, state: RunState, first: int, display: RunDisplay) -> RunState:
    while True:
        # Asked before reading: an executor that gives its lease up has stored everything by then.
        executed = living_lease(session, state.run) is not None
        for event in events_of(session.store(), state.run, after=state.seq):
            state = apply(state, event)
            if event.seq > first:
                _show(session, display, event, state)
        if not executed or state.status in ENDED:
            return state
        time.sleep(POLL_S)


def _show(session: Session, display: RunDisplay, event: Event, state: RunState) -> None:
    session.stream(to_wire(state.run, event))
    display.show(event, state)
