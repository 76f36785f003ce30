"""The short-term window: the last messages in full, and a short summary of what was before (seed 003, 2.2).

The summary is written by code out of the working state, never by a model: confirmed facts and excluded directions, no
thoughts on the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agents.context.parts import exchanges_of
from agents.context.working_state import WorkingState
from agents.models.contract import Message
from graphs.contract import Lang

FULL_MESSAGES: Final = 3
"""Messages in full (003 2.2); more where a call and its results would be parted."""
SUMMARY_CHARS: Final = 200
"""Longest summary (003 2.2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What of a conversation is in view."""

    recent: tuple[Message, ...]
    """The last messages, in full."""
    folded: int
    """How many messages before them the summary stands for."""
    summary: str
    """Empty when nothing was folded, or nothing is settled."""


def window_of(
    history: Sequence[Message], state: WorkingState, lang: Lang, *, keep: int = FULL_MESSAGES
) -> Window:
    """Return the last exchanges that hold at least `keep` messages, and a summary of `state` for the others.

    Raises `BrokenHistory` as `exchanges_of` does.
    """
    recent: list[Message] = []
    for exchange in reversed(exchanges_of(history)):
        if len(recent) >= keep:
            break
        recent[:0] = exchange.messages
    folded = len(history) - len(recent)
    return Window(recent=tuple(recent), folded=folded, summary=summary_of(state, lang) if folded else "")


def summary_of(state: WorkingState, lang: Lang, limit: int = SUMMARY_CHARS) -> str:
    """Return the confirmed facts and excluded directions of `state` in at most `limit` characters; empty for none.

    Entries are whole or absent: half a fact may say the opposite. The newest come first into the room there is, facts
    and directions in turn, so that neither crowds out the other; what found none is counted, `+2`.
    """
    facts = [_line(finding.statement) for finding in state.confirmed]
    excluded = [_line(direction) for direction in state.excluded]
    total = len(facts) + len(excluded)
    chosen: set[tuple[str, int]] = set()
    for entry in _newest_in_turn(len(facts), len(excluded)):
        if len(_worded(facts, excluded, {*chosen, entry}, total, lang)) <= limit:
            chosen.add(entry)
    text = _worded(facts, excluded, chosen, total, lang)
    return text if len(text) <= limit else ""


def _newest_in_turn(facts: int, excluded: int) -> Iterator[tuple[str, int]]:
    for back in range(1, max(facts, excluded) + 1):
        if back <= facts:
            yield "fact", facts - back
        if back <= excluded:
            yield "excluded", excluded - back


def _worded(
    facts: Sequence[str], excluded: Sequence[str], chosen: set[tuple[str, int]], total: int, lang: Lang
) -> str:
    words = _WORDS[lang]
    lines = []
    for name, entries in (("fact", facts), ("excluded", excluded)):
        shown = [entry for place, entry in enumerate(entries) if (name, place) in chosen]
        if shown:
            lines.append(words[name] + words["between"].join(shown))
    more = total - len(chosen)
    if more:
        lines.append(f"+{more}")
    return "\n".join(lines)


def _line(text: str) -> str:
    return " ".join(text.split())


_WORDS: Final[Mapping[Lang, Mapping[str, str]]] = {
    "en": {
        "between": "; ",
        "fact": "confirmed: ",
        "excluded": "excluded: ",
    },
    "zh": {
        "between": "；",
        "fact": "已确认：",
        "excluded": "已排除：",
    },
}
