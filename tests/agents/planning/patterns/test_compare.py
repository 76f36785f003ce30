from dataclasses import dataclass

import pytest

from agents.planning.patterns.compare import (
    ASSUMED_ASPECTS,
    ComparedKind,
    compared_kind,
    read_comparison,
)
from agents.planning.readings import CompareTask


@dataclass(frozen=True)
class Case:
    text: str
    items: tuple[str, ...]
    aspects: tuple[str, ...]
    listed: tuple[str, ...] = ()
    scope: str = ""


CASES = (
    Case("Compare A, B and C on cost, lifetime and safety", ("A", "B", "C"), ("cost", "lifetime", "safety")),
    Case(
        "Compare the cost, lifetime and safety of A, B and C", ("A", "B", "C"), ("cost", "lifetime", "safety")
    ),
    Case("Compare A with B in terms of noise", ("A", "B"), ("noise",)),
    Case("Compare the cost of A and the cost of B", ("A", "B"), ("cost",)),
    Case(
        "Compare boats and barges for use on lakes by cost and noise",
        ("boats", "barges"),
        ("cost", "noise"),
        scope="for use on lakes",
    ),
    Case("Compare boats with barges in winter on cost", ("boats", "barges"), ("cost",), scope="in winter"),
    Case("Compare pumps in Arby and pumps in Bex on cost", ("pumps in Arby", "pumps in Bex"), ("cost",)),
    Case("Compare the boat's price with the barge's price", ("boat", "barge"), ("price",)),
    Case("比较小船的成本和驳船的成本", ("小船", "驳船"), ("成本",)),
    Case("比较小船、驳船在湖上使用时的成本和噪声", ("小船", "驳船"), ("成本", "噪声"), scope="在湖上使用时"),
    Case("Compare item 1 and item 2, focusing on noise", ("item 1", "item 2"), ("noise",)),
    Case(
        "What is the difference between TCP and UDP regarding reliability?", ("TCP", "UDP"), ("reliability",)
    ),
    Case("How does A compare to B on price?", ("A", "B"), ("price",)),
    Case(
        "Compare the X method and the B swarm by extra equipment, minutes per colony and effect on the yield",
        ("X method", "B swarm"),
        ("extra equipment", "minutes per colony", "effect on the yield"),
    ),
    Case(
        "Compare A and B on price, litres per day and time spent on repairs",
        ("A", "B"),
        ("price", "litres per day", "time spent on repairs"),
    ),
    Case("Compare A and B by impact on traffic and noise", ("A", "B"), ("impact on traffic", "noise")),
    Case("Compare the essay on A and the essay on B on length", ("essay on A", "essay on B"), ("length",)),
    Case("比较甲法和乙法的设备、用时和对产量的影响", ("甲法", "乙法"), ("设备", "用时", "对产量的影响")),
    Case(
        "按设备、每群用时和对产量的影响比较甲法和乙法", ("甲法", "乙法"), ("设备", "每群用时", "对产量的影响")
    ),
    Case("比较甲的方法和乙的方法的成本", ("甲的方法", "乙的方法"), ("成本",)),
    Case("Pros and cons of A and B", ("A", "B"), ("advantages", "disadvantages")),
    Case("Compare A and B", ("A", "B"), ("cost", "lifetime"), ("cost", "lifetime")),
    Case("Compare A and B", ("A", "B"), ("cost", "lifetime"), ("cost and lifetime",)),
    Case("Compare the cost of the following plans", ("Plan X", "Plan Y"), ("cost",), ("Plan X", "Plan Y")),
    Case("比较甲、乙、丙的成本与寿命", ("甲", "乙", "丙"), ("成本", "寿命")),
    Case(
        "比较MBR、深床滤池和MBBR在工程投资、新增用地和单位电耗方面的差别",
        ("MBR", "深床滤池", "MBBR"),
        ("工程投资", "新增用地", "单位电耗"),
    ),
    Case("从成本、寿命两个方面比较磷酸铁锂和三元锂", ("磷酸铁锂", "三元锂"), ("成本", "寿命")),
    Case("将甲与乙在成本方面进行比较", ("甲", "乙"), ("成本",)),
    Case("甲和乙在成本方面有什么区别？", ("甲", "乙"), ("成本",)),
    Case("比较甲跟乙的优缺点", ("甲", "乙"), ("优点", "缺点")),
    Case("比较 PostgreSQL 和 MySQL 的 latency", ("PostgreSQL", "MySQL"), ("latency",)),
    Case("比较以下方案的成本", ("甲案", "乙案"), ("成本",), ("甲案", "乙案")),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.text)
def test_items_and_aspects_are_told_apart(case: Case) -> None:
    assert read_comparison(case.text, case.listed) == CompareTask(
        items=case.items, aspects=case.aspects, scope=case.scope
    )


@pytest.mark.parametrize(
    ("text", "lang"), [("Compare A and B", "en"), ("PostgreSQL vs. MySQL", "en"), ("比较甲和乙", "zh")]
)
def test_aspects_that_nobody_named_are_assumed(text: str, lang: str) -> None:
    task = read_comparison(text, ())
    assert isinstance(task, CompareTask)
    assert task.assumed_aspects
    assert task.aspects == ASSUMED_ASPECTS[lang]


@pytest.mark.parametrize("text", ["Compare the storage options on cost", "比较一下这几种方案"])
def test_a_comparison_of_unnamed_things_says_so(text: str) -> None:
    assert isinstance(read_comparison(text, ()), str)


@pytest.mark.parametrize(
    "text",
    [
        "What is A?",
        "总和是多少？",
        "Summarise A and B",
        "How does A work?",
        "为什么甲和乙停工？",
        "What is the difference between A and B?",
        "How do A and B differ?",
        "Which is cheaper, A or B?",
        "A和B有什么区别？",
        "磷酸铁锂和三元锂哪个更安全？",
        "What is the difference between the two?",
    ],
)
def test_other_goals_are_no_comparison(text: str) -> None:
    assert read_comparison(text, ()) is None


@pytest.mark.parametrize(
    ("text", "kind", "count", "aspects"),
    [
        (
            "Compare the three kilns by rent, weight and delivery time",
            "kilns",
            3,
            ("rent", "weight", "delivery time"),
        ),
        ("Compare all tide mills on noise", "tide mills", None, ("noise",)),
        ("Compare the four kilns", "kilns", 4, ()),
        ("比较三个供应商的价格和交货期", "供应商", 3, ("价格", "交货期")),
        ("从租金和重量方面比较两台窑炉", "窑炉", 2, ("租金", "重量")),
        ("比较各项目的造价和工期", "项目", None, ("造价", "工期")),
    ],
)
def test_things_may_be_named_by_their_kind_alone(
    text: str, kind: str, count: int | None, aspects: tuple[str, ...]
) -> None:
    assert compared_kind(text) == ComparedKind(kind=kind, count=count, aspects=aspects)
    assert isinstance(read_comparison(text, ()), str)


@pytest.mark.parametrize(
    "text",
    [
        "Compare the two offers from Arne and Bo",
        "Compare the two offers by Arne and Bo",
        "Compare kilns and mills by price",
        "Compare solar panels with wind turbines",
        "比较一期工程和二期工程",
        "对比甲和乙",
    ],
)
def test_named_things_are_not_a_kind(text: str) -> None:
    assert compared_kind(text) is None
