"""Who does what: the deed that a question for a person asks about, and whether a text names who does it.

*Who signs the lease?* asks for the subject of *sign*: a sentence that has the verb in another form is about the same
deed, one that names a person and another deed answers nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import rjieba

from agents.retrieval.tokens import ENGLISH_STOP_WORDS, is_cjk, terms
from agents.workers.embedded.answer_forms import LOOSE, NONE, STRICT, actors, persons
from agents.workers.embedded.note_tables import split_row
from agents.workers.embedded.question import Question

_IRREGULAR: Final = {
    form: base
    for base, *forms in (
        entry.split()
        for entry in [
            "bear bore borne",
            "bring brought",
            "break broke broken",
            "build built",
            "buy bought",
            "catch caught",
            "choose chose chosen",
            "deal dealt",
            "draw drew drawn",
            "drive drove driven",
            "feed fed",
            "fight fought",
            "find found",
            "forbid forbade forbidden",
            "give gave given",
            "grow grew grown",
            "hang hung",
            "hold held",
            "keep kept",
            "know knew known",
            "lay laid",
            "lead led",
            "leave left",
            "lend lent",
            "lose lost",
            "make made",
            "meet met",
            "oversee oversaw overseen",
            "pay paid",
            "ring rang rung",
            "say said",
            "see saw seen",
            "seek sought",
            "sell sold",
            "send sent",
            "show shown",
            "speak spoke spoken",
            "spend spent",
            "steal stole stolen",
            "sweep swept",
            "take took taken",
            "teach taught",
            "tell told",
            "think thought",
            "throw threw thrown",
            "undertake undertook undertaken",
            "wear wore worn",
            "win won",
            "withdraw withdrew withdrawn",
            "write wrote written",
        ]
    )
    for form in forms
}
"""Past forms that stemming does not bring back to their verb."""
_OTHER_WORDS: Final = {"write": ("author",), "own": ("belong",), "负责": ("责任",)}
"""Verbs whose doer is commonly named by another word."""
_CONVERSE: Final = frozenset({"belong"})
"""Those whose doer comes after *to*."""
_AUX: Final = (
    r"is|are|was|were|be|been|being|has|have|had|will|would|shall|should|must|may|might|can|could|gets?|got"
)
_ADVERB: Final = r"not|also|first|now|already|then|usually|always|only|still|jointly|\w+ly"
_WHO_EN: Final = re.compile(
    rf"\bwho\s+(?P<aux>(?:(?:{_AUX}|else|to|{_ADVERB})\s+)*)(?P<verb>[a-z][a-z'’-]+)", re.IGNORECASE
)
_BY_WHOM: Final = re.compile(
    rf"\bby whom\s+(?:{_AUX})\b.*?\b(?P<verb>[a-z]+ed|{'|'.join(_IRREGULAR)})\b|"
    rf"\b(?P<after>[a-z]+ed|{'|'.join(_IRREGULAR)})\s+by\s+whom\b",
    re.IGNORECASE,
)
_PARTICIPLE: Final = re.compile(rf"\w+(?:ed|ing)|{'|'.join(_IRREGULAR)}", re.IGNORECASE)
_WHO_ZH: Final = re.compile(
    r"(?:谁|哪一?位(?!置)|什么人|何人|哪个(?:部门|单位|公司|人))"
    r"(?:来|去|将|要|可以|能够?|会|应该?|必须|已经|正在|曾经?|最终|首先)*(?P<rest>[\u4e00-\u9fff]+)"
)
_NO_DEED_ZH: Final = frozenset({"是", "有", "在", "为", "叫", "当"})

_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")
_CLAUSE = re.compile(
    r"[;:.!?；：。！？]|\b(?:after|before|because|when|while|whereas|although|if|unless|until|since|that|which|so)\b",
    re.IGNORECASE,
)
_NOUN_ENDING = re.compile(r"(?:ation|tion|sion|ment|ance|ence|ure|ery|al|ing)s?$", re.IGNORECASE)
_AGENT_ENDINGS: Final = frozenset({"er", "or", "r", "ee", "ori"})
_PASSIVE = re.compile(
    rf"\b(?:is|are|was|were|be|been|being|gets?|got)\s+(?:(?:{_ADVERB})\s+)*$", re.IGNORECASE
)
_RUN_UP = re.compile(
    rf"(?:\s*,?\s*\b(?:{_AUX}|do|does|did|to|{_ADVERB})\b)+\s*,?\s*$|\s*,\s*$", re.IGNORECASE
)
_BY = re.compile(r"\bby\s+(?P<doer>(?:the\s+|an?\s+|our\s+)?[^,;.]{2,60})", re.IGNORECASE)
_LABEL = re.compile(r"^(?:\s+by)?\s*(?:人|者|单位|方|部门)?\s*(?:[:：]|为|是|\|)\s*(?P<doer>[^;；。]{2,40})")
_NOUN_AHEAD = re.compile(
    r"\b(?:the|an?|its|their|our|your|his|her|this|that|of|no|any|each|every|in|on|for|with|from|per|without|at|after|"
    r"before|[\w-]+['’]s?)\s+$",
    re.IGNORECASE,
)
"""Words after which a word that could be a verb is a noun: `the supply`."""
_PRONOUN = re.compile(r"(?:^|[,;.]\s+)(?:he|she|they|it)\s*$", re.IGNORECASE)
_AGENT_NOUN = re.compile(
    r"\b(?i:the|an?|our|its|their|each|every)\s+(?:[\w-]+\s+){0,3}?(?:[a-z]{3,}(?:er|or|ian|ist|ee)s?|office)$"
)
"""Whom the ending of the noun right before the verb makes a doer: `the electrician`, `the new tenant`."""
_FIRST_NAME = re.compile(
    r"(?:^|\s|\()(?P<name>[A-Z][a-z'’-]+|[A-Z]{2,})(?=\s+(?:and\s+[A-Z][\w'’-]+)?\s*$|\s*$)"
)
"""A single capitalised word right before the verb phrase."""
_NO_NAME: Final = frozenset(
    [
        "he",
        "she",
        "it",
        "they",
        "we",
        "you",
        "i",
        "who",
        "this",
        "that",
        "these",
        "those",
        "there",
        "here",
        "one",
        "some",
        "all",
        "each",
        "every",
        "nobody",
        "nothing",
        "please",
    ]
)
_CALENDAR = re.compile(
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)"
)
_PERSON_COLUMN = re.compile(
    r"^(?:who|by(?: whom)?|name|person|people|responsible|responsibility|in charge|owner|lead|assignee|contact)\b|"
    r"负责人|责任人|经办人|执行人|承办人|人员|姓名|联系人|由谁",
    re.IGNORECASE,
)


@lru_cache(maxsize=2_000)
def deed_of(question: str) -> str:
    """Return the verb whose doer a question asks for, as a term; empty where it asks who somebody is.

    >>> deed_of("Who signed the lease?"), deed_of("Who is the mayor?"), deed_of("由谁批准？")
    ('sign', '', '批准')
    """
    if is_cjk(question):
        return _deed_zh(question)
    by = _BY_WHOM.search(question)
    if by:
        return _base(by["verb"] or by["after"])
    match = _WHO_EN.search(question)
    if match is None:
        return ""
    verb, aux = match["verb"], match["aux"].casefold().split()
    copula = bool(aux) and aux[-1] in {"is", "are", "was", "were"}
    if verb.casefold() in ENGLISH_STOP_WORDS or (copula and not _PARTICIPLE.fullmatch(verb)):
        return ""
    return _base(verb)


def doer_strength(question: Question, text: str, lead: str | None = None) -> float:
    """Return how far `text` names who does the deed of `question`: a name `STRICT`, a role or body `LOOSE`, or `NONE`.

    `lead` is the header row or sentence that introduces it.
    """
    deed = deed_of(question.text)
    if text.lstrip().startswith("|"):
        return _in_row(question, deed, text, lead or "")
    if is_cjk(deed):
        return max(
            (_grade_zh(question, text, start, end) for start, end in _said_zh(deed, text)), default=NONE
        )
    found = max((_grade_en(question, deed, text, match) for match in _said_en(deed, text)), default=NONE)
    if not found and lead and any(_said_en(deed, lead)):
        return min(LOOSE, _graded(question, text))
    return found


def done_by_pronoun(question: Question, text: str) -> bool:
    """Return whether a pronoun is who does the deed: the sentence before may say who that is."""
    deed = deed_of(question.text)
    if is_cjk(deed):
        return any(
            re.search(r"(?:^|[，。；])[他她它]们?[^，。；]*$", text[:a]) for a, _ in _said_zh(deed, text)
        )
    return any(_PRONOUN.search(_RUN_UP.sub("", text[: match.start()])) for match in _said_en(deed, text))


def deed_terms(question: Question) -> tuple[str, ...]:
    """Return the terms of `question` that are its deed: whatever names the doer says them in other words."""
    deed = deed_of(question.text)
    return tuple(term for term in question.terms if deed and deed in {term, _base(term)})


def _deed_zh(question: str) -> str:
    match = _WHO_ZH.search(question)
    if match is None:
        return ""
    for word, tag in list(rjieba.tag(match["rest"]))[:2]:
        if word in _NO_DEED_ZH:
            return ""
        if tag.startswith("v") and len(word) > 1:
            return str(word)
    return ""


@lru_cache(maxsize=20_000)
def _base(word: str) -> str:
    folded = word.casefold()
    return next(iter(terms(_IRREGULAR.get(folded, folded))), "")


def _said_en(deed: str, text: str) -> Iterator[re.Match[str]]:
    for match in _WORD.finditer(text):
        base = _base(match.group())
        if base == deed or base in _OTHER_WORDS.get(deed, ()) or _names_doer(deed, base):
            yield match


def _names_doer(deed: str, base: str) -> bool:
    """Say whether a term is the deed's own noun: `owner` of `own`, `signatur` of `sign`."""
    return base.startswith(deed) and base[len(deed) :] in _AGENT_ENDINGS | {"atur", "ment", "al", "eri", "i"}


