"""Operations derived from two plans lead from the one to the other, and their lines say what was asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from graphs.contract import Lang
from graphs.edits import apply_edit, compose
from graphs.plan import NodeId, Plan, canonical_subtask
from orchestrator.shell.editing.operations import plan_operations, render_operations
from tests.strategies import bare_subtask, chain_edge, declared, hand_plan, plans


def written(plan: Plan) -> tuple[list[str], tuple[object, ...]]:
    """Everything that a plan says, in its order."""
    return [canonical_subtask(node) for node in plan.subtasks], plan.dependencies


def names(old: Plan, new: Plan) -> list[str]:
    return [operation.op for operation in plan_operations(old, new)]


@settings(max_examples=200, deadline=None)
@given(plans(), plans())
def test_applied_to_the_old_plan_they_give_the_new_one(old: Plan, new: Plan) -> None:
    operations = plan_operations(old, new)
    edited = apply_edit(old, compose(*operations))
    assert written(edited.plan) == written(new)
    assert written(apply_edit(edited.plan, edited.inverse).plan) == written(old)
    assert bool(operations) == (written(old) != written(new))
    assert all(operation.op != "patch" for operation in operations[:-1])


CHAIN = hand_plan("a>b b>c")


def renamed(plan: Plan, old: str, new: str) -> Plan:
    def to(node: NodeId) -> NodeId:
        return NodeId(new) if node == old else node

    return Plan(
        subtasks=tuple(replace(node, id=to(node.id)) for node in plan.subtasks),
        dependencies=tuple(replace(e, source=to(e.source), target=to(e.target)) for e in plan.dependencies),
    )


def test_each_kind_of_edit_is_its_own_operation() -> None:
    assert names(CHAIN, CHAIN) == []
    assert names(CHAIN, renamed(CHAIN, "b", "x")) == ["rename_node"]
    assert names(CHAIN, hand_plan("a>b", lone="c")) == ["cut"]
    assert names(CHAIN, hand_plan("a>b b>c a>c")) == ["connect"]
    assert names(CHAIN, hand_plan("a>b b>c", lone="d")) == ["add_node"]
    assert names(hand_plan("a>b b>c", lone="d"), CHAIN) == ["remove_node"]
    first, *others = CHAIN.subtasks
    assert names(CHAIN, replace(CHAIN, subtasks=(replace(first, title="First"), *others))) == ["update_node"]
    assert names(CHAIN, replace(CHAIN, subtasks=CHAIN.subtasks[::-1])) == ["patch"]


def test_a_node_that_comes_stands_where_it_is_written() -> None:
    between = declared(
        Plan(
            subtasks=tuple(bare_subtask(node) for node in ("a", "x", "b")),
            dependencies=(chain_edge("a", "x"), chain_edge("x", "b")),
        )
    )
    assert names(hand_plan("a>b"), between) == ["cut", "add_node", "connect", "connect"]


def test_a_renamed_node_takes_its_references_along() -> None:
    asks = replace(bare_subtask("b"), instruction="Read {{a.claims}}.")
    old = declared(Plan(subtasks=(bare_subtask("a"), asks), dependencies=(chain_edge("a", "b"),)))
    follows = replace(old.subtasks[1], instruction="Read {{start.claims}}.")
    moved = renamed(old, "a", "start")
    new = replace(moved, subtasks=(moved.subtasks[0], follows))
    operations = plan_operations(old, new)
    assert [operation.op for operation in operations] == ["rename_node"]
    assert list(render_operations(old, operations, "en")) == ["> node a -> start"]
    # One that was left as it was is an update of its own.
    assert names(old, moved) == ["rename_node", "update_node"]


def test_a_stated_boundary_is_said_against_the_one_before() -> None:
    """Without its edge `c` is alone, whatever the plan says of it."""
    cut = hand_plan("a>b", lone="c")
    *others, last = cut.subtasks
    stays = replace(cut, subtasks=(*others, replace(last, boundary=CHAIN.subtasks[2].boundary)))
    operations = plan_operations(CHAIN, stays)
    assert [operation.op for operation in operations] == ["cut", "update_node"]
    assert list(render_operations(CHAIN, operations, "en")) == ["- edge b.claims -> c.claims"]
    inner = replace(cut, subtasks=(*others, replace(last, boundary="inner")))
    assert list(render_operations(CHAIN, plan_operations(CHAIN, inner), "en")) == [
        "- edge b.claims -> c.claims",
        f'~ node c boundary: "{CHAIN.subtasks[2].boundary}" -> "inner"',
    ]


def test_an_unsound_plan_comes_by_one_patch() -> None:
    circle = replace(CHAIN, dependencies=(*CHAIN.dependencies, chain_edge("c", "a")))
    assert names(CHAIN, circle) == ["patch"]
    twice = replace(CHAIN, dependencies=(*CHAIN.dependencies, CHAIN.dependencies[0]))
    assert names(CHAIN, twice) == ["patch"]
    assert list(render_operations(CHAIN, plan_operations(CHAIN, twice), "en")) == [
        "+ edge a.claims -> b.claims"
    ]
    for strange in (circle, twice):
        applied = apply_edit(CHAIN, compose(*plan_operations(CHAIN, strange))).plan
        assert written(applied) == written(strange)


@pytest.mark.parametrize(
    ("lang", "lines"),
    [
        (
            "en",
            ["- edge b.claims -> c.claims", '- node c "c"', '+ node d "d"', "+ edge a.claims -> d.claims"],
        ),
        ("zh", ["- 边 b.claims -> c.claims", '- 节点 c "c"', '+ 节点 d "d"', "+ 边 a.claims -> d.claims"]),
    ],
)
def test_the_lines_follow_the_operations_and_leave_out_what_follows_from_them(
    lang: Lang, lines: list[str]
) -> None:
    """That `a` begins the plan and `b` ends it follows from the edges."""
    new = hand_plan("a>b a>d")
    assert list(render_operations(CHAIN, plan_operations(CHAIN, new), lang)) == lines
