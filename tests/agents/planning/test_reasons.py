"""Why an answer could not be used is said in the goal's language, wherever it comes from."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from agents.models.json_answers import Unparsed, read_json_answer, read_whole_json
from agents.models.reasons import reason_words
from agents.models.scripted import Fail, Reply, Say, SayJson
from agents.planning.model.prompts import INTENT_SCHEMA, PLAN_SCHEMA
from agents.planning.model.steps import read_steps
from agents.planning.model.understanding import read_understanding
from agents.planning.repairs import render_repair
from tests.agents.planning.model.script import INTENT, plan_with, step, told

GOAL = "比较我的笔记里数据库的索引和锁，并写一份报告"
NAMES = {"JSON", "id", "agent", "object", "array", "string", "integer", "boolean", "or"}
"""Names of types among them, as JSON calls them."""


def english(text: str) -> set[str]:
    """Words of English in `text` that are neither typed names in backquotes nor quoted."""
    bare = re.sub(r"`[^`]*`|“[^”]*”|'[^']*'|\$[\w.\[\]]*", " ", text)
    return set(re.findall(r"[A-Za-z]{2,}", bare)) - NAMES


UNUSABLE = [SayJson(data={"x": 1})] * 3


@pytest.mark.parametrize(
    "replies",
    [
        [*UNUSABLE, *[SayJson(data={"steps": "no"})] * 3],
        [*[Say(text="not at all")] * 3, *[Say(text='{"steps": [{"id": "a", "after": {"b"}}]}')] * 3],
        [INTENT, *[Say(text='{"steps": [{"id"')] * 3],
        [INTENT, *[SayJson(data={"steps": []})] * 3],
        [INTENT, *[SayJson(data=[step("t1", "fly")])] * 3],
        [Fail(error=TimeoutError("slow"))],
        [
            INTENT,
            *[SayJson(data={"tasks": {"a": {"op": "search", "questions": "索引是什么？"}, "b": 5}})] * 3,
        ],
        [
            SayJson(
                data={"objective": "比较索引和锁", "ambiguities": {"question": "哪个？", "options": "甲"}}
            ),
            *[SayJson(data={"steps": [step("t1", "research", questions=["索引是什么？"]), "two"]})] * 3,
        ],
    ],
)
def test_a_chinese_review_says_why_in_chinese(replies: list[Reply]) -> None:
    planned, model = plan_with(GOAL, *replies)
    assert planned.repairs
    for repair in planned.repairs:
        # The name of the model and what its library said stand as they are.
        told_zh = (
            render_repair(repair, "zh").replace("scripted:model", "").replace("(TimeoutError: slow)", "")
        )
        told_zh = told_zh.replace("（TimeoutError: slow）", "").replace("MASKGRAD_MODEL_TIMEOUT=600", "")
        assert not english(told_zh), told_zh
    asked_again = [n for n in range(len(model.requests)) if "这个回答无法直接使用" in told(model, n)]
    for number in asked_again:
        complaint = str(model.requests[number][-1].content)
        assert not english(complaint), complaint


@pytest.mark.parametrize(
    "value",
    [
        {"objective": 5, "constraints": [1]},
        {"objective": "x", "ambiguities": [{"question": 1, "options": "a"}]},
        {"steps": [{"id": "a", "operation": "walk", "title": "t"}]},
        {"steps": []},
        [],
        5,
    ],
)
@pytest.mark.parametrize("schema", [INTENT_SCHEMA, PLAN_SCHEMA])
def test_breaches_of_the_schemas_are_told_in_chinese(value: Any, schema: Any) -> None:
    for found in (read_json_answer(json.dumps(value), schema), read_whole_json("{" + json.dumps(value))):
        if isinstance(found, Unparsed):
            assert not english(reason_words(found.reason, "zh")), reason_words(found.reason, "zh")


def test_what_a_provider_said_stays_as_it_was_said() -> None:
    assert reason_words("timeout: a; accepted: b", "zh") == "超时：“a; accepted: b”"
    assert reason_words("Erklärung, die niemand kennt", "zh") == "Erklärung, die niemand kennt"
    assert (
        reason_words("3 steps are too many; plan at most 2", "en") == "3 steps are too many; plan at most 2"
    )
    assert reason_words("3 steps are too many; plan at most 2", "zh") == "3 个步骤过多；至多规划 2 个"


def kinds(data: Any, goal: str = "Compare the backup tools by price. Use at most one page.") -> list[str]:
    found = read_understanding(data, goal)
    assert not isinstance(found, str)
    return [one.kind for one in found.repairs]


def test_nothing_that_a_model_lists_is_left_out_without_a_line() -> None:
    base = {"objective": "Compare the backup tools"}
    points = [{"question": f"q{i}?", "options": ["a", "b"]} for i in range(9)]
    assert kinds({**base, "assumptions": [f"assume {i}" for i in range(9)]}) == ["too_many_assumptions"]
    assert kinds({**base, "constraints": ["at most one page" + "." * i for i in range(9)]}) == [
        "too_many_constraints"
    ]
    assert kinds({**base, "ambiguities": points}) == ["too_many_points"]
    assert kinds({**base, "ambiguities": [{"options": ["x", "y"]}]}) == ["point_without_question"]
    assert kinds({**base, "ambiguities": [points[0], {"question": "q0?", "options": ["c", "d"]}]}) == [
        "question_twice"
    ]
    assert kinds({**base, "ambiguities": points[0]}) == ["form"]
    assert kinds({**base, "assumptions": ["long " * 100]}) == ["form"]
    assert kinds({**base, "assumptions": ["just right"]}) == []


def test_steps_that_are_no_objects_and_what_is_cut_are_told() -> None:
    good = step("t1", "research", questions=["Who?"])
    for listed in (
        [good, "a text"],
        [{**good, "title": "t" * 401}],
        [{**good, "questions": [f"q{i}" for i in range(76)]}],
    ):
        found = read_steps({"steps": listed})
        assert found is not None
        assert [one.kind for one in found.repairs] == ["form"], listed
    found = read_steps({"steps": [{**good, "title": "t" * 400, "questions": [f"q{i}" for i in range(75)]}]})
    assert found is not None
    assert found.repairs == ()


@pytest.mark.parametrize(
    ("goal", "text", "stated"),
    [
        ("Compare the backup tools by price", "Compare the backup tools by price", True),
        ("Compare the backup tools by price", "Never compare the backup tools by price", False),
        ("Compare the backup tools by price", "Compare the backup tools by price only", False),
        ("Compare the backup tools by price", "You must compare the backup tools by price", False),
        ("Compare the backup tools by price", "Compare the cheapest backup tools by price", False),
        ("Do not use the web; use my notes.", "Do not use the web", True),
        ("Do not use the web; use my notes.", "Don't use the web; use my notes", True),
        ("Do not use the web; use my notes.", "Use the web", False),
        ("Do not use the web; use my notes.", "Do not use my notes", False),
        ("It is about the old plant only.", "only the old plant", True),
        ("对比我的笔记里的备份工具", "必须使用最便宜的备份工具", False),
        ("对比我的笔记里的备份工具", "不要对比备份工具", False),
        ("对比备份工具，不要使用网页，只用笔记", "不要使用网页", True),
        ("对比备份工具，不要使用网页，只用笔记", "使用网页", False),
        ("对比备份工具，不要使用网页，只用笔记", "不要使用笔记", False),
        ("Do not use the web; use my notes.", "Don't use the web, my notes", False),
        ("Compare the plants by price only.", "only the plants", False),
        ("Do not use PostgreSQL but use MySQL for the report", "Do not use MySQL for the report", False),
        ("Do not use PostgreSQL but use MySQL for the report", "Do not use PostgreSQL", True),
        ("Do not use PostgreSQL but use MySQL for the report", "use MySQL for the report", True),
        ("Do not use PostgreSQL or MySQL", "MySQL", False),
        ("Do not use PostgreSQL, MySQL or Oracle", "MySQL or Oracle", False),
        ("Never open mails or write to Bob", "write to Bob", False),
        ("Compare tools that cost less than 100 EUR", "Compare tools that cost 100 EUR", False),
        ("The report costs less than 100 EUR", "100 EUR", False),
        ("The budget is at least 100 EUR", "100 EUR", False),
        ("Write a report of 5 pages or more", "5 pages", False),
        ("Write a report of at most one page.", "at most one page", True),
        ("Can you write a report of at most one page?", "at most one page", True),
        ("Must backups be encrypted?", "backups be encrypted", False),
        ("Never write to customers and always write to the manager", "Never write to the manager", False),
        ("Never write to customers and always write to the manager", "Never write to customers", True),
        ("Summarise the notes that do not mention prices", "Do not mention prices", False),
        ("Find out whether backups must never be encrypted", "Backups must never be encrypted", False),
        ("Do not use the web unless I ask.", "Do not use the web", False),
        ("You may use the web.", "use the web", False),
        ("If the notes fail, use the web", "use the web", False),
        ("不要使用PostgreSQL但使用MySQL", "不要使用MySQL", False),
        ("不要使用PostgreSQL但使用MySQL", "不要使用PostgreSQL", True),
        ("对比备份工具，不要使用网页，只用笔记", "只用笔记", True),
        ("对比备份工具，不要使用网页，只用笔记", "用笔记", False),
        ("总结没有提到价格的笔记", "没有提到价格", False),
        ("查明备份是否必须加密", "必须加密", False),
        ("报告不超过一页", "报告一页", False),
        ("报告不超过一页", "一页", False),
        ("写一份报告，不超过一页。", "不超过一页", True),
        ("价格在100元以内", "价格在100元", False),
        ("除非我要求，不要使用网页", "不要使用网页", False),
    ],
)
def test_a_constraint_is_the_goals_with_all_its_words_and_the_same_force(
    goal: str, text: str, stated: bool
) -> None:
    found = read_understanding({"objective": goal, "constraints": [text]}, goal)
    assert not isinstance(found, str)
    assert (found.value.constraints == (text,)) is stated


def test_an_objective_that_turns_the_goal_around_is_not_taken() -> None:
    found = read_understanding(
        {"objective": "Do not compare the tools by price"}, "Compare the tools by price"
    )
    assert not isinstance(found, str)
    assert (found.value.objective, [one.kind for one in found.repairs]) == ("", ["objective"])
