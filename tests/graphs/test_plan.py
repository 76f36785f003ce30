import hashlib
import json
from dataclasses import fields, replace
from random import Random

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue, TypeAdapter, ValidationError

from graphs.plan import (
    InvalidPlanError,
    NodeId,
    Plan,
    SubTask,
    canonical_subtask,
    index_plan,
    natural_key,
    plan_sha256,
)
from tests import strategies
from tests.strategies import bare_subtask, chain_edge, hand_plan

PLAN_JSON = TypeAdapter(Plan)


def judge(plan: Plan) -> "nx.MultiDiGraph[NodeId]":
    """The plan as networkx sees it, built without the code under test."""
    graph: nx.MultiDiGraph[NodeId] = nx.MultiDiGraph()
    graph.add_nodes_from(node.id for node in plan.subtasks)
    graph.add_edges_from((edge.source, edge.target) for edge in plan.dependencies)
    return graph


@given(strategies.plans())
def test_index_agrees_with_networkx(plan: Plan) -> None:
    index, graph = index_plan(plan), judge(plan)
    assert len(index) == len(graph)
    assert set(index.entries) == {n for n in graph if graph.in_degree(n) == 0}
    assert set(index.exits) == {n for n in graph if graph.out_degree(n) == 0}
    for node in graph:
        assert set(index.predecessors(node)) == set(graph.predecessors(node))
        assert set(index.successors(node)) == set(graph.successors(node))
        assert index.descendants(node) == nx.descendants(graph, node)
        assert index.ancestors(node) == nx.ancestors(graph, node)
        assert len(index.incoming(node)) == graph.in_degree(node)
        assert index.subtask(node).id == node
    places = {node: place for place, node in enumerate(index.order)}
    assert {node: index.rank(node) for node in graph} == places
    assert all(places[source] < places[target] for source, target in graph.edges())


@given(strategies.plans(), st.randoms(use_true_random=False))
def test_neither_order_nor_hash_depend_on_the_order_of_writing(plan: Plan, random: Random) -> None:
    shuffled = Plan(
        subtasks=tuple(random.sample(plan.subtasks, len(plan.subtasks))),
        dependencies=tuple(random.sample(plan.dependencies, len(plan.dependencies))),
    )
    assert plan_sha256(shuffled) == plan_sha256(plan)
    assert index_plan(shuffled).order == index_plan(plan).order


@given(strategies.plans(min_nodes=1), strategies.subtasks())
def test_every_field_is_hashed(plan: Plan, other: SubTask) -> None:
    first = plan.subtasks[0]
    for spec in fields(SubTask):
        changed = replace(first, **{spec.name: getattr(other, spec.name)})
        same = canonical_subtask(changed) == canonical_subtask(first)
        edited = replace(plan, subtasks=(changed, *plan.subtasks[1:]))
        assert (plan_sha256(edited) == plan_sha256(plan)) == same
        if getattr(first, spec.name) != getattr(other, spec.name):
            assert not same


def test_hash_ignores_key_order_and_tells_one_from_true() -> None:
    node = bare_subtask("a")
    one = Plan(subtasks=(replace(node, params={"x": 1, "y": 2}),))
    swapped = Plan(subtasks=(replace(node, params={"y": 2, "x": 1}),))
    true = Plan(subtasks=(replace(node, params={"x": True, "y": 2}),))
    assert one == true, "the trap: Python's equality does not see it"
    assert plan_sha256(one) == plan_sha256(swapped) != plan_sha256(true)


def test_whole_numbers_in_float_fields_hash_like_their_json_reading() -> None:
    plan = Plan(subtasks=(replace(bare_subtask("a"), estimate=2, required_domains={"med": 1}),))
    assert plan_sha256(PLAN_JSON.validate_json(PLAN_JSON.dump_json(plan))) == plan_sha256(plan)


def test_edges_are_hashed_with_their_ports() -> None:
    plan = hand_plan("a>b")
    other = replace(plan, dependencies=(chain_edge("a", "b", "table"),))
    assert plan_sha256(plan) != plan_sha256(other)
    assert plan_sha256(plan) != plan_sha256(replace(plan, dependencies=plan.dependencies * 2))


