"""The only words that the embedded workers write themselves, in English and Chinese. Everything else is quoted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from agents.results import ClosedBy, OpenReason
from graphs.contract import Lang


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """Headings and connecting phrases of one language."""

    report: str
    outline: str
    from_the_notes: str
    also_found: str
    item: str
    not_in_the_notes: str
    not_answered: str
    disagree: str
    open_questions: str
    searched: str
    not_searched: str
    nearest: str
    separator: str
    """Between the items of an enumeration."""
    colon: str
    supported: str
    contradicted: str
    not_confirmed: str
    nowhere_else: str
    not_looked_up: str
    part_of_the_notes: str
    """With `seen` and `there`: sections."""
    rows_left_out: str
    """With `n`: rows of a table."""
    nothing_found: str
    reasons: Mapping[OpenReason, str]
    closed_by: Mapping[ClosedBy, str]
    """With `domain`, `agent`, `value`."""


PHRASES: Final[Mapping[Lang, Phrases]] = {
    "en": Phrases(
        report="Report",
        outline="Outline",
        from_the_notes="From the notes",
        also_found="Also found",
        item="Item",
        not_in_the_notes="not in the notes",
        not_answered="The notes do not answer this.",
        disagree="The notes disagree:",
        open_questions="Open questions",
        searched="searched",
        not_searched="no search was made",
        nearest="nearest",
        separator="; ",
        colon=": ",
        supported="The notes say so:",
        contradicted="The notes say otherwise:",
        not_confirmed="The notes do not tell.",
        nowhere_else="No other note tells of this.",
        not_looked_up="Not looked up: a limit ended the search.",
        part_of_the_notes="Taken from {seen} of {there} sections of the notes.",
        rows_left_out="{n} further rows of the notes are left out here.",
        nothing_found="Nothing was found in the notes.",
        reasons={
            "not_found": "no material found",
            "not_answerable": "the notes do not answer it",
            "domain_closed": "the material lies in a domain that the mask closes",
            "limit_reached": "a limit ended the search",
        },
        closed_by={
            "contract": "{domain}, which the task contract forbids",
            "person": "{domain}, which a person set to {value} in the mask of {agent}",
            "plan": "{domain}, which the plan puts at {value} in the mask of {agent}",
        },
    ),
    "zh": Phrases(
        report="报告",
        outline="提纲",
        from_the_notes="依据笔记",
        also_found="另外找到",
        item="项目",
        not_in_the_notes="笔记中没有",
        not_answered="笔记没有回答这个问题。",
        disagree="笔记说法不一：",
        open_questions="未解决的问题",
        searched="检索过",
        not_searched="未做检索",
        nearest="最接近",
        separator="；",
        colon="：",
        supported="笔记有此说法：",
        contradicted="笔记说法不同：",
        not_confirmed="笔记没有提到。",
        nowhere_else="没有其他笔记提到这一点。",
        not_looked_up="未查证：检索因限额结束。",
        part_of_the_notes="取自笔记全部 {there} 个部分中的 {seen} 个。",
        rows_left_out="此处略去笔记中的另外 {n} 行。",
        nothing_found="笔记中没有找到相关内容。",
        reasons={
            "not_found": "没有找到材料",
            "not_answerable": "笔记没有回答",
            "domain_closed": "材料所在的知识域被蒙版关闭",
            "limit_reached": "检索因限额结束",
        },
        closed_by={
            "contract": "{domain}（任务合同禁止）",
            "person": "{domain}（由人在 {agent} 的蒙版中设为 {value}）",
            "plan": "{domain}（方案在 {agent} 的蒙版中设为 {value}）",
        },
    ),
}
