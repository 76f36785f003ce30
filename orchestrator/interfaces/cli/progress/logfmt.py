"""Write `key=value` lines: one line per change whatever the values hold, and never wrapped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final

from orchestrator.interfaces.cli.streams import plain_text

_BARE: Final = re.compile(r"[^\s\"=\\]+")


def logfmt(fields: Iterable[tuple[str, object]]) -> str:
    r"""Return the fields as `key=value` separated by spaces; `None` and empty values are left out.

    A value with white space, quotes or `=` is written as a JSON string, so that no value can begin a new line or a
    new field.

    >>> logfmt([("node", "n1"), ("title", "What\nnow?"), ("agent", None)])
    'node=n1 title="What\\nnow?"'
    """
    return " ".join(f"{key}={_value(value)}" for key, value in fields if value not in (None, "", ()))


def _value(value: object) -> str:
    if isinstance(value, tuple | list):
        value = ",".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value)
    if _BARE.fullmatch(text) and text == plain_text(text):
        return text
    return plain_text(json.dumps(text, ensure_ascii=False))
