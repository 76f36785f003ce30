import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from agents.operations import OPERATIONS
from agents.planning.domains import NoteOutline
from agents.planning.embedded import NO_TASK, EmptyGoal, PlannedGoal, PlanOptions, plan_goal
from agents.planning.language import detect_language
from graphs.contract import Goal, Lang
from graphs.lint import errors, lint
from graphs.plan import Plan, index_plan
from masks.domains import DomainId
from tests.agents.planning.rankers import REGISTRY, always, by_key_terms

GOALS = (
    "Answer from the notes: (1) What is the capacity? (2) Who pays? (3) When does it open?",
    "回答下列问题：（1）容量是多少？（2）谁付款？没有就说明。",
    "Compare LFP, NMC and vanadium flow on cost, lifetime and safety",
    "比较甲、乙、丙的成本与寿命",
    "A vs B",
    "Summarise the folder",
    "逐篇总结这些笔记",
    "Summarise the safety rules and the budget",
    "Extract the name, date and amount of every contract",
    "Make a table of the cost and lifetime of A, B and C",
    "提取每份合同的名称、日期和金额，列成表",
    "Check these statements:\n- A is 5.\n- B is 6.",
    "Verify the claims in report.md",
    "核查“电站2024年投运”和“投资为3亿元”是否属实",
    "Draft a plan for the grid connection",
    "制定一份污水厂应急预案，不要使用法律知识",
    "battery storage safety",
    "Compare the options on cost",
    "Summarise the folder. Then compare A and B on cost. What is C? Draft a plan for the move. Check whether E is F.",
    "\n".join(f"{n}. What is value {n} of the plant?" for n in range(1, 13)),
    "\n".join(f"{n}. What is value {n} of the plant?" for n in range(1, 101)),
    "Compare A, B, C, D, E, F and G on cost",
    "What do {{n2.claims}} and {{n1}} mean?",
)


def planned(text: str, lang: Lang | None = None, options: PlanOptions | None = None) -> PlannedGoal:
    goal = Goal(text=text, lang=lang or detect_language(text).lang, sources=("notes",))
    return plan_goal(goal, REGISTRY, by_key_terms, None, options)


def operations(plan: Plan) -> list[str]:
    return [subtask.operation for subtask in plan.subtasks]


@pytest.mark.parametrize("text", GOALS)
def test_plans_have_no_lint_error_and_speak_the_vocabulary(text: str) -> None:
    result = planned(text)
    assert errors(lint(result.plan, result.contract)) == ()
    for subtask in result.plan.subtasks:
        known = OPERATIONS[subtask.operation]
        assert (subtask.kind, subtask.side_effects) == (known.kind, known.side_effects)


@pytest.mark.parametrize("text", GOALS)
def test_at_least_one_subtask_stands_between_a_finding_and_the_report(text: str) -> None:
    plan = planned(text).plan
    index = index_plan(plan)
    (last,) = index.exits
    assert index.subtask(last).operation == "report"
    for entry in index.entries:
        assert index.subtask(entry).kind == "loop"
        assert any(other != last for other in index.successors(entry))


@pytest.mark.parametrize("text", GOALS)
def test_a_level_is_at_most_five_steps_deep_and_a_part_five_wide(text: str) -> None:
    index = index_plan(planned(text).plan)
    depth: dict[str, int] = {}
    for node in index.order:
        depth[node] = 1 + max((depth[before] for before in index.predecessors(node)), default=0)
    assert max(depth.values()) <= 5
    wide = "A, B, C, D, E, F and G" in text
    for node in index.order:
        if index.subtask(node).operation in ("synthesise", "compare", "outline") and not wide:
            assert len(index.predecessors(node)) <= 5


@pytest.mark.parametrize("text", GOALS)
def test_the_same_goal_gives_the_same_plan(text: str) -> None:
    assert planned(text) == planned(text)


@pytest.mark.parametrize("text", GOALS)
def test_every_criterion_is_delivered_by_the_report_or_made_before_it(text: str) -> None:
    result = planned(text)
    (report,) = [s for s in result.plan.subtasks if s.operation == "report"]
    asked = {c.id for c in result.contract.acceptance if c.kind in ("question_answered", "field_filled")}
    assert asked <= set(report.acceptance)
    assert {"cited", "report"} <= set(report.acceptance)
    searched = {c for s in result.plan.subtasks if s.kind == "loop" for c in s.acceptance}
    assert asked <= searched


