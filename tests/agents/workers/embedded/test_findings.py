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
WARRANTIES = "The Heron ferry has a guarantee of 6 years; the Otter ferry has 2 years."
FARES = "The fare is €4 for the North line and €3 for the South line."
PIER = "The pier costs €640,000 and dredging costs €90,000."
CREW = "Mira signed the charter and Jonas ordered the engine."
BERTH = "The berth costs €1,800 per month without electricity."
HOLD = "The hold must not exceed 4 °C; the log is kept for 18 months."
DECK = "Fuel must be stored at least 2 m from the cabin."
LOAN = "The credit of the Lake Bank is €80,000 at 2.5 % for 9 years."
YEARS = "In 2024 the yard built 12 boats and in 2023 it built 15 boats."
BERTHS_ZH = "码头共有8个泊位，扩建后增加到14个。"
COSTS_ZH = "扩建总投资为540万元，其中疏浚工程为75万元。"
DUTY_ZH = "陈刚负责疏浚工程，何静负责码头照明。"
RULES_ZH = "每艘船应配置不少于4件救生衣，救生衣每季度检查一次。"
HEATING_ZH = "会议决定候船厅采用地热供暖，不采用电暖气。"
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


@pytest.mark.parametrize(
    ("statement", "sentence", "finding"),
    [
        ("The Heron ferry has a guarantee of 2 years.", WARRANTIES, "says_otherwise"),
        ("The Heron ferry has a guarantee of 6 years.", WARRANTIES, "says_so"),
        ("The Otter ferry has a guarantee of 2 years.", WARRANTIES, "says_so"),
        ("The Otter ferry has a guarantee of 6 years.", WARRANTIES, "says_otherwise"),
        ("The ferry has a guarantee of 2 years.", WARRANTIES, None),
        ("The Heron has a crew of 9.", "The Heron has a deck and the Otter has a crew of 9.", None),
        ("The Heron costs €5,000.", "The Heron was sold and the Otter costs €5,000.", None),
        ("The fare of the North line is €3.", FARES, "says_otherwise"),
        ("The fare of the South line is €3.", FARES, "says_so"),
        ("The pier costs €90,000.", PIER, "says_otherwise"),
        ("Dredging costs €90,000.", PIER, "says_so"),
        ("Jonas signed the charter.", CREW, None),
        ("Jonas ordered the engine.", CREW, "says_so"),
        (
            "The Otter was built in 2019.",
            "The Heron was built in 2019, while the Otter was built in 2008.",
            "says_otherwise",
        ),
        ("In 2023 the yard built 12 boats.", YEARS, "says_otherwise"),
        ("In 2023 the yard built 12 boats.", "In 2024 the yard built 12 boats.", None),
        ("The Otter costs €5,000.", "The Heron and the Otter cost €5,000 and €3,000.", None),
        ("The list covers the engine.", "The list covers the hull, the mast, and the engine.", "says_so"),
        ("The board decided to sell the yard in Arby.", "The board decided to visit the yard in Arby.", None),
        ("By 2031 the pier has 14 berths.", "By 2031, the pier has 14 berths and costs €640,000.", "says_so"),
        ("码头共有14个泊位。", BERTHS_ZH, "says_otherwise"),
        ("泊位增加到14个。", BERTHS_ZH, "says_so"),
        ("泊位增加到16个。", BERTHS_ZH, "says_otherwise"),
        ("扩建总投资为75万元。", COSTS_ZH, "says_otherwise"),
        ("疏浚工程投资为75万元。", COSTS_ZH, "says_so"),
        ("疏浚工程投资为540万元。", COSTS_ZH, "says_otherwise"),
        ("何静负责疏浚工程。", DUTY_ZH, None),
        ("陈刚负责疏浚工程。", DUTY_ZH, "says_so"),
    ],
)
def test_a_value_belongs_to_the_subject_of_its_own_part(
    statement: str, sentence: str, finding: str | None
) -> None:
    assert finding_on(statement, sentence) == finding


@pytest.mark.parametrize(
    ("statement", "sentence", "finding"),
    [
        ("The berth costs €1,800 per month including electricity.", BERTH, "says_otherwise"),
        ("The berth costs €1,800 per month without electricity.", BERTH, "says_so"),
        ("The berth costs €1,800 per month.", BERTH, "says_so"),
        (
            "The berth at the pier in Arby costs €1,800 without electricity.",
            "The berth at the pier in Arby costs €1,800.",
            None,
        ),
        ("The hold may reach 6 °C.", HOLD, "says_otherwise"),
        ("The hold may reach 3 °C.", HOLD, None),
        ("The hold must exceed 4 °C.", HOLD, "says_otherwise"),
        ("The hold must not exceed 4 °C.", HOLD, "says_so"),
        ("Fuel may be stored 1 m from the cabin.", DECK, "says_otherwise"),
        ("Fuel may be stored 3 m from the cabin.", DECK, None),
        ("The credit runs for 9 years at 3.5 %.", LOAN, "says_otherwise"),
        ("The credit is for 9 years at 3.5 %.", LOAN, "says_otherwise"),
        ("The credit is for 9 years at 2.5 %.", LOAN, "says_so"),
        ("The raft is inspected twice a year.", "The raft is inspected once a year.", "says_otherwise"),
        ("The raft is inspected 2 times a year.", "The raft is inspected twice a year.", "says_so"),
        ("救生衣每季度检查两次。", RULES_ZH, "says_otherwise"),
        ("救生衣每季度检查一次。", RULES_ZH, "says_so"),
        ("每艘船应配置不少于5件救生衣。", RULES_ZH, "says_otherwise"),
        ("候船厅采用电暖气。", HEATING_ZH, "says_otherwise"),
        ("候船厅不采用电暖气。", HEATING_ZH, "says_so"),
    ],
)
def test_bounds_exclusions_and_numbers_in_words(statement: str, sentence: str, finding: str | None) -> None:
    assert finding_on(statement, sentence) == finding


