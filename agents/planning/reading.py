"""Read a goal: its tasks and its conditions, by patterns in English and Chinese."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, get_args

from agents.planning.clauses import unquote
from agents.planning.conditions import find_conditions
from agents.planning.passages import Passage, read_passages
from agents.planning.patterns.actions import requested_actions
from agents.planning.patterns.check import read_check
from agents.planning.patterns.choice import read_choice
from agents.planning.patterns.compare import read_comparison
from agents.planning.patterns.extract import read_extraction
from agents.planning.patterns.outline import read_outline
from agents.planning.patterns.research import (
    carry_subjects,
    is_order,
    is_question,
    join_dependents,
    read_questions,
    stands_alone,
)
from agents.planning.patterns.sequence import orders_of
from agents.planning.patterns.speech import bare, is_announcement, is_small_talk
from agents.planning.patterns.statement_list import take_statements
from agents.planning.patterns.summarise import read_summary
from agents.planning.readings import (
    Carried,
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

LONGEST_SENTENCE: Final = 600
"""Characters of a sentence that the patterns look at; a longer one is read as a question or as background, so that
a pasted document costs next to nothing."""

_TASKS: Final = get_args(Task)

_STATED: Final = (".", "。", "!", "！")
"""What ends a sentence that tells something."""

_BACKGROUND_SENTENCES: Final = 2
"""Sentences before a question that may become a part of it."""


@dataclass(slots=True)
class _Draft:
    """A reading while it is being made."""

    tasks: list[Task] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    prohibitions: list[str] = field(default_factory=list)
    unresolved_allowed: bool = False
    context: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    fresh: int = 0
    """Sentences of `context` that no task has followed yet."""
    told: str = ""
    """The entry taken for a question last although it is a statement."""


def read_goal(text: str) -> Reading:
    """Return what `text` asks for; no task for small talk, an `UnclearTask` for a subject without a task.

    Questions of neighbouring sentences become one task; a goal may hold several tasks of different kinds.
    """
    draft = _Draft()
    for passage in take_statements(read_passages(unquote(text))):
        if isinstance(passage, CheckTask):
            draft.tasks.append(passage)
            draft.fresh = 0
            continue
        plain = _without_conditions(passage, draft)
        if plain is None:
            continue
        draft.actions.extend(verb for text in (plain.text, *plain.items) for verb in requested_actions(text))
        for order in _orders(plain):
            _read_passage(order, draft)
    if not draft.tasks and draft.context:
        draft.tasks.append(UnclearTask(topic=" ".join(draft.context)[:LONGEST_SENTENCE]))
        draft.context.clear()
    tasks, carried = _complete(_without_announced(draft.tasks))
    return Reading(
        tasks=tasks,
        constraints=tuple(dict.fromkeys(draft.constraints)),
        prohibitions=tuple(dict.fromkeys(draft.prohibitions)),
        unresolved_allowed=draft.unresolved_allowed,
        context=tuple(draft.context),
        carried=carried,
        actions=tuple(dict.fromkeys(draft.actions)),
    )


def _without_announced(tasks: Sequence[Task]) -> list[Task]:
    """Leave out a comparison without names where another sentence names the things: `Compare the two. A or B?`."""
    named = any(isinstance(task, CompareTask) for task in tasks)
    return [task for task in tasks if not (named and isinstance(task, UnclearTask) and task.comparison)]


def _orders(passage: Passage) -> tuple[Passage, ...]:
    """Cut a sentence that orders several tasks; the list that it introduces belongs to the last one."""
    if not passage.text or len(passage.text) > LONGEST_SENTENCE:
        return (passage,)
    *before, last = orders_of(passage.text, lambda part: _asks(part, passage.items), _names_sections)
    if not before and not passage.items:
        return (passage,)
    return (
        *(Passage(text=bare(part)) for part in before),
        Passage(text=bare(last) if before else last, items=passage.items),
    )


def _names_sections(text: str) -> bool:
    """Say whether a text drafts a plan and says what it has to list."""
    task = read_outline(text, ())
    return task is not None and bool(task.sections)


def _asks(part: str, items: tuple[str, ...]) -> bool:
    return (
        is_announcement(part)
        or read_task(part, ()) is not None
        or (bool(items) and isinstance(read_task(part, items), _TASKS))
    )


def _without_conditions(passage: Passage, draft: _Draft) -> Passage | None:
    text = _note_conditions(passage.text, draft)
    items = tuple(kept for item in passage.items if (kept := _note_conditions(item, draft)))
    return Passage(text=text, items=items) if text or items else None


def _note_conditions(text: str, draft: _Draft) -> str:
    if len(text) > LONGEST_SENTENCE:
        return text
    found = find_conditions(bare(text) if text else "")
    draft.constraints.extend(found.constraints)
    draft.prohibitions.extend(found.prohibitions)
    draft.unresolved_allowed = draft.unresolved_allowed or found.unresolved_allowed
    return bare(found.rest)


def _read_passage(passage: Passage, draft: _Draft) -> None:
    text, items = passage.text, passage.items
    if len(text) > LONGEST_SENTENCE:
        _read_long(passage, draft)
        return
    if not items and (is_small_talk(text) or is_announcement(text)):
        return
    if items and (not text or is_announcement(text) or is_small_talk(text)):
        _read_items(items, draft)
        return
    task = read_task(text, items)
    if isinstance(task, str):
        draft.tasks.append(UnclearTask(topic=task, comparison=True))
        draft.fresh = 0
        return
    if task is not None:
        draft.tasks.append(_with_background(task, draft) if isinstance(task, ResearchTask) else task)
        draft.fresh = 0
        return
    if items and (joined := _joined(text, items)) is not None:
        draft.tasks.append(joined)
        return
    draft.context.append(passage.whole)
    draft.fresh += 1


def _read_long(passage: Passage, draft: _Draft) -> None:
    """Read a sentence that is too long for the patterns: its question mark says whether it asks."""
    if passage.text.endswith(("?", "？")):
        draft.tasks.append(ResearchTask(questions=(passage.text,)))
    else:
        draft.context.append(passage.whole)
    _read_items(passage.items, draft)


def _with_background(task: ResearchTask, draft: _Draft) -> ResearchTask:
    """Put the sentences right before a question into it if it says nothing without them ("What shall I do?")."""
    first, *others = task.questions
    if stands_alone(first):
        return task
    if draft.told and draft.tasks and draft.tasks[-1] == ResearchTask(questions=(draft.told,)):
        # `Answer this: I got an error. What shall I do?` – what is told belongs to what is asked.
        draft.tasks.pop()
        return ResearchTask(questions=(f"{draft.told} {first}", *others))
    if not draft.fresh:
        return task
    background = [draft.context.pop() for _ in range(min(draft.fresh, _BACKGROUND_SENTENCES))][::-1]
    return ResearchTask(questions=(" ".join([*background, first]), *others))


def read_task(text: str, listed: tuple[str, ...]) -> Task | str | None:
    """Return the task of one sentence with the list that it introduces.

    A string is a comparison whose things are not named; `None` asks for nothing that we know.
    """
    if max(map(len, (text, *listed))) > LONGEST_SENTENCE:
        return None
    for recognise in (read_extraction, read_comparison, read_choice, read_check, read_outline, read_summary):
        task = recognise(text, listed)
        if task is not None:
            return task
    questions = read_questions(text, listed)
    return ResearchTask(questions=questions) if questions else None


def _read_items(items: Sequence[str], draft: _Draft) -> None:
    """Read the entries of a list that only announces them, each for itself."""
    for item in items:
        split = read_passages(item)
        for passage in split if len(split) > 1 else (Passage(text=item),):
            before = len(draft.tasks)
            _read_passage(passage, draft)
            if len(draft.tasks) == before and draft.context and draft.context[-1] == passage.whole:
                # An entry without a verb, under "Questions:", is still something to find out.
                entry = draft.context.pop()
                draft.tasks.append(ResearchTask(questions=(entry,)))
                draft.told = entry if entry.endswith(_STATED) else ""
                draft.fresh = 0


def _joined(text: str, items: tuple[str, ...]) -> Task | None:
    """Read `Project Alpha: what does it cost?`: the words before the colon say what it is about."""
    tasks = [read_task(item, ()) for item in items]
    questions: list[str] = []
    for task in tasks:
        if not isinstance(task, ResearchTask):
            return task if len(tasks) == 1 and task is not None and not isinstance(task, str) else None
        questions.extend(task.questions)
    aspects = [item for item in items if is_question(item) or is_order(item)]
    return ResearchTask(questions=tuple(f"{text}: {question}" for question in questions)) if aspects else None


def _complete(tasks: Sequence[Task]) -> tuple[tuple[Task, ...], tuple[Carried, ...]]:
    """Merge neighbouring research and equal comparisons, and let every question stand alone."""
    merged: list[Task] = []
    for task in tasks:
        last = merged[-1] if merged else None
        if isinstance(task, ResearchTask) and isinstance(last, ResearchTask):
            merged[-1] = ResearchTask(questions=tuple(dict.fromkeys((*last.questions, *task.questions))))
        elif isinstance(task, CompareTask) and isinstance(last, CompareTask) and task.items == last.items:
            merged[-1] = replace(last, aspects=tuple(dict.fromkeys((*last.aspects, *task.aspects))))
        else:
            merged.append(task)
    carried: list[Carried] = []
    for index, task in enumerate(merged):
        if isinstance(task, ResearchTask):
            before = _subject_of_task(merged[index - 1]) if index else ""
            questions, found = carry_subjects(join_dependents(task.questions), before)
            merged[index] = ResearchTask(questions=questions)
            carried.extend(found)
    return tuple(merged), tuple(carried)


def _subject_of_task(task: Task) -> str:
    """Return what a pronoun after a task that asks no question means; empty where several things are possible."""
    match task:
        case ExtractTask():
            return task.columns[0] if len(task.columns) == 1 else ""
        case SummariseTask():
            return task.topics[0] if len(task.topics) == 1 else ""
        case OutlineTask():
            return task.subject
        case _:
            return ""
