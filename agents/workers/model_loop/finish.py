"""`finish`: the only way for a model to end its loop, with fields that code checks (003 2.1 and 4.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from agents.json_schema import schema_problems
from agents.models.contract import ToolOffer
from agents.prompts_loop import finish_words, no_claims_words, unnamed_words, wrong_question_words
from agents.tools.told import told_problems
from graphs.contract import Lang

FINISH: Final = "finish"

_QUESTION: Final = {"type": ["integer", "null"]}
_CLAIM: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "statement": {"type": "string", "minLength": 1},
        "excerpts": {"type": "array", "items": {"type": "string"}},
        "question": _QUESTION,
    },
    "required": ["statement", "excerpts"],
}
_OPEN: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"question": {"type": "integer"}, "why": {"type": "string", "minLength": 1}},
    "required": ["question", "why"],
}
_NEED: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"domain": {"type": "string"}, "question": _QUESTION},
    "required": ["domain"],
}
_ENTRIES: Final = {"claims": _CLAIM, "open_questions": _OPEN, "needs": _NEED}

FINISH_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "claims": {"type": "array", "items": _CLAIM},
        "complete": {"type": "boolean"},
        "open_questions": {"type": "array", "items": _OPEN},
        "needs": {"type": "array", "items": _NEED},
    },
    "required": ["claims", "complete", "open_questions"],
    "additionalProperties": False,
}
"""What a model hands over. `excerpts` names material by its number, `question` a question by its; `needs` names a
knowledge domain that it lacks, and the question that stays open without it (none: all do)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """What of a `finish` can be used, and what is wrong with it."""

    claims: tuple[Mapping[str, Any], ...] = ()
    complete: bool = False
    open_questions: tuple[Mapping[str, Any], ...] = ()
    needs: tuple[Mapping[str, Any], ...] = ()
    problems: tuple[str, ...] = ()
    """For the model, each with its place; none: it is accepted."""


def finish_offer(lang: Lang, questions: int = 0, *, rows: bool = False) -> ToolOffer:
    """Return `finish` as a model is told of it, for an order with so many `questions`; the same at each step.

    What is offered is narrower than what is read: a server that enforces the schema keeps a model from numbers that no
    excerpt and no question can have. `rows`: each claim says to which row of a table it belongs.
    """
    numbered = {"minimum": 1, "maximum": questions} if questions else {"type": "null"}
    question = {**_QUESTION, **numbered}
    claim = _with(_CLAIM, excerpts={"type": "array", "items": {"type": "string", "pattern": "^E[0-9]+$"}})
    claim = _with(claim, question=question)
    # What is not required a small model leaves out; the only question there is needs no number.
    required = [*claim["required"], *(["question"] if questions > 1 else [])]
    if rows:
        claim, required = _with(claim, row={"type": "string", "minLength": 1}), [*required, "row"]
    claim = {**claim, "required": required}
    need = _with(_NEED, question=question)
    schema = _with(
        FINISH_SCHEMA, claims={"type": "array", "items": claim}, needs={"type": "array", "items": need}
    )
    return ToolOffer(name=FINISH, description=finish_words(lang, rows=rows), input_schema=schema)


def _with(schema: Mapping[str, Any], **properties: Mapping[str, Any]) -> dict[str, Any]:
    return {**schema, "properties": {**schema["properties"], **properties}}


def read_finish(arguments: Mapping[str, Any], questions: Sequence[str], lang: Lang) -> Finish:
    """Return what `arguments` hand over; entries that fit are usable though others, or whole fields, are missing.

    What is wrong is said in `lang`.
    """
    found = schema_problems(dict(arguments), FINISH_SCHEMA, at=FINISH)
    problems = [told_problems(problem, lang) for problem in found]
    kept = {name: _fitting(arguments.get(name), schema) for name, schema in _ENTRIES.items()}
    if not problems:
        problems.extend(_unaddressed(kept, questions, lang))
    return Finish(
        claims=kept["claims"],
        complete=arguments.get("complete") is True,
        open_questions=kept["open_questions"],
        needs=kept["needs"],
        problems=tuple(problems),
    )


def _fitting(listed: object, schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    entries = listed if isinstance(listed, list | tuple) else ()
    return tuple(entry for entry in entries if not schema_problems(entry, schema))


def _unaddressed(
    kept: Mapping[str, tuple[Mapping[str, Any], ...]], questions: Sequence[str], lang: Lang
) -> tuple[str, ...]:
    """Return what is wrong with the question numbers: those of no question, and questions that nothing names."""
    numbers = range(1, len(questions) + 1)
    found: list[str] = []
    named: set[int] = set()
    for field in ("claims", "open_questions"):
        for position, entry in enumerate(kept[field]):
            number = entry.get("question")
            if number is None:
                continue
            if number in numbers:
                named.add(number)
            else:
                at = f"{FINISH}.{field}[{position}].question"
                found.append(wrong_question_words(at, number, len(questions), lang))
    # The only question there is needs no number.
    alone = len(questions) == 1 and bool(kept["claims"])
    missing = [number for number in numbers if number not in named and not alone]
    found.extend(unnamed_words(number, lang) for number in missing)
    if not questions and not kept["claims"] and not kept["open_questions"]:
        found.append(no_claims_words(f"{FINISH}.claims", lang))
    return tuple(found)
