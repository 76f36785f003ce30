"""Write the numbers that a sentence spells in words as digits, for comparing; nothing of it is shown or quoted."""

from __future__ import annotations

import re
from typing import Final

_WORDS_EN: Final = {
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "thirteen": 13,
    "fourteen": 14,
    "fifteen": 15,
    "sixteen": 16,
    "seventeen": 17,
    "eighteen": 18,
    "nineteen": 19,
    "twenty": 20,
}
_TIMES_EN: Final = {"once": "1 times", "twice": "2 times", "thrice": "3 times"}
_NUMBER_EN = re.compile(rf"\b(?:{'|'.join(_WORDS_EN)})\b(?=\s+[a-z])", re.IGNORECASE)
_OFTEN_EN = re.compile(
    rf"\b(?:{'|'.join(_TIMES_EN)})\b(?=\s+(?:an?|per|every|each|in|daily|weekly|monthly|yearly|annually)\b|\s*[.,;!?]|\s*$)",
    re.IGNORECASE,
)
"""`once` is a number where it says how often, none in `once the line is closed`."""

_DIGITS_ZH: Final = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"两": 2}
_CLASSIFIERS_ZH: Final = (
    "个月|小时|分钟|公斤|千克|[次个种年天周秒间人位名具台套份户层栋座辆艘架倍米吨项条家]"
    "|[张本块只件组批支根万元款排处道车班趟]"
)
_NUMBER_ZH = re.compile(
    rf"(?<![第零一二两三四五六七八九十百千万])[一二两三四五六七八九十]{{1,3}}(?=(?:{_CLASSIFIERS_ZH})(?!性))"
)
_ARTICLE_ZH = re.compile(r"一(?=[个种位名项条家座款块张件组批])")
"""`一个` mostly introduces a thing and counts none."""


def with_digits(text: str) -> str:
    """Return `text` with its spelled numbers as digits, as far as they count or measure something.

    >>> with_digits("Inspected twice a year by two fitters"), with_digits("每年检查两次，每十五天一次")
    ('Inspected 2 times a year by 2 fitters', '每年检查2次，每15天1次')
    """
    told = _OFTEN_EN.sub(lambda match: _TIMES_EN[match[0].casefold()], text)
    told = _NUMBER_EN.sub(lambda match: str(_WORDS_EN[match[0].casefold()]), told)
    return _NUMBER_ZH.sub(_chinese, told)


def _chinese(match: re.Match[str]) -> str:
    word = match[0]
    if _ARTICLE_ZH.match(match.string, match.start()):
        return word
    if "十" not in word:
        return str(_DIGITS_ZH[word]) if len(word) == 1 else word
    tens, _, ones = word.partition("十")
    if len(tens) > 1 or len(ones) > 1:
        return word
    return str(10 * _DIGITS_ZH.get(tens, 1) + _DIGITS_ZH.get(ones, 0))
