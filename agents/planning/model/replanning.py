"""Let a model propose other steps in the place of a region that failed; code fits them in, or falls back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from agents.models.contract import Message
from agents.models.ports import ChatPort
from agents.planning.domains import DomainFinder, DomainRanker, NoteOutline, leaves_of
from agents.planning.drafting import PlanDraft
from agents.planning.intent import resolve_prohibitions
from agents.planning.model.asking import Interview, Usable
from agents.planning.model.assembling import Assembly
from agents.planning.model.demands import Demands
from agents.planning.model.mending import Mended
from agents.planning.model.prompts import (
    PLAN_SCHEMA,
    Shown,
    region_messages,
    shown_domains,
    shown_notes,
)
from agents.planning.model.refining import Refinery
from agents.planning.model.required import RequiredDomains
from agents.planning.readings import Reading
from agents.planning.repairs import PlanRepair, repair
from agents.planning.replanning import (
    RESPLIT_FACTOR,
    NewSplit,
    NoResplit,
    Resplit,
    asked_by,
    fit_region,
    highest_number,
    resplit_region,
)
from graphs.contract import Lang, TaskContract
from graphs.plan import Dependency, NodeId, Plan, SubTask
from graphs.scopes import Region
from masks.domains import DomainRegistry

MAX_REASON: Final = 2_000
"""Characters of a diagnosis that a model is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReplanner:
    """Re-splits regions with a chat model."""

    chat: ChatPort
    registry: DomainRegistry
    rank: DomainRanker
    outlines: tuple[NoteOutline, ...] = ()

    async def replan_region(
        self, plan: Plan, contract: TaskContract, region: Region, reason: str, lang: Lang
    ) -> Resplit | NoResplit:
        """Return the plan with the region split anew, within the bounds of `fit_region`.

        `reason` is the diagnosis. It may quote documents, and is shown as data. A proposal that does not fit is told
        to the model, at most twice; then the embedded re-split stands, and a repair says so. No criterion is added.
        """
        prohibitions = resolve_prohibitions(contract.forbidden, self.registry)
        finder = DomainFinder(
            rank=self.rank,
            registry=self.registry,
            outlines=self.outlines,
            forbidden=leaves_of(prohibitions.domains, self.registry),
        )
        work = _Region(plan=plan, contract=contract, region=region, lang=lang, finder=finder)
        interview = Interview(chat=self.chat, lang=lang)
        answer = await interview.ask(
            self._messages(work, reason[:MAX_REASON]),
            PLAN_SCHEMA,
            work.read,
            what="split" if lang == "en" else "拆分",
        )
        repairs, calls = answer.repairs, tuple(interview.calls)
        if answer.value is not None:
            return replace(answer.value, repairs=repairs, calls=calls)
        names = ", ".join(sorted(region.nodes))
        repairs = (*repairs, repair("resplit", region=names, reason=answer.reason))
        return replace(resplit_region(plan, contract, region, lang), repairs=repairs, calls=calls)

    def _messages(self, work: _Region, reason: str) -> Sequence[Message]:
        known = (*(d for s in work.inside for d in s.required_domains), *work.finder.everywhere())
        shown = Shown(
            goal="",
            lang=work.lang,
            domains=shown_domains(known, self.registry, work.lang),
            notes=shown_notes(self.outlines, work.lang),
        )
        return region_messages(
            shown,
            [f"{s.operation}: {s.title} ({'; '.join(sorted(asked_by(s)))})" for s in work.inside],
            reason,
            [f"{node}: {work.titles[node]}" for node in work.sources],
            sorted({port.type for s in work.inside for port in s.outputs if s.id in work.feeding}),
            RESPLIT_FACTOR * len(work.region.nodes),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Region:
    """One region while it is planned anew."""

    plan: Plan
    contract: TaskContract
    region: Region
    lang: Lang
    finder: DomainFinder

    @property
    def inside(self) -> tuple[SubTask, ...]:
        return tuple(subtask for subtask in self.plan.subtasks if subtask.id in self.region.nodes)

    @property
    def sources(self) -> tuple[NodeId, ...]:
        """What feeds the region from outside, in the plan's order."""
        return tuple(dict.fromkeys(edge.source for edge in self.region.edges_in))

    @property
    def feeding(self) -> frozenset[NodeId]:
        return frozenset(edge.source for edge in self.region.edges_out)

    @property
    def titles(self) -> dict[NodeId, str]:
        return {subtask.id: subtask.title for subtask in self.plan.subtasks}

    def read(self, data: object) -> Usable[Resplit] | str:
        """Return the plan that an answer leads to; a text says why it can't stand."""
        asked = tuple(dict.fromkeys(text for s in self.inside for text in sorted(asked_by(s))))
        demands = Demands(questions=asked, statements=asked, fields=asked, vague=False)
        refinery = Refinery(reading=Reading(tasks=()), demands=demands, lang=self.lang)
        found = refinery.read(data, outside=self.sources, most=RESPLIT_FACTOR * len(self.region.nodes))
        if isinstance(found, str):
            return found
        repairs: list[PlanRepair] = [*found.repairs]
        fitted = fit_region(
            self.plan, self.contract, self.region, self._split(found.value, demands, repairs), self.lang
        )
        if isinstance(fitted, NoResplit):
            return fitted.reason
        return Usable(value=fitted, repairs=tuple(repairs), told=found.told)

    def _split(self, mended: Mended, demands: Demands, repairs: list[PlanRepair]) -> NewSplit:
        """Draft the steps beside stand-ins for what feeds them, then take their ids behind the plan's."""
        draft = PlanDraft(lang=self.lang, finder=self.finder)
        draft.subtasks.extend(s for s in self.plan.subtasks if s.id not in self.region.nodes)
        # Ids of one plan are never given twice, so the first free one counts on from the highest.
        draft.first = highest_number(self.plan) + 1 - len(draft.subtasks)
        assembly = Assembly(
            draft=draft, domains=RequiredDomains(finder=self.finder, found=repairs), demands=demands
        )
        assembly.add_steps(mended.steps, {str(source): (source,) for source in self.sources})
        new = frozenset(assembly.nodes.values())
        edges: tuple[Dependency, ...] = tuple(draft.edges)
        return NewSplit(
            subtasks=tuple(subtask for subtask in draft.subtasks if subtask.id in new),
            inner=tuple(edge for edge in edges if edge.source in new),
            edges_in=tuple(edge for edge in edges if edge.source not in new),
        )
