"""Recognise by its form what can answer a question: dates, numbers with units, names of persons and places.

A form that already stands in the question answers nothing. Forms are graded: `STRICT` for one that fits what was
asked for (an amount of money for a price), `LOOSE` for one that may (any number for a count of containers).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import rjieba

from agents.retrieval.tokens import is_cjk, terms
from agents.workers.embedded.asking import OFTEN, AnswerKind, any_of
from agents.workers.embedded.quantities import EARLY_YEAR
from agents.workers.embedded.question import Measure, Question

STRICT: Final = 1.0
LOOSE: Final = 0.85
NONE: Final = 0.0

_ZH_DIGIT = "一二两三四五六七八九十百千万亿零〇"
_MULTIPLES = r"[余多]?(?:[百千万亿]+)?[余多]?"
_NUMBER = re.compile(
    rf"\d+(?:[.,]\d+)*|"
    rf"(?<![{_ZH_DIGIT}第])[{_ZH_DIGIT}]+(?=[人名个位次场项家座条辆架枚块件天年月号艘支届层倍米元吨公只处份套])"
)
_NUMBER_WORDS = any_of(
    "one two three four five six seven eight nine ten eleven twelve dozen twenty thirty forty fifty sixty seventy",
    "eighty ninety hundred thousand million billion half twice once double",
)
_EN_NUMBER = re.compile(rf"\d+(?:[.,]\d+)*|\b(?:{_NUMBER_WORDS})\b", re.IGNORECASE)
_MONTHS = any_of(
    "jan(?:uary)? feb(?:ruary)? mar(?:ch)? apr(?:il)? may june? july? aug(?:ust)? sep(?:t(?:ember)?)? oct(?:ober)?",
    "nov(?:ember)? dec(?:ember)?",
)
_PLAIN_MONTHS = any_of("january february april june july august september october november december")
"""Month names that are no other word; `may` and `march` need a day, a year or a preposition beside them."""
_SPAN_UNIT = r"year|month|week|quarter|day|night|hour|minute|shift|season"
_OFTEN = re.compile(
    rf"\b(?:once|twice)\b|\btimes\b|\b(?:a|an|per|each|every)\s+(?:\w+\s+){{0,2}}?(?:{_SPAN_UNIT})s?\b|"
    r"\b(?:hourly|daily|nightly|weekly|fortnightly|monthly|quarterly|yearly|annually|annual|biannual(?:ly)?)\b|"
    r"每(?:隔)?\s*(?:[\d一二两三四五六七八九十半]+\s*个?)?(?:年|季度?|月|周|星期|天|日|小时|班|次)|"
    r"(?:[\d一二两三四五六七八九十半]+\s*个?(?:年|月|周|天|日|小时))\s*[一\d]次|[按逐](?:年|季|月|周|日)|"
    r"[年月周日](?:度)?[一二两三四\d]次",
    re.IGNORECASE,
)
"""How often something is done."""
_BARE_YEAR = r"(?:19|20)\d{2}\s*年|\b(?:19|20)\d{2}\b"
DATE: Final = (
    r"(?:\d{4}\s*年)?\s*\d{1,2}\s*月\s*(?:\d{1,2}\s*[日号]|底|初|中旬|上旬|下旬)?|(?:19|20)\d{2}[-/.]\d{1,2}[-/.]\d{1,2}|"
    r"\d{1,2}[日号](?!线)|\d{1,2}[:：]\d{2}|\d{1,2}\s*[点时](?:\d{1,2}分|半|整)?|"
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:{_MONTHS})\b\.?(?:,?\s+\d{{4}})?|"
    rf"\b(?:{_MONTHS})\b\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}})?|\b(?:{_MONTHS})\b\.?,?\s+\d{{4}}|"
    rf"\b(?:{_PLAIN_MONTHS})\b|\b(?:in|since|until|from|by|of|to|each|every)\s+(?-i:May|March)\b|"
    rf"\bat (?:{any_of('one two three four five six seven eight nine ten eleven twelve noon midnight')})\b|"
    rf"[{_ZH_DIGIT}]{{1,3}}点(?:钟|半|整|(?=[^{_ZH_DIGIT}\d])|$)|"
    r"\b\d{1,2}(?::\d{2})?\s*(?:a\.?m\.?|p\.?m\.?)|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|"
    r"星期[一二三四五六日天]|周[一二三四五六日]"
)
_EXACT_TIME = re.compile(DATE, re.IGNORECASE)
_EARLY_YEAR = r"(?<!\d)1[0-8]\d{2}\s*年(?![的多来余]|历史)|" + EARLY_YEAR.replace("(?P<y>", "(?:")
_TIME = re.compile(f"{DATE}|{_BARE_YEAR}|{_EARLY_YEAR}", re.IGNORECASE)
_DURATION = re.compile(
    rf"(?:\d+(?:[.,]\d+)?|[{_ZH_DIGIT}半]+)\s*个?(?:多)?(?:年|个月|月|周|星期|天|日|小时|时|分钟|分|秒|毫秒)(?!\d)|"
    r"(?:\d+(?:[.,]\d+)?|\b(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|half)\b)[\s-]*"
    r"(?:years?|months?|weeks?|days?|hours?|minutes?|mins?|seconds?|secs?|ms|milliseconds?|h|s)\b",
    re.IGNORECASE,
)
_LENGTHS = any_of(
    "米 公里 千米 厘米 毫米 里 mm cm km m metres? meters? kilomet(?:re|er)s? miles? feet ft inch(?:es)?"
)
_AMOUNT = r"\d+(?:[.,]\d+)*\s*"
_MEASURES: Final[dict[Measure, re.Pattern[str]]] = {
    "percent": re.compile(
        rf"{_AMOUNT}(?:%|％|‰|个百分点|per ?cent)|[百千]分之[{_ZH_DIGIT}点]+|[{_ZH_DIGIT}]成", re.IGNORECASE
    ),
    "money": re.compile(
        rf"[$€£¥￥]\s*\d|{_AMOUNT}{_MULTIPLES}\s*(?:人民币|美元|欧元|日元|港元|英镑|元|块钱)|[{_ZH_DIGIT}]+\s*元|"
        rf"{_AMOUNT}[百千]?[万亿]|"
        rf"{_AMOUNT}(?:(?:thousand|million|billion|trillion|m|bn|k)\s*)?(?:dollars?|euros?|pounds?|yuan|usd|eur|gbp|rmb|cny)\b|"
        r"\b(?:usd|eur|gbp|cny|rmb)\s*\d",
        re.IGNORECASE,
    ),
    "length": re.compile(
        rf"{_AMOUNT}(?:{_LENGTHS})(?![a-z²³])|[{_ZH_DIGIT}]+(?:米|公里|千米)",
        re.IGNORECASE,
    ),
    "mass": re.compile(
        rf"{_AMOUNT}[百千万亿]*(?:{any_of('吨 公斤 千克 克 kg g mg t tonnes? tons? pounds? lbs?')})(?![a-z])",
        re.IGNORECASE,
    ),
    "temperature": re.compile(rf"{_AMOUNT}(?:°|℃|摄氏度|度|degrees?|celsius)", re.IGNORECASE),
    "area": re.compile(
        rf"{_AMOUNT}[百千万亿]*(?:{any_of('平方米 平方公里 公顷 亩 m² km² ha hectares? acres? square')})(?![a-z])",
        re.IGNORECASE,
    ),
}
_COLOUR = re.compile(
    r"\b(?:"
    + any_of(
        "black white gr[ae]y red orange yellow green blue purple violet brown pink silver gold(?:en)? beige turquoise",
        "transparent colou?rless",
    )
    + r")\b|[黑白灰红橙黄绿蓝紫棕褐粉银金青][色的]|透明|无色",
    re.IGNORECASE,
)
_DIMENSIONS: Final = (
    re.compile(r"\b(?:long|length)\b|长"),
    re.compile(r"\b(?:deep|depth)\b|深"),
    re.compile(r"\b(?:high|tall|height)\b|高"),
    re.compile(r"\b(?:wide|width|broad)\b|宽"),
    re.compile(r"\b(?:thick|thickness)\b|厚"),
    re.compile(r"\b(?:far|apart|away|distance)\b|[远距]"),
)
"""In which direction a length is meant."""
_EN_NAME = re.compile(
    r"\b[A-Z][a-z'’\-]+(?:\s+(?:(?:[A-Z]\.|de|van|von|der|da|al|bin)\s+)*[A-Z][A-Za-z'’\-]+)+"
)
_TRANSLITERATED = re.compile(r"[\u4e00-\u9fff]{1,6}[·•][\u4e00-\u9fff·•]{1,10}")
_HONORIFIC = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof)\.?\s+[A-Z]\w+")
_LOCALITY = re.compile(
    r"\b(?:"
    + any_of(
        "Street Road Avenue Lane Square Bridge River Lake Hill Hills Mountain Mountains Valley Park Station Airport",
        "Bay Island Islands Lock Canal Harbour Port Beach Forest Field Fields Gate Court House Hall Tower",
        "Building Terrace",
    )
    + r")$"
)
"""The last word of the name of a place, which is no person's."""
_ACTOR = re.compile(
    r"\b(?:"
    + any_of(
        "compan(?:y|ies) council board committee ministry department bank agency authority association utility firm",
        "government city municipality parish county state university institute foundation union cooperative club",
        "police army court church insurer contractors? suppliers? operators? owners? tenants? landlords? farmers?",
        "managers? directors? engineers? doctors? teachers? officers? leads? heads? chairs? treasurers?",
        "secretar(?:y|ies) teams? famil(?:y|ies) members? residents? neighbours? neighbors? staff brigade service",
    )
    + r")\b|公司|集团|银行|委员会|政府|局(?![部限势面])|协会|学会|中心|医院|大学|学院|部门|村委会|居委会|合作社|业主|"
    r"承包商|供应商|经理|主任|局长|班组|物业|负责人",
    re.IGNORECASE,
)
"""Who can act without a name of their own: the common nouns for organisations and roles."""
_PLACE_EN = re.compile(
    r"\b(?:in|at|on|near|from|to|of|along|north|south|east|west)\s+(?:the\s+)?[A-Z][\w'’\-]+"
)
_TABLE_ROW = re.compile(r"^\s*\|.*\|\s*$", re.DOTALL)