def test_a_hash_stays_what_it_was() -> None:
    # Approvals are bound to this hash: if its form changes, raise PLAN_FORMAT and say so in the changelog.
    node = SubTask(id=NodeId("a"), title="找", kind="call", operation="research")
    canonical = (
        '{"acceptance":[],"boundary":"inner","estimate":1.0,"failure_semantics":"required","id":"a",'
        '"inputs":[],"instruction":"","kind":"call","operation":"research","outputs":[],"params":{},'
        '"required_domains":{},"side_effects":"none","title":"\\u627e"}'
    )
    assert canonical_subtask(node) == canonical
    document = (
        '{"dependencies":[["a","b","claims","table"]],"format":"maskgrad.plan/1",'
        f'"subtasks":[{json.dumps(canonical)}]}}'
    )
    plan = Plan(subtasks=(node,), dependencies=(chain_edge("a", "b", "claims", "table"),))
    assert plan_sha256(plan) == hashlib.sha256(document.encode()).hexdigest()


@given(
    strategies.plans(max_nodes=4),
    strategies.subtasks(),
    st.dictionaries(st.text("ab"), strategies.json_values),
)
def test_plans_survive_json(plan: Plan, more: SubTask, params: dict[str, JsonValue]) -> None:
    plan = replace(plan, subtasks=(*plan.subtasks, replace(more, params=params)))
    back = PLAN_JSON.validate_json(PLAN_JSON.dump_json(plan))
    assert back == plan
    assert plan_sha256(back) == plan_sha256(plan)


@pytest.mark.parametrize(
    "document",
    [
        '{"subtasks": [], "nodes": []}',
        '{"subtasks": [{"id": "a", "title": "", "kind": "call", "operation": "x", "agent": "A"}]}',
        '{"dependencies": [{"source": "a", "target": "b", "output": "x", "input": "y", "weight": 1}]}',
    ],
)
def test_unknown_fields_are_refused(document: str) -> None:
    with pytest.raises(ValidationError, match="Unexpected keyword"):
        TypeAdapter(Plan).validate_json(document)


def test_numbers_without_a_json_form_are_refused() -> None:
    with pytest.raises(ValidationError, match="finite"):
        TypeAdapter(SubTask).validate_json(
            '{"id": "a", "title": "", "kind": "call", "operation": "x", "estimate": Infinity}'
        )
    with pytest.raises(ValueError, match="Out of range float"):
        plan_sha256(Plan(subtasks=(replace(bare_subtask("a"), params={"x": float("nan")}),)))


def test_unsound_plans_are_not_indexed() -> None:
    with pytest.raises(InvalidPlanError, match="'a' is used twice"):
        index_plan(Plan(subtasks=(bare_subtask("a"), bare_subtask("a"))))
    with pytest.raises(InvalidPlanError, match="names node 'z', which is not in the plan"):
        index_plan(Plan(subtasks=(bare_subtask("a"),), dependencies=(chain_edge("a", "z"),)))
    with pytest.raises(InvalidPlanError, match="cycle among 'b', 'c', 'd'"):
        index_plan(hand_plan("a>b b>c c>b c>d"))
    with pytest.raises(InvalidPlanError, match="cycle among 'a'"):
        index_plan(hand_plan("a>a"))


def test_order_takes_the_smallest_ready_id() -> None:
    assert index_plan(hand_plan("n10>n1 n2>n1", lone="n3")).order == ("n2", "n3", "n10", "n1")


def test_natural_key_tells_all_ids_apart() -> None:
    ids = ["n1", "n01", "n001", "1n", "n", "n1a", "", "n²", "n" + "9" * 5000, "n" + "9" * 5001]
    assert len({natural_key(node) for node in ids}) == len(ids)
    assert sorted(["b2", "a10", "a9", "b"], key=natural_key) == ["a9", "a10", "b", "b2"]
