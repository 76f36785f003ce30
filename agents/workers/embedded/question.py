"""Read a question: its language, what must be matched, and what kind of answer would satisfy it.

Rules over surface forms, English and Chinese. Nothing here looks at notes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from agents.retrieval.tokens import is_cjk, terms
from graphs.contract import Lang


class AnswerKind(StrEnum):
    """What would answer a question."""

    TIME = "time"
    """A date, year, time of day."""
    DURATION = "duration"
    """A length of time."""
    NUMBER = "number"
    """A count, an amount, a rate, a measure."""
    PERSON = "person"
    """Who."""
    PLACE = "place"
    """Where."""
    NAME = "name"
    """Which one: the name of a thing, a team, a company, a title."""
    REASON = "reason"
    """Why."""
    METHOD = "method"
    """How, what to do."""
    POLAR = "polar"
    """Yes or no."""
    LIST = "list"
    """Which ones."""
    OPEN = "open"
    """What is, tell about, anything else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question as the worker understands it."""

    text: str
    lang: Lang
    kind: AnswerKind
    terms: tuple[str, ...]
    """Content terms that the material must be about, in order, each once; words of asking left out."""
    years: tuple[str, ...]
    """Years named in the question, four digits."""
    days: tuple[str, ...]
    """Months, days, quarters and half-years named in the question, as written (Chinese)."""
    names: tuple[str, ...]
    """Quoted titles, identifiers, words with digits or capitals inside: what must not be exchanged."""
    unit: str = ""
    """Unit or counted noun of the number asked for, where the question names one (`人`, `%`, `kwh`)."""


_ASKING_ZH = re.compile(
    r"请问|请告诉我|是什么时候|什么时候|什么时间|何时|哪一天|哪天|哪一年|哪年|几月几[日号]|几点|多少钱|多少|多久|多长时间|"
    r"多长|多高|多大|多远|多重|多快|多深|多宽|为什么|为何|怎么样|怎么办|怎么|怎样|如何|是什么|什么是|什么|哪里|哪儿|何处|"
    r"哪些|哪几|哪[一]?[个家部位支所座届款名种]|在哪|是谁|谁|是否|能否|可否|有没有|能不能|可不可以|是不是|会不会|应该|吗|呢|"
    r"介绍一下|有何|有什么|该?如何处理|(?:主要)?原因|[？?]"
)
_TYPE_WORDS_ZH = re.compile(r"(?:具体)?(?:时间|日期|时候|地点|地方|数量|名字|名称)(?=[是为有？?]|$)")
_ZH_KINDS: tuple[tuple[AnswerKind, re.Pattern[str]], ...] = (
    (AnswerKind.POLAR, re.compile(r"是否|能否|可否|能不能|可不可以|会不会|是不是|有没有|吗[？?]?$")),
    (AnswerKind.REASON, re.compile(r"为什么|为何|为啥|原因|缘故")),
    (
        AnswerKind.DURATION,
        re.compile(r"多久|多长时间|几天|几年|几个月|几个?小时|几分钟|时长|期限是|有效期|周期[是为有多]"),
    ),
    (AnswerKind.OPEN, re.compile(r"(?:如何|怎么样|怎样)[？?。]?$|区别|差异|不同[？?]?$")),
    (AnswerKind.METHOD, re.compile(r"如何|怎么|怎样|怎么办|办法|步骤|方法")),
    (
        AnswerKind.TIME,
        re.compile(
            r"什么时[候间]|何时|哪一?[天年月日]|几月|几号|几点|(?:时间|日期|日子)(?:是|为|点|在|$|[？?])"
        ),
    ),
    (
        AnswerKind.PLACE,
        re.compile(
            r"哪里|哪儿|在哪(?![个些家支部几一])|何处|什么地方|哪个(?:国家|城市|省|市|地区|地方)|地点|位置"
        ),
    ),
    (
        AnswerKind.NUMBER,
        re.compile(
            r"多少|几[个次名位人家块台辆条座支种届层倍天年月站米元度]|多[高大长远重快深宽]|占比|比例|几成|"
            r"(?:数量|数|率|额|量|人次|规模|增速|金额|费用|价格|成本|单价|总价|营收|收入|利润|票房|人口|面积|长度|高度|"
            r"深度|宽度|重量|温度|点数|得分|震级|席位|罚款|预算|投资|造价|容量|GDP|产值|工资|年龄)(?:是|为|达|$|[？?])"
        ),
    ),
    (AnswerKind.LIST, re.compile(r"哪些|哪几|有什么|列出|分别|四强|都有")),
    (
        AnswerKind.PERSON,
        re.compile(
            r"谁|哪位|什么人|何人|(?:导演|主演|作者|主席|总统|总理|市长|部长|负责人|经理|教练|队长|创始人|发明人|设计师|"
            r"主持人|歌手|演员|董事长|校长|院长|书记|姓名)(?:是|有|为|叫|都|$|[？?])"
        ),
    ),
    (AnswerKind.POLAR, re.compile(r"是否|能否|可否|吗|有没有|能不能|可不可以|是不是|会不会|要不要|需不需要")),
    (
        AnswerKind.NAME,
        re.compile(r"哪[一]?[个家部支所座款名种届]|什么|叫|名称|名字|冠军|亚军|季军|主题|口号"),
    ),
)
_EN_KINDS: tuple[tuple[AnswerKind, re.Pattern[str]], ...] = (
    (AnswerKind.REASON, re.compile(r"\b(?:why|what (?:causes?|caused)|(?:the|what) reasons?)\b")),
    (
        AnswerKind.DURATION,
        re.compile(r"\bhow (?:quickly|soon)\b|\bhow long (?:does|do|did|is|was|will|has|have|can|must|should|may|after|before)\b"),
    ),
    (
        AnswerKind.NUMBER,
        re.compile(
            r"\bhow (?:many|much|old|tall|high|deep|far|fast|big|large|wide|heavy|long|often|hot|cold)\b|"
            r"\bwhat (?:is|was|are|were) the (?:\w+[ -]){0,4}?(?:number|amount|percentage|share|rate|cost|price|size|length|"
            r"height|depth|capacity|population|budget|distance|speed|weight|ratio|efficiency|limit|width|temperature|"
            r"score|total|value|count|threshold|fee|fine|salary|age|maximum|minimum)\b|\bat what (?:\w+ ){0,2}?(?:price|rate|level|"
            r"temperature|speed)\b"
        ),
    ),
    (
        AnswerKind.TIME,
        re.compile(
            r"^(?:and |so |since |by )?when\b(?!.*,)|\bwhen (?:did|does|do|is|was|were|will|has|have|can|must|should)\b|\b(?:what|which) (?:year|date|day|month|time|week|quarter)\b|\bby what date\b"
        ),
    ),
    (AnswerKind.OPEN, re.compile(r"\bdiffer(?:ent|ence|ences|s)?\b")),
    (
        AnswerKind.METHOD,
        re.compile(r"\bhow\b|\bwhat (?:should|shall|can|do|must) (?:i|we|you|one)\b.*\bdo\b|\bwhat steps\b"),
    ),
    (
        AnswerKind.PERSON,
        re.compile(
            r"\b(?:who|whom|whose)\b|\bwhich (?:person|author|director|actor|actress|player|president)\b"
        ),
    ),
    (
        AnswerKind.PLACE,
        re.compile(
            r"\bwhere\b|\b(?:what|which) (?:country|city|town|state|place|county|village|street|site|region|location)\b"
        ),
    ),
    (
        AnswerKind.POLAR,
        re.compile(
            r"^(?:is|are|was|were|do|does|did|can|could|may|might|must|should|will|would|has|have|had)\b"
        ),
    ),
    (
        AnswerKind.LIST,
        re.compile(
            r"\b(?:which|what) (?:\w+ )?(?:are|were) (?:the|used)\b|\bwhat (?:kinds|types|sorts)\b|\blist\b|\bwhich (?:\w+s)\b"
        ),
    ),
    (AnswerKind.NAME, re.compile(r"\bwhich\b|\bwhat (?:\w+ ){1,2}(?:is|was|does|did|do|has)\b")),
)
_LOCATING_VERBS_EN = re.compile(r"^where (?:does|do|is|are) .*\b(?:store|stored|keep|kept|save|saved|find)\b")
_NUMBERING = re.compile(r"^\s*(?:[(（]?\d{1,2}[)）]|\d{1,2}[.、](?!\d)|\d+(?:\.\d+){1,3}\s)\s*")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_DATE_ZH = re.compile(
    r"(?:(?:19|20)\d{2}(?:\s*年)?)?(?:的?\d{1,2}月(?:\d{1,2}[日号])?)|(?:19|20)\d{2}\s*年?(?=[^\d])"
)
_DAY = re.compile(r"\d{1,2}月(?:\d{1,2}[日号])?|第?[一二三四1-4]季度|[上下]半年")
_YEAR = re.compile(r"(?<![\d.])(?:19|20)\d{2}(?![\d.]\d|\d)")
_NAMES = re.compile(
    r"《([^》]{1,40})》|[“\"]([^”\"]{1,60})[”\"]|`([^`]{1,80})`|"
    r"((?<![A-Za-z0-9_])(?=[A-Za-z0-9_.\-]*[A-Za-z])(?=[A-Za-z0-9_.\-]*[0-9_]|[A-Za-z]*[a-z][A-Z]|[A-Z]{2})[A-Za-z0-9_.\-]*[A-Za-z0-9])"
)
_UNIT_ZH = re.compile(
    r"(?:多少|几)(个?[人次名位家块台辆条座支种层倍天年月站米元吨亿万度户颗枚所艘架间辆项]|钱|%|千米|公里|千瓦时|小时|分钟)"
)
_UNIT_EN = re.compile(r"\bhow (?:many|much) ([a-z][a-z\-]+)")
_MONEY_WORDS = re.compile(
    r"价格|售价|费用|金额|营收|收入|利润|票房|罚款|造价|预算|投资|成本|多少钱|\b(?:cost|price|budget|fee|fine|salary|revenue)\b"
)
_RATE_WORDS = re.compile(
    r"率[是为有达？?]|率$|增长了?多少|增速|占比|比例|\b(?:percentage|share|rate|efficiency|percent)\b"
)


def read_question(text: str) -> Question:
    """Return the question that `text` asks; a phrase without a question word counts as one too."""
    stripped = _LINK.sub(r"\1", _NUMBERING.sub("", text)).strip()
    lang: Lang = "zh" if is_cjk(stripped) else "en"
    kind = _kind(stripped, lang)
    found = _content(_without_asking(stripped, lang)) or _content(stripped)
    names = tuple(
        dict.fromkeys(next(group for group in match.groups() if group) for match in _NAMES.finditer(stripped))
    )
    return Question(
        text=text.strip(),
        lang=lang,
        kind=kind,
        terms=found,
        years=tuple(dict.fromkeys(_YEAR.findall(stripped))),
        days=tuple(dict.fromkeys(_DAY.findall(stripped))) if lang == "zh" else (),
        names=names,
        unit=_unit(stripped, kind),
    )


def _without_asking(text: str, lang: Lang) -> str:
    if lang == "en":
        return _YEAR.sub(" ", text)
    undated = _DATE_ZH.sub(" ", text + " ")
    return _TYPE_WORDS_ZH.sub(" ", _ASKING_ZH.sub(" ", undated).strip())


def _content(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(terms(text)))


def _kind(text: str, lang: Lang) -> AnswerKind:
    folded = text.casefold()
    if lang == "en" and _LOCATING_VERBS_EN.search(folded):
        return AnswerKind.OPEN
    for kind, pattern in _ZH_KINDS if lang == "zh" else _EN_KINDS:
        if pattern.search(text if lang == "zh" else folded):
            return kind
    return AnswerKind.OPEN


def _unit(text: str, kind: AnswerKind) -> str:
    if kind is not AnswerKind.NUMBER:
        return ""
    if _RATE_WORDS.search(text):
        return "%"
    if _MONEY_WORDS.search(text):
        return "money"
    match = _UNIT_ZH.search(text) or _UNIT_EN.search(text.casefold())
    return (
        ""
        if match is None
        else match.group(1).removeprefix("个")
        if len(match.group(1)) > 1
        else match.group(1)
    )
