"""Hold statements against the notes: quote what says so, what says otherwise, and leave open what nothing tells.

What one sentence or table row tells of a statement is for `findings` to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from agents.broker import Broker
from agents.evidence import Claim, SourceId
from agents.results import Conflict, Need, OpenReason, SearchRound, WorkOutput, WorkResult
from agents.retrieval.copies import repeats
from agents.tools.texts.calls import ORDERS
from agents.tools.texts.contract import say
from agents.workers.embedded.access import access_of
from agents.workers.embedded.answering import texts_of
from agents.workers.embedded.carried import Carried, carry, independent_source, output_of
from agents.workers.embedded.composing import Answer, compose, weighted
from agents.workers.embedded.contested import candidates_of, rivals
from agents.workers.embedded.findings import Finding, finding_on
from agents.workers.embedded.inquiry import Inquiry, NotesReader, ResearchLimits, inquire
from agents.workers.embedded.material import Candidate
from agents.workers.embedded.merging import Statement, says_the_same
from agents.workers.embedded.note_tables import grids
from agents.workers.embedded.quantities import read_quantities
from agents.workers.embedded.question import read_question
from agents.workers.embedded.row_findings import finding_on_row
from agents.workers.embedded.selection import Weighted
from agents.workers.embedded.wording import PHRASES, Phrases
from agents.workers.embedded.writing import declared, heading, items, open_list, page
from agents.workers.ports import WorkFailed, WorkOrder
from masks.bands import Band

MOST_QUOTES: Final = 3
"""Sentences quoted for each finding on one statement."""
FEWEST_CALLS: Final = 1
"""Tool calls of one statement: a search brings excerpts, which mostly hold the sentence."""
ROUNDS: Final = 2
"""Queries for one statement: the statement itself, and what the best passage lacks of it."""


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
            raise WorkFailed("bad_request", say(ORDERS, "nothing_to_check"))
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
        for inquiry in inquiries:
            await _look_beside(inquiry, reader, limits)
        pairs = zip(inquiries, subjects, strict=True)
        return _result(order, [_checked(one, claim, carried) for one, (_, claim) in pairs], carried)


async def _look_beside(inquiry: Inquiry, reader: NotesReader, limits: ResearchLimits) -> None:
    """Search for the sentence that confirms a statement with a value: who contests it may share words with that one."""
    if not _has_values(inquiry.asked) or reader.exhausted:
        return
    says_so = (one.candidate for one in inquiry.ranked if _finding(inquiry.asked, one.candidate) == "says_so")
    found = next((one.unit.text for one in says_so if one.unit.kind != "table_row"), None)
    if found is None or reader.calls >= limits.tool_calls or found in inquiry.queries:
        return
    data = await reader.search(found, 0)
    if data is not None:
        inquiry.queries.append(found)
        inquiry.material.add_hits(data)
        new = inquiry.judge()
        inquiry.rounds.append(
            SearchRound(
                query=found,
                why="otherwise",
                hits=len(data["hits"]),
                new_evidence=new,
                open_after=(),
            )
        )


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
        finding = _finding(inquiry.asked, one.candidate)
        if finding is None or len(found[finding]) == MOST_QUOTES:
            continue
        if not any(_is_copy(one.candidate, other.candidate) for other in found[finding]):
            found[finding].append(weighted(one, inquiry.access))
    contesting = _contesting(inquiry, candidates_of(found["says_so"])) if claim is None else ()
    known = candidates_of(found["says_otherwise"])
    return _Checked(
        statement=inquiry.asked,
        inquiry=inquiry,
        says_so=tuple(found["says_so"]),
        says_otherwise=(
            *found["says_otherwise"],
            *(one for one in contesting if one.candidate not in known),
        ),
        carried=claim,
    )


def _contesting(inquiry: Inquiry, says_so: Sequence[Candidate]) -> tuple[Weighted, ...]:
    """Return what contradicts the confirming sentences in the statement's values, in words that it leaves out."""
    if not says_so or not _has_values(inquiry.asked):
        return ()
    against = rivals(says_so, (one.candidate for one in inquiry.ranked), inquiry.asked)
    return tuple(weighted(one, inquiry.access) for one in inquiry.ranked if one.candidate in against)


def _finding(statement: str, candidate: Candidate) -> Finding | None:
    """Read a row of a table by its header where it has one, anything else as a sentence."""
    grid = next((grid for grid in grids([candidate.passage]) if candidate.unit in grid.units), None)
    if grid is None:
        passage = candidate.passage
        return finding_on(statement, candidate.unit.text, f"{passage.heading} {passage.source.title}")
    return finding_on_row(statement, grid, grid.units.index(candidate.unit))


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
    if one.inquiry.cut_short:
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
            if _finding(one.statement, closed.candidate) is not None:
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
