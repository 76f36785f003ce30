from dataclasses import replace
from itertools import permutations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphs.networks import digraph
from graphs.plan import NodeId, Plan, PlanIndex, index_plan
from graphs.schedule import (
    critical_path,
    durations_of,
    initial_ready,
    initial_waiting,
    makespan,
    priorities,
    release,
    released_by,
)
from tests import strategies
from tests.strategies import hand_plan

A, B, C, D, E = map(NodeId, "abcde")


def all_paths_from(index: PlanIndex, node: NodeId) -> list[list[NodeId]]:
    """Every path that starts with the node, by plain recursion."""
    paths = [[node]]
    for follower in index.successors(node):
        paths += [[node, *rest] for rest in all_paths_from(index, follower)]
    return paths


@given(strategies.plans(max_nodes=6))
def test_priority_is_the_longest_of_all_paths(plan: Plan) -> None:
    index = index_plan(plan)
    lasting = {node.id: node.estimate for node in plan.subtasks}
    expected = {
        node: max(sum(lasting[n] for n in path) for path in all_paths_from(index, node)) for node in lasting
    }
    assert priorities(index) == pytest.approx(expected)


@given(strategies.plans(min_nodes=1))
def test_critical_path_is_a_path_of_that_length(plan: Plan) -> None:
    index = index_plan(plan)
    path = critical_path(index)
    assert path.length == pytest.approx(sum(index.subtask(node).estimate for node in path.nodes))
    assert path.length == pytest.approx(max(priorities(index).values()))
    assert nx.is_path(digraph(plan), list(path.nodes)) or len(path.nodes) == 1
    assert path.nodes[0] in index.entries
    assert path.nodes[-1] in index.exits


def test_critical_path_by_hand() -> None:
    # a(1) > b(5) > d(1); a(1) > c(2) > d(1); e(6) alone: 7 against 4 against 6.
    index = index_plan(hand_plan("a>b b>d a>c c>d", lone="e"))
    lasting = {B: 5.0, C: 2.0, E: 6.0}
    assert critical_path(index, lasting).nodes == (A, B, D)
    assert critical_path(index, lasting).length == 7
    assert priorities(index, lasting) == {A: 7, B: 6, C: 3, D: 1, E: 6}
    assert critical_path(index_plan(Plan())).nodes == ()


@given(
    strategies.plans(max_nodes=7),
    st.none() | st.integers(1, 3),
    st.none() | st.integers(1, 2),
)
def test_schedules_respect_edges_slots_and_caps(plan: Plan, slots: int | None, cap: int | None) -> None:
    index = index_plan(plan)
    assignment = {node.id: "AB"[place % 2] for place, node in enumerate(plan.subtasks)}
    caps = {"A": cap} if cap else {}
    schedule = makespan(index, slots=slots, caps=caps, assignment=assignment)
    times = {slot.node: slot for slot in schedule.slots}
    assert times.keys() == {node.id for node in plan.subtasks}
    for node, slot in times.items():
        assert slot.end - slot.start == pytest.approx(index.subtask(node).estimate)
        assert all(times[before].end <= slot.start for before in index.predecessors(node))
    for moment in {slot.start for slot in schedule.slots}:
        running = [slot.node for slot in schedule.slots if slot.start <= moment < slot.end]
        assert slots is None or len(running) <= slots
        assert not cap or sum(assignment[node] == "A" for node in running) <= cap
    assert schedule.makespan == max((slot.end for slot in schedule.slots), default=0)
    assert schedule.makespan >= critical_path(index).length - 1e-9
    if slots is None and not cap:
        assert schedule.makespan == pytest.approx(critical_path(index).length)


@given(strategies.plans(min_nodes=1, max_nodes=5), st.integers(2, 3))
def test_no_schedule_is_worse_than_grahams_bound(plan: Plan, slots: int) -> None:
    index = index_plan(plan)
    best = min(_serial_generation(index, order, slots) for order in permutations(index.order))
    assert makespan(index, slots=slots).makespan <= (2 - 1 / slots) * best + 1e-9


def _serial_generation(index: PlanIndex, order: tuple[NodeId, ...], slots: int) -> float:
    """The optimum is among these: place nodes in a given order, each as early as its machine allows."""
    free = [0.0] * slots
    ends: dict[NodeId, float] = {}
    for node in order:
        if any(before not in ends for before in index.predecessors(node)):
            return float("inf")
        earliest = max((ends[before] for before in index.predecessors(node)), default=0.0)
        machine = min(range(slots), key=lambda m: max(free[m], earliest))
        ends[node] = free[machine] = max(free[machine], earliest) + index.subtask(node).estimate
    return max(ends.values())


def test_urgent_nodes_go_first_and_a_full_agent_blocks_nobody_else() -> None:
    # b leads to a chain of three, so one slot takes b and c before a; a and d are equally urgent then.
    index = index_plan(hand_plan("b>c c>d", lone="a"))
    assert [slot.node for slot in makespan(index, slots=1).slots] == [B, C, A, D]
    # Agent X may run one at a time; a and b are its, e is free to start beside them.
    index = index_plan(hand_plan("", lone="a b e"))
    schedule = makespan(index, caps={"X": 1}, assignment={A: "X", B: "X", E: "Y"})
    assert {slot.node: slot.start for slot in schedule.slots} == {A: 0, E: 0, B: 1}


@given(strategies.plans(), st.data())
def test_release_starts_every_node_once_after_its_predecessors(plan: Plan, data: st.DataObject) -> None:
    index = index_plan(plan)
    waiting = dict(initial_waiting(index))
    ready, done = list(initial_ready(index)), set[NodeId]()
    while ready:
        node = ready.pop(data.draw(st.integers(0, len(ready) - 1)))
        assert set(index.predecessors(node)) <= done
        assert node not in done
        done.add(node)
        ready += release(index, waiting, node)
    assert done == set(index.order)


def test_release_counts_each_node_once() -> None:
    index = index_plan(hand_plan("a>c b>c"))
    start = initial_waiting(index)
    assert start == {A: 0, B: 0, C: 2}
    assert released_by(index, start, A) == {C: 1}
    assert start == {A: 0, B: 0, C: 2}, "the pure form changes nothing"
    waiting = dict(start)
    assert release(index, waiting, A) == ()
    assert release(index, waiting, B) == (C,)
    with pytest.raises(ValueError, match="'b' was released twice"):
        release(index, waiting, B)


def test_bad_numbers_are_named() -> None:
    plan = hand_plan("a>b")
    index = index_plan(plan)
    with pytest.raises(ValueError, match="'z', which is not in the plan"):
        durations_of(index, {NodeId("z"): 1.0})
    for bad in (-1.0, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="accepted is a finite number"):
            durations_of(index, {A: bad})
        written = index_plan(Plan(subtasks=(replace(plan.subtasks[0], estimate=bad),)))
        with pytest.raises(ValueError, match="accepted is a finite number"):
            durations_of(written)
    with pytest.raises(ValueError, match="Bound 'slots' is 0"):
        makespan(index, slots=0)
    with pytest.raises(ValueError, match="Bound 'X' is -1"):
        makespan(index, caps={"X": -1})
