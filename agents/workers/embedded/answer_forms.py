"""Recognise by its form what can answer a question: dates, numbers with units, names of persons and places.

A form in the text that already stands in the question answers nothing and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import rjieba

from agents.retrieval.tokens import is_cjk
from agents.workers.embedded.question import AnswerKind, Question

_ZH_DIGIT = "一二两三四五六七八九十百千万亿零〇"
_NUMBER = re.compile(
    rf"\d+(?:[.,]\d+)*|(?<![{_ZH_DIGIT}第])[{_ZH_DIGIT}]+(?=[人名个位次场项家座条辆架枚块件天年月号艘支届层倍米元吨公])"
)
_EN_NUMBER_WORD = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|thirty|forty|fifty|sixty|"
    r"seventy|eighty|ninety|hundred|thousand|million|billion|half|twice|once|double)\b",
    re.IGNORECASE,
)
_MONTHS = "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
_TIME = re.compile(
    rf"(?:\d{{4}}\s*年)?\s*\d{{1,2}}\s*月\s*(?:\d{{1,2}}\s*[日号]|底|初|中旬|上旬|下旬)?|(?:19|20)\d{{2}}\s*年|(?:19|20)\d{{2}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|"
    rf"\d{{1,2}}[日号](?!线)|\d{{1,2}}[:：]\d{{2}}|\d{{1,2}}\s*[点时](?:\d{{1,2}}分|半|整)?|"
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)?\s+)?(?:{_MONTHS})\b\.?(?:\s+\d{{1,2}}(?:st|nd|rd|th)?\b)?(?:,?\s+\d{{4}})?|\b(?:19|20)\d{{2}}\b|"
    r"\b\d{1,2}(?::\d{2})?\s*(?:a\.?m\.?|p\.?m\.?)|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|星期[一二三四五六日天]|周[一二三四五六日]",
    re.IGNORECASE,
)
_DURATION = re.compile(
    rf"(?:\d+(?:[.,]\d+)?|[{_ZH_DIGIT}半]+)\s*个?(?:多)?(?:年|个月|月|周|星期|天|日|小时|时|分钟|分|秒|毫秒)(?!\d)|"
    r"(?:\d+(?:[.,]\d+)?|\b(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|half)\b)[\s-]*"
    r"(?:years?|months?|weeks?|days?|hours?|minutes?|mins?|seconds?|secs?|ms|milliseconds?|h|s)\b",
    re.IGNORECASE,
)
_PERCENT = re.compile(
    rf"\d+(?:\.\d+)?\s*(?:%|％|‰|个百分点|per ?cent|percent)|百分之[{_ZH_DIGIT}点]+|千分之[{_ZH_DIGIT}点]+",
    re.IGNORECASE,
)
_MONEY = re.compile(
    rf"[$€£¥￥]\s*\d|\d+(?:[.,]\d+)*\s*(?:余|多)?(?:[百千万亿]+)?\s*(?:人民币|美元|欧元|日元|港元|英镑|元|块钱)|[{_ZH_DIGIT}]+\s*元|"
    r"\d+(?:[.,]\d+)*\s*(?:[百千]?[万亿])|"
    r"\d+(?:[.,]\d+)*\s*(?:(?:thousand|million|billion|trillion|m|bn|k)\s*)?(?:dollars?|euros?|pounds?|yuan|usd|eur|gbp|rmb|cny)\b|"
    r"\b(?:usd|eur|gbp|cny|rmb)\s*\d",
    re.IGNORECASE,
)
_EN_NAME = re.compile(
    r"\b[A-Z][a-z'’\-]+(?:\s+(?:(?:[A-Z]\.|de|van|von|der|da|al|bin)\s+)*[A-Z][A-Za-z'’\-]+)+"
)
_TRANSLITERATED = re.compile(r"[\u4e00-\u9fff]{1,6}[·•][\u4e00-\u9fff·•]{1,10}")
_HONORIFIC = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof)\.?\s+[A-Z]\w+")
_PLACE_EN = re.compile(
    r"\b(?:in|at|on|near|from|to|of|along|north|south|east|west)\s+(?:the\s+)?[A-Z][\w'’\-]+"
)
_UNIT_FAMILIES: dict[str, str] = {
    "人": r"[余多]?(?:[百千万亿]+)?[余多]?(?:人|名|位|例|死|伤)",
    "名": r"[余多]?(?:[百千万亿]+)?[余多]?(?:人|名|位)",
    "位": r"[余多]?(?:[百千万亿]+)?[余多]?(?:人|名|位)",
}


def answers_by_form(question: Question, text: str) -> bool:
    """Return whether `text` holds a form that can answer `question` and does not stand in the question itself.

    Always true for kinds without a form of their own: only times, durations, numbers, persons and places have one.
    """
    return any(True for _ in forms(question, text))


def forms(question: Question, text: str) -> Iterator[tuple[int, int]]:
    """Yield the character ranges of forms in `text` that can answer `question`; the whole text for other kinds."""
    match question.kind:
        case AnswerKind.TIME:
            yield from _new(question, text, _TIME)
        case AnswerKind.DURATION:
            yield from _new(question, text, _DURATION)
        case AnswerKind.NUMBER:
            yield from _numbers(question, text)
        case AnswerKind.PERSON:
            yield from _persons(question, text)
        case AnswerKind.PLACE:
            yield from _places(question, text)
        case _:
            yield 0, len(text)


def _new(question: Question, text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    asked = _squeezed(question.text)
    for match in pattern.finditer(text):
        found = _squeezed(match.group())
        if found and found not in asked and not any(found == f"{year}年" for year in question.years):
            yield match.span()


def _numbers(question: Question, text: str) -> Iterator[tuple[int, int]]:
    if question.unit == "%":
        yield from _new(question, text, _PERCENT)
    elif question.unit == "money":
        yield from _new(question, text, _MONEY)
    else:
        dates = [match.span() for match in _TIME.finditer(text)] if question.unit not in {"年", "天"} else []
        for start, end in _counted(question, text):
            if not any(a <= start < b for a, b in dates):
                yield start, end


def _counted(question: Question, text: str) -> Iterator[tuple[int, int]]:
    family = _UNIT_FAMILIES.get(question.unit)
    if family:
        yield from _new(question, text, re.compile(rf"(?:\d+(?:[.,]\d+)*|[{_ZH_DIGIT}]+){family}"))
        return
    yield from _new(question, text, _NUMBER)
    if question.lang == "en":
        yield from _new(question, text, _EN_NUMBER_WORD)


def _persons(question: Question, text: str) -> Iterator[tuple[int, int]]:
    asked = question.text
    for start, end, tag in _tagged(text) if is_cjk(text) else ():
        if tag.startswith("nr") and end - start > 1 and text[start:end] not in asked:
            yield start, end
    for pattern in (_TRANSLITERATED, _EN_NAME, _HONORIFIC):
        for match in pattern.finditer(text):
            if match.group() not in asked:
                yield match.span()


def _places(question: Question, text: str) -> Iterator[tuple[int, int]]:
    asked = question.text
    for start, end, tag in _tagged(text) if is_cjk(text) else ():
        if tag in {"ns", "nt", "s"} and end - start > 1 and text[start:end] not in asked:
            yield start, end
    for match in _PLACE_EN.finditer(text):
        if match.group().split()[-1] not in asked:
            yield match.span()


@lru_cache(maxsize=20_000)
def _tagged(text: str) -> tuple[tuple[int, int, str], ...]:
    spans: list[tuple[int, int, str]] = []
    position = 0
    for word, tag in rjieba.tag(text):
        start = text.find(word, position)
        if start >= 0:
            spans.append((start, start + len(word), tag))
            position = start + len(word)
    return tuple(spans)


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text).casefold()
