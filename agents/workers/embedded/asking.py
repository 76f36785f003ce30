"""The surface forms of asking, English and Chinese: which words show what kind of answer is wanted.

Word lists, read top-down: the first kind whose pattern matches wins (`question.py`). Nothing here looks at notes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Final


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
    COLOUR = "colour"
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


def any_of(*lists: str) -> str:
    """Return an alternation of the words in space-separated lists; each may hold regular expressions."""
    return "|".join(word for listed in lists for word in listed.split())


def _pattern(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts))


_QUANTITY_NOUNS_ZH = any_of(
    "数量 数 率 额 量 人次 规模 增速 金额 费用 价格 成本 单价 总价 营收 收入 利润 票房 人口 面积 长度 高度 深度",
    "宽度 重量",
    "温度 点数 得分 震级 席位 罚款 预算 投资 造价 容量 GDP 产值 工资 年龄",
)
_PERSON_NOUNS_ZH = any_of(
    "导演 主演 作者 主席 总统 总理 市长 部长 负责人 经理 教练 队长 创始人 发明人 设计师 主持人 歌手 演员 董事长",
    "校长 院长",
    "书记 姓名",
)
_ENDS_ZH = r"(?=[？?]?$)"

ZH_KINDS: Final[tuple[tuple[AnswerKind, re.Pattern[str]], ...]] = (
    (AnswerKind.POLAR, _pattern("是否|能否|可否|能不能|可不可以|会不会|是不是|有没有|吗[？?]?$")),
    (AnswerKind.COLOUR, _pattern("(?:什么|哪种|何种)颜色|颜色(?:是|为)?(?:什么|哪种)?[？?]?$")),
    (AnswerKind.REASON, _pattern("为什么|为何|为啥|原因|缘故")),
    (
        AnswerKind.DURATION,
        _pattern("多久|多长时间|几天|几年|几个月|几个?小时|几分钟|时长|期限是|有效期|周期[是为有多]"),
    ),
    (AnswerKind.OPEN, _pattern("(?:如何|怎么样|怎样)[？?。]?$", "区别|差异", "不同[？?]?$")),
    (AnswerKind.METHOD, _pattern("如何|怎么|怎样|办法|步骤|方法")),
    (
        AnswerKind.TIME,
        _pattern("什么时[候间]|何时|哪一?[天年月日]|几月|几号|几点", "(?:时间|日期|日子)(?:[是为点在？?]|$)"),
    ),
    (
        AnswerKind.PLACE,
        _pattern(
            "哪里|哪儿|何处|什么地方|地点|位置",
            "在哪(?![个些家支部几一])",
            "哪[一个座]*(?:国家|城市|省|市|县|地区|地方|街|路)",
        ),
    ),
    (
        AnswerKind.NUMBER,
        _pattern(
            "多少|多[高大长远重快深宽]|占比|比例|几成",
            "几[个次名位人家块台辆条座支种届层倍天年月站米元度]",
            f"(?:{_QUANTITY_NOUNS_ZH})(?:[是为达？?]|$)",
        ),
    ),
    (AnswerKind.LIST, _pattern("哪些|哪几|有什么|列出|分别|都有")),
    (AnswerKind.PERSON, _pattern("谁|哪[一]?位|什么人|何人", f"(?:{_PERSON_NOUNS_ZH})(?:[是有为叫都？?]|$)")),
    (AnswerKind.POLAR, _pattern("吗|要不要|需不需要")),
    (
        AnswerKind.NAME,
        _pattern("哪[一]?[个家部支所座款名种届]", "什么|叫|名称|名字|冠军|亚军|季军|主题|口号"),
    ),
)

_AUXILIARIES = any_of(
    "is are was were do does did can could may might must should will would has have had shall"
)
_PLACE_NOUNS = any_of("country city town state place county village street site region location")
_MEASURE_NOUNS = any_of(
    "number amount percentage share rate cost price size length height depth capacity population budget distance",
    "speed weight ratio efficiency limit width temperature score total value count threshold fee fine salary age",
    "maximum minimum premium",
)

EN_KINDS: Final[tuple[tuple[AnswerKind, re.Pattern[str]], ...]] = (
    (AnswerKind.COLOUR, _pattern(r"\b(?:what|which) (?:is the )?colou?r\b")),
    (AnswerKind.REASON, _pattern(r"\bwhy\b", r"\bwhat causes?d?\b", r"\breasons?\b")),
    (
        AnswerKind.DURATION,
        _pattern(
            r"\bhow (?:quickly|soon)\b",
            r"\bhow long (?:does|do|did|will|has|have|can|must|should|may|after|before)\b",
            r"\bhow long (?:is|was)\b.*\b(?:period|term|warranty|contract|lease|time|wait|valid|kept|guarantee)\b",
        ),
    ),
    (
        AnswerKind.NUMBER,
        _pattern(
            rf"\bhow (?:{any_of('many much old tall high deep far fast big large wide heavy long often hot cold')})\b",
            rf"\bwhat (?:is|was|are|were) the (?:[\w-]+ ){{0,4}}?(?:{_MEASURE_NOUNS})\b",
            r"\bwhat (?:did|does|do|will|would) .*\b(?:cost|pay|earn|weigh|measure)\b",
            r"\b(?:at )?(?:what|which) (?:\w+ ){0,2}?(?:price|rate|level|temperature|speed|height|depth|weight)\b",
            r"\bat (?:what|which) (?:\w+ ){0,2}?interest\b",
        ),
    ),
    (
        AnswerKind.TIME,
        _pattern(
            r"^(?:and |so |since |by |until )?when\b(?!.*,)",
            rf"\bwhen (?:{_AUXILIARIES})\b",
            r"\b(?:what|which) (?:year|date|day|month|time|week|quarter)\b",
        ),
    ),
    (AnswerKind.OPEN, _pattern(r"\bdiffer(?:ent|ence|ences|s)?\b")),
    (
        AnswerKind.METHOD,
        _pattern(
            r"\bhow\b",
            r"\bwhat (?:should|shall|can|do|must) (?:i|we|you|one)\b.*\bdo\b",
            r"\bwhat steps\b",
        ),
    ),
    (
        AnswerKind.PERSON,
        _pattern(r"\bwho(?:m|se)?\b", r"\bwhich (?:person|author|director|actor|actress|player|president)\b"),
    ),
    (
        AnswerKind.PLACE,
        _pattern(
            r"\bwhere\b",
            rf"\b(?:what|which) (?:{_PLACE_NOUNS})\b",
        ),
    ),
    (AnswerKind.POLAR, _pattern(rf"^(?:{_AUXILIARIES})\b")),
    (
        AnswerKind.LIST,
        _pattern(
            r"\b(?:which|what) (?:\w+ )?(?:are|were) (?:the|used)\b",
            r"\bwhat (?:kinds|types|sorts)\b",
            r"\blist\b",
            r"\bwhich \w+s\b",
        ),
    ),
    (AnswerKind.NAME, _pattern(r"\bwhich\b", r"\bwhat (?:\w+ ){1,2}(?:is|was|does|did|do|has)\b")),
)
EN_STORED: Final = re.compile(r"^where (?:does|do|is|are) .*\b(?:store|stored|keep|kept|save|saved|find)\b")
"""*Where does it store data?* asks for an explanation, not for a place on the map."""

ZH_ASKING: Final = re.compile(
    any_of(
        "[从自到至在于](?=什么时[候间]|何时|哪一?[天年月日])",
        "请问 请告诉我 是什么时候 什么时候 什么时间 何时 哪一天 哪天 哪一年 哪年 几月几[日号] 几点 多少钱 多少",
        "多久 多长时间",
        "多长 多高 多大 多远 多重 多快 多深 多宽 为什么 为何 怎么样 怎么办 怎么 怎样 该?如何处理 如何 是什么",
        "什么是 什么 哪里 哪儿",
        "何处 哪些 哪几 哪[一]?[个家部位支所座届款名种] 在哪 是谁 谁 是否 能否 可否 有没有 能不能 可不可以",
        "是不是 会不会 应该 吗 颜色",
        "一次(?=[？?]|$) 呢 介绍一下 有何 有什么 区别 (?:主要)?原因 [？?]",
    )
)
"""Words of asking: they say nothing about the subject and are not looked for in the notes."""
EN_ASKING: Final = re.compile(
    r"\bhow (?:"
    + any_of("many much old tall high deep far fast big large wide heavy long often hot cold quickly soon")
    + r")\b|\b(?:what|which) (?:year|date|day|month|time|number|colou?r)\b|\bwhat is the colou?r of\b"
    + r"|\btakes?(?= to\b|\W*$)|\b(?:stays?|remains?)\b"
)
"""The same in English; most of its words of asking are stop words anyway."""
ZH_TYPE_WORDS: Final = re.compile(
    f"(?:具体)?(?:{any_of('时间 日期 时候 地点 地方 数量 名字 名称')})(?=[是为有？?]|$)"
)
"""Nouns that name the kind of answer; a sentence that gives a date needn't say *date*."""
ZH_EXPLAINED: Final = re.compile(
    any_of(
        "作用 影响 区别 差异 步骤 流程 方法 方式 方案 办法 目的 意义 优势 优点 缺点 特点 特性 风险 限制 情况",
        "建议 推荐 配置 要求 关系",
        "原理 概述 介绍 说明 安全 背景 内容 经验 条件 措施",
    )
)
"""Nouns that a bare phrase is explained by, while any other bare phrase (`…的成绩`) asks for one value."""
EN_EXPLAINED: Final = re.compile(
    r"\b(?:"
    + any_of(
        "uses? roles? purposes? effects? impacts? differences? steps? process procedures? methods? ways? goals? aims?",
        "advantages? benefits? disadvantages? drawbacks? features? properties risks? limits? limitations? reasons?",
        "causes? consequences? requirements? recommendations? meanings? definitions? relations? relationships?",
        "principles? overview background contents? conditions? measures? kinds? types? sorts? parts? examples?",
        "functions? implications? options? problems? issues? things? state status",
    )
    + r")\b"
)
"""The same in English: what a question asks about by them is explained without saying them."""
SUBJECT_EN: Final = re.compile(
    r"\b(?:what|which) (?:is|are|was|were|will be) (?:the|an?|its|their|our|your) "
    r"(?P<noun>(?:[\w'-]+ ){1,4}?)(?:of|for|in|at|on|between|to|from|with|under|after|before|per)\b"
)
"""*What is the … of*: the noun before the first preposition is asked for."""
SUBJECT_ZH: Final = re.compile(
    r"的(?P<noun>[\u4e00-\u9fff]{2,6}?)(?=是|为|有|如何|怎么|怎样|什么|多少|多|由谁|[？?]|$)"
)
"""`甲的乙是什么`：问的是乙。"""

