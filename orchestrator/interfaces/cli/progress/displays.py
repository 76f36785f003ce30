"""The ways in which the progress of a run is shown, behind one port; which one is chosen here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from orchestrator.core.events import Event
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.invocation import Display
from orchestrator.interfaces.cli.problems import Lang, pick
from orchestrator.interfaces.cli.progress.changes import Narrator
from orchestrator.interfaces.cli.progress.live import LiveDisplay
from orchestrator.interfaces.cli.progress.logfmt import logfmt
from orchestrator.interfaces.cli.streams import Streams


class RunDisplay(Protocol):
    """Shows a run while it goes on."""

    def __enter__(self) -> RunDisplay: ...

    def __exit__(self, *exc: object) -> None: ...

    def show(self, event: Event, state: RunState) -> None:
        """Show what an event changed; called in order, never blocks."""
        ...


class NoDisplay:
    """Shows nothing."""

    def __enter__(self) -> NoDisplay:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def show(self, event: Event, state: RunState) -> None:
        """Show nothing."""


class LineDisplay(NoDisplay):
    """Writes one `key=value` line for each change of state."""

    def __init__(self, streams: Streams, lang: Lang, *, stamped: bool, named: bool = False) -> None:
        """Return a display; `stamped` lines begin with time, run and number of the event, `named` ones with the run."""
        self._streams = streams
        self._lang = lang
        self._narrator = Narrator(lang, following=True)
        self._stamped = stamped
        self._named = named
        self._told: set[object] = set()

    def show(self, event: Event, state: RunState) -> None:
        """Write the lines of an event; activity within a sub-task has none.

        A long text that an earlier line holds is said to stand above, but for stamped lines, which are read one by one.
        """
        stamp: tuple[tuple[str, object], ...] = (("id", state.run),) if self._named else ()
        if self._stamped:
            stamp = (("ts", event.ts), ("id", state.run), ("seq", event.seq))
        for change in self._narrator.tell(event, state):
            if change.weight != "activity":
                # Keys and codes are the same in every language; a reader of another one gets the sentence, too.
                said = () if self._lang == "en" else (("said", change.beside_fields or change.sentence),)
                fields = change.fields if self._stamped else tuple(map(self._once, change.fields))
                self._streams.talk(logfmt((*stamp, *fields, *said)))

    def _once(self, field: tuple[str, object]) -> tuple[str, object]:
        key, value = field
        if not isinstance(value, str) or len(value) <= _LONG:
            return field
        if value in self._told:
            return key, pick(self._lang, "as above", "同上")
        self._told.add(value)
        return field


_LONG: Final = 80
"""Characters from which on a text is not written a second time."""


def display_for(
    wanted: Display, streams: Streams, lang: Lang, environment: Mapping[str, str], *, beside: bool = False
) -> RunDisplay:
    """Return the display that was asked for; `auto` is `live` on a terminal, `log` in a CI job, else `plain`.

    `beside` others, whose lines stand between, it is for lines that name their run; one panel holds one run.
    """
    kind = wanted
    if kind == "auto":
        kind = "live" if streams.live else "log" if environment.get("CI") else "plain"
    if beside and kind == "live":
        kind = "plain"
    match kind:
        case "live":
            return LiveDisplay(streams, lang, environment)
        case "plain" | "log":
            return LineDisplay(streams, lang, stamped=kind == "log", named=beside)
        case _:
            return NoDisplay()
