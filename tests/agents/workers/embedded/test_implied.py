"""What a text says of a question in other words: a measure by its unit, a beginning by `from`, a rhythm by `every`."""

from __future__ import annotations

import pytest

from agents.workers.embedded.implied import implied_terms
from agents.workers.embedded.question import read_question
from graphs.contract import Lang
from tests.agents.workers.embedded.test_subject import said
from tests.agents.workers.material import library

NOTES = {
    "farm.md": (
        "# Dairy\n\nThe milk tank must not exceed 4 °C.\n\nThe grazing right runs for 6 years from 1 April 2027.\n\n"
        "Ida will sign the grazing right by 12 March 2027.\n\nThe filters are changed every 3 months. "
        "There are 5 filters.\n\n# Tractors\n\n| Maker | Price € | Delivery weeks |\n| --- | --- | --- |\n"
        "| Ansgar | 61,000 | 11 |\n"
    ),
}
NOTES_ZH = {
    "farm.md": (
        "# 奶站\n\n奶罐不得高于4℃。\n\n放牧权为期6年，自2027年4月1日起算。\n\n滤网每季度更换一次，共有5个滤网。\n"
    ),
}


@pytest.mark.parametrize(
    ("lang", "question", "answer"),
    [
        ("en", "At which temperature must the milk tank stay?", "The milk tank must not exceed 4 °C."),
        ("en", "When does the grazing right begin?", "The grazing right runs for 6 years from 1 April 2027."),
        ("en", "When does the grazing right start?", "The grazing right runs for 6 years from 1 April 2027."),
        ("en", "How often are the filters changed?", "The filters are changed every 3 months."),
        ("en", "How many weeks does the Ansgar tractor take to deliver?", "11"),
        ("zh", "奶罐的温度是多少？", "奶罐不得高于4℃。"),
        ("zh", "放牧权从哪天开始？", "放牧权为期6年，自2027年4月1日起算。"),
        ("zh", "滤网多久更换一次？", "滤网每季度更换一次，共有5个滤网。"),
    ],
)
async def test_a_plain_fact_is_found_by_its_form(lang: Lang, question: str, answer: str) -> None:
    notes = library(NOTES if lang == "en" else NOTES_ZH, by_words_only=False)
    assert await said(question, notes, lang) == [answer]


@pytest.mark.parametrize(
    ("question", "notes", "lang"),
    [
        ("When does the grazing right end?", NOTES, "en"),
        ("At which temperature must the hay stay?", NOTES, "en"),
        ("How often is the milk tank cleaned?", NOTES, "en"),
        ("放牧权到哪天结束？", NOTES_ZH, "zh"),
        ("奶罐多久清洗一次？", NOTES_ZH, "zh"),
    ],
)
async def test_another_fact_stays_open(question: str, notes: dict[str, str], lang: Lang) -> None:
    assert await said(question, library(notes, by_words_only=False), lang) == []


def test_a_deadline_is_no_beginning() -> None:
    question = read_question("When does the right begin?")
    assert implied_terms(question, "It runs from 1 May 2026.", None) == {"begin"}
    assert implied_terms(question, "It is signed by 1 May 2026.", None) == frozenset()
