"""Fill what a hint leaves open from the command line that it answers: its command, and the run that it named."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_RUN: Final = re.compile(r"(r-[0-9a-z]{4,8})(?:[@.].*)?")
"""A run, an approval of one of its revisions, or a request of it."""
_OPEN: Final = re.compile(r"(maskgrad (?:[a-z-]+ ){1,2})(?:RUN|ID)\b")
_GROUPS: Final = ("masks", "domains", "memory", "tools")
"""Commands that have commands below them."""


def run_named(args: Sequence[str]) -> str | None:
    """Return the first run that a command line names; `None` without one.

    >>> run_named(["answer", "r-7k2m9d.q1", "retry"]), run_named(["plan", "Why?"])
    ('r-7k2m9d', None)
    """
    found = (_RUN.fullmatch(word) for word in args[1:])
    return next((match[1] for match in found if match is not None), None)


def filled(text: str, args: Sequence[str]) -> str:
    """Return `text` with the run in the place of `RUN` or `ID` behind a command; without one it stays as it is.

    >>> filled("See: maskgrad show RUN", ["leaks", "r-7k2m9d"])
    'See: maskgrad show r-7k2m9d'
    """
    run = run_named(args)
    return text if run is None else _OPEN.sub(rf"\g<1>{run}", text)


def filled_hint(hint: str, args: Sequence[str]) -> str:
    """Return a next step that can be typed: the help of the command, or the list of runs where no run was named.

    >>> filled_hint("maskgrad COMMAND --help", ["masks", "set", "x"]), filled_hint("maskgrad show RUN", ["plan"])
    ('maskgrad masks set --help', 'maskgrad runs')
    """
    hint = filled(hint, args)
    if _OPEN.search(hint):
        return "maskgrad runs"
    words = [word for word in args[:2] if word.replace("-", "").isalpha() and word.islower()]
    command = " ".join(words[:2] if words[:1] and words[0] in _GROUPS else words[:1])
    for name in ("COMMAND", "命令"):
        hint = hint.replace(f"maskgrad {name} ", f"maskgrad {command} " if command else "maskgrad ")
    return hint
