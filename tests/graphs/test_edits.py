from dataclasses import fields, replace
from typing import cast

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from graphs.edits import (
    AddNode,
    CompositeEdit,
    Connect,
    Cut,
    EditCode,
    EditError,
    EditOp,
    EditResult,
    MergeNodes,
    Patch,
    PlacedEdge,
    PlacedNode,
    RemoveNode,
    RenameNode,
    SetParams,
    SimpleEdit,
    SplitNode,
    UpdateNode,
    apply_edit,
    compose,
)
from graphs.plan import Dependency, NodeId, Plan, SubTask, index_plan, plan_sha256
from tests import strategies
from tests.strategies import bare_subtask, chain_edge, declared, hand_plan

A, B, C, D = map(NodeId, "abcd")

EDIT = cast("TypeAdapter[SimpleEdit | CompositeEdit]", TypeAdapter(EditOp))

EDITRESULT_JSON = TypeAdapter(EditResult)


def arrows(plan: Plan) -> set[str]:
    return {f"{edge.source}>{edge.target}" for edge in plan.dependencies}


@given(st.data())
def test_inverse_restores_exactly_and_the_plan_stays_sound(data: st.DataObject) -> None:
    plan = data.draw(strategies.plans(min_nodes=1, max_nodes=6))
    edit = data.draw(strategies.edits(plan))
    try:
        result = apply_edit(plan, edit)
    except EditError:
        return
    back = apply_edit(result.plan, result.inverse)
    assert back.plan == plan
    assert plan_sha256(back.plan) == plan_sha256(plan)
    assert apply_edit(back.plan, back.inverse).plan == result.plan, "redo"
    index_plan(result.plan)
    if not _sets_boundary(edit):
        assert declared(result.plan) == result.plan, "boundaries are declared as they are"


@given(st.data())
def test_undo_of_a_session_works_from_stored_edits(data: st.DataObject) -> None:
    first = plan = data.draw(strategies.plans(min_nodes=1, max_nodes=5))
    undo: list[bytes] = []
    for _ in range(3):
        edit = data.draw(strategies.edits(plan))
        assert EDIT.validate_json(EDIT.dump_json(edit)) == edit
        try:
            result = apply_edit(plan, edit)
        except EditError:
            continue
        plan = result.plan
        undo.append(EDIT.dump_json(result.inverse))
    for stored in reversed(undo):
        plan = apply_edit(plan, EDIT.validate_json(stored)).plan
    assert plan == first


@given(st.data())
def test_a_composite_is_its_edits_in_a_row(data: st.DataObject) -> None:
    plan = data.draw(strategies.plans(min_nodes=2, max_nodes=5))
    one, two = data.draw(strategies.edits(plan)), data.draw(strategies.edits(plan))
    try:
        stepwise = apply_edit(apply_edit(plan, one).plan, two).plan
    except EditError:
        with pytest.raises(EditError):
            apply_edit(plan, compose(one, two))
    else:
        assert apply_edit(plan, compose(one, two)).plan == stepwise


@given(strategies.plans(min_nodes=2, max_nodes=5), st.data())
def test_connect_is_refused_exactly_for_cycles(plan: Plan, data: st.DataObject) -> None:
    source, target = data.draw(st.permutations([n.id for n in plan.subtasks]).map(lambda p: p[:2]))
    edge = chain_edge(source, target, "table", "table")
    graph = nx.DiGraph([(e.source, e.target) for e in (*plan.dependencies, edge)])
    if edge in plan.dependencies:
        with pytest.raises(EditError, match="already there"):
            apply_edit(plan, Connect(dependency=edge))
    elif nx.is_directed_acyclic_graph(graph):
        result = apply_edit(plan, Connect(dependency=edge))
        assert result.plan.dependencies == (*plan.dependencies, edge)
    else:
        with pytest.raises(EditError) as caught:
            apply_edit(plan, Connect(dependency=edge))
        path = caught.value.detail["path"].split(" -> ")
        assert path[:2] == [source, target]
        assert path[-1] == source
        assert nx.is_path(graph, path)


def _sets_boundary(edit: SimpleEdit | CompositeEdit) -> bool:
    return isinstance(edit, UpdateNode) and edit.boundary is not None


def test_add_declares_the_boundary_and_takes_a_position() -> None:
    result = apply_edit(hand_plan("a>b"), AddNode(subtask=bare_subtask("c"), position=1))
    assert [(node.id, node.boundary) for node in result.plan.subtasks] == [
        ("a", "entry"),
        ("c", "both"),
        ("b", "exit"),
    ]


def test_remove_takes_the_edges_along() -> None:
    result = apply_edit(hand_plan("a>b b>c"), RemoveNode(node=B))
    assert [(node.id, node.boundary) for node in result.plan.subtasks] == [("a", "both"), ("c", "both")]
    assert result.plan.dependencies == ()


