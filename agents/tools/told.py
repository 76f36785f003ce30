"""Say in another language what the program's own tools and checks say.

Results, refusals and contracts of tools hold one text each, in English, whoever made the tool; that is what is
recorded, so that a log is the same whoever reads it. Where such a text is shown, to a model in the goal's language or
to a person in theirs, it is recognised by the tables of `agents.tools.texts`. What a user's tool, a server or a
document says is in none of them and stays as it was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from agents.models.contract import ToolOffer
from agents.tools.contract import ToolError, ToolOk, ToolResult, ToolSpec
from agents.tools.texts.calls import OFFERS, ORDERS, OUTCOMES, PROBLEMS, REFUSALS
from agents.tools.texts.contract import NUMBER, QUOTED, TOLD, WORD, Texts
from agents.tools.texts.descriptions import DESCRIPTIONS
from agents.tools.texts.files import DRAFTS, FILES, PATHS
from agents.tools.texts.material import CALCULATIONS, NOTES, RESULTS, TABLES
from agents.tools.texts.outside import FETCHES, FOREIGN
from graphs.contract import Lang

TABLES_OF_TEXTS: Final[tuple[Texts, ...]] = (
    REFUSALS,
    OUTCOMES,
    OFFERS,
    ORDERS,
    DESCRIPTIONS,
    PATHS,
    FILES,
    DRAFTS,
    NOTES,
    TABLES,
    CALCULATIONS,
    RESULTS,
    FETCHES,
    FOREIGN,
)
"""All texts that are recognised as a whole."""

_NUMBER: Final = re.compile(r"-?[0-9][0-9.e+-]*")
_DEEPEST: Final = 6
"""Texts within texts: a hint on a truncated result of a server that says why."""


@dataclass(frozen=True, slots=True)
class _Form:
    """An English text taken apart, and the text of another language."""

    literals: tuple[str, ...]
    """Around and between the names, in order; one more than there are names."""
    names: tuple[str, ...]
    words: str

    def values(self, text: str) -> dict[str, str] | None:
        """Return what stands for the names in `text`, `None` when it is another text. In linear time."""
        first, last = self.literals[0], self.literals[-1]
        if not self.names:
            return {} if text == first else None
        if len(text) < len(first) + len(last) or not text.startswith(first) or not text.endswith(last):
            return None
        end = len(text) - len(last)
        at, found = len(first), list[str]()
        for literal in self.literals[1:-1]:
            # The leftmost place: if the others fit behind any place, they fit behind this one.
            place = text.find(literal, at, end)
            if place < 0:
                return None
            found.append(text[at:place])
            at = place + len(literal)
        found.append(text[at:end])
        values = dict(zip(self.names, found, strict=True))
        return values if all(_fits(name, value) for name, value in values.items()) else None


def _fits(name: str, value: str) -> bool:
    if name in QUOTED:
        return value[:1] in ("'", '"')
    if name in WORD:
        return bool(value) and not any(map(str.isspace, value))
    return bool(_NUMBER.fullmatch(value)) if name in NUMBER else bool(value)


def told(text: str, lang: Lang) -> str:
    """Return `text` in `lang` where it is one of the program's own, else as it is.

    >>> told("no tool 'x'; available: none", "zh")
    "没有工具 'x'；可用：无"
    >>> told("Der Server ist müde", "zh")
    'Der Server ist müde'
    """
    return text if lang == "en" else _told(text, lang, 0)


def told_problems(text: str, lang: Lang) -> str:
    """Return what is wrong with a value by its schema, as `agents.json_schema` says it, in `lang`.

    >>> told_problems("arguments.limit is 0; accepted: at least 1", "zh")
    '`arguments.limit` 为 0；可接受：至少 1'
    """
    if lang == "en":
        return text
    said = ""
    for part in text.split("; "):
        own = _own(part, _parts(lang), lang, _DEEPEST)
        said += part if not said else f"；{own}" if own is not None else f"; {part}"
        if own is not None and said == part:
            said = own
    return said


def told_result(result: ToolResult, lang: Lang) -> ToolResult:
    """Return a result with its words in `lang`; its data stays as it is."""
    match result:
        case ToolOk(summary=summary):
            return replace(result, summary=told(summary, lang))
        case ToolError(message=message):
            return replace(result, message=told(message, lang))


def told_summary(summary: str, lang: Lang, *, ok: bool) -> str:
    """Return what a log says of a call of a tool, in `lang`: its summary, or the kind of its error and a message."""
    if ok:
        return told(summary, lang)
    kind, colon, message = summary.partition(": ")
    return f"{kind}：{told(message, lang)}" if colon and lang == "zh" else summary


def told_spec(spec: ToolSpec, lang: Lang) -> ToolSpec:
    """Return the contract of a tool with its words in `lang`."""
    if lang == "en":
        return spec
    return replace(
        spec,
        purpose=told(spec.purpose, lang),
        when_to_use=told(spec.when_to_use, lang),
        when_not_to_use=told(spec.when_not_to_use, lang),
        scope=told(spec.scope, lang),
        input_schema=_described(spec.input_schema, lang),
    )


def offer_of(spec: ToolSpec, lang: Lang) -> ToolOffer:
    """Return a tool as a model is told of it: what for, when, when not, and what comes of it."""
    spec = told_spec(spec, lang)
    parts = [
        spec.purpose,
        OFFERS["use"][lang].format(when=spec.when_to_use),
        OFFERS["not"][lang].format(when=spec.when_not_to_use),
    ]
    if spec.side_effect != "read":
        parts.append(OFFERS["changes"][lang])
    return ToolOffer(name=spec.name, description="\n".join(parts), input_schema=spec.input_schema)


def _described(schema: Mapping[str, Any], lang: Lang) -> Mapping[str, Any]:
    """Return the schema of an object with the descriptions of its properties in `lang`."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return schema
    said = {
        name: {**each, "description": told(each["description"], lang)}
        if isinstance(each, Mapping) and isinstance(each.get("description"), str)
        else each
        for name, each in properties.items()
    }
    return {**schema, "properties": said}


def _told(text: str, lang: Lang, depth: int) -> str:
    return _own(text, _wholes(lang), lang, depth) or text


def _own(text: str, forms: tuple[_Form, ...], lang: Lang, depth: int) -> str | None:
    for form in forms:
        values = form.values(text)
        if values is not None:
            for name in values.keys() & TOLD if depth < _DEEPEST else ():
                values[name] = _told(values[name], lang, depth + 1)
            if "problems" in values:
                values["problems"] = told_problems(values["problems"], lang)
            return form.words.format(**values)
    return None


@cache
def _wholes(lang: Lang) -> tuple[_Form, ...]:
    return _forms(TABLES_OF_TEXTS, lang)


@cache
def _parts(lang: Lang) -> tuple[_Form, ...]:
    return _forms((PROBLEMS,), lang)


def _forms(tables: tuple[Texts, ...], lang: Lang) -> tuple[_Form, ...]:
    """Return the forms of all texts, those with most words of their own first: they say most precisely what it is."""

    def each() -> Iterator[_Form]:
        for table in tables:
            for words in table.values():
                pieces = re.split(r"\{(\w+)\}", words["en"])
                yield _Form(tuple(pieces[::2]), tuple(pieces[1::2]), words[lang])

    return tuple(sorted(each(), key=lambda form: -sum(map(len, form.literals))))
