"""Tell in which language a goal is written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from graphs.contract import Lang

CJK: Final = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Character class of Chinese characters, to be put between brackets."""

_HAN = re.compile(f"[{CJK}]")
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")
_EN_FUNCTION = re.compile(
    r"\b(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|does|do|did|has|have|the|a|an|of|to|for"
    r"|from|and|or|on|in|with|by|about|please|compare|summari[sz]e|extract|check|list|find|explain|write|draft)\b",
    re.IGNORECASE,
)
_ZH_FUNCTION = re.compile(
    r"的|了|是|在|和|与|及|吗|呢|什么|多少|如何|怎么|怎样|为何|哪|谁|几|请|把|将|对|从|比较|总结|概括|提取|核查|检查"
    r"|列出|说明|解释|写|起草|拟|回答|根据|何时"
)

_HAN_PER_WORD: Final = 1.7
"""Chinese characters that weigh as much as one English word (a Chinese word has 1.5 to 2 characters)."""

_MIXED_SHARE: Final = 0.15
"""Share of the smaller language, by weight, from which a text counts as mixed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectedLanguage:
    """The language of a text."""

    lang: Lang
    mixed: bool
    """Whether the other language has a noticeable share."""


def detect_language(text: str, default: Lang = "en") -> DetectedLanguage:
    """Return the language that the sentence frame is written in, whatever names stand in it.

    Function words decide ("What does 蓝河电站 cost?" is English, "比较 PostgreSQL 和 MySQL" Chinese), then the
    amount of text; `default` holds for a text without letters.

    >>> detect_language("What does 蓝河电站 cost?").lang, detect_language("比较 PostgreSQL 和 MySQL").lang
    ('en', 'zh')
    """
    han = len(_HAN.findall(text)) / _HAN_PER_WORD
    words = len(_WORD.findall(text))
    if not han and not words:
        return DetectedLanguage(lang=default, mixed=False)
    mixed = min(han, words) / (han + words) >= _MIXED_SHARE
    frame_en, frame_zh = len(_EN_FUNCTION.findall(text)), len(_ZH_FUNCTION.findall(text))
    if han and words and frame_en != frame_zh:
        return DetectedLanguage(lang="en" if frame_en > frame_zh else "zh", mixed=mixed)
    return DetectedLanguage(lang="zh" if han > words else "en", mixed=mixed)
