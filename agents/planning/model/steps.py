"""Read what a model proposes as a plan: tolerant in form, strict in content.

Read all the same: a bare list, another name for a known field, parameters in an object of their own, a text where a
list was asked, a number where a text was asked. Never made up: an operation, a question, an item that the answer does
not hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue

from agents.planning.layout import MAX_WIDTH
from agents.planning.repairs import PlanRepair, repair
from graphs.linting.granularity import MAX_STEPS_PER_LEVEL

MAX_STEPS_READ: Final = 2 * MAX_WIDTH * MAX_STEPS_PER_LEVEL
"""Steps of one answer that are read: twice what a level may hold (003 2.1), so that joining can still mend it."""

MAX_TEXT: Final = 400
"""Characters of one text of a proposal; a longer one is cut."""

MAX_ENTRIES: Final = 75
"""Entries of one list of a proposal: as many questions as two levels hold (`agents.planning.layout`)."""

LISTS: Final = ("questions", "fields", "items", "aspects", "columns", "rows", "statements")
"""Parameters that are lists of texts."""

TEXTS: Final = ("topic", "item", "each", "subject")
"""Parameters that are one text."""

_SPLITTING: Final = frozenset({"fields", "items", "aspects", "columns", "rows"})
"""Lists of short names: a text in their place is read as names between commas."""

_ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("step_id", "name", "key", "step"),
    "operation": ("op", "action", "type", "kind"),
    "title": ("description", "label", "task", "goal", "aim", "what"),
    "after": ("depends_on", "dependencies", "depends", "inputs", "needs", "requires", "predecessors"),
    "domains": ("required_domains", "knowledge", "fields_of_knowledge", "domain"),
    "questions": ("question", "queries", "query"),
    "items": ("options", "things", "alternatives"),
    "aspects": ("criteria", "dimensions"),
    "statements": ("statement", "claims"),
    "topic": ("topics",),
}
_OPERATIONS: Final[Mapping[str, str]] = {
    "answer": "research", "search": "research", "find": "research", "研究": "research", "查找": "research",
    "回答": "research", "collect": "gather", "收集": "gather", "搜集": "gather", "summarize": "summarise",
    "summary": "summarise", "总结": "summarise", "概括": "summarise", "提取": "extract", "抽取": "extract",
    "verify": "check", "核查": "check", "检查": "check", "merge": "synthesise", "synthesize": "synthesise",
    "combine": "synthesise", "合并": "synthesise", "综合": "synthesise", "比较": "compare", "对比": "compare",
    "提纲": "outline", "报告": "report",
}  # fmt: skip
"""Other words for an operation. All of ours only read and compute, so a word read wrongly can do no harm."""

_NESTED: Final = ("params", "parameters", "args", "arguments", "details")
_BRACES = re.compile(r"\{\{|\}\}")
_COMMA = re.compile(r"\s*[,;，；、]\s*|\s*\n\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One proposed sub-task, as read."""

    id: str
    operation: str
    """Folded to lower case; not yet known to be an operation."""
    title: str
    params: Mapping[str, JsonValue] = field(default_factory=dict)
    after: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    """As named by the model."""
    given: tuple[str, ...] = ()
    """What it comes after outside of the steps that it was proposed with: an earlier stage, what feeds a region."""

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the list parameter `name`; empty where it is missing."""
        listed = self.params.get(name)
        return tuple(str(entry) for entry in listed) if isinstance(listed, list) else ()

    def text(self, name: str) -> str:
        """Return the text parameter `name`; empty where it is missing."""
        found = self.params.get(name)
        return found if isinstance(found, str) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSteps:
    """The steps of an answer, and what of its form was read all the same."""

    steps: tuple[Step, ...]
    repairs: tuple[PlanRepair, ...] = ()


def read_steps(data: object) -> ReadSteps | None:
    """Return the steps of an answer in the order written; `None` for one that holds no list of steps.

    An empty list is an answer. Entries that are no objects, or have neither operation nor title, are no steps.
    """
    forms: list[str] = []
    entries = entries_of(data, "steps", ("plan", "tasks", "subtasks", "sub_tasks", "nodes", "actions"), forms)
    if entries is None:
        return None
    steps = [step for number, entry in enumerate(entries, 1) if (step := _step(entry, number, forms))]
    repairs = []
    if len(steps) < len(entries):
        forms.append("entries without an operation")
    if len(steps) > MAX_STEPS_READ:
        repairs.append(repair("too_many_steps", n=str(len(steps)), kept=str(MAX_STEPS_READ)))
        steps = steps[:MAX_STEPS_READ]
    if forms:
        repairs.insert(0, repair("form", what="plan", reason=", ".join(dict.fromkeys(forms))))
    return ReadSteps(steps=tuple(steps), repairs=tuple(repairs))


def entries_of(
    data: object, name: str, others: Sequence[str], forms: list[str]
) -> list[dict[str, object]] | None:
    """Return the objects of the list that `data` is or holds under `name`; `None` where there is none.

    What was not as asked is added to `forms`.
    """
    listed: object = data
    if isinstance(data, dict):
        found = next((key for key in (name, *others) if isinstance(data.get(key), list | dict)), None)
        if found is not None:
            listed = data[found]
            if found != name:
                forms.append(f"`{found}` for `{name}`")
        elif _looks_like_one(data):
            listed = [data]
            forms.append("one object for a list")
        else:
            return None
    else:
        forms.append("a bare list")
    if isinstance(listed, dict):
        if _looks_like_one(listed):
            listed = [listed]
            forms.append("one object for a list")
        else:
            forms.append("an object for a list")
            listed = [
                {"id": key, **value} if isinstance(value, dict) else value for key, value in listed.items()
            ]
    if not isinstance(listed, list):
        return None
    objects = [entry for entry in listed if isinstance(entry, dict)]
    if len(objects) < len(listed):
        forms.append("entries that are no objects")
    return objects


def _looks_like_one(data: Mapping[str, object]) -> bool:
    return any(isinstance(data.get(name), str) for name in ("operation", "op", "title"))


def _step(entry: Mapping[str, object], number: int, forms: list[str]) -> Step | None:
    fields = _named(entry, forms)
    operation = text_of(fields.get("operation"))
    title = text_of(fields.get("title"), forms)
    if not operation:
        return None
    identifier = text_of(fields.get("id"))
    if not identifier:
        forms.append("a step without an id")
    elif not isinstance(fields.get("id"), str):
        forms.append("an id that is no text")
    params: dict[str, JsonValue] = {}
    for name in LISTS:
        found = texts_of(fields.get(name), split=name in _SPLITTING, forms=forms, name=name)
        if found:
            params[name] = list(found)
    for name in TEXTS:
        text = text_of(fields.get(name), forms)
        if text:
            params[name] = text
    if isinstance(fields.get("per_document"), bool):
        params["per_document"] = bool(fields["per_document"])
    word = operation.casefold().strip(" .`\"'")
    if word in _OPERATIONS:
        forms.append(f"`{word}` for `{_OPERATIONS[word]}`")
    return Step(
        id=identifier or f"t{number}",
        operation=_OPERATIONS.get(word, word),
        title=title,
        params=params,
        after=texts_of(fields.get("after"), split=True, forms=forms, name="after"),
        domains=texts_of(fields.get("domains"), split=True, forms=forms, name="domains"),
    )


def _named(entry: Mapping[str, object], forms: list[str]) -> dict[str, object]:
    """Return the fields under the names that we use; what stands in an object of parameters counts as its own."""
    flat = {str(key).strip().casefold(): value for key, value in entry.items()}
    for name in _NESTED:
        inner = flat.pop(name, None)
        if isinstance(inner, dict):
            forms.append(f"`{name}`")
            flat = {**{str(key).casefold(): value for key, value in inner.items()}, **flat}
    for name, others in _ALIASES.items():
        if _empty(flat.get(name)):
            found = next((other for other in others if not _empty(flat.get(other))), None)
            if found is not None:
                flat[name] = flat[found]
                forms.append(f"`{found}` for `{name}`")
    return flat


def _empty(value: object) -> bool:
    return value is None or value in ("", [], {})


def text_of(value: object, forms: list[str] | None = None) -> str:
    """Return a proposed value as one clean line of at most `MAX_TEXT` characters; empty where it is no text.

    Double braces, which refer to inputs in a plan, and characters that don't print are taken out. That a longer text
    was cut is added to `forms`.
    """
    match value:
        case bool() | None:
            return ""
        case str() | int() | float():
            plain = "".join(c if c.isprintable() else " " for c in _BRACES.sub("", str(value)))
            line = " ".join(plain.split())
            if len(line) > MAX_TEXT and forms is not None:
                forms.append(f"a text of more than {MAX_TEXT} characters")
            return line[:MAX_TEXT].strip()
        case [only]:
            return text_of(only, forms)
        case dict():
            named = ("text", "question", "name", "id", "title", "statement", "value")
            return next((text_of(value[key], forms) for key in named if not _empty(value.get(key))), "")
        case _:
            return ""


def texts_of(value: object, *, split: bool, forms: list[str], name: str) -> tuple[str, ...]:
    """Return a proposed list of texts, each once, in order; `split` reads a text as names between commas."""
    if _empty(value):
        return ()
    match value:
        case list():
            parts: Iterator[str] = (text_of(entry, forms) for entry in value)
        case dict():
            forms.append(f"an object for the list `{name}`")
            parts = (text_of(entry, forms) for entry in value.values())
        case str():
            forms.append(f"a text for the list `{name}`")
            parts = (text_of(part, forms) for part in (_COMMA.split(value) if split else [value]))
        case _:
            forms.append(f"a single value for the list `{name}`")
            parts = iter((text_of(value, forms),))
    listed = tuple(dict.fromkeys(part for part in parts if part))
    if len(listed) > MAX_ENTRIES:
        forms.append(f"more than {MAX_ENTRIES} entries in the list `{name}`")
    return listed[:MAX_ENTRIES]
