"""Check a JSON value against a JSON schema (2020-12), as whoever wrote the value can act on it.

For everything that comes from outside as JSON: arguments of proposed tool calls, structured answers of models, answers
of persons. The whole of the standard is checked by the `jsonschema` library, for a keyword that is passed over would be
a gate left open. References to other documents are not followed: nothing is fetched.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

_SHOWN_CHARS: Final = 80
_BOUNDS: Final[Mapping[str, tuple[str, str, str]]] = {
    "minimum": ("is {shown}", "minimum", "maximum"),
    "maximum": ("is {shown}", "minimum", "maximum"),
    "minLength": ("has the length {size}", "minLength", "maxLength"),
    "maxLength": ("has the length {size}", "minLength", "maxLength"),
    "minItems": ("has {size} entries", "minItems", "maxItems"),
    "maxItems": ("has {size} entries", "minItems", "maxItems"),
}
"""Keywords that bound a size: how the size is told, and the two ends of what is accepted."""


def schema_problems(value: Any, schema: Mapping[str, Any], *, at: str = "$") -> tuple[str, ...]:
    """Return what is wrong with `value`, each with its place and what is accepted; nothing when it fits `schema`.

    `at` names the value itself in the places. A schema that can't be applied fits nothing.

    >>> schema_problems({"limit": 0}, {"properties": {"limit": {"type": "integer", "minimum": 1}}}, at="arguments")
    ('arguments.limit is 0; accepted: at least 1',)
    """
    try:
        errors = sorted(_validator(schema).iter_errors(value), key=lambda error: list(map(str, error.path)))
        return tuple(problem for error in errors for problem in _told(error, at))
    except Exception as error:  # noqa: BLE001 - a schema may be foreign; whatever is wrong with it, nothing passes
        return (f"{at} can't be checked, because its schema is broken: {_cut(str(error))}",)


def _validator(schema: Mapping[str, Any]) -> Any:
    kind, registry = _dialect()
    return kind(schema, registry=registry)


@cache
def _dialect() -> tuple[Any, Any]:
    # Imported at the first use: a tenth of a second that commands without a check don't pay.
    from jsonschema import Draft202012Validator  # noqa: PLC0415
    from jsonschema.validators import extend  # noqa: PLC0415
    from referencing import Registry  # noqa: PLC0415

    types = Draft202012Validator.TYPE_CHECKER.redefine("array", lambda _, one: isinstance(one, list | tuple))
    # The standard takes 2.0 for an integer; code that counts or slices with it does not.
    types = types.redefine("integer", lambda _, one: isinstance(one, int) and not isinstance(one, bool))
    return extend(Draft202012Validator, type_checker=types), Registry()


def _told(error: Any, at: str) -> Iterator[str]:
    where = at + error.json_path.removeprefix("$")
    schema, given, wanted = error.schema, error.instance, error.validator_value
    match error.validator:
        case "type":
            kinds = [wanted] if isinstance(wanted, str) else wanted
            yield f"{where} is {_cut(repr(given))}; accepted: {' or '.join(kinds)}"
        case "enum":
            yield f"{where} is {_cut(repr(given))}; accepted: {', '.join(map(repr, wanted))}"
        case "const":
            yield f"{where} is {_cut(repr(given))}; accepted: {wanted!r}"
        case "required":
            # One error per missing name; the library names it in words only.
            missing = next(name for name in wanted if error.message.startswith(repr(name)))
            yield f"{where}: {missing!r} is missing; accepted: an object with {', '.join(map(repr, wanted))}"
        case "additionalProperties" if wanted is False and "patternProperties" not in schema:
            known = schema.get("properties", {})
            names = ", ".join(map(repr, known)) or "none"
            for name in sorted(set(given) - set(known)):
                yield f"{where} has the unknown {name!r}; accepted: {names}"
        case "oneOf" | "anyOf" if error.context:
            yield from _told_of_nearest(error, at)
        case keyword if keyword in _BOUNDS:
            told, low, high = _BOUNDS[keyword]
            size = told.format(shown=_cut(repr(given)), size=len(given) if hasattr(given, "__len__") else "")
            yield f"{where} {size}; accepted: {_range(schema.get(low), schema.get(high))}"
        case keyword:
            yield f"{where} is {_cut(repr(given))}; accepted: {keyword} {_cut(json.dumps(wanted))}"


def _told_of_nearest(error: Any, at: str) -> Iterator[str]:
    """What is wrong by the form that comes nearest, of several accepted ones.

    Nearest is the one whose fixed values are there, then the one with the fewest problems.
    """
    forms: dict[object, list[Any]] = {}
    for each in error.context:
        forms.setdefault(each.schema_path[0], []).append(each)
    nearest = min(
        forms.values(), key=lambda found: (any(one.validator == "const" for one in found), len(found))
    )
    fixed = next((one for one in nearest if one.validator == "const"), None)
    if fixed is None:
        for each in nearest:
            yield from _told(each, at)
        return
    where = at + fixed.json_path.removeprefix("$")
    alike = [one for one in error.context if (one.validator, one.json_path) == ("const", fixed.json_path)]
    accepted = ", ".join(repr(one.validator_value) for one in alike)
    yield f"{where} is {_cut(repr(fixed.instance))}; accepted: {accepted}"


def _range(low: object, high: object) -> str:
    if low is None:
        return f"at most {high}"
    return f"at least {low}" if high is None else f"from {low} to {high}"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else text[: _SHOWN_CHARS - 1] + "…"
