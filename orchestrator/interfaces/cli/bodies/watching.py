"""Follow runs that other processes execute, by reading the store again and again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from orchestrator.core.events import to_wire
from orchestrator.core.ids import RunId
from orchestrator.core.reducer import apply, initial
from orchestrator.core.state import ENDED, RunState
from orchestrator.interfaces.cli.bodies.looking import living_lease, whole_number
from orchestrator.interfaces.cli.bodies.outcomes import outcome_of
from orchestrator.interfaces.cli.exit_codes import ExitCode
from orchestrator.interfaces.cli.progress.displays import RunDisplay, display_for
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.shell.runs import events_of

POLL_S: Final = 0.25
"""How often the store is read, in seconds."""


def watch(session: Session, runs: Sequence[str], after: str) -> Result:
    """Show the events behind `after` as they are stored, until each run rests; return what they came to.

    A run rests when it ended, waits for a person, or is executed by nobody. Reading is all that is done: ending the
    command leaves the runs alone.
    """
    names = [RunId(run) for run in dict.fromkeys(runs)]
    first = whole_number("--after", after, least=0)
    for name in names:
        session.store().run(name)  # an unknown one is refused before the others are waited for
    invocation = session.invocation
    with ExitStack() as displays:
        followed = [
            _Followed(
                state=initial(name),
                display=displays.enter_context(
                    display_for(
                        invocation.display,
                        session.streams,
                        session.lang,
                        invocation.environment,
                        beside=len(names) > 1,
                    )
                ),
            )
            for name in names
        ]
        _follow(session, followed, first)
    return _together([outcome_of(session, one.state) for one in followed])


@dataclass(slots=True)
class _Followed:
    """A run that is followed, as far as it was read."""

    state: RunState
    display: RunDisplay
    rests: bool = False


def _follow(session: Session, followed: Sequence[_Followed], first: int) -> None:
    while True:
        for one in followed:
            if not one.rests:
                _read_on(session, one, first)
        if all(one.rests for one in followed):
            return
        time.sleep(POLL_S)


def _read_on(session: Session, one: _Followed, first: int) -> None:
    # Asked before reading: an executor that gives its lease up has stored everything by then.
    executed = living_lease(session, one.state.run) is not None
    for event in events_of(session.store(), one.state.run, after=one.state.seq):
        one.state = apply(one.state, event)
        if event.seq > first:
            session.stream(to_wire(one.state.run, event))
            one.display.show(event, one.state)
    one.rests = not executed or one.state.status in ENDED


def _together(results: Sequence[Result]) -> Result:
    """Return one result for several runs; the code is that of the first one that is not completed."""
    if len(results) == 1:
        return results[0]
    return Result(
        data={"runs": [result.data for result in results]},
        text="\n\n".join(result.text.rstrip("\n") for result in results),
        code=next((result.code for result in results if result.code), ExitCode.DONE),
        notes=tuple(note for result in results for note in result.notes),
    )
