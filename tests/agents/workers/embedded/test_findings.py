"""What sentences and table rows of the notes tell of statements."""

from __future__ import annotations

import pytest

from agents.workers.embedded.findings import finding_on
from graphs.contract import Lang
from tests.agents.workers.embedded.test_search_workers import perform

FLEET = (
    "# Ferry fleet\n\n| Vessel | Capacity (persons) | Top speed | Built | Operator |\n| --- | --- | --- | --- | --- |\n"
    "| Heron | 120 | 14 knots | 2019 | Lakeline |\n| Otter | 80 | 11 knots | 2008 | Rowe & Sons |\n"
    "| Otter II | 90 | 12 knots | 2021 | Lakeline |\n\n"
    "| Line | Fare 2025 | Fare 2026 |\n| --- | --- | --- |\n"
    "| North line | €4.20 | €4.50 |\n| South line | €3.80 | €3.80 |\n"
)
FLEET_ZH = (
    "# 渡船船队\n\n| 船名 | 载客量（人） | 最高航速 | 运营商 |\n| --- | --- | --- | --- |\n"
    "| 白鹭号 | 120 | 14节 | 湖线公司 |\n| 水獭号 | 80 | 11节 | 罗氏公司 |\n\n"
    "| 航线 | 2025年票价 | 2026年票价 |\n| --- | --- | --- |\n| 北线 | 4.2元 | 4.5元 |\n| 南线 | 3.8元 | 3.8元 |\n"
)
SO, OTHERWISE, OPEN = "The notes say so:", "The notes say otherwise:", "The notes do not tell."


async def found(statement: str, note: str, lang: Lang = "en") -> str:
    result = await perform("check", {"statements": [statement]}, {"fleet.md": note}, lang=lang)
    return result.output.fields.get(statement, "")


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("The Heron has a capacity of 120 persons.", SO),
        ("The capacity of the Heron is 100 persons.", OTHERWISE),
        ("The capacity of the Heron is at least 100 persons.", OPEN),
        ("The Otter was built in 2008.", SO),
        ("The Otter was built in 2019.", OTHERWISE),
        ("The operator of the Heron is Lakeline.", SO),
        ("The operator of the Otter is Lakeline.", OTHERWISE),
        ("The operator of the Heron is honest.", OPEN),
        ("The operator of the Otter II is Lakeline.", SO),
        ("The top speed of the Otter is 12 knots.", OTHERWISE),
        ("The fare of the North line in 2026 is €4.50.", SO),
        ("The fare of the North line in 2025 is €4.50.", OTHERWISE),
        ("The fare of the North line in 2024 is €4.50.", OPEN),
        ("The Heron is painted green.", OPEN),
    ],
)
async def test_row_header_and_cell_are_the_terms_of_a_statement(statement: str, finding: str) -> None:
    assert await found(statement, FLEET) == finding


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("白鹭号的载客量为120人。", "笔记有此说法："),
        ("白鹭号的载客量为100人。", "笔记说法不同："),
        ("白鹭号的运营商是湖线公司。", "笔记有此说法："),
        ("水獭号的运营商是湖线公司。", "笔记说法不同："),
        ("水獭号最高航速为12节。", "笔记说法不同："),
        ("2026年北线票价为4.5元。", "笔记有此说法："),
        ("2025年北线票价为4.5元。", "笔记说法不同："),
        ("2024年北线票价为4.5元。", "笔记没有提到。"),
    ],
)
async def test_the_same_in_chinese(statement: str, finding: str) -> None:
    assert await found(statement, FLEET_ZH, "zh") == finding


@pytest.mark.parametrize(
    ("statement", "sentence", "about", "finding"),
    [
        ("Smoking is allowed on ferries.", "Smoking is forbidden on all ferries.", "", "says_otherwise"),
        ("Smoking is forbidden on ferries.", "Smoking is forbidden on all ferries.", "", "says_so"),
        ("渡船上可以吸烟。", "所有渡船禁止吸烟。", "", "says_otherwise"),
        ("The budget is €40,000.", "The budget is €45,000.", "", "says_otherwise"),
        ("The budget is €40,000.", "The party's budget is €45,000.", "", None),
        ("预算为4万元。", "预算为5万元。", "", "says_otherwise"),
        ("The fare of the North line is €4.50.", "The fare is €4.50.", "Lines > North line", "says_so"),
        (
            "The fare of the North line is €5.50.",
            "The fare is €4.50.",
            "Lines > North line",
            "says_otherwise",
        ),
        ("The fare of the North line is €5.50.", "The fare is €4.50.", "Lines > South line", None),
        ("The North line is closed.", "Coffee is sold on board.", "North line closed", None),
    ],
)
def test_few_words_and_words_in_headings(
    statement: str, sentence: str, about: str, finding: str | None
) -> None:
    assert finding_on(statement, sentence, about) == finding
