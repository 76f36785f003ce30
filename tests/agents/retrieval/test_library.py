"""The library: notes, copies and labels of a run."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.retrieval.library import NotesLibrary, SectionLabel, UnknownNote
from agents.retrieval.reading import Corpus, document_from_text
from masks.leaks.labels import SectionText

TEXT = (
    "# Law\n\nThe permit lapses after ninety days unless it was used before then by somebody.\n\n"
    "## Tax\n\nNone is due.\n"
)


class Counting:
    """Labels by a word and counts what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def label(self, sections: Sequence[SectionText]) -> Sequence[SectionLabel]:
        texts = [section.excerpt for section in sections]
        self.asked += texts
        return [SectionLabel(domain="law.public" if "permit" in text else None) for text in texts]


def library(labeller: Counting | None = None) -> NotesLibrary:
    documents = tuple(document_from_text(path, TEXT) for path in ("a.md", "b.md"))
    return NotesLibrary(Corpus(documents=documents), labeller=labeller)


def test_each_document_is_labelled_once_as_a_whole() -> None:
    labeller = Counting()
    found = library(labeller)
    assert [label.domain for label in found.labels([0, 1])] == ["law.public", None]
    assert len(labeller.asked) == 2
    assert [label.domain for label in found.labels([1, 0, 2])] == [None, "law.public", "law.public"]
    assert [label.domain for label in found.labels([3])] == [None]
    assert len(labeller.asked) == 4


class Gated(Counting):
    """Labels the document `gated` only when it is let, and says when it was asked to."""

    def __init__(self) -> None:
        super().__init__()
        self.gated = ""
        self.reached = Event()
        self.let = Event()

    def label(self, sections: Sequence[SectionText]) -> Sequence[SectionLabel]:
        if sections[0].document == self.gated:
            self.reached.set()
            assert self.let.wait(timeout=60)
        return super().label(sections)


def test_threads_that_meet_the_same_document_have_it_labelled_once() -> None:
    labeller = Gated()
    found = library(labeller)
    labeller.gated = str(found.corpus.documents[1].source.id)
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(found.labels, [2])
        assert labeller.reached.wait(timeout=60)
        others = [pool.submit(found.labels, [2, 3]), pool.submit(found.labels, [0, 2])]
        labeller.let.set()
        answers = [each.result(timeout=60) for each in (first, *others)]
    assert [[label.domain for label in answer] for answer in answers] == [
        ["law.public"],
        ["law.public", None],
        ["law.public", "law.public"],
    ]
    assert len(labeller.asked) == 4


def test_a_document_at_work_makes_nobody_wait_for_another() -> None:
    labeller = Gated()
    found = library(labeller)
    labeller.gated = str(found.corpus.documents[1].source.id)
    with ThreadPoolExecutor(2) as pool:
        waiting = pool.submit(found.labels, [2])
        assert labeller.reached.wait(timeout=60)
        assert [label.domain for label in found.labels([0, 1])] == ["law.public", None]
        assert not waiting.done()
        labeller.let.set()
        assert [label.domain for label in waiting.result(timeout=60)] == ["law.public"]


def test_without_a_labeller_everything_is_unclassified() -> None:
    assert library().labels([0, 1]) == (SectionLabel(), SectionLabel())


def test_sources_say_which_note_they_repeat() -> None:
    found = library()
    first, second = found.corpus.documents
    assert found.source(first).copy_of is None
    assert found.source(second).copy_of == first.source.id


def test_notes_are_found_by_id_and_path_and_unknown_ones_named() -> None:
    found = library()
    document = found.corpus.documents[0]
    assert found.document("a.md") is found.document(document.source.id) is document
    with pytest.raises(UnknownNote, match=r"no note 'c\.md' among 2 notes"):
        found.document("c.md")


def test_sections_that_touch_lines() -> None:
    found = library()
    document = found.corpus.documents[1]
    entries = [found.index.entries[i] for i in found.entries_in(document, 3, 5)]
    assert [entry.section.heading for entry in entries] == ["Law", "Law > Tax"]
    assert {entry.document.path for entry in entries} == {"b.md"}


def test_a_folder_is_opened(tmp_path: Path) -> None:
    (tmp_path / "n.md").write_text(TEXT, encoding="utf-8")
    assert [hit.entry for hit in NotesLibrary.open(tmp_path).search("permit", 5)] == [0]


@given(
    st.lists(
        st.sampled_from(["# Head", "## Sub", "", "words " * 60, "- item", "| a | b |", "short"]), max_size=30
    ),
    st.integers(0, 32),
    st.integers(0, 32),
)
def test_the_sections_at_some_lines_are_those_that_touch_them(
    lines: list[str], first: int, last: int
) -> None:
    # The other note stands first, so that positions don't begin at 0.
    documents = (document_from_text("a.md", TEXT), document_from_text("b.md", "\n".join(lines)))
    found = NotesLibrary(Corpus(documents=documents))
    expected = [
        position
        for position, entry in enumerate(found.index.entries)
        if entry.document.path == "b.md"
        and entry.section.start_line <= last
        and entry.section.end_line >= first
    ]
    assert list(found.entries_in(documents[1], first, last)) == expected
