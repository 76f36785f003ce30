"""What the goal's own words ask for, held against what a model plans: nothing that the user asked is lost.

The tasks come from the embedded reading of the goal. A question of the model that stands for one of the goal's is asked
in the goal's words; a task that no step takes up is planned by the embedded templates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, assert_never

from agents.operations import field_name
from agents.planning.model.mending import Mended
from agents.planning.model.steps import Step
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
from agents.planning.repairs import PlanRepair, repair
from agents.retrieval.tokens import terms

SAME_QUESTION: Final = 0.6
"""Share of the terms of two questions that both hold, from which they are one question. Below, both are asked: a
question too many costs a search, a lost one costs the answer. Our choice, not calibrated."""

_ASKING: Final = ("questions", "statements")
_NUMBER = re.compile(r"\d+")
_PUNCTUATION = re.compile(r"[\s?？.。!！,，;；:：\"“”'‘’]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """What the words of a goal ask for explicitly."""

    questions: tuple[str, ...]
    statements: tuple[str, ...]
    fields: tuple[str, ...]
    """Cells and columns that the goal names."""
    vague: bool
    """Whether the goal names no task that we know, so that all it asks is in the model's reading of it."""

    def core(self, text: str) -> bool:
        """Tell whether a run without an answer to `text` is partial: the user asked it, or asked nothing exactly."""
        return self.vague or text in self.questions or text in self.statements

    def fields_core(self, name: str) -> bool:
        """Tell the same of a field of a table."""
        return self.vague or name in self.fields


def demands_of(reading: Reading) -> Demands:
    """Return the explicit demands of a goal as it was read."""
    return Demands(
        questions=tuple(
            q for task in reading.tasks if isinstance(task, ResearchTask) for q in task.questions
        ),
        statements=tuple(s for task in reading.tasks if isinstance(task, CheckTask) for s in task.statements),
        fields=tuple(name for task in reading.tasks for name in _fields(task)),
        vague=all(isinstance(task, UnclearTask) for task in reading.tasks),
    )


def ask_in_the_goals_words(steps: Sequence[Step], demands: Demands) -> Mended:
    """Return the steps with each question or statement that stands for one of the goal's in the goal's words."""
    found: list[PlanRepair] = []
    # Those that are asked as they are stay free for no other.
    asked = {text for step in steps for name in _ASKING for text in step.texts(name)}
    worded = []
    for step in steps:
        params = dict(step.params)
        for name, wanted in zip(_ASKING, (demands.questions, demands.statements), strict=True):
            if step.texts(name):
                texts = [_worded(text, wanted, asked, found) for text in step.texts(name)]
                params[name] = list(dict.fromkeys(texts))
        worded.append(replace(step, params=params))
    return Mended(steps=tuple(worded), repairs=tuple(found))


def left_out(reading: Reading, steps: Sequence[Step]) -> tuple[Task, ...]:
    """Return the tasks of the goal, or the parts of them, that no step takes up."""
    return tuple(task for task in (_rest(task, steps) for task in reading.tasks) if task is not None)


def _fields(task: Task) -> tuple[str, ...]:
    match task:
        case CompareTask(assumed_aspects=False):
            return tuple(field_name(item, aspect) for item in task.items for aspect in task.aspects)
        case ExtractTask():
            return (*task.columns, *(field_name(r, c) for r in task.rows for c in task.columns))
        case _:
            return ()


def _worded(text: str, wanted: Sequence[str], asked: set[str], found: list[PlanRepair]) -> str:
    if text in wanted:
        return text
    free = [goal for goal in wanted if goal not in asked]
    best = max(free, key=lambda goal: _likeness(text, goal), default=None)
    if best is None or _likeness(text, best) < SAME_QUESTION:
        return text
    asked.add(best)
    if _plain(text) != _plain(best):
        found.append(repair("question_worded", model=text, goal=best))
    return best


def _likeness(one: str, other: str) -> float:
    """Return the share of common terms in [0, 1]; texts that differ in punctuation and case only are alike.

    Texts with other numbers are not: “in 2024” and “in 2025” are two questions, however much else they share.
    """
    if _plain(one) == _plain(other):
        return 1.0
    first, second = set(terms(one)), set(terms(other))
    if _NUMBER.findall(one) != _NUMBER.findall(other):
        return 0.0
    return len(first & second) / len(first | second) if first and second else 0.0


def _plain(text: str) -> str:
    return _PUNCTUATION.sub("", text).casefold()


def _rest(task: Task, steps: Sequence[Step]) -> Task | None:
    """Return what of a task is left to plan; `None` where steps take it up."""
    match task:
        case ResearchTask():
            asked = {text for step in steps for text in step.texts("questions")}
            rest = tuple(question for question in task.questions if question not in asked)
            return replace(task, questions=rest) if rest else None
        case CheckTask(statements=(_, *_)):
            checked = {text for step in steps for text in step.texts("statements")}
            missing = tuple(statement for statement in task.statements if statement not in checked)
            return replace(task, statements=missing) if missing else None
        case CheckTask():
            return None if any(step.operation == "check" for step in steps) else task
        case CompareTask():
            return None if any(_holds(step, "items", task.items, "compare") for step in steps) else task
        case ExtractTask():
            return None if any(_holds(step, "columns", task.columns, "extract") for step in steps) else task
        case SummariseTask(topics=()):
            return None if any(step.operation == "summarise" for step in steps) else task
        case SummariseTask():
            topics = [step.text("topic") for step in steps if step.operation in ("summarise", "gather")]
            left = tuple(
                topic
                for topic in task.topics
                if not any(_likeness(topic, t) >= SAME_QUESTION for t in topics)
            )
            return replace(task, topics=left) if left else None
        case OutlineTask():
            return None if any(step.operation == "outline" for step in steps) else task
        case UnclearTask():
            return None
        case _:
            assert_never(task)


def _holds(step: Step, name: str, wanted: Sequence[str], operation: str) -> bool:
    given = {_plain(text) for text in step.texts(name)}
    return step.operation == operation and all(_plain(text) in given for text in wanted)
