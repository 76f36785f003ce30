"""Turn what inquiries found into an output: quoted sentences with anchors, claims, evidence, conflicts, gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from agents.citations import anchor, one_line
from agents.evidence import (
    Claim,
    ClaimId,
    Evidence,
    EvidenceId,
    LeakMark,
    Source,
    SourceId,
    claim_of,
    quote,
    with_leak,
)
from agents.results import Conflict, Need, OpenQuestion, OpenReason, WorkOutput
from agents.retrieval.copies import repeats
from agents.workers.embedded.access import Access
from agents.workers.embedded.conflicts import disagree
from agents.workers.embedded.contested import candidates_of, rivals
from agents.workers.embedded.inquiry import Inquiry
from agents.workers.embedded.matching import credit, prepared
from agents.workers.embedded.material import Candidate, Passage
from agents.workers.embedded.other_things import of_other_things
from agents.workers.embedded.question import Question
from agents.workers.embedded.row_answers import asked_cell, label_of
from agents.workers.embedded.selection import Weighted, admit, choose, choose_factual, is_row, relevance
from agents.workers.embedded.subject import on_subject
from agents.workers.embedded.support import FACTUAL_KINDS, FORM_NEAR, Support, answerability
from agents.workers.embedded.wording import PHRASES
from agents.workers.embedded.writing import heading, open_list, page, worded
from agents.workers.ports import WorkOrder
from masks.bands import Band
from masks.leaks.markers import LeakMarker, render_marker

CORE_SHARE = 0.5
"""A sentence of an answer is core if its relevance is at least this share of the answer's best, whatever the mask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The chosen sentences of one question."""

    inquiry: Inquiry
    chosen: tuple[Weighted, ...]


@dataclass(slots=True)
class _Draft:
    """What an output consists of while it grows."""

    order: WorkOrder
    claims: dict[ClaimId, Claim] = field(default_factory=dict)
    evidence: dict[EvidenceId, Evidence] = field(default_factory=dict)
    sources: dict[SourceId, Source] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)
    conflicts: list[Conflict] = field(default_factory=list)

    def add(self, one: Weighted, inquiry: Inquiry, *, core: bool) -> Claim:
        passage, unit = one.candidate.passage, one.candidate.unit
        piece = quote(passage.source.id, one.candidate.span, unit.text, domain=one.domain)
        node = self.order.subtask.id
        claim = claim_of(node, unit.text, (piece.id,), core=core, question=inquiry.asked)
        if claim.id in self.claims:
            # One sentence may answer two questions: each gets its own claim.
            again = claim_of(
                f"{node}\n{inquiry.asked}", unit.text, (piece.id,), core=core, question=inquiry.asked
            )
            claim = again
        # A field of a thing stands in a table with names of its own.
        label = "" if inquiry.about else label_of(one.candidate)
        claim = replace(claim, taint="untrusted", label=label)
        strength = inquiry.access.leak_strength(passage)
        if strength is not None and one.domain is not None:
            mark = LeakMark(
                agent=self.order.agent.id,
                domain=one.domain,
                strength=strength,
                origin="source",
                declared=True,
                node=node,
            )
            claim = with_leak(claim, mark)
        self.claims[claim.id] = claim
        self.evidence[piece.id] = piece
        self.sources[passage.source.id] = passage.source
        self.sources |= {source.id: source for source in _same_text(passage.source, unit.text, inquiry)}
        return claim


def answer(inquiry: Inquiry, budget: int) -> Answer:
    """Return the sentences that answer the inquiry's question within `budget` (see `length_of`); none if it stays
    open.
    """
    if not inquiry.answered:
        return Answer(inquiry=inquiry, chosen=())
    question = inquiry.question
    if inquiry.cell is not None:
        return Answer(inquiry=inquiry, chosen=(_of_cell(inquiry.cell, inquiry.access),))
    opened = [weighted(one, inquiry.access) for one in inquiry.filling(inquiry.ranked)]
    if question.kind in FACTUAL_KINDS or inquiry.about:
        # A field of a thing is a cell of a table: as short as a fact.
        opened = _of_one_thing(opened, question)
        chosen = choose_factual(opened, budget, question.lang, question.terms)
    else:
        opened = _about(opened, question)
        chosen = _in_reading_order(choose(admit(opened), inquiry.matcher.weights, budget, question.lang))
    shown = tuple(_cut(one, question) for one in chosen)
    return Answer(inquiry=inquiry, chosen=(*shown, *_contesting(chosen, opened)))


def _cut(one: Weighted, question: Question) -> Weighted:
    """Take the cell that is asked for out of a table row."""
    return replace(one, support=replace(one.support, candidate=asked_cell(question, one.candidate)))


