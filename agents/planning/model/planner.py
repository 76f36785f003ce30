"""The model planner: a chat model proposes intent and steps, code makes a plan of them and says what it changed.

The model never decides what is allowed: conditions, prohibitions and limits come from the goal's words and the user's
options; domains are resolved by the registry; ports, criteria and the report are code's; and what can't be mended is
planned by the embedded planner instead, with a line that says so. A plan with a lint error never leaves this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from agents.memory.shown import memory_blocks
from agents.models.ports import ChatPort
from agents.planning.domains import DomainFinder, DomainRanker, NoteOutline, leaves_of
from agents.planning.drafting import PlanDraft
from agents.planning.embedded import (
    EmptyGoal,
    PlannedGoal,
    PlanOptions,
    add_report,
    contract_of,
    nothing_to_do,
    plan_goal,
    reading_of,
    review_notes,
)
from agents.planning.intent import Prohibitions, resolve_prohibitions, state_intent
from agents.planning.model.asking import Interview
from agents.planning.model.assembling import Assembly
from agents.planning.model.demands import Demands, demands_of, left_out
from agents.planning.model.mending import longest_chain
from agents.planning.model.prompts import (
    INTENT_SCHEMA,
    PLAN_SCHEMA,
    Shown,
    intent_messages,
    plan_messages,
    shown_domains,
    shown_notes,
)
from agents.planning.model.refining import Refinery
from agents.planning.model.required import RequiredDomains
from agents.planning.model.staging import Stage, Staging
from agents.planning.model.steps import Step
from agents.planning.model.understanding import Understanding, read_understanding, with_understanding
from agents.planning.readings import Reading, UnclearTask
from agents.planning.repairs import PlanRepair, render_repair, repair
from agents.planning.templates import draft_task
from agents.planning.wording import say, shorten
from graphs.contract import Goal, Intent, Lang
from graphs.lint import errors, lint, render_finding
from graphs.linting.granularity import MAX_STEPS_PER_LEVEL
from graphs.plan import NodeId
from masks.domains import DomainRegistry

MAX_PLAN_NODES = 40
"""Sub-tasks of a plan with its merges and the report: two levels of five stages would hold more than a person can
review. Beyond, the embedded planner's plan stands. Our choice."""


@dataclass(frozen=True, slots=True)
class ModelPlanner:
    """Plans with a chat model, and without it where nothing usable comes from it."""

    chat: ChatPort
    address: str = ""
    """Of the model's server, for the review; empty: the provider's own."""

    async def plan(
        self,
        goal: Goal,
        registry: DomainRegistry,
        rank: DomainRanker,
        catalogue: Sequence[NoteOutline] | None = None,
        options: PlanOptions | None = None,
    ) -> PlannedGoal:
        """Return intent, contract and plan of `goal`, with every repair and every call.

        A text that asks for nothing costs no call. Raises as `plan_goal` does; a model
        that can't be reached, refuses or answers with nothing usable raises nothing.
        """
        if not goal.text:
            raise EmptyGoal(goal.text)
        outlines = tuple(catalogue or ())
        chosen = options or PlanOptions()
        reading = reading_of(goal, registry, outlines, chosen.settled)
        prohibitions = resolve_prohibitions((*reading.prohibitions, *chosen.forbidden), registry)
        intent = state_intent(goal, reading, prohibitions, chosen.settled)
        if not reading.tasks:
            return nothing_to_do(goal, intent)
        work = _Planning(
            goal=goal,
            reading=reading,
            prohibitions=prohibitions,
            options=chosen,
            intent=intent,
            finder=DomainFinder(
                rank=rank,
                registry=registry,
                outlines=outlines,
                forbidden=leaves_of(prohibitions.domains, registry),
            ),
            interview=Interview(chat=self.chat, lang=goal.lang),
        )
        planned = await work.planned()
        if planned is None:
            planned = plan_goal(goal, registry, rank, catalogue, options)
        repairs = tuple(work.repairs)
        lines = tuple(render_repair(found, goal.lang) for found in repairs)
        return replace(
            planned,
            notes=tuple(
                dict.fromkeys((*lines, *planned.notes, *self._model_note(work.interview, goal.lang)))
            ),
            repairs=repairs,
            calls=tuple(work.interview.calls),
        )

    def _model_note(self, interview: Interview, lang: Lang) -> tuple[str, ...]:
        """Which model saw goal and notes, and where: the review shows it, and what is approved names it."""
        if not interview.calls:
            return ()
        model = self.chat.name
        if lang == "zh":
            return (f"制定计划时询问了 {model}" + (f"，地址 {self.address}" if self.address else ""),)
        return (f"asked to plan: {model}" + (f" at {self.address}" if self.address else ""),)


