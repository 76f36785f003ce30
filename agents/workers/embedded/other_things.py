"""Tell sentences of one form that speak of different things.

`The otter population counted 253 animals` and `The kestrel population counted 866 animals` share nearly all their
words and contradict each other in nothing. The sentences are laid side by side; where one has a name or noun in the
place of another one, they speak of different things. A verb in the place of another verb (`stores`, `holds`) and words
that only one of them has (`the new plant`) change nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

import rjieba

from agents.retrieval.tokens import is_cjk, terms
from agents.workers.embedded.asking import any_of
from agents.workers.embedded.matching import credit, prepared
from agents.workers.embedded.sentence_sense import content

SAME_FORM: Final = 0.6
"""Share of their words that two sentences must have in one order to be of one form."""
_SAME_WORD: Final = 0.5
"""How far one word must be held by another (`insurer`, `insurance`) to be no other one."""

_PIECE = re.compile(r"\d[\d.,]*|[\u3400-\u9fff]+|[^\W\d_]+(?:['’-][^\W\d_]+)*")
_BEFORE_NOUN: Final = frozenset(
    any_of(
        "the a an this that these those its their our his her my your every each all both no some any",
        "of for in on at by from under near with without to between and or about",
    ).split("|")
)
"""English words after which a noun group begins."""
_AUXILIARY = re.compile(
    r"is|are|was|were|be|been|has|have|had|will|would|must|may|might|can|could|shall|should|does|do|did"
)
_FINITE = re.compile(
    _AUXILIARY.pattern + r"|[^\W\d_]{2,}(?:ed|[^s]s)",
)
"""What a verb of the rest of a sentence looks like."""
_REPORTS = re.compile(
    r"(?:say|says|said|state|states|stated|report|reports|reported|write|writes|wrote|claim|claims|claimed|note|notes"
    r"|noted|according|mentions?|mentioned)|[\u3400-\u9fff]*(?:说|称|表示|写道?|写着|记载|指出|认为|显示|提到|报道|记录)"
)
"""Who says something is not what it is said of."""


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    """Lower case."""
    key: str
    """By which words of two sentences are the same; `#` for any number."""
    telling: bool
    """Whether it says what the sentence is about: no number, unit, date or stop word."""
    noun: bool = False
    """Whether a Chinese word is tagged as anything but a verb: rare names are tagged as adjectives and the like."""


def of_other_things(a: str, b: str) -> bool:
    """Say whether two sentences of one form speak of different things.

    >>> of_other_things("The mill was founded in 1661.", "The forge was founded in 1702.")
    True
    >>> of_other_things("The plant stores 32 MWh.", "The plant holds 30 MWh.")
    False
    >>> of_other_things("磨坊建于1661年。", "铁匠铺建于1702年。")
    True
    """
    first, second = _words(a), _words(b)
    matcher = SequenceMatcher(None, [w.key for w in first], [w.key for w in second], autojunk=False)
    if matcher.ratio() < SAME_FORM and not _short_of_one_form(first, second, matcher):
        return False
    return any(
        _names_other(first, (i, j), second, (k, m))
        for tag, i, j, k, m in matcher.get_opcodes()
        if tag == "replace"
    )


def _short_of_one_form(
    first: Sequence[_Word], second: Sequence[_Word], matcher: SequenceMatcher[str]
) -> bool:
    """Say whether all that two sentences do not share is their beginnings: of short ones, that is half of the words."""
    block = matcher.find_longest_match()
    ends = block.a + block.size == len(first) and block.b + block.size == len(second)
    return ends and any(word.telling for word in first[block.a :])


def _names_other(
    first: Sequence[_Word], mine: tuple[int, int], second: Sequence[_Word], theirs: tuple[int, int]
) -> bool:
    sides = ((first, *mine), (second, *theirs))
    named = [[word for word in words[i:j] if word.telling] for words, i, j in sides]
    if not all(named) or any(_alike(one, other) for one in named[0] for other in named[1]):
        return False
    return all(_is_named(words, i, j) for words, i, j in sides)


def _is_named(words: Sequence[_Word], start: int, end: int) -> bool:
    """Say whether the words from `start` to `end` name a thing, and not what it does or who tells of it."""
    after = words[end].text if end < len(words) else ""
    slot = words[start:end]
    if _REPORTS.fullmatch(after) or any(_REPORTS.fullmatch(word.text) for word in slot):
        return False
    if any(is_cjk(word.text) for word in slot):
        has_noun = any(word.noun and word.telling for word in slot)
        value_next = end < len(words) and words[end].key == "#"
        # Right before a value stands what is done with it, unless nothing stands before that.
        return (has_noun and not start) if value_next else (has_noun or not start)
    before = words[start - 1].text if start else ""
    if _AUXILIARY.fullmatch(before):
        return False
    opens = before in _BEFORE_NOUN or any(word.text in _BEFORE_NOUN for word in slot)
    if not before or opens:
        return True
    rest = [word.text for word in words[end:]]
    value = next((n for n, word in enumerate(words[end:]) if word.key == "#"), len(rest))
    return any(_FINITE.fullmatch(word) for word in rest[:value])


def _alike(one: _Word, other: _Word) -> bool:
    return max(credit(one.key, prepared(other.text)), credit(other.key, prepared(one.text))) >= _SAME_WORD


@lru_cache(maxsize=20_000)
def _words(sentence: str) -> tuple[_Word, ...]:
    told = content(sentence)
    found: list[_Word] = []
    for match in _PIECE.finditer(sentence):
        piece = match[0]
        if piece[0].isdigit():
            found.append(_Word(piece, "#", False))
        elif is_cjk(piece):
            found += [
                _Word(word, word, bool(told.intersection(terms(word))), not tag.startswith("v"))
                for word, tag in rjieba.tag(piece)
            ]
        else:
            text = piece.casefold()
            stems = terms(piece)
            found.append(_Word(text, stems[0] if stems else text, bool(told.intersection(stems))))
    return tuple(found)
