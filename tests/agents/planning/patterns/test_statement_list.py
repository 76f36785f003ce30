"""Goals that ask for a check of what follows: every sentence is checked as typed."""

from __future__ import annotations

import pytest

from agents.planning.patterns.statement_list import requests_check
from agents.planning.reading import read_goal
from agents.planning.readings import CheckTask

STATEMENTS = (
    "The Heron has 120 seats.",
    "The fare is €4 without luggage.",
    "Mira signs the charter by 20 May 2027.",
    "The hold must not exceed 4 °C.",
    "Fuel stands 3 m from it.",
)
STATEMENTS_ZH = (
    "码头共有8个泊位。",
    "扩建总投资为540万元。",
    "陈刚负责在6月15日前提交照明系统的施工方案。",
    "救生衣每季度检查两次。",
)


@pytest.mark.parametrize(
    "goal",
    [
        f"Check these statements: {' '.join(STATEMENTS)}",
        f"Are the following statements true? {' '.join(STATEMENTS)}",
        f"Please verify the following claims against my notes. {' '.join(STATEMENTS)}",
        "Are these statements true?\n" + "\n".join(f"- {one}" for one in STATEMENTS),
        "Check these statements:\n" + "\n".join(STATEMENTS),
        "Which of these statements are correct?\n"
        + "\n".join(f"{n}. {s}" for n, s in enumerate(STATEMENTS, 1)),
    ],
)
def test_every_sentence_after_the_request_is_a_statement_as_typed(goal: str) -> None:
    reading = read_goal(goal)

    assert reading.tasks == (CheckTask(statements=STATEMENTS),)
    assert (reading.context, reading.constraints, reading.prohibitions) == ((), (), ())


@pytest.mark.parametrize(
    "goal",
    [
        f"核查以下说法：{''.join(STATEMENTS_ZH)}",
        f"以下说法是否正确？{''.join(STATEMENTS_ZH)}",
        "请核实下列说法：" + "".join(f"（{n}）{one}" for n, one in enumerate(STATEMENTS_ZH, 1)),
        "这些说法对吗？\n" + "\n".join(f"- {one}" for one in STATEMENTS_ZH),
    ],
)
def test_the_same_in_chinese(goal: str) -> None:
    reading = read_goal(goal)

    assert reading.tasks == (CheckTask(statements=STATEMENTS_ZH),)
    assert (reading.context, reading.constraints, reading.prohibitions) == ((), (), ())


def test_an_order_or_question_ends_the_statements() -> None:
    reading = read_goal(
        "Check these statements: The Heron has 120 seats. The fare is €4. Summarise the charter. What does it cost?"
    )

    kinds = [task.kind for task in reading.tasks]
    assert kinds == ["check", "summarise", "research"]
    assert reading.tasks[0] == CheckTask(statements=("The Heron has 120 seats.", "The fare is €4."))


@pytest.mark.parametrize(
    ("text", "requests"),
    [
        ("Check these statements", True),
        ("Is the following true?", True),
        ("Verify the claims in report.md", False),
        ("Check whether the Heron has 120 seats", False),
        ("Are these ferries fast?", False),
        ("请检查以下内容是否属实", True),
        ("检查屋顶", False),
    ],
)
def test_a_request_names_nothing_but_what_follows(text: str, requests: bool) -> None:
    assert requests_check(text) is requests
