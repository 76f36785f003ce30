"""What a goal forbids, told from its words: it grants no tool, and an address in it is nobody's wish.

English and Chinese, by the words that forbid and by the punctuation; no model. Whoever is unsure takes more of a
sentence as forbidden: then a tool is not granted or a call is asked about, and the review says so.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from agents.tools.known_texts import addresses, file_names

LONG_LINE: Final = 60
"""Characters; a line as long was wrapped, and its sentence goes on in the next one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prohibition:
    """One thing that a goal forbids."""

    text: str
    """What stands behind the word that forbids (or before it: `web pages must not be opened`)."""
    uses: bool
    """It forbids to open, read or use something, and not to say or to do it."""
    general: bool
    """It names no address, no file and no `other` ones, so it is about everything of the kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenGoal:
    """A goal with what it asks for and what it forbids held apart."""

    asked: str
    """The text without what is forbidden."""
    wished: str
    """The text without the sentences that forbid, up to where they turn (`but`, `except`): whose values are wanted."""
    forbidden: tuple[Prohibition, ...] = ()


def spoken_goal(text: str) -> SpokenGoal:
    """Return what `text`, the user's own words, asks for and forbids.

    >>> goal = spoken_goal("Compare my notes, but never open www.evil.org. Do not send mails.")
    >>> goal.asked
    'Compare my notes, but  .  .'
    >>> [each.text for each in goal.forbidden]
    ['open www.evil.org', 'send mails']
    """
    text = unicodedata.normalize("NFKC", text).replace("’", "'")
    found = list(_spans(text))
    return SpokenGoal(
        asked=_without(text, [(each.start, each.until) for each in found]),
        wished=_without(text, [(each.wide_start, each.wide_until) for each in found]),
        forbidden=tuple(each.said for each in found),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    start: int
    until: int
    wide_start: int
    wide_until: int
    said: Prohibition


_FORBIDS: Final = re.compile(
    r"(?P<verb>\b(?:do\s+not|don'?t)\b(?!\s+(?:forget|hesitate|worry|miss|fail|only|just)\b)"
    r"|\bnever\b(?!\s+(?:mind|fail)\b)"
    r"|\b(?:must|should|shall|may|need)\s+not\b|\b(?:must|should|need)n't\b|\bnot\s+to\b"
    r"|\b(?:is|are)\s+not\s+(?:to|allowed|permitted)\b"
    r"|\b(?:refrain|abstain)\s+from\b)"
    r"|(?P<noun>\bwithout\b|\bavoid(?:ing)?\b|\b(?:stay|keep)\s+away\s+from\b|\binstead\s+of\b|\brather\s+than\b"
    r"|\b(?:is|are)\s+(?:forbidden|prohibited|banned|off[- ]limits)\b|\bno\b(?!\s+(?:later|more|less|longer|one)\b))"
    r"|(?P<chinese>(?<![要能可许准应该用得是])"
    r"(?:不要|不得(?!不)|不能|不可以|不可(?!避免)|不许|不准|不应该?|不必|不用|不需要?|无需|无须|切?勿|禁止|严禁|避免"
    r"|(?<![特分区个类级识鉴性辨告派差])别(?![人的名处称致])"
    r"|(?<![看用发写读查买])不(?=打开|访问|上网|联网|使用|看|读|查|搜|发|写|改|删|浏览|下载|抓取|调用|参考|引用|登录|买|付|转))"
    r"(?!忘|紧))",
    re.IGNORECASE,
)
_DESCRIBES: Final = re.compile(
    r"\b(?:i|we|they|who|that|which|why|if|when|what|where|people)\s*$", re.IGNORECASE
)
"""Before `do not` and `should not`: something is described (`people who do not eat meat`)."""
_WANTS: Final = re.compile(r"\s+(?:want|wish|like|allow|permit|agree)\b", re.IGNORECASE)
_NO_COUNT: Final = re.compile(
    r"(?:\b(?:is|are|was|were|be|have|has|had|there|if|or|says?|found?)\s*)$", re.IGNORECASE
)
"""Before `no`: something is counted (`there are no meetings`) or answered (`yes or no`)."""
_CONDITION_ZH: Final = re.compile(r"(?:如果|若|假如|是否|为何|为什么)[^，。；！？\n]{0,8}$")

_TURNS: Final = re.compile(
    r"[.!?](?=\s|$)|[;。！？；]|\b(?:but|except|unless|instead(?!\s+of)|apart\s+from|other\s+than|only|just|please|then)\b"
    r"|但|而是|除非|除了|只(?=用|看|读|需|要|能|根据|使)|仅",
    re.IGNORECASE,
)
"""Where a prohibition ends: with its sentence, or where it turns to what is wanted."""
_SUBORDINATE: Final = re.compile(
    r"\b(?:until|before|after|because|since|if|when|while|so\s+that)\b|直到", re.IGNORECASE
)
_COMMA: Final = re.compile(r",|，")
_GOES_ON_ZH: Final = re.compile(r"\s*(?:或|和|及|以及|也|并|更|还有|https?:|www\.)")
_READING_REQUEST: Final = re.compile(
    r"\s*(?:use|read|look|take|rely|answer|tell|summari[sz]e|compare|list|give|work|base|stick)\b",
    re.IGNORECASE,
)
_BULLET: Final = re.compile(r"[ \t]*(?:[-*•·]|\d+[.)、])\s")

_CLAUSE_START: Final = re.compile(r"[.!?;](?=\s)|[。！？；，,\n]|\b(?:but|and|yet)\b|但|而", re.IGNORECASE)
_SENTENCE_START: Final = re.compile(r"[.!?;](?=\s)|[。！？；\n]")
_PASSIVE: Final = re.compile(r"\s+be\b", re.IGNORECASE)
_REQUEST_ZH: Final = re.compile(
    r"\s*(?:请|帮|你|您|先|再|总结|概括|比较|对比|阅读|读|看|写|发|整理|分析|回答|根据|基于|用|从|找|列|查|搜|翻译|解释|说|告诉|给)"
)
_OPENS: Final = re.compile(
    r"\s*(?:ever\s+|to\s+|be\s+|also\s+|even\s+)*(?:open|visit|follow|fetch|access|click|load|go|use|using|read|browse|brows|"
    r"look|search|query|consult|check|get|download|call|touch|trust|crawl|scrape|contact|connect)(?:ed|ing|e|s)?\b"
    r"|\s*(?:打开|访问|使用|用|阅读|读|看|查|搜|浏览|上网|联网|抓取|下载|调用|检索|获取|碰|引用|参考|点击|信任|进入)",
    re.IGNORECASE,
)
_DOES: Final = re.compile(r"\s*[a-z]+ing\b", re.IGNORECASE)
_POINTS_BACK: Final = re.compile(r"\b(?:it|them|this|that|these|those|there)\b|它|该|此|这|那", re.IGNORECASE)
_OTHERS: Final = re.compile(
    r"\b(?:other|others|else|another|further)\b|其他|其它|另外|别的|以外|之外", re.IGNORECASE
)


def _spans(text: str) -> Iterator[_Span]:
    done = 0
    for match in _FORBIDS.finditer(text):
        if match.start() < done or not _forbids(match, text):
            continue
        wide_until = _end(text, match.end(), chinese=bool(match["chinese"]))
        if following := _FORBIDS.search(text, match.end(), wide_until):
            wide_until = following.start()
        shorter = _SUBORDINATE.search(text, match.end(), wide_until)
        until = shorter.start() if shorter else wide_until
        behind = text[match.end() : until].strip(" \t\n,，:：")
        start = wide_start = match.start()
        clause = _last(_CLAUSE_START, text, match.start(), since=done)
        before = text[clause : match.start()]
        subject = _names_its_subject(match, text, before)
        if subject:
            start = wide_start = clause
        elif _OPENS.match(behind) and _POINTS_BACK.search(behind) and not addresses(behind):
            # `There is www.evil.org. Never open it.`
            sentence = _last(_SENTENCE_START, text, match.start())
            wide_start = _last(_SENTENCE_START, text, max(sentence - 1, 0))
        said = f"{before.strip()} {behind}".strip() if subject else behind
        yield _Span(
            start=start,
            until=until,
            wide_start=wide_start,
            wide_until=wide_until,
            said=Prohibition(
                text=said,
                uses=bool(_OPENS.match(behind) or (match["noun"] and not _DOES.match(behind))),
                general=not (addresses(said) or file_names(said) or _OTHERS.search(said)),
            ),
        )
        done = until


def _forbids(match: re.Match[str], text: str) -> bool:
    before = text[max(0, match.start() - 40) : match.start()]
    if match["chinese"]:
        return not _CONDITION_ZH.search(before)
    if match["noun"]:
        return match["noun"].casefold() != "no" or not _NO_COUNT.search(before)
    return not _DESCRIBES.search(before) or bool(_WANTS.match(text, match.end()))


def _names_its_subject(match: re.Match[str], text: str, before: str) -> bool:
    """Whether what is forbidden stands before the word that forbids it."""
    if match["chinese"]:
        return bool(before.strip()) and not _REQUEST_ZH.match(before)
    closing = re.match(r"(?:is|are)\s", match[0], re.IGNORECASE)
    return bool(closing or _PASSIVE.match(text, match.end()))


def _end(text: str, start: int, *, chinese: bool) -> int:
    """Where the sentence that forbids ends, or turns."""
    turn = _TURNS.search(text, start)
    end = turn.start() if turn else len(text)
    for comma in _COMMA.finditer(text, start, end):
        words = text[start : comma.start()].split()
        if chinese:
            if not _GOES_ON_ZH.match(text, comma.end()):
                return comma.start()
        elif (
            len(words) > 1
            and _READING_REQUEST.match(text, comma.end())
            and not re.search(r"\bn?or\b", text[comma.end() : end])
        ):
            return comma.start()
    listed = False
    for line in re.finditer(r"\n", text[:end]):
        at = line.start()
        if at < start:
            continue
        said = text[start:at].rstrip()
        bullet = bool(_BULLET.match(text, at + 1))
        listed = listed or said.endswith((":", "："))
        if listed and (bullet or said.endswith((":", "："))):
            continue
        length = at - (text.rfind("\n", 0, at) + 1)
        few = len(said.split()) < 2 and not (chinese and len(said) > 2)
        blank = not text[at + 1 :].split("\n", 1)[0].strip()
        if blank or bullet or listed or not (few or length >= LONG_LINE):
            return at
    return end


def _last(pattern: re.Pattern[str], text: str, before: int, *, since: int = 0) -> int:
    """Where the last match of `pattern` in `text[since:before]` ends; `since` without one."""
    return max((match.end() for match in pattern.finditer(text, since, before)), default=since)


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    kept, at = [], 0
    for start, until in sorted(spans):
        kept.append(text[at : max(start, at)])
        at = max(at, until)
    return " ".join((*kept, text[at:]))
