"""Search for the answer to one question: a bounded loop of search, read, see what is open, search for that.

A round is one query with its readings. The loop ends when the question is settled, when two rounds in a row brought
nothing new, when no other query is left, or at a limit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import log
from typing import Any, Final

from agents.broker import Broker, BudgetExhausted
from agents.evidence import SourceId
from agents.operations import field_name
from agents.results import SearchRound
from agents.tools.contract import ToolCall, ToolError
from agents.workers.embedded.access import Access
from agents.workers.embedded.cell_answers import cell_of
from agents.workers.embedded.field_answers import fills
from agents.workers.embedded.matching import Matcher, matcher_for
from agents.workers.embedded.material import Candidate, Material, Passage
from agents.workers.embedded.queries import Query, first_query, next_query
from agents.workers.embedded.question import Question
from agents.workers.embedded.selection import relevance
from agents.workers.embedded.support import (
    FULL_SUPPORT,
    OPEN_THRESHOLD,
    Answerability,
    Support,
    answerability,
    supports,
)
from agents.workers.tool_failures import tool_failure
from graphs.contract import Limits

BARREN_ROUNDS: Final = 2
"""Rounds in a row without new evidence that end a search (seed 004, 3.5)."""
MAX_TOOL_CALLS: Final = 18
"""Of one research sub-task (seed 000, 3.1)."""
MAX_ROUNDS: Final = 4
"""Queries per question: with their readings they fit into the tool calls."""
HITS: Final = 5
"""Sections per page of a search: with more, the preview limit leaves each too little text."""
FIRST_PAGES: Final = 2
READINGS: Final = 3
"""Sections read whole after a search."""
READ_FROM_RANK: Final = 0.5
"""A section is read whole if it ranks at least this high beside the query's best."""
EVIDENCE_SHARE: Final = 0.5
"""A sentence is new evidence if it is at least this relevant beside the best one."""
EVIDENCE_FLOOR: Final = 0.5
"""And if its support, whatever its form, is at least this share of what answers an open question: beside bad ones the
best is no evidence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchLimits:
    """What one order of research may use."""

    tool_calls: int = MAX_TOOL_CALLS
    rounds: int = MAX_ROUNDS
    """Per question; 1 is a single look-up."""

    def within(self, limits: Limits) -> ResearchLimits:
        """Return these limits, lowered so far that a broker which keeps to `limits` performs every call."""
        allowed = min(limits.max_tool_calls, limits.max_actions)
        return replace(self, tool_calls=min(self.tool_calls, allowed))


@dataclass(slots=True)
class NotesReader:
    """The notes through the broker, with the calls counted; what was called once is known."""

    broker: Broker
    calls: int = 0
    exhausted: bool = False
    """Whether the attempt's budget (its time, say) ended before the worker's own limits did: no call is made again."""
    _known: dict[str, Mapping[str, Any] | ToolError] = field(default_factory=dict)
    """Results by call: two fields of one thing often need the same section."""

    async def search(self, query: str, offset: int) -> Mapping[str, Any] | None:
        """Return the data of a search; `None` if the budget is exhausted. Raises `WorkFailed` for an unusable tool."""
        arguments = {"query": query[:1000], "limit": HITS, "offset": offset}
        result = await self._call(ToolCall(tool="search_notes", arguments=arguments))
        if isinstance(result, ToolError):
            raise tool_failure(result)
        return result

    async def read(self, passage: Passage) -> Mapping[str, Any] | None:
        """Return the data of a reading of the passage's section; `None` if the note is gone or the budget exhausted.

        Raises `WorkFailed` for an unusable tool.
        """
        first, last = passage.section
        arguments = {"source": passage.source.id, "start_line": first, "end_line": last}
        result = await self._call(ToolCall(tool="read_note", arguments=arguments))
        if isinstance(result, ToolError):
            if result.error_type == "NOT_FOUND":
                return None
            raise tool_failure(result)
        return result

    async def _call(self, call: ToolCall) -> Mapping[str, Any] | ToolError | None:
        key = json.dumps([call.tool, call.arguments], sort_keys=True)
        if key not in self._known:
            if self.exhausted:
                return None
            try:
                result = await self.broker.call_tool(call)
            except BudgetExhausted:
                self.exhausted = True
                return None
            self.calls += 1
            self._known[key] = result if isinstance(result, ToolError) else result.data
        return self._known[key]


@dataclass(slots=True, kw_only=True)
class Inquiry:
    """A question, what was fetched for it, and how far that answers it."""

    question: Question
    asked: str
    """The question or field in the words of the sub-task's parameters."""
    access: Access
    about: str = ""
    """The thing that a field belongs to."""
    material: Material = field(default_factory=Material)
    queries: list[str] = field(default_factory=list)
    rounds: list[SearchRound] = field(default_factory=list)
    ranked: tuple[Support, ...] = ()
    """Support of everything that may be selected, best first; excluded evidence may not."""
    closed: tuple[Support, ...] = ()
    """Support of what the mask closes on this path, best first."""
    orders: tuple[str, ...] = ()
    """Places of text that gives orders to its reader, `path:line`."""
    state: Answerability | None = None
    cell: Candidate | None = None
    """What a table of the notes gives for the field of the thing."""
    barren: int = 0
    """Rounds in a row without new evidence."""
    limited: bool = False
    """Whether the tool calls that the contract allows were used up before the search ended by itself."""
    stopped: bool = False
    """Whether the attempt's budget ended the search, whatever it would still have brought."""

    @property
    def name(self) -> str:
        """Return what an open question or a need calls it: the question, or the field of the thing."""
        return field_name(self.about, self.asked) if self.about else self.asked

    @property
    def matcher(self) -> Matcher:
        """Return the matcher of the question over what the searches said about term frequencies."""
        return matcher_for(self.question, self.rarity)

    @property
    def answered(self) -> bool:
        """Return whether open material answers the question."""
        if self.cell is not None:
            return True
        return self.state is not None and self.state.answered

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the terms of the question that the best passage lacks."""
        return self.question.terms if self.state is None else self.state.missing

    @property
    def cut_short(self) -> bool:
        """Return whether a limit ended the search that could still have brought something.

        The number of rounds is no limit in this sense: after so many, the search is over.
        """
        going_on = not self.rounds or self.rounds[-1].new_evidence > 0
        return self.stopped or not self.queries or (self.limited and going_on)

    def is_evidence(self, one: Support) -> bool:
        """Return whether a candidate tells enough of the question to count as evidence, whatever else was found."""
        return one.score / one.form >= EVIDENCE_FLOOR * OPEN_THRESHOLD

    def filling(self, candidates: tuple[Support, ...]) -> tuple[Support, ...]:
        """Return those of `candidates` that may answer: all of them, except where a field of a thing is asked for."""
        if not self.about:
            return candidates
        return tuple(
            one
            for one in candidates
            if fills(one.candidate, self.about, self.asked, self.question, self.rarity)
        )

    def rarity(self, term: str) -> float:
        """Return the inverse document frequency of a term of the queries; the highest for one never met."""
        return log(1 + (self.material.sections + 1) / (self.material.frequency.get(term, 0) + 0.5))

    def settled(self) -> bool:
        """Return whether nothing is left to search for."""
        state = self.state
        if self.cell is not None:
            return True
        return state is not None and state.answered and not state.missing and state.score >= FULL_SUPPORT

    def judge(self) -> int:
        """Read all material again; return how many sentences are new evidence."""
        known = self._evidence()
        barred = self._bar_orders()
        matcher = self.matcher
        found = [
            one
            for one in supports(self.question, matcher, self.material)
            if (one.candidate.passage.source.id, one.candidate.unit.start_char) not in barred
            and not self.access.excludes(one.candidate)
        ]
        self.ranked = tuple(one for one in found if self.access.weight(one.candidate.passage) > 0)
        self.closed = tuple(one for one in found if self.access.weight(one.candidate.passage) <= 0)
        self.state = answerability(self.question, matcher, self.filling(self.ranked))
        if self.about:
            opened = [p for p in self.material.passages.values() if self.access.weight(p) > 0]
            cell = cell_of(self.about, self.asked, sorted(opened, key=lambda passage: -passage.rank))
            barring = cell is not None and (
                self.access.excludes_span(cell.span)
                or (cell.passage.source.id, cell.passage.units[cell.index].start_char) in barred
            )
            self.cell = None if barring else cell
        return len(self._evidence() - known)

    def _bar_orders(self) -> set[tuple[SourceId, int]]:
        """Note where text gives orders; return the beginnings of the sentences that must not be quoted."""
        barred: set[tuple[SourceId, int]] = set()
        places: list[str] = []
        for passage in self.material.passages.values():
            barred.update((passage.source.id, unit.start_char) for unit in passage.orders)
            places.extend(f"{passage.source.uri}:{unit.start_line}" for unit in passage.orders[:1])
        self.orders = tuple(dict.fromkeys(places))
        return barred

    def _evidence(self) -> set[tuple[SourceId, int, int]]:
        scores = [relevance(one) for one in self.ranked]
        enough = EVIDENCE_SHARE * max(scores, default=0.0)
        return {
            one.candidate.key
            for one, score in zip(self.ranked, scores, strict=True)
            if score >= enough > 0 and self.is_evidence(one)
        }


async def search_round(inquiry: Inquiry, reader: NotesReader, limits: ResearchLimits, allowance: int) -> bool:
    """Run one round of at most `allowance` tool calls; return whether another one could bring more.

    Raises `WorkFailed` if the notes can't be reached.
    """
    if reader.exhausted:
        inquiry.limited = inquiry.stopped = True
        return False
    if len(inquiry.rounds) >= limits.rounds:
        return False
    if allowance < 1:
        inquiry.limited = True
        return False
    query = _query(inquiry)
    if query is None:
        return False
    hits = await _gather(inquiry, query, reader, reader.calls + allowance)
    if hits is None:
        inquiry.limited = inquiry.stopped = True
        return False
    new = inquiry.judge()
    inquiry.barren = 0 if new else inquiry.barren + 1
    settled = inquiry.settled()
    inquiry.rounds.append(
        SearchRound(
            query=query.text,
            why=query.why,
            hits=hits,
            new_evidence=new,
            open_after=() if settled else inquiry.missing or (inquiry.asked,),
        )
    )
    return not settled and inquiry.barren < BARREN_ROUNDS


async def inquire(inquiry: Inquiry, reader: NotesReader, limits: ResearchLimits, allowance: int) -> None:
    """Run rounds until the question is settled or `allowance` tool calls are used up.

    Raises as `search_round`.
    """
    until = reader.calls + allowance
    while await search_round(inquiry, reader, limits, until - reader.calls):
        pass


def _query(inquiry: Inquiry) -> Query | None:
    if not inquiry.queries:
        return first_query(inquiry.question)
    return next_query(
        inquiry.question,
        inquiry.matcher,
        inquiry.material,
        inquiry.ranked,
        inquiry.missing,
        tuple(inquiry.queries),
    )


async def _gather(inquiry: Inquiry, query: Query, reader: NotesReader, until: int) -> int | None:
    """Run one query: one page (the first query two), then read the best sections that came in part.

    Return how many hits came; `None` if the budget left no search at all.
    """
    pages = FIRST_PAGES if not inquiry.queries else 1
    offset: int | None = 0
    hits, searched = 0, False
    while offset is not None and pages > 0 and reader.calls < until:
        data = await reader.search(query.text, offset)
        if data is None:
            break
        if not searched:
            searched = True
            inquiry.queries.append(query.text)
        inquiry.material.add_hits(data)
        hits += len(data["hits"])
        offset = data["next_offset"]
        pages -= 1
    if not searched:
        return None
    for passage in _to_read(inquiry)[: max(0, min(READINGS, until - reader.calls))]:
        read = await reader.read(passage)
        if read is not None:
            inquiry.material.add_reading(passage, read)
    return hits


def _to_read(inquiry: Inquiry) -> list[Passage]:
    """Return the sections worth reading whole, best first: open ones, then closed ones that may show a need."""
    met = inquiry.material.passages.values()
    cut = [
        passage for passage in met if not (passage.whole or passage.read) and passage.rank >= READ_FROM_RANK
    ]
    return sorted(cut, key=lambda passage: (inquiry.access.weight(passage) <= 0, -passage.rank))