def test_rename_follows_edges_and_references_but_not_the_own_input() -> None:
    plan = hand_plan("claims>b b>c")
    reader = replace(
        plan.subtasks[2],
        instruction="Take {{claims}}, {{ claims.table }} and claims.",
        params={"from": ["{{claims.claims}}", 3]},
    )
    plan = replace(plan, subtasks=(*plan.subtasks[:2], reader))
    renamed = apply_edit(plan, RenameNode(node=NodeId("claims"), to=NodeId("facts"))).plan
    assert arrows(renamed) == {"facts>b", "b>c"}
    assert renamed.subtasks[2].instruction == "Take {{claims}}, {{ facts.table }} and claims."
    assert renamed.subtasks[2].params == {"from": ["{{facts.claims}}", 3]}


def test_split_hands_each_edge_to_the_part_that_is_free_for_it() -> None:
    plan = hand_plan("a>b b>c")
    edit = SplitNode(node=B, parts=(bare_subtask("b"), bare_subtask("b2")), inner=(chain_edge("b", "b2"),))
    result = apply_edit(plan, edit).plan
    assert [node.id for node in result.subtasks] == ["a", "b", "b2", "c"]
    assert arrows(result) == {"a>b", "b>b2", "b2>c"}


def test_split_without_inner_edges_puts_the_parts_side_by_side() -> None:
    parts = (bare_subtask("x"), bare_subtask("y"))
    result = apply_edit(hand_plan("a>b b>c"), SplitNode(node=B, parts=parts)).plan
    assert arrows(result) == {"a>x", "a>y", "x>c", "y>c"}


def test_merge_keeps_the_outside_edges_once() -> None:
    plan = hand_plan("a>b a>c b>d c>d")
    result = apply_edit(plan, MergeNodes(nodes=(B, C), into=bare_subtask("m"))).plan
    assert [(node.id, node.boundary) for node in result.subtasks] == [
        ("a", "entry"),
        ("m", "inner"),
        ("d", "exit"),
    ]
    assert sorted(result.dependencies) == [chain_edge("a", "m"), chain_edge("m", "d")]


def test_update_leaves_what_is_not_named() -> None:
    plan = hand_plan("a>b")
    node = apply_edit(plan, UpdateNode(node=A, title="T", estimate=2.5)).plan.subtasks[0]
    assert node == replace(plan.subtasks[0], title="T", estimate=2.5)


def test_update_can_reach_every_field_but_the_id() -> None:
    assert [spec.name for spec in fields(UpdateNode)][2:] == [spec.name for spec in fields(SubTask)][1:]


def test_set_params_sets_and_removes() -> None:
    plan = Plan(subtasks=(replace(bare_subtask("a"), params={"x": 1, "y": 2}),))
    edit = SetParams(node=A, values={"z": [3]}, remove=("x",))
    assert apply_edit(plan, edit).plan.subtasks[0].params == {"y": 2, "z": [3]}


def test_a_cycle_can_be_cut_and_the_cut_undone() -> None:
    plan = hand_plan("a>b b>c c>b")
    cut = apply_edit(plan, Cut(dependency=chain_edge("c", "b")))
    assert index_plan(cut.plan).order == ("a", "b", "c")
    assert apply_edit(cut.plan, cut.inverse).plan == plan


def test_cut_takes_every_copy_of_an_edge() -> None:
    plan = hand_plan("a>b b>c")
    doubled = replace(plan, dependencies=(*plan.dependencies, plan.dependencies[0]))
    cut = apply_edit(doubled, Cut(dependency=chain_edge("a", "b")))
    assert arrows(cut.plan) == {"b>c"}
    assert apply_edit(cut.plan, cut.inverse).plan == doubled


def test_merging_across_a_node_in_between_is_a_cycle() -> None:
    with pytest.raises(EditError) as caught:
        apply_edit(hand_plan("a>b b>c"), MergeNodes(nodes=(A, C), into=bare_subtask("m")))
    assert caught.value.code is EditCode.CYCLE
    assert set(caught.value.detail["path"].split(" -> ")) == {"m", "b"}


