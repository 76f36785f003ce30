"""Each query is another one, aimed at what is missing."""

from __future__ import annotations

from agents.retrieval.tokens import terms
from agents.workers.embedded.access import Access
from agents.workers.embedded.inquiry import Inquiry, NotesReader, ResearchLimits, search_round
from agents.workers.embedded.queries import first_query, next_query
from agents.workers.embedded.question import read_question
from masks.bands import Thresholds
from masks.vector import new_mask
from tests.agents.workers.material import LibraryBroker, library

NOTES = {
    "a.md": "# Pumping station\n\nThe pumping station stands at Tamsel Lock. Two men look after the machines.\n",
    "b.md": "# Machines\n\nThe machines move 750 litres a second when the river is high.\n",
}


async def after_one_round(question: str) -> Inquiry:
    access = Access(mask=new_mask("A1"), thresholds=Thresholds(), path=1)
    inquiry = Inquiry(question=read_question(question), asked=question, access=access)
    await search_round(inquiry, NotesReader(LibraryBroker(library(NOTES))), ResearchLimits(), 9)
    return inquiry


async def test_queries_differ_and_end() -> None:
    inquiry = await after_one_round("Who owns the pumping station?")
    asked = [first_query(inquiry.question).text]
    whys = []
    while query := next_query(
        inquiry.question, inquiry.matcher, inquiry.material, inquiry.ranked, inquiry.missing, tuple(asked)
    ):
        assert frozenset(terms(query.text)) not in {frozenset(terms(one)) for one in asked}
        asked.append(query.text)
        whys.append(query.why)
    # The question itself asked for all that is missing already.
    assert whys[0].startswith("best_words: ")
    assert "missing: owns" in whys
    assert any(why.startswith("answer_kind: person") for why in whys)


async def test_headings_of_promising_sections_are_asked_for() -> None:
    inquiry = await after_one_round("Who owns the pumping station?")
    told = "pumping station owns stands Tamsel Lock Two men look"
    asked = ("river owns pumping station", told)
    query = next_query(
        inquiry.question,
        inquiry.matcher,
        inquiry.material,
        inquiry.ranked,
        ("river",),
        (asked[0], asked[1]),
    )
    assert query is not None
    assert query.why == "section: Pumping station"
    assert query.text == "Pumping station river"


async def test_the_second_query_reaches_what_the_first_could_not() -> None:
    inquiry = await after_one_round("Who looks after the pumping station?")
    assert {passage.source.uri for passage in inquiry.material.passages.values()} == {"a.md"}
    told = next_query(
        inquiry.question,
        inquiry.matcher,
        inquiry.material,
        inquiry.ranked,
        ("look",),
        (inquiry.question.text,),
    )
    assert told is not None
    assert "machines" in told.text
    notes = library(NOTES)
    assert "b.md" in {notes.entry(hit).document.path for hit in notes.search(told.text, 5)}
