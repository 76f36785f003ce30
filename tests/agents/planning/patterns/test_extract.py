from dataclasses import dataclass

import pytest

from agents.planning.patterns.extract import read_extraction
from agents.planning.readings import ExtractTask


@dataclass(frozen=True)
class Case:
    text: str
    columns: tuple[str, ...]
    rows: tuple[str, ...] = ()
    each: str = ""
    listed: tuple[str, ...] = ()


CASES = (
    Case(
        "Extract the name, date and amount of every contract",
        ("name", "date", "amount"),
        each="every contract",
    ),
    Case("Extract all dates from the notes", ("dates",)),
    Case("List the deadlines in a table", ("deadlines",)),
    Case("Make a table of the cost and lifetime of A, B and C", ("cost", "lifetime"), rows=("A", "B", "C")),
    Case(
        "Collect the owner and budget for each project in a table", ("owner", "budget"), each="each project"
    ),
    Case("Extract from the notes", ("name", "date"), listed=("name", "date")),
    Case("提取每份合同的名称、日期和金额，列成表", ("名称", "日期", "金额"), each="每份合同"),
    Case("把各站点的名称和开通日期整理成表格", ("名称", "开通日期"), each="各站点"),
    Case("提取合同编号、甲方、金额", ("合同编号", "甲方", "金额")),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.text)
def test_columns_and_rows_are_told_apart(case: Case) -> None:
    found = read_extraction(case.text, case.listed)
    if case.listed:
        assert found is not None
        assert found.columns == case.columns
    else:
        assert found == ExtractTask(columns=case.columns, rows=case.rows, each=case.each)


@pytest.mark.parametrize(
    "text", ["List the deadlines", "列出每个项目的预算", "What is in the table?", "Give me a summary"]
)
def test_without_a_table_or_the_word_extract_it_is_something_else(text: str) -> None:
    assert read_extraction(text, ()) is None
