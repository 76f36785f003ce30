"""Write docs/events.md from `orchestrator/core/events.py`: every event, its fields, their types and meanings.

    python -m tests.docs.event_catalogue        rewrite the page

`test_events_page.py` compares the page with what this module writes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Final, Literal, NewType, get_args, get_origin, get_type_hints

from orchestrator.core import events
from orchestrator.core.events import EVENT_SCHEMA, Body

ROOT: Final = Path(__file__).resolve().parents[2]
SOURCE: Final = ROOT / "orchestrator" / "core" / "events.py"
PAGE: Final = ROOT / "docs" / "events.md"

_HEAD: Final = """\
# Events of a run

<!-- Written by `python -m tests.docs.event_catalogue` from orchestrator/core/events.py. Do not edit by hand. -->

The log of a run is the only truth about it: its state, its report and every view are made from these events. They are
only ever appended. `maskgrad export RUN --format jsonl` prints them, `maskgrad watch RUN --jsonl` follows them, and
`maskgrad replay RUN --at SEQ` folds them up to one. One event is one JSON object:

| key | value |
| --- | --- |
| `v` | version of the event schema, {schema} at present; logs of older versions stay readable |
| `seq` | number of the event in its run: from 1, without gaps |
| `ts` | when it was recorded: ISO 8601, UTC |
| `run` | the run |
| `type` | one of the types below |
| `cause` | `seq` of the event that led to it, or null |
| `data` | the fields of its type |

A type in italics, such as *Proposal*, is a JSON object of the class of that name: see [Objects](#objects). `RunId` and
the like are strings: see [Ids](#ids).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Documented:
    """What the source says of a class."""

    summary: str
    fields: Mapping[str, str]
    """Docstrings under the fields, by name."""


def render() -> str:
    """Return the text of the page."""
    said = dict(_documented(SOURCE))
    bodies = get_args(Body)
    parts = [_HEAD.format(schema=EVENT_SCHEMA), _contents(bodies, said)]
    parts += [_section(body, said) for body in bodies]
    parts += [_shared(said), _ids()]
    return "\n".join(parts)


def tag_of(body: type[Any]) -> str:
    """Return the literal tag of an event body, e.g. `run.created`."""
    (tag,) = get_args(get_type_hints(body)["type"])
    return str(tag)


def _contents(bodies: tuple[type[Any], ...], said: Mapping[str, Documented]) -> str:
    rows = [f"| [`{tag_of(b)}`](#{_anchor(tag_of(b))}) | {said[b.__name__].summary} |" for b in bodies]
    return "\n".join(["| type | what happened |", "| --- | --- |", *rows, ""])


def _section(body: type[Any], said: Mapping[str, Documented]) -> str:
    about = said[body.__name__]
    lines = [f"## {tag_of(body)}", "", f"`{body.__name__}`: {about.summary}", ""]
    return "\n".join(lines + _table(body, about))


def _shared(said: Mapping[str, Documented]) -> str:
    """The objects that are defined next to the events, and where all others are."""
    lines = ["## Objects", ""]
    for name in ("ForkPoint", "SkippedFile"):
        lines += [f"*{name}*: {said[name].summary}", "", *_table(getattr(events, name), said[name])]
    homes = sorted({(cls.__name__, cls.__module__) for cls in _objects()} - {("ForkPoint", events.__name__)})
    lines += ["The shapes of the others are written down, field by field, in these files:", ""]
    lines += [
        f"- *{name}*: [`{_path(module)}`](../{_path(module)})"
        for name, module in homes
        if module != events.__name__
    ]
    return "\n".join([*lines, ""])


def _ids() -> str:
    """The ids that occur in the tables, each with what it identifies."""
    used = sorted(
        {
            (found.__name__, str(found.__module__))
            for body in get_args(Body)
            for hint in get_type_hints(body).values()
            for found in _parts(hint)
            if isinstance(found, NewType)
        }
    )
    rows = [f"| `{name}` | {_cell(dict(_name_texts(module))[name])} |" for name, module in used]
    return "\n".join(["## Ids", "", "| id | what it is |", "| --- | --- |", *rows, ""])


def _table(cls: type[Any], about: Documented) -> list[str]:
    shown = [field for field in fields(cls) if field.name != "type"]
    if not shown:
        return ["It has no fields.", ""]
    hints = get_type_hints(cls)
    rows = [
        f"| `{f.name}` | {_type(hints[f.name])}{_optional(f)} | {_cell(about.fields.get(f.name, ''))} |"
        for f in shown
    ]
    return ["| field | type | meaning |", "| --- | --- | --- |", *rows, ""]


def _optional(field: Field[Any]) -> str:
    if field.default is MISSING and field.default_factory is MISSING:
        return ""
    return f", default `{_json(field.default)}`" if field.default is not MISSING else ", may be empty"


def _json(value: object) -> str:
    return {"None": "null", "False": "false", "True": "true", "()": "[]"}.get(repr(value), repr(value))


def _type(hint: Any) -> str:
    """Return a type as a reader of the JSON sees it."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " \\| ".join(f"`{argument}`" for argument in arguments)
    if origin is tuple:
        return f"list of {_type(arguments[0])}"
    if origin is not None and _is_mapping(origin):
        return f"object: {_type(arguments[0])} → {_type(arguments[1])}"
    if arguments:
        return " \\| ".join("null" if argument is type(None) else _type(argument) for argument in arguments)
    if isinstance(hint, NewType):
        return f"`{hint.__name__}`"
    return _SCALARS.get(hint, f"*{getattr(hint, '__name__', hint)}*")


def _is_mapping(origin: Any) -> bool:
    return isinstance(origin, type) and issubclass(origin, Mapping)


_SCALARS: Final[Mapping[Any, str]] = {str: "string", int: "integer", float: "number", bool: "true or false"}


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading of these."""
    return heading.replace(".", "").lower()


def _path(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


def _objects() -> Iterator[type[Any]]:
    for body in get_args(Body):
        for hint in get_type_hints(body).values():
            yield from (part for part in _parts(hint) if is_dataclass(part) and isinstance(part, type))


def _parts(hint: Any) -> Iterator[Any]:
    """Yield a type and the types inside it."""
    yield hint
    for argument in get_args(hint):
        yield from _parts(argument)


def _documented(source: Path) -> Iterator[tuple[str, Documented]]:
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            summary = ast.get_docstring(node) or ""
            yield node.name, Documented(summary=_one_line(summary), fields=dict(_field_texts(node)))


def _field_texts(node: ast.ClassDef | ast.Module) -> Iterator[tuple[str, str]]:
    """Yield names of fields or constants with the docstring that stands under each."""
    for statement, after in zip(node.body, node.body[1:], strict=False):
        match statement, after:
            case (
                ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, _one_line(text)


def _name_texts(module: str) -> Iterator[tuple[str, str]]:
    return _field_texts(ast.parse((ROOT / _path(module)).read_text(encoding="utf-8")))


def _one_line(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
