"""Plain questions on notes of a few lines: what is said is found, and what stands next door answers nothing."""

from __future__ import annotations

from typing import Final

import pytest

from graphs.contract import Lang
from tests.agents.workers.embedded.test_subject import said
from tests.agents.workers.material import library

STORE: Final = (
    "# Boat store\n\nThe mast is green.\nThe sail was delivered on 9 June 2024 by NORDA.\n"
    "The rope costs 7 euro.\n"
)
PARTS: Final = "# Parts\n\n| Part | Price |\n| --- | --- |\n| Mast | 90 euro |\n| Rope | 7 euro |\n"
PIER: Final = (
    "# Waterfront\n\nThe pool beside the pier is 2 m deep.\nThe pier is 60 m long. It was built in 1974.\n"
    "The crane is old. The path is 3 m wide.\n"
)
SHED: Final = "The shed is locked.\nThe office opens at nine.\n"
STORE_ZH: Final = "# 船库\n\n桅杆是绿色的。\n船帆由诺达公司于2024年6月9日交付。\n缆绳7元。\n"
PARTS_ZH: Final = "# 部件\n\n| 部件 | 价格 |\n| --- | --- |\n| 桅杆 | 90元 |\n| 缆绳 | 7元 |\n"
PIER_ZH: Final = "# 码头\n\n码头边的水池深2米。\n栈桥长60米，建于1974年。\n吊机很旧。小路宽3米。\n"
SHED_ZH: Final = "仓库已经上锁。\n办公室九点开门。\n"

ANSWERED: Final[tuple[tuple[Lang, str, str, list[str]], ...]] = (
    ("en", STORE, "What colour is the mast?", ["The mast is green."]),
    ("en", STORE, "Who delivered the sail?", ["The sail was delivered on 9 June 2024 by NORDA."]),
    ("en", STORE, "When was the sail delivered?", ["The sail was delivered on 9 June 2024 by NORDA."]),
    ("en", STORE, "What does the rope cost?", ["The rope costs 7 euro."]),
    ("en", PARTS, "What is the price of the mast?", ["90 euro"]),
    ("en", PIER, "How long is the pier?", ["The pier is 60 m long."]),
    ("en", PIER, "How deep is the pool?", ["The pool beside the pier is 2 m deep."]),
    ("en", PIER, "How wide is the path?", ["The path is 3 m wide."]),
    ("en", SHED, "When does the office open?", ["The office opens at nine."]),
    ("zh", STORE_ZH, "桅杆是什么颜色？", ["桅杆是绿色的。"]),
    ("zh", STORE_ZH, "船帆是谁交付的？", ["船帆由诺达公司于2024年6月9日交付。"]),
    ("zh", STORE_ZH, "缆绳多少钱？", ["缆绳7元。"]),
    ("zh", PARTS_ZH, "桅杆的价格是多少？", ["90元"]),
    ("zh", PIER_ZH, "栈桥有多长？", ["栈桥长60米，建于1974年。"]),
    ("zh", PIER_ZH, "水池有多深？", ["码头边的水池深2米。"]),
    ("zh", SHED_ZH, "办公室几点开门？", ["办公室九点开门。"]),
)
OPEN: Final[tuple[tuple[Lang, str, str], ...]] = (
    ("en", STORE, "What colour is the rope?"),
    ("en", STORE, "Who repaired the sail?"),
    ("en", STORE, "How much does the mast cost?"),
    ("en", PARTS, "What is the price of the sail?"),
    ("en", PIER, "How long is the pool?"),
    ("en", PIER, "How wide is the pier?"),
    ("en", PIER, "How high is the crane?"),
    ("zh", STORE_ZH, "缆绳是什么颜色？"),
    ("zh", STORE_ZH, "船帆是谁修理的？"),
    ("zh", PARTS_ZH, "船帆的价格是多少？"),
    ("zh", PIER_ZH, "水池有多长？"),
    ("zh", PIER_ZH, "栈桥有多宽？"),
    ("zh", PIER_ZH, "吊机有多高？"),
)


@pytest.mark.parametrize(("lang", "note", "question", "answer"), ANSWERED, ids=[one[2] for one in ANSWERED])
async def test_what_a_short_note_says_is_the_answer(
    lang: Lang, note: str, question: str, answer: list[str]
) -> None:
    assert await said(question, library({"note.md": note}), lang) == answer


@pytest.mark.parametrize(("lang", "note", "question"), OPEN, ids=[one[2] for one in OPEN])
async def test_what_a_short_note_does_not_say_is_open(lang: Lang, note: str, question: str) -> None:
    assert await said(question, library({"note.md": note}), lang) == []


async def test_a_short_sentence_that_says_what_is_asked_is_quoted() -> None:
    assert "The shed is locked." in await said("Is the shed locked?", library({"note.md": SHED}))