def form_strength(question: Question, text: str) -> float:
    """Return how far `text` holds a form that can answer `question`: `STRICT`, `LOOSE` or `NONE`.

    `STRICT` for kinds that have no form: only times, durations, numbers, persons and places have one.
    """
    if OFTEN.search(question.text):
        return STRICT if any(_new(question, text, _OFTEN)) else NONE
    match question.kind:
        case AnswerKind.TIME:
            return _time(question, text)
        case AnswerKind.DURATION:
            return STRICT if any(_new(question, text, _DURATION)) else NONE
        case AnswerKind.NUMBER:
            return _number(question, text)
        case AnswerKind.PERSON:
            return _person(question, text)
        case AnswerKind.COLOUR:
            return STRICT if any(_new(question, text, _COLOUR)) else NONE
        case AnswerKind.PLACE:
            return STRICT if any(_places(question, text)) else NONE
        case _:
            return STRICT


def names_date(text: str) -> bool:
    """Return whether `text` holds a date that is more than a year or a time of day."""
    return any(re.search(r"[^\W\d]|[-/]", match.group()) for match in _EXACT_TIME.finditer(text))


def _time(question: Question, text: str) -> float:
    """A bare year answers *which year*; to *when* it may."""
    if any(_new(question, text, _EXACT_TIME)):
        return STRICT
    if any(_new(question, text, _TIME)):
        return STRICT if question.year_asked else LOOSE
    return NONE


