from itertools import pairwise

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from graphs.networks import cycle_paths, digraph, path_between
from graphs.plan import NodeId
from tests.strategies import hand_plan

pairs = st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=14)


@given(pairs)
def test_one_true_cycle_for_each_knot(edges: list[tuple[str, str]]) -> None:
    plan = hand_plan(" ".join(f"{a}>{b}" for a, b in edges))
    graph = nx.DiGraph(edges)
    knots = [knot for knot in nx.strongly_connected_components(graph) if len(knot) > 1]
    cycles = cycle_paths(digraph(plan))
    assert len(cycles) == len(knots)
    for cycle in cycles:
        assert cycle[0] == cycle[-1]
        assert len(set(cycle)) == len(cycle) - 1
        assert all(graph.has_edge(a, b) for a, b in pairwise(cycle))
        shortest = min(
            len(found) for found in nx.simple_cycles(graph) if cycle[0] in found and len(found) > 1
        )
        assert len(cycle) - 1 == shortest


def test_a_path_or_none() -> None:
    graph = digraph(hand_plan("a>b b>c a>c c>d"))
    assert path_between(graph, NodeId("a"), NodeId("d")) == ("a", "c", "d")
    assert path_between(graph, NodeId("d"), NodeId("a")) is None