OFFERS = (
    "# Offers for the engine\n\n"
    "| Maker | Model | Price € | Power kW | Delivery weeks |\n| --- | --- | --- | --- | --- |\n"
    "| Sunde | M4 | 21,400 | 88 | 12 |\n| Kross | Sea 60 | 18,900 | 64 | 7 |\n\n"
    "| Step | Who | Start |\n| --- | --- | --- |\n| Engine removal | Boye | 2 May 2026 |\n"
    "| Painting | Lund | 9 May 2026 |\n"
)
OFFERS_ZH = (
    "# 码头工程\n\n| 项目 | 负责人 | 造价（万元） | 工期（天） |\n| --- | --- | --- | --- |\n"
    "| 疏浚工程 | 陈刚 | 75 | 60 |\n| 码头照明 | 何静 | 12 | 15 |\n"
)


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("The Kross engine costs 18,900 euro.", SO),
        ("The Kross engine costs 21,400 euro.", OTHERWISE),
        ("The Sunde engine needs 64 kW.", OTHERWISE),
        ("The Kross engine takes 7 weeks.", SO),
        ("The Kross engine has a reverse gear for 18,900 euro.", OPEN),
        ("The painting is done by Lund.", SO),
        ("The painting is done by Boye.", OTHERWISE),
    ],
)
async def test_a_column_is_meant_by_its_unit_or_its_persons(statement: str, finding: str) -> None:
    assert await found(statement, OFFERS) == finding


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("疏浚工程由陈刚负责。", "笔记有此说法："),
        ("疏浚工程由何静负责。", "笔记说法不同："),
        ("码头照明花费12万元。", "笔记有此说法："),
        ("码头照明花费75万元。", "笔记说法不同："),
    ],
)
async def test_the_same_in_a_chinese_table(statement: str, finding: str) -> None:
    assert await found(statement, OFFERS_ZH, "zh") == finding


CONTESTED = {
    "talk.md": "# Talk of 4 March\n\nThe launch of the Heron in Arby is planned for 7 June 2027.\n",
    "dates.md": "# Dates\n\nThe launch of the Heron in Arby is planned for 21 June 2027.\n\nTickets cost €4.\n",
}
CONTESTED_ZH = {
    "会议.md": "# 会议纪要\n\n新码头的启用日期定为2027年6月7日。\n",
    "方案.md": "# 方案\n\n新码头的启用日期定为2027年6月21日。\n\n票价为4元。\n",
}


@pytest.mark.parametrize(
    ("statement", "notes", "lang", "finding"),
    [
        ("The launch is on 7 June 2027.", CONTESTED, "en", "The notes disagree:"),
        ("The launch is on 9 June 2027.", CONTESTED, "en", OPEN),
        ("Tickets cost €4.", CONTESTED, "en", SO),
        ("启用日期为2027年6月7日。", CONTESTED_ZH, "zh", "笔记说法不一："),
        ("票价为4元。", CONTESTED_ZH, "zh", "笔记有此说法："),
    ],
)
async def test_a_confirming_sentence_that_another_note_contests_is_no_confirmation(
    statement: str, notes: dict[str, str], lang: Lang, finding: str
) -> None:
    result = await perform("check", {"statements": [statement]}, notes, lang=lang)

    assert result.output.fields[statement] == finding
    assert [len(conflict.claims) for conflict in result.output.conflicts] == (
        [2] if finding in ("The notes disagree:", "笔记说法不一：") else []
    )


@pytest.mark.parametrize(
    ("question", "notes", "lang"),
    [
        ("When is the launch in Arby?", CONTESTED, "en"),
        ("会议上新码头的启用日期是哪天？", CONTESTED_ZH, "zh"),
        ("新码头启用日期是哪天？", CONTESTED_ZH, "zh"),
    ],
)
async def test_an_answer_that_another_note_contests_is_quoted_with_it(
    question: str, notes: dict[str, str], lang: Lang
) -> None:
    result = await perform("research", {"questions": [question]}, notes, lang=lang)

    assert [len(conflict.claims) for conflict in result.output.conflicts] == [2]
