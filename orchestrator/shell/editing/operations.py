"""The edit of a plan as the operations of `graphs.edits`: what a person asked for by changing the document."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from graphs.contract import Lang
from graphs.diff import NodeChange, diff_plans, render_diff
from graphs.edits import (
    AddNode,
    Connect,
    Cut,
    EditError,
    Patch,
    PlacedEdge,
    PlacedNode,
    RemoveNode,
    RenameNode,
    SimpleEdit,
    UpdateNode,
    apply_edit,
)
from graphs.plan import Boundary, Plan, SubTask, canonical_subtask


def plan_operations(old: Plan, new: Plan) -> tuple[SimpleEdit, ...]:
    """Return the operations that, applied to `old` one after the other, give `new`, order included; none for equals.

    Renamings, then edges and nodes that go, changed fields, nodes and edges that come, boundaries that are declared
    otherwise than the edges say, and a patch for the order that is left. A plan that these can't build because it is
    not sound comes by one patch. Raises `InvalidPlanError` if a plan uses an id twice.
    """
    steps = _Steps(old)
    try:
        steps.go_to(new)
    except EditError:
        return (_patch(old, new),)
    return tuple(steps.done)


def render_operations(plan: Plan, operations: Sequence[SimpleEdit], lang: Lang) -> Iterator[str]:
    """Yield the lines that say what `operations` do to `plan`, as `graphs.diff.render_diff` words them.

    What follows from an operation is not said: the boundaries that new edges give, references to a renamed node. Nor
    is a boundary that ends up as it was, or a change of order. Raises `EditError` for an operation that does not fit.
    """
    boundaries = {subtask.id: subtask.boundary for subtask in plan.subtasks}
    for operation in operations:
        after = apply_edit(plan, operation).plan
        diff = diff_plans(plan, after)
        if isinstance(operation, RenameNode):
            boundaries[operation.to] = boundaries.pop(operation.node)
        stated = diff.changed if isinstance(operation, UpdateNode | Patch) else ()
        said = [_since(change, boundaries.get(change.node)) for change in stated]
        diff = replace(diff, changed=tuple(change for change in said if change.changes))
        if not diff.empty:
            yield from render_diff(diff, lang).split("\n")
        plan = after


def _since(change: NodeChange, boundary: Boundary | None) -> NodeChange:
    """Return a change with the boundary that the node had at first as the old one, without it where that came back."""
    parts = (
        replace(part, old=boundary) if part.field == "boundary" and boundary else part
        for part in change.changes
    )
    return replace(
        change, changes=tuple(part for part in parts if part.old != part.new or part.field != "boundary")
    )


class _Steps:
    """The operations so far and the plan that they make."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.done: list[SimpleEdit] = []

    def go_to(self, new: Plan) -> None:
        """Add the operations that lead to `new`; raises `EditError` where one does not fit."""
        for pair in diff_plans(self.plan, new).renamed:
            self._do(RenameNode(node=pair.old, to=pair.new))
        wanted = {subtask.id: subtask for subtask in new.subtasks}
        kept = set(new.dependencies)
        for edge in dict.fromkeys(edge for edge in self.plan.dependencies if edge not in kept):
            self._do(Cut(dependency=edge))
        for subtask in self.plan.subtasks:
            if subtask.id not in wanted:
                self._do(RemoveNode(node=subtask.id))
        for change in diff_plans(self.plan, new).changed:
            names = {part.field for part in change.changes} - {"boundary"}
            if names:
                self._do(_update(change, wanted[change.node], names))
        known = {subtask.id for subtask in self.plan.subtasks}
        for place, subtask in enumerate(new.subtasks):
            if subtask.id not in known:
                self._do(AddNode(subtask=subtask, position=place))
        known_edges = set(self.plan.dependencies)
        for edge in dict.fromkeys(edge for edge in new.dependencies if edge not in known_edges):
            self._do(Connect(dependency=edge))
        for change in diff_plans(self.plan, new).changed:
            self._do(_update(change, wanted[change.node], {"boundary"}))
        rest = _patch(self.plan, new)
        if rest != Patch():
            self._do(rest)

    def _do(self, operation: SimpleEdit) -> None:
        self.plan = apply_edit(self.plan, operation).plan
        self.done.append(operation)


def _update(change: NodeChange, wanted: SubTask, names: set[str]) -> UpdateNode:
    values = {name: getattr(wanted, name) for name in sorted(names)}
    return UpdateNode(node=change.node, **values)


def _patch(before: Plan, after: Plan) -> Patch:
    """Return the patch between two plans, whatever they are; what stays in order is left alone."""
    nodes_out, nodes_in = _moved(
        [canonical_subtask(node) for node in before.subtasks],
        [canonical_subtask(node) for node in after.subtasks],
    )
    edges_out, edges_in = _moved(before.dependencies, after.dependencies)
    return Patch(
        nodes_out=tuple(PlacedNode(index=i, subtask=before.subtasks[i]) for i in nodes_out),
        nodes_in=tuple(PlacedNode(index=i, subtask=after.subtasks[i]) for i in nodes_in),
        edges_out=tuple(PlacedEdge(index=i, dependency=before.dependencies[i]) for i in edges_out),
        edges_in=tuple(PlacedEdge(index=i, dependency=after.dependencies[i]) for i in edges_in),
    )


def _moved(before: Sequence[Hashable], after: Sequence[Hashable]) -> tuple[list[int], list[int]]:
    """Return the places in `before` that go and those in `after` that come."""
    gone: list[int] = []
    come: list[int] = []
    for tag, start, end, new_start, new_end in SequenceMatcher(
        None, before, after, autojunk=False
    ).get_opcodes():
        if tag != "equal":
            gone.extend(range(start, end))
            come.extend(range(new_start, new_end))
    return gone, come
