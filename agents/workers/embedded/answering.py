"""Sort carried claims by the question that they answer: statements, disagreements, and what stays open."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from agents.citations import one_line
from agents.evidence import Claim, ClaimId
from agents.results import Conflict, OpenQuestion, OpenReason
from agents.workers.embedded.carried import Carried
from agents.workers.embedded.conflicts import find_conflicts, without_parts
from agents.workers.embedded.merging import Statement, merge, restated
from agents.workers.embedded.wording import Phrases
from agents.workers.embedded.writing import disagreement, heading, items, open_list, page

_TELLING: Final[tuple[OpenReason, ...]] = ("domain_closed", "limit_reached", "not_answerable", "not_found")
"""Where several searches left a question open: the reason that a person can do most about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the claims say on one question, or beside the questions."""

    question: str | None
    statements: tuple[Statement, ...]
    conflicts: tuple[Conflict, ...] = ()
    """Disagreements whose first side answers this question."""

    @property
    def answered(self) -> bool:
        """Return whether a core claim answers the question."""
        return any(claim.core for statement in self.statements for claim in statement.claims)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The answers to all questions, in the order of the questions; what answers none of them comes last."""

    answers: tuple[Answer, ...]
    open_questions: tuple[OpenQuestion, ...]
    dropped: Mapping[ClaimId, ClaimId]
    """The claim that stands for each one left out as a repetition."""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Return the claims of all answers."""
        return tuple(
            c for answer in self.answers for statement in answer.statements for c in statement.claims
        )

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """Return the disagreements of all answers."""
        return tuple(conflict for answer in self.answers for conflict in answer.conflicts)


def answers_to(
    questions: Sequence[str], carried: Carried, *, without: Collection[ClaimId] = frozenset()
) -> Answers:
    """Return what `carried` says on `questions`; claims in `without` are left to the caller.

    Every other claim is in one of the answers or said by one that is. A question that no core claim answers is open,
    with all that was searched for it; one that nobody looked for is open with nothing searched.
    """
    groups: dict[str, tuple[str | None, list[Claim]]] = {folded(q): (q, []) for q in questions}
    for claim in carried.claims:
        if claim.id not in without:
            key = folded(claim.question or "")
            groups.setdefault(key, (claim.question, []))[1].append(claim)
    named = [entry for key, entry in groups.items() if key]
    beside = [entry for key, entry in groups.items() if not key]
    merged = [(question, merge(claims, carried)) for question, claims in [*named, *beside]]
    dropped = {old: new for _, part in merged for old, new in part.dropped.items()}
    statements = [
        (question, part.statements) for question, part in merged if question in questions or part.statements
    ]
    conflicts = _conflicts(statements, carried, dropped)
    answers = tuple(
        Answer(question=question, statements=said, conflicts=_of(said, conflicts))
        for question, said in statements
    )
    return Answers(answers=answers, open_questions=_open(questions, answers, carried), dropped=dropped)


def answers_text(answers: Answers, phrases: Phrases, *, notes: Mapping[str, str] | None = None) -> str:
    """Return the answers as Markdown: one section a question, disagreements in it, open questions last.

    `notes` are remarks on questions, by question, that stand at the head of their sections.
    """
    remarks = {folded(question): remark for question, remark in (notes or {}).items()}
    by_claim = {s.shown.id: s for answer in answers.answers for s in answer.statements}
    beside = (
        phrases.also_found if any(answer.question for answer in answers.answers) else phrases.from_the_notes
    )
    near = {folded(one.question): one for one in answers.open_questions}
    sections = [
        page([_head(answer, phrases, beside, remarks, near), _said(answer, by_claim, phrases)])
        for answer in answers.answers
    ]
    return page([*sections, open_list(answers.open_questions, phrases)])


def folded(text: str) -> str:
    """Return what two wordings of a question or field are compared by: letters and digits alone, in one case.

    >>> folded("How high is it？") == folded("how high is it?")
    True
    """
    return "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())


def texts_of(params: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return the list of texts of a parameter; a single text is a list of one, anything else is empty."""
    value = params.get(name)
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    if isinstance(value, Sequence):
        return tuple(str(entry) for entry in value if str(entry).strip())
    return ()


def _head(
    answer: Answer,
    phrases: Phrases,
    beside: str,
    remarks: Mapping[str, str],
    near: Mapping[str, OpenQuestion],
) -> str:
    if answer.question is None:
        return heading(2, beside)
    silent = "" if answer.answered else _silent(near.get(folded(answer.question)), phrases)
    remark = remarks.get(folded(answer.question), silent)
    if answer.conflicts and remark == phrases.disagree:
        # The block of the conflict begins with these words.
        remark = ""
    return page([heading(2, answer.question), remark])


def _silent(left: OpenQuestion | None, phrases: Phrases) -> str:
    """Say that nothing answers, and quote what comes nearest where it may be quoted."""
    if left is None or not (left.nearest and left.nearest_text):
        return phrases.not_answered
    return phrases.nearest_is.format(text=one_line(left.nearest_text), place=one_line(left.nearest))


def _said(answer: Answer, by_claim: Mapping[ClaimId, Statement], phrases: Phrases) -> str:
    disputed = {claim for conflict in answer.conflicts for claim in conflict.claims}
    plain = [statement for statement in answer.statements if statement.shown.id not in disputed]
    plain.sort(key=lambda statement: not any(claim.core for claim in statement.claims))
    blocks = [
        disagreement([by_claim[claim] for claim in conflict.claims], phrases) for conflict in answer.conflicts
    ]
    return page([items(plain), *blocks])


def _conflicts(
    statements: Sequence[tuple[str | None, Sequence[Statement]]],
    carried: Carried,
    dropped: Mapping[ClaimId, ClaimId],
) -> tuple[Conflict, ...]:
    """Give the conflicts handed in and found here, in terms of the statements shown, none a part of another."""
    said = [statement for _, part in statements for statement in part]
    found = [conflict for _, part in statements for conflict in find_conflicts(part, carried)]
    return without_parts([*restated(carried.conflicts, said, dropped), *found])


def _of(said: Sequence[Statement], conflicts: Iterable[Conflict]) -> tuple[Conflict, ...]:
    shown = {statement.shown.id for statement in said}
    return tuple(conflict for conflict in conflicts if conflict.claims[0] in shown)


def _open(questions: Sequence[str], answers: Sequence[Answer], carried: Carried) -> tuple[OpenQuestion, ...]:
    answered = {folded(answer.question or "") for answer in answers if answer.answered}
    found: dict[str, OpenQuestion] = {}
    for question in carried.open_questions:
        key = folded(question.question)
        if key not in answered:
            found[key] = _both(found[key], question) if key in found else question
    for text in questions:
        if folded(text) not in answered:
            never = OpenQuestion(question=text, reason="not_found", searched=())
            found.setdefault(folded(text), never)
    order = [folded(text) for text in questions]
    return tuple(
        found[key] for key in sorted(found, key=lambda k: order.index(k) if k in order else len(order))
    )


def _both(first: OpenQuestion, second: OpenQuestion) -> OpenQuestion:
    kept = first if first.nearest else second
    return replace(
        first,
        reason=min(first.reason, second.reason, key=_TELLING.index),
        searched=tuple(dict.fromkeys([*first.searched, *second.searched])),
        nearest=kept.nearest,
        nearest_text=kept.nearest_text,
    )
