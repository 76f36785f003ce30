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
    ("text", "title", "subject", "sections"),
    [
        (
            "Draft a plan for the season 2026 at the apiary, with dates and responsible persons.",
            "plan for the season 2026 at the apiary",
            "the season 2026 at the apiary",
            ("dates", "responsible persons"),
        ),
        (
            "Write a schedule for the harvest with milestones, total budget and owners",
            "schedule for the harvest",
            "the harvest",
            ("milestones", "total budget", "owners"),
        ),
        (
            "Draft a plan with dates and costs for the move",
            "plan for the move",
            "the move",
            ("dates", "costs"),
        ),
        (
            "Draft a plan for the talk with the mayor",
            "plan for the talk with the mayor",
            "the talk with the mayor",
            (),
        ),
        (
            "制定一份春季检修计划，包括日期、预算和负责人",
            "春季检修计划",
            "春季检修",
            ("日期", "预算", "负责人"),
        ),
        ("为新线通水起草实施方案，并写明期限等内容", "新线通水实施方案", "新线通水", ("期限",)),
    ],
)
def test_wanted_sections_are_no_part_of_the_subject(
    text: str, title: str, subject: str, sections: tuple[str, ...]
) -> None:
    task = read_outline(text, ())
    assert task is not None
    assert (task.title, task.subject, task.sections) == (title, subject, sections)


@pytest.mark.parametrize(
    "text", ["Which plan is better?", "What is the plan?", "计划是什么？", "Write a letter"]
)
def test_talk_about_plans_is_no_order_to_draft_one(text: str) -> None:
    assert read_outline(text, ()) is None
