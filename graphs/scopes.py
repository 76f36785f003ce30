"""What a backtrack invalidates (specification 5.2, semantics 6).

A node that depends on an invalidated node was built on it, so every scope is closed under descendants; completed
and running siblings stay.
"""

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, assert_never

from graphs.plan import Dependency, NodeId, PlanIndex

BacktrackLevel = Literal["node", "parent", "path", "global"]
"""How far a backtrack goes.

- `node`: the node and what was built on it.
- `parent`: the parent that the diagnosis blames, and every descendant of it.
- `path`: the dependency chain on which consecutive blockages lie, and every descendant of it.
- `global`: every node; only by class D or by a person.
"""


class ScopeError(ValueError):
    """Raised for a backtrack that does not fit the plan. A bug of the caller, never of a user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """The part of a plan that a re-split replaces, with the edges that a new split has to serve."""

    nodes: frozenset[NodeId]
    """What is replaced: convex, so whatever stands in for it as a DAG leaves the plan a DAG."""
    invalidated: frozenset[NodeId]
    """`nodes` and every descendant. All other results stay valid."""
    edges_in: tuple[Dependency, ...]
    """From outside into the region, in the plan's order."""
    edges_out: tuple[Dependency, ...]
    """From the region to outside, in the plan's order."""


def invalidated(
    index: PlanIndex,
    level: BacktrackLevel,
    node: NodeId,
    *,
    blamed: NodeId | None = None,
    path: Sequence[NodeId] = (),
) -> frozenset[NodeId]:
    """Give the nodes whose results a backtrack from `node` throws away (semantics 6).

    `blamed` is needed at level `parent`: the node upstream of `node` that the diagnosis blames, else the
    predecessor that completed last; a node without predecessors stands for itself. `path` is needed at level
    `path`: from a node without predecessors along edges to `node` (`dependency_chain` finds one).

    Raises `ScopeError` for an unknown node, a `blamed` that is not upstream, a `path` that is no such chain.
    O(size of the answer and its edges), at level `parent` also of what is upstream.
    """
    _require(index, node)
    match level:
        case "node":
            roots: Sequence[NodeId] = (node,)
        case "parent":
            roots = (_blamed_parent(index, node, blamed),)
        case "path":
            _require_chain(index, node, path)
            roots = path
        case "global":
            return frozenset(index.order)
        case _:
            assert_never(level)
    return frozenset(roots) | index.descendants(*roots)


def dependency_chain(
    index: PlanIndex, node: NodeId, *, through: Iterable[NodeId] = ()
) -> tuple[NodeId, ...] | None:
    """Give a shortest chain from a boundary node along edges to `node` that passes all nodes of `through`.

    None if these lie on no common path, which means that their blockages are not consecutive in the sense of
    class D (semantics 5).
    """
    wanted = {*through, node}
    for stop in wanted:
        _require(index, stop)
    stops = sorted(wanted, key=index.rank, reverse=True)
    if stops[0] != node:
        return None
    chain: list[NodeId] = [node]
    for stop in stops[1:]:
        part = _way_up(index, chain[-1], {stop})
        if part is None:
            return None
        chain += part[1:]
    part = _way_up(index, chain[-1], frozenset(index.entries))
    assert part is not None, "every node of a DAG has an ancestor without predecessors, or is one"
    chain += part[1:]
    return tuple(reversed(chain))


def affected_region(index: PlanIndex, blocked: Collection[NodeId]) -> Region:
    """Give the region that class D re-splits: the blocked nodes and every node on a path between two of them.

    Raises `ScopeError` for an unknown node or for no node at all.
    """
    if not blocked:
        raise ScopeError("A region needs at least one blocked node; got none.")
    for node in blocked:
        _require(index, node)
    below = index.descendants(*blocked)
    nodes = frozenset(blocked) | (below & index.ancestors(*blocked))
    edges = index.plan.dependencies
    return Region(
        nodes=nodes,
        invalidated=nodes | below,
        edges_in=tuple(edge for edge in edges if edge.target in nodes and edge.source not in nodes),
        edges_out=tuple(edge for edge in edges if edge.source in nodes and edge.target not in nodes),
    )


def _require(index: PlanIndex, node: NodeId) -> None:
    if node not in index:
        raise ScopeError(f"Node {node!r} is not in the plan; pass a node of the revision that runs.")


def _blamed_parent(index: PlanIndex, node: NodeId, blamed: NodeId | None) -> NodeId:
    if not index.predecessors(node) and blamed in (None, node):
        return node
    upstream = index.ancestors(node)
    if blamed is None or blamed not in upstream:
        accepted = sorted(upstream, key=index.rank)
        raise ScopeError(
            f"Level 'parent' of {node!r} got blamed={blamed!r}; accepted is one of {accepted!r}."
        )
    return blamed


def _require_chain(index: PlanIndex, node: NodeId, path: Sequence[NodeId]) -> None:
    if not path or path[-1] != node:
        raise ScopeError(f"Level 'path' of {node!r} got path={tuple(path)!r}; it has to end in the node.")
    for member in path:
        _require(index, member)
    if index.predecessors(path[0]):
        raise ScopeError(
            f"Level 'path' of {node!r} got a path from {path[0]!r}, which has predecessors; "
            "it has to start at a boundary node."
        )
    for before, after in pairwise(path):
        if after not in index.successors(before):
            raise ScopeError(f"Level 'path' of {node!r} got a path with no edge {before!r} -> {after!r}.")


def _way_up(index: PlanIndex, start: NodeId, goals: Collection[NodeId]) -> list[NodeId] | None:
    """Give a shortest path against the edges, from `start` to a goal, both included."""
    came_from: dict[NodeId, NodeId | None] = {start: None}
    frontier = deque([start])
    while frontier:
        node = frontier.popleft()
        if node in goals:
            way = [node]
            while (before := came_from[way[-1]]) is not None:
                way.append(before)
            return way[::-1]
        for parent in index.predecessors(node):
            if parent not in came_from:
                came_from[parent] = node
                frontier.append(parent)
    return None
