"""Coordinates of a plan for the page: layers from left to right, few crossings, the same for the same plan.

Sugiyama's scheme: layers by longest path from the entries, places for long edges, barycentre sweeps, rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from graphs.plan import NodeId, PlanIndex

SWEEPS: Final = 4
"""Passes of the barycentre heuristic, forth and back; more change little."""

MAX_BENDS: Final = 20_000
"""Long edges get places in the layers they cross until this many are used; the rest are straight lines.

It keeps the layout linear for plans whose edges cross many layers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePlace:
    """Where a node stands. Units: 1 per layer and 1 per row."""

    node: NodeId
    x: float
    """Layer, from 0; every edge goes to a larger x."""
    y: float
    """Row, from 0; nodes of one layer differ by at least 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A bend of an edge."""

    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeRoute:
    """The bends of the edge between two nodes, from source to target, ends not included."""

    source: NodeId
    target: NodeId
    bends: tuple[Point, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A drawn plan."""

    nodes: tuple[NodePlace, ...]
    """In topological order."""
    edges: tuple[EdgeRoute, ...]
    """One for each pair of nodes that are joined, in topological order of the source."""
    width: float
    """Number of layers."""
    height: float
    """Number of rows of the fullest layer, places of long edges included."""


def lay_out(index: PlanIndex) -> Layout:
    """Place every node. Depends on the plan only, not on the order in which it is written.

    O(sweeps x (nodes + edges + bends) x log of the fullest layer).
    """
    layer_of = layers(index)
    routes = _routes(index, layer_of)
    rows = _ordered(_columns(layer_of, routes), _links(routes))
    height = max((len(column) for column in rows), default=0)
    y_of: dict[_Place, float] = {}
    for column in rows:
        shift = (height - len(column)) / 2
        y_of |= {place: row + shift for row, place in enumerate(column)}
    return Layout(
        nodes=tuple(NodePlace(node=n, x=float(layer_of[n]), y=y_of[(n, None)]) for n in index.order),
        edges=tuple(
            EdgeRoute(
                source=source,
                target=target,
                bends=tuple(
                    Point(x=float(layer_of[source] + step), y=y_of[place])
                    for step, place in enumerate(places[1:-1], start=1)
                ),
            )
            for (source, target), places in routes.items()
        ),
        width=float(len(rows)),
        height=float(height),
    )


def layers(index: PlanIndex) -> Mapping[NodeId, int]:
    """Give each node's layer: the number of edges on the longest path that leads to it."""
    layer: dict[NodeId, int] = {}
    for node in index.order:
        layer[node] = max((layer[before] + 1 for before in index.predecessors(node)), default=0)
    return layer


# A place in a column: a node, or the bend of the edge (node, target) that the second part names.
_Place = tuple[NodeId, tuple[NodeId, int] | None]


def _routes(
    index: PlanIndex, layer_of: Mapping[NodeId, int]
) -> dict[tuple[NodeId, NodeId], tuple[_Place, ...]]:
    routes: dict[tuple[NodeId, NodeId], tuple[_Place, ...]] = {}
    used = 0
    for source in index.order:
        for target in index.successors(source):
            crossed = layer_of[target] - layer_of[source] - 1
            bends: list[_Place] = []
            if used + crossed <= MAX_BENDS:
                used += crossed
                bends = [(source, (target, layer_of[source] + step)) for step in range(1, crossed + 1)]
            routes[(source, target)] = ((source, None), *bends, (target, None))
    return routes


def _columns(
    layer_of: Mapping[NodeId, int], routes: Mapping[tuple[NodeId, NodeId], Sequence[_Place]]
) -> list[list[_Place]]:
    columns: list[list[_Place]] = [[] for _ in range(max(layer_of.values(), default=-1) + 1)]
    for node, layer in layer_of.items():
        columns[layer].append((node, None))
    for places in routes.values():
        for place in places[1:-1]:
            assert place[1] is not None, "what stands between two nodes is a bend"
            columns[place[1][1]].append(place)
    return columns


@dataclass(frozen=True, slots=True, kw_only=True)
class _Links:
    before: Mapping[_Place, Sequence[_Place]]
    after: Mapping[_Place, Sequence[_Place]]


def _links(routes: Mapping[tuple[NodeId, NodeId], Sequence[_Place]]) -> _Links:
    before: dict[_Place, list[_Place]] = {}
    after: dict[_Place, list[_Place]] = {}
    for places in routes.values():
        for left, right in pairwise(places):
            before.setdefault(right, []).append(left)
            after.setdefault(left, []).append(right)
    return _Links(before=before, after=after)


def _ordered(columns: list[list[_Place]], links: _Links) -> list[list[_Place]]:
    """Sort each column by the mean row of its neighbours, forth and back; equal means keep their order."""
    row_of = {place: float(row) for column in columns for row, place in enumerate(column)}
    for sweep in range(SWEEPS):
        forth = sweep % 2 == 0
        neighbours = links.before if forth else links.after
        for column in columns if forth else reversed(columns):
            means = {place: _mean_row(place, neighbours.get(place, ()), row_of) for place in column}
            column.sort(key=means.__getitem__)
            row_of |= {place: float(row) for row, place in enumerate(column)}
    return columns


def _mean_row(place: _Place, neighbours: Sequence[_Place], row_of: Mapping[_Place, float]) -> float:
    if not neighbours:
        return row_of[place]
    return sum(row_of[neighbour] for neighbour in neighbours) / len(neighbours)
