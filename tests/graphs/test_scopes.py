"""The scopes against a second definition: transitive closure by powers of the adjacency matrix."""

from collections.abc import Iterable
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphs.plan import NodeId, Plan, index_plan
from graphs.scopes import ScopeError, affected_region, dependency_chain, invalidated
from tests import strategies
from tests.strategies import hand_plan

A, B, C, D, E = map(NodeId, "abcde")


class Closure:
    """Reachability over zero or more edges, by squaring a boolean matrix until nothing changes."""

    def __init__(self, plan: Plan) -> None:
        self.nodes = [node.id for node in plan.subtasks]
        place = {node: i for i, node in enumerate(self.nodes)}
        reach = np.eye(len(self.nodes), dtype=bool)
        for edge in plan.dependencies:
            reach[place[edge.source], place[edge.target]] = True
        for _ in self.nodes:
            reach = reach @ reach
        self.reach, self.place = reach, place

    def built_on(self, roots: Iterable[NodeId]) -> set[NodeId]:
        return {n for root in roots for n in self.nodes if self.reaches(root, n)}

    def reaches(self, source: NodeId, target: NodeId) -> bool:
        return bool(self.reach[self.place[source], self.place[target]])


some_plans = strategies.plans(min_nodes=1, max_nodes=8)


@given(some_plans)
def test_node_and_global(plan: Plan) -> None:
    index, closure = index_plan(plan), Closure(plan)
    for node in closure.nodes:
        assert invalidated(index, "node", node) == closure.built_on([node])
        assert invalidated(index, "global", node) == set(closure.nodes)


@given(some_plans)
def test_parent(plan: Plan) -> None:
    index, closure = index_plan(plan), Closure(plan)
    for node in closure.nodes:
        upstream = {n for n in closure.nodes if n != node and closure.reaches(n, node)}
        for other in closure.nodes:
            if other in upstream:
                assert invalidated(index, "parent", node, blamed=other) == closure.built_on([other])
            elif upstream or other != node:
                with pytest.raises(ScopeError):
                    invalidated(index, "parent", node, blamed=other)
        if not upstream:
            assert invalidated(index, "parent", node) == closure.built_on([node])
        else:
            with pytest.raises(ScopeError, match="accepted is one of"):
                invalidated(index, "parent", node)


@given(some_plans, st.data())
def test_path(plan: Plan, data: st.DataObject) -> None:
    index, closure = index_plan(plan), Closure(plan)
    node = data.draw(st.sampled_from(closure.nodes))
    through = data.draw(st.sets(st.sampled_from(closure.nodes), max_size=3))
    chain = dependency_chain(index, node, through=through)
    stops = [*through, node]
    on_one_path = all(closure.reaches(x, node) for x in stops) and all(
        closure.reaches(x, y) or closure.reaches(y, x) for x in stops for y in stops
    )
    assert (chain is not None) == on_one_path
    if chain is None:
        return
    edges = {(edge.source, edge.target) for edge in plan.dependencies}
    targets = {target for _, target in edges}
    assert chain[0] not in targets
    assert chain[-1] == node
    assert through <= set(chain)
    assert all(pair in edges for pair in pairwise(chain))
    assert invalidated(index, "path", node, path=chain) == closure.built_on(chain)


@given(some_plans)
def test_wider_levels_contain_narrower_ones(plan: Plan) -> None:
    index = index_plan(plan)
    for node in index.order:
        chain = dependency_chain(index, node)
        assert chain is not None
        blamed = chain[-2] if len(chain) > 1 else None
        scopes = [
            invalidated(index, "node", node),
            invalidated(index, "parent", node, blamed=blamed),
            invalidated(index, "path", node, path=chain),
            invalidated(index, "global", node),
        ]
        assert all(narrow <= wide for narrow, wide in pairwise(scopes))


@given(some_plans, st.data())
def test_region_is_convex_and_keeps_what_is_valid(plan: Plan, data: st.DataObject) -> None:
    index, closure = index_plan(plan), Closure(plan)
    blocked = data.draw(st.sets(st.sampled_from(closure.nodes), min_size=1, max_size=3))
    region = affected_region(index, blocked)
    between = {
        n
        for n in closure.nodes
        if any(closure.reaches(x, n) for x in blocked) and any(closure.reaches(n, y) for y in blocked)
    }
    assert region.nodes == between
    assert region.invalidated == closure.built_on(blocked)
    # Contracting the region to one node leaves a DAG: no path leaves it and comes back.
    graph: nx.DiGraph[NodeId] = nx.DiGraph()
    name = {n: NodeId("region") if n in region.nodes else n for n in closure.nodes}
    graph.add_edges_from(
        (name[e.source], name[e.target]) for e in plan.dependencies if name[e.source] != name[e.target]
    )
    assert nx.is_directed_acyclic_graph(graph)
    inside = {e for e in plan.dependencies if e.source in region.nodes and e.target in region.nodes}
    touching = {e for e in plan.dependencies if e.source in region.nodes or e.target in region.nodes}
    assert set(region.edges_in) | set(region.edges_out) == touching - inside


def test_by_hand_siblings_stay() -> None:
    #   a > b > d > e     c hangs on a as well: a finished sibling of b that nothing touches
    index = index_plan(hand_plan("a>b a>c b>d d>e"))
    assert invalidated(index, "node", D) == {D, E}
    assert invalidated(index, "parent", D, blamed=B) == {B, D, E}
    assert dependency_chain(index, D, through=[B]) == (A, B, D)
    assert invalidated(index, "path", D, path=(A, B, D)) == {A, B, C, D, E}
    assert dependency_chain(index, D, through=[C]) is None
    assert affected_region(index, [B, E]).nodes == {B, D, E}


def test_the_rest_of_a_path_stays() -> None:
    index = index_plan(hand_plan("a>b b>e c>d d>e"))
    assert invalidated(index, "path", B, path=(A, B)) == {A, B, E}


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ((), "has to end in the node"),
        ((A, B), "has to end in the node"),
        ((B, D), "start at a boundary node"),
        ((A, D), "no edge 'a' -> 'd'"),
        ((NodeId("z"), D), "'z' is not in the plan"),
    ],
)
def test_a_path_that_is_none_is_refused(path: tuple[NodeId, ...], says: str) -> None:
    index = index_plan(hand_plan("a>b a>c b>d d>e"))
    with pytest.raises(ScopeError, match=says):
        invalidated(index, "path", D, path=path)


def test_unknown_nodes_are_refused() -> None:
    index = index_plan(hand_plan("a>b"))
    stranger = NodeId("z")
    with pytest.raises(ScopeError, match="'z' is not in the plan"):
        invalidated(index, "global", stranger)
    with pytest.raises(ScopeError, match="'z' is not in the plan"):
        affected_region(index, [A, stranger])
    with pytest.raises(ScopeError, match="at least one"):
        affected_region(index, [])
    with pytest.raises(ScopeError, match="'z' is not in the plan"):
        dependency_chain(index, B, through=[stranger])
