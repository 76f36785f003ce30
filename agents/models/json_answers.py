"""Read the JSON that a chat model wrote, forgiving in form and strict in content.

Forgiven: a code fence, words before and after, a comma before a closing bracket, a byte order mark. Never guessed: a
value that was cut off, or one that does not fit its schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)```", re.DOTALL)
_OPENING = re.compile(r"[{\[]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A JSON value that fits."""

    data: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Unparsed:
    """No such value, and why: written for the model, which gets it with the next request."""

    reason: str


def read_json_answer(text: str, schema: Mapping[str, Any] | None = None) -> Parsed | Unparsed:
    """Return the first JSON object or list of `text` that fits `schema`.

    >>> read_json_answer('Here: ```json\\n{"a": [1, 2,],}\\n```')
    Parsed(data={'a': [1, 2]})
    """
    problem = "no JSON value found; answer with one JSON value and nothing else"
    for data in _values(text):
        if isinstance(data, Unparsed):
            problem = data.reason
            continue
        misfit = schema_problem(data.data, schema) if schema is not None else None
        if misfit is None:
            return data
        problem = misfit
    return Unparsed(reason=problem)


def schema_problem(data: Any, schema: Mapping[str, Any], at: str = "$") -> str | None:
    """Return the first place where `data` breaks `schema`, with what is accepted; `None` if it fits.

    Knows `type` (also a list of types), `enum`, `properties`, `required`, `additionalProperties: false`, `items`,
    `minItems`, `minimum`, `maximum`; other keywords are not checked.
    """
    kinds = schema.get("type")
    accepted = [kinds] if isinstance(kinds, str) else list(kinds or ())
    if accepted and not any(_is(data, kind) for kind in accepted):
        return f"{at} is {_kind(data)}; accepted: {' or '.join(accepted)}"
    if "enum" in schema and data not in schema["enum"]:
        return f"{at} is {data!r}; accepted: {', '.join(map(repr, schema['enum']))}"
    if isinstance(data, Mapping):
        return _object_problem(data, schema, at)
    if isinstance(data, list):
        return _list_problem(data, schema, at)
    if isinstance(data, int | float) and not isinstance(data, bool):
        low, high = schema.get("minimum"), schema.get("maximum")
        if (low is not None and data < low) or (high is not None and data > high):
            shown = (f"from {low}" if low is not None else "", f"up to {high}" if high is not None else "")
            return f"{at} is {data!r}; accepted: {' '.join(part for part in shown if part)}"
    return None


def _values(text: str) -> Iterator[Parsed | Unparsed]:
    """Yield what can be read, code fences first, since models put the answer there."""
    for body in (*(match[1] for match in _FENCE.finditer(text)), text):
        position = 0
        while (match := _OPENING.search(body, position)) is not None:
            end = _end_of(body, match.start())
            if end is None:
                yield Unparsed(
                    reason="the JSON value is cut off; answer with the whole value, shorter if need be"
                )
                break
            candidate = body[match.start() : end]
            try:
                data = json.loads(
                    _without_trailing_commas(candidate), strict=False, parse_constant=_refuse_constant
                )
                yield Parsed(data=data)
                position = end
            except ValueError as error:
                yield Unparsed(reason=f"not valid JSON: {error}")
                position = match.start() + 1


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _end_of(text: str, start: int) -> int | None:
    """Return where the value that opens at `start` closes; `None` if it never does."""
    depth = 0
    for position, character in _outside_strings(text, start):
        if character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
            if depth == 0:
                return position + 1
    return None


def _without_trailing_commas(text: str) -> str:
    drop: set[int] = set()
    comma: int | None = None
    for position, character in _outside_strings(text, 0):
        if character == ",":
            comma = position
        elif character in "}]" and comma is not None:
            drop.add(comma)
            comma = None
        elif not character.isspace():
            comma = None
    return "".join(character for position, character in enumerate(text) if position not in drop)


def _outside_strings(text: str, start: int) -> Iterator[tuple[int, str]]:
    """Yield the characters outside JSON strings; of a string only its closing quote."""
    inside = escaped = False
    for position in range(start, len(text)):
        character = text[position]
        if inside:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                inside = False
                yield position, character
        elif character == '"':
            inside = True
        else:
            yield position, character


def _object_problem(data: Mapping[str, Any], schema: Mapping[str, Any], at: str) -> str | None:
    properties: Mapping[str, Any] = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in data:
            return f"{at} lacks {name!r}; accepted: an object with {', '.join(map(repr, schema['required']))}"
    for name, value in data.items():
        if name in properties:
            problem = schema_problem(value, properties[name], f"{at}.{name}")
            if problem is not None:
                return problem
        elif schema.get("additionalProperties") is False:
            return f"{at} has the unknown {name!r}; accepted: {', '.join(map(repr, properties))}"
    return None


def _list_problem(data: Sequence[Any], schema: Mapping[str, Any], at: str) -> str | None:
    least = schema.get("minItems")
    if least is not None and len(data) < least:
        return f"{at} has {len(data)} entries; accepted: at least {least}"
    items = schema.get("items")
    for position, value in enumerate(data if items is not None else ()):
        problem = schema_problem(value, items or {}, f"{at}[{position}]")
        if problem is not None:
            return problem
    return None


_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}


def _is(data: Any, kind: str) -> bool:
    if isinstance(data, bool) and kind != "boolean":
        return False
    return isinstance(data, _KINDS.get(kind, (object,)))


def _kind(data: Any) -> str:
    return next((kind for kind in ("boolean", "integer", *_KINDS) if _is(data, kind)), type(data).__name__)
