"""Hold statements against the notes: quote what says so, what says otherwise, and leave open what nothing tells.

Rules over words and numbers. A statement is told so only by a sentence that has its words, numbers, dates, names and
negation; otherwise only by one that speaks of the same and differs in one number or date, or in the negation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from agents.evidence import Claim, SourceId, claim_of
from agents.results import Conflict, Need, OpenReason, WorkOutput, WorkResult
from agents.retrieval.copies import repeats
from agents.retrieval.tokens import terms
from agents.tools.contract import Broker
from agents.workers.embedded.access import access_of
from agents.workers.embedded.answering import texts_of
from agents.workers.embedded.carried import Carried, carry, independent_source, output_of
from agents.workers.embedded.composing import Answer, compose, weighted
from agents.workers.embedded.conflicts import disagree
from agents.workers.embedded.inquiry import Inquiry, NotesReader, ResearchLimits, inquire
from agents.workers.embedded.material import Candidate
from agents.workers.embedded.merging import Statement, says_the_same
from agents.workers.embedded.quantities import PLAIN, Day, Measure, Quantities, nearly_equal, read_quantities
from agents.workers.embedded.question import read_question
from agents.workers.embedded.selection import Weighted
from agents.workers.embedded.wording import PHRASES, Phrases
from agents.workers.embedded.writing import declared, heading, items, open_list, page
from agents.workers.ports import WorkFailed, WorkOrder
from masks.bands import Band

SAID_SHARE: Final = 0.8
"""Share of a statement's content words that a sentence must have to speak of the same."""
FEWEST_WORDS: Final = 2
"""Content words of a statement that can be told otherwise by a part of a sentence."""
MOST_QUOTES: Final = 3
"""Sentences quoted for each finding on one statement."""
FEWEST_CALLS: Final = 1
"""Tool calls of one statement: a search brings excerpts, which mostly hold the sentence."""
ROUNDS: Final = 2
"""Queries for one statement: the statement itself, and what the best passage lacks of it."""

_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nor|neither|without|cannot)\b|n['’]t\b|[不未没無无非]|并非|停止|取消",
    re.IGNORECASE,
)
_NO_NEGATION = re.compile(
    r"\bno(?:t)? (?:more|less|fewer|later|earlier|only|least)\b"
    r"|[不未](?:少于|多于|低于|高于|超过|小于|大于|晚于|早于|足|到|仅|但|同|断|论)|无论",
    re.IGNORECASE,
)
"""Forms of comparing and joining that hold a negating word and deny nothing."""
_CLAUSE_END = re.compile(r"[,;:，；：]\s*")
_PART_END = re.compile(r"[;；，()（）]\s*|,\s+")
"""Where one statement within a sentence may end and the next begin; the comma of `3,900` ends none."""
_NAME = re.compile(r"\b[A-Z][A-Za-z0-9]+\b|《[^》]+》")

Finding = Literal["says_so", "says_otherwise"]


def finding_on(statement: str, sentence: str) -> Finding | None:
    """Return what `sentence` says of `statement`; `None`: nothing that rules can tell.

    >>> finding_on("The plant stores 32 MWh.", "By 2030 the plant stores 32 MWh of energy.")
    'says_so'
    >>> finding_on("The plant stores 30 MWh.", "The plant stores 32 MWh of energy.")
    'says_otherwise'
    >>> finding_on("The plant is safe.", "The plant is not safe.")
    'says_otherwise'
    """
    one, other = (claim_of("", text, (), core=True) for text in (statement, sentence))
    if disagree(one, other):
        return "says_otherwise"
    asked, told = read_quantities(statement), read_quantities(sentence)
    wanted, held = set(terms(asked.rest)), set(terms(told.rest))
    if not wanted or len(wanted & held) < SAID_SHARE * len(wanted) or asked.labels - told.labels:
        return None
    if not set(_NAME.findall(asked.rest)[1:]) <= set(_NAME.findall(sentence)):
        return None
    same_sense = _denies(statement, wanted) == _denies(sentence, wanted)
    if _holds(asked, told):
        return "says_so" if same_sense else "says_otherwise"
    one, other = (replace(claim, question=statement) for claim in (one, other))
    if (same_sense and disagree(one, other)) or _part_differs(statement, asked, sentence):
        return "says_otherwise"
    return None


def _part_differs(statement: str, asked: Quantities, sentence: str) -> bool:
    """Say whether a part of `sentence` has every content word of the statement and one other value for its only one."""
    wanted = set(terms(asked.rest))
    if len(asked.measures) != 1 or asked.measures[0].dimension == PLAIN or len(wanted) < FEWEST_WORDS:
        return False
    (measure,) = asked.measures
    for part in _PART_END.split(sentence):
        told = read_quantities(part)
        values = [other.value for other in told.measures if other.dimension == measure.dimension]
        same_thing = told.labels == asked.labels and set(told.days) == set(asked.days)
        if len(values) == 1 and same_thing and wanted <= set(terms(told.rest)):
            same_sense = _denies(part, wanted) == _denies(statement, wanted)
            if same_sense and not nearly_equal(values[0], measure.value):
                return True
    return False


