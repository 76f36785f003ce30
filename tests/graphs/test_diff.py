from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from graphs.diff import FieldChange, NodeChange, PlanDiff, Renaming, diff_plans, render_diff
from graphs.edits import EditError, RenameNode, apply_edit
from graphs.plan import InvalidPlanError, NodeId, Plan, plan_sha256
from tests import strategies
from tests.strategies import bare_subtask, chain_edge, hand_plan

A, B = NodeId("a"), NodeId("b")

PLANDIFF_JSON = TypeAdapter(PlanDiff)


@given(st.data())
def test_a_diff_is_empty_exactly_for_equal_hashes(data: st.DataObject) -> None:
    old = data.draw(strategies.plans(min_nodes=1, max_nodes=5))
    try:
        new = apply_edit(old, data.draw(strategies.edits(old))).plan
    except EditError:
        new = data.draw(strategies.plans(max_nodes=3))
    diff = diff_plans(old, new)
    assert diff.empty == (plan_sha256(old) == plan_sha256(new))
    assert PLANDIFF_JSON.validate_json(PLANDIFF_JSON.dump_json(diff)) == diff


@given(strategies.plans(), st.randoms(use_true_random=False))
def test_order_of_writing_is_no_difference(plan: Plan, random: Random) -> None:
    shuffled = Plan(
        subtasks=tuple(random.sample(plan.subtasks, len(plan.subtasks))),
        dependencies=tuple(random.sample(plan.dependencies, len(plan.dependencies))),
    )
    assert diff_plans(plan, shuffled).empty


def test_fields_are_compared_one_by_one_and_one_is_not_true() -> None:
    old = hand_plan("a>b")
    first = replace(old.subtasks[0], params={"deep": 1})
    old = replace(old, subtasks=(first, old.subtasks[1]))
    new = replace(old, subtasks=(replace(first, params={"deep": True}, estimate=3.0), old.subtasks[1]))
    assert diff_plans(old, new) == PlanDiff(
        changed=(
            NodeChange(
                node=A,
                changes=(
                    FieldChange(field="params", old={"deep": 1}, new={"deep": True}),
                    FieldChange(field="estimate", old=1.0, new=3.0),
                ),
            ),
        )
    )
    assert diff_plans(old, new).changed[0].changes[0].new == {"deep": True}
    assert not diff_plans(old, new).empty


def test_a_rename_is_one_line_with_its_edges() -> None:
    old = hand_plan("a>b b>c")
    new = apply_edit(old, RenameNode(node=B, to=NodeId("b2"))).plan
    diff = diff_plans(old, new)
    assert diff == PlanDiff(renamed=(Renaming(old=B, new=NodeId("b2")),))
    assert diff.touched == {"b2"}


def test_added_removed_and_edges() -> None:
    old, new = hand_plan("a>b", lone="x"), hand_plan("a>b b>c")
    diff = diff_plans(old, new)
    assert [node.id for node in diff.added] == ["c"]
    assert [node.id for node in diff.removed] == ["x"]
    assert diff.edges_added == (chain_edge("b", "c"),)
    assert diff.edges_removed == ()
    # b is no exit any more.
    assert [(change.node, change.changes[0].field) for change in diff.changed] == [("b", "boundary")]
    assert diff.touched == {"b", "c"}
    assert diff_plans(new, old).edges_removed == (chain_edge("b", "c"),)


def test_copies_of_an_edge_are_counted() -> None:
    plan = hand_plan("a>b")
    doubled = replace(plan, dependencies=plan.dependencies * 2)
    assert diff_plans(plan, doubled).edges_added == plan.dependencies


def test_long_values_that_begin_alike_are_shown_where_they_differ() -> None:
    same = "Collect the prices that the makers of the three pumps gave in their letters of the year "
    old = Plan(subtasks=(bare_subtask("a", title=f"{same}2024"),))
    new = Plan(subtasks=(bare_subtask("a", title=f"{same}2031 and of no other"),))
    (line,) = render_diff(diff_plans(old, new), "en").splitlines()
    assert line == '~ node a title: …tters of the year 2024" -> …tters of the year 2031 and of no other"'
    shorter = Plan(subtasks=(bare_subtask("a", title=same.strip()),))
    (line,) = render_diff(diff_plans(shorter, old), "en").splitlines()
    before, _, after = line.removeprefix("~ node a title: ").partition(" -> ")
    assert (before[-6:], after[-6:]) == (' year"', ' 2024"')


def test_words_in_both_languages() -> None:
    old = Plan(subtasks=(bare_subtask("a", title="Collect"), bare_subtask("x")))
    new = Plan(
        subtasks=(
            bare_subtask("a", title='收集 "价格"\n第二行'),
            replace(bare_subtask("c"), operation="report"),
        ),
        dependencies=(chain_edge("a", "c"),),
    )
    diff = diff_plans(old, new)
    assert render_diff(diff, "en").splitlines() == [
        '+ node c "c"',
        '- node x "x"',
        '~ node a title: "Collect" -> "收集 \\"价格\\"\\n第二行"',
        "+ edge a.claims -> c.claims",
    ]
    assert render_diff(diff, "zh").splitlines() == [
        '+ 节点 c "c"',
        '- 节点 x "x"',
        '~ 节点 a 标题: "Collect" -> "收集 \\"价格\\"\\n第二行"',
        "+ 边 a.claims -> c.claims",
    ]
    assert render_diff(PlanDiff(), "en") == "no changes"
    assert render_diff(PlanDiff(), "zh") == "没有变化"


@given(strategies.plans(max_nodes=4), strategies.plans(max_nodes=4))
def test_every_field_has_words(old: Plan, new: Plan) -> None:
    for lang in ("en", "zh"):
        lines = render_diff(diff_plans(old, new), lang).splitlines()
        assert all(line and len(line) < 300 for line in lines)


def test_a_plan_with_a_double_id_has_no_diff() -> None:
    with pytest.raises(InvalidPlanError, match="'a' is used twice"):
        diff_plans(Plan(), Plan(subtasks=(bare_subtask("a"), bare_subtask("a"))))
