"""Read numbers, dates and negations out of a sentence, in English and Chinese.

Rules with stated limits: a number written in words or in Chinese numerals is understood where evidence is read and
demanded of a statement only when it is unmistakable; units are compared as written, never converted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal

from agents.dates import DATES, Day, day_of

MAX_DIGITS = 40
"""Longer runs of digits are identifiers, not quantities."""

_EN_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12, "mn": 6, "bn": 9}
_ZH_SCALES = {"十": 1, "百": 2, "千": 3, "万": 4, "亿": 8}
_SHORT_SCALES = {"k": 3, "m": 6, "b": 9}
"""May be a scale or a unit (`12m`): both readings are kept."""
_SMALL = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty"""
_TENS = "thirty forty fifty sixty seventy eighty ninety"
_WORDS = {word: value for value, word in enumerate(_SMALL.split())} | {
    word: value * 10 for value, word in enumerate(_TENS.split(), start=3)
}
_ZH_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_YEAR = re.compile(
    r"(?<![\w.,/])(?P<y>(?:1[5-9]|20)\d\d)"
    r"(?![\w%‰万亿千百]|[.,]\d|\s*[A-Za-z]+/|\s*(?:[kKMGT]?Wh?|k?m|kg|t)\b|\s*[万亿千百吨元公米兆])",
    re.ASCII,
)

_NAMED = re.compile(
    r"(?<![\w.])(?:[A-Za-z]+[-_.]?\d[\w.-]*\w|[A-Za-z]+\d|\d+(?:[.:]\d+){2,}|\d{1,2}:\d\d)(?!\w)", re.ASCII
)
_NUMBER = re.compile(
    r"(?:(?<![^\s(（:：|])(?P<sign>[-−]))?(?<![\w.])"
    r"(?P<digits>\d{1,3}(?:[,，]\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?)",
    re.ASCII,
)
_AFTER = re.compile(
    rf"\s*(?:(?P<en>{'|'.join(_EN_SCALES)})\b|(?P<zh>[十百千万亿]+)|(?P<short>[kKmMbB])\b)?"
    r"\s*(?P<pp>个百分点|百分点|percentage points?\b)?"
    r"(?P<percent>[%％]|percent\b|per cent\b)?"
    r"(?P<unit>[A-Za-zµ°€$£¥²³]+(?:/[A-Za-z]+)?|(?:平方|立方)?(?:公里|千米|厘米|毫米|米)|"
    r"(?:千瓦时|兆瓦时|千瓦|兆瓦|公斤|千克|[吨元年月日天时分秒人名座辆台家个次条户亩升克里度]))?",
    re.IGNORECASE | re.ASCII,
)
_CURRENCY_BEFORE = re.compile(r"([€$£¥])\s*$")
_ZH_NUMERAL = re.compile(
    r"百分之(?P<hundredths>[零〇一二两三四五六七八九十百]+)|(?P<plain>[零〇一二两三四五六七八九十百千万亿]+)"
)
_EN_WORD = re.compile(
    rf"\b(?P<a>{'|'.join(_WORDS)})(?:[- ](?P<b>one|two|three|four|five|six|seven|eight|nine))?\b"
    rf"(?:\s+(?P<scale>{'|'.join(_EN_SCALES)})\b)?",
    re.IGNORECASE | re.ASCII,
)

