import pytest

from agents.planning.patterns.check import read_check
from agents.planning.readings import CheckTask


@pytest.mark.parametrize(
    ("text", "listed", "statements"),
    [
        ("Check whether the plant opened in 2024", (), ("the plant opened in 2024",)),
        (
            "Check whether the plant opened in 2024 and whether it cost 5 million",
            (),
            ("the plant opened in 2024", "it cost 5 million"),
        ),
        ("Is it true that A is B?", (), ("A is B",)),
        ("Check these statements", ("A is 5.", "B is 6."), ("A is 5.", "B is 6.")),
        ("Fact-check", ("“X is 5”",), ("X is 5",)),
        ("Are the following claims correct", ("A", "B"), ("A", "B")),
        ("核查“电站2024年投运”和“投资为3亿元”是否属实", (), ("电站2024年投运", "投资为3亿元")),
        ("电站装机为50兆瓦，对吗？", (), ("电站装机为50兆瓦",)),
        ("核查下列说法", ("甲为5", "乙为6"), ("甲为5", "乙为6")),
        ("核实投资为3亿元的说法是否属实", (), ("投资为3亿元",)),
    ],
)
def test_statements_are_found(text: str, listed: tuple[str, ...], statements: tuple[str, ...]) -> None:
    assert read_check(text, listed) == CheckTask(statements=statements)


@pytest.mark.parametrize(
    ("text", "document"),
    [
        ("Verify the claims in report.md against the notes", "report.md"),
        ("Check the press release's figures", "the press release"),
        ("检查年度报告中的说法是否属实", "年度报告"),
        ("核查《可行性研究报告》的数据", "《可行性研究报告》"),
    ],
)
def test_the_statements_of_a_document(text: str, document: str) -> None:
    assert read_check(text, ()) == CheckTask(document=document)


@pytest.mark.parametrize("text", ["Check the spelling", "Review the budget", "What is true?", "检查一下"])
def test_no_statement_no_check(text: str) -> None:
    assert read_check(text, ()) is None
