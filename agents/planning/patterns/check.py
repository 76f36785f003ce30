"""Goals that want statements held against the sources."""

from __future__ import annotations

import re
from typing import Final

from agents.planning.clauses import enumeration, quoted, unquote
from agents.planning.readings import CheckTask

VERB_EN: Final = (
    r"(?:check|verify|fact-?\s?check|validate|double-?check|confirm|examine|test|review|assess|audit)"
)
NOUN_EN: Final = r"(?:statements?|claims?|assertions?|facts?|sentences?|figures|numbers)"
_WHETHER_EN = re.compile(rf"^{VERB_EN}\s+(?:whether|if|that)\s+(?P<rest>.+)$", re.IGNORECASE)
_TRUE_EN = re.compile(
    r"^(?:is it (?:true|correct|right) that|is the following (?:true|correct)|true or false)\s*,?:?\s*(?P<rest>.*)$",
    re.IGNORECASE,
)
_LIST_EN = re.compile(
    rf"^(?:{VERB_EN}\s+(?:the\s+|these\s+|this\s+|each of the\s+|all\s+)?(?:truth of (?:the\s+)?)?"
    rf"(?:following\s+|below\s+)?{NOUN_EN}?(?:\s+below)?"
    rf"|(?:are|is|which of)\s+(?:the|these|this)\s*(?:following\s+)?{NOUN_EN}\b.*)"
    r"(?:\s+(?:against|with|in|using)\s+(?:the|these|my)\s+(?:notes?|sources?|documents?|files?|folder|material))?$",
    re.IGNORECASE,
)
_DOCUMENT_EN = re.compile(
    rf"^{VERB_EN}\s+(?:all\s+)?(?:the\s+|every\s+)?{NOUN_EN}\s+(?:in|of|from|made (?:in|by))\s+(?P<document>.+?)"
    r"(?:\s+(?:against|with|using)\s+(?:the|these|my|all)\s+(?:other\s+)?(?:notes?|sources?|documents?"
    r"|files?|folder|material))?$",
    re.IGNORECASE,
)
_POSSESSIVE_EN = re.compile(rf"^{VERB_EN}\s+(?P<document>.+?)['’]s\s+{NOUN_EN}$", re.IGNORECASE)
_ANY_EN = re.compile(rf"^{VERB_EN}\b\s*(?P<rest>.*)$", re.IGNORECASE)

VERB_ZH: Final = r"(?:核查|检查|核对|核实|查证|验证|校验|求证|检验|审查|判断|确认|查核)(?:一下)?"
NOUN_ZH: Final = r"(?:说法|陈述|论断|主张|表述|断言|声明|事实|结论|论点|数字|数据|句子|观点)"
_WHETHER_ZH = re.compile(
    rf"^{VERB_ZH}(?:一下)?(?P<rest>.+?)(?:是否|是不是)(?:属实|正确|准确|为真|成立|真实|对)(?:的)?$"
)
_WHETHER_INNER_ZH = re.compile(rf"^{VERB_ZH}(?P<rest>.*(?:是否|是不是|有没有).+)$")
_TRUE_ZH = re.compile(
    r"^(?P<rest>.+?)[，,]?(?:是否属实|是真的吗|对不对|对吗|属实吗|正确吗|是否正确|是不是真的|准确吗)$"
)
_LIST_ZH = re.compile(
    rf"^{VERB_ZH}?(?:以下|下列|下面|如下|这些|上述)(?:的)?(?:几[条个句]|各[条个])?{NOUN_ZH}?(?:的?(?:真伪"
    rf"|真实性|正确性|准确性))?(?:是否(?:属实|正确|准确|成立))?$"
)
_DOCUMENT_NOUN_ZH: Final = (
    r"(?:报告|文件|文档|笔记|资料|纪要|合同|方案|说明|公告|新闻|文章|稿|\.\w{2,5}|》|”)"
)
_DOCUMENT_ZH = re.compile(
    rf"^{VERB_ZH}(?P<document>.+?(?:(?=[中里内])|{_DOCUMENT_NOUN_ZH}))(?:中|里|内)?的(?:所有|全部|各项"
    rf"|主要)?{NOUN_ZH}(?:的?(?:真伪|真实性|正确性|准确性))?(?:是否(?:属实|正确|准确|成立))?$"
)
_VERB_ONLY_ZH = re.compile(rf"^{VERB_ZH}(?P<rest>.*)$")
_PREVIOUS = re.compile(
    rf"^(?:{VERB_EN}\s+(?:it|them|this|that|everything|(?:the|your|all)\s+(?:results?|findings?|answers?|outcome|draft|summary|plan))"
    r"(?:\s+(?:against|with|using|in)\s+(?:the|these|my|all)\s+(?:other\s+)?(?:notes?|sources?|documents?|files?|folder|material))?"
    rf"|{VERB_ZH}(?:一下)?(?:它们?|其|(?:上述|以上|这些|该)(?:结果|内容|答案|结论|草稿|总结|计划|方案)|结果)(?:是否(?:属实|正确|准确))?)$",
    re.IGNORECASE,
)
_GENERIC = re.compile(
    r"^(?:以下|下列|下面|如下|这些|上述|the following|following|these|below|them|it)$", re.IGNORECASE
)


def read_check(text: str, listed: tuple[str, ...]) -> CheckTask | None:
    """Read a goal that wants statements checked: listed, quoted, in a clause, or those of a document.

    >>> read_check("Check whether the plant opened in 2024", ()).statements
    ('the plant opened in 2024',)
    """
    body = text.strip(" 。.?？!！;；:：")
    if not listed and _PREVIOUS.match(body):
        return CheckTask(previous=True)
    quotes = quoted(body)
    listing = _LIST_EN.match(body) or _LIST_ZH.match(body)
    if listed and (listing or _ANY_EN.match(body) or _VERB_ONLY_ZH.match(body)):
        return CheckTask(statements=_statements(listed))
    if quotes and (_ANY_EN.match(body) or _VERB_ONLY_ZH.match(body) or _TRUE_ZH.match(body)):
        return CheckTask(statements=quotes)
    return _document(body) or _clause(body)


def _clause(body: str) -> CheckTask | None:
    for pattern in (_WHETHER_EN, _TRUE_EN, _WHETHER_ZH, _TRUE_ZH, _WHETHER_INNER_ZH):
        match = pattern.match(body)
        if match is None or not match["rest"].strip():
            continue
        rest = re.sub(rf"的(?:这[一个种])?{NOUN_ZH}$", "", match["rest"].strip(" ，,：:"))
        if _GENERIC.match(rest):
            continue
        parts = re.split(r"\s*,?\s+and\s+(?:whether|if|that)\s+", rest, flags=re.IGNORECASE)
        return CheckTask(statements=tuple(part.strip() for part in parts if part.strip()))
    return None


def _document(body: str) -> CheckTask | None:
    for pattern in (_DOCUMENT_EN, _POSSESSIVE_EN, _DOCUMENT_ZH):
        match = pattern.match(body)
        if match and not _GENERIC.match(match["document"].strip()):
            return CheckTask(document=unquote(match["document"]))
    return None


def _statements(listed: tuple[str, ...]) -> tuple[str, ...]:
    """A list given in one piece may still be an enumeration of quotes."""
    if len(listed) == 1:
        quotes = quoted(listed[0])
        if quotes:
            return quotes
        members = enumeration(listed[0]) if listed[0].count("“") > 1 else ()
        return members or (unquote(listed[0]),)
    return tuple(unquote(entry) for entry in listed)
