"""Goals that want the main points."""

from __future__ import annotations

import re
from typing import Final

from agents.planning.clauses import unquote
from agents.planning.readings import SummariseTask

_SUMMARY_EN: Final = r"(?:summary|overview|digest|recap|synopsis|abstract|gist|briefing|report|review)"
_EN: Final = (
    re.compile(
        r"^(?:summari[sz]e|sum up|condense|recap|digest|outline the main points of)\b\s*(?P<object>.*)$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^(?:(?:give|write|make|prepare|provide|produce|draft|create|compile)\s+(?:me\s+|us\s+)?)?(?:a|an"
        rf"|the)?\s*(?:[\w-]+\s+){{0,2}}?{_SUMMARY_EN}"
        r"(?:\s+(?:of|on|about|for|covering)\s+(?P<object>.+))?$",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?:what are|give(?: me)?|list|tell me|name|identify|pick out)\s+(?:the\s+)?(?:main|key|most"
        r" important|central|essential)\s+"
        r"(?:points?|ideas?|messages?|takeaways?|findings?|statements?|facts?|topics?)(?:\s+(?:of|in|from"
        r"|about|on)\s+(?P<object>.+))?$",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?:tell (?:me|us) about|describe|introduce)\s+(?!(?:how|what|why|when|where|who|which"
        r"|whether)\b)(?P<object>.+)$",
        re.IGNORECASE,
    ),
    re.compile(r"^tl;?\s?dr\b[:,]?\s*(?P<object>.*)$", re.IGNORECASE),
)
_ZH: Final = (
    re.compile(
        r"^(?:总结|概括|归纳|汇总|综述|概述|小结|梳理|提炼|浓缩|简述)(?:一下|出|下)?(?P<object>.*?)(?:的?"
        r"(?:主要)?(?:内容|要点|重点|大意|核心内容|情况))?$"
    ),
    re.compile(
        r"^(?:对|把|将)(?P<object>.+?)(?:进行|做|作|加以)(?:一?个?)(?:简要|全面|逐篇)?(?:总结|概括|归纳"
        r"|汇总|综述|概述|小结|梳理)$"
    ),
    re.compile(
        r"^(?:写|撰写|给出|做|提供|生成|起草|出)(?:一[份个篇段]|个|份)?(?:关于|有关)?(?P<object>.*?)"
        r"(?:的)?(?:简短|简要|详细)?(?:的)?"
        r"(?:摘要|概要|综述|总结|概述|简报|小结|报告)$"
    ),
    re.compile(
        r"^(?P<object>.+?)(?:的|有哪些)(?:主要|核心|关键)?(?:要点|主要内容|重点|大意|核心内容)(?:是什么|有哪些)?$"
    ),
    re.compile(r"^(?:介绍)(?:一下)?(?P<object>.+)$"),
)
_EVERYTHING = re.compile(
    r"^(?:(?:all|each|every)(?: of)?\s+)?(?:the|these|my|this|our|attached)?\s*(?:whole\s+|entire\s+|complete\s+)?"
    r"(?:folder|notes?|documents?|files?|sources?|material|everything|content(?:s)?(?: of the (?:folder"
    r"|notes))?|it|them)?"
    r"(?:\s+in (?:the|this) folder)?$"
    r"|^(?:整个|全部|所有|这个|这些|该|本|上述)?(?:的)?(?:文件夹|目录|笔记|资料|文档|文件|材料|内容|来源)?"
    r"(?:里|中|内)?(?:的)?(?:所有|全部)?(?:笔记|资料|文档|文件|材料|内容)?$",
    re.IGNORECASE,
)
_PER_DOCUMENT = re.compile(
    r"\b(?:each|every)\s+(?:of the\s+)?(?:documents?|notes?|files?|sources?|papers?)\b|\b(?:per|by)\s+"
    r"(?:document|note|file|source)\b"
    r"|\b(?:documents?|notes?|files?)\s+(?:one by one|separately|individually)\b"
    r"|每(?:一)?(?:篇|份|个|则)(?:文档|文件|笔记|资料|材料)?|逐[篇份个]|分别(?=总结|概括|归纳|概述)|各"
    r"(?:篇|份)(?:文档|文件|笔记|资料)?",
    re.IGNORECASE,
)
_ONE_BY_ONE = re.compile(r"^(?:逐[篇份个]|分别|依次)(?:地)?")
_SCOPE = re.compile(
    r"^(?:all\s+)?(?:of\s+)?(?:the|these|my)\s+(?:notes?|documents?|files?|sources?|papers?)\s+"
    r"(?:about|on|for|concerning|regarding|that (?:speak|deal|tell) (?:of|about|with))\s+|"
    r"^(?:what|everything)\s+(?:the|these|my)\s+(?:notes?|documents?|files?|sources?)\s+(?:say|have)\s+(?:about|on)\s+"
    r"|^(?:笔记|资料|文档|文件|材料)(?:中|里)(?:关于|有关)?(?:的)?|\s+(?:in|from|of|within)\s+(?:the|these"
    r"|my|all)\s+(?:notes?|documents?|files?|sources?|folder)$",
    re.IGNORECASE,
)


_STEPS_EN = re.compile(
    r"^(?:(?:list|give(?: me)?|name|show(?: me)?|write down|what are|which are|describe|outline)\s+)"
    r"(?:(?:all|each)\s+)?(?:of\s+)?(?:the\s+)?(?P<object>(?:[\w-]+\s+){0,2}?(?:steps|stages|phases)\s+(?:of|for|in|to|when)\s+.+)$",
    re.IGNORECASE,
)
_STEPS_ZH = re.compile(
    r"^(?:(?:列出|列举|写出|给出|说明|说出|指出|整理)(?:一下)?(?P<object>.+?(?:的)?(?:步骤|流程|工序|做法))"
    r"|(?P<asked>[^，,。；;？?]+?)(?:有|需要|包括|分为)?(?:哪些|哪几个|什么|几个)(?:主要|具体|操作)?(?P<what>步骤|流程|工序))$"
)


_DATES_EN = re.compile(
    r"^(?:(?:list|give(?: me)?|name|show(?: me)?|write down|collect|find|what are|which are)\s+)"
    r"(?P<object>(?:(?:all|any|each|every|of|the|important|key|relevant|upcoming)\s+)*"
    r"(?:deadlines|due dates|dates|milestones|appointments)(?:\s+(?:of|for|in|about|on|from)\s+.+)?)$",
    re.IGNORECASE,
)
_DATES_ZH = re.compile(
    r"^(?:列出|列举|写出|给出|整理|汇总|找出)(?:一下)?(?P<object>[^，,；;？?]*?"
    r"(?:截止日期|截止时间|最后期限|期限|日期|时间节点|里程碑))$"
)


def _dates_of(body: str) -> str:
    """Return what list of dates is asked for; empty for none.

    >>> _dates_of("List all deadlines"), _dates_of("列出所有截止日期")
    ('all deadlines', '所有截止日期')
    """
    match = _DATES_EN.match(body) or _DATES_ZH.match(body)
    return match["object"] if match else ""


def _steps_of(body: str) -> str:
    """Return what sequence of actions is asked for; empty for none.

    >>> _steps_of("List the steps of pressing cider"), _steps_of("酿酒有哪些步骤")
    ('steps of pressing cider', '酿酒的步骤')
    """
    english = _STEPS_EN.match(body)
    if english:
        return english["object"]
    chinese = _STEPS_ZH.match(body)
    if chinese is None:
        return ""
    return chinese["object"] or f"{chinese['asked']}的{chinese['what']}"


def read_summary(text: str, listed: tuple[str, ...]) -> SummariseTask | None:
    """Read a goal that wants the main points of everything, of each document, or of a topic.

    >>> read_summary("Summarise the folder", ()), read_summary("总结安全要求", ()).topics
    (SummariseTask(topics=(), per_document=False, kind='summarise'), ('安全要求',))
    """
    body = text.strip(" 。.?？!！;；:：")
    if not listed and (wanted := _steps_of(body) or _dates_of(body)):
        return SummariseTask(topics=(wanted,))
    for pattern in (*_EN, *_ZH):
        match = pattern.match(_ONE_BY_ONE.sub("", body))
        if match is None:
            continue
        topic = (match["object"] or "").strip(" ，,：:")
        per_document = _PER_DOCUMENT.search(body) is not None
        topic = _PER_DOCUMENT.sub("", topic).strip(" ，,的") if per_document else topic
        topic = _SCOPE.sub("", topic).strip(" ，,的") if topic else topic
        topics = tuple(unquote(entry) for entry in listed)
        if not topics and topic and not _EVERYTHING.match(topic):
            topics = (unquote(topic),)
        return SummariseTask(topics=topics, per_document=per_document)
    return None
