"""Re-split a region of a plan whose split is at fault (class D): everything outside stays, and is served as before.

`graphs.scopes.affected_region` gives the region. The embedded re-split halves what asks for several things; a model
proposes other steps (`agents.planning.model.replanning`). Both end in `fit_region`, which decides whether a new split
may stand: at most twice the nodes (semantics 5), every criterion of the region still asked for, every edge to the
outside still fed, no lint error.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Final

from pydantic import JsonValue

from agents.operations import tools_of
from agents.planning.repairs import PlanningCall, PlanRepair
from agents.planning.wording import shorten
from graphs.contract import Criterion, Lang, TaskContract
from graphs.diff import PlanDiff, diff_plans
from graphs.editing.errors import EditError
from graphs.edits import AddNode, CompositeEdit, Connect, RemoveNode, apply_edit, compose
from graphs.lint import errors, lint, render_finding
from graphs.plan import Dependency, NodeId, Plan, SubTask
from graphs.scopes import Region

RESPLIT_FACTOR: Final = 2
"""A region may be re-split into at most this many times its nodes (semantics 5, envelope)."""

_HALVED: Final[Mapping[str, tuple[str, ...]]] = {
    "research": ("questions", "fields"),
    "check": ("statements",),
}
"""Lists of things that such a sub-task does one by one, so that two sub-tasks can share them."""

_NUMBER = re.compile(r"n(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resplit:
    """A plan with a region split anew."""

    plan: Plan
    edit: CompositeEdit
    """Makes `plan` of the plan before, and has an inverse."""
    diff: PlanDiff
    repairs: tuple[PlanRepair, ...] = ()
    calls: tuple[PlanningCall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoResplit:
    """The region can't be split anew; a person decides."""

    reason: str
    repairs: tuple[PlanRepair, ...] = ()
    calls: tuple[PlanningCall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSplit:
    """What is to stand in the place of a region."""

    subtasks: tuple[SubTask, ...]
    """Under ids that no sub-task outside of the region has."""
    inner: tuple[Dependency, ...] = ()
    edges_in: tuple[Dependency, ...] = ()
    """From outside of the region; each source fed the region before."""


def resplit_region(plan: Plan, contract: TaskContract, region: Region, lang: Lang) -> Resplit | NoResplit:
    """Return the plan with every sub-task of the region halved that asks for several things.

    The halves keep domains, tools and neighbours, so that the approved agents can take them. What asks for one thing
    stays as it is; a region of nothing else can't be re-split without a model.
    """
    inside = [subtask for subtask in plan.subtasks if subtask.id in region.nodes]
    ids = (NodeId(f"n{number}") for number in count(highest_number(plan) + 1))
    parts: dict[NodeId, tuple[SubTask, ...]] = {}
    for subtask in inside:
        halves = _halves(subtask, contract, lang)
        parts[subtask.id] = tuple(replace(half, id=next(ids)) for half in halves) if halves else (subtask,)
    if all(len(own) == 1 for own in parts.values()):
        told = {
            "en": "no sub-task of the region asks for more than one thing",
            "zh": "该区域没有一次要做几件事的子任务",
        }
        return NoResplit(reason=told[lang])
    inner = [e for e in plan.dependencies if e.source in parts and e.target in parts]
    return fit_region(
        plan,
        contract,
        region,
        NewSplit(
            subtasks=tuple(part for own in parts.values() for part in own),
            inner=tuple(
                replace(edge, source=source.id, target=target.id)
                for edge in inner
                for source in parts[edge.source]
                for target in parts[edge.target]
            ),
            edges_in=tuple(
                replace(edge, target=target.id) for edge in region.edges_in for target in parts[edge.target]
            ),
        ),
        lang,
    )


def fit_region(
    plan: Plan, contract: TaskContract, region: Region, split: NewSplit, lang: Lang
) -> Resplit | NoResplit:
    """Return the plan with `split` in the place of the region, or why it may not stand there.

    Each edge out of the region is fed by every last sub-task of the split that gives its type. Criteria of the region
    go to the sub-tasks that ask for them; a criterion that none asks for is a reason to refuse.
    """
    words = _WORDS[lang]
    most = RESPLIT_FACTOR * len(region.nodes)
    if not 0 < len(split.subtasks) <= most:
        return NoResplit(reason=words["size"].format(n=len(split.subtasks), most=most))
    criteria = _criteria_of(plan, contract, region.nodes)
    accepted = _accepting(split, criteria)
    lost = [c.id for c in criteria if not _satisfied(c, plan, region, accepted)]
    if lost:
        return NoResplit(reason=words["criteria"].format(ids=", ".join(lost)))
    edges_out: list[Dependency] = []
    for edge in region.edges_out:
        wanted = _type_of(plan, edge)
        fed = [
            replace(edge, source=subtask.id, output=port.name)
            for subtask in _last(split, accepted)
            for port in subtask.outputs
            if port.type == wanted
        ]
        if not fed:
            return NoResplit(reason=words["edge"].format(type=wanted, target=edge.target))
        edges_out.extend(fed)
    edit = _edit(plan, region, accepted, (*split.inner, *split.edges_in, *dict.fromkeys(edges_out)))
    try:
        after = apply_edit(plan, edit).plan
    except EditError as error:
        return NoResplit(reason=str(error))
    faults = errors(lint(after, contract))
    if faults:
        return NoResplit(reason="; ".join(render_finding(fault, lang) for fault in faults))
    return Resplit(plan=after, edit=edit, diff=diff_plans(plan, after))


def asked_by(subtask: SubTask) -> frozenset[str]:
    """Return what a sub-task asks for: questions, statements, its topic, and its fields by their full names."""
    return frozenset((*_texts(subtask.params, "questions", "statements"), *_named(subtask)))


def _named(subtask: SubTask) -> tuple[str, ...]:
    params = subtask.params
    found = []
    if isinstance(topic := params.get("topic"), str):
        found.append(topic)
    rows = (
        *_texts(params, "rows", "items"),
        *([item] if isinstance(item := params.get("item"), str) else []),
    )
    columns = _texts(params, "columns", "aspects", "fields")
    found.extend(columns)
    found.extend(f"{row} / {column}" for row in rows for column in columns)
    return tuple(found)


def _texts(params: Mapping[str, JsonValue], *names: str) -> tuple[str, ...]:
    listed = [params.get(name) for name in names]
    return tuple(str(text) for texts in listed if isinstance(texts, list | tuple) for text in texts)


def highest_number(plan: Plan) -> int:
    """Return the highest number of an id like `n7`; 0 where there is none."""
    return max((int(m[1]) for s in plan.subtasks if (m := _NUMBER.fullmatch(s.id))), default=0)


def _halves(subtask: SubTask, contract: TaskContract, lang: Lang) -> tuple[SubTask, ...]:
    """Return two sub-tasks that share what one asks for; none for one that asks for a single thing."""
    name = next((n for n in _HALVED.get(subtask.operation, ()) if len(_texts(subtask.params, n)) > 1), None)
    if name is None:
        return ()
    listed = _texts(subtask.params, name)
    middle = -(-len(listed) // 2)
    halves = []
    for own in (listed[:middle], listed[middle:]):
        half = replace(
            subtask,
            title=shorten("; ".join(own), lang),
            params={**subtask.params, name: list(own)},
            estimate=subtask.estimate * len(own) / len(listed),
        )
        asked = asked_by(half)
        kept = {c.id for c in contract.acceptance if (c.question or c.field) is None}
        kept |= {c.id for c in contract.acceptance if (c.question or c.field) in asked}
        halves.append(replace(half, acceptance=tuple(c for c in subtask.acceptance if c in kept)))
    return tuple(halves)


def _criteria_of(plan: Plan, contract: TaskContract, nodes: Collection[NodeId]) -> tuple[Criterion, ...]:
    """Return the criteria that the region has to satisfy and nothing outside of it does alone."""
    named = {c for subtask in plan.subtasks if subtask.id in nodes for c in subtask.acceptance}
    return tuple(criterion for criterion in contract.acceptance if criterion.id in named)


def _accepting(split: NewSplit, criteria: Sequence[Criterion]) -> tuple[SubTask, ...]:
    """Give each criterion to the sub-tasks that ask for it; one without words of its own to the last ones."""
    last = {subtask.id for subtask in _last(split, split.subtasks)}
    accepted = []
    for subtask in split.subtasks:
        asked = asked_by(subtask)
        own = [
            c.id
            for c in criteria
            if ((c.question or c.field) in asked if (c.question or c.field) else subtask.id in last)
        ]
        accepted.append(replace(subtask, acceptance=tuple(own)))
    return tuple(accepted)


def _satisfied(criterion: Criterion, plan: Plan, region: Region, accepted: Sequence[SubTask]) -> bool:
    """Tell whether somebody takes a criterion on; what was searched for before has to be searched for again."""
    able = [subtask for subtask in accepted if criterion.id in subtask.acceptance]
    text = criterion.question or criterion.field
    searched = text is not None and any(
        subtask.id in region.nodes and tools_of(subtask.operation) and text in asked_by(subtask)
        for subtask in plan.subtasks
    )
    return any(tools_of(subtask.operation) for subtask in able) if searched else bool(able)


def _last(split: NewSplit, subtasks: Sequence[SubTask]) -> tuple[SubTask, ...]:
    used = {edge.source for edge in split.inner}
    return tuple(subtask for subtask in subtasks if subtask.id not in used)


def _type_of(plan: Plan, edge: Dependency) -> str:
    source = next(subtask for subtask in plan.subtasks if subtask.id == edge.source)
    return next(port.type for port in source.outputs if port.name == edge.output)


def _edit(
    plan: Plan, region: Region, subtasks: Sequence[SubTask], edges: Sequence[Dependency]
) -> CompositeEdit:
    first = next(place for place, subtask in enumerate(plan.subtasks) if subtask.id in region.nodes)
    gone = [subtask.id for subtask in plan.subtasks if subtask.id in region.nodes]
    return compose(
        *(RemoveNode(node=node) for node in gone),
        *(AddNode(subtask=subtask, position=first + n) for n, subtask in enumerate(subtasks)),
        *(Connect(dependency=edge) for edge in edges),
    )


_WORDS: Final[Mapping[Lang, Mapping[str, str]]] = {
    "en": {
        "size": "the new split has {n} sub-tasks; accepted are 1 to {most}, twice those of the region",
        "criteria": "no sub-task of the new split asks for {ids}",
        "edge": "no last sub-task of the new split gives the {type} that {target} takes",
    },
    "zh": {
        "size": "新的拆分有 {n} 个子任务；可接受 1 到 {most} 个，即原区域的两倍以内",
        "criteria": "新的拆分没有子任务负责 {ids}",
        "edge": "新的拆分末端没有子任务给出 {target} 所需的 {type}",
    },
}
