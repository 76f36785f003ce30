"""Read the JSON that a chat model wrote, forgiving in form and strict in content.

Forgiven: a code fence, words before and after, a comma before a closing bracket, a byte order mark. Never guessed: a
value that was cut off, or one that does not fit its schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from agents.json_schema import schema_problems

MOST_MISFITS: Final = 5
"""Of an answer that breaks its schema, told to the model at a time: a list of all could be as long as the answer."""

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
        misfits = schema_problems(data.data, schema) if schema is not None else ()
        if not misfits:
            return data
        problem = "; ".join(misfits[:MOST_MISFITS])
    return Unparsed(reason=problem)


def read_whole_json(text: str) -> Parsed | Unparsed:
    """Return the outermost JSON object or list of `text`, whatever its schema; never a part of one that is broken.

    >>> read_whole_json('Here: {"steps": [{"id": "a"}, {"id": "b", "after": {"a"}}]}').reason[:15]
    'not valid JSON:'
    """
    for body in (*(match[1] for match in _FENCE.finditer(text)), text):
        opening = _OPENING.search(body)
        if opening is None:
            continue
        end = _end_of(body, opening.start())
        if end is None:
            return Unparsed(
                reason="the JSON value is cut off; answer with the whole value, shorter if need be"
            )
        whole = _without_trailing_commas(body[opening.start() : end])
        try:
            return Parsed(data=json.loads(whole, strict=False, parse_constant=_refuse_constant))
        except ValueError as error:
            return Unparsed(reason=f"not valid JSON: {error}")
    return Unparsed(reason="no JSON value found; answer with one JSON value and nothing else")


def read_arguments(text: str) -> Mapping[str, Any] | None:
    """Return the JSON object that `text` is, but for a code fence around it and trailing commas; `None` for else.

    Nothing is looked for in other words, and nothing is completed: a call is made with its arguments.

    >>> read_arguments('```json\\n{"q": "x",}\\n```'), read_arguments('{"q": "x"} or so'), read_arguments('{"q": "x')
    ({'q': 'x'}, None, None)
    """
    fenced = _FENCE.fullmatch(text.strip())
    try:
        value = json.loads(
            _without_trailing_commas(fenced[1] if fenced is not None else text),
            strict=False,
            parse_constant=_refuse_constant,
        )
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


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
