"""Choose the next query for a question that is still open: always another one, aimed at what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from agents.retrieval.tokens import spellings, terms
from agents.workers.embedded.asking import AnswerKind
from agents.workers.embedded.matching import Matcher
from agents.workers.embedded.material import Material
from agents.workers.embedded.question import Question
from agents.workers.embedded.support import Support

FEEDBACK_TERMS: Final = 6
"""Terms taken over from the best sentences."""
FEEDBACK_SENTENCES: Final = 5
HEAVY_TERMS: Final = 3
"""Terms of the question that every query keeps, so that it does not drift."""
HEADINGS: Final = 2
_CUES: Final[dict[AnswerKind, dict[str, str]]] = {
    AnswerKind.TIME: {"en": "date day month year", "zh": "日期 时间 年 月 日"},
    AnswerKind.DURATION: {"en": "hours days weeks months years", "zh": "小时 天 周 月 年 期限"},
    AnswerKind.NUMBER: {"en": "number total amount", "zh": "数量 合计 共"},
    AnswerKind.PERSON: {"en": "name responsible author", "zh": "负责人 姓名"},
    AnswerKind.PLACE: {"en": "location place", "zh": "地点 位于"},
    AnswerKind.REASON: {"en": "because reason cause due", "zh": "因为 由于 原因 导致"},
    AnswerKind.METHOD: {"en": "steps configure procedure", "zh": "步骤 方法 操作"},
    AnswerKind.POLAR: {"en": "supported allowed limitation", "zh": "支持 限制 兼容"},
    AnswerKind.LIST: {"en": "following list types", "zh": "包括 以下 种类"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query and what it is aimed at, for the record."""

    text: str
    why: str


def first_query(question: Question) -> Query:
    """Return the question itself as a query."""
    return Query(text=question.text, why="question")


def next_query(
    question: Question,
    matcher: Matcher,
    material: Material,
    ranked: tuple[Support, ...],
    missing: tuple[str, ...],
    asked: tuple[str, ...],
) -> Query | None:
    """Return the first targeted query that differs from all in `asked` by its terms; `None` when ideas run out.

    In this order: what the best passage lacks; the headings of promising sections; words of the best sentences
    (pseudo relevance feedback); cue words of the kind of answer; rare terms one by one.
    """
    seen = {frozenset(terms(query)) for query in asked}
    for query in _ideas(question, matcher, material, ranked, missing):
        wanted = frozenset(terms(query.text))
        if wanted and wanted not in seen:
            return query
    return None


def _ideas(
    question: Question,
    matcher: Matcher,
    material: Material,
    ranked: tuple[Support, ...],
    missing: tuple[str, ...],
) -> Iterator[Query]:
    spelled = spellings(question.text)
    heavy = sorted(matcher.weights, key=lambda term: -matcher.weights[term])[:HEAVY_TERMS]
    core = [spelled.get(term, term) for term in heavy]
    lacking = [spelled.get(term, term) for term in missing]
    if lacking:
        held = [spelled.get(term, term) for term in heavy if term not in missing]
        yield Query(text=" ".join([*lacking, *held]), why=f"missing: {', '.join(lacking)}")
    told = _feedback(ranked, matcher)
    if told:
        yield Query(text=" ".join([*core, *told]), why=f"best_words: {', '.join(told)}")
    for heading in _headings(material):
        yield Query(text=f"{heading} {' '.join(lacking or core)}", why=f"section: {heading}")
    cue = _CUES.get(question.kind, {}).get(question.lang)
    if cue:
        yield Query(text=f"{' '.join(core)} {cue}", why=f"answer_kind: {question.kind.value}")
    for word in lacking:
        yield Query(text=word, why=f"missing: {word}")


def _headings(material: Material) -> list[str]:
    best = sorted(material.passages.values(), key=lambda passage: -passage.rank)
    titles = [passage.heading.rsplit(" > ", 1)[-1] for passage in best if passage.heading]
    return list(dict.fromkeys(titles))[:HEADINGS]


def _feedback(ranked: tuple[Support, ...], matcher: Matcher) -> list[str]:
    counted: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    for one in ranked[:FEEDBACK_SENTENCES]:
        found = spellings(one.candidate.unit.text)
        counted.update(list(found))
        spelled = {**found, **spelled}
    return [spelled[term] for term, _ in counted.most_common() if term not in matcher.weights][
        :FEEDBACK_TERMS
    ]
