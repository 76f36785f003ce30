import pytest

from agents.planning.patterns.summarise import read_summary
from agents.planning.readings import SummariseTask


@pytest.mark.parametrize(
    ("text", "topics", "per_document"),
    [
        ("Summarise the folder", (), False),
        ("Summarize each note", (), True),
        ("Summarise everything", (), False),
        ("Give me a short summary of the fire safety concept", ("the fire safety concept",), False),
        ("What are the key points of the notes?", (), False),
        ("Write a report on battery safety", ("battery safety",), False),
        ("Summarise what the notes say about finance", ("finance",), False),
        ("Summarise the safety rules in the notes", ("the safety rules",), False),
        ("Tell me about pumped hydro.", ("pumped hydro",), False),
        ("总结安全要求", ("安全要求",), False),
        ("逐篇总结这些笔记", (), True),
        ("概述这个文件夹", (), False),
        ("对这些文档进行总结", (), False),
        ("写一份关于运营成本的报告", ("运营成本",), False),
        ("List the steps of pressing cider", ("steps of pressing cider",), False),
        ("What are the main steps for the move?", ("main steps for the move",), False),
        ("列出酿制米酒的步骤", ("酿制米酒的步骤",), False),
        ("酿制米酒有哪些步骤？", ("酿制米酒的步骤",), False),
        ("Summarise the notes about the ferry", ("the ferry",), False),
        ("List all deadlines", ("all deadlines",), False),
        ("What are the dates of the regatta?", ("the dates of the regatta",), False),
        ("列出所有截止日期", ("所有截止日期",), False),
    ],
)
def test_topics(text: str, topics: tuple[str, ...], per_document: bool) -> None:
    if per_document:
        found = read_summary(text, ())
        assert found is not None
        assert found.per_document
    else:
        assert read_summary(text, ()) == SummariseTask(topics=topics)


def test_listed_topics() -> None:
    assert read_summary("Summarise", ("safety", "cost")) == SummariseTask(topics=("safety", "cost"))


@pytest.mark.parametrize("text", ["What is the summary judgement?", "Tell me how it works", "成本是多少？"])
def test_questions_are_no_summary(text: str) -> None:
    assert read_summary(text, ()) is None
