"""State how a goal was understood: objective, constraints, assumptions, points left open (specification 2.1)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final, Literal, assert_never

from agents.planning.conditions import forbidden_subjects
from agents.planning.readings import (
    CheckTask,
    CompareTask,
    ExtractTask,
    OutlineTask,
    Reading,
    ResearchTask,
    SummariseTask,
    Task,
    UnclearTask,
)
from agents.planning.wording import counted_noun, listing, say
from graphs.contract import FORBIDDEN_DOMAIN_PREFIX, Ambiguity, Goal, Intent, Lang
from masks.domains import DomainId, DomainRegistry
from masks.errors import UnknownDomain

_NAMES_KNOWLEDGE = re.compile(r"\b(?:knowledge|domains?|fields?|expertise)\b|知识|领域|学科", re.IGNORECASE)

_NOUNS: Final = {
    "legal": "law", "juridical": "law", "medical": "medicine", "clinical": "medicine", "financial": "finance",
    "economic": "economics", "fiscal": "tax", "chemical": "chemistry", "physical": "physics", "biological": "biology",
    "mathematical": "mathematics", "environmental": "environment", "political": "politics", "historical": "history",
    "educational": "education", "psychological": "psychology", "geographical": "geography", "technical": "engineering",
}  # fmt: skip
"""The noun of an adjective that people put before "knowledge"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prohibitions:
    """What a goal forbids."""

    domains: tuple[DomainId, ...]
    """Knowledge domains of the registry, in the order named."""
    words: tuple[str, ...]
    """What names no domain, as typed."""

    def entries(self) -> tuple[str, ...]:
        """Return the entries of `TaskContract.forbidden`."""
        return (*(f"{FORBIDDEN_DOMAIN_PREFIX}{domain}" for domain in self.domains), *self.words)


def resolve_prohibitions(texts: Sequence[str], registry: DomainRegistry) -> Prohibitions:
    """Find the knowledge domains that prohibitions name; the rest is kept in words.

    A text `domain:<id>` names a domain directly; an id that the registry does not know raises `UnknownDomain`.
    """
    domains: list[DomainId] = []
    words: list[str] = []
    for text in texts:
        if text.startswith(FORBIDDEN_DOMAIN_PREFIX):
            domains.append(registry.resolve(text.removeprefix(FORBIDDEN_DOMAIN_PREFIX)))
            continue
        subjects = forbidden_subjects(text)
        found = [_resolved(subject, registry) for subject in subjects]
        domains.extend(domain for domain in found if domain is not None)
        if not subjects or None in found:
            words.append(text)
    return Prohibitions(domains=tuple(dict.fromkeys(domains)), words=tuple(dict.fromkeys(words)))


