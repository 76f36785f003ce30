"""A bilingual heuristic: does the wording of a node ask for several different actions?

It knows families of task verbs in English and Chinese and looks for two of different families that are
joined ("collect … and summarise …", “收集……并总结……”). A title may not join at all; an instruction may hold
several sentences on how to do one thing, so there only words of sequence count ("then", “然后”).
"""

import re
from collections.abc import Mapping
from typing import Final

_FAMILIES: Final[Mapping[str, tuple[str, str]]] = {
    "gather": (
        "collect|find|search|gather|fetch|retrieve|read|look up|investigate|research",
        "收集|搜集|查找|搜索|检索|调研|研究|阅读|读取|获取",
    ),
    "compare": ("compare|contrast", "比较|对比"),
    "summarise": (
        "summari[sz]e|condense|synthesi[sz]e|merge|combine",
        "总结|概括|归纳|汇总|综合|摘要|合并",
    ),
    "extract": ("extract|list|tabulate|identify", "提取|抽取|列出|找出|识别"),
    "check": ("check|verify|validate|test|review|proofread", "核查|检查(?!点)|验证|校验|核对|审查|审核|测试"),
    "analyse": (
        "analy[sz]e|evaluate|assess|calculate|compute|estimate|rank|classify",
        "分析|评估|计算|估算|统计|排序|分类",
    ),
    "write": (
        "write|draft|compose|outline|report|document|translate|rewrite",
        "撰写|编写|起草|写出|写成|拟定|翻译|改写",
    ),
    "plan": ("plan|design|schedule", "规划|设计|安排"),
    "publish": ("publish|send|submit|deploy|e-?mail|post", "发布|发送|提交|部署|发表"),
}

_AMBIGUOUS: Final = frozenset(
    {"search", "research", "list", "test", "review", "rank", "estimate", "draft", "outline", "report"}
    | {"document", "plan", "design", "schedule", "post"}
)
"""English words that are nouns as well: inside a sentence they count only before a determiner."""

_EN_VERB: Final = "|".join(f"(?P<{family}>{english})" for family, (english, _) in _FAMILIES.items())
_ZH_VERB: Final = "|".join(f"(?P<{family}>{chinese})" for family, (_, chinese) in _FAMILIES.items())

_EN_FIRST: Final = re.compile(rf"^\W*(?:{_EN_VERB})\b", re.IGNORECASE)
_EN_JOINED: Final = re.compile(
    rf"(?P<joint>\b(?:and|then|afterwards|finally)\b|[,;&+])"
    rf"\s*(?:(?:and|then|also|finally|afterwards)\b,?\s*)*(?:{_EN_VERB})\b(?=(?P<rest>\W+\w+)?)",
    re.IGNORECASE,
)
_EN_DETERMINER: Final = re.compile(
    r"\s+(?:the|an?|all|each|every|its|their|this|these|those|which|what|how|why|whether|it|them|any|both)\b",
    re.IGNORECASE,
)
_EN_SEQUENCE: Final = re.compile(r"then|afterwards|finally", re.IGNORECASE)
_EN_SENTENCE: Final = re.compile(r"[.!?\n]+(?:\s+|$)")

_ZH_FIRST: Final = re.compile(_ZH_VERB)
_ZH_JOINED: Final = re.compile(
    rf"(?P<joint>并且|并|然后|接着|随后|最后|以及|同时|再|和|与|及|、|，|；|,|;)"
    rf"(?:再|将其|把它|对其|进行|逐一|分别)*(?:{_ZH_VERB})"
)
_ZH_SEQUENCE: Final = frozenset({"然后", "接着", "随后", "最后", "再"})
_ZH_SENTENCE: Final = re.compile(r"[。！？!?\n]+")

_LONGEST_INSTRUCTION: Final = 4_000
"""Characters of an instruction that are looked at, so that a pasted document costs nothing."""


def several_actions(title: str, instruction: str) -> tuple[str, ...]:
    """Give the joined verbs of different families, as written; empty if the node does one thing.

    >>> several_actions("Collect prices and summarise the trend", "")
    ('Collect', 'summarise')
    >>> several_actions("收集资料并总结要点", "")
    ('收集', '总结')
    >>> several_actions("Compare cost and speed", "")
    ()
    """
    return _in_text(title, sequence_only=False) or _in_text(
        instruction[:_LONGEST_INSTRUCTION], sequence_only=True
    )


def _in_text(text: str, *, sequence_only: bool) -> tuple[str, ...]:
    for sentence in _EN_SENTENCE.split(text):
        found = _english(sentence, sequence_only=sequence_only)
        if found:
            return found
    for sentence in _ZH_SENTENCE.split(text):
        found = _chinese(sentence, sequence_only=sequence_only)
        if found:
            return found
    return ()


def _english(sentence: str, *, sequence_only: bool) -> tuple[str, ...]:
    first = _EN_FIRST.match(sentence)
    if first is None:
        return ()
    verbs = {_family(first): _verb(first)}
    for match in _EN_JOINED.finditer(sentence, first.end()):
        verb = _verb(match)
        noun = verb.lower() in _AMBIGUOUS and not _EN_DETERMINER.match(match.group("rest") or "")
        joint = sentence[match.start() : match.start(_family(match))]
        if not noun and (not sequence_only or _EN_SEQUENCE.search(joint)):
            verbs.setdefault(_family(match), verb)
    return tuple(verbs.values()) if len(verbs) > 1 else ()


def _chinese(sentence: str, *, sequence_only: bool) -> tuple[str, ...]:
    first = _ZH_FIRST.search(sentence)
    if first is None:
        return ()
    verbs = {_family(first): _verb(first)}
    for match in _ZH_JOINED.finditer(sentence, first.end()):
        if not sequence_only or any(word in match.group(0) for word in _ZH_SEQUENCE):
            verbs.setdefault(_family(match), _verb(match))
    return tuple(verbs.values()) if len(verbs) > 1 else ()


def _family(match: re.Match[str]) -> str:
    return next(family for family in _FAMILIES if match.group(family) is not None)


def _verb(match: re.Match[str]) -> str:
    return match.group(_family(match))
