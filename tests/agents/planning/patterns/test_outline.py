import pytest

from agents.planning.patterns.outline import read_outline


@pytest.mark.parametrize(
    ("text", "title", "subject"),
    [
        ("Draft a plan for the grid connection", "plan for the grid connection", "the grid connection"),
        ("Design a strategy to cut costs", "strategy to cut costs", "cut costs"),
        ("Plan the summer party", "plan: the summer party", "the summer party"),
        ("Write an emergency response plan", "emergency response plan", "emergency response plan"),
        ("制定一份污水厂应急预案", "污水厂应急预案", "污水厂"),
        ("为新线通水起草实施方案", "新线通水实施方案", "新线通水"),
    ],
)
def test_title_and_subject(text: str, title: str, subject: str) -> None:
    task = read_outline(text, ())
    assert task is not None
    assert (task.title, task.subject) == (title, subject)


@pytest.mark.parametrize(
    "text", ["Which plan is better?", "What is the plan?", "计划是什么？", "Write a letter"]
)
def test_talk_about_plans_is_no_order_to_draft_one(text: str) -> None:
    assert read_outline(text, ()) is None
