"""State how a goal was understood: objective, constraints, assumptions, points left open (specification 2.1)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, assert_never

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
from agents.planning.wording import count, listing, say
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


def state_intent(goal: Goal, reading: Reading, prohibitions: Prohibitions) -> Intent:
    """Return the intent that the review shows."""
    return Intent(
        objective=_objective(goal, reading),
        constraints=(*reading.constraints, *reading.prohibitions),
        assumptions=_assumptions(goal, reading),
        ambiguities=_numbered(_ambiguities(goal, reading, prohibitions)),
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
                "aim_research", lang, n=len(task.questions), questions=count(len(task.questions), "question")
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
                    statements=count(len(task.statements), "statement"),
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


def _ambiguities(
    goal: Goal, reading: Reading, prohibitions: Prohibitions
) -> list[tuple[str, tuple[str, ...]]]:
    """Return the open points, each with its readings; the first is assumed."""
    lang = goal.lang
    found: list[tuple[str, tuple[str, ...]]] = []
    if not reading.tasks:
        return found
    if not goal.sources:
        found.append((say("ask_sources", lang), (say("ask_sources_1", lang), say("ask_sources_2", lang))))
    for task in reading.tasks:
        if isinstance(task, UnclearTask) and task.comparison:
            question = say("ask_items", lang, text=task.topic)
            found.append((question, (say("ask_items_1", lang), say("ask_items_2", lang))))
        elif isinstance(task, UnclearTask):
            question = say("ask_task", lang, text=task.topic)
            found.append((question, tuple(say(f"ask_task_{n}", lang) for n in (1, 2, 3))))
        elif isinstance(task, CompareTask) and task.assumed_aspects:
            found.append(
                (say("ask_aspects", lang), (listing(task.aspects, lang), say("ask_aspects_2", lang)))
            )
        elif isinstance(task, ExtractTask) and not task.rows:
            each = task.each or say("each_row", lang)
            found.append((say("ask_rows", lang), (each, say("ask_rows_2", lang))))
    for verb in reading.actions:
        question = say("ask_action", lang, text=verb)
        found.append((question, (say("ask_action_1", lang), say("ask_action_2", lang))))
    for words in prohibitions.words:
        if _NAMES_KNOWLEDGE.search(words):
            question = say("ask_forbidden", lang, text=words)
            found.append((question, (say("ask_forbidden_1", lang), say("ask_forbidden_2", lang))))
    return found


def _numbered(points: Sequence[tuple[str, tuple[str, ...]]]) -> tuple[Ambiguity, ...]:
    return tuple(
        Ambiguity(id=f"a{number}", question=question, options=options, assumed=options[0])
        for number, (question, options) in enumerate(points, 1)
    )


def _resolved(subject: str, registry: DomainRegistry) -> DomainId | None:
    for name in (subject, _NOUNS.get(subject.casefold(), "")):
        try:
            if name:
                return registry.resolve(name)
        except UnknownDomain:
            continue
    return None
