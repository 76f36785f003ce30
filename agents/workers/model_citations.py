"""Which excerpts a model's claim cites: by their numbers, else by words that stand in one of them.

Small models copy a line of the prompt where a number is asked for (`> E2 notes.md:11`, or the excerpt itself). What
they mean is certain only where one number is named or the words stand there; nothing else is taken for a citation.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from agents.prompts import Excerpt
from masks.leaks.markers import strip_markers

LEAST_CHARS: Final = 20
"""Characters, white space apart, of words by which an excerpt is found; a Chinese character counts as two. Fewer stand
in many places by chance. Our choice."""

_LISTED: Final = re.compile(r"[\s\[\](){}<>,，、;；.#]*(?:E\d+[\s\[\](){}<>,，、;；.#]*)+", re.IGNORECASE)
"""Nothing but numbers of excerpts."""
_NUMBER: Final = re.compile(r"(?<![a-z0-9])E\d+(?![a-z0-9])", re.IGNORECASE)
_RANGE: Final = re.compile(r"E\d+\s*(?:[-–—~～]|至|到|to\b)\s*E?\d", re.IGNORECASE)
_EDGES: Final = " \t\r\n>\"'“”‘’「」.。…"


def named_keys(listed: Sequence[object]) -> frozenset[str]:
    """Return the numbers that `listed` names, in capitals: `E3`, `[e3]`, `E3, E4`, `> E3 notes.md:11`.

    Of an entry with more than numbers it is the first that stands in it; a range names none.

    >>> sorted(named_keys(["[e3]", "E4、E5", "E6 notes/E7.md:11", "E1-E9"]))
    ['E3', 'E4', 'E5', 'E6']
    """
    found: set[str] = set()
    for entry in listed:
        text = str(entry)
        if _RANGE.search(text):
            continue
        numbers = _NUMBER.findall(text)
        found.update(one.upper() for one in (numbers if _LISTED.fullmatch(text) else numbers[:1]))
    return frozenset(found)


def key_by_words(listed: Sequence[object], statement: str, excerpts: Mapping[str, Excerpt]) -> str | None:
    """Return the first of `excerpts` in which words of an entry of `listed`, else the whole statement, stand.

    White space and case are passed over. `None`: they stand in none, or are too few to tell (`LEAST_CHARS`).
    """
    squeezed = {key: _squeezed(excerpt.text) for key, excerpt in excerpts.items()}
    for words in (*map(str, listed), strip_markers(statement).text):
        wanted = _squeezed(words.strip(_EDGES))
        if _weight(wanted) < LEAST_CHARS:
            continue
        for key, text in squeezed.items():
            if wanted in text:
                return key
    return None


def key_instead(named: Collection[str], statement: str, excerpts: Mapping[str, Excerpt]) -> str | None:
    """Return the excerpt that a statement was copied from, where it stands in none of those that were `named`.

    Small models number their claims on (`E1`, `E2`, …) as if that were the excerpt. `None`: the statement stands word
    for word in a named one, in none, in more than one other, or is too short to tell.

    >>> texts = {"E1": "The fence is 10 m away.", "E2": "Walls resist fire for 90 minutes, doors too."}
    >>> shown = {key: Excerpt(key=key, text=text, where="a.md:1") for key, text in texts.items()}
    >>> key_instead({"E1"}, "Walls resist fire for 90 minutes.", shown)
    'E2'
    """
    wanted = _squeezed(strip_markers(statement).text.strip(_EDGES))
    if _weight(wanted) < LEAST_CHARS:
        return None
    holding = [key for key, excerpt in excerpts.items() if wanted in _squeezed(excerpt.text)]
    return holding[0] if len(holding) == 1 and holding[0] not in named else None


_LATIN: Final = 0x2E7F


def _weight(squeezed: str) -> int:
    return sum(2 if ord(char) > _LATIN else 1 for char in squeezed)


def _squeezed(text: str) -> str:
    return "".join(text.split()).casefold()
