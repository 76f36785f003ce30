"""Make a graph out of proposed steps: distinct ids, edges whose ends exist, no cycle. Every change is a repair.

An edge runs from a step to one that comes `after` it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from agents.operations import OPERATIONS
from agents.planning.model.steps import Step
from agents.planning.repairs import PlanRepair, repair


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """Steps, and what was done to them."""

    steps: tuple[Step, ...]
    repairs: tuple[PlanRepair, ...] = ()


def mend_graph(steps: Sequence[Step], outside: Collection[str] = ()) -> Mended:
    """Return the steps as a DAG over distinct ids, in the order written.

    An edge from one of `outside` becomes `Step.given`; an id of the steps' own goes first.
    """
    found: list[PlanRepair] = []
    named = _distinct(steps, found)
    joined = _joined(named, outside, found)
    return Mended(steps=_acyclic(joined, found), repairs=tuple(found))


def mend_edges(steps: Sequence[Step]) -> Mended:
    """Return the steps with edges that carry what their ends give and take; of known operations, a DAG.

    Every operation takes claims; a table goes into `synthesise` only. A step that was to follow a table follows the
    steps that the table is made of.
    """
    found: list[PlanRepair] = []
    by_id = {step.id: step for step in steps}
    mended = []
    for step in steps:
        after: dict[str, None] = {}
        for source in step.after:
            given = OPERATIONS[by_id[source].operation].outputs[0].type
            if given != "table" or step.operation == "synthesise":
                after[source] = None
                continue
            behind = _claims_behind(source, by_id)
            after.update(dict.fromkeys(behind))
            done = f"→ {', '.join(behind)}" if behind else "✂"
            found.append(
                repair("bad_edge", id=step.id, operation=step.operation, source=source, type=given, done=done)
            )
        mended.append(replace(step, after=tuple(after)))
    return Mended(steps=tuple(mended), repairs=tuple(found))


def without(steps: Sequence[Step], gone: str) -> tuple[Step, ...]:
    """Return the steps without one of them: what followed it follows what it followed."""
    left = next((step for step in steps if step.id == gone), None)
    if left is None:
        return tuple(steps)
    return tuple(
        replace(
            step,
            after=_replaced(step.after, gone, left.after),
            given=tuple(dict.fromkeys((*step.given, *(left.given if gone in step.after else ())))),
        )
        for step in steps
        if step.id != gone
    )


def replaced(steps: Sequence[Step], old: str, by: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps with several in the place of one; what followed it follows all of them."""
    ids = tuple(step.id for step in by)
    placed: list[Step] = []
    for step in steps:
        if step.id == old:
            placed.extend(by)
        else:
            placed.append(replace(step, after=_replaced(step.after, old, ids)))
    return tuple(placed)


def in_order(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps of a DAG so that each stands behind those it follows, else in the order written."""
    waiting = list(steps)
    placed: dict[str, Step] = {}
    while waiting:
        step = next(step for step in waiting if all(source in placed for source in step.after))
        placed[step.id] = step
        waiting.remove(step)
    return tuple(placed.values())


def longest_chain(steps: Sequence[Step]) -> int:
    """Return the number of steps on the longest chain of a DAG; 0 for none."""
    depth: dict[str, int] = {}
    for step in in_order(steps):
        depth[step.id] = 1 + max((depth[source] for source in step.after), default=0)
    return max(depth.values(), default=0)


def followers(steps: Sequence[Step]) -> dict[str, tuple[str, ...]]:
    """Return which steps come after each step."""
    return {step.id: tuple(other.id for other in steps if step.id in other.after) for step in steps}


def fresh_id(wanted: str, taken: Collection[str]) -> str:
    """Return `wanted`, or with a number behind it where it is taken."""
    if wanted not in taken:
        return wanted
    number = 2
    while f"{wanted}-{number}" in taken:
        number += 1
    return f"{wanted}-{number}"


def _distinct(steps: Sequence[Step], found: list[PlanRepair]) -> list[Step]:
    named: dict[str, Step] = {}
    taken = {step.id for step in steps}
    for step in steps:
        if step.id in named:
            new = fresh_id(step.id, taken | set(named))
            found.append(repair("duplicate_id", id=step.id, new=new))
            named[new] = replace(step, id=new)
        else:
            named[step.id] = step
    return list(named.values())


def _joined(steps: Sequence[Step], outside: Collection[str], found: list[PlanRepair]) -> list[Step]:
    """Cut the edges without a source; an id is found in upper and lower case."""
    ids = {step.id for step in steps}
    folded = {step.id.casefold(): step.id for step in reversed(steps)}
    given_as = {name.casefold(): name for name in outside}
    joined = []
    for step in steps:
        after: dict[str, None] = {}
        given: dict[str, None] = {}
        for name in step.after:
            source = name if name in ids else folded.get(name.casefold())
            if source is None and name.casefold() in given_as:
                given[given_as[name.casefold()]] = None
            elif source is None:
                found.append(repair("dangling_id", id=step.id, missing=name))
            elif source == step.id:
                found.append(repair("self_edge", id=step.id))
            else:
                after[source] = None
        joined.append(replace(step, after=tuple(after), given=tuple(given)))
    return joined


def _acyclic(steps: Sequence[Step], found: list[PlanRepair]) -> tuple[Step, ...]:
    """Cut, cycle by cycle, the edge that runs against the written order and was written last.

    A plan is written about in the order in which it is to happen, so an edge from a later step to an earlier one is the
    likelier slip; every cycle has one.
    """
    places = {step.id: place for place, step in enumerate(steps)}
    after = {step.id: list(step.after) for step in steps}
    while (cycle := _cycle(after)) is not None:
        edges = list(pairwise(cycle))
        against = [(source, target) for source, target in edges if places[source] > places[target]]
        source, target = max(against, key=lambda edge: (places[edge[1]], after[edge[1]].index(edge[0])))
        after[target].remove(source)
        found.append(repair("cycle", path=" → ".join(cycle), edge=f"{source} → {target}"))
    return tuple(replace(step, after=tuple(after[step.id])) for step in steps)


def _cycle(after: Mapping[str, Sequence[str]]) -> tuple[str, ...] | None:
    """Return one cycle along the edges, its first id again at the end; `None` for a DAG."""
    done: set[str] = set()
    for start in after:
        path: list[str] = []
        on_path: dict[str, int] = {}
        stack: list[tuple[str, bool]] = [(start, False)]
        while stack:
            node, leaving = stack.pop()
            if leaving:
                done.add(node)
                on_path.pop(path.pop())
            elif node in on_path:
                # Walked from target to source; turned round it runs along the edges.
                loop = [*path[on_path[node] :], node]
                return tuple(reversed(loop))
            elif node not in done:
                on_path[node] = len(path)
                path.append(node)
                stack.append((node, True))
                stack.extend((source, False) for source in reversed(after[node]))
    return None


def _claims_behind(node: str, by_id: Mapping[str, Step]) -> tuple[str, ...]:
    return tuple(
        source
        for source in by_id[node].after
        if OPERATIONS[by_id[source].operation].outputs[0].type == "claims"
    )


def _replaced(after: Sequence[str], old: str, by: Sequence[str]) -> tuple[str, ...]:
    new: dict[str, None] = {}
    for source in after:
        new.update(dict.fromkeys(by if source == old else (source,)))
    return tuple(new)