def _in_another_direction(question: Question, text: str) -> bool:
    """Say whether a text gives a length in a direction that is not the one asked for, and not in that one."""
    asked = [pattern for pattern in _DIMENSIONS if pattern.search(question.text.casefold())]
    if not asked or any(pattern.search(text.casefold()) for pattern in asked):
        return False
    return any(pattern.search(text.casefold()) for pattern in _DIMENSIONS)


def _number(question: Question, text: str) -> float:
    if question.measure == "length" and _in_another_direction(question, text):
        return NONE
    if question.measure:
        if any(_new(question, text, _MEASURES[question.measure])):
            return STRICT
        # In a table the unit stands in the header.
        tabled = bool(_TABLE_ROW.match(text)) or question.measure not in {"percent", "money"}
        return LOOSE if tabled and any(_counts(question, text)) else NONE
    if not question.counted:
        return STRICT if any(_counts(question, text)) else NONE
    grades = [_counts_what(question, text, end) for end in _counts(question, text)]
    return max(grades, default=NONE)


def _counts(question: Question, text: str) -> Iterator[int]:
    """Yield where numbers end that are no dates."""
    dates = [match.span() for match in _TIME.finditer(text)]
    pattern = _NUMBER if question.lang == "zh" else _EN_NUMBER
    for start, end in _new(question, text, pattern):
        if not any(a <= start < b for a, b in dates):
            yield end


