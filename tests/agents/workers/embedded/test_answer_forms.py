"""Forms that can answer: dates, durations, amounts, names."""

from __future__ import annotations

import pytest

from agents.workers.embedded.answer_forms import LOOSE, NONE, STRICT, form_strength
from agents.workers.embedded.question import read_question


@pytest.mark.parametrize(
    ("question", "text", "strength"),
    [
        ("When does it open?", "It opens on 3 May 2026.", STRICT),
        ("When does it open?", "It has been planned since 2019.", LOOSE),
        ("What year was it built?", "It was built in 1998.", STRICT),
        ("When does it open?", "It may open soon.", NONE),
        ("When does it open?", "It opens each March.", STRICT),
        ("When does it open?", "They march on.", NONE),
        ("新线什么时候通水？", "新线于6月30日通水。", STRICT),
        ("新线什么时候通水？", "19号线已通车。", NONE),
        ("2021年12月发生了什么时候？", "2021年12月", NONE),
        ("How long does it last?", "It lasts 15 years.", STRICT),
        ("How long does it last?", "It lasts long.", NONE),
        ("质保期是多久？", "质保36个月。", STRICT),
        ("How much does it cost?", "It costs €9.6 million.", STRICT),
        ("How much does it cost?", "There are 12 of them.", NONE),
        ("How much does it cost?", "| pump | 12 |", LOOSE),
        ("花了多少钱？", "中标价为186万元。", STRICT),
        ("花了多少钱？", "可处十万元以上罚款。", STRICT),
        ("年利率是多少？", "年利率2.75%。", STRICT),
        ("年利率是多少？", "期限20年。", NONE),
        ("How many sheep graze there?", "About 60 sheep graze there.", STRICT),
        ("How many sheep graze there?", "There are 24,260 modules.", LOOSE),
        ("How many sheep graze there?", "In 2024 nobody came.", NONE),
        ("有多少个国家参加？", "共有45个国家和地区参加。", STRICT),
        ("有多少个国家参加？", "共有900名运动员参加。", LOOSE),
        ("大桥多长？", "主桥长504米。", STRICT),
        ("How heavy is a container?", "It weighs 36.5 tonnes.", STRICT),
        ("At what temperature does it burn?", "It burns at about 180 °C.", STRICT),
        ("Who wrote the concept?", "Author: Mirela Dautov, engineer.", STRICT),
        ("Who is Mirela Dautov?", "Author: Mirela Dautov.", NONE),
        ("项目负责人是谁？", "项目负责人为张艺谋。", STRICT),
        ("项目负责人是谁？", "项目负责人很忙。", NONE),
        ("Where is the office?", "The office is in Kolmen.", STRICT),
        ("会议在哪里举行？", "会议在北京举行。", STRICT),
        ("北京在哪里？", "北京很大。", NONE),
        ("Why is it late?", "anything", STRICT),
    ],
)
def test_strengths(question: str, text: str, strength: float) -> None:
    assert form_strength(read_question(question), text) == strength