def test_each_question_is_a_core_criterion_in_the_words_of_the_parameters() -> None:
    result = planned("What is the capacity of the plant? Who pays for the road?")
    criteria = [c for c in result.contract.acceptance if c.kind == "question_answered"]
    assert [(c.id, c.question, c.core) for c in criteria] == [
        ("q1", "What is the capacity of the plant?", True),
        ("q2", "Who pays for the road?", True),
    ]
    assert operations(result.plan) == ["research", "research", "synthesise", "report"]
    assert [s.params["questions"] for s in result.plan.subtasks[:2]] == [[c.question] for c in criteria]


def test_comparison_fills_one_field_for_each_item_and_aspect() -> None:
    result = planned("Compare A and B on cost and noise")
    fields = [c.field for c in result.contract.acceptance if c.kind == "field_filled"]
    assert fields == ["A / cost", "A / noise", "B / cost", "B / noise"]
    assert operations(result.plan) == ["research", "research", "compare", "report"]
    assert result.plan.subtasks[0].params == {"item": "A", "fields": ["cost", "noise"]}
    assert result.plan.subtasks[2].params == {"items": ["A", "B"], "aspects": ["cost", "noise"]}
    assert [port.name for port in result.contract.outputs] == ["report", "table"]
    assert result.contract.kind == "compare"


def test_assumed_aspects_never_make_a_run_partial() -> None:
    result = planned("Compare A and B")
    assert not any(c.core for c in result.contract.acceptance if c.kind == "field_filled")


def test_a_goal_of_several_kinds_has_one_report() -> None:
    result = planned(GOALS[18])
    assert result.contract.kind == "mixed"
    assert operations(result.plan).count("report") == 1
    assert {"summarise", "compare", "research", "outline", "check"} <= set(operations(result.plan))


def test_a_hundred_questions_make_two_levels() -> None:
    result = planned(GOALS[20])
    merges = [s for s in result.plan.subtasks if s.operation == "synthesise"]
    assert len([s for s in result.plan.subtasks if s.operation == "research"]) == 25
    assert len(merges) == 6
    assert any("5 parts" in note for note in result.notes)
    assert result.contract.limits.max_tool_calls == 18, "the limits hold per attempt (ADR 0006)"


def test_leave_to_stay_open_comes_from_the_words_or_the_options() -> None:
    asked = "What is A? If the notes don't say, say so."
    assert planned(asked).contract.allow_unresolved
    assert not planned("What is A?").contract.allow_unresolved
    assert planned("What is A?", options=PlanOptions(allow_unresolved=True)).contract.allow_unresolved
    assert not planned(asked, options=PlanOptions(allow_unresolved=False)).contract.allow_unresolved


def test_forbidden_domains_are_never_required_and_the_reviewer_is_told() -> None:
    goal = Goal(text="What does the law say? Do not use legal knowledge.", lang="en", sources=("n",))
    result = plan_goal(goal, REGISTRY, always(("law.civil", 0.9), ("env.energy", 0.3)))
    assert result.contract.forbidden == ("domain:law",)
    assert all("law.civil" not in s.required_domains for s in result.plan.subtasks)
    assert any("forbids" in note for note in result.notes)
    assert errors(lint(result.plan, result.contract)) == ()


def test_a_summary_of_everything_reads_the_fields_of_the_notes_in_groups() -> None:
    leaves = REGISTRY.leaves[:6]
    outlines = [NoteOutline(title="n", domains={leaf: 1.0 for leaf in leaves})]
    goal = Goal(text="Summarise the folder", lang="en", sources=("n",))
    result = plan_goal(goal, REGISTRY, always(), outlines)
    summaries = [s for s in result.plan.subtasks if s.operation == "summarise"]
    assert [sorted(s.required_domains) for s in summaries] == [sorted(leaves[:4]), sorted(leaves[4:])]


@pytest.mark.parametrize("text", ["thanks", "你好", "   ", "🙏", "Read the notes."])
def test_a_text_without_a_task_gives_an_empty_plan_that_says_so(text: str) -> None:
    result = planned(text, "en")
    assert result.plan == Plan()
    assert result.contract.kind == NO_TASK
    assert result.contract.acceptance == ()
    (note,) = result.notes
    assert repr(text) in note


def test_no_text_at_all_is_an_error_in_both_languages() -> None:
    with pytest.raises(EmptyGoal, match="goal is empty") as caught:
        planned("", "en")
    assert "目标为空" in caught.value.message("zh")


