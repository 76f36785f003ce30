"""Find the conditions of a goal: limits of length, format and time, prohibitions, leave to stay open."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from agents.planning.clauses import enumeration
from agents.planning.language import CJK

_NUMBER_EN: Final = r"(?:\d[\d,]*|one|two|three|four|five|six|seven|eight|ten|a dozen)"
_UNIT_EN: Final = (
    r"(?:words?|characters?|sentences?|paragraphs?|pages?|bullet points?|bullets?|lines?|points?)"
)
_NUMBER_ZH: Final = r"(?:\d[\d,]*|[一二两三四五六七八九十百千几]+)"
_UNIT_ZH: Final = r"(?:个?字(?:符)?|个?词|句话?|段(?:话)?|页|行|条|个要点|点(?!钟|半|\d))"
_SOURCES_EN: Final = r"(?:the\s+|these\s+|my\s+|our\s+)?(?:notes?|sources?|documents?|files?|folder|material)"
_SOURCES_ZH: Final = r"(?:这些|上述|所给|给定|提供的|我的)?(?:笔记|资料|材料|文档|文件夹?|来源)"

_LIMITS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:,\s*)?(?:\b(?:keep it\s+)?(?:in|within|under|below|using|to)\s+)?\b(?:at most|no more than"
        rf"|not more than|up to"
        rf"|a maximum of|maximum|less than|fewer than|about|around|roughly|under|below)\s+{_NUMBER_EN}\s+{_UNIT_EN}"
        r"(?:\s+(?:each|long|in total))?",
        rf"(?:,\s*)?\b(?:keep it\s+)?(?:in|within)\s+{_NUMBER_EN}\s+{_UNIT_EN}(?:\s+each)?",
        rf"[，,]?\s*(?:请)?(?:全文|总共|每[个条项题])?(?:控制在|限制?在|用|以)?(?:不超过|不多于|不得超过"
        rf"|最多|至多|少于|大约|大概|约)"
        rf"\s*{_NUMBER_ZH}\s*{_UNIT_ZH}(?:以内|之内|左右)?",
        rf"[，,]?\s*(?:请)?(?:全文|总共|每[个条项题])?(?:控制在|限制?在|用|以)?\s*{_NUMBER_ZH}\s*{_UNIT_ZH}"
        rf"(?:以内|之内|以下|左右)",
        rf"[，,]?\s*(?:请)?[用以]\s*{_NUMBER_ZH}\s*{_UNIT_ZH}",
        r"(?:,\s*)?\b(?:as|in)\s+(?:a\s+)?(?:markdown|json|csv|html|plain text|bullet points?|bullets"
        r"|bulleted list|bullet list)\b",
        r"[，,]?\s*(?:请)?(?:以|用|按)\s*(?:Markdown|JSON|CSV|HTML|列表|要点|条目|分点)\s*(?:的?(?:形式|格式|方式))?"
        r"(?:给出|输出|呈现|列出|回答)?",
        r"(?:,\s*)?\b(?:answer|reply|respond|write|please)?\s*\bin (?:english|chinese|simplified chinese|mandarin)\b",
        r"[，,]?\s*(?:请)?用(?:中文|英文|英语|汉语|简体中文)(?:来)?(?:回答|作答|书写|撰写|输出|写)?",
        rf"(?:,\s*)?\b(?:(?:use|using|rely on|relying on|based on|from)\s+(?:only|nothing but)|(?:only"
        rf"|solely|strictly|exclusively)"
        rf"\s+(?:use|using|from|based on|on the basis of|with|on))\s+{_SOURCES_EN}",
        rf"[，,]?\s*(?:请)?(?:仅|只|只能|完全|严格)(?:根据|依据|依照|按照?|使用|用|从|凭){_SOURCES_ZH}(?:来"
        rf"|中|里)?(?:回答|作答)?",
        r"(?:,\s*)?\b(?:deliver(?:ed)?|finish(?:ed)?|complete(?:d)?|due|ready|submit(?:ted)?"
        r"|needed)\b[^.?!;]{0,30}\b(?:by|before|until)\b"
        r"[^.?!;,]{1,40}",
        r"[，,]?\s*(?:请)?(?:务必)?(?:在|于)?[^，。？！；]{1,15}(?:之前|以前|前)(?:完成|交付|提交|给我|交给我)",
        r"^(?:please\s+)?(?:keep it|be|make it)\s+(?:short|brief|concise|simple|formal|precise)\b[^.?!;]*",
        r"[，,]?\s*(?:请)?(?:尽量|保持)?(?:简短|简洁|简明扼要|言简意赅)(?:一点|一些)?$",
        r"^(?:please\s+)?(?:cite|quote|give|include|name)\s+(?:all |your |the |every )?(?:sources?"
        r"|citations?|references?)\b[^.?!;]*",
        r"^(?:请)?(?:务必)?(?:注明|标明|附上|给出|列出)(?:所有)?(?:出处|来源|引用)",
    )
)

_PROHIBITION: Final = (
    re.compile(
        r"(?:^|[,;]\s*|\b(?:and|but)\s+)(?:please\s+)?(?P<body>(?:do not|don['’]t|never|must not|avoid"
        r"|refrain from)\s+[^.;?!]+)",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?:^|,?\s+)(?P<body>without\s+(?:using|relying|drawing|touching|mentioning|including|discussing"
        r"|going)\b[^.,;?!]*)",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?:^|[，,；]\s*|但|并且?)(?:请)?(?P<body>(?:不要|不得|禁止|切勿|请勿|勿|别(?!的|人|处|名|称)"
        r"|避免|不能(?=使?用|涉及|提)"
        r"|不可(?=使?用|涉及)|不(?=涉及|使用|引用|讨论|谈))[^。；？！，,]+)"
    ),
)
_UNRESOLVED: Final = (
    re.compile(
        rf"(?:^|[,;]\s*|\band\s+)(?:if|where|when)\s+(?:{_SOURCES_EN}|it|they|an?\s+answer|something"
        rf"|anything|nothing|a question|you)"
        r"\b[^.;?!]{0,60}?(?:,|\bthen\b|\bjust\b|\bplease\b)?\s*(?:say|tell|state|leave|mark|list|write"
        r"|note|report|admit)\b[^.;?!]*",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:say so|say that)\s+(?:if|where|when)\b[^.;?!]*(?:{_SOURCES_EN}|answer|found|missing)[^.;?!]*",
        re.IGNORECASE,
    ),
    re.compile(
        r"[，,]?\s*(?:并且?|再|最后|同时|然后)?(?:请)?(?:列出|列明|标出|标明|注明)(?:所有|全部|仍|尚|其中)*(?:的)?"
        r"(?:未解决|未决|悬而未决|没有答案|未回答|无法回答|待解决|开放)(?:的)?(?:问题|事项|疑问)?"
    ),
    re.compile(r"\b(?:leave|list)\s+[^.;?!]{0,40}\b(?:open|unanswered)\b[^.;?!]*", re.IGNORECASE),
    re.compile(
        r"[，,]?\s*(?:如果|若|如|要是|倘若)?[^。；？！，,]{0,16}(?:没有(?!必要)(?:提到|提及|说明|写到|记载"
        r"|答案|涉及)?|没提到?|未提及?|未提到|未说明|找不到|查不到|没写"
        r"|无法回答|不清楚|没有说明|没说|缺失)(?:的|的话|答案|记载|依据|信息|相关内容|时)*[，,]?\s*(?:就"
        r"|则|请|便|也请)*"
        r"(?:明确|直接|如实)?(?:说明|直说|指出|注明|写明|标明|标注|说没有|说不知道|说明没有|列出|列为|留空"
        r"|告诉我|告知)[^。；？！]*"
    ),
)

_DANGLING = re.compile(
    r"[\s,;，；]*(?:\b(?:and|then)(?:\s+then)?|并且?|且|同时|再|然后|最后)\s*(?=[.。]*\s*$)", re.IGNORECASE
)
"""What joined a condition to the sentence that it has been taken from."""

_TOUCH_EN = re.compile(
    r"^(?:do not|don['’]t|never|must not|avoid|refrain from|without)\s+(?:us(?:e|ing)|rely(?:ing)? on|draw"
    r"(?:ing)? (?:up)?on|touch(?:ing)?(?: on)?"
    r"|mention(?:ing)?|includ(?:e|ing)|discuss(?:ing)?|go(?:ing)? into|talk(?:ing)? about|consider(?:ing)?|any)?\s*",
    re.IGNORECASE,
)
_FIELD_EN = re.compile(
    r"\b(?:any|your|own|outside|background|knowledge|know-how|information|materials?|arguments?"
    r"|considerations?|aspects?|domains?"
    r"|fields?|topics?|matters?|issues?|questions?|the|of|from|about)\b",
    re.IGNORECASE,
)
_TOUCH_ZH = re.compile(
    r"^(?:不要|不得|禁止|切勿|请勿|勿|别|避免|不能|不可|不)(?:使用|动用|运用|用到?|涉及|引用|依赖|讨论"
    r"|谈论|谈|提及|提到?|借助|考虑|写)*"
)
_FIELD_ZH = re.compile(r"(?:任何|有关|相关|领域|方面|范畴|的?知识|的?内容|的?信息|的?资料|的?观点|的?问题)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """A sentence without its conditions, and the conditions."""

    rest: str
    constraints: tuple[str, ...] = ()
    prohibitions: tuple[str, ...] = ()
    unresolved_allowed: bool = False


def find_conditions(sentence: str) -> Conditions:
    """Take the conditions out of a sentence; what is left asks for the work itself.

    >>> find_conditions("Compare A and B in under 200 words.").rest
    'Compare A and B.'
    """
    rest = sentence
    unresolved: list[str] = []
    prohibitions: list[str] = []
    constraints: list[str] = []
    asks = sentence.rstrip().endswith(("?", "？"))
    for pattern in _UNRESOLVED:
        rest = _take(pattern, rest, unresolved, _conditional if asks else _anywhere)
    for pattern in _PROHIBITION:
        rest = _take(pattern, rest, prohibitions, _at_an_end if asks else _anywhere)
    for pattern in _LIMITS:
        rest = _take(pattern, rest, constraints, _at_an_end if asks else _anywhere)
    if unresolved or prohibitions or constraints:
        rest = _DANGLING.sub("", rest)
    return Conditions(
        rest=_tidy(rest),
        constraints=tuple(constraints),
        prohibitions=tuple(prohibitions),
        unresolved_allowed=bool(unresolved),
    )


def forbidden_subjects(prohibition: str) -> tuple[str, ...]:
    """Return the subjects that a prohibition names, as words that may name a knowledge domain.

    >>> forbidden_subjects("do not use legal or medical knowledge"), forbidden_subjects("不要使用法律和医学知识")
    (('legal', 'medical'), ('法律', '医学'))
    """
    english = _TOUCH_EN.sub("", prohibition.strip())
    body = english if english != prohibition.strip() else _TOUCH_ZH.sub("", prohibition.strip())
    members = enumeration(body)
    bare = [_FIELD_ZH.sub("", _FIELD_EN.sub(" ", member)) for member in members]
    return tuple(dict.fromkeys(" ".join(word.split()) for word in bare if word.strip()))


def _take(
    pattern: re.Pattern[str], text: str, found: list[str], accepted: Callable[[re.Match[str]], bool]
) -> str:
    """Move every accepted match of `pattern` from `text` to `found`."""

    def keep(match: re.Match[str]) -> str:
        if not match.group(0).strip() or not accepted(match):
            return match.group(0)
        groups = match.groupdict()
        found.append((groups.get("body") or match.group(0)).strip(" ,，;；、"))
        return " "

    return pattern.sub(keep, text)


def _anywhere(_match: re.Match[str]) -> bool:
    return True


def _at_an_end(match: re.Match[str]) -> bool:
    """In a question, `in 200 words` is a condition only before or after the question itself."""
    before, after = match.string[: match.start()], match.string[match.end() :]
    if not before.strip(" ,，;；"):
        return after.lstrip()[:1] in tuple(",，:：;；")
    return not after.strip(" ?？。.")


def _conditional(match: re.Match[str]) -> bool:
    """In a question, leave to stay open has to be given in so many words ("why is there no…" gives none)."""
    return (
        re.match(r"\W*(?:and\s+)?(?:if|where|when|say|如果|若|如|要是|倘若)", match.group(0), re.IGNORECASE)
        is not None
    )


def _tidy(text: str) -> str:
    joined = " ".join(text.split())
    joined = re.sub(r"\s+([,.;:?!，。；：？！、])", r"\1", joined)
    joined = re.sub(rf"(?<=[{CJK}，。；：？！])\s+(?=[{CJK}，。；：？！])", "", joined)
    joined = re.sub(r"[,;，；]+(?=[.。?？!！]*$)", "", joined)
    stripped = joined.strip(" ,，;；、:：")
    return stripped if any(character.isalnum() for character in stripped) else ""
