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
    nearest_is: str
    """With `text` and `place`: after `not_answered`."""
    no_word: str
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
    background: str
    """Over sentences of the goal that ask for nothing."""
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
        not_answered="No sentence was found that answers it.",
        disagree="The notes disagree:",
        open_questions="Open questions",
        searched="searched",
        not_searched="no search was made",
        nearest="nearest",
        nearest_is="No sentence was found that answers it; the nearest is: “{text}” ({place})",
        no_word="no word of it occurs in the notes",
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
        background="Read as background, neither answered nor checked",
        reasons={
            "not_found": "no material found",
            "not_answerable": "no sentence was found that answers it",
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
        not_answered="没有找到回答它的句子。",
        disagree="笔记说法不一：",
        open_questions="未解决的问题",
        searched="检索过",
        not_searched="未做检索",
        nearest="最接近",
        nearest_is="没有找到回答它的句子；最接近的是：“{text}”（{place}）",
        no_word="其中没有一个词出现在笔记中",
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
        background="作为背景理解，未作回答或核查",
        reasons={
            "not_found": "没有找到材料",
            "not_answerable": "没有找到回答它的句子",
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
