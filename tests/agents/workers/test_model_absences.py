"""A model's claim that the material says nothing is no claim; a document's own negation is one."""

from __future__ import annotations

import pytest

from agents.workers.model_absences import says_nothing_of_it


@pytest.mark.parametrize(
    "statement",
    [
        "The location of battery containers is not confirmed in the given excerpt.",
        "The excerpts do not mention a premium.",
        "The provided notes don't say who pays.",
        "There is no information about insurance in the provided context.",
        "Nothing in the search results names a date.",
        "The available information is insufficient to answer.",
        "It cannot be determined from the given notes.",
        "The date is not explicitly stated in the excerpts.",
        "摘录中没有提到保险费。",
        "所给材料未说明由谁支付。",
        "无法从提供的资料中得出限值。",
        "检索结果不包含发电量。",
    ],
)
def test_said_of_the_material(statement: str) -> None:
    assert says_nothing_of_it(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "The offer does not include the foundations.",
        "Nothing that burns is stored within 6 m.",
        "The permit does not cover the second pump.",
        "The given deadline is 1 May.",
        "The excerpt says that 3 m are enough.",
        "The provided data is not shared with third parties.",
        "The available sources are not renewable.",
        "No fee is due for the provided material.",
        "提供的材料没有毒性。",
        "上述文件不得外传。",
        "The notes are not kept longer than a year.",
        "合同不包含基础工程。",
        "未经许可不得排放。",
        "摘录说明总磷限值为 0.3 mg/L。",
        "提供的材料应在五月前交齐。",
        "",
    ],
)
def test_said_of_the_world(statement: str) -> None:
    assert not says_nothing_of_it(statement)
