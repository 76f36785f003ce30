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
    Case(
        "Extract a table with site, hives and honey in 2025 for each site.",
        ("site", "hives", "honey in 2025"),
        each="each site",
    ),
    Case(
        "Create a table showing the columns name and yield in 2024 and 2025 for every orchard",
        ("name", "yield in 2024", "yield in 2025"),
        each="every orchard",
    ),
    Case("Extract the amount in EUR of every contract", ("amount in EUR",), each="every contract"),
    Case("Extract the cost in 2025 of A and B", ("cost in 2025",), rows=("A", "B")),
    Case("Extract the cost in May", ("cost in May",)),
    Case("把各品种2024年和2025年的干茶产量整理成表格。", ("2024年干茶产量", "2025年干茶产量"), each="各品种"),
    Case(
        "把各果园的2024年和2025年产量、面积整理成表格",
        ("2024年产量", "2025年产量", "面积"),
        each="各果园",
    ),
    Case("提取每个站点2023至2025年的客流", ("2023年客流", "2024年客流", "2025年客流"), each="每个站点"),
    Case("提取每个站点的名称和2025年客流", ("名称", "2025年客流"), each="每个站点"),
    Case(
        "提取各果园2024、2025年的产量和面积",
        ("2024年产量", "2025年产量", "2024年面积", "2025年面积"),
        each="各果园",
    ),
    Case("提取合同编号、甲方、金额", ("合同编号", "甲方", "金额")),
    Case(
        "Extract the revenue for 2023, 2024 and 2025 per branch",
        ("revenue for 2023", "revenue for 2024", "revenue for 2025"),
        each="each branch",
    ),
    Case(
        "revenue for 2023, 2024 and 2025 per branch",
        ("revenue for 2023", "revenue for 2024", "revenue for 2025"),
        each="each branch",
    ),
    Case(
        "Extract the income from 2023 to 2025 per shop into a table",
        ("income in 2023", "income in 2024", "income in 2025"),
        each="each shop",
    ),
    Case("Extract the rent of each shop in 2024 and 2025", ("rent 2024", "rent 2025"), each="each shop"),
    Case("Extract the 2024 and 2025 rent of every shop", ("rent 2024", "rent 2025"), each="every shop"),
    Case("Extract a table of the costs by year", ("costs",), each="each year"),
    Case("Extract the revenue per fiscal year as a table", ("revenue",), each="each fiscal year"),
    Case("Extract the price per kWh of every offer", ("price per kWh",), each="every offer"),
    Case("提取各年的费用，做成表格", ("费用",), each="各年"),
    Case("按年度提取营收和利润", ("营收", "利润"), each="各年度"),
    Case("把历年营收列成表格", ("营收",), each="各年"),
    Case("提取各年级的人数", ("人数",), each="各年级"),
    Case("Make a table of rent and owner by shop", ("rent", "owner"), each="each shop"),
    Case("Extract the price per kWh", ("price per kWh",)),
    Case(
        "提取各分店2023、2024和2025年的营收",
        ("2023年营收", "2024年营收", "2025年营收"),
        each="各分店",
    ),
    Case("提取2024和2025年各门店的租金", ("2024年租金", "2025年租金"), each="各门店"),
    Case("把2024—2025年各门店租金列成表", ("2024年租金", "2025年租金"), each="各门店"),
    Case("按门店提取2024年、2025年的租金", ("2024年租金", "2025年租金"), each="各门店"),
    Case("提取甲店和乙店2024年、2025年的租金", ("2024年租金", "2025年租金"), rows=("甲店", "乙店")),
    Case(
        "Extract a table of all tasks of the refit with owner, begin and finish",
        ("owner", "begin", "finish"),
        each="all tasks of the refit",
    ),
    Case(
        "Make a table of the kilns with builder, rent and weight",
        ("builder", "rent", "weight"),
        each="the kilns",
    ),
    Case("Make a table of kilns with builder and rent", ("builder", "rent"), each="all kilns"),
    Case("List all kilns with their rent as a table", ("rent",), each="all kilns"),
    Case(
        "Extract the amount of all leases with Arne and Bo", ("amount",), each="all leases with Arne and Bo"
    ),
    Case(
        "Extract the name and date of all leases with heirs", ("name", "date"), each="all leases with heirs"
    ),
    Case("Make a table with the columns name and date", ("name", "date")),
    Case("提取所有工序及其负责人、工期，列成表格", ("负责人", "工期"), each="所有工序"),
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
