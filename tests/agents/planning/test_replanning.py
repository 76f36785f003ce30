from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from agents.planning.embedded import PlannedGoal, plan_goal
from agents.planning.replanning import (
    NewSplit,
    NoResplit,
    Resplit,
    asked_by,
    fit_region,
    highest_number,
    resplit_region,
)
from graphs.contract import Goal
from graphs.edits import apply_edit
from graphs.lint import errors, lint
from graphs.plan import NodeId, SubTask, index_plan, plan_sha256
from graphs.scopes import affected_region
from tests.agents.planning.rankers import REGISTRY, by_key_terms

TWELVE = "\n".join(f"{n}. What is value {n} of the plant?" for n in range(1, 13))
COMPARISON = "Compare A, B and C on cost, lifetime and safety"


def planned(text: str) -> PlannedGoal:
    return plan_goal(Goal(text=text, lang="en", sources=("notes",)), REGISTRY, by_key_terms)


def split_of(goal: PlannedGoal, *nodes: str) -> Resplit | NoResplit:
    region = affected_region(index_plan(goal.plan), [NodeId(node) for node in nodes])
    return resplit_region(goal.plan, goal.contract, region, "en")


def test_a_sub_task_of_three_questions_is_halved_between_the_same_neighbours() -> None:
    goal = planned(TWELVE)
    first = goal.plan.subtasks[0]
    assert len(first.params["questions"]) == 3  # type: ignore[arg-type]
    result = split_of(goal, "n1")
    assert isinstance(result, Resplit)
    last = highest_number(goal.plan)
    new = {s.id: s for s in result.plan.subtasks if s.id not in {t.id for t in goal.plan.subtasks}}
    assert list(new) == [f"n{last + 1}", f"n{last + 2}"]
    assert (
        [s.params["questions"] for s in new.values()]
        == [
            first.params["questions"][:2],  # type: ignore[index]
            first.params["questions"][2:],  # type: ignore[index]
        ]
    )
    assert [s.acceptance for s in new.values()] == [("q1", "q2"), ("q3",)]
    assert {s.required_domains == first.required_domains for s in new.values()} == {True}
    feeds = {(e.source, e.target) for e in result.plan.dependencies if e.source in new}
    merge = next(e.target for e in goal.plan.dependencies if e.source == "n1")
    assert feeds == {(node, merge) for node in new}
    assert [s.id for s in result.diff.removed] == ["n1"]


@given(st.sets(st.integers(min_value=1, max_value=6), min_size=1), st.sampled_from([TWELVE, COMPARISON]))
def test_everything_outside_stays_and_the_bounds_hold(numbers: set[int], text: str) -> None:
    goal = planned(text)
    index = index_plan(goal.plan)
    blocked = [NodeId(f"n{n}") for n in numbers if f"n{n}" in {s.id for s in goal.plan.subtasks}]
    if not blocked:
        return
    region = affected_region(index, blocked)
    result = resplit_region(goal.plan, goal.contract, region, "en")
    if isinstance(result, NoResplit):
        assert all(
            len(asked_by(index.subtask(n))) <= 1 or index.subtask(n).kind == "function" for n in region.nodes
        )
        return
    outside = {s.id: s for s in goal.plan.subtasks if s.id not in region.nodes}
    kept = {s.id: s for s in result.plan.subtasks if s.id in outside}
    assert {n: (s.title, s.params, s.acceptance) for n, s in kept.items()} == {
        n: (s.title, s.params, s.acceptance) for n, s in outside.items()
    }
    assert len(result.plan.subtasks) - len(outside) <= 2 * len(region.nodes)
    assert errors(lint(result.plan, goal.contract)) == ()
    asked = {text for s in result.plan.subtasks for text in asked_by(s)}
    assert asked == {text for s in goal.plan.subtasks for text in asked_by(s)}
    undone = apply_edit(result.plan, apply_edit(goal.plan, result.edit).inverse).plan
    assert plan_sha256(undone) == plan_sha256(goal.plan)


def test_a_region_that_asks_for_one_thing_is_for_a_person() -> None:
    result = split_of(planned("Who pays? Who builds?"), "n1")
    assert result == NoResplit(reason="no sub-task of the region asks for more than one thing")


def test_a_split_that_drops_a_question_feeds_nobody_or_is_too_large_is_refused_with_the_reason() -> None:
    goal = planned(TWELVE)
    region = affected_region(index_plan(goal.plan), [NodeId("n1")])
    first = goal.plan.subtasks[0]
    fresh = NodeId(f"n{highest_number(goal.plan) + 1}")

    def reason(*subtasks: SubTask) -> str:
        result = fit_region(goal.plan, goal.contract, region, NewSplit(subtasks=subtasks), "en")
        assert isinstance(result, NoResplit)
        return result.reason

    fewer = replace(first, id=fresh, params={"questions": first.params["questions"][:1]})  # type: ignore[index]
    assert reason(fewer) == "no sub-task of the new split asks for q2, q3"
    merging = replace(first, id=fresh, operation="synthesise")
    assert reason(merging) == "no sub-task of the new split asks for q1, q2, q3"
    table = replace(first, id=fresh, outputs=(replace(first.outputs[0], name="table", type="table"),))
    assert reason(table).startswith("no last sub-task of the new split gives the claims that n")
    many = [replace(first, id=NodeId(f"m{n}")) for n in range(3)]
    assert reason(*many) == "the new split has 3 sub-tasks; accepted are 1 to 2, twice those of the region"
    assert reason() == "the new split has 0 sub-tasks; accepted are 1 to 2, twice those of the region"
