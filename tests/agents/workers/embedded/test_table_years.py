"""Which year, and which thing, a value in a table of the notes belongs to, told by the delivered table."""

from __future__ import annotations

import pytest

from agents.citations import find_anchors
from agents.workers.embedded.table_columns import place_of
from graphs.contract import Lang
from tests.agents.workers.embedded.test_search_workers import perform

IN_HEADER = (
    "# Bakeries\n\n| Branch | Revenue 2023 (k€) | Revenue 2024 (k€) | Revenue 2025 (k€) |\n"
    "| --- | --- | --- | --- |\n| Harbour | 410 | 455 | 470 |\n| Station | 380 | 372 | 401 |\n"
)
IN_HEADINGS = (
    "# Bakeries\n\n## Revenue 2023\n\n| Branch | k€ |\n| --- | --- |\n| Harbour | 410 |\n| Station | 380 |\n\n"
    "## Revenue 2024\n\n| Branch | k€ |\n| --- | --- |\n| Harbour | 455 |\n| Station | 372 |\n\n"
    "## Figures for 2025\n\n| Branch | Revenue (k€) |\n| --- | --- |\n| Harbour | 470 |\n| Station | 401 |\n"
)
IN_CAPTIONS = (
    "# Bakeries\n\nTable 1: Revenue 2023 (k€)\n\n| Branch | Revenue |\n| --- | --- |\n| Harbour | 410 |\n"
    "| Station | 380 |\n\nTable 2: Revenue 2024 (k€)\n\n| Branch | Revenue |\n| --- | --- |\n| Harbour | 455 |\n"
    "| Station | 372 |\n\n**Revenue 2025 (k€)**\n\n| Branch | Revenue |\n| --- | --- |\n| Harbour | 470 |\n"
    "| Station | 401 |\n"
)
IN_COLUMN = (
    "# Bakeries\n\n| Branch | Year | Revenue (k€) | Staff |\n| --- | --- | --- | --- |\n| Harbour | 2023 | 410 | 9 |\n"
    "| Harbour | 2024 | 455 | 9 |\n| Harbour | 2025 | 470 | 10 |\n| Station | 2023 | 380 | 7 |\n"
    "| Station | 2024 | 372 | 7 |\n| Station | 2025 | 401 | 7 |\n"
)
BY_YEAR = (
    "# Bakeries\n\n## Revenue in k€\n\n| Year | Harbour | Station |\n| --- | --- | --- |\n| 2023 | 410 | 380 |\n"
    "| 2024 | 455 | 372 |\n| 2025 | 470 | 401 |\n"
)
REVENUE = {
    "Harbour": {"2023": "410", "2024": "455", "2025": "470"},
    "Station": {"2023": "380", "2024": "372", "2025": "401"},
}


def chinese(note: str) -> str:
    for english, word in {
        "Revenue 20": "营收20", "Revenue in k€": "营收（万元）", "Figures for 2025": "2025年数据", "Revenue": "营收",
        "Branch": "分店", "Year": "年份", "Staff": "员工数", "Table ": "表", "k€": "万元", "Harbour": "港口店",
        "Station": "车站店", "Bakeries": "连锁面包店",
    }.items():  # fmt: skip
        note = note.replace(english, word)
    return note


async def cells(note: str, *columns: str, each: str = "branch", lang: Lang = "en") -> dict[str, str]:
    asked = {"columns": list(columns), "rows": None, "each": each}
    result = await perform("extract", asked, {"note.md": note}, lang=lang)
    return {claim.question: claim.statement for claim in result.output.claims if claim.question}


NOTES = pytest.mark.parametrize("note", [IN_HEADER, IN_HEADINGS, IN_CAPTIONS, IN_COLUMN, BY_YEAR])


@NOTES
async def test_every_pair_of_thing_and_year_has_its_value_wherever_the_year_stands(note: str) -> None:
    years = ("2023", "2024", "2025")

    assert await cells(note, *(f"revenue for {year}" for year in years)) == {
        f"{branch} / revenue for {year}": REVENUE[branch][year] for branch in REVENUE for year in years
    }


