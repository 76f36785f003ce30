"""Goals with several orders in one sentence: what they are read as, and what waits for what in the plan."""

import pytest

from agents.planning.reading import read_goal
from graphs.lint import errors, lint
from graphs.plan import Plan
from tests.agents.planning.test_embedded import planned

EN_GOALS = (
    ("Compare A and B, then write a summary of C and list open questions", ("compare", "summarise")),
    ("Compare A and B on cost, and what does C weigh?", ("compare", "research")),
    ("Summarise the fire rules and compare oak and pine on cost.", ("summarise", "compare")),
    (
        "First extract the name and price of every option into a table, then compare oak and pine on price and tell me"
        " who approves the budget.",
        ("extract", "compare", "research"),
    ),
    ("Check whether the mill opened in 2024, and summarise the permits.", ("check", "summarise")),
    ("What does the mill cost, and draft a plan for the move?", ("research", "outline")),
    ("Draft a plan for the move and then check it against the notes.", ("outline", "check")),
    (
        "Compare A and B on cost and safety, summarise the risks, and answer: who owns the land?",
        ("compare", "summarise", "research"),
    ),
    (
        "Write a report that summarises the budget and compares the two offers from Ott and Li on price.",
        ("summarise", "compare"),
    ),
    ("Extract the rent 2024 per shop and explain why it fell.", ("extract", "research")),
    ("Compare and contrast A and B on cost", ("compare",)),
    ("Summarise the plan and the list of parts", ("summarise",)),
    ("Compare the draft and the final plan on cost", ("compare",)),
    ('Check these statements: "Compare A, then sell B." "The mill is new."', ("check",)),
)
ZH_GOALS = (
    ("比较甲和乙，然后总结丙，并列出未解决的问题", ("compare", "summarise")),
    ("先总结消防方案，再比较橡木和松木的成本。", ("summarise", "compare")),
    ("提取每份合同的名称和金额，列成表，并说明谁负责付款。", ("extract", "research")),
    ("核查“磨坊2024年投运”是否属实，并总结许可情况", ("check", "summarise")),
    ("磨坊多少钱？另外起草一份搬迁计划。", ("research", "outline")),
    ("总结会议纪要；提取所有日期；比较甲和乙的噪声。", ("summarise", "extract", "compare")),
    ("比较甲和乙的成本与安全性，总结风险，并回答土地归谁所有。", ("compare", "summarise", "research")),
    (
        "完成以下任务：1. 总结调试方案 2. 比较甲机和乙机的投资 3. 谁签发作业票？",
        ("summarise", "compare", "research"),
    ),
    (
        "请先找出排放限值，然后核查“总磷限值为0.3毫克每升”，最后写一份小结。",
        ("research", "check", "summarise"),
    ),
    ("起草一份搬迁计划，然后核查上述计划", ("outline", "check")),
    ("制定一份春季检修计划，列出日期和负责人。", ("outline",)),
    ("总结安全要求、核心规定", ("summarise",)),
)


@pytest.mark.parametrize(("text", "kinds"), [*EN_GOALS, *ZH_GOALS])
def test_each_order_is_a_task(text: str, kinds: tuple[str, ...]) -> None:
    assert tuple(task.kind for task in read_goal(text).tasks) == kinds


@pytest.mark.parametrize("text", [text for text, _ in (*EN_GOALS, *ZH_GOALS)])
def test_each_task_is_a_chain_of_its_own_that_ends_in_the_report(text: str) -> None:
    result = planned(text)

    assert errors(lint(result.plan, result.contract)) == ()
    (report,) = [s.id for s in result.plan.subtasks if s.operation == "report"]
    others = {s.id for s in result.plan.subtasks} - {report}
    assert others == reaching(report, result.plan)


@pytest.mark.parametrize(
    "text", ["Draft a plan for the move and then check it.", "起草一份搬迁计划，然后核查上述计划"]
)
def test_a_check_of_what_came_before_takes_it_as_input(text: str) -> None:
    plan = planned(text).plan
    by_operation = {s.operation: s.id for s in plan.subtasks}

    assert by_operation["outline"] in reaching(by_operation["check"], plan)


def test_tasks_that_do_not_need_each_other_do_not_wait_for_each_other() -> None:
    plan = planned("Compare A and B on cost, then summarise C and draft a plan for the move.").plan
    (compare,) = [s.id for s in plan.subtasks if s.operation == "compare"]
    (outline,) = [s.id for s in plan.subtasks if s.operation == "outline"]

    assert not reaching(compare, plan) & reaching(outline, plan)


def test_a_pronoun_after_another_task_means_what_that_task_is_about() -> None:
    (_, research) = read_goal("Summarise the ferry timetable and explain why it changed.").tasks

    assert research.kind == "research"
    assert research.questions == ("explain why it changed (it: the ferry timetable)",)


def test_the_list_of_open_questions_is_leave_to_stay_open() -> None:
    for text in ("Compare A and B, and list open questions", "比较甲和乙，并列出未解决的问题"):
        reading = read_goal(text)
        assert reading.unresolved_allowed
        assert [task.kind for task in reading.tasks] == ["compare"]


def reaching(node: str, plan: Plan) -> set[str]:
    """Return every sub-task on whose output `node` depends."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        target = waiting.pop()
        sources = {str(edge.source) for edge in plan.dependencies if edge.target == target} - found
        found |= sources
        waiting.extend(sources)
    return found
