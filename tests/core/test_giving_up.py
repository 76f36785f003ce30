"""What is lost with a sub-task, by an independent definition (semantics 5, optional sub-tasks)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graphs.plan import NodeId, Plan
from orchestrator.core.giving_up import given_up_with
from tests.core import strategies
from tests.core.builders import n, plan, proposal
from tests.core.simulation import Simulation
from tests.core.test_reducer import after, skipped


def lost_with(work: Plan, name: NodeId, gone: frozenset[NodeId]) -> set[NodeId]:
    """The least set with `name` in which nobody is left who gets nothing on a required port."""
    required = {task.id: task.failure_semantics == "required" for task in work.subtasks}
    ports = {
        task.id: [
            [edge.source for edge in work.dependencies if (edge.target, edge.input) == (task.id, port.name)]
            for port in task.inputs
            if port.required
        ]
        for task in work.subtasks
    }
    lost = {name}
    while True:
        dead = {node for node in lost | gone if required[node]}
        more = {task for task, feeds in ports.items() if any(feed and set(feed) <= dead for feed in feeds)}
        if more - gone <= lost:
            return lost
        lost |= more - gone


@given(strategies.plans(), st.data())
def test_is_what_starves(work: Plan, data: st.DataObject) -> None:
    """Given up one after the other, as roots: nothing of it has run."""
    state = Simulation(proposal(work)).state
    assert state.index is not None
    for name in data.draw(st.lists(st.sampled_from(state.index.order), max_size=3, unique=True)):
        gone = frozenset(node for node, now in state.nodes.items() if now.status == "skipped")
        if name in gone:
            continue
        lost = given_up_with(state, name)
        assert set(lost) == lost_with(work, name, gone) - gone
        assert list(lost) == sorted(lost, key=state.index.rank)
        assert lost[0] == name
        state = after(skipped(*lost), start=state)
        assert {node for node, now in state.nodes.items() if now.status == "skipped"} == {*gone, *lost}


def test_by_hand() -> None:
    def lost(edges: str, name: str, *, optional: str = "") -> list[str]:
        return list(given_up_with(Simulation(proposal(plan(edges, optional=optional))).state, n(name)))

    assert lost("a>b b>c", "a") == ["a", "b", "c"]
    assert lost("a~b b>c", "a") == ["a"]
    assert lost("a>b b>c", "a", optional="a") == ["a"]
    assert lost("a>b b>c", "a", optional="b") == ["a", "b"]
    assert lost("a>c b>c", "a") == ["a", "c"]
