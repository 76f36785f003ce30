from dataclasses import replace
from itertools import pairwise
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from graphs.layout import MAX_BENDS, lay_out, layers
from graphs.plan import NodeId, Plan, index_plan
from tests import strategies
from tests.strategies import bare_subtask, chain_edge, hand_plan


@given(strategies.plans())
def test_edges_go_right_and_nothing_overlaps(plan: Plan) -> None:
    layout = lay_out(index_plan(plan))
    at = {place.node: (place.x, place.y) for place in layout.nodes}
    assert at.keys() == {node.id for node in plan.subtasks}
    places = [*at.values(), *((b.x, b.y) for edge in layout.edges for b in edge.bends)]
    assert len(set(places)) == len(places)
    assert all(0 <= x < layout.width and 0 <= y < layout.height for x, y in places)
    assert {(e.source, e.target) for e in layout.edges} == {(e.source, e.target) for e in plan.dependencies}
    for edge in layout.edges:
        xs = [at[edge.source][0], *(bend.x for bend in edge.bends), at[edge.target][0]]
        assert xs == [xs[0] + step for step in range(len(xs))], "one place in every layer on the way"
    for column in {x for x, _ in places}:
        rows = sorted(y for x, y in places if x == column)
        assert all(after - before >= 1 for before, after in pairwise(rows))


@given(strategies.plans(), st.randoms(use_true_random=False))
def test_the_order_of_writing_moves_nothing(plan: Plan, random: Random) -> None:
    shuffled = Plan(
        subtasks=tuple(random.sample(plan.subtasks, len(plan.subtasks))),
        dependencies=tuple(random.sample(plan.dependencies, len(plan.dependencies))),
    )
    assert lay_out(index_plan(shuffled)) == lay_out(index_plan(plan))


def test_layers_by_hand() -> None:
    index = index_plan(hand_plan("a>b b>c a>c", lone="d"))
    assert layers(index) == {"a": 0, "b": 1, "c": 2, "d": 0}


def test_crossings_that_can_be_avoided_are() -> None:
    # Written so that the order of ids crosses: a feeds z, b feeds y.
    layout = lay_out(index_plan(hand_plan("a>z b>y")))
    y = {place.node: place.y for place in layout.nodes}
    assert (y[NodeId("a")] - y[NodeId("b")]) * (y[NodeId("z")] - y[NodeId("y")]) > 0


def test_long_edges_stop_bending_before_they_cost_too_much() -> None:
    count = 400
    names = [f"n{i}" for i in range(count)]
    edges = [chain_edge(a, b) for a, b in pairwise(names)]
    edges += [chain_edge("n0", far) for far in names[2:]]
    plan = Plan(subtasks=tuple(map(bare_subtask, names)), dependencies=tuple(edges))
    layout = lay_out(index_plan(plan))
    bends = sum(len(edge.bends) for edge in layout.edges)
    assert 0 < bends <= MAX_BENDS
    assert sum(range(count - 1)) > MAX_BENDS, "else this tests nothing"
    assert len(layout.edges) == len(edges)


def test_an_empty_plan_has_an_empty_layout() -> None:
    layout = lay_out(index_plan(Plan()))
    assert (layout.nodes, layout.edges, layout.width, layout.height) == ((), (), 0, 0)


def test_a_lone_node_stands_at_the_origin() -> None:
    node = replace(bare_subtask("a"), boundary="both")
    (place,) = lay_out(index_plan(Plan(subtasks=(node,)))).nodes
    assert (place.x, place.y) == (0, 0)
