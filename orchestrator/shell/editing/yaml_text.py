"""Write YAML for people: comments, one fact a line, text in quotes only where it needs them.

PyYAML writes no comments, so the lines are made here; `yaml_tree` reads back exactly the values that were written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from pydantic import JsonValue

_STEP: Final = "  "

_PLAIN: Final = re.compile(r"[^\W\d_][\w./-]*(?: [\w./-]+)*")
"""Text that needs no quotes anywhere: words that begin with a letter. What is left out is quoted."""

_RESERVED: Final = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
"""Words that some reader of YAML takes for something else than text."""


class Verbatim(str):
    """A scalar that is written as it stands, such as a number with two decimals."""

    __slots__ = ()


Value = JsonValue | Verbatim | Mapping[str, "Value"] | Sequence["Value"]
"""What can be written: JSON values, with verbatim scalars among them."""


class Page:
    """The lines of a document while it is being written."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0

    def text(self) -> str:
        """Return the document, ending with a newline."""
        return "\n".join(self._lines) + "\n"

    def blank(self) -> None:
        """Leave a line empty."""
        self._lines.append("")

    def comment(self, *texts: str) -> None:
        """Write comment lines; whatever stands in them, they stay comments."""
        self._lines.extend(f"{_STEP * self._depth}# {one_line(text)}".rstrip() for text in texts)

    def put(self, key: str, value: Value, note: str = "") -> None:
        """Write a key with its value; the note is a comment behind it."""
        lines = _entry(key, value)
        if note:
            lines[0] = f"{lines[0]}  # {one_line(note)}"
        self._lines.extend(f"{_STEP * self._depth}{line}" if line else line for line in lines)

    def put_flow(self, key: str, value: Value) -> None:
        """Write a key with its value on one line."""
        self._lines.append(f"{_STEP * self._depth}{scalar(key)}: {flow(value)}")

    def items(self, key: str, values: Sequence[Value]) -> None:
        """Write a key with a list, each item on a line of its own even if it is a mapping."""
        if not values:
            self.put(key, [])
            return
        with self.under(key):
            self._lines.extend(f"{_STEP * self._depth}- {flow(value)}" for value in values)

    @contextmanager
    def under(self, key: str) -> Iterator[None]:
        """Write a key whose value are the lines that follow, one step in; an empty mapping if none follows."""
        place = len(self._lines)
        self._lines.append(f"{_STEP * self._depth}{scalar(key)}:")
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if len(self._lines) == place + 1:
                self._lines[place] += " {}"


def one_line(text: str) -> str:
    """Return `text` on one line, without characters that can't be shown.

    >>> one_line("a\\n  b\\x07")
    'a b'
    """
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def scalar(value: JsonValue | Verbatim) -> str:
    """Write one scalar; text that could be taken for something else is quoted.

    >>> scalar("three options"), scalar("yes"), scalar("0.5"), scalar(0.5), scalar(None)
    ('three options', '"yes"', '"0.5"', '0.5', 'null')
    """
    if isinstance(value, Verbatim):
        return str(value)
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and value.casefold() not in _RESERVED
        return value if plain else _quoted(value)
    return json.dumps(value, allow_nan=False)


def flow(value: Value) -> str:
    """Write a value on one line.

    >>> flow({"name": "claims", "items": [1, "a: b"]})
    '{name: claims, items: [1, "a: b"]}'
    """
    if isinstance(value, Mapping):
        inside = ", ".join(f"{scalar(key)}: {flow(inner)}" for key, inner in value.items())
        return f"{{{inside}}}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(flow(inner) for inner in value)}]"
    return scalar(value)


def _entry(key: str, value: Value) -> list[str]:
    """A key with its value as block lines."""
    lines = _block(value)
    name = scalar(key)
    if isinstance(value, str) or not isinstance(value, Mapping | Sequence) or not value:
        # A scalar, or the head of a literal block with its lines below.
        return [f"{name}: {lines[0]}", *(f"{_STEP}{line}" if line else line for line in lines[1:])]
    return [f"{name}:", *(f"{_STEP}{line}" if line else line for line in lines)]


def _block(value: Value) -> list[str]:
    if isinstance(value, Mapping):
        return [line for key, inner in value.items() for line in _entry(key, inner)] or ["{}"]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [line for inner in value for line in _item(inner)] or ["[]"]
    if isinstance(value, str) and not isinstance(value, Verbatim) and _fits_block(value):
        return ["|-", *value.split("\n")]
    return [scalar(value)]


def _item(value: Value) -> list[str]:
    first, *rest = _block(value)
    # The lines of a literal block have to stand further in than the dash: one step does both.
    return [f"- {first}", *(f"{_STEP}{line}" if line else line for line in rest)]


def _fits_block(text: str) -> bool:
    """Whether several lines can stand as they are: nothing in them that a reader would trim, fold or refuse."""
    lines = text.split("\n")
    return (
        len(lines) > 1
        and lines[0] != ""
        and lines[-1] != ""
        and not any(line.startswith(" ") or line.isspace() for line in lines)
        and all(line.isprintable() for line in lines)
    )


def _quoted(text: str) -> str:
    """A double-quoted scalar: JSON's escapes, and YAML's for what a YAML reader does not take raw."""
    return '"' + "".join(_escaped(c) for c in text) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character == "\n":
        return "\\n"
    if character == "\t":
        return "\\t"
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
