"""Questions that choose between named things: `A or B: which costs less?`, `甲和乙哪个更便宜？`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from agents.planning.clauses import enumeration
from agents.planning.language import CJK
from agents.planning.readings import CompareTask

_ASPECTS_EN: Final[Mapping[str, str]] = {
    word: aspect
    for aspect, words in {
        "cost": "cheaper dearer costlier expensive cheap affordable economical",
        "speed": "faster slower quicker fast quick slow",
        "noise": "quieter louder noisier quiet loud noisy",
        "size": "bigger larger smaller big large small compact",
        "length": "longer shorter",
        "height": "higher taller lower",
        "weight": "heavier lighter heavy light",
        "age": "older newer younger old new",
        "safety": "safer safe dangerous hazardous",
        "strength": "stronger weaker",
        "width": "wider narrower broader",
        "lifetime": "durable",
        "distance": "nearer closer farther further",
        "start": "earlier later",
    }.items()
    for word in words.split()
}
"""What an adjective of measure compares."""
_NOUNS_OF_VERBS: Final[Mapping[str, str]] = {
    "cost": "cost", "costs": "cost", "weigh": "weight", "weighs": "weight", "last": "lifetime", "lasts": "lifetime",
    "live": "lifetime", "lives": "lifetime", "take": "time", "takes": "time",
}  # fmt: skip
_ASPECTS_ZH: Final[Mapping[str, str]] = {
    word: aspect
    for aspect, words in {
        "成本": "便宜 贵 省钱 划算 经济 实惠 昂贵",
        "速度": "快 慢 快速",
        "噪声": "安静 吵 静音 吵闹",
        "大小": "大 小",
        "长度": "长 短",
        "高度": "高 矮 低",
        "重量": "重 轻",
        "新旧": "新 旧",
        "安全性": "安全 危险",
        "寿命": "耐用 耐久 持久",
        "距离": "近 远",
        "时间": "早 晚",
    }.items()
    for word in words.split()
}

_COMPARATIVE: Final = (
    r"(?:(?:more|less)\s+[\w-]+(?:\s+[\w-]+)?|better|worse|"
    + "|".join(sorted((word for word in _ASPECTS_EN if word.endswith("er")), key=len, reverse=True))
    + r"|[a-z]{3,}ier)"
)
_PREDICATE_EN: Final = (
    rf"(?:(?:is|are|was|were|costs?|lasts?|weighs?|takes?|lives?|needs?|uses?|has|have|makes?|gives?|offers?|produces?|runs?|works?)\s+)?"
    rf"(?:the\s+|a\s+)?(?:{_COMPARATIVE}|(?:more|less|fewer|higher|lower|longer|shorter|larger|smaller|better|greater|worse)\s+.+|more|less|fewer)"
    rf"(?:\s+(?:and|or)\s+{_COMPARATIVE})?"
)
_WHICH_EN: Final = r"(?:which(?:\s+one)?(?:\s+of\s+(?:them|these|those|the\s+two))?|what|who)"
_FIRST_EN = re.compile(
    rf"^(?P<items>.+?)\s*[:,;–—-]\s*{_WHICH_EN}\s+(?P<what>{_PREDICATE_EN})$", re.IGNORECASE
)
_LAST_EN = re.compile(rf"^{_WHICH_EN}\s+(?P<what>{_PREDICATE_EN})\s*[:,;–—]\s*(?P<items>.+)$", re.IGNORECASE)
_OR_EN = re.compile(
    rf"^(?:is|are|was|were|do|does|did|has|have)\s+(?P<items>.+?\s+or\s+.+?)\s+(?P<what>{_PREDICATE_EN})$",
    re.IGNORECASE,
)
_QUALITY_EN = re.compile(
    r"^(?:(?P<verb>\w+)\s+)?(?:the\s+|a\s+)?(?P<degree>more|less|fewer|higher|lower|longer|shorter|larger|smaller|better|greater|worse)\s+(?P<of>.+)$",
    re.IGNORECASE,
)
_BE: Final = re.compile(r"^(?:is|are|was|were)\s+", re.IGNORECASE)

_WHICH_ZH: Final = r"(?:哪一?[个种款家座项台条类方份艘辆位]|哪者|谁|何者)"
_MARK_ZH: Final = r"(?:更加?|最|比较|较)"
_FIRST_ZH = re.compile(
    rf"^(?P<items>.+?)(?:这?[两二三四五几]?[者个种]?(?:相比|比较|对比|之间|之中|当中|中|里))?[，,：:]?\s*{_WHICH_ZH}(?:的)?"
    rf"(?P<what>[^，,。]*?{_MARK_ZH}.+)$"
)
_LAST_ZH = re.compile(
    rf"^{_WHICH_ZH}[^更最较，,：:]{{0,6}}?(?P<what>{_MARK_ZH}[^，,：:]+)[，,：:]\s*(?P<items>.+)$"
)
_OR_ZH = re.compile(rf"^(?P<items>.+?还是.+?)(?P<what>{_MARK_ZH}[^，,。]+)$")
_ONE_ZH = re.compile(rf"^(?P<of>.*?){_MARK_ZH}(?P<how>.+?)(?:一些|一点|些|点)?(?:呢|吗)?$")
_ASKED = re.compile(r"什么|哪|谁|多少|怎|为何|\b(?:which|what|who|how|why|when|where)\b", re.IGNORECASE)


def read_choice(text: str, listed: tuple[str, ...]) -> CompareTask | None:
    """Read a question that asks which of several named things has more or less of something.

    >>> read_choice("Which is cheaper, A or B?", ()).aspects, read_choice("甲和乙哪个寿命更长？", ()).items
    (('cost',), ('甲', '乙'))
    """
    if len(listed) > 1:
        return None
    body = ": ".join(part.strip(" 。.?？!！;；:：") for part in (text, *listed))
    chinese = re.search(f"[{CJK}]", body) is not None
    for pattern in (_FIRST_ZH, _LAST_ZH, _OR_ZH) if chinese else (_FIRST_EN, _LAST_EN, _OR_EN):
        match = pattern.match(body)
        items = enumeration(match["items"]) if match else ()
        if match and len(items) > 1 and not any(_ASKED.search(item) for item in items):
            aspects = _aspects_zh(match["what"]) if chinese else _aspects_en(match["what"])
            return CompareTask(items=items, aspects=aspects)
    return None


def _aspects_en(what: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_aspect_en(part) for part in enumeration(_BE.sub("", what))))


def _aspect_en(what: str) -> str:
    plain = _BE.sub("", what.strip())
    verb = plain.split()[0].casefold()
    if verb in _NOUNS_OF_VERBS and len(plain.split()) == 2:
        return _NOUNS_OF_VERBS[verb]
    quality = _QUALITY_EN.match(plain)
    named = quality["of"].strip() if quality else plain
    return _ASPECTS_EN.get(named.casefold(), named)


def _aspects_zh(what: str) -> tuple[str, ...]:
    parts = re.split(rf"[、，,和且又并]+(?=[^、，,]*{_MARK_ZH})", what)
    return tuple(dict.fromkeys(_aspect_zh(part) for part in parts if part))


def _aspect_zh(what: str) -> str:
    match = _ONE_ZH.match(what)
    if match is None:
        return what
    how = match["how"]
    return match["of"].removesuffix("的") or _ASPECTS_ZH.get(how, how)
