"""Patches: the exact difference between a plan and its edited form, and how to apply one."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from graphs.editing.errors import EditCode, EditError
from graphs.editing.operations import Patch, PlacedEdge, PlacedNode
from graphs.plan import Dependency, Plan, canonical_subtask

T = TypeVar("T")


def patch_between(before: Plan, after: Plan) -> Patch:
    """Give the patch from `before` to `after`, where what stays is the same object in the same order."""
    nodes_out, nodes_in = _moves(before.subtasks, after.subtasks)
    edges_out, edges_in = _moves(before.dependencies, after.dependencies)
    return Patch(
        nodes_out=tuple(PlacedNode(index=i, subtask=node) for i, node in nodes_out),
        nodes_in=tuple(PlacedNode(index=i, subtask=node) for i, node in nodes_in),
        edges_out=tuple(PlacedEdge(index=i, dependency=edge) for i, edge in edges_out),
        edges_in=tuple(PlacedEdge(index=i, dependency=edge) for i, edge in edges_in),
    )


def apply_patch(plan: Plan, patch: Patch) -> Plan:
    """Take out and put in, place by place.

    Raises `EditError` if the plan does not hold exactly what the patch takes out. Soundness is not checked:
    undoing the edit that cut a cycle brings the cycle back.
    """
    nodes = _replaced(
        plan.subtasks,
        [(placed.index, placed.subtask) for placed in patch.nodes_out],
        [(placed.index, placed.subtask) for placed in patch.nodes_in],
        same=lambda one, other: canonical_subtask(one) == canonical_subtask(other),
        name=lambda node: f"node {node.id!r}",
    )
    edges = _replaced(
        plan.dependencies,
        [(placed.index, placed.dependency) for placed in patch.edges_out],
        [(placed.index, placed.dependency) for placed in patch.edges_in],
        same=lambda one, other: one == other,
        name=_edge_name,
    )
    return Plan(subtasks=nodes, dependencies=edges)


def _moves(before: Sequence[T], after: Sequence[T]) -> tuple[list[tuple[int, T]], list[tuple[int, T]]]:
    old = {id(item) for item in before}
    taken: list[tuple[int, T]] = []
    put: list[tuple[int, T]] = []
    place = 0
    for index, item in enumerate(after):
        if id(item) not in old:
            put.append((index, item))
            continue
        while before[place] is not item:
            taken.append((place, before[place]))
            place += 1
        place += 1
    taken.extend((index, before[index]) for index in range(place, len(before)))
    return taken, put


def _replaced(
    items: Sequence[T],
    taken: Iterable[tuple[int, T]],
    put: Iterable[tuple[int, T]],
    *,
    same: Callable[[T, T], bool],
    name: Callable[[T], str],
) -> tuple[T, ...]:
    gone = set[int]()
    for index, item in taken:
        if not 0 <= index < len(items) or index in gone or not same(items[index], item):
            raise EditError(EditCode.STALE, what=name(item))
        gone.add(index)
    kept = iter([item for index, item in enumerate(items) if index not in gone])
    result: list[T] = []
    for index, item in put:
        if index < len(result):
            raise EditError(EditCode.STALE, what=name(item))
        while len(result) < index:
            stays = next(kept, None)
            if stays is None:
                raise EditError(EditCode.STALE, what=name(item))
            result.append(stays)
        result.append(item)
    result.extend(kept)
    return tuple(result)


def _edge_name(edge: Dependency) -> str:
    return f"edge {edge.source}.{edge.output} -> {edge.target}.{edge.input}"
