"""Find where a text shows statements, whatever white space, table escapes and defused brackets it is written with."""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from collections.abc import Iterator
from typing import TypeAlias

Place: TypeAlias = tuple[int, int]
"""First character, and one past the last."""

_WIDE_GAP = re.compile(r"\s{2,}")
_ESCAPABLE = ("|", "[")
"""What a writer may have written in another way: `\\|` in a table, `(` where a bracket would make a link."""


class ShownPlaces:
    """Finds statements in one text, whose white space is evened out once for all of them."""

    __slots__ = ("_even", "_shifts", "_starts", "_text")

    def __init__(self, text: str) -> None:
        """Even out `text`: every gap becomes one space, and where gaps were wider is remembered."""
        self._text = text
        self._even = " ".join(text.split())
        shift = len(text) - len(text.lstrip())
        self._starts, self._shifts = [0], [shift]
        for gap in _WIDE_GAP.finditer(text, shift):
            shift += gap.end() - gap.start() - 1
            self._starts.append(gap.end() - shift)
            self._shifts.append(shift)

    def places(self, statement: str) -> Iterator[Place]:
        """Yield where the text shows `statement`, from the left, none reaching into the one before."""
        words = statement.split()
        if not words:
            return
        if any(mark in statement for mark in _ESCAPABLE):
            yield from (match.span() for match in re.finditer(_any_spelling(words), self._text))
            return
        wanted = " ".join(words)
        start = self._even.find(wanted)
        while start >= 0:
            end = start + len(wanted)
            yield self._original(start), self._original(end - 1) + 1
            start = self._even.find(wanted, end)

    def shows(self, statement: str) -> bool:
        """Return whether the text shows `statement` at all."""
        return next(self.places(statement), None) is not None

    def _original(self, position: int) -> int:
        """Return where a character of the evened text, no space, stands in the text."""
        return position + self._shifts[bisect_right(self._starts, position) - 1]


class TakenPlaces:
    """Places of a text that are in use; no two of them share a character."""

    __slots__ = ("_places",)

    def __init__(self) -> None:
        self._places: list[Place] = []

    def take_first(self, candidates: Iterator[Place]) -> Place | None:
        """Take the first of `candidates` that shares no character with a place in use; `None` if all do."""
        place = next((each for each in candidates if self._free(each)), None)
        if place is not None:
            insort(self._places, place)
        return place

    def __iter__(self) -> Iterator[Place]:
        return iter(self._places)

    def _free(self, place: Place) -> bool:
        # Only the last place that begins before the end of this one can reach into it.
        before = bisect_right(self._places, (place[1], -1))
        return before == 0 or self._places[before - 1][1] <= place[0]


def _any_spelling(words: list[str]) -> str:
    spelt = (re.escape(word).replace(r"\|", r"\\?\|").replace(r"\[", r"[\[(]") for word in words)
    return r"\s+".join(spelt)