@NOTES
async def test_the_same_in_chinese(note: str) -> None:
    years, names = ("2023", "2024", "2025"), {"港口店": "Harbour", "车站店": "Station"}
    columns = [f"{year}年营收" for year in years]

    assert await cells(chinese(note), *columns, each="分店", lang="zh") == {
        f"{name} / {year}年营收": REVENUE[english][year] for name, english in names.items() for year in years
    }


@NOTES
async def test_a_year_without_a_value_is_open_and_takes_none_of_another_year(note: str) -> None:
    asked = {"columns": ["revenue for 2024", "revenue for 2022"], "rows": None, "each": "branch"}
    result = await perform("extract", asked, {"note.md": note})

    assert {c.question: c.statement for c in result.output.claims} == {
        "Harbour / revenue for 2024": "455",
        "Station / revenue for 2024": "372",
    }
    assert [question.question for question in result.output.open_questions] == ["revenue for 2022"]


async def test_a_sentence_of_another_year_fills_no_cell_either() -> None:
    notes = {"a.md": "# Harbour\n\nThe revenue of the Harbour branch was €410,000 in 2023.\n"}
    asked = {"columns": ["revenue in 2023", "revenue in 2024"], "rows": ["Harbour"]}
    result = await perform("extract", asked, notes)

    assert [c.question for c in result.output.claims] == ["Harbour / revenue in 2023"]


async def test_years_that_the_goal_does_not_name_are_rows_of_their_own() -> None:
    assert await cells(IN_COLUMN, "revenue") == {
        f"{branch} ({year}) / revenue": value for branch, by in REVENUE.items() for year, value in by.items()
    }


async def test_beside_named_years_a_value_that_changes_with_the_year_is_left_open() -> None:
    found = await cells(IN_COLUMN, "revenue 2024", "staff")

    assert found == {
        "Harbour / revenue 2024": "455",
        "Station / revenue 2024": "372",
        "Station / staff": "7",
    }


@pytest.mark.parametrize(
    ("number", "things", "lang"),
    [("No.", "Project", "en"), ("#", "Works", "en"), ("序号", "工程名称", "zh"), ("Item", "Project", "en")],
)
async def test_a_numbering_never_names_the_rows(number: str, things: str, lang: Lang) -> None:
    note = (
        f"# Works\n\n| {number} | {things} | Cost |\n| --- | --- | --- |\n"
        "| 1 | Pumps | €820 |\n| 2 | Mains | €130 |\n| 3 | Square | €90 |\n"
    )

    assert await cells(note, "cost", each="", lang=lang) == {
        "Pumps / cost": "€820",
        "Mains / cost": "€130",
        "Square / cost": "€90",
    }


async def test_numbers_that_do_not_count_the_rows_name_them() -> None:
    note = "# Rooms\n\n| Room | Area |\n| --- | --- |\n| 101 | 14 m² |\n| 207 | 22 m² |\n"

    assert await cells(note, "area", each="room") == {"101 / area": "14 m²", "207 / area": "22 m²"}


async def test_rows_of_one_name_are_told_apart_and_the_wanted_kind_names_them() -> None:
    note = (
        "# Shops\n\n| Region | Shop | Owner | Rent |\n| --- | --- | --- | --- |\n| North | Quay | Li | €5 |\n"
        "| North | Mill | Wu | €7 |\n| South | Quay | Ma | €9 |\n"
    )

    assert await cells(note, "rent", each="shop") == {
        "Quay · Li / rent": "€5",
        "Mill · Wu / rent": "€7",
        "Quay · Ma / rent": "€9",
    }


@pytest.mark.parametrize(("columns", "open_"), [(["profit"], ["profit"]), (["cost", "profit"], ["profit"])])
async def test_a_column_that_no_table_has_is_open_once_and_gives_no_empty_rows(
    columns: list[str], open_: list[str]
) -> None:
    note = "# Works\n\n| Project | Cost |\n| --- | --- |\n| Pumps | €820 |\n| Mains | €130 |\n"
    asked = {"columns": columns, "rows": None, "each": "project"}
    result = await perform("extract", asked, {"works.md": note})

    assert [question.question for question in result.output.open_questions] == open_
    assert ("| Pumps |" in result.output.text) is ("cost" in columns)
    assert not result.candidate_complete