def _of_cell(cell: Candidate, access: Access) -> Weighted:
    """Return a cell as what is chosen: a table that has the thing's row and the field's column leaves no doubt."""
    return weighted(
        Support(candidate=cell, coverage=1.0, own=1.0, constraints=1.0, form=1.0, score=1.0), access
    )


def _contesting(chosen: Sequence[Weighted], opened: Sequence[Weighted]) -> list[Weighted]:
    """Return what gives another value than an answer does, though it may share fewer words with the question.

    Only what holds a form that can answer counts: an answer's other values were not asked for.
    """
    answering = [one for one in opened if one.support.form >= FORM_NEAR and one not in chosen]
    against = rivals(candidates_of(chosen), (one.candidate for one in answering))
    return [one for one in answering if one.candidate in against]


def _of_one_thing(opened: Sequence[Weighted], question: Question) -> list[Weighted]:
    """Leave out the sentences that say the like of another thing than the one asked for.

    Beside the best, a sentence of its form is of another thing if the question names what the best speaks of, in
    words that neither that sentence nor the heading right above it has.
    """
    best = max((one for one in opened if one.weight > 0), key=lambda one: one.support.score, default=None)
    if best is None:
        return list(opened)
    return [one for one in opened if not _is_of_another_thing(one.candidate, best.candidate, question)]


def _is_of_another_thing(one: Candidate, best: Candidate, question: Question) -> bool:
    if one.unit.kind == "table_row" or best.unit.kind == "table_row":
        return False
    (part, above), (beside, over) = (_under(each) for each in (best, one))
    named, held = prepared(f"{above} {best.unit.text}"), prepared(f"{over} {one.unit.text}")
    if not any(credit(term, named) > credit(term, held) for term in question.terms):
        return False
    if of_other_things(best.unit.text, one.unit.text):
        return True
    # Only headings of one order name things of one kind; others name a meeting, a plan: where it is said.
    siblings = part and part == beside
    return bool(siblings) and of_other_things(f"{above}, {best.unit.text}", f"{over}, {one.unit.text}")


def _under(one: Candidate) -> tuple[str, str]:
    """Return the headings over the section of a sentence, and its own."""
    *over, own = one.passage.heading.split(" > ")
    return " > ".join(over), own


def _about(opened: Sequence[Weighted], question: Question) -> list[Weighted]:
    """Keep the sentences that speak of the question's subject."""
    reaches = {one.candidate: one.support.reach for one in opened}
    fitting = on_subject(reaches, frozenset(question.subject))
    return [one for one in opened if one.candidate in fitting]


def weighted(one: Support, access: Access) -> Weighted:
    """Return a supported candidate with its relevance and its mask weight."""
    passage = one.candidate.passage
    return Weighted(
        support=one,
        relevance=relevance(one),
        weight=access.weight(passage),
        domain=access.domain(passage),
        leaks=access.leak_strength(passage) is not None,
    )


def compose(order: WorkOrder, answers: Sequence[Answer]) -> WorkOutput:
    """Return the output of `answers`: one section a question, open questions last."""
    draft = _Draft(order=order)
    sections = [_section(one, draft) for one in answers]
    phrases = PHRASES[order.lang]
    open_questions = tuple(_open(one.inquiry) for one in answers if not one.chosen)
    return WorkOutput(
        text=page([*sections, open_list(open_questions, phrases), _orders(answers, order)]),
        claims=tuple(draft.claims.values()),
        evidence=tuple(draft.evidence.values()),
        sources=tuple(draft.sources.values()),
        open_questions=open_questions,
        conflicts=tuple(draft.conflicts),
        fields=draft.fields,
    )


def needs_of(inquiries: Sequence[Inquiry]) -> tuple[Need, ...]:
    """Return the closed domains whose material would answer what stays open, best match first."""
    found: dict[tuple[str, str], Need] = {}
    for inquiry in inquiries:
        if inquiry.answered:
            continue
        closed = inquiry.filling(inquiry.closed)
        state = answerability(inquiry.question, inquiry.matcher, closed)
        for one in closed if state.answered else ():
            passage = one.candidate.passage
            band, domain = inquiry.access.band(passage), inquiry.access.domain(passage)
            if domain is None or band is None or band is Band.MAIN or one.score < CORE_SHARE * state.score:
                continue
            need = Need(
                domain=domain,
                question=inquiry.name,
                band="BACKGROUND" if band is Band.BACKGROUND else "SILENT",
                match=min(1.0, round(one.score, 4)),
            )
            found.setdefault((domain, inquiry.name), need)
    return tuple(sorted(found.values(), key=lambda need: (-need.match, need.domain)))


