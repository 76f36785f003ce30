"""How a plan writes ids, and how its texts refer to inputs and nodes: `{{port}}`, `{{node.port}}`."""

import re
from typing import Final, NamedTuple

from pydantic import JsonValue

from graphs.plan import NodeId

ID_PATTERN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
"""What a node id may look like; `/` and `.` are separators in thread keys and in references."""

_REFERENCE: Final = re.compile(r"\{\{\s*(?P<name>[^{}\s.]+)(?:\.(?P<port>[^{}\s]+))?\s*\}\}")


class Reference(NamedTuple):
    """One `{{name}}` or `{{name.port}}` of a text."""

    text: str
    """As written, braces included."""
    name: str
    port: str | None


def references(value: JsonValue) -> tuple[Reference, ...]:
    """Give the references in a text, or in every text of a JSON value, in reading order."""
    return tuple(
        Reference(text=match.group(0), name=match.group("name"), port=match.group("port"))
        for text in _texts(value)
        for match in _REFERENCE.finditer(text)
    )


def without_references(text: str) -> str:
    """Give a text with a space in place of each reference."""
    return _REFERENCE.sub(" ", text)


def rename_references(value: JsonValue, old: NodeId, new: NodeId, *, own: frozenset[str]) -> JsonValue:
    """Give the value with every reference to node `old` pointing to `new`.

    A bare `{{old}}` stays if the node itself has an input of that name (`own`), since it then means the input.

    >>> rename_references("Use {{n1.claims}}.", NodeId("n1"), NodeId("n7"), own=frozenset())
    'Use {{n7.claims}}.'
    """
    match value:
        case str():
            return _REFERENCE.sub(lambda found: _renamed(found, old, new, own), value)
        case list():
            return [rename_references(item, old, new, own=own) for item in value]
        case dict():
            return {key: rename_references(item, old, new, own=own) for key, item in value.items()}
        case _:
            return value


def _renamed(found: re.Match[str], old: NodeId, new: NodeId, own: frozenset[str]) -> str:
    if found.group("name") != old or (found.group("port") is None and old in own):
        return found.group(0)
    start, end = found.start("name") - found.start(), found.end("name") - found.start()
    return found.group(0)[:start] + new + found.group(0)[end:]


def _texts(value: JsonValue) -> list[str]:
    match value:
        case str():
            return [value]
        case list():
            return [text for item in value for text in _texts(item)]
        case dict():
            return [text for item in value.values() for text in _texts(item)]
        case _:
            return []