REFUSED = [
    (AddNode(subtask=bare_subtask("a")), EditCode.ID_TAKEN, "'a'"),
    (AddNode(subtask=bare_subtask("a b")), EditCode.INVALID_ID, "'a b'"),
    (AddNode(subtask=bare_subtask("x"), position=9), EditCode.POSITION, "0 to 3"),
    (RemoveNode(node=NodeId("z")), EditCode.UNKNOWN_NODE, "a, b, c"),
    (RenameNode(node=A, to=B), EditCode.ID_TAKEN, "'b'"),
    (RenameNode(node=A, to=NodeId("a/b")), EditCode.INVALID_ID, "'a/b'"),
    (SplitNode(node=B, parts=(bare_subtask("x"),)), EditCode.TOO_FEW, "got 1"),
    (SplitNode(node=B, parts=(bare_subtask("x"), bare_subtask("c"))), EditCode.ID_TAKEN, "'c'"),
    (
        SplitNode(
            node=B,
            parts=(bare_subtask("x"), bare_subtask("y")),
            inner=(chain_edge("x", "y"), chain_edge("y", "x", "table", "table")),
        ),
        EditCode.CYCLE,
        "x -> y -> x",
    ),
    (
        SplitNode(
            node=B, parts=(replace(bare_subtask("x"), outputs=()), replace(bare_subtask("y"), outputs=()))
        ),
        EditCode.LOST_EDGE,
        "b.claims -> c.claims",
    ),
    (MergeNodes(nodes=(A, A), into=bare_subtask("m")), EditCode.TOO_FEW, "got 1"),
    (MergeNodes(nodes=(A, B), into=bare_subtask("c")), EditCode.ID_TAKEN, "'c'"),
    (
        MergeNodes(nodes=(A, B), into=replace(bare_subtask("m"), outputs=())),
        EditCode.LOST_EDGE,
        "b.claims -> c.claims",
    ),
    (Connect(dependency=chain_edge("c", "a")), EditCode.CYCLE, "c -> a -> b -> c"),
    (Connect(dependency=chain_edge("a", "a")), EditCode.SELF_EDGE, "'a'"),
    (Connect(dependency=chain_edge("a", "b")), EditCode.EDGE_EXISTS, "a.claims -> b.claims"),
    (Connect(dependency=chain_edge("a", "c", "nope")), EditCode.UNKNOWN_PORT, "claims, table"),
    (Connect(dependency=chain_edge("a", "z")), EditCode.UNKNOWN_NODE, "'z'"),
    (Cut(dependency=chain_edge("a", "b", "table")), EditCode.UNKNOWN_EDGE, "a.claims -> b.claims"),
    (SetParams(node=A, remove=("x",)), EditCode.UNKNOWN_PARAM, "'x'"),
    (
        Patch(nodes_out=(PlacedNode(index=0, subtask=bare_subtask("a", title="old")),)),
        EditCode.STALE,
        "node 'a'",
    ),
    (
        Patch(edges_in=(PlacedEdge(index=7, dependency=chain_edge("a", "c")),)),
        EditCode.STALE,
        "a.claims -> c.claims",
    ),
    (
        Patch(nodes_in=(PlacedNode(index=0, subtask=bare_subtask("a")),)),
        EditCode.DUPLICATE_IDS,
        "'a'",
    ),
]


@pytest.mark.parametrize(("edit", "code", "named"), REFUSED)
def test_refusals_name_the_value_in_both_languages(edit: SimpleEdit, code: EditCode, named: str) -> None:
    plan = hand_plan("a>b b>c")
    with pytest.raises(EditError) as caught:
        apply_edit(plan, edit)
    assert caught.value.code is code
    assert named in str(caught.value)
    chinese = caught.value.render("zh")
    assert any("一" <= character <= "鿿" for character in chinese)
    assert named.split()[-1] in chinese or code in (EditCode.TOO_FEW, EditCode.POSITION, EditCode.STALE)
    with pytest.raises(EditError):
        apply_edit(plan, compose(UpdateNode(node=B, title="changed"), edit))


def test_every_refusal_is_tested() -> None:
    assert {code for _, code, _ in REFUSED} == set(EditCode)


def test_a_patch_is_refused_on_a_plan_that_differs_only_in_true_and_one() -> None:
    plan = Plan(subtasks=(replace(bare_subtask("a"), params={"x": 1}),))
    undo = apply_edit(plan, RemoveNode(node=A)).inverse
    assert isinstance(undo, Patch)
    other = Plan(subtasks=(replace(bare_subtask("a"), params={"x": True}),))
    with pytest.raises(EditError, match="another state"):
        apply_edit(other, undo.inverse)


@given(strategies.plans(min_nodes=1, max_nodes=3))
def test_results_survive_json(plan: Plan) -> None:
    result = apply_edit(plan, RemoveNode(node=plan.subtasks[0].id))
    assert EDITRESULT_JSON.validate_json(EDITRESULT_JSON.dump_json(result)) == result


def test_an_edge_value_is_not_shared_with_the_caller() -> None:
    edge = Dependency(source=A, target=C, output="table", input="table")
    plan = hand_plan("a>b b>c")
    result = apply_edit(plan, Connect(dependency=edge))
    assert apply_edit(result.plan, result.inverse).plan == plan
