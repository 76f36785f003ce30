import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.planning.reading import LONGEST_SENTENCE, read_goal
from agents.planning.readings import (
    CheckTask,
    CompareTask,
    OutlineTask,
    ResearchTask,
    SummariseTask,
    Task,
    UnclearTask,
)


def research(*questions: str) -> ResearchTask:
    return ResearchTask(questions=questions)


@pytest.mark.parametrize(
    ("goal", "tasks"),
    [
        ("Answer from the notes: (1) What is A? (2) What is B?", (research("What is A?", "What is B?"),)),
        ("回答下列问题：（1）甲是多少？（2）乙在哪里？", (research("甲是多少？", "乙在哪里？"),)),
        ("根据资料回答：一、甲是多少？二、乙在哪里？", (research("甲是多少？", "乙在哪里？"),)),
        ("What is A? What is B? What is C?", (research("What is A?", "What is B?", "What is C?"),)),
        ("I have two questions: What is A? What is B?", (research("What is A?", "What is B?"),)),
        (
            "Questions:\n* cost of the plant\n* owner of the plant",
            (research("cost of the plant", "owner of the plant"),),
        ),
        ("“What is X?”", (research("What is X?"),)),
        (
            "**What** is _A_?\n\n1. What is B?\n2. What is C?",
            (research("What is _A_?", "What is B?", "What is C?"),),
        ),
        ("Project Alpha: what does it cost?", (research("Project Alpha: what does it cost?"),)),
        (
            "Summarise the folder. Then compare A and B on cost. What is C?",
            (SummariseTask(), CompareTask(items=("A", "B"), aspects=("cost",)), research("What is C?")),
        ),
        (
            "1. Summarise the safety notes\n2. Check whether A is B\n3. Draft a plan for C",
            (
                SummariseTask(topics=("the safety notes",)),
                CheckTask(statements=("A is B",)),
                OutlineTask(title="plan for C", subject="C"),
            ),
        ),
        (
            "Compare A and B on cost. Compare A and B on noise.",
            (CompareTask(items=("A", "B"), aspects=("cost", "noise")),),
        ),
        (
            "Please check these claims:\n- The plant opened.\n- It costs 5.",
            (CheckTask(statements=("The plant opened.", "It costs 5.")),),
        ),
        ("battery storage safety", (UnclearTask(topic="battery storage safety"),)),
        ("储能安全", (UnclearTask(topic="储能安全"),)),
        ("Translate this: hello", (UnclearTask(topic="Translate this: hello"),)),
    ],
)
def test_goals_are_read_as_tasks(goal: str, tasks: tuple[Task, ...]) -> None:
    assert read_goal(goal).tasks == tasks


@pytest.mark.parametrize(
    "goal",
    [
        "thanks",
        "你好",
        "  \n ",
        "🙏",
        "Thanks!! 谢谢",
        "Read the notes.",
        "42",
        "Within 50 words.",
        "OK, thanks. Bye.",
    ],
)
def test_texts_without_a_task_have_none(goal: str) -> None:
    assert read_goal(goal).tasks == ()


def test_conditions_apply_to_the_goal_and_not_to_its_questions() -> None:
    reading = read_goal(
        "Hello! Answer the following questions in at most 300 words. If the notes don't say, say so.\n\n"
        "1. What is A?\n2. What is B, in one sentence?\n\nDo not use legal knowledge."
    )
    assert reading.tasks == (research("What is A?", "What is B?"),)
    assert reading.constraints == ("in at most 300 words", "in one sentence")
    assert reading.prohibitions == ("Do not use legal knowledge",)
    assert reading.unresolved_allowed


def test_background_is_kept_beside_the_task() -> None:
    reading = read_goal("The plant opened in 2024. What does the plant cost?")
    assert reading.tasks == (research("What does the plant cost?"),)
    assert reading.context == ("The plant opened in 2024.",)


def test_a_question_that_says_nothing_alone_takes_the_background_with_it() -> None:
    reading = read_goal("I got an error when installing pymilvus on Windows. What shall I do?")
    assert reading.tasks == (
        research("I got an error when installing pymilvus on Windows. What shall I do?"),
    )
    assert reading.context == ()


def test_what_an_announced_question_tells_first_belongs_to_it() -> None:
    told = "The pump at Arby fails. What shall I do?"
    assert read_goal(f"Answer from the notes: {told}").tasks == (ResearchTask(questions=(told,)),)
    two = "Answer from the notes: The pump at Arby fails. What does the battery cost?"
    assert read_goal(two).tasks == (
        ResearchTask(questions=("The pump at Arby fails.", "What does the battery cost?")),
    )


def test_mixed_languages_in_one_goal() -> None:
    reading = read_goal("比较 PostgreSQL 和 MySQL 的 latency，不超过200字。What is the licence of MySQL?")
    assert reading.tasks == (
        CompareTask(items=("PostgreSQL", "MySQL"), aspects=("latency",)),
        research("What is the licence of MySQL?"),
    )


def test_an_unnamed_comparison_is_remembered() -> None:
    reading = read_goal("Compare the storage options on cost")
    assert reading.tasks == (UnclearTask(topic="Compare the storage options on cost", comparison=True),)


@pytest.mark.parametrize(
    ("goal", "topic", "comparison"),
    [
        ("先总结安全手册，再比较两种工艺的优缺点", "安全手册", "比较两种工艺的优缺点"),
        (
            "Summarise the safety manual, then compare the two processes",
            "the safety manual",
            "compare the two processes",
        ),
        ("Summarise the manual. Compare the two processes.", "the manual", "Compare the two processes"),
    ],
)
def test_an_unnamed_comparison_is_kept_beside_other_tasks(goal: str, topic: str, comparison: str) -> None:
    assert read_goal(goal).tasks == (
        SummariseTask(topics=(topic,)),
        UnclearTask(topic=comparison, comparison=True),
    )


def test_a_comparison_whose_things_are_named_later_is_one_comparison() -> None:
    (task,) = read_goal("Compare the two pumps. Compare A and B on cost.").tasks
    assert task == CompareTask(items=("A", "B"), aspects=("cost",))


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    assert read_goal(text) == read_goal(text)


WORDS = [
    "compare",
    "A",
    "and",
    "B",
    "on",
    "cost",
    "?",
    ".",
    ":",
    "\n- ",
    "summarise",
    "the",
    "notes",
    "(1)",
    "(2)",
    "比较",
    "甲",
    "和",
    "乙",
    "的",
    "成本",
    "？",
    "。",
    "不要",
    "check",
    "whether",
    "table",
    "“",
    "”",
]


@given(st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join))
def test_any_mixture_of_goal_words_can_be_read(text: str) -> None:
    for task in read_goal(text).tasks:
        if isinstance(task, CompareTask):
            assert len(task.items) > 1
            assert task.aspects
        if isinstance(task, ResearchTask):
            assert all(question.strip() for question in task.questions)


@pytest.mark.parametrize(
    "text",
    [
        "compare " + " " * 5_000 + "x",
        "比较" + "的" * 5_000,
        "甲和" * 2_500,
        "(" * 5_000,
        "what is " * 700 + "?",
        "the cost of " * 500,
        "a\n" * 2_500,
        "- what is a?\n" * 400,
    ],
    ids=lambda text: text[:12],
)
def test_a_pasted_document_costs_next_to_nothing(text: str) -> None:
    for task in read_goal(text).tasks:
        if isinstance(task, UnclearTask):
            assert len(task.topic) <= LONGEST_SENTENCE
