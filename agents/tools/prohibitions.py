"""What a goal forbids, told from its words: it grants no tool, and an address in it is nobody's wish.

English and Chinese, by the words that forbid and by the punctuation; no model. Whoever is unsure takes more of a
sentence as forbidden: then a tool is not granted or a call is asked about, and the review says so.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from agents.tools.forbidding import FORBIDS, Verdict, form_of, is_chinese, object_within, verdict
from agents.tools.known_texts import addresses, file_names

LONGEST_CLAUSE: Final = 1_000
"""Characters before a word that forbids in which its clause and its sentence are looked for."""
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
    forbidden = tuple(each.said for each in found if each.said is not None)
    wished = _without(text, [(each.wide_start, each.wide_until) for each in found])
    return SpokenGoal(
        asked=_without(text, [(each.start, each.until) for each in found]),
        wished=_without_addresses(wished, frozenset().union(*(addresses(each.text) for each in forbidden))),
        forbidden=forbidden,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    start: int
    until: int
    wide_start: int
    wide_until: int
    said: Prohibition | None = None
    """None: it only describes."""


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
_NEW_LINE: Final = re.compile(r"\n")
_BULLET: Final = re.compile(r"[ \t]*(?:[-*•·]|\d+[.)、])\s")

_CLAUSE_START: Final = re.compile(
    r"[.!?;:](?=\s)|[。！？；，：,\n]|\b(?:but|and|yet|because|since|while|whereas|although|though)\b"
    r"|(?<!such )(?<!well )\bas\b(?!\s+well)|但|而",
    re.IGNORECASE,
)
_JOINS: Final = re.compile(r",|\band\b", re.IGNORECASE)
_SENTENCE_START: Final = re.compile(r"[.!?;](?=\s)|[。！？；\n]")
_PASSIVE: Final = re.compile(r"\s+be\b", re.IGNORECASE)
_PERSON: Final = re.compile(
    r"\s*(?:so\s+|then\s+|also\s+|and\s+|please\s+)*(?:i|we|you|it|they|agents?|the\s+agents?|nobody|everyone|我们?|你们?|您|咱们|本人|大家|它们?)?\s*",
    re.IGNORECASE,
)
_DEMANDS: Final = (
    r"(?:use|read|look|take|tell|summari[sz]e|compare|list|give|work|write|find|search|open|visit|fetch|get|send|make|draft"
    r"|create|check|analy[sz]e|explain|describe|show|collect|put|plan|see|translate|review|prepare|go|answer|reply|report|add"
    r"|include|save|rely|base|stick)"
)
_REQUEST: Final = re.compile(
    rf"\s*(?:(?:please|then|first|so|now|and|also|can\s+you|could\s+you)\s+)*{_DEMANDS}\b", re.IGNORECASE
)
"""What begins a request of its own."""
FEW_WORDS: Final = 3
"""Words of a part before `and` that still belongs to what is forbidden (`mails and pages are forbidden`)."""
_REQUEST_ZH: Final = re.compile(
    r"\s*(?:只|仅|请|帮|你|您|先|再|总结|概括|比较|对比|阅读|读|看|写|发|整理|分析|回答|根据|基于|用|从|找|列|查|搜|翻译|解释|说|告诉|给)"
)
_PUT_FIRST_ZH: Final = re.compile(r"(?:把|将)(?!来)")
_OPENS: Final = re.compile(
    r"\s*(?:(?:really|also)\s+)?(?:(?:want|wish|like|allow|permit|accept|need|expect|intend|plan|have|let|authori[sz]e|rather)\s+)?"
    r"(?:(?:for\s+)?(?:you|it|them|anyone|anybody|agents?|the\s+agents?|any\s+agent)\s+)?"
    r"(?:ever\s+|to\s+|from\s+|be\s+|also\s+|even\s+|need\s+|have\s+)*"
    r"(?:open|visit|follow|fetch|access|click|load|go|use|using|read|browse|brows|"
    r"look|search|query|consult|check|get|download|call|touch|trust|crawl|scrape|contact|connect)(?:ed|ing|e|s)?\b"
    r"|\s*(?:你们?|您|它|让|有|去|再|自行|擅自|随意|随便)*(?:打开|访问|使用|用|阅读|读|看|查|搜|翻|点|爬|浏览|上网|联网|抓取|下载|调用|检索|获取|碰|触|动用|引用"
    r"|参考|借助|依赖|通过|采用|点击|信任|进入)",
    re.IGNORECASE,
)
"""Verbs that open, read or use something, behind whoever is to do it."""
_DOES: Final = re.compile(r"\s*[a-z]+ing\b", re.IGNORECASE)
_IS_OPENED: Final = re.compile(
    r"\b(?:opened|visited|followed|fetched|accessed|clicked|loaded|used|read|browsed|searched|queried|consulted|checked|downloaded"
    r"|called|touched|contacted)\s*$",
    re.IGNORECASE,
)
_WANTS_A_THING: Final = re.compile(
    r"(?:really\s+|also\s+)?(?:want|need|like|accept|recommend|wish\s+for)\s+(?!(?:you|it|them|anyone)\b)"
    r"(?:(?!\bto\b|\bbe\b|\w+ed\b|\b(?:sent|written|made|put|told|paid|bought)\b).)+$",
    re.IGNORECASE | re.DOTALL,
)
"""`do not need web pages`, and not `want mails sent`."""
_BEFORE_NOUNS_ZH: Final = re.compile(
    r"(?:考虑|需要?|想要|必要|喜欢|推荐|接受|支持|赞成|同意|建议|反对|谢绝|拒绝|杜绝|停用|弃用|避免|禁止|不用)$"
)
"""Chinese forms behind which what is not wanted may stand without a verb."""
_DOES_ZH: Final = re.compile(
    r"^\s*(?:你|您|再|去)*(?:发|写|改|删|说|提|讲|谈|买|付|转|回|订|移|建|创|加|添|上传|分享|透露|泄|公开|评|总结|概括|翻译)"
)
_NEW_REQUEST: Final = re.compile(
    rf"\b(?:and|so)\s+(?:then\s+|instead\s+)?{_DEMANDS}\s+"
    r"(?=(?:the|a|an|my|our|your|this|all|its|their|both|each|only|https?:|www\.)\b)"
    rf"|:(?=\s+{_DEMANDS}\b)",
    re.IGNORECASE,
)
"""Behind a noun that is excluded: what follows is asked for (`skip the web and use my notes`)."""
_POINTS_BACK: Final = re.compile(r"\b(?:it|them|this|that|these|those|there)\b|它|该|此|这|那", re.IGNORECASE)
_THEM: Final = re.compile(r"\b(?:them|these|those|there)\b|它们|这些|那些", re.IGNORECASE)
_OTHERS: Final = re.compile(
    r"\b(?:other|others|else|another|further)\b|其他|其它|另外|别的|以外|之外", re.IGNORECASE
)


def _spans(text: str) -> Iterator[_Span]:
    done = 0
    found = _judged(text)
    starts = [match.start() for match, told in found if told == "forbids"]
    for match, told in found:
        within, form = object_within(match), form_of(match)
        wide_until = match.end() if within else _end(text, match)
        following = bisect_right(starts, match.start())
        wide_until = min(starts[following], wide_until) if following < len(starts) else wide_until
        if told == "described":
            comma = _COMMA.search(text, match.end(), wide_until)
            wide_until = comma.start() if comma else wide_until
            # Nobody is told anything, but its addresses are not asked for either.
            yield _Span(
                start=match.start(), until=match.start(), wide_start=match.start(), wide_until=wide_until
            )
            continue
        shorter = None if within else _SUBORDINATE.search(text, match.end(), wide_until)
        until = shorter.start() if shorter else wide_until
        behind = within or text[match.end() : until].strip(" \t\n,，:：")
        clause = _clause(text, match, since=max(done, match.start() - LONGEST_CLAUSE))
        subject = _subject(match, text, text[clause : match.start()])
        start = wide_start = match.start() - len(subject)
        said = f"{subject.strip()} {behind}".strip() if subject.strip() else behind
        acts = _OPENS.match(behind) or form in ("drop", "closing", "leave")
        if acts and _POINTS_BACK.search(said) and not addresses(said):
            # `There is www.evil.org. Never open it.`
            since = max(0, match.start() - LONGEST_CLAUSE)
            sentence = _last(_SENTENCE_START, text, match.start(), since=since)
            here = addresses(text[sentence : match.start()]) and not _THEM.search(said)
            wide_start = sentence if here else _last(_SENTENCE_START, text, max(sentence - 1, 0), since=since)
        yield _Span(
            start=start,
            until=until,
            wide_start=wide_start,
            wide_until=wide_until,
            said=Prohibition(
                text=said,
                uses=_uses(match, behind, subject),
                general=not (addresses(said) or file_names(said) or _OTHERS.search(said)),
            ),
        )
        done = until


def _judged(text: str) -> list[tuple[re.Match[str], Verdict]]:
    """What forbids or describes, in the order of the text."""
    found: list[tuple[re.Match[str], Verdict]] = []
    end, said = -1, ""
    for match in FORBIDS.finditer(text):
        clause = _last(_CLAUSE_START, text, match.start(), since=max(0, match.start() - LONGEST_CLAUSE))
        from_here = clause if form_of(match) == "closing" else match.start()
        adjacent = 0 <= end <= from_here and not text[end:from_here].strip(" \t,，")
        told = verdict(match, text, text[clause : match.start()], said if adjacent else None)
        if told == "nothing":
            continue
        found.append((match, told))
        if told == "forbids":
            end = _end(text, match)
            said = text[match.start() : end]
    return found


def _uses(match: re.Match[str], behind: str, subject: str) -> bool:
    form = form_of(match)
    if (
        any(_OPENS.match(part) for part in _COMMA.split(behind))
        or _IS_OPENED.search(behind)
        or (subject and _OPENS.match(subject))
    ):
        return True
    if form == "closing":
        return not _DOES.match(subject) and not re.match(r"\s*to\s|\s*by\s+\w+ing", behind)
    if form == "verb" and is_chinese(match):
        alone = bool(subject) and not behind.strip("的了吧。 ")
        return (alone or bool(_BEFORE_NOUNS_ZH.search(match[0]))) and not _DOES_ZH.search(subject or behind)
    if form == "verb":
        return bool(_WANTS_A_THING.match(behind))
    return not _DOES.match(behind)


def _subject(match: re.Match[str], text: str, before: str) -> str:
    """What stands before the word that forbids it, where it forbids that."""
    first = _PUT_FIRST_ZH.search(before)
    if is_chinese(match):
        if form_of(match) in ("drop", "closing") and first:
            return before[first.end() :]
        if form_of(match) == "closing":
            return before
        if form_of(match) != "verb" or _PERSON.fullmatch(before) or _REQUEST_ZH.match(before):
            return ""
        return before
    if form_of(match) == "closing" or _PASSIVE.match(text, match.end()):
        return before
    return ""


def _clause(text: str, match: re.Match[str], *, since: int) -> int:
    """Where the clause of a match starts: with all parts of its subject (`mails, pages and calls are …`)."""
    start = _last(_CLAUSE_START, text, match.start(), since=since)
    while start > since and not is_chinese(match):
        joined = [each for each in _JOINS.finditer(text, since, start) if each.end() == start]
        if not joined:
            break
        earlier = _last(_CLAUSE_START, text, joined[0].start(), since=since)
        part = text[earlier : joined[0].start()].strip()
        if _REQUEST.match(part) or (len(part.split()) > FEW_WORDS and not addresses(part)):
            break
        start = earlier
    return start


def _end(text: str, match: re.Match[str]) -> int:
    """Where the sentence that forbids ends, or turns."""
    start, chinese = match.end(), is_chinese(match)
    turn = _TURNS.search(text, start)
    end = turn.start() if turn else len(text)
    if form_of(match) == "drop" or (form_of(match) == "noun" and match[0].casefold().endswith("not")):
        new = _NEW_REQUEST.search(text, start, end)
        end = new.start() if new else end
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
    for line in _NEW_LINE.finditer(text, start, end):
        at = line.start()
        said = text[start:at].rstrip()
        bullet = bool(_BULLET.match(text, at + 1))
        listed = listed or said.endswith((":", "："))
        if listed and (bullet or said.endswith((":", "："))):
            continue
        length = at - (text.rfind("\n", 0, at) + 1)
        few = len(said.split()) < 2 and not (chinese and len(said) > 2)
        blank = not text[at + 1 : at + 1 + LONGEST_CLAUSE].split("\n", 1)[0].strip()
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


def _without_addresses(text: str, forbidden: frozenset[str]) -> str:
    """`text` without words that hold an address which is forbidden, or one of a host that is."""
    if not forbidden:
        return text
    return re.sub(r"\S+", lambda word: "" if _falls_under(addresses(word[0]), forbidden) else word[0], text)


def _falls_under(found: frozenset[str], forbidden: frozenset[str]) -> bool:
    hosts = [other.removeprefix("www.") for other in forbidden if "/" not in other]
    for one in found:
        host = "." + one.split("/", 1)[0]
        if one in forbidden or any(one.startswith((f"{other}/", f"{other}?")) for other in forbidden):
            return True
        if "@" not in one and any(host.endswith(f".{other}") for other in hosts):
            return True
    return False
