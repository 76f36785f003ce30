import pytest

from agents.planning.patterns.research import (
    carry_subjects,
    is_question,
    join_dependents,
    read_questions,
    stands_alone,
    subject_of,
)
from agents.planning.readings import Carried


@pytest.mark.parametrize(
    ("text", "listed", "questions"),
    [
        ("What is A?", (), ("What is A?",)),
        (
            "What does it cost, and when does the offer expire?",
            (),
            ("What does it cost?", "when does the offer expire?"),
        ),
        ("Explain how X works and why X failed.", (), ("Explain how X works", "Explain why X failed")),
        (
            "What are the cost, lifetime and safety rules of the plant?",
            (),
            (
                "What is the cost of the plant?",
                "What is the lifetime of the plant?",
                "What are the safety rules of the plant?",
            ),
        ),
        (
            "What is the research and development budget?",
            (),
            ("What is the research and development budget?",),
        ),
        (
            "蓝河电站的成本、容量和投运时间分别是什么？",
            (),
            ("蓝河电站的成本是什么？", "蓝河电站的容量是什么？", "蓝河电站的投运时间是什么？"),
        ),
        ("谁负责运营，何时开通？", (), ("谁负责运营？", "何时开通？")),
        ("进入有限空间前，浓度必须低于多少？", (), ("进入有限空间前，浓度必须低于多少？",)),
        ("Find out", ("what X costs", "who runs X"), ("what X costs", "who runs X")),
        ('Answer "What is X?" and "What is Y?"', (), ("What is X?", "What is Y?")),
        ("列出所有的截止日期", (), ("列出所有的截止日期",)),
        ("The weather is fine", (), ()),
        (
            "Tell me when A opens, who pays for A and how long A takes",
            (),
            ("when A opens", "who pays for A", "how long A takes"),
        ),
        # Relative clauses ask nothing of their own.
        ("Who left the band, which won the prize?", (), ("Who left the band, which won the prize?",)),
        (
            "What is the song of the man who came and who left?",
            (),
            ("What is the song of the man who came and who left?",),
        ),
        ("The plant was built by Kant, what?", (), ("The plant was built by Kant, what?",)),
        ("State Route 1 connects A and which town?", (), ("State Route 1 connects A and which town?",)),
        ("在什么情况下，会归入哪一组？", (), ("在什么情况下，会归入哪一组？",)),
        ("采用了什么样的方法，使得谁都能用？", (), ("采用了什么样的方法，使得谁都能用？",)),
    ],
)
def test_the_questions_of_a_sentence(text: str, listed: tuple[str, ...], questions: tuple[str, ...]) -> None:
    assert read_questions(text, listed) == questions


@pytest.mark.parametrize(
    "text", ["Who pays", "How much", "by when must it be accepted", "成本是多少", "是否达标", "多久一次"]
)
def test_questions_need_no_question_mark(text: str) -> None:
    assert is_question(f"{text} it" if text.isascii() and len(text.split()) < 3 else text)


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("What is the capacity of the Hillside battery?", "the Hillside battery"),
        ("When was the plant built?", "the plant"),
        ("when the line opens", "the line"),
        ("what X costs", "X"),
        ("Project Alpha: what does it cost?", "Project Alpha"),
        ("蓝河电站的容量是多少？", "蓝河电站"),
        ("蓝河电站何时投运？", "蓝河电站"),
        ("成本是多少？", "成本"),
        ("Why?", ""),
        ("What causes this?", ""),
        ("It said that No pump answers. Why?", ""),
        ("TiCDC 支持同步大事务吗？", "TiCDC"),
        ("为什么 TiCDC 需要使用磁盘？", "TiCDC"),
    ],
)
def test_what_a_question_is_about(question: str, subject: str) -> None:
    assert subject_of(question) == subject


def test_a_pronoun_takes_the_subject_before_it() -> None:
    questions, carried = carry_subjects(
        ("What is the capacity of the Hillside battery?", "When was it built?", "Who pays for the road?")
    )
    assert questions[1] == "When was it built? (it: the Hillside battery)"
    assert questions[2] == "Who pays for the road?"
    assert carried == (Carried(question="When was it built?", pronoun="it", referent="the Hillside battery"),)


def test_a_left_out_subject_is_put_back_in_chinese() -> None:
    questions, carried = carry_subjects(("蓝河电站的容量是多少？", "何时投运？", "其造价是多少？"))
    assert questions == ("蓝河电站的容量是多少？", "蓝河电站何时投运？", "其造价是多少？ (其: 蓝河电站)")
    assert [one.pronoun for one in carried] == ["", "其"]


@pytest.mark.parametrize(
    ("questions", "second"),
    [
        (
            ("When must the grid offer be accepted?", "Who sent it?"),
            "Who sent it? (it: the grid offer)",
        ),
        (("When did the pump last fail?", "Who repaired it?"), "Who repaired it? (it: the pump)"),
        (
            ("Where has the permit already been posted?", "Who issued it?"),
            "Who issued it? (it: the permit)",
        ),
        (("噪声限值是多少？", "由谁监测？"), "噪声限值由谁监测？"),
        (("储罐容量为多少？", "何时清洗？"), "储罐容量何时清洗？"),
        (("容量是多少？", "何时投运？"), "何时投运？"),
    ],
)
def test_what_is_carried_is_a_thing_and_no_part_of_a_verb(questions: tuple[str, str], second: str) -> None:
    assert carry_subjects(questions)[0] == (questions[0], second)


def test_without_an_earlier_subject_nothing_is_made_up() -> None:
    assert carry_subjects(("When was it built?",)) == (("When was it built?",), ())


def test_a_question_that_depends_on_the_one_before_stays_with_it() -> None:
    assert join_dependents(("Is it on?", "If so, since when?", "Who pays?")) == (
        "Is it on? If so, since when?",
        "Who pays?",
    )
    assert join_dependents(("是否支持？", "如果支持，到什么程度？", "为什么？")) == (
        "是否支持？如果支持，到什么程度？为什么？",
    )
    assert join_dependents(("If the plant fails, who pays?",)) == ("If the plant fails, who pays?",)


@pytest.mark.parametrize(
    ("question", "alone"),
    [
        ("What shall I do?", False),
        ("What causes this?", False),
        ("怎么办？", False),
        ("What does the battery cost?", True),
        ("蓝河电站何时投运？", True),
    ],
)
def test_what_stands_alone(question: str, alone: bool) -> None:
    assert stands_alone(question) == alone


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        (
            "How much is the grant of the Lake Fund and at what share?",
            ("How much is the grant of the Lake Fund?", "at what share is the grant of the Lake Fund?"),
        ),
        (
            "When does the charter begin and for how long?",
            ("When does the charter begin?", "for how long is the charter?"),
        ),
    ],
)
def test_a_question_without_a_verb_keeps_the_subject(text: str, questions: tuple[str, ...]) -> None:
    assert carry_subjects(read_questions(text, ()))[0] == questions
