"""Check the arguments of a proposed tool call against the tool's schema, before anything is performed.

The part of JSON schema that tool contracts use: an object with `properties` and `required`; per property `type`,
`enum`, `minimum`, `maximum`, `minLength`, `maxLength`. A tool checks what its schema can't say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (dict,),
    "null": (type(None),),
}


def argument_problems(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what is wrong with `arguments`, each with what is accepted; nothing when they fit `schema`."""
    return tuple(_problems(arguments, schema))


def _problems(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    properties: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
    accepted = ", ".join(sorted(properties)) or "none"
    for name in sorted(set(arguments) - set(properties)):
        yield f"unknown argument {name!r}; accepted: {accepted}"
    for name in sorted(set(schema.get("required", ())) - set(arguments)):
        yield f"argument {name!r} is missing"
    for name, value in arguments.items():
        if name in properties:
            yield from _value_problems(name, value, properties[name])


def _value_problems(name: str, value: Any, wanted: Mapping[str, Any]) -> Iterator[str]:
    kinds = wanted.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    if kinds and not any(_is_of(value, kind) for kind in kinds):
        yield f"argument {name!r} is {_shown(value)}; accepted: {' or '.join(kinds)}"
        return
    if "enum" in wanted and value not in wanted["enum"]:
        yield f"argument {name!r} is {_shown(value)}; accepted: {', '.join(map(repr, wanted['enum']))}"
    size, low, high = _measured(value, wanted)
    if size is not None and ((low is not None and size < low) or (high is not None and size > high)):
        what = "length" if isinstance(value, str) else "value"
        least, most = "any" if low is None else low, "any" if high is None else high
        yield f"argument {name!r} has the {what} {size!r}; accepted: from {least} to {most}"


def _is_of(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES.get(kind, (object,)))


def _measured(value: Any, wanted: Mapping[str, Any]) -> tuple[float | None, float | None, float | None]:
    if isinstance(value, str):
        return len(value), wanted.get("minLength"), wanted.get("maxLength")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value, wanted.get("minimum"), wanted.get("maximum")
    return None, None, None


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"
