"""Cut a sentence that orders several tasks (`compare A and B, then summarise C`) into its orders."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from agents.planning.clauses import shielded
from agents.planning.patterns.speech import bare

_DEFINITE: Final = (
    r"(?:the|an?|all|every|each|any|my|our|its|their|this|that|these|those|both|one|it|them|me|us|what|who|whom|whose"
    r"|how|why|whether|if|when|where|which|that|open)\b"
)
_VERB: Final = (
    r"(?:(?:compare|contrast|summari[sz]e|sum up|tabulate|verify|explain|describe|tell (?:me|us)|find out|work out"
    r"|determine|identify)\s+(?!and\b|or\b)\S"
    rf"|(?:extract|check|draft|write|list|answer|give|make|outline|plan|prepare|create|show|name|state|review|report"
    rf"|collect|calculate|find|design|propose|analy[sz]e)\s+(?:{_DEFINITE}|[\"“'‘A-Z0-9])"
    r"|answer\s*$|(?:compare|summari[sz]e|check|extract)\s*$)"
)
_ASKS: Final = r"(?:what|which|who|whose|when|where|why|how)\s+\w"
_LINK: Final = r"(?:and|then|also|next|finally|lastly|afterwards?|after that|in addition|besides|please)"
_CUT_EN = re.compile(
    rf"(?:\s*[,;]\s*(?:{_LINK}\s+)*|\s+(?:{_LINK}\s+)+)(?={_VERB})|\s*[,;]\s*and\s+(?={_ASKS})",
    re.IGNORECASE,
)
_VERB_ZH: Final = (
    r"(?:比较|对比|总结|概括|归纳|汇总|综述|概述|小结|梳理|提取|抽取|摘录|核查|核对|核实|检查|验证|起草|草拟|拟定|制定|制订|编制|撰写"
    r"|写(?=[一个份出])|列出|列举|说明|解释|介绍|回答|答复|找出|查明|查清|告诉我|给出|分析|评估|计算)"
)
_LINK_ZH: Final = (
    r"(?:并且?|然后|再|接着|随后|最后|同时|另外|此外|以及|还要?|也要?|其次|请|帮我|而后|之后|一并)"
)
_CUT_ZH = re.compile(
    rf"\s*[，,；;、]\s*{_LINK_ZH}*(?={_VERB_ZH})|(?:并且?|然后|接着|随后|最后|以及)+再?(?={_VERB_ZH})|\s*[，,；;]\s*{_LINK_ZH}+(?=\S)"
)
_REPORT_THAT = re.compile(
    r"^(?:write|prepare|make|give(?: me| us)?|produce|create|draft)\s+(?:me\s+|us\s+)?(?:an?|one|the)\s+(?:\w+\s+)?"
    r"(?:report|paper|text|document|overview|note|memo|briefing)\s+(?:that|which)\s+",
    re.IGNORECASE,
)
_THIRD = re.compile(
    r"(?:(?<=^)|(?<=and )|(?<=, )|(?<=then ))"
    r"(compare|contrast|summari[sz]e|list|explain|describe|extract|check|answer|give|state)s\b",
    re.IGNORECASE,
)


def orders_of(
    sentence: str, asks: Callable[[str], bool], belongs: Callable[[str], bool] = lambda _joined: False
) -> tuple[str, ...]:
    """Return the orders of a sentence, one if it gives one.

    `asks` says whether a part is a task by itself, `belongs` whether two parts joined are one task all the same.
    A sentence is cut only where both sides are: `compare and contrast A and B` stays whole, and so do quotes.

    >>> orders_of("Compare A and B, then summarise C", lambda part: True)
    ('Compare A and B', 'summarise C')
    """
    whole = _base_forms(sentence)
    inside = shielded(whole)
    cuts = [
        match
        for pattern in (_CUT_EN, _CUT_ZH)
        for match in pattern.finditer(whole)
        if not inside[match.start()] and match.start() > 0
    ]
    parts: list[str] = []
    start = 0
    for cut in sorted(cuts, key=lambda match: match.start()):
        if cut.start() < start:
            continue
        left = whole[start : cut.start()].strip()
        following = min((c.start() for c in cuts if c.start() >= cut.end()), default=len(whole))
        right = whole[cut.end() : following].strip()
        if not left or not right or belongs(bare(whole[start:following].strip())):
            continue
        if asks(bare(left)) and (asks(bare(right)) or asks(bare(whole[cut.end() :]))):
            parts.append(left)
            start = cut.end()
    return (*parts, whole[start:].strip()) if parts else (sentence,)


def _base_forms(sentence: str) -> str:
    """Write `a report that summarises A and compares B and C` as orders."""
    rest = _REPORT_THAT.sub("", sentence)
    return _THIRD.sub(r"\1", rest) if rest != sentence else sentence