def _counts_what(question: Question, text: str, end: int) -> float:
    """Say whether what follows a number is what the question counts."""
    if question.lang == "zh":
        after = re.sub(rf"^{_MULTIPLES}", "", text[end : end + 16])
        return (
            STRICT if any(after.startswith(part) or part in after[:6] for part in question.counted) else LOOSE
        )
    after_terms = terms(" ".join(text[end : end + 60].split()[:4]))
    return STRICT if set(after_terms) & set(terms(question.counted[0])) else LOOSE


def _new(question: Question, text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    asked = _squeezed(question.text)
    years = {f"{year}年" for year in question.years}
    for match in pattern.finditer(text):
        found = _squeezed(match.group())
        if found and found not in asked and found not in years:
            yield match.span()


def _person(question: Question, text: str) -> float:
    """A name answers; an organisation or a role may: `the bank`, `the site manager`."""
    if any(persons(question, text)):
        return STRICT
    return LOOSE if any(actors(question, text)) else NONE


def actors(question: Question, text: str) -> Iterator[tuple[int, int]]:
    """Yield where organisations and roles stand in `text` that the question does not name itself."""
    asked = question.text.casefold()
    for match in _ACTOR.finditer(text):
        if match.group().casefold() not in asked:
            yield match.span()


def persons(question: Question, text: str) -> Iterator[tuple[int, int]]:
    """Yield where names of persons stand in `text` that the question does not name itself."""
    asked = question.text
    for start, end, tag in _tagged(text) if is_cjk(text) else ():
        if tag.startswith("nr") and end - start > 1 and text[start:end] not in asked:
            yield start, end
    for pattern in (_TRANSLITERATED, _EN_NAME, _HONORIFIC):
        for match in pattern.finditer(text):
            if match.group() not in asked and not _LOCALITY.search(match.group()):
                yield match.span()


def _places(question: Question, text: str) -> Iterator[tuple[int, int]]:
    asked = question.text
    for start, end, tag in _tagged(text) if is_cjk(text) else ():
        if tag in {"ns", "nt", "s"} and end - start > 1 and text[start:end] not in asked:
            yield start, end
    for pattern in (_PLACE_EN, _EN_NAME):
        for match in pattern.finditer(text):
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