def _denies(text: str, subject: Set[str]) -> bool:
    """Say whether a clause of `text` that speaks of the subject holds a negation."""
    clauses = [clause for clause in _CLAUSE_END.split(text) if subject & set(terms(clause))]
    return any(_NEGATION.search(_NO_NEGATION.sub(" ", clause)) for clause in clauses)


def _holds(asked: Quantities, told: Quantities) -> bool:
    measures = all(any(_same(a, b) for b in told.measures) for a in asked.measures)
    return measures and all(any(_within(b, a) for b in told.days) for a in asked.days)


def _same(a: Measure, b: Measure) -> bool:
    dimensions = a.dimension == b.dimension or PLAIN in (a.dimension, b.dimension)
    return dimensions and nearly_equal(a.value, b.value)


def _within(told: Day, asked: Day) -> bool:
    """Say whether `told` gives at least the parts that `asked` gives, and the same ones."""
    return all(mine is None or mine == theirs for mine, theirs in zip(asked, told, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checked:
    """One statement with the sentences that tell of it."""

    statement: str
    inquiry: Inquiry
    says_so: tuple[Weighted, ...]
    says_otherwise: tuple[Weighted, ...]
    carried: Claim | None = None
    """The input's claim, where the statement is one."""

    @property
    def chosen(self) -> tuple[Weighted, ...]:
        return (*self.says_so, *self.says_otherwise)

    def label(self, phrases: Phrases) -> str:
        if not self.inquiry.queries:
            return phrases.not_looked_up
        if self.says_so and self.says_otherwise:
            return phrases.disagree
        if self.chosen:
            return phrases.supported if self.says_so else phrases.contradicted
        return phrases.not_confirmed if self.carried is None else phrases.nowhere_else


@dataclass(frozen=True, slots=True)
class CheckWorker:
    """Performs orders of the operation `check`."""

    limits: ResearchLimits = field(default_factory=ResearchLimits)

    async def work(self, order: WorkOrder, broker: Broker) -> WorkResult:
        """Return what the notes say on each of `params["statements"]`, without them on each claim of the inputs.

        `fields` says in words what was found, by statement. A claim of an input is held against sources independent
        of its own; it is carried on unchanged, and a sentence that says otherwise makes a conflict with it. Raises
        `WorkFailed` (`bad_request`) with neither statements nor inputs, and for tools that can't be used.
        """
        statements = texts_of(order.params, "statements")
        carried = carry(order.inputs)
        if not statements and not order.inputs:
            raise WorkFailed("bad_request", "nothing to check; give `statements` or claims as input")
        subjects: list[tuple[str, Claim | None]] = [(text, None) for text in statements]
        if not statements:
            subjects = [(claim.statement, claim) for claim in carried.claims]
        access = access_of(order)
        limits = replace(self.limits, rounds=min(ROUNDS, self.limits.rounds))
        reader = NotesReader(broker)
        inquiries = [Inquiry(question=read_question(text), asked=text, access=access) for text, _ in subjects]
        for place, inquiry in enumerate(sorted(inquiries, key=lambda one: not _has_values(one.asked))):
            left = limits.tool_calls - reader.calls
            if left > 0:
                share = max(FEWEST_CALLS, left // (len(subjects) - place))
                await inquire(inquiry, reader, limits, min(left, share))
        pairs = zip(inquiries, subjects, strict=True)
        return _result(order, [_checked(one, claim, carried) for one, (_, claim) in pairs], carried)


def _has_values(statement: str) -> bool:
    """Say whether a statement holds a number or date: those are looked up first, rules can tell most of them."""
    found = read_quantities(statement)
    return bool(found.measures or found.days)


def _checked(inquiry: Inquiry, claim: Claim | None, carried: Carried) -> _Checked:
    own = carried.roots(claim) if claim else frozenset[SourceId]()
    found: dict[Finding, list[Weighted]] = {"says_so": [], "says_otherwise": []}
    for one in inquiry.ranked:
        source = one.candidate.passage.source
        if independent_source(source.id, {source.id: source}) in own:
            continue
        finding = finding_on(inquiry.asked, one.candidate.unit.text)
        if finding is None or len(found[finding]) == MOST_QUOTES:
            continue
        if not any(_is_copy(one.candidate, other.candidate) for other in found[finding]):
            found[finding].append(weighted(one, inquiry.access))
    return _Checked(
        statement=inquiry.asked,
        inquiry=inquiry,
        says_so=tuple(found["says_so"]),
        says_otherwise=tuple(found["says_otherwise"]),
        carried=claim,
    )


def _is_copy(one: Candidate, other: Candidate) -> bool:
    """Say whether two sentences are one, met twice: in one note, in its copy, or in a passage taken over."""
    if not says_the_same(one.unit.text, other.unit.text):
        return False
    originals = {c.passage.source.copy_of or c.passage.source.id for c in (one, other)}
    return len(originals) == 1 or repeats(one.passage.text, other.passage.text)


def _result(order: WorkOrder, checked: Sequence[_Checked], carried: Carried) -> WorkResult:
    phrases = PHRASES[order.lang]
    told = [one for one in checked if one.chosen or one.carried is None]
    made = compose(order, [Answer(inquiry=one.inquiry, chosen=one.chosen) for one in told])
    needs = _needs(checked)
    reasons = {one.statement: _reason(one, needs) for one in checked}
    open_questions = tuple(
        replace(question, reason=reasons[question.question]) for question in made.open_questions
    )
    by_statement: dict[str, list[Claim]] = {}
    for claim in made.claims:
        by_statement.setdefault(claim.question or "", []).append(claim)
    sections = [_section(one, by_statement.get(one.statement, []), order, phrases) for one in checked]
    kept = tuple(one.carried for one in checked if one.carried is not None)
    output = _with_carried(
        replace(
            made,
            text=page([*sections, open_list(open_questions, phrases)]),
            open_questions=open_questions,
            conflicts=(*made.conflicts, *_against(checked, by_statement)),
            fields={one.statement: one.label(phrases) for one in told},
        ),
        carried,
        kept,
    )
    return WorkResult(
        output=output,
        candidate_complete=all(one.chosen or (one.carried and one.inquiry.queries) for one in checked),
        mode="extractive",
        path=order.path,
        rounds=tuple(round_ for one in checked for round_ in one.inquiry.rounds),
        needs=needs,
        acted_through=("selection", "filter"),
    )


def _reason(one: _Checked, needs: Sequence[Need]) -> OpenReason:
    if any(need.question == one.statement for need in needs):
        return "domain_closed"
    if not one.inquiry.queries or one.inquiry.stopped:
        return "limit_reached"
    return "not_answerable" if one.inquiry.ranked else "not_found"


def _section(one: _Checked, quotes: Sequence[Claim], order: WorkOrder, phrases: Phrases) -> str:
    listed = "\n".join(f"- {declared(claim, order.lang)}" for claim in quotes)
    if one.carried is None:
        return page([heading(3, one.statement), one.label(phrases), listed])
    own = items([Statement(claims=(one.carried,))])
    return page([own, one.label(phrases), listed])


def _against(checked: Sequence[_Checked], quotes: dict[str, list[Claim]]) -> list[Conflict]:
    """Give the conflicts of carried claims with the sentences that say otherwise."""
    found = []
    for one in checked:
        otherwise = {weighed.candidate.unit.text for weighed in one.says_otherwise}
        against = [claim.id for claim in quotes.get(one.statement, []) if claim.statement in otherwise]
        if one.carried is not None and against:
            found.append(Conflict(about=one.statement, claims=(one.carried.id, *against)))
    return found


def _needs(checked: Sequence[_Checked]) -> tuple[Need, ...]:
    """Give the closed domains whose material tells of a statement that nothing open tells of, best match first."""
    found: dict[tuple[str, str], Need] = {}
    for one in checked:
        for closed in () if one.chosen or one.carried else one.inquiry.closed:
            passage = closed.candidate.passage
            domain, band = one.inquiry.access.domain(passage), one.inquiry.access.band(passage)
            if domain is None or band is None or band is Band.MAIN:
                continue
            if finding_on(one.statement, closed.candidate.unit.text) is not None:
                need = Need(
                    domain=domain,
                    question=one.statement,
                    band="BACKGROUND" if band is Band.BACKGROUND else "SILENT",
                    match=min(1.0, round(closed.score, 4)),
                )
                found.setdefault((domain, one.statement), need)
    return tuple(sorted(found.values(), key=lambda need: (-need.match, need.domain)))


def _with_carried(made: WorkOutput, carried: Carried, kept: Sequence[Claim]) -> WorkOutput:
    if not kept:
        return made
    given = output_of(carried, "", kept)
    return replace(
        made,
        claims=(*given.claims, *made.claims),
        evidence=tuple({piece.id: piece for piece in (*given.evidence, *made.evidence)}.values()),
        sources=tuple({source.id: source for source in (*given.sources, *made.sources)}.values()),
        open_questions=(*carried.open_questions, *made.open_questions),
        conflicts=tuple(dict.fromkeys((*carried.conflicts, *made.conflicts))),
    )
