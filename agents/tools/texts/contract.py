"""What a table of texts is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from graphs.contract import Lang

Texts = Mapping[str, Mapping[Lang, str]]
"""By code: a text for each language, with the same `{names}` in all of them, never two of these side by side.

What a name stands for goes by its class, see `QUOTED`, `WORD`, `NUMBER` and `TOLD`; any other takes whatever there is.
"""

QUOTED: Final = frozenset(
    [
        "entry",
        "expression",
        "effect",
        "first",
        "folder",
        "host",
        "note",
        "other",
        "others",
        "path",
        "query",
        "rule",
        "server",
        "table",
        "text",
        "tool",
        "url",
        "whole",
        "write",
        "name",
        "replaces",
    ]
)
"""Names of values in quotation marks."""
WORD: Final = frozenset({"called", "file", "function", "ways", "argument"})
"""Names of values without white space."""
NUMBER: Final = frozenset(
    [
        "end",
        "least",
        "line",
        "limit",
        "most",
        "number",
        "offset",
        "port",
        "seconds",
        "size",
        "start",
        "status",
    ]
)
"""Names of values that are numbers."""
TOLD: Final = frozenset({"why", "result", "known"})
"""Names of values that may be such a text themselves."""


def say(texts: Texts, code: str, **values: object) -> str:
    """Return a text in English, the form in which results and decisions are recorded.

    >>> say({"gone": {"en": "{tool} is gone", "zh": "{tool} 已不存在"}}, "gone", tool="x")
    'x is gone'
    """
    return texts[code]["en"].format(**values)
