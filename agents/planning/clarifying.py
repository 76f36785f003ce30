"""Read a goal as the user decided the points that it leaves open. A decision is the user's own word.

A decision about a point that code reads changes the reading; one about a point that only a model sees changes nothing
here: the model is told of it. Either stands in the intent, as the one reading that is left.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal, assert_never

from agents.planning.intent import OpenPoint, open_points, resolve_prohibitions
from agents.planning.reading import read_goal
from agents.planning.readings import CompareTask, ExtractTask, Reading, Task, UnclearTask
from graphs.contract import FORBIDDEN_DOMAIN_PREFIX, Ambiguity, Goal, Intent, Lang
from masks.domains import DomainRegistry

NotDecidedCode = Literal["needs_words", "unread", "sources"]

_WORDLESS: Final = frozenset({"task", "items", "aspects", "rows", "forbidden"})
"""Points of which every reading but the first names nothing yet: it takes the user's words."""

_LIST = re.compile(r"\s*(?:,\s*and\s|,|;|，|；|、|\n|\band\b|\bor\b|以及|和|与|及|或)\s*", re.IGNORECASE)


class NotDecided(ValueError):
    """A decision that can't be planned with. The caller shows `message`; the user decides otherwise."""

    def __init__(self, code: NotDecidedCode, question: str, answer: str) -> None:
        self.code = code
        self.question = question
        self.answer = answer
        super().__init__(self.message("en"))

    def message(self, lang: Lang) -> str:
        """Return what is accepted, in `lang`."""
        english, chinese = _MESSAGES[self.code]
        return (english if lang == "en" else chinese).format(question=self.question, answer=self.answer)


_MESSAGES: Final = {
    "needs_words": (
        "“{answer}” leaves open which; say it in your words with --text (the question: {question})",
        "“{answer}”尚未说明具体内容；请用 --text 写明（问题：{question}）",
    ),
    "unread": (
        "{answer!r} was not understood as an answer to: {question} Accepted: for a task, a question or an instruction; "
        "for things or aspects, names between commas (two or more things)",
        "无法将 {answer!r} 理解为对该问题的回答：{question} 可接受：任务——一个问题或指令；对象或方面——用顿号或逗号"
        "隔开的名称（对象至少两个）",
    ),
    "sources": (
        "a run's notes are set when it is drafted; draft it anew with: maskgrad plan GOAL --sources DIR",
        "运行所用的笔记在起草时确定；请重新起草：maskgrad plan 目标 --sources 文件夹",
    ),
}


def settle(ambiguity: Ambiguity, answer: str) -> Ambiguity:
    """Return the point as decided: `answer` is the one reading that is left."""
    return replace(ambiguity, options=(answer,), assumed=answer)


def settled_points(intent: Intent) -> tuple[Ambiguity, ...]:
    """Return the points of an intent that the user has decided, in order."""
    return tuple(ambiguity for ambiguity in intent.ambiguities if ambiguity.settled)


def as_decided(
    goal: Goal, reading: Reading, settled: Sequence[Ambiguity], registry: DomainRegistry
) -> Reading:
    """Return the reading of `goal` under the user's decisions, one after the other.

    Raises `NotDecided` for a decision that says nothing to plan with, and `UnknownDomain` for a prohibition that was
    said to mean a domain which the registry does not know.
    """
    for decision in settled:
        prohibitions = resolve_prohibitions(reading.prohibitions, registry)
        points = open_points(goal, reading, prohibitions)
        point = next((p for p in points if p.question == decision.question), None)
        if point is not None:
            reading = _under(reading, point, decision.assumed, registry)
    return reading


def _under(reading: Reading, point: OpenPoint, answer: str, registry: DomainRegistry) -> Reading:
    if point.kind == "sources":
        raise NotDecided("sources", point.question, answer)
    if point.kind in _WORDLESS and answer in point.options[1:]:
        raise NotDecided("needs_words", point.question, answer)
    confirmed = answer == point.options[0]
    match point.kind:
        case "task" | "items":
            return reading if confirmed else _with_task(reading, point, answer)
        case "aspects":
            return _with_aspects(reading, point, () if confirmed else _names(point, answer, 1))
        case "rows":
            return reading if confirmed else _with_rows(reading, _names(point, answer, 1))
        case "forbidden":
            return reading if confirmed else _with_domain(reading, point, answer, registry)
        case "action":
            return reading
        case _:
            assert_never(point.kind)


def _with_task(reading: Reading, point: OpenPoint, answer: str) -> Reading:
    """Put what the answer asks in the place of what the goal left unclear."""
    tasks: tuple[Task, ...]
    if point.kind == "items":
        tasks = tuple(
            CompareTask(items=items, aspects=asked.aspects, assumed_aspects=asked.assumed_aspects)
            for items in (_names(point, answer, 2),)
            for asked in read_goal(f"Compare {' and '.join(items[:2])}").tasks
            if isinstance(asked, CompareTask)
        )
    else:
        tasks = tuple(task for task in read_goal(answer).tasks if not isinstance(task, UnclearTask))
    if not tasks:
        raise NotDecided("unread", point.question, answer)
    placed: list[Task] = []
    for task in reading.tasks:
        asked_about = isinstance(task, UnclearTask) and task.topic == point.subject
        placed.extend(tasks if asked_about else (task,))
    return replace(reading, tasks=tuple(placed))


def _with_aspects(reading: Reading, point: OpenPoint, aspects: tuple[str, ...]) -> Reading:
    """Compare on the aspects of the answer, or on those that were assumed: either is the user's word now."""
    del point
    return replace(
        reading,
        tasks=tuple(
            replace(task, aspects=aspects or task.aspects, assumed_aspects=False)
            if isinstance(task, CompareTask) and task.assumed_aspects
            else task
            for task in reading.tasks
        ),
    )


def _with_rows(reading: Reading, rows: tuple[str, ...]) -> Reading:
    return replace(
        reading,
        tasks=tuple(
            replace(task, rows=rows, each="") if isinstance(task, ExtractTask) and not task.rows else task
            for task in reading.tasks
        ),
    )


def _with_domain(reading: Reading, point: OpenPoint, answer: str, registry: DomainRegistry) -> Reading:
    domain = f"{FORBIDDEN_DOMAIN_PREFIX}{registry.resolve(answer)}"
    return replace(
        reading,
        constraints=(*reading.constraints, point.subject),
        prohibitions=tuple(domain if text == point.subject else text for text in reading.prohibitions),
    )


def _names(point: OpenPoint, answer: str, least: int) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(name.strip(" .。") for name in _LIST.split(answer) if name.strip(" .。")))
    if len(found) < least:
        raise NotDecided("unread", point.question, answer)
    return found