async def test_a_table_met_in_part_is_read_whole_and_rows_left_out_are_told() -> None:
    rows = "".join(f"| Shop {n} | {n * 7} |\n" for n in range(1, 61))
    note = f"# Shops\n\n| Shop | Revenue |\n| --- | --- |\n{rows}"
    result = await perform(
        "extract", {"columns": ["revenue"], "rows": None, "each": "shop"}, {"shops.md": note}
    )

    assert [claim.statement for claim in result.output.claims] == [str(n * 7) for n in range(1, 41)]
    assert "20 further rows of the notes are left out here." in result.output.text


async def test_properties_that_stand_in_rows_are_read_as_one_record() -> None:
    note = "# Quay shop\n\n| Property | Value |\n| --- | --- |\n| Rent | €5 |\n| Owner | Ms Li |\n"

    assert await cells(note, "rent", "owner", each="") == {
        "Quay shop / rent": "€5",
        "Quay shop / owner": "Ms Li",
    }


PER_YEAR = (
    "# Harbour\n\n| Year | Costs (k€) | Staff |\n| --- | --- | --- |\n| 2023 | 410 | 9 |\n| 2024 | 455 | 11 |\n",
    "# Harbour\n\n| Item | 2023 | 2024 |\n| --- | --- | --- |\n| Costs | 410 | 455 |\n| Staff | 9 | 11 |\n",
)
OF_NO_YEAR = "# Choices\n\n| Choice | Costs |\n| --- | --- |\n| Pier | 12 |\n| Quay | 15 |\n"


@pytest.mark.parametrize("note", PER_YEAR)
@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_where_each_row_is_a_year_the_years_name_the_rows(note: str, lang: Lang) -> None:
    if lang == "zh":
        note = note.replace("Costs", "费用").replace("Year", "年份").replace("Item", "项目")
    column, each = ("costs", "year") if lang == "en" else ("费用", "年")
    assert await cells(note, column, each=each, lang=lang) == {
        f"2023 / {column}": "410",
        f"2024 / {column}": "455",
    }


async def test_sentences_that_name_the_year_fill_a_table_by_years() -> None:
    note = "# Harbour\n\nThe costs of the harbour were 410,000 euro in 2023.\nIn 2024 the costs rose to 455,000 euro.\n"
    assert await cells(note, "costs", each="year") == {
        "2023 / costs": "The costs of the harbour were 410,000 euro in 2023.",
        "2024 / costs": "In 2024 the costs rose to 455,000 euro.",
    }


async def test_a_table_that_names_no_year_has_no_row_of_one() -> None:
    asked = {"columns": ["costs"], "rows": None, "each": "year"}
    result = await perform("extract", asked, {"note.md": OF_NO_YEAR})
    assert result.output.claims == ()
    (left,) = result.output.open_questions
    assert left.question == "costs"
    assert left.reason in {"not_found", "not_answerable"}
    assert left.searched


async def test_each_column_has_a_field_of_its_own_or_is_open() -> None:
    asked = {"columns": ["rent", "owner"], "rows": None, "each": "shop"}
    note = "# Shops\n\n| Shop | Rent | Staff |\n| --- | --- | --- |\n| Pier | 12 | 3 |\n| Quay | 15 | 4 |\n"
    output = (await perform("extract", asked, {"note.md": note})).output
    assert {one.claim for one in find_anchors(output.fields["rent"])} == {one.id for one in output.claims}
    assert "owner" not in output.fields
    assert [one.question for one in output.open_questions] == ["owner"]


@pytest.mark.parametrize(
    ("wanted", "place"),
    [
        ("delivery time", 2),
        ("cost", 1),
        ("price", 1),
        ("running costs", None),
        ("time", None),
        ("guarantee period", 3),
    ],
)
def test_a_column_may_name_what_is_measured_by_its_unit(wanted: str, place: int | None) -> None:
    assert place_of(wanted, ["Builder", "Price €", "Delivery weeks", "Guarantee years"], "") == place
