"""Hold each step to the vocabulary: a known operation, with the parameters that its worker really reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pydantic import JsonValue

from agents.operations import OPERATIONS
from agents.planning.model.mending import Mended, fresh_id, without
from agents.planning.model.steps import Step
from agents.planning.readings import CheckTask, CompareTask, ExtractTask, Reading, SummariseTask
from agents.planning.repairs import PlanRepair, repair
from graphs.contract import Lang

_DONE: Final[Mapping[str, tuple[str, str]]] = {
    "title_asked": ("its title is the question", "以其标题为问题"),
    "topic_asked": ("its topic is the question", "以其主题为问题"),
    "title_topic": ("its title is the topic", "以其标题为主题"),
    "fields_asked": ("its fields are the questions", "以其字段为问题"),
    "of_goal": ("the goal's own were taken", "采用目标中写明的"),
    "dropped": ("it was left out", "已略去"),
    "all_before": ("it takes what all steps before it found", "改为接收此前各步骤的结果"),
    "gathered": ("a step that gathers its material was added", "已加一步为其收集素材"),
}


def done(key: str, lang: Lang) -> str:
    """Say what was done about a fault."""
    return _DONE[key][0 if lang == "en" else 1]


def hold_to_vocabulary(steps: Sequence[Step], reading: Reading, lang: Lang) -> Mended:
    """Return the steps that are in the vocabulary, each with what its operation needs.

    What is missing is taken from the step's other words, then from the goal's; a step that still lacks something is
    left out, and what followed it follows what it followed.
    """
    held = _Held(reading=reading, lang=lang)
    kept = tuple(steps)
    for step in steps:
        if step.operation == "report":
            held.found.append(repair("report_dropped", id=step.id))
            kept = without(kept, step.id)
        elif step.operation not in OPERATIONS:
            held.found.append(repair("unknown_operation", id=step.id, operation=repr(step.operation)))
            kept = without(kept, step.id)
        else:
            params = _NEEDS[step.operation](held, step)
            kept = (
                without(kept, step.id)
                if params is None
                else tuple(replace(s, params=params) if s.id == step.id else s for s in kept)
            )
    return Mended(steps=kept, repairs=tuple(held.found))


def give_inputs(steps: Sequence[Step], lang: Lang) -> Mended:
    """Return the steps with something to work on for each that only computes; they stand in an order of their edges."""
    found: list[PlanRepair] = []
    kept = tuple(steps)
    for step in steps:
        if step.operation == "synthesise" and not (step.after or step.given):
            reason = "no step before it" if lang == "en" else "没有前序步骤"
            found.append(repair("idle_step", id=step.id, reason=reason))
            kept = without(kept, step.id)
        elif step.operation == "outline" and not (step.after or step.given):
            kept = _with_material(kept, step, found, lang)
    return Mended(steps=kept, repairs=tuple(found))


def _with_material(
    steps: tuple[Step, ...], outline: Step, found: list[PlanRepair], lang: Lang
) -> tuple[Step, ...]:
    place = next(place for place, step in enumerate(steps) if step.id == outline.id)
    before = tuple(
        step.id for step in steps[:place] if OPERATIONS[step.operation].outputs[0].type == "claims"
    )
    how = "all_before" if before else "gathered"
    found.append(repair("no_inputs", id=outline.id, operation="outline", done=done(how, lang)))
    if before:
        return tuple(replace(s, after=before) if s.id == outline.id else s for s in steps)
    topic = outline.text("title") or outline.title
    new = fresh_id(f"{outline.id}_1", [step.id for step in steps])
    gather = Step(id=new, operation="gather", title="", params={"topic": topic}, domains=outline.domains)
    linked = replace(outline, after=(new,))
    return (*steps[:place], gather, *(linked if s.id == outline.id else s for s in steps[place:]))


@dataclass(slots=True, kw_only=True)
class _Held:
    """The goal, and the repairs so far."""

    reading: Reading
    lang: Lang
    found: list[PlanRepair] = field(default_factory=list)

    def lacks(self, step: Step, needed: str, how: str) -> None:
        self.found.append(
            repair(
                "missing_params",
                id=step.id,
                operation=step.operation,
                needed=f"`{needed}`",
                done=done(how, self.lang),
            )
        )

    def research(self, step: Step) -> dict[str, JsonValue] | None:
        fields, item = step.texts("fields"), step.text("item")
        if item and fields:
            return {"item": item, "fields": list(fields)}
        questions = step.texts("questions")
        if questions:
            return {"questions": list(questions)}
        if fields:
            self.lacks(step, "questions", "fields_asked")
            return {"questions": list(fields)}
        if step.text("topic"):
            self.lacks(step, "questions", "topic_asked")
            return {"questions": [step.text("topic")]}
        return self._titled(step, "questions", "title_asked", lambda title: {"questions": [title]})

    def gather(self, step: Step) -> dict[str, JsonValue] | None:
        topic = step.text("topic") or " ".join(step.texts("questions"))
        if topic:
            return {"topic": topic}
        return self._titled(step, "topic", "title_topic", lambda title: {"topic": title})

    def summarise(self, step: Step) -> dict[str, JsonValue]:
        """Give a topic: a goal that asks for no summary of everything is not answered by one."""
        topic = step.text("topic") or " ".join(step.texts("questions")) or None
        of_all = any(isinstance(task, SummariseTask) and not task.topics for task in self.reading.tasks)
        if topic is None and step.title and not of_all:
            self.lacks(step, "topic", "title_topic")
            topic = step.title
        return {"topic": topic, "per_document": step.params.get("per_document") is True and topic is None}

    def extract(self, step: Step) -> dict[str, JsonValue] | None:
        columns = step.texts("columns") or step.texts("fields") or step.texts("aspects")
        rows, each = step.texts("rows") or step.texts("items"), step.text("each")
        if not columns:
            asked = [task for task in self.reading.tasks if isinstance(task, ExtractTask)]
            self.lacks(step, "columns", "of_goal" if asked else "dropped")
            if not asked:
                return None
            columns, rows, each = asked[0].columns, asked[0].rows, asked[0].each
        return {"columns": list(columns), "rows": list(rows) or None, "each": each or None}

    def check(self, step: Step) -> dict[str, JsonValue] | None:
        statements = step.texts("statements")
        if statements:
            return {"statements": list(statements)}
        if step.after or step.given:
            return {}
        asked = [task for task in self.reading.tasks if isinstance(task, CheckTask) and task.statements]
        self.lacks(step, "statements", "of_goal" if asked else "dropped")
        return {"statements": list(asked[0].statements)} if asked else None

    def compare(self, step: Step) -> dict[str, JsonValue] | None:
        items, aspects = step.texts("items"), step.texts("aspects") or step.texts("fields")
        asked = [task for task in self.reading.tasks if isinstance(task, CompareTask)]
        if len(items) < 2:
            self.lacks(step, "items", "of_goal" if asked else "dropped")
            items = asked[0].items if asked else ()
        own = next((task for task in asked if set(map(str.casefold, task.items)) <= _folded(items)), None)
        wanted = own.aspects if own is not None and not (own.assumed_aspects and aspects) else ()
        if items and not (aspects and set(wanted) <= set(aspects)):
            self.lacks(step, "aspects", "of_goal" if wanted else "dropped")
        aspects = tuple(dict.fromkeys((*wanted, *aspects)))
        if len(items) < 2 or not aspects:
            return None
        return {"items": list(items), "aspects": list(aspects)}

    def outline(self, step: Step) -> dict[str, JsonValue] | None:
        title = step.title or step.text("subject") or step.text("topic")
        if not title:
            self.lacks(step, "title", "dropped")
            return None
        return {"title": title, "questions": list(step.texts("questions"))}

    def synthesise(self, step: Step) -> dict[str, JsonValue]:
        return {"questions": list(step.texts("questions"))}

    def _titled(
        self, step: Step, needed: str, how: str, params: Callable[[str], dict[str, JsonValue]]
    ) -> dict[str, JsonValue] | None:
        self.lacks(step, needed, how if step.title else "dropped")
        return params(step.title) if step.title else None


def _folded(texts: Sequence[str]) -> set[str]:
    return {text.casefold() for text in texts}


_NEEDS: Final[Mapping[str, Callable[[_Held, Step], dict[str, JsonValue] | None]]] = {
    "research": _Held.research,
    "gather": _Held.gather,
    "summarise": _Held.summarise,
    "extract": _Held.extract,
    "check": _Held.check,
    "compare": _Held.compare,
    "outline": _Held.outline,
    "synthesise": _Held.synthesise,
}
