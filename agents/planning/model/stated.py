"""Whether a goal states a condition: with its very words, in their order, and with nothing around them that bends them.

English and Chinese, no model. Whoever is unsure says no: then the condition is the model's, and the review says so.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from agents.retrieval.tokens import words

_HAN: Final = r"\u3400-\u9fff\uf900-\ufaff"
_TOKEN: Final = re.compile(rf"[{_HAN}]|\d+(?:[.,]\d+)*|[^\W\d_{_HAN}]+|[.;:!?。；：！？\n]|,|，|、")
_SENTENCE: Final = frozenset(".;:!?\n")
_COMMAS: Final = frozenset(",、")
_LEFT_OUT: Final = frozenset({"the", "a", "an", "please", "请"})
"""Words that change nothing."""
_ONLY: Final = frozenset({"only", "just", "sole", "exclus"})
_JOINS: Final = frozenset(
    {"and", "or", "but", "yet", "while", "wherea", "instead", "then", "但", "而", "并", "且", "和", "或"}
)
_TURNS: Final = frozenset({"but", "yet", "wherea", "instead", "但", "而"})
"""Behind them a negation before them is over."""

_POLITE: Final = re.compile(
    r"\b(?:can|could|would|will)\s+you\s+|\b(?:make\s+sure|ensure|note|remember)\s+that\s+(?:you\s+)?"
)
_NOT: Final = re.compile(r"(?<=[a-z])n't\b")
_BENDS: Final = re.compile(
    r"\b(?:not|no|never|none|nor|neither|nothing|nobody|without|avoid\w*|except\w*|exclud\w*|ignor\w*|skip\w*|forbid\w*"
    r"|prohibit\w*|refus\w*|stop\w*|only|just|solely|exclusively|may|might|can|could|optional\w*|instead|rather)\b"
    r"|[不勿别未无没禁莫只仅唯]|避免|除|拒绝|可以|反对|停止|排除|跳过|忽略"
)
"""Words that turn what stands behind them, or before them in the same clause, into something else."""
_DESCRIBES: Final = re.compile(
    r"\b(?:that|which|who|whose|whom|whether|if|when|why|how|what|where|unless|because|says?|said|claims?|claimed|states?"
    r"|stated|according|ask(?:s|ed)?\s+whether)\b|是否|如果|若|假如|要是|除非|为什么|为何|怎么|哪|谁|当|说(?!明)|认为|声称|凡"
)
"""Before a condition: it is told of something, or holds in some case, and is none of the task."""
_EXCEPTS: Final = re.compile(
    r"\b(?:except\w*|unless|if|when|until|only|apart|other\s+than)\b|除|直到|如果|若(?!干)"
)
_QUANTIFIES: Final = re.compile(
    r"\b(?:less|more|fewer|greater|over|under|below|above|least|most|up\s+to|within|max|maximum|min|minimum|exactly|before|after"
    r"|until|roughly|nearly|almost|than|half|twice|per|otherwise)\b"
    r"|超过|少于|多于|低于|高于|大于|小于|不足|不到|至少|至多|最多|最少|最低|最高|大约|约|将近|以内|以下|以上|之内|左右|以外|之前|之后"
)
_QUANTIFIES_NEXT: Final = re.compile(
    r"\b(?:all|any|some|each|every|first|last)\b|[每近内前后起的地吗]|所有|任何"
)
"""Right beside it only."""
_ROUGHLY: Final = re.compile(r"\b(?:about|around)$|[约近]$")
NEAR: Final = 4
"""Words, or Chinese characters, on each side in which a quantifier belongs to what a condition says."""


@dataclass(frozen=True, slots=True)
class _Words:
    """A text as it is compared."""

    spelled: tuple[str, ...]
    stems: tuple[str, ...]
    ends: tuple[str, ...]
    """What punctuation stands behind each word: a sentence's end, a comma, or none."""


def is_stated(text: str, goal: str) -> bool:
    """Return whether `text` is one ordered stretch of words of `goal` with the same limits, which nothing bends.

    A comma or a full stop within has to stand in both; `only` may stand on either side. What is told of something else
    (`notes that do not mention prices`), asked, excepted or of another size (`less than 100`) is not stated.
    """
    said, wanted = _read(goal), _read(text)
    core = wanted.stems
    start, until = 0, len(core)
    moved = False
    if core[:1] and core[0] in _ONLY:
        start, moved = 1, True
    elif core[-1:] and core[-1] in _ONLY:
        until, moved = until - 1, True
    whole = _stretch(said, wanted, 0, len(core), only=False)
    return whole or (moved and _stretch(said, wanted, start, until, only=True))


