"""The live display: a panel of fixed height at the bottom of the terminal; what happened scrolls up as lines.

The panel shows at most `ROWS` running sub-tasks and how many are where, so it works for 500 sub-tasks as for five.
Everything goes to stderr, and the panel is gone at the end: what stays on the screen is lines.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from rich.cells import cell_len
from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from graphs.plan import NodeId
from orchestrator.core.events import AttemptProduced, AttemptStarted, Event
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.bodies.summaries import LISTED
from orchestrator.interfaces.cli.problems import Lang, pick
from orchestrator.interfaces.cli.progress.change import Change, Weight
from orchestrator.interfaces.cli.progress.changes import Narrator
from orchestrator.interfaces.cli.streams import Streams, one_line

ROWS: Final = 12
"""Running sub-tasks that the panel shows (ui.md 4)."""
REFRESH_PER_S: Final = 8
_TITLE_SHARE: Final = 0.5
"""How much of a row the title may take while there is something to say about what is being done."""

_STYLES: Final[Mapping[Weight, str]] = {"activity": "dim", "step": "", "attention": "yellow"}


@dataclass(frozen=True, slots=True)
class _Row:
    """A sub-task that is being worked on."""

    agent: str
    title: str
    since: float
    checking: bool = False
    doing: str = ""


class LiveDisplay:
    """Draws the panel; nothing of it is computed when an event comes in, only kept."""

    def __init__(
        self,
        streams: Streams,
        lang: Lang,
        environment: Mapping[str, str],
        *,
        now: Callable[[], float] = time.monotonic,
        width: int | None = None,
    ) -> None:
        """Return a display; `width` in columns is that of the terminal unless given, `now` counts seconds."""
        self._lang = lang
        self._now = now
        self._began = now()
        self._narrator = Narrator(lang, following=True)
        self._rows: dict[NodeId, _Row] = {}
        self._state: RunState | None = None
        self._height = 1
        self._console = Console(
            file=streams.err,
            no_color=bool(environment.get("NO_COLOR")),
            highlight=False,
            soft_wrap=False,
            width=width,
        )
        self._live = Live(
            get_renderable=self.panel,
            console=self._console,
            refresh_per_second=REFRESH_PER_S,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> LiveDisplay:
        self._live.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._live.stop()

    def show(self, event: Event, state: RunState) -> None:
        """Keep what an event changed for the panel, and let a change of state scroll up."""
        self._state = state
        self._height = min(ROWS, max(1, len(state.nodes)))
        for change in self._narrator.tell(event, state):
            self._follow(event, change, state)
            if change.weight != "activity" and not _is_in_the_panel(event, state):
                self._console.print(self._sentence(change))

    def _sentence(self, change: Change) -> Text:
        """A line that scrolls up: cut where it is news only, whole where a person has to notice or to act."""
        whole = change.weight == "attention"
        return Text(
            one_line(change.sentence),
            style=_STYLES[change.weight],
            no_wrap=not whole,
            overflow="fold" if whole else "ellipsis",
        )

    def _follow(self, event: Event, change: Change, state: RunState) -> None:
        if isinstance(event.body, AttemptStarted):
            started = event.body
            title = state.index.subtask(started.node).title if state.index is not None else ""
            name = one_line(f"{started.node} {title}")
            self._rows[started.node] = _Row(one_line(started.agent), name, self._now())
        elif change.node in self._rows and change.weight == "activity":
            self._rows[change.node] = replace(self._rows[change.node], doing=change.sentence)
        for name in list(self._rows):
            node = state.nodes.get(name)
            if node is None or node.status not in ("running", "verifying"):
                del self._rows[name]
            elif node.status == "verifying" and not self._rows[name].checking:
                self._rows[name] = replace(self._rows[name], checking=True, doing="")

    def panel(self) -> Panel:
        """Return the panel as it is now; always of the same height for the same plan."""
        # A copy, since events come in on another thread than the one that draws.
        rows = list(self._rows.items())[:ROWS]
        lines = [self._line(row) for _, row in rows]
        lines += [Text("")] * (self._height - len(lines))
        return Panel(Group(*lines, self._counts()), title=self._title(), title_align="left", padding=(0, 1))

    def _line(self, row: _Row) -> Text:
        mark = pick(self._lang, "check", "核验") if row.checking else pick(self._lang, "work ", "执行")
        head = f"{mark} {_elapsed(self._now() - row.since):>7} {row.agent:<4} "
        title = Text(row.title)
        # Borders and padding take four columns.
        left = max(8, self._console.width - 4 - cell_len(head))
        if row.doing:
            title.truncate(max(8, int(left * _TITLE_SHARE)), overflow="ellipsis")
        text = Text(head, no_wrap=True, overflow="ellipsis").append_text(title)
        if row.doing:
            text.append(f"  {row.doing}", style="dim")
        return text

    def _title(self) -> str:
        state = self._state
        if state is None:
            return "maskgrad"
        title = f"maskgrad {state.run} · {_elapsed(self._now() - self._began)}"
        return f"{title} · {pick(self._lang, 'paused', '已暂停')}" if state.paused else title

    def _counts(self) -> Text:
        state = self._state
        if state is None or not len(state.nodes):
            return Text(pick(self._lang, "starting", "启动中"), style="bold")
        counts, total = state.counts, len(state.nodes)
        waiting = total - counts.accepted - counts.active - counts.blocked - counts.suspended - counts.skipped
        words = [
            (counts.accepted, "accepted", "已接受"),
            (counts.active, "running", "进行中"),
            (waiting, "waiting", "等待"),
            (counts.blocked, "blocked", "受阻"),
            (counts.suspended, "needs you", "需要您"),
            (counts.skipped, "given up", "已放弃"),
        ]
        parts = [f"{pick(self._lang, en, zh)} {number}" for number, en, zh in words if number]
        head = pick(self._lang, f"{total} sub-tasks: ", f"{total} 个子任务：")
        return Text(head + " · ".join(parts), style="bold", no_wrap=True, overflow="ellipsis")


def _is_in_the_panel(event: Event, state: RunState) -> bool:
    """Whether a change is seen in the panel and needs no line: of a large plan only what is finished scrolls up."""
    return len(state.nodes) > LISTED and isinstance(event.body, AttemptStarted | AttemptProduced)


def _elapsed(seconds: float) -> str:
    """Return a duration.

    >>> _elapsed(7.9), _elapsed(75)
    ('7 s', '1:15')
    """
    whole = int(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60}:{whole % 60:02}"
