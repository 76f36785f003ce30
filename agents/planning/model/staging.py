"""Plan a long goal on two levels: first its stages, then the steps of each by a call of its own (003 2.1).

A call for one stage shows that stage's details and the names of the stages before it, nothing of the others' steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from agents.planning.model.asking import Interview, Usable
from agents.planning.model.demands import ask_in_the_goals_words
from agents.planning.model.mending import in_order, mend_graph
from agents.planning.model.prompts import (
    PLAN_SCHEMA,
    STAGES,
    STAGES_SCHEMA,
    Shown,
    stage_messages,
    stages_messages,
)
from agents.planning.model.refining import Refinery
from agents.planning.model.steps import Step, entries_of, text_of, texts_of
from agents.planning.repairs import PlanRepair, repair


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage of a plan."""

    id: str
    title: str
    aim: str
    questions: tuple[str, ...] = ()
    """Questions of the goal that it answers."""
    after: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()


@dataclass(slots=True, kw_only=True)
class Staging:
    """Asks for the stages of one goal."""

    interview: Interview
    refinery: Refinery
    shown: Shown
    intent: str
    """The objective."""
    repairs: list[PlanRepair]
    """Grows by what is put right."""
    reason: str = field(default="", init=False)
    """Why there are no stages."""

    async def stages(self) -> tuple[Stage, ...]:
        """Return the stages with their steps, each behind those it comes after; none where nothing usable came."""
        answer = await self.interview.ask(
            stages_messages(self.shown, self.intent), STAGES_SCHEMA, self._read, what=self._what("stages")
        )
        self.repairs.extend(answer.repairs)
        if answer.value is None:
            self.reason = answer.reason
            return ()
        planned: dict[str, Stage] = {}
        for stage in answer.value:
            planned[stage.id] = await self._expanded(stage, planned)
        return tuple(planned.values())

    async def _expanded(self, stage: Stage, before: Mapping[str, Stage]) -> Stage:
        outside = tuple(before)
        messages = stage_messages(
            self.shown,
            stage.title,
            stage.aim,
            stage.questions,
            [f"{one.id}: {one.title}" for one in before.values()],
        )
        answer = await self.interview.ask(
            messages,
            PLAN_SCHEMA,
            lambda data: self.refinery.read(data, outside),
            what=f"{self._what('stage')} {stage.id}",
        )
        self.repairs.extend(answer.repairs)
        if answer.value is not None:
            return replace(stage, steps=_with_dependencies(answer.value.steps, stage.after))
        self.repairs.append(repair("stage_unplanned", id=stage.id, reason=answer.reason))
        step = Step(
            id="t1",
            operation="research",
            title=stage.title,
            params={"questions": list(stage.questions or (stage.aim,))},
        )
        mended = ask_in_the_goals_words([step], self.refinery.demands)
        return replace(stage, steps=mended.steps)

    def _read(self, data: object) -> Usable[tuple[Stage, ...]] | str:
        forms: list[str] = []
        entries = entries_of(data, "stages", ("phases", "steps", "plan"), forms)
        if entries is None:
            return "an object with the list `stages` was asked for"
        found = [stage for number, entry in enumerate(entries, 1) if (stage := _stage(entry, number, forms))]
        least, most = STAGES
        if not least <= len(found) <= most:
            return f"{len(found)} stages; asked for are {least} to {most}"
        mended = mend_graph([Step(id=s.id, operation="stage", title=s.title, after=s.after) for s in found])
        by_place = dict(zip((step.id for step in mended.steps), found, strict=True))
        repairs = list(mended.repairs)
        if forms:
            repairs.insert(
                0, repair("form", what=self._what("stages"), reason=", ".join(dict.fromkeys(forms)))
            )
        ordered = tuple(
            replace(by_place[step.id], id=step.id, after=step.after) for step in in_order(mended.steps)
        )
        return Usable(value=ordered, repairs=tuple(repairs))

    def _what(self, key: str) -> str:
        names = {"stages": ("stages", "阶段"), "stage": ("plan of stage", "阶段计划")}
        return names[key][0 if self.shown.lang == "en" else 1]


def _stage(entry: Mapping[str, object], number: int, forms: list[str]) -> Stage | None:
    title = text_of(entry.get("title")) or text_of(entry.get("name"))
    aim = text_of(entry.get("aim")) or text_of(entry.get("description")) or title
    if not aim:
        return None
    return Stage(
        id=text_of(entry.get("id")) or f"S{number}",
        title=title or aim,
        aim=aim,
        questions=texts_of(entry.get("questions"), split=False, forms=forms, name="questions"),
        after=texts_of(entry.get("after") or entry.get("depends_on"), split=True, forms=forms, name="after"),
    )


def _with_dependencies(steps: Sequence[Step], after: Sequence[str]) -> tuple[Step, ...]:
    """Let the first merges of a stage take what the stages before it give, where no step of it says so.

    A stage that comes after another one uses its results somewhere: in what only computes. Searches start at once.
    """
    named = {name for step in steps for name in step.given}
    missing = tuple(name for name in after if name not in named)
    computing = [
        step.id for step in steps if step.operation in ("synthesise", "outline", "check") and step.after
    ]
    if not missing or not computing:
        return tuple(steps)
    return tuple(
        replace(step, given=(*step.given, *missing)) if step.id == computing[0] else step for step in steps
    )