_EN_NEGATION = re.compile(
    r"\b(?:not|never|none|neither|nor|without|cannot|nobody|nothing|nowhere|hardly|barely|lacks?|lacking)\b"
    r"|n['’]t\b|\bno\b(?!\.?\s*\d)|\bfail(?:s|ed)?\s+to\b",
    re.IGNORECASE | re.ASCII,
)
_ZH_HARMLESS = re.compile(
    "不仅|不但|不断|不同|不过|不少|不久|不管|不论|不锈钢|不动产|不时|不妨|不禁|不得不|差不多|无论|无线|无人机|无数|无非|无疑|"
    "非常|非洲|未来|否则|是否|能否|可否|除非|莫斯科|勿忘"
)
_ZH_NEGATION = re.compile("[不没未无非否勿莫]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number as it stands in a text."""

    text: str
    readings: frozenset[Decimal]
    """The values that it may mean; several when a letter may be scale or unit."""
    mantissa: Decimal
    exponent: int = 0
    """Power of ten of the scale word that follows."""
    unit: str = ""
    """`%`, `pp` for percentage points, else what follows, case-folded; a currency sign counts wherever it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantities:
    """What of a text must not change when it is repeated."""

    numbers: tuple[Number, ...] = ()
    """Written in digits, or in unmistakable Chinese numerals; dates and names left out."""
    dates: tuple[Day, ...] = ()
    names: frozenset[str] = frozenset()
    """Identifiers, versions and times of day: letters with digits, dotted and colon-separated digits, case-folded."""
    negated: bool = False
    spelt: frozenset[Decimal] = field(default=frozenset(), repr=False)
    """Values of numbers in words: good as evidence, too ambiguous to be demanded."""


def quantities_of(text: str) -> Quantities:
    """Return the numbers, dates, names and negation of `text`.

    >>> found = quantities_of("Output fell by 12% to 1.2 million kWh on 5 March 2024, not 2023.")
    >>> [(number.text, number.unit) for number in found.numbers]
    [('12', '%'), ('1.2', 'kwh')]
    >>> found.dates
    (Day(year=2024, month=3, day=5), Day(year=2023, month=None, day=None))
    >>> found.negated
    True
    """
    rest = fold_width(text)
    dates, rest = _take_dates(rest, DATES)
    names = frozenset(match.group().casefold() for match in _NAMED.finditer(rest))
    years, digits = _take_dates(_NAMED.sub(_blank, rest), (_YEAR,))
    numerals, spelt = _chinese(digits)
    return Quantities(
        numbers=(*_digit_numbers(digits), *numerals),
        dates=tuple(day for _, day in sorted((*dates, *years), key=_offset)),
        names=names,
        negated=negated(text),
        spelt=frozenset(spelt | _english_words(digits)),
    )


def negated(text: str) -> bool:
    """Return whether `text` holds a word of negation.

    >>> [negated(t) for t in ("It is not safe.", "No. 5 is safe.", "不安全", "非常安全", "不仅安全")]
    [True, False, True, False, False]
    """
    return bool(_EN_NEGATION.search(text) or _ZH_NEGATION.search(_ZH_HARMLESS.sub("", text)))


def fold_width(text: str) -> str:
    """Return `text` with full-width ASCII forms and spaces in their usual form, at the same offsets."""
    return text if text.isascii() else text.translate(_WIDTH)


_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F) if chr(code) not in "，、。！？；："} | {
    0x3000: 0x20
}


def _take_dates(text: str, patterns: tuple[re.Pattern[str], ...]) -> tuple[list[tuple[int, Day]], str]:
    found: list[tuple[int, Day]] = []
    for pattern in patterns:
        dated = [(match, day) for match in pattern.finditer(text) if (day := day_of(match)) is not None]
        found.extend((match.start(), day) for match, day in dated)
        for match, _ in dated:
            text = text[: match.start()] + _blank(match) + text[match.end() :]
    return found, text


def _blank(match: re.Match[str]) -> str:
    # No space: the hyphen of `2024-13` must not look like a sign behind it.
    return "\ufffc" * len(match.group())


def _offset(entry: tuple[int, Day]) -> int:
    return entry[0]


def _digit_numbers(text: str) -> list[Number]:
    return [_number(text, match) for match in _NUMBER.finditer(text) if len(match["digits"]) <= MAX_DIGITS]


def _number(text: str, match: re.Match[str]) -> Number:
    mantissa = Decimal(("-" if match["sign"] else "") + re.sub("[,，]", "", match["digits"]))
    after = _AFTER.match(text, match.end())
    exponent, readings, unit = 0, {mantissa}, ""
    if after:
        if after["en"]:
            exponent = _EN_SCALES[after["en"].lower()]
        elif after["zh"]:
            exponent = sum(_ZH_SCALES[char] for char in after["zh"])
        if after["short"]:
            readings.add(scaled(mantissa, _SHORT_SCALES[after["short"].lower()]))
            unit = after["short"].casefold()
        if exponent:
            readings = {scaled(mantissa, exponent)}
        unit = _unit(after) or unit
    currency = _CURRENCY_BEFORE.search(text, max(0, match.start() - 3), match.start())
    return Number(
        text=match.group(),
        readings=frozenset(readings),
        mantissa=mantissa,
        exponent=exponent,
        unit=currency[1] if currency else unit,
    )


def _unit(after: re.Match[str]) -> str:
    if after["pp"]:
        return "pp"
    return "%" if after["percent"] else (after["unit"] or "").casefold()


def scaled(value: Decimal, exponent: int) -> Decimal:
    """Return `value x 10^exponent`, exactly."""
    sign, digits, power = value.as_tuple()
    return Decimal((sign, digits, int(power) + exponent))


def _chinese(text: str) -> tuple[list[Number], set[Decimal]]:
    demanded: list[Number] = []
    spelt: set[Decimal] = set()
    for match in _ZH_NUMERAL.finditer(text):
        percent = match["hundredths"]
        value = _chinese_value(percent or match["plain"])
        if value is None:
            continue
        spelt.add(value)
        if percent or _unmistakable(text, match):
            number = Number(
                text=match.group(), readings=frozenset({value}), mantissa=value, unit="%" if percent else ""
            )
            demanded.append(number)
    return demanded, spelt


def _unmistakable(text: str, match: re.Match[str]) -> bool:
    """Two or more numerals with a scale among them: 十分 and 一些 are words, 三十二 is a number."""
    plain = match["plain"]
    after_digit = match.start() > 0 and text[match.start() - 1].isdigit()
    return (
        not after_digit
        and len(plain) > 1
        and plain[0] in "一二两三四五六七八九十"
        and any(c in _ZH_SCALES for c in plain)
    )


def _chinese_value(numeral: str) -> Decimal | None:
    if all(char in _ZH_DIGITS for char in numeral):
        return Decimal("".join(str(_ZH_DIGITS[char]) for char in numeral))
    total = section = digit = 0
    for char in numeral:
        if char in _ZH_DIGITS:
            digit = _ZH_DIGITS[char]
        elif char in "十百千":
            section += (digit or 1) * 10 ** _ZH_SCALES[char]
            digit = 0
        else:
            total = (total + (section + digit or 1)) * 10 ** _ZH_SCALES[char]
            section = digit = 0
    return Decimal(total + section + digit) if len(numeral) <= MAX_DIGITS else None


def _english_words(text: str) -> set[Decimal]:
    found: set[Decimal] = set()
    for match in _EN_WORD.finditer(text):
        value = Decimal(_WORDS[match["a"].lower()] + (_WORDS[match["b"].lower()] if match["b"] else 0))
        found.add(scaled(value, _EN_SCALES[match["scale"].lower()]) if match["scale"] else value)
    return found