def _grade_en(question: Question, deed: str, text: str, match: re.Match[str]) -> float:
    before, after = text[: match.start()], text[match.end() :]
    label = _LABEL.match(after)
    if label:
        return _graded(question, label["doer"])
    cut = max((found.end() for found in _CLAUSE.finditer(before)), default=0)
    ahead = _CLAUSE.search(after)
    clause, rest = before[cut:], after[: ahead.start()] if ahead else after
    if _elsewhere(question, deed, f"{clause} {rest}", text):
        return NONE
    by = next((_graded(question, found["doer"]) for found in _BY.finditer(rest)), NONE)
    if by:
        return by
    word = match.group()
    if _base(word) in _CONVERSE:
        to = re.match(r"\s+to\s+(?P<doer>.{2,60})", rest)
        return _graded(question, to["doer"]) if to else NONE
    if _names_doer(deed, _base(word)) or _NOUN_ENDING.search(word):
        if _base(word) != deed or not _RUN_UP.search(clause):
            return _of_noun(question, clause, rest)
    elif _NOUN_AHEAD.search(clause):
        return _of_noun(question, clause, rest)
    if _PASSIVE.search(clause) and not word.endswith("ing"):
        return NONE
    return _subject(question, clause)


def _of_noun(question: Question, clause: str, rest: str) -> float:
    """`the signature of the owner`, `Ida's signature`, `Ida is the owner`."""
    of = re.match(r"\s+(?:of|is|was)\s+(?P<doer>(?:the\s+)?[\w'’ -]{2,40})", rest)
    whose = re.search(r"(?P<doer>[\w .-]{2,40})['’]s?\s+$", clause)
    doers = [found["doer"] for found in (of, whose) if found]
    return max((min(LOOSE, _graded(question, doer)) for doer in doers), default=NONE)