def _stretch(said: _Words, wanted: _Words, start: int, until: int, *, only: bool) -> bool:
    core = wanted.stems[start:until]
    if not core:
        return False
    ends = [bool(end) for end in wanted.ends[start : until - 1]]
    for at in range(len(said.stems) - len(core) + 1):
        last = at + len(core)
        if said.stems[at:last] != core or [bool(end) for end in said.ends[at : last - 1]] != ends:
            continue
        before, behind = _around(said, at, last)
        if only:
            if before and before[-1] in ("only", "just", "solely", "exclusively"):
                before = before[:-1]
            elif behind and behind[0] in ("only", "just", "solely", "exclusively"):
                behind = behind[1:]
            else:
                continue
        if not _bent(said, at, last, before, behind):
            return True
    return False


def _around(said: _Words, at: int, last: int) -> tuple[list[str], list[str]]:
    """The words of the sentence on both sides."""
    start, until = at, last
    while start > 0 and said.ends[start - 1] not in _SENTENCE:
        start -= 1
    if said.ends[last - 1] not in _SENTENCE:
        while until < len(said.stems):
            until += 1
            if said.ends[until - 1] in _SENTENCE:
                break
    return list(said.spelled[start:at]), list(said.spelled[last:until])


def _bent(said: _Words, at: int, last: int, before: list[str], behind: list[str]) -> bool:
    own = bool(_BENDS.search(_text(list(said.spelled[at : min(at + 2, last)]))))
    scope = before
    for number in range(len(before), 0, -1):
        place = at - len(before) + number - 1
        joined = said.stems[place] in (_JOINS if own else _TURNS)
        if joined or (own and said.ends[place] in _COMMAS):
            scope = before[number:]
            break
    clause = behind
    for number in range(len(behind)):
        place = last + number
        if said.stems[place] in _JOINS or said.ends[place - 1] in _COMMAS:
            clause = behind[:number]
            break
    asked = _ends_with_a_question(said, last)
    return bool(
        asked
        or _DESCRIBES.search(_text(before))
        or _BENDS.search(_text(scope))
        or _BENDS.search(_text(clause))
        or _EXCEPTS.search(_text(behind))
        or _QUANTIFIES.search(_text(scope[-NEAR:]))
        or _QUANTIFIES.search(_text(clause[:NEAR]))
        or _QUANTIFIES.search(_text(behind[:2]))
        or (said.stems[at][0].isdigit() and _ROUGHLY.search(_text(scope)))
        or _QUANTIFIES_NEXT.search(_text(scope[-1:]))
        or _QUANTIFIES_NEXT.search(_text(clause[:1]))
    )


def _ends_with_a_question(said: _Words, last: int) -> bool:
    for end in said.ends[last - 1 :]:
        if end in _SENTENCE and end:
            return end == "?"
    return False


def _text(tokens: list[str]) -> str:
    return re.sub(rf"(?<=[{_HAN}]) (?=[{_HAN}])", "", " ".join(tokens))


def _read(text: str) -> _Words:
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'").replace("。", ".")
    plain = plain.replace("can't", "can not").replace("cannot", "can not").replace("won't", "will not")
    polite = _POLITE.sub(" ", plain)
    if polite != plain:
        polite = polite.replace("?", ".")
    spelled, ends = list[str](), list[str]()
    for token in _TOKEN.findall(_NOT.sub(" not", polite)):
        if token in _SENTENCE or token in _COMMAS:
            if ends and not (ends[-1] and ends[-1] in _SENTENCE):
                ends[-1] = token
        elif token not in _LEFT_OUT:
            spelled.append(token)
            ends.append("")
    if ends:
        # What ends a text is no limit within it.
        ends[-1] = ends[-1] if ends[-1] == "?" else "."
    return _Words(
        spelled=tuple(spelled),
        stems=tuple((words(token) or (token,))[0] for token in spelled),
        ends=tuple(ends),
    )
