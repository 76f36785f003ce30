"""Read a question: its language, what must be matched, and what kind of answer would satisfy it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from agents.retrieval.tokens import is_cjk, terms
from agents.workers.embedded import asking
from agents.workers.embedded.asking import AnswerKind
from graphs.contract import Lang

Measure = Literal["", "percent", "money", "length", "mass", "temperature", "area"]
"""What a number has to be a measure of; empty: a count, or not said."""

_NUMBERING = re.compile(r"^\s*(?:[(（]?\d{1,2}[)）]|\d{1,2}[.、](?!\d)|\d+(?:\.\d+){1,3}\s)\s*")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_YEAR = re.compile(r"(?<![\d.])(?:19|20)\d{2}(?![\d.]\d|\d)")
_DATE_ZH = re.compile(
    r"(?:(?:19|20)\d{2}(?:\s*年)?)?(?:的?\d{1,2}月(?:\d{1,2}[日号])?)|(?:19|20)\d{2}\s*年?(?=[^\d])"
)
_DAY_ZH = re.compile(r"\d{1,2}月(?:\d{1,2}[日号])?|第?[一二三四1-4]季度|[上下]半年")
_NAMES = re.compile(
    r"《([^》]{1,40})》|[“\"]([^”\"]{1,60})[”\"]|`([^`]{1,80})`|"
    r"((?<![A-Za-z0-9_])(?=[A-Za-z0-9_.\-]*[A-Za-z])"
    r"(?=[A-Za-z0-9_.\-]*[0-9_]|[A-Za-z]*[a-z][A-Z]|[A-Z]{2})[A-Za-z0-9_.\-]*[A-Za-z0-9])"
)
_AUXILIARY_EN: Final = frozenset(
    {"is", "are", "was", "were", "does", "do", "did", "of", "the", "has", "have", "will"}
)
MEASURES: Final[tuple[tuple[Measure, re.Pattern[str]], ...]] = (
    ("percent", asking.RATE),
    ("money", asking.MONEY),
    ("length", asking.LENGTH),
    ("mass", asking.MASS),
    ("temperature", asking.TEMPERATURE),
    ("area", asking.AREA),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question as the worker understands it."""

    text: str
    lang: Lang
    kind: AnswerKind
    terms: tuple[str, ...]
    """Content terms that the material must be about, in order, each once; words of asking left out."""
    subject: tuple[str, ...] = ()
    """Those of them that name what is asked for, where the wording shows it: `yield` of *the expected yield of the
    plant*. Never a word for explaining, like *purpose*: what explains need not say so."""
    years: tuple[str, ...] = ()
    """Years named in the question, four digits."""
    days: tuple[str, ...] = ()
    """Months, days, quarters and half-years named in the question, as written (Chinese)."""
    names: tuple[str, ...] = ()
    """Quoted titles, identifiers, words with digits or capitals inside: what must not be exchanged."""
    measure: Measure = ""
    """For a number."""
    counted: tuple[str, ...] = ()
    """For a count: the classifier and the noun of what is counted, as written."""
    year_asked: bool = False
    """Whether a bare year answers."""


def read_question(text: str) -> Question:
    """Return the question that `text` asks; a phrase without a question word counts as one too."""
    stripped = _LINK.sub(r"\1", _NUMBERING.sub("", text)).strip()
    lang: Lang = "zh" if is_cjk(stripped) else "en"
    kind = _kind(stripped, lang)
    folded = stripped.casefold()
    content = _content(_without_asking(stripped, lang)) or _content(stripped)
    measure = _measure(folded) if kind is AnswerKind.NUMBER else ""
    return Question(
        text=text.strip(),
        lang=lang,
        kind=kind,
        terms=content,
        subject=tuple(term for term in _subject(folded, lang) if term in content),
        years=tuple(dict.fromkeys(_YEAR.findall(stripped))),
        days=tuple(dict.fromkeys(_DAY_ZH.findall(stripped))) if lang == "zh" else (),
        names=_names(stripped),
        measure=measure,
        counted=_counted(folded, lang) if kind is AnswerKind.NUMBER and not measure else (),
        year_asked=bool(asking.YEAR_ASKED.search(folded)),
    )


def _kind(text: str, lang: Lang) -> AnswerKind:
    if lang == "en":
        folded = text.casefold()
        if asking.EN_STORED.search(folded):
            return AnswerKind.OPEN
        return asking.first_kind(folded, asking.EN_KINDS) or AnswerKind.OPEN
    found = asking.first_kind(text, asking.ZH_KINDS)
    if found is not None:
        return found
    bare = not asking.ZH_ASKING.search(text.rstrip("？? ")) and not asking.ZH_EXPLAINED.search(text)
    return AnswerKind.NAME if bare else AnswerKind.OPEN


def _subject(folded: str, lang: Lang) -> tuple[str, ...]:
    match = (asking.SUBJECT_ZH if lang == "zh" else asking.SUBJECT_EN).search(folded)
    if match is None:
        return ()
    noun = match["noun"]
    explained = asking.ZH_EXPLAINED if lang == "zh" else asking.EN_EXPLAINED
    return () if explained.search(noun) else _content(noun)[-1:] if lang == "en" else _content(noun)


def _without_asking(text: str, lang: Lang) -> str:
    if lang == "en":
        return asking.EN_ASKING.sub(" ", _YEAR.sub(" ", text.casefold()))
    undated = _DATE_ZH.sub(" ", text + " ")
    return asking.ZH_TYPE_WORDS.sub(" ", asking.ZH_ASKING.sub(" ", undated).strip())


def _content(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(terms(text)))


def _names(text: str) -> tuple[str, ...]:
    groups = (match.groups() for match in _NAMES.finditer(text))
    return tuple(dict.fromkeys(next(group for group in found if group) for found in groups))


def _measure(folded: str) -> Measure:
    return next((measure for measure, pattern in MEASURES if pattern.search(folded)), "")


def _counted(folded: str, lang: Lang) -> tuple[str, ...]:
    match = (asking.COUNTED_ZH if lang == "zh" else asking.COUNTED_EN).search(folded)
    if match is None:
        return ()
    found = match.groupdict()
    noun = found.get("noun")
    if lang == "en":
        return (noun,) if noun and noun not in _AUXILIARY_EN else ()
    nouns = tuple(term for term in terms(noun or "") if is_cjk(term))[:1]
    return tuple(part for part in (found.get("classifier"), *nouns) if part and part != "个")
