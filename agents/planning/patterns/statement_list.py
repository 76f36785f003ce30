"""Goals that ask for a check of what follows: `Check these statements: A. B.`, with or without numbers and bullets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from agents.planning.clauses import unquote
from agents.planning.passages import Passage
from agents.planning.patterns.check import NOUN_EN, NOUN_ZH, VERB_EN, VERB_ZH
from agents.planning.patterns.research import is_order
from agents.planning.patterns.speech import bare, is_announcement, is_small_talk
from agents.planning.readings import CheckTask

_SOURCES: Final = (
    r"(?:\s+(?:against|with|in|using|by)\s+(?:(?:the|these|my|our)\s+)?"
    r"(?:notes?|sources?|documents?|files?|folder|material))?"
)
_MANY: Final = r"(?:(?:the|these|this|those|all|each|every|any|my|our|of|following|next)\s+)*"
_NAMED: Final = rf"{_MANY}(?:{NOUN_EN}|following|these|this)(?:\s+(?:below|here))?"
_TRUTH: Final = r"(?:true|correct|right|accurate|supported|confirmed|false|wrong)"
_REQUEST_EN = re.compile(
    rf"(?:{VERB_EN}\s+(?:(?:the\s+)?(?:truth|accuracy)\s+of\s+)?{_NAMED}{_SOURCES}"
    rf"|(?:are|is|which of|what of)\s+{_NAMED}\s*(?:are|is)?\s*{_TRUTH}(?:\s+or\s+(?:not|{_TRUTH}))?{_SOURCES})",
    re.IGNORECASE,
)
_POINTER_EN = re.compile(r"\b(?:following|these|this|below|here|next|those)\b", re.IGNORECASE)
_TRUTH_ZH: Final = r"(?:属实|正确|准确|为真|成立|真实|对|真)"
_REQUEST_ZH = re.compile(
    rf"(?:{VERB_ZH}(?:一下)?)?(?:以下|下列|下面|如下|这些|这几[条个句])的?(?:几[条个句]|各[条个])?(?:{NOUN_ZH}|内容)?"
    rf"(?:的?(?:真伪|真实性|正确性|准确性))?(?:中?(?:是否|是不是|哪些|哪些是)?{_TRUTH_ZH}的?(?:吗|不对)?)?"
)
_ASKS_ZH = re.compile(rf"{VERB_ZH}|是否|是不是|哪些|吗$|{NOUN_ZH}")
_ORDERS = re.compile(
    r"(?:please|then|now|also|finally)\b|(?:answer|use|write|keep|limit|do not|don['’]t|say|give|cite|quote|list|show"
    r"|mark|leave|compare|summari[sz]e|extract|tabulate|draft|explain|describe|find|check|verify|make|create|prepare|outline|report)\s"
    r"|(?:请|不要|勿|然后|再|最后|用|回答|字数|篇幅|输出|比较|对比|总结|概括|归纳|汇总|提取|抽取|列出|核查|核实"
    r"|起草|拟定|说明|解释|介绍|写)",
    re.IGNORECASE,
)
"""How a sentence begins that orders something and states nothing."""


def requests_check(text: str) -> bool:
    """Say whether a sentence asks for a check of what follows it, and names nothing else.

    >>> requests_check("Are these statements true?"), requests_check("核查下列说法"), requests_check("Check the roof")
    (True, True, False)
    """
    body = bare(text).strip(" 。.?？!！;；:：,，")
    if _REQUEST_EN.fullmatch(body):
        return _POINTER_EN.search(body) is not None or re.search(NOUN_EN, body, re.IGNORECASE) is not None
    return bool(body) and _REQUEST_ZH.fullmatch(body) is not None and _ASKS_ZH.search(body) is not None


def take_statements(passages: Sequence[Passage]) -> tuple[Passage | CheckTask, ...]:
    """Return `passages`, with each request to check and all that it is about as one task, its statements as typed.

    What follows a request is a statement, sentence by sentence, up to the next question or order.
    """
    read: list[Passage | CheckTask] = []
    left = list(passages)
    while left:
        passage = left.pop(0)
        statements = list(passage.items) if requests_check(passage.text) else []
        if not requests_check(passage.text):
            read.append(passage)
            continue
        while left and _states(left[0]):
            following = left.pop(0)
            statements.extend([following.whole] if following.text else following.items)
        read.append(CheckTask(statements=tuple(map(unquote, statements))) if statements else passage)
    return tuple(read)


def _states(passage: Passage) -> bool:
    text = passage.text
    if not text:
        return bool(passage.items)
    asks = text.endswith(("?", "？")) or is_order(text) or _ORDERS.match(text) is not None
    return not (asks or is_announcement(text) or is_small_talk(text) or requests_check(text))
