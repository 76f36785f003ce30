import pytest

from graphs.linting.actions import several_actions

SEVERAL = [
    ("Collect prices and summarise the trend", "", ("Collect", "summarise")),
    ("Research vendors, then write the report", "", ("Research", "write")),
    ("Extract the dates; check them", "", ("Extract", "check")),
    ("Find sources & compare, and draft an answer", "", ("Find", "compare", "draft")),
    ("收集资料并总结要点", "", ("收集", "总结")),
    ("数据收集与分析", "", ("收集", "分析")),
    ("提取日期，核查来源", "", ("提取", "核查")),
    ("Prices", "Search the notes for prices, then write the report.", ("Search", "write")),
    ("价格", "先查找价格，然后撰写报告。", ("查找", "撰写")),
]

ONE = [
    ("Compare cost and speed", ""),
    ("Compare cost and report quality", ""),
    ("Search and find prices", ""),
    ("Summarise the review and test results", ""),
    ("Write report", ""),
    ("比较成本和速度", ""),
    ("检查点与合并的关系", ""),
    ("搜索并查找价格", ""),
    ("Prices", "Search the notes. Quote each sentence and check the dates."),
    ("价格", "查找价格，核查日期。逐条引用。"),
    ("", ""),
]


@pytest.mark.parametrize(("title", "instruction", "verbs"), SEVERAL)
def test_joined_verbs_of_different_kinds_are_found(
    title: str, instruction: str, verbs: tuple[str, ...]
) -> None:
    assert several_actions(title, instruction) == verbs


@pytest.mark.parametrize(("title", "instruction"), ONE)
def test_one_thing_stays_one_thing(title: str, instruction: str) -> None:
    assert several_actions(title, instruction) == ()