def _section(one: Answer, draft: _Draft) -> str:
    if not one.chosen:
        return ""
    inquiry = one.inquiry
    best = max(chosen.relevance for chosen in one.chosen)
    lines = []
    claims = []
    for chosen in one.chosen:
        claim = draft.add(chosen, inquiry, core=chosen.relevance >= CORE_SHARE * best)
        # Whether a cell contradicts another claim shows in its row.
        whole = chosen.candidate.passage.units[chosen.candidate.index].text
        claims.append((replace(claim, statement=whole), chosen.candidate.passage))
        lines.append(_cited(claim, draft.order))
    draft.conflicts.extend(_conflicts(claims, inquiry.asked))
    if inquiry.about:
        draft.fields[inquiry.name] = " ".join(lines)
    title = f"{inquiry.about}: {inquiry.asked}" if inquiry.about else inquiry.asked
    return f"{heading(3, title)}\n\n" + "\n".join(f"- {line}" for line in lines)


def _cited(claim: Claim, order: WorkOrder) -> str:
    marks = [
        render_marker(LeakMarker(agent=mark.agent, domain=mark.domain, strength=mark.strength), order.lang)
        for mark in claim.leaks
    ]
    return " ".join([worded(claim), anchor(claim.id), *marks])


def _in_reading_order(chosen: tuple[Weighted, ...]) -> tuple[Weighted, ...]:
    """Keep sections in the order in which they were first chosen, and sentences of one section in theirs.

    Table rows come after the prose.
    """
    first: dict[object, int] = {}
    for position, one in enumerate(chosen):
        first.setdefault(one.candidate.passage.key, position)
    return tuple(
        sorted(
            chosen,
            key=lambda one: (
                is_row(one),
                first[one.candidate.passage.key],
                one.candidate.unit.start_char,
            ),
        )
    )


def _conflicts(claims: Sequence[tuple[Claim, Passage]], about: str) -> list[Conflict]:
    """Return where claims of independent sources give different values for one quantity, all its sides together."""
    sides: list[set[ClaimId]] = []
    for (a, first), (b, second) in combinations(claims, 2):
        same = _original(first.source) == _original(second.source) or repeats(first.text, second.text)
        if not same and disagree(a, b):
            touching = [side for side in sides if side & {a.id, b.id}]
            sides = [side for side in sides if side not in touching] + [{a.id, b.id}.union(*touching)]
    order = [claim.id for claim, _ in claims]
    return [Conflict(about=about, claims=tuple(sorted(side, key=order.index))) for side in sides]


def _same_text(source: Source, sentence: str, inquiry: Inquiry) -> list[Source]:
    """Return the notes that `source` repeats or that repeat it, as far as they were met with the same sentence."""
    return [
        passage.source
        for passage in inquiry.material.passages.values()
        if (passage.source.copy_of == source.id or source.copy_of == passage.source.id)
        and sentence in passage.text
    ]


def _original(source: Source) -> SourceId:
    return source.copy_of or source.id


def _open(inquiry: Inquiry) -> OpenQuestion:
    reason = _reason(inquiry)
    nearest = (inquiry.ranked or inquiry.closed)[:1] if reason != "not_found" else ()
    place, text = None, ""
    if nearest:
        candidate = nearest[0].candidate
        place = f"{candidate.passage.source.uri}:{candidate.unit.start_line}"
        plain = inquiry.ranked and inquiry.access.leak_strength(candidate.passage) is None
        text = candidate.unit.text if plain and nearest[0].reach.met else ""
    return OpenQuestion(
        question=inquiry.name,
        reason=reason,
        searched=tuple(inquiry.queries),
        nearest=place,
        nearest_text=text,
        unknown=reason == "not_found"
        and not any(map(inquiry.material.frequency.get, inquiry.question.terms)),
    )


def _reason(inquiry: Inquiry) -> OpenReason:
    if answerability(inquiry.question, inquiry.matcher, inquiry.filling(inquiry.closed)).answered:
        return "domain_closed"
    if inquiry.cut_short:
        return "limit_reached"
    if not any(one.reach.met for one in (*inquiry.ranked, *inquiry.closed)):
        return "not_found"
    return "not_answerable"


def _orders(answers: Sequence[Answer], order: WorkOrder) -> str:
    places = list(dict.fromkeys(place for one in answers for place in one.inquiry.orders))
    if not places:
        return ""
    title = "Not followed" if order.lang == "en" else "未予理会"
    said = (
        "text that gives orders to automated readers; nothing of it was quoted"
        if order.lang == "en"
        else "对自动阅读者发号施令的文字；未引用其中任何内容"
    )
    return f"{heading(3, title)}\n\n" + "\n".join(f"- {one_line(place)}: {said}" for place in places)
