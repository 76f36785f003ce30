"""Support and answerability: features on small notes, and the thresholds on our own questions with the real embedder.

`answerability_cases.json` holds questions that were written for the example notes. Each answerable one is asked
twice: with all notes, and with the lines removed that answer it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from agents.models.embedders import CachedEmbedder, UseEmbedder
from agents.retrieval.library import NotesLibrary
from agents.retrieval.reading import Corpus, Document, document_from_text, read_folder
from agents.workers.embedded.access import Access
from agents.workers.embedded.inquiry import Inquiry, NotesReader, ResearchLimits, inquire
from agents.workers.embedded.matching import matcher_for
from agents.workers.embedded.material import Candidate, Material
from agents.workers.embedded.question import read_question
from agents.workers.embedded.support import FORM_MISSING, answerability, support, supports
from masks.bands import Thresholds
from masks.vector import new_mask
from tests.agents.workers.material import LibraryBroker, library

ROOT = Path(__file__).parents[4]
CASES: dict[str, Any] = json.loads(
    (Path(__file__).parent / "answerability_cases.json").read_text(encoding="utf-8")
)
EMBEDDER = CachedEmbedder(UseEmbedder())


async def asked(question: str, notes: NotesLibrary) -> Inquiry:
    access = Access(mask=new_mask("A1"), thresholds=Thresholds(), path=1)
    inquiry = Inquiry(question=read_question(question), asked=question, access=access)
    await inquire(inquiry, NotesReader(LibraryBroker(notes)), ResearchLimits(), 18)
    return inquiry


async def answered(question: str, notes: dict[str, str]) -> bool:
    return (await asked(question, library(notes))).answered


async def test_the_right_sentence_is_supported_best() -> None:
    notes = {
        "a.md": "# Pumps\n\nThe pump is old. The pump moves 40 litres a second.\n\n# Cost\n\nThe pump was dear.\n"
    }
    inquiry = await asked("How many litres does the pump move?", library(notes))
    assert inquiry.ranked[0].candidate.unit.text == "The pump moves 40 litres a second."
    assert inquiry.answered


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("When was the pump repaired?", "The pump was repaired on 3 May 2025.", True),
        ("When was the pump repaired?", "The pump was repaired by two men.", False),
        ("What did the pump cost in 2024?", "In 2024 the pump cost 900 euros.", True),
        ("What did the pump cost in 2024?", "In 2019 the pump cost 900 euros.", False),
        ("Who repaired the pump?", "The pump was repaired by Ida Lund.", True),
        ("Who repaired the pump?", "The pump was repaired in May.", False),
        ("水泵的价格是多少？", "水泵的价格为900元。", True),
        ("水泵的价格是多少？", "水泵于2024年更换。", False),
        ("水泵哪天更换的？", "水泵于2024年3月5日更换。", True),
    ],
)
async def test_form_and_year_decide(question: str, text: str, expected: bool) -> None:
    assert await answered(question, {"a.md": f"{text}\n"}) is expected


def test_names_in_the_question_must_be_near() -> None:
    question = read_question("What does `gc_life` do?")
    matcher = matcher_for(question, lambda _term: 1.0)
    scores = []
    for text in ("The setting gc_life keeps old rows.", "The setting gc_time keeps old rows."):
        found = library({"a.md": text})
        material = Material()
        material.add_hits(LibraryBroker(found)._tools.call("search_notes", {"query": "setting rows"}).data)  # type: ignore[union-attr]
        scores.append(supports(question, matcher, material)[0].constraints)
    assert scores[0] == 1.0
    assert scores[1] < 0.7


def test_a_header_row_counts_for_its_cells() -> None:
    notes = {"a.md": "| option | price |\n| --- | --- |\n| LFP | 300 € |\n"}
    material = Material()
    material.add_hits(LibraryBroker(library(notes))._tools.call("search_notes", {"query": "LFP"}).data)  # type: ignore[union-attr]
    passage = next(iter(material.passages.values()))
    question = read_question("What is the price of LFP?")
    one = support(question, matcher_for(question, lambda _t: 1.0), Candidate(passage=passage, index=0), "")
    assert one.own == 1.0
    assert one.form > FORM_MISSING


def test_nothing_fetched_answers_nothing() -> None:
    question = read_question("Who?")
    assert not answerability(question, matcher_for(question, lambda _t: 1.0), ()).answered


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of questions, in [0, 1]."""

    answered: float
    refused: float


@cache
def documents(folder: str) -> tuple[Document, ...]:
    return read_folder(ROOT / folder).documents


def without(folder: str, quotes: list[str]) -> NotesLibrary:
    kept = []
    for document in documents(folder):
        lines = document.text.splitlines(keepends=True)
        text = "".join(line for line in lines if not any(quote in line for quote in quotes))
        kept.append(document_from_text(document.path, text))
    return NotesLibrary(Corpus(documents=tuple(kept)), embedder=EMBEDDER)


async def rates(lang: str) -> Rates:
    cases = CASES[lang]
    notes = NotesLibrary(Corpus(documents=documents(cases["notes"])), embedder=EMBEDDER)
    answerable = [(await asked(case["question"], notes)).answered for case in cases["answerable"]]
    # Every third: each needs an index of its own.
    stripped = [
        (await asked(case["question"], without(cases["notes"], case["quotes"]))).answered
        for case in cases["answerable"][::3]
    ]
    unknown = [(await asked(question, notes)).answered for question in cases["unanswerable"]]
    refused = [not one for one in (*stripped, *unknown)]
    return Rates(answered=sum(answerable) / len(answerable), refused=sum(refused) / len(refused))


@pytest.mark.parametrize(
    ("lang", "answered_least", "refused_least"), [("en", 0.85, 0.75), ("zh", 0.85, 0.85)]
)
async def test_our_own_questions(lang: str, answered_least: float, refused_least: float) -> None:
    found = await rates(lang)
    assert found.answered >= answered_least, found
    assert found.refused >= refused_least, found


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_quotes_stand_in_the_notes(lang: str) -> None:
    texts = [document.text for document in documents(CASES[lang]["notes"])]
    for case in CASES[lang]["answerable"]:
        for quote in case["quotes"]:
            assert any(quote in text for text in texts), quote