def _elsewhere(question: Question, deed: str, clause: str, text: str) -> bool:
    """Say whether what the deed is done to stands in another clause of the sentence, and nothing of it in this one."""
    objects = set(question.terms) - {deed}
    here, whole = set(terms(clause)), set(terms(text))
    return bool(objects & whole) and not objects & here


def _subject(question: Question, clause: str) -> float:
    body = _RUN_UP.sub("", clause).rstrip(" ,")
    named = _FIRST_NAME.search(body)
    if named and _is_name(named["name"], question):
        return STRICT
    graded = _graded(question, body)
    return graded or (LOOSE if _AGENT_NOUN.search(body) else NONE)


def _is_name(word: str, question: Question) -> bool:
    return (
        word.casefold() not in _NO_NAME
        and word.casefold() not in ENGLISH_STOP_WORDS
        and not _CALENDAR.fullmatch(word)
        and word.casefold() not in question.text.casefold()
    )


def _graded(question: Question, text: str) -> float:
    if any(persons(question, text)):
        return STRICT
    one = re.match(r"\s*(?P<name>[A-Z][A-Za-z'’-]+)\b", text)
    if one and _is_name(one["name"], question):
        return STRICT
    return LOOSE if any(actors(question, text)) else NONE


def _said_zh(deed: str, text: str) -> Iterator[tuple[int, int]]:
    for word in (deed, *_OTHER_WORDS.get(deed, ())):
        for match in re.finditer(re.escape(word), text):
            yield match.span()


def _grade_zh(question: Question, text: str, start: int, end: int) -> float:
    label = _LABEL.match(text[end:])
    labelled = _graded(question, label["doer"]) if label else NONE
    sentence = re.split(r"[。；;！？]", text[:start])[-1]
    here = re.split(r"[，,]", sentence)[-1]
    return max(labelled, _graded(question, here), min(LOOSE, _graded(question, sentence)))


def _in_row(question: Question, deed: str, row: str, header: str) -> float:
    """A row answers if it or its header speaks of the deed, and a column of persons, or a name, says who."""
    said = _said_zh if is_cjk(deed) else _said_en
    if not any(said(deed, f"{header} {row}")):
        return NONE
    cells = [text for text, _ in split_row(row)]
    heads = [text for text, _ in split_row(header)] if header.lstrip().startswith("|") else []
    for head, cell in zip(heads, cells, strict=False):
        if (_PERSON_COLUMN.search(head.strip()) or any(said(deed, head))) and re.search(r"[^\W\d]", cell):
            return STRICT if cell.strip().casefold() not in question.text.casefold() else NONE
    return max(
        (_graded(question, cell) if any(persons(question, cell)) else NONE for cell in cells), default=NONE
    )
