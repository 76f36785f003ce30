"""Which column of a note's table is the wanted one, told by the delivered cells of the extraction."""

from __future__ import annotations

import pytest

from graphs.contract import Lang
from tests.agents.workers.embedded.test_search_workers import perform

EN = "| Site | Hives | Honey 2024 (kg) | Honey 2025 (kg) |"
ZH = "| 品种 | 面积（亩） | 2024年干茶（kg） | 2025年干茶（kg） |"
ROWS = "| --- | --- | --- | --- |\n| North | 12 | 340 | 395 |\n| South | 9 | 210 | 188 |\n"


async def delivered(header: str, *columns: str) -> dict[str, str]:
    notes = {"table.md": f"# Yields 产量 2025\n\n{header}\n{ROWS}"}
    lang: Lang = "zh" if header == ZH else "en"
    result = await perform("extract", {"columns": list(columns), "rows": None}, notes, lang=lang)
    return {claim.question: claim.statement for claim in result.output.claims if claim.question}


@pytest.mark.parametrize(
    ("header", "column", "north", "south"),
    [
        (EN, "honey in 2025", "395", "188"),
        (EN, "honey 2024", "340", "210"),
        (EN, "2025 honey (kg)", "395", "188"),
        (ZH, "2025年干茶产量", "395", "188"),
        (ZH, "2024年的干茶", "340", "210"),
        ("| Site | Hives | Honey sold (2025) | Honey (2025) |", "honey in 2025", "395", "188"),
        ("| Site | Hives | Load Q1 2025 | Load Q2 2025 |", "load Q2 2025", "395", "188"),
        ("| Site | Hives | 2024 | 2025 |", "yield in 2025", "395", "188"),
        ("| 品种 | 面积 | 2024年 | 2025年 |", "2024年干茶产量", "340", "210"),
    ],
)
async def test_the_column_of_the_wanted_year_is_taken(
    header: str, column: str, north: str, south: str
) -> None:
    key = split(header)[0]
    found = await delivered(header, key, column)

    assert found == {
        f"North / {key}": "North",
        f"South / {key}": "South",
        f"North / {column}": north,
        f"South / {column}": south,
    }


@pytest.mark.parametrize(
    ("header", "column"),
    [
        (EN, "honey in 2023"),
        ("| Site | Hives | 2024 | 2025 |", "visitors in 2025"),
        ("| 品种 | 面积 | 2024年 | 2025年 |", "2026年产量"),
        (EN, "honey"),
        (ZH, "2023年干茶产量"),
        (ZH, "干茶"),
        ("| Site | Hives | Honey 2024 (kg) | Wax |", "honey in 2025"),
        ("| Site | Hives | Load Q1 2025 | Load Q2 2025 |", "load in 2025"),
    ],
)
async def test_a_column_of_another_year_never_fills_a_cell(header: str, column: str) -> None:
    found = await delivered(header, *split(header)[:1], column)

    assert {question for question in found if question.endswith(f"/ {column}")} == set()
    assert len(found) == 2, "the rows are still there"


@pytest.mark.parametrize(
    ("header", "column", "lang"),
    [
        ("| Site | Hives | Wax 2024 | Honey 2024 (kg) |", "honey in 2025", "en"),
        ("| 地点 | 群数 | 2024年蜂蜡 | 2024年蜂蜜 |", "2025年蜂蜜", "zh"),
    ],
)
async def test_a_whole_row_of_another_year_fills_no_cell_of_a_named_row(
    header: str, column: str, lang: Lang
) -> None:
    notes = {"table.md": f"# Yields\n\n{header}\n{ROWS}"}
    hives = split(header)[1]
    result = await perform("extract", {"columns": [hives, column], "rows": ["North"]}, notes, lang=lang)

    assert [claim.statement for claim in result.output.claims] == ["12"]
    assert [question.question for question in result.output.open_questions] == [f"North / {column}"]


def split(header: str) -> list[str]:
    return [cell.strip() for cell in header.strip("|").split("|")]
