"""What a summary keeps, told by summaries of small notes."""

from __future__ import annotations

import pytest

from graphs.contract import Lang
from tests.agents.workers.embedded.test_search_workers import perform, said
from tests.agents.workers.material import agent

HANDBOOK = (
    "# Orchard handbook\n\n## Background\n\n"
    "Canker has been known in the orchard for a long time. Canker is a disease of bark and of wood. "
    "Many growers talk about canker when they meet.\n\n"
    "## Plan against canker\n\n"
    "The first round of pruning is on 12 January. Each cut gets 20 ml of sealing paste. "
    "The second round follows on 9 March. These are the steps:\n\n"
    "1. Mark the sick trees with tape.\n2. Sharpen the saw.\n3. Burn the branches on the same day.\n\n"
    "Trees with more than five wounds are felled in autumn.\n\n"
    "## Sales\n\nApples are sold from September on. Prices rose by 5 % last year.\n"
)
HANDBOOK_ZH = (
    "# 果园手册\n\n## 背景\n\n蚜虫是果园常见的害虫，历史上多次发生。"
    "蚜虫的天敌包括瓢虫和草蛉。很多果农都谈论过蚜虫。\n\n"
    "## 蚜虫防治计划\n\n第一次喷药定于4月10日，花后进行。每亩用药20克，兑水50公斤。第二次喷药在4月25日。步骤如下：\n\n"
    "1. 喷药前清点每百叶虫数。\n2. 关闭灌溉系统。\n3. 傍晚无风时喷药。\n\n"
    "## 销售\n\n苹果九月上市。去年价格上涨5%。\n"
)


@pytest.mark.parametrize(
    ("note", "topic", "lang", "kept", "left_out"),
    [
        (
            HANDBOOK,
            "the plan against canker",
            "en",
            [
                "The first round of pruning is on 12 January.",
                "Each cut gets 20 ml of sealing paste.",
                "The second round follows on 9 March.",
                "Mark the sick trees with tape.",
                "Sharpen the saw.",
                "Burn the branches on the same day.",
                "Trees with more than five wounds are felled in autumn.",
            ],
            ["Many growers talk about canker when they meet.", "Apples are sold from September on."],
        ),
        (
            HANDBOOK_ZH,
            "蚜虫防治计划",
            "zh",
            [
                "第一次喷药定于4月10日，花后进行。",
                "每亩用药20克，兑水50公斤。",
                "第二次喷药在4月25日。",
                "喷药前清点每百叶虫数。",
                "关闭灌溉系统。",
                "傍晚无风时喷药。",
            ],
            ["很多果农都谈论过蚜虫。", "苹果九月上市。"],
        ),
    ],
)
async def test_what_stands_under_the_topics_heading_is_kept_over_background(
    note: str, topic: str, lang: Lang, kept: list[str], left_out: list[str]
) -> None:
    result = await perform("summarise", {"topic": topic}, {"book.md": note}, lang=lang)

    told = said(result, topic)
    assert [sentence for sentence in told if sentence in kept] == kept, (
        "all of them, in the order of the note"
    )
    assert not set(told) & set(left_out)


async def test_a_summary_of_everything_opens_every_section_of_every_note() -> None:
    filler = " ".join(
        f"Item {n} of the long inventory describes shelf {n} with tools, screws, paint and rope."
        for n in range(1, 60)
    )
    notes = {
        "long.md": f"# Inventory\n\n## Shed\n\nThe shed holds the tools of the club. {filler}\n\n"
        "## Boat\n\nThe boat was sold to the harbour school in June. It was blue and old and slow.\n",
        "short.md": "# Minutes\n\nThe club elects a new chair on 3 March. Coffee was served to all members.\n",
    }
    result = await perform("summarise", {"topic": None}, notes, by_words_only=False)

    told = said(result, "The task")
    assert "The shed holds the tools of the club." in told
    assert "The boat was sold to the harbour school in June." in told
    assert "The club elects a new chair on 3 March." in told
    assert len([sentence for sentence in told if "inventory describes" in sentence]) > 5, "in proportion"


async def test_a_line_with_author_or_date_alone_is_no_main_point() -> None:
    notes = {"plan.md": "# Jetty\n\nAuthor: Ms Ott\n\n2 May 2026\n\nThe jetty is rebuilt in oak by July.\n"}
    result = await perform("summarise", {"topic": None}, notes, by_words_only=False)

    assert said(result, "The task") == ["The jetty is rebuilt in oak by July."]


@pytest.mark.parametrize(
    ("topic", "whole"),
    [("the jetty", True), ("the note Jetty of 2026", True), ("the rent of the jetty", False)],
)
async def test_a_note_is_summed_up_whole_only_if_the_topic_names_nothing_else(
    topic: str, whole: bool
) -> None:
    notes = {
        "jetty.md": "# Jetty\n\nThe posts are made of oak.\n\n## Money\n\nThe rent of the jetty is €40 a year.\n",
        "other.md": "# Other\n\nThe club pays rent for the jetty in spring.\n",
    }
    result = await perform("summarise", {"topic": topic}, notes)

    told = said(result, topic)
    assert (
        "The posts are made of oak." in told and "The club pays rent for the jetty in spring." not in told
    ) is whole


async def test_a_field_with_more_weight_keeps_at_least_as_much_of_the_summary() -> None:
    sentence = "The {} team describes its plan number {} for the coming season in detail."
    sections = [range(start, start + 5) for start in range(0, 30, 5)]
    notes = {
        f"{name}.md": "\n\n".join(
            f"# {name} {part[0]}\n\n" + " ".join(sentence.format(name, n) for n in part) for part in sections
        )
        for name in ("apple", "berry")
    }
    domains = {"apple": "life.botany", "berry": "econ.finance"}

    shares = []
    for value in (75, 85, 100):
        who = agent({"life.botany": 80, "econ.finance": value}, operations=("summarise",))
        result = await perform(
            "summarise", {"topic": None}, notes, who=who, domains=domains, by_words_only=False
        )
        shares.append(sum("berry" in sentence for sentence in said(result, "The task")))

    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1]


@pytest.mark.parametrize(
    ("note", "topic", "lang", "steps"),
    [
        (
            "# Cider manual\n\n## Steps of pressing\n\n1. Wash the apples.\n2. Mill them to pulp.\n"
            "3. Press at 3 bar.\n\n"
            "## Prices\n\nPressing costs €2 a litre.\n\n## Steps of selling\n\n- Take the order of the guest.\n"
            "- Hand out the bottles.\n",
            "steps of pressing cider",
            "en",
            ["Wash the apples.", "Mill them to pulp.", "Press at 3 bar."],
        ),
        (
            "# 米酒手册\n\n## 酿制步骤\n\n1. 糯米浸泡12小时。\n2. 上笼蒸40分钟。\n3. 压榨装瓶。\n\n"
            "## 价格\n\n酿制成本每公斤40元。\n\n## 销售步骤\n\n1. 登记订单。\n2. 安排发货，每瓶25元。\n",
            "酿制米酒的步骤",
            "zh",
            ["糯米浸泡12小时。", "上笼蒸40分钟。", "压榨装瓶。"],
        ),
    ],
)
async def test_steps_are_the_list_under_their_heading_and_nothing_else(
    note: str, topic: str, lang: Lang, steps: list[str]
) -> None:
    result = await perform("summarise", {"topic": topic}, {"manual.md": note}, lang=lang)

    assert said(result, topic) == steps
