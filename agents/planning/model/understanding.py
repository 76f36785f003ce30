"""How a model understands a goal: its words beside what the code read. Conditions of the goal are never the model's."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

from agents.planning.model.asking import Usable
from agents.planning.model.stated import is_stated
from agents.planning.model.steps import text_of, texts_of
from agents.planning.repairs import PlanRepair, RepairKind, repair
from agents.retrieval.tokens import terms
from graphs.contract import Ambiguity, Intent, Lang

MAX_AMBIGUITIES: Final = 5
"""Open points of a model that a review shows: more are noise to a person who has to answer each."""

STATED: Final = 0.5
"""Share of an objective's terms that stand in the goal, from which it is the goal's. Our choice: a paraphrase shares
half of its words."""

_NEGATES: Final = re.compile(
    r"\b(?:not|no|never|none|nor|neither|without|avoid|except|cannot|\w+n['’]t)\b|不|勿|别|未|无|没|禁|避免|除(?:了|外)",
    re.IGNORECASE,
)

FOREIGN_TERMS: Final = 3
"""Terms that an objective may have and the goal not, where they are the larger part: room for “find out”, and none for
names that a model spells out wrongly from memory. Our choice."""

MAX_LINES: Final = 8
"""Constraints and assumptions of a model, of each."""
_TOO_MANY: Final[Mapping[str, RepairKind]] = {
    "constraints": "too_many_constraints",
    "assumptions": "too_many_assumptions",
}

_NOTHING: Final = frozenset({"none", "n/a", "no constraints", "no assumptions", "无", "没有", "暂无"})
"""Words that a model puts where nothing is to be listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """An intent as a model states it."""

    objective: str
    """Empty: the model's said more than the goal."""
    constraints: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    ambiguities: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Each question with its readings; the first is assumed."""
    nothing_to_do: bool = False


def read_understanding(data: object, goal: str) -> Usable[Understanding] | str:
    """Return the understanding that an answer states; a text says what it lacks.

    A constraint has to be stated by the goal (`is_stated`): the model may find one that the code did not read, and add
    none.
    """
    if isinstance(data, list) and len(data) == 1:
        data = data[0]
    if not isinstance(data, dict):
        return "an object with `objective` was asked for"
    forms: list[str] = []
    objective = text_of(data.get("objective"), forms)
    if not objective:
        return "`objective` is missing or empty"
    found: list[PlanRepair] = []
    near = _stands_in(objective, goal) or len(set(terms(objective)) - set(terms(goal))) <= FOREIGN_TERMS
    own = near and (not _NEGATES.search(objective) or bool(_NEGATES.search(goal)))
    if not own:
        found.append(repair("objective", text=objective))
    lists = {
        name: tuple(
            text
            for text in texts_of(data.get(name), split=False, forms=forms, name=name)
            if text.casefold().rstrip(".。") not in _NOTHING
        )
        for name in ("constraints", "assumptions")
    }
    for name, kind in _TOO_MANY.items():
        if len(lists[name]) > MAX_LINES:
            found.append(repair(kind, n=str(len(lists[name])), kept=str(MAX_LINES)))
            lists[name] = lists[name][:MAX_LINES]
    stated = tuple(text for text in lists["constraints"] if is_stated(text, goal))
    found += [repair("constraint", text=text) for text in lists["constraints"] if text not in stated]
    points = _ambiguities(data.get("ambiguities"), found, forms)
    if len(points) > MAX_AMBIGUITIES:
        found.append(repair("too_many_points", n=str(len(points)), kept=str(MAX_AMBIGUITIES)))
        points = points[:MAX_AMBIGUITIES]
    if forms:
        found.insert(0, repair("form", what="intent", reason=", ".join(dict.fromkeys(forms))))
    return Usable(
        value=Understanding(
            objective=objective if own else "",
            constraints=stated,
            assumptions=lists["assumptions"],
            ambiguities=points,
            nothing_to_do=data.get("nothing_to_do") is True,
        ),
        repairs=tuple(found),
    )


def with_understanding(
    read: Intent, model: Understanding, lang: Lang, answered: Collection[str] = ()
) -> Intent:
    """Return the intent for the review: what the code read stands first, what the model adds is marked as its reading.

    `answered` are the questions of open points of the code that the model's plan answers.
    """
    own = tuple(point for point in read.ambiguities if point.question not in answered)
    asked = {point.question for point in own}
    taken = {point.id for point in own}
    free = (name for name in (f"a{number}" for number in count(1)) if name not in taken)
    added = [(question, options) for question, options in model.ambiguities if question not in asked]
    return Intent(
        objective=model.objective or read.objective,
        constraints=_together(read.constraints, model.constraints, lang),
        assumptions=_together(read.assumptions, model.assumptions, lang),
        ambiguities=(
            *own,
            *(
                Ambiguity(id=next(free), question=question, options=options, assumed=options[0])
                for question, options in added
            ),
        ),
    )


def _stands_in(text: str, goal: str) -> bool:
    wanted = set(terms(text))
    return bool(wanted) and len(wanted & set(terms(goal))) >= STATED * len(wanted)


def _together(read: Sequence[str], added: Sequence[str], lang: Lang) -> tuple[str, ...]:
    known = {" ".join(text.casefold().split()).rstrip(".。") for text in read}
    mark = "{} (the model's reading)" if lang == "en" else "{}（模型的理解）"
    new = [text for text in added if " ".join(text.casefold().split()).rstrip(".。") not in known]
    return (*read, *(mark.format(text) for text in new))


def _ambiguities(
    data: object, found: list[PlanRepair], forms: list[str]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    points: dict[str, tuple[str, ...]] = {}
    if data and not isinstance(data, list):
        forms.append("a single value for the list `ambiguities`")
        data = [data]
    for entry in data if isinstance(data, list) else ():
        point = entry if isinstance(entry, dict) else {"question": entry}
        question = text_of(point.get("question"), forms)
        if not question:
            if entry:
                found.append(repair("point_without_question"))
            continue
        if question in points:
            found.append(repair("question_twice", text=question))
            continue
        options = texts_of(point.get("options"), split=False, forms=forms, name="options")
        assumed = text_of(point.get("assumed"))
        if len(options) < 2:
            # With fewer than two readings there is nothing to ask.
            found.append(repair("ambiguity", reason=f"“{question}”: {len(options)} < 2"))
            continue
        if assumed not in options:
            if assumed:
                found.append(repair("ambiguity", reason=f"“{question}”: {assumed!r} → {options[0]!r}"))
            assumed = options[0]
        points[question] = (assumed, *(option for option in options if option != assumed))
    return tuple(points.items())