RATE: Final = re.compile(
    r"利息|\bat (?:what|which) (?:\w+ ){0,2}?interest\b"
    r"|率(?:[是为有达？?]|$)|增长了?多少|增速|占比|比例|\b(?:percentage|share|rate|efficiency|percent)\b"
)
MONEY: Final = re.compile(
    any_of("价格 售价 单价 费用 金额 营收 收入 利润 票房 罚款 造价 预算 投资 成本 多少钱")
    + r"|\b(?:costs?|prices?|budget|fees?|fines?|salary|revenue|premium|paid|pay|earn)\b"
)
LENGTH: Final = re.compile(
    r"多[长高远深宽](?!时间)|长度|高度|深度|宽度|距离|"
    r"\bhow (?:long (?:is|are)|tall|high|deep|far|wide)\b|\b(?:length|height|depth|width|distance)\b"
)
MASS: Final = re.compile(r"多重|重量|\bhow heavy\b|\bweight\b")
TEMPERATURE: Final = re.compile(r"温度|几度|\btemperature\b|\bhow (?:hot|cold)\b")
AREA: Final = re.compile(r"面积|\barea\b")
COUNTED_ZH: Final = re.compile(
    "(?:多少|几)(?P<classifier>[个次名位人家块台辆条座支种层倍天月站户颗枚所艘架间项件处只份套])?(?P<noun>[\u4e00-\u9fff]{1,4})?"
)
COUNTED_EN: Final = re.compile(r"\bhow (?:many|much) (?P<noun>[a-z][a-z\-]+)")
YEAR_ASKED: Final = re.compile(r"哪一?年|何年|几几年|年份|\b(?:what|which) year\b")


OFTEN: Final = re.compile(
    r"\bhow (?:often|frequently)\b|(?:多久|多长时间|几个?(?:年|月|周|天|小时)|隔多久)[\u4e00-\u9fff]{0,8}一次|频[率次]",
    re.IGNORECASE,
)
"""Asks for a frequency."""


def first_kind(text: str, kinds: Iterable[tuple[AnswerKind, re.Pattern[str]]]) -> AnswerKind | None:
    """Return the first kind whose pattern stands in `text`."""
    return next((kind for kind, pattern in kinds if pattern.search(text)), None)
