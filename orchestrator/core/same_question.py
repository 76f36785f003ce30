"""One notion of "the same question", for checks and for the acceptor."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

_KEPT: Final = 4096
"""Folded texts kept: what is asked is compared with every claim and open question of a run."""
_CLOSING: Final = " .?!:;。，、：；"


def same_question(first: str | None, second: str) -> bool:
    """Return whether two texts ask the same, whatever width, case, spaces and closing punctuation; `None` asks nothing.

    >>> same_question("What does it cost?", " what does  it COST？ ")
    True
    """
    return first is not None and _folded(first) == _folded(second)


@lru_cache(maxsize=_KEPT)
def _folded(text: str) -> str:
    even = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"\s+", " ", even).strip(_CLOSING)
