from dataclasses import dataclass

import pytest

from agents.planning.conditions import find_conditions, forbidden_subjects


@dataclass(frozen=True)
class Case:
    text: str
    rest: str
    constraints: tuple[str, ...] = ()
    prohibitions: tuple[str, ...] = ()
    open_allowed: bool = False


CASES = (
    Case("Compare A and B in under 200 words.", "Compare A and B.", ("in under 200 words",)),
    Case("Within 500 words.", "", ("Within 500 words",)),
    Case("In 50 words, what is the cost?", "what is the cost?", ("In 50 words",)),
    Case("What does it cost, in at most 20 words?", "What does it cost?", ("in at most 20 words",)),
    Case("不超过三百字，总结安全要求。", "总结安全要求。", ("不超过三百字",)),
    Case("用三句话说明成本", "说明成本", ("用三句话",)),
    Case("请用中文回答：成本是多少？", "成本是多少？", ("请用中文回答",)),
    Case("仅根据笔记回答", "", ("仅根据笔记回答",)),
    Case("请在周五前完成。", "", ("请在周五前完成",)),
    Case("Keep it short and simple.", "", ("Keep it short and simple",)),
    Case("If the notes do not say, say so.", "", open_allowed=True),
    Case("Where the sources don't answer, leave it open.", "", open_allowed=True),
    Case("没有就说明。", "", open_allowed=True),
    Case("若资料没有提到，就写明未提及", "", open_allowed=True),
    Case("笔记中没有的，请说明", "", open_allowed=True),
    Case("Do not use legal knowledge.", "", prohibitions=("Do not use legal knowledge",)),
    Case(
        "Summarise the folder, but do not mention finance.",
        "Summarise the folder.",
        prohibitions=("do not mention finance",),
    ),
    Case("不要使用法律知识", "", prohibitions=("不要使用法律知识",)),
    # Questions that only look like conditions.
    Case("What must not be stored in the hall?", "What must not be stored in the hall?"),
    Case("为什么没有说明书？", "为什么没有说明书？"),
    Case(
        "Which items have no answer in 5 sentences of the law?",
        "Which items have no answer in 5 sentences of the law?",
    ),
    Case("别的方案有哪些？", "别的方案有哪些？"),
    Case("哪些设备没有安装？", "哪些设备没有安装？"),
    Case("下午3点以前完成什么？", "下午3点以前完成什么？"),
    Case("What happens if the notes are lost?", "What happens if the notes are lost?"),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.text)
def test_conditions_are_taken_out_and_kept_as_typed(case: Case) -> None:
    found = find_conditions(case.text)
    assert (found.rest, found.constraints, found.prohibitions, found.unresolved_allowed) == (
        case.rest,
        case.constraints,
        case.prohibitions,
        case.open_allowed,
    )


@pytest.mark.parametrize(
    ("prohibition", "subjects"),
    [
        ("do not use legal or medical knowledge", ("legal", "medical")),
        ("without using knowledge of chemistry", ("chemistry",)),
        ("don't mention finance", ("finance",)),
        ("不要使用法律和医学知识", ("法律", "医学")),
        ("不涉及金融领域的内容", ("金融",)),
    ],
)
def test_the_subjects_of_a_prohibition(prohibition: str, subjects: tuple[str, ...]) -> None:
    assert forbidden_subjects(prohibition) == subjects
