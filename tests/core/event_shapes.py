"""The shape of each stored event body, as a fingerprint: `python -m tests.core.event_shapes` prints those of today.

Into `tests/core/fixtures/shapes-v<EVENT_SCHEMA>.json` it goes only together with a new `EVENT_SCHEMA` and a stored log
of it (`tests.core.recorded`): what older versions looked like stays what it was.
"""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any, get_args

from pydantic import TypeAdapter

from orchestrator.core.events import Body

_WORDS = frozenset({"title", "description"})
"""What a JSON schema says for people."""


def shapes() -> dict[str, str]:
    """Return, per type of event, 16 hex digits over names, types, values accepted and defaults of all its fields."""
    return {
        kind: hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:16]
        for kind, document in sorted(documents().items())
    }


def documents() -> dict[str, Any]:
    """Return, per type of event, the JSON schema that its fingerprint is made from: of what it holds, too."""
    found = {}
    for body in get_args(Body):
        schema = TypeAdapter(body).json_schema(mode="serialization")
        found[str(schema["properties"]["type"]["const"])] = _bare(schema)
    return found


def _bare(schema: Any) -> Any:
    """A schema without words; a field that is called like one of them stays."""
    match schema:
        case dict():
            return {
                name: {field: _bare(inner) for field, inner in value.items()}
                if name in ("properties", "$defs")
                else sorted(value)
                if name == "required"
                else _bare(value)
                for name, value in schema.items()
                if name not in _WORDS
            }
        case list():
            return [_bare(inner) for inner in schema]
        case _:
            return schema


if __name__ == "__main__":
    sys.stdout.write(json.dumps(shapes(), indent=2) + "\n")
