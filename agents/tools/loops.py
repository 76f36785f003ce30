"""Recognise actions that go round in circles. Pure: what is done about it is for the loop and the broker to say."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NewType

ActionKey = NewType("ActionKey", str)
"""Identifies an action: equal for the same tool, the same arguments and the same state of what it reads."""

ALTERNATION: Final = 4
"""Actions of the shortest circle of two: A B A B (000 7.4)."""


def action_key(
    tool: str,
    arguments: Mapping[str, Any],
    source_version: str | None = None,
    *,
    schema: Mapping[str, Any] | None = None,
) -> ActionKey:
    """Return the key of an action (003 2.4, 000 7.4).

    Arguments count in any order; with the tool's `schema`, one that is spelled out as its default counts as left out.
    An action on a source of another version is another action. `arguments` are JSON values.

    >>> schema = {"properties": {"limit": {"default": 5}}}
    >>> action_key("s", {"q": "a", "limit": 5}, schema=schema) == action_key("s", {"q": "a"}, schema=schema)
    True
    """
    properties = (schema or {}).get("properties", {})
    given = {
        name: value
        for name, value in arguments.items()
        if not _is_default(value, properties.get(name) if isinstance(properties, Mapping) else None)
    }
    return ActionKey(json.dumps([tool, given, source_version], sort_keys=True, ensure_ascii=False))


def alternates(actions: Sequence[ActionKey]) -> bool:
    """Return whether the newest of `actions` close a circle of two different ones: A B A B.

    >>> [alternates([ActionKey(key) for key in keys]) for keys in ("ABAB", "AAAA", "ABBA", "XABAB", "BAB")]
    [True, False, False, True, False]
    """
    if len(actions) < ALTERNATION:
        return False
    first, second, third, fourth = actions[-ALTERNATION:]
    return first == third and second == fourth and first != second


def _is_default(value: Any, described: Any) -> bool:
    if not isinstance(described, Mapping) or "default" not in described:
        return False
    default = described["default"]
    return type(value) is type(default) and bool(value == default)