PointKind = Literal["sources", "task", "items", "aspects", "rows", "action", "forbidden"]
"""What a goal can leave open.

- `sources`: which notes are searched.
- `task`: what is to be done with what it names.
- `items`, `aspects`: what is compared, and on what.
- `rows`: what gets a row of a table.
- `action`: what becomes of an action in the world.
- `forbidden`: which knowledge domain a prohibition means.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPoint:
    """One thing that a goal leaves open."""

    kind: PointKind
    question: str
    options: tuple[str, ...]
    """Its readings; the first is assumed."""
    subject: str = ""
    """The words of the goal that it is about."""


def state_intent(
    goal: Goal, reading: Reading, prohibitions: Prohibitions, settled: Sequence[Ambiguity] = ()
) -> Intent:
    """Return the intent that the review shows; `settled` are points that the user has decided."""
    return Intent(
        objective=_objective(goal, reading),
        constraints=(*reading.constraints, *reading.prohibitions),
        assumptions=_assumptions(goal, reading),
        ambiguities=_numbered(open_points(goal, reading, prohibitions), settled),
    )


def _objective(goal: Goal, reading: Reading) -> str:
    aims = [_aim(task, goal.lang) for task in reading.tasks]
    if not aims:
        return " ".join(goal.text.split())
    if goal.lang == "zh":
        return "；".join(aims) + "。"
    sentence = "; ".join(aims) + "."
    return sentence[0].upper() + sentence[1:]


def _aim(task: Task, lang: Lang) -> str:
    match task:
        case ResearchTask():
            return say(
                "aim_research",
                lang,
                n=len(task.questions),
                questions=counted_noun(len(task.questions), "question"),
            )
        case CompareTask():
            aim = say(
                "aim_compare", lang, items=listing(task.items, lang), aspects=listing(task.aspects, lang)
            )
            return f"{aim} ({task.scope})" if task.scope else aim
        case SummariseTask():
            shown = "each_note" if task.per_document else "all_notes"
            return say("aim_summarise", lang, text=listing(task.topics, lang) or say(shown, lang))
        case ExtractTask():
            return say("aim_extract", lang, text=listing(task.columns, lang))
        case CheckTask():
            if task.statements:
                return say(
                    "aim_check",
                    lang,
                    n=len(task.statements),
                    statements=counted_noun(len(task.statements), "statement"),
                )
            return say("aim_check_document", lang, text=task.document)
        case OutlineTask():
            return say("aim_outline", lang, text=task.title)
        case UnclearTask():
            return say("aim_unclear", lang, text=task.topic)
        case _:
            assert_never(task)


def _assumptions(goal: Goal, reading: Reading) -> tuple[str, ...]:
    found = [say("assume_sources", goal.lang)] if reading.tasks else []
    for carried in reading.carried:
        key = "assume_carried" if carried.pronoun else "assume_omitted"
        found.append(
            say(
                key,
                goal.lang,
                question=carried.question,
                pronoun=carried.pronoun,
                referent=carried.referent,
            )
        )
    return tuple(found)


def open_points(goal: Goal, reading: Reading, prohibitions: Prohibitions) -> tuple[OpenPoint, ...]:
    """Return what the goal leaves open, in the order of its tasks."""
    if not reading.tasks:
        return ()
    lang = goal.lang
    found = [_point("sources", lang)] if not goal.sources else []
    for task in reading.tasks:
        if isinstance(task, UnclearTask):
            found.append(_point("items" if task.comparison else "task", lang, task.topic))
        elif isinstance(task, CompareTask) and task.assumed_aspects:
            found.append(_point("aspects", lang, best=listing(task.aspects, lang)))
        elif isinstance(task, ExtractTask) and not task.rows:
            found.append(_point("rows", lang, best=task.each or say("each_row", lang)))
    found.extend(_point("action", lang, verb) for verb in reading.actions)
    found.extend(
        _point("forbidden", lang, words) for words in prohibitions.words if _NAMES_KNOWLEDGE.search(words)
    )
    return tuple(found)


def _point(kind: PointKind, lang: Lang, subject: str = "", best: str = "") -> OpenPoint:
    number = 3 if kind == "task" else 2
    options = [say(f"ask_{kind}_{n}", lang) for n in range(2 if best else 1, number + 1)]
    return OpenPoint(
        kind=kind,
        question=say(f"ask_{kind}", lang, text=subject),
        options=((best,) if best else ()) + tuple(options),
        subject=subject,
    )


def _numbered(points: Sequence[OpenPoint], settled: Sequence[Ambiguity]) -> tuple[Ambiguity, ...]:
    """Return what is settled as it is, then the open points under ids that are free."""
    decided = {ambiguity.question for ambiguity in settled}
    taken = {ambiguity.id for ambiguity in settled}
    free = (name for name in (f"a{number}" for number in count(1)) if name not in taken)
    return (
        *settled,
        *(
            Ambiguity(id=next(free), question=p.question, options=p.options, assumed=p.options[0])
            for p in points
            if p.question not in decided
        ),
    )


def _resolved(subject: str, registry: DomainRegistry) -> DomainId | None:
    for name in (subject, _NOUNS.get(subject.casefold(), "")):
        try:
            if name:
                return registry.resolve(name)
        except UnknownDomain:
            continue
    return None
