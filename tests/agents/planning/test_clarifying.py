from dataclasses import replace

import pytest

from agents.planning.clarifying import NotDecided, settle, settled_points
from agents.planning.embedded import PlannedGoal, PlanOptions, plan_goal
from agents.planning.language import detect_language
from graphs.contract import Ambiguity, Goal
from graphs.lint import errors, lint
from masks.errors import UnknownDomain
from tests.agents.planning.rankers import REGISTRY, by_key_terms


def planned(text: str, *settled: Ambiguity, sources: tuple[str, ...] = ("notes",)) -> PlannedGoal:
    goal = Goal(text=text, lang=detect_language(text).lang, sources=sources)
    return plan_goal(goal, REGISTRY, by_key_terms, None, PlanOptions(settled=settled))


def decided(text: str, *answers: str) -> PlannedGoal:
    """Decide the first open point of a goal with each answer in turn."""
    result = planned(text)
    for answer in answers:
        point = next(a for a in result.intent.ambiguities if not a.settled)
        result = planned(text, *settled_points(result.intent), settle(point, answer))
        assert errors(lint(result.plan, result.contract)) == ()
    return result


def operations(result: PlannedGoal) -> list[str]:
    return [subtask.operation for subtask in result.plan.subtasks]


@pytest.mark.parametrize(
    ("text", "answer", "params"),
    [
        (
            "Compare LFP and NMC",
            "cost, lifetime and safety",
            {"item": "LFP", "fields": ["cost", "lifetime", "safety"]},
        ),
        ("比较甲和乙", "成本、寿命", {"item": "甲", "fields": ["成本", "寿命"]}),
        ("battery storage safety", "Who pays for the plant?", {"questions": ["Who pays for the plant?"]}),
        (
            "Extract the date and amount of every contract",
            "Alpha, Beta",
            {"columns": ["date", "amount"], "rows": ["Alpha", "Beta"], "each": None},
        ),
    ],
)
def test_an_answer_in_words_is_planned_with(text: str, answer: str, params: dict[str, object]) -> None:
    result = decided(text, answer)
    assert dict(result.plan.subtasks[0].params) == params
    (point,) = result.intent.ambiguities
    assert point.settled
    assert point.assumed == answer


def test_confirmed_aspects_are_the_users_word_so_the_fields_become_core() -> None:
    text = "Compare LFP and NMC"
    open_point = planned(text).intent.ambiguities[0]
    assert not any(c.core for c in planned(text).contract.acceptance if c.kind == "field_filled")
    result = decided(text, open_point.options[0])
    assert all(c.core for c in result.contract.acceptance if c.kind == "field_filled")
    assert result.plan.subtasks[0].params == planned(text).plan.subtasks[0].params


def test_a_confirmed_reading_of_an_unclear_goal_changes_no_plan_and_is_asked_no_more() -> None:
    text = "battery storage safety"
    first = planned(text)
    result = decided(text, first.intent.ambiguities[0].options[0])
    assert result.plan == first.plan
    assert [a.settled for a in result.intent.ambiguities] == [True]


def test_one_answer_may_open_the_next_point_under_an_id_of_its_own() -> None:
    first = decided("battery storage safety", "Compare LFP and NMC")
    assert [(a.id, a.settled) for a in first.intent.ambiguities] == [("a1", True), ("a2", False)]
    second = decided("battery storage safety", "Compare LFP and NMC", "cost")
    assert [(a.id, a.assumed) for a in second.intent.ambiguities] == [
        ("a1", "Compare LFP and NMC"),
        ("a2", "cost"),
    ]
    assert second.plan.subtasks[0].params == {"item": "LFP", "fields": ["cost"]}
    assert operations(second) == ["research", "research", "compare", "report"]


def test_a_prohibition_in_words_becomes_the_domain_that_the_user_names() -> None:
    text = "Who pays? Do not use any expertise of lawyers."
    before = planned(text)
    point = next(a for a in before.intent.ambiguities if "domain" in a.question)
    result = planned(text, settle(point, "law"))
    assert result.contract.forbidden == ("domain:law",)
    assert not before.contract.forbidden[0].startswith("domain:")
    with pytest.raises(UnknownDomain):
        planned(text, settle(point, "wizardry"))


@pytest.mark.parametrize(
    ("text", "number", "code"),
    [
        ("Compare LFP and NMC", 1, "needs_words"),
        ("battery storage safety", 1, "needs_words"),
        ("battery storage safety", 2, "needs_words"),
        ("Extract the date and amount of every contract", 1, "needs_words"),
    ],
)
def test_a_reading_that_names_nothing_yet_needs_words(text: str, number: int, code: str) -> None:
    point = planned(text).intent.ambiguities[0]
    with pytest.raises(NotDecided) as refused:
        planned(text, settle(point, point.options[number]))
    assert refused.value.code == code
    assert "--text" in refused.value.message("en")
    assert "--text" in refused.value.message("zh")


def test_words_that_say_nothing_to_plan_with_and_sources_are_refused() -> None:
    point = planned("battery storage safety").intent.ambiguities[0]
    with pytest.raises(NotDecided, match="was not understood"):
        planned("battery storage safety", settle(point, "hm"))
    sources = planned("Who pays?", sources=()).intent.ambiguities[0]
    with pytest.raises(NotDecided, match="--sources DIR"):
        planned("Who pays?", settle(sources, "notes"), sources=())


def test_a_decision_about_a_point_that_only_a_model_sees_stands_in_the_intent_alone() -> None:
    point = Ambiguity(id="a7", question="Which plant?", options=("the new",), assumed="the new")
    result = planned("Who pays?", point)
    assert result.intent.ambiguities == (point,)
    assert result.plan == planned("Who pays?").plan


def test_a_new_decision_takes_the_place_of_the_old_one() -> None:
    first = decided("Compare LFP and NMC", "cost").intent.ambiguities[0]
    result = planned("Compare LFP and NMC", replace(first, options=("safety",), assumed="safety"))
    assert result.plan.subtasks[0].params == {"item": "LFP", "fields": ["safety"]}
