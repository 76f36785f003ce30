"""What a question asks for, in both languages."""

from __future__ import annotations

import pytest

from agents.workers.embedded.asking import AnswerKind
from agents.workers.embedded.question import read_question


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("When was the plant opened?", AnswerKind.TIME),
        ("By when must the offer be accepted?", AnswerKind.TIME),
        ("When the pump fails, how is it restarted?", AnswerKind.METHOD),
        ("How long may recordings be kept?", AnswerKind.DURATION),
        ("How long is the bridge?", AnswerKind.NUMBER),
        ("How many sheep graze there?", AnswerKind.NUMBER),
        ("What is the annual insurance premium for the plant?", AnswerKind.NUMBER),
        ("Who signed the contract?", AnswerKind.PERSON),
        ("Where is the substation?", AnswerKind.PLACE),
        ("Where does the system store data?", AnswerKind.OPEN),
        ("Why was it postponed?", AnswerKind.REASON),
        ("How is software updated?", AnswerKind.METHOD),
        ("Can the supplier change settings?", AnswerKind.POLAR),
        ("Which company built it?", AnswerKind.NAME),
        ("What is a busbar?", AnswerKind.OPEN),
        ("新线什么时候通水？", AnswerKind.TIME),
        ("新线的通水日期", AnswerKind.TIME),
        ("质保期是多久？", AnswerKind.DURATION),
        ("总投资是多少？", AnswerKind.NUMBER),
        ("年利率", AnswerKind.NUMBER),
        ("项目负责人是谁？", AnswerKind.PERSON),
        ("最近的医院在哪里？", AnswerKind.PLACE),
        ("水务集团总部在哪条街？", AnswerKind.PLACE),
        ("为什么推荐深床滤池？", AnswerKind.REASON),
        ("如何反冲洗？", AnswerKind.METHOD),
        ("备份的速度如何？", AnswerKind.OPEN),
        ("是否扩大处理规模？", AnswerKind.POLAR),
        ("需要哪些材料？", AnswerKind.LIST),
        ("两种工艺有什么区别？", AnswerKind.OPEN),
        ("哪家公司供货？", AnswerKind.NAME),
        ("比赛的成绩", AnswerKind.NAME),
        ("组件的作用", AnswerKind.OPEN),
    ],
)
def test_kinds(text: str, kind: AnswerKind) -> None:
    assert read_question(text).kind is kind


def test_words_of_asking_are_no_terms() -> None:
    assert read_question("How far apart must the containers stand?").terms == ("apart", "contain", "stand")
    assert read_question("新线的通水日期是哪一天？").terms == ("新线", "通水")
    assert read_question("谁？").terms == ()


def test_years_days_and_names_must_not_be_exchanged() -> None:
    question = read_question("2025年第三季度《水法》和 `tidb_gc_life_time`、MBR 的变化是什么？")
    assert question.years == ("2025",)
    assert question.days == ("第三季度",)
    assert question.names == ("水法", "tidb_gc_life_time", "MBR")
    assert "2025" not in question.terms


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("鼓风机的效率是多少？", "percent"),
        ("收购花了多少钱？", "money"),
        ("大桥多长？", "length"),
        ("At what temperature do cells burn?", "temperature"),
        ("How heavy is a container?", "mass"),
        ("How much does it cost?", "money"),
        ("How many sheep graze there?", ""),
    ],
)
def test_measures(text: str, measure: str) -> None:
    assert read_question(text).measure == measure


def test_what_is_counted() -> None:
    assert read_question("How many council members voted?").counted == ("council",)
    assert read_question("有多少个国家参加？").counted == ("国家",)
    assert read_question("录取了多少名学生？").counted == ("名", "学生")
    assert read_question("How much is it?").counted == ()


def test_numbering_and_links_are_no_part_of_a_question() -> None:
    assert read_question("（3）总投资是多少？").terms == read_question("总投资是多少？").terms
    assert "guide" not in " ".join(read_question("What is [PITR](/br/guide.md)?").terms)
