"""Goals that want a plan drafted."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from agents.planning.clauses import enumeration
from agents.planning.readings import OutlineTask

_EN = re.compile(
    r"^(?:draft|write|make|prepare|create|develop|outline|propose|design|draw up|put together|set up|work"
    r" out|sketch|come up with)\s+(?:me\s+|us\s+)?"
    r"(?P<title>(?:a|an|the|our|my)?\s*(?:[\w-]+\s+){0,4}?(?:plan|outline|proposal|roadmap|schedule|agenda"
    r"|strategy|checklist|programme|program))"
    r"(?:\s+(?P<link>for|of|to|on|about|that)\s+(?P<subject>.+))?$",
    re.IGNORECASE,
)
_PLAN_EN = re.compile(r"^plan\s+(?P<subject>(?:a|an|the|our|my|how)\b.+)$", re.IGNORECASE)
_ZH = re.compile(
    r"^(?:起草|草拟|拟定|拟|制定|制订|撰写|编制|编写|设计|写|做|列|准备|规划)(?:出|一下)?(?:一[份个项张]|个|份)?"
    r"(?P<title>(?P<subject>.*?)(?:的)?(?:工作|实施|行动|应急|推进|初步|详细)?(?:计划书?|方案|大纲|提纲"
    r"|规划|路线图|日程|预案|清单))$"
)
_FOR_ZH = re.compile(
    r"^(?:为|针对|关于|围绕|就|给)(?P<subject>.+?)(?P<verb>起草|草拟|拟定|拟|制定|制订|撰写|编制|编写|设计|写"
    r"|做|准备)(?:出)?(?:一[份个项张]|个|份)?(?P<what>.*(?:计划书?|方案|大纲|提纲|规划|路线图|日程|预案"
    r"|清单))$"
)
_SECTION_EN: Final = (
    r"(?:dates?|deadlines?|schedules?|timelines?|milestones?|steps?|phases?|tasks?|actions?|budgets?|costs?"
    r"|resources?|persons?|people|owners?|roles?|responsib\w+|contacts?|risks?|goals?|objectives?|measures?"
    r"|sections?|materials?|tools?|estimates?)"
)
_SECTIONS_EN: Final = (
    re.compile(
        r"\s*,\s*(?:and\s+)?(?:with|including|listing|showing|containing)\s+(?P<sections>.+)$", re.IGNORECASE
    ),
    re.compile(
        rf"\s+(?:with|including|listing|showing|containing)\s+"
        rf"(?P<sections>(?:(?:[\w-]+\s+){{0,3}}{_SECTION_EN}(?:\s*,\s*(?:and\s+)?|\s+and\s+|$))+)$",
        re.IGNORECASE,
    ),
)
"""`with` after a comma, or before names of sections alone: `a plan for the talk with the mayor` has none."""
_WITH_AHEAD_EN = re.compile(
    rf"\s+(?:with|including|listing)\s+(?P<sections>[^.]*?\b{_SECTION_EN})(?=\s+(?:for|on|about)\s)",
    re.IGNORECASE,
)
_SECTIONS_ZH = re.compile(
    r"[，,]\s*(?:其中|并|且|要|需要?|应)*(?:包括|包含|含有?|列出|列明|写明|注明|标明|附上?|附有|带有?|写出)"
    r"(?P<sections>.+?)(?:等(?:内容|信息)?)?$"
)
_ABOUT_ZH = re.compile(r"^(?:关于|针对|围绕)")


def read_outline(text: str, listed: tuple[str, ...]) -> OutlineTask | None:
    """Read a goal that wants a plan drafted.

    >>> read_outline("Draft a plan for the grid connection", ())
    OutlineTask(title='plan for the grid connection', subject='the grid connection', sections=(), kind='outline')
    """
    body = text.strip(" 。.?？!！;；:：")
    for pattern in (*_SECTIONS_EN, _WITH_AHEAD_EN, _SECTIONS_ZH):
        wanted = pattern.search(body)
        task = _read(body[: wanted.start()] + body[wanted.end() :], listed) if wanted else None
        if wanted and task:
            return replace(task, sections=enumeration(wanted["sections"]))
    return _read(body, listed)


def _read(body: str, listed: tuple[str, ...]) -> OutlineTask | None:
    listing = "; ".join(listed)
    match = _EN.match(body)
    if match:
        name = re.sub(r"^(?:a|an|the|our|my)\s+", "", match["title"].strip(), flags=re.IGNORECASE)
        subject = (match["subject"] or listing or name).strip()
        title = f"{name} {match['link']} {subject}" if match["subject"] else name
        return OutlineTask(title=title, subject=subject)
    planned = _PLAN_EN.match(body)
    if planned:
        return OutlineTask(title=f"plan: {planned['subject']}", subject=planned["subject"].strip())
    ahead = _FOR_ZH.match(body)
    if ahead:
        return OutlineTask(title=f"{ahead['subject']}{ahead['what']}", subject=ahead["subject"])
    chinese = _ZH.match(body)
    if chinese:
        subject = _ABOUT_ZH.sub("", chinese["subject"]) or listing or chinese["title"]
        return OutlineTask(title=_ABOUT_ZH.sub("", chinese["title"]), subject=subject)
    return None