def test_what_acts_outside_the_notes_is_never_planned_and_always_named() -> None:
    result = planned("Summarise the minutes and send them to the client")
    assert "Not planned, because it acts outside the notes: send." in result.notes
    assert any("“send” acts outside" in a.question for a in result.intent.ambiguities)
    assert {s.side_effects for s in result.plan.subtasks} <= {"read", "none"}


def test_blind_subtasks_are_named() -> None:
    goal = Goal(text="What is A?", lang="en", sources=("n",))
    result = plan_goal(goal, REGISTRY, always())
    assert any(
        "No knowledge domain was recognised for: Question 1: What is A?" in note for note in result.notes
    )


def test_the_result_survives_json() -> None:
    adapter = TypeAdapter(PlannedGoal)
    result = planned(GOALS[18])
    assert adapter.validate_json(adapter.dump_json(result)) == result


def test_example_goals_are_planned_as_their_authors_meant() -> None:
    examples = json.loads((Path(__file__).parents[3] / "examples" / "goals.json").read_text(encoding="utf-8"))
    for example in examples:
        result = planned(example["goal"], example["lang"])
        asked = [c.question for c in result.contract.acceptance if c.question is not None]
        if example.get("questions"):
            assert asked == example["questions"]
        else:
            assert result.contract.kind == "compare"


@settings(max_examples=60)
@given(st.text(min_size=1, max_size=200), st.sampled_from(["en", "zh"]))
def test_any_text_gives_a_sound_plan_or_an_empty_one(text: str, lang: Lang) -> None:
    result = planned(text, lang)
    if result.plan.subtasks:
        assert errors(lint(result.plan, result.contract)) == ()
    else:
        assert result.contract.kind == NO_TASK
        assert result.notes


def test_relevances_and_domains_are_those_of_the_registry() -> None:
    for text in GOALS:
        for subtask in planned(text).plan.subtasks:
            assert all(
                REGISTRY.is_leaf(DomainId(d)) and 0 < r <= 1 for d, r in subtask.required_domains.items()
            )


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (GOALS[0], "Answers to 3 questions"),
        (GOALS[1], "两个问题的回答"),
        ("What does it cost?", "What does it cost?"),
        ("What is the height of the Quay mill? When was the Quay mill built?", "Quay mill"),
        ("东岸泵站的扬程是多少？东岸泵站何时投运？", "东岸泵站"),
        (GOALS[5], "Give the main points of all notes"),
        (GOALS[10], "填一张表，列为名称、日期和金额"),
        (GOALS[14], "Plan for the grid connection"),
        ("When must the grid offer be accepted and who sent it?", "Grid offer"),
        (
            "Compare LFP and NMC on cost and lifetime; give the main points of steps for the installation",
            "LFP and NMC; steps for the installation",
        ),
        (
            "Compare LFP and NMC on cost. Summarise the safety rules of the plant. "
            "Draft a plan for the grid connection at Arby.",
            "LFP and NMC; the safety rules of the plant and more",
        ),
        ("Summarise the tower lease", "The tower lease"),
        ("Summarise pH values of the pond", "pH values of the pond"),
        (
            "Summarise the rules for the acceptance test of pumps and for the maintenance of the valves in spring",
            "The rules for the acceptance test of pumps and for the maintenance…",
        ),
    ],
)
def test_a_report_is_titled_by_what_was_asked_for(text: str, title: str) -> None:
    (report,) = [s for s in planned(text).plan.subtasks if s.operation == "report"]
    assert report.params["title"] == title


@pytest.mark.parametrize(
    ("text", "lang", "asked"),
    [
        (
            "Draft a plan for the move, with dates and responsible persons.",
            "en",
            [
                "What is the purpose of the move?",
                "Steps of the move",
                "Which costs, people and means does the move need?",
                "Which dates and deadlines hold for the move?",
                "Which risks and rules concern the move?",
                "What is known of the responsible persons for the move?",
            ],
        ),
        (
            "制定一份春季检修计划，包括日期和负责人。",
            "zh",
            [
                "春季检修的目的是什么？",
                "春季检修的步骤",
                "春季检修需要哪些费用、人员和条件？",
                "春季检修有哪些日期和期限？",
                "春季检修涉及哪些风险和规定？",
                "春季检修的负责人有哪些？",
            ],
        ),
    ],
)
def test_a_plan_asks_after_each_wanted_section_once(text: str, lang: Lang, asked: list[str]) -> None:
    result = plan_goal(Goal(text=text, lang=lang, sources=("n",)), REGISTRY, always(("env.energy", 0.9)))
    found = [c.question for c in result.contract.acceptance if c.kind == "question_answered"]
    assert found == asked