@dataclass(slots=True, kw_only=True)
class _Planning:
    """One goal while it is planned."""

    goal: Goal
    reading: Reading
    prohibitions: Prohibitions
    options: PlanOptions
    intent: Intent
    finder: DomainFinder
    interview: Interview
    repairs: list[PlanRepair] = field(default_factory=list)

    async def planned(self) -> PlannedGoal | None:
        """Return the model's plan; `None` where the embedded one has to stand, for which a repair says why."""
        shown = self._shown()
        understood = await self._understood(shown)
        if understood is None:
            return None
        if understood.nothing_to_do and all(isinstance(task, UnclearTask) for task in self.reading.tasks):
            return nothing_to_do(
                self.goal, replace(self.intent, objective=understood.objective, ambiguities=())
            )
        stages = await self._stages(shown, understood.objective)
        return self._made(understood, stages) if stages else None

    async def _understood(self, shown: Shown) -> Understanding | None:
        """Return the model's reading of the goal, or the code's where it has no usable one; `None`: it is unreachable.

        A plan is possible without the model's reading of the goal, so that only an answerless model ends it here.
        """
        answer = await self.interview.ask(
            intent_messages(shown),
            INTENT_SCHEMA,
            lambda data: read_understanding(data, self.goal.text),
            what="intent",
        )
        self.repairs.extend(answer.repairs)
        if answer.value is not None:
            return replace(answer.value, objective=answer.value.objective or self.intent.objective)
        self._fall_back("intent", answer.reason)
        if self.interview.calls[-1].outcome == "model_error":
            return None
        return Understanding(objective=self.intent.objective)

    async def _stages(self, shown: Shown, objective: str) -> tuple[Stage, ...]:
        """Return the steps, stage by stage: one stage for a goal of one level; none where nothing usable came."""
        refinery = Refinery(reading=self.reading, demands=self._demands, lang=self.goal.lang)
        staging = Staging(
            interview=self.interview, refinery=refinery, shown=shown, repairs=self.repairs, intent=objective
        )
        if self._asked > MAX_STEPS_PER_LEVEL:
            return await staging.stages() or self._none("plan", staging.reason)
        answer = await self.interview.ask(
            plan_messages(shown, objective), PLAN_SCHEMA, refinery.read, what="plan"
        )
        if answer.value is None:
            self.repairs.extend(answer.repairs)
            return self._none("plan", answer.reason)
        chain = longest_chain(answer.value.steps)
        if chain > MAX_STEPS_PER_LEVEL:
            long = {"steps": str(chain), "accepted": str(MAX_STEPS_PER_LEVEL)}
            staged = await staging.stages()
            if staged:
                self.repairs.insert(0, repair("staged", **long))
                return staged
            self.repairs.append(repair("chain_kept", **long, reason=staging.reason))
        self.repairs.extend(answer.repairs)
        return (Stage(id="", title="", aim="", steps=answer.value.steps),)

    def _made(self, understood: Understanding, stages: Sequence[Stage]) -> PlannedGoal | None:
        draft = PlanDraft(lang=self.goal.lang, finder=self.finder)
        domains = RequiredDomains(finder=self.finder, found=self.repairs)
        assembly = Assembly(draft=draft, domains=domains, demands=self._demands)
        delivered = self._add_stages(assembly, stages)
        steps = [step for stage in stages for step in stage.steps]
        delivered += self._add_left_out(draft, steps, delivered)
        add_report(self.reading, draft, list(dict.fromkeys(delivered)), understood.objective)
        plan = draft.plan()
        contract = contract_of(self.reading, self.prohibitions, self.options, draft)
        faults = errors(lint(plan, contract))
        if faults or len(plan.subtasks) > MAX_PLAN_NODES:
            reason = "; ".join(render_finding(fault, self.goal.lang) for fault in faults)
            self._fall_back("plan", reason or f"{len(plan.subtasks)} > {MAX_PLAN_NODES}")
            return None
        lang = self.goal.lang
        answered = [
            say("ask_task", lang, text=task.topic)
            for task in self.reading.tasks
            if isinstance(task, UnclearTask) and not task.comparison
        ]
        notes = (*draft.notes, *review_notes(self.goal, self.reading, self.prohibitions, self.finder, plan))
        return PlannedGoal(
            intent=with_understanding(self.intent, understood, lang, answered),
            contract=contract,
            plan=plan,
            notes=notes,
        )

    def _add_stages(self, assembly: Assembly, stages: Sequence[Stage]) -> list[NodeId]:
        """Add the steps of each stage; return what the stages deliver that no later one takes."""
        given: dict[str, tuple[NodeId, ...]] = {}
        for stage in stages:
            given[stage.id] = assembly.add(stage.steps, given)
        taken = {name for stage in stages for step in stage.steps for name in step.given}
        return [node for name, nodes in given.items() if name not in taken for node in nodes]

    def _add_left_out(
        self, draft: PlanDraft, steps: Sequence[Step], delivered: Sequence[NodeId]
    ) -> list[NodeId]:
        added: list[NodeId] = []
        for task in left_out(self.reading, steps):
            before = tuple((*delivered, *added))
            first = len(draft.subtasks)
            added.extend(draft_task(task, draft, before))
            text = shorten("; ".join(s.title for s in draft.subtasks[first:]), self.goal.lang)
            self.repairs.append(repair("task_added", text=text))
        return added

    @property
    def _demands(self) -> Demands:
        return demands_of(self.reading)

    @property
    def _asked(self) -> int:
        """How many things the goal asks for: questions, statements, and each task of another kind."""
        demands = self._demands
        listed = len(demands.questions) + len(demands.statements)
        return listed + sum(task.kind not in ("research", "check") for task in self.reading.tasks)

    def _shown(self) -> Shown:
        lang, registry = self.goal.lang, self.finder.registry
        forbidden = tuple(registry.get(domain).names[lang] for domain in self.prohibitions.domains)
        return Shown(
            goal=self.goal.text,
            lang=lang,
            conditions=tuple(dict.fromkeys((*self.intent.constraints, *self.prohibitions.words))),
            forbidden=forbidden,
            decided=tuple((point.question, point.assumed) for point in self.options.settled),
            domains=shown_domains(
                (*self.finder.of(self.goal.text), *self.finder.everywhere()), registry, lang
            ),
            notes=shown_notes(self.finder.outlines, lang),
            memories=memory_blocks(self.options.memories, lang),
            tainted=any(each.memory.taint == "untrusted" for each in self.options.memories),
        )

    def _none(self, key: str, reason: str) -> tuple[Stage, ...]:
        self._fall_back(key, reason)
        return ()

    def _fall_back(self, key: str, reason: str) -> None:
        self.repairs.append(repair("fallback", what=key, reason=reason))
