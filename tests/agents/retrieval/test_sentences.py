"""Sentence units: exact slices, at their lines, in two languages."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import SupportsIndex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.retrieval.reading import document_from_text
from agents.retrieval.sections import sections_of
from agents.retrieval.sentences import ABBREVIATIONS, LONG_UNIT_CHARS, Unit, sentence_ranges, units_of


def units(text: str) -> list[Unit]:
    document = document_from_text("n.md", text)
    return [unit for section in sections_of(document) for unit in units_of(document, section)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It is 2.5 m. Next.", ["It is 2.5 m.", "Next."]),
        ("See e.g. Fig. 3 and Dr. Ames. Then stop!", ["See e.g. Fig. 3 and Dr. Ames.", "Then stop!"]),
        ("Version v1.2.3 is out. e.g. this stays", ["Version v1.2.3 is out. e.g. this stays"]),
        ('He said "yes." Then he left.', ['He said "yes."', "Then he left."]),
        (
            "价格为3.5元。不含税；另付运费！是吗？是。",
            ["价格为3.5元。", "不含税；", "另付运费！", "是吗？", "是。"],
        ),
        ("他说：“好。”然后走了。", ["他说：“好。”", "然后走了。"]),
        ("J. K. Rowling wrote it. Yes.", ["J. K. Rowling wrote it.", "Yes."]),
        ("1. The first item. More", ["1. The first item.", "More"]),
        ("甲　　乙", ["甲", "乙"]),
        ("", []),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert [text[a:b] for a, b in sentence_ranges(text)] == sentences


@given(st.text(alphabet='aA1。.! ?\n“”"；　中e', max_size=80))
def test_sentences_are_in_order_and_lose_only_white_space(text: str) -> None:
    ranges = sentence_ranges(text)
    assert all(a < b for a, b in ranges)
    assert all(first[1] <= second[0] for first, second in pairwise(ranges))
    kept = "".join(text[a:b] for a, b in ranges)
    assert "".join(kept.split()) == "".join(text.split())


_PIECES = (
    *("a", "B", "e.g", "Fig", "U.S", "No", "12", "_", "é", "²", "中"),
    *(".", ".", ".", "!", "?", "。", "；", '"', " ", " ", "\n", "\r\n", "\u3000", "\x85"),
)


@given(st.lists(st.sampled_from(_PIECES), max_size=14).map("".join))
def test_a_mark_ends_a_sentence_by_what_stands_on_its_two_sides(text: str) -> None:
    ranges, start = [], 0
    for match in re.finditer(r"[。！？；]+[\"”]*|[.!?]+[\"”]*(?=\s|$)|\u3000\u3000+", text):
        if match.end() > start and _ends(match.group()[0], text[: match.start()], text[match.end() :]):
            ranges.append((start, match.end()))
            start = match.end()
    expected = [text[first:last].strip() for first, last in (*ranges, (start, len(text)))]
    assert [text[first:last] for first, last in sentence_ranges(text)] == [each for each in expected if each]


def _ends(mark: str, before: str, behind: str) -> bool:
    """The rule, on all of the text before a mark and all of the text behind it."""
    following = behind.lstrip()[:1]
    if mark in "!?":
        return not following.islower()
    if mark != ".":
        return True
    run = re.search(r"[\w.]+$", before)
    word = run.group() if run else ""
    if word.lower() in ABBREVIATIONS or (len(word) == 1 and word.isupper()):
        return not behind.strip()
    if run and word.isdigit() and not before[: run.start()].strip():
        return False
    return not following.islower()


class Watched(str):
    """A text that adds up what is sliced out of it."""

    sliced = 0

    def __getitem__(
        self, key: SupportsIndex | slice[SupportsIndex | None, SupportsIndex | None, SupportsIndex | None]
    ) -> str:
        found = super().__getitem__(key)
        self.sliced += len(found)
        return found


def test_a_long_text_is_cut_in_one_go() -> None:
    text = Watched(" ".join(f"Sentence {number} of it ends in vol. {number} here." for number in range(500)))
    assert len(sentence_ranges(text)) == 500
    assert text.sliced <= 2 * len(text)


def test_units_of_a_note_with_their_leads() -> None:
    text = (
        "# Title\n\nFirst sentence. Second one.\n\nThe options are:\n\n- apples and pears\n- plums. Not cherries.\n\n"
        "| item | cost |\n| --- | --- |\n| pump | 12 € |\n\n```sh\nmake all\n```\n\n![an image](x.png)\n"
    )
    found = units(text)
    assert [(unit.kind, unit.text) for unit in found] == [
        ("sentence", "First sentence."),
        ("sentence", "Second one."),
        ("sentence", "The options are:"),
        ("list_item", "apples and pears"),
        ("list_item", "plums."),
        ("list_item", "Not cherries."),
        ("table_row", "| pump | 12 € |"),
        ("code", "make all"),
    ]
    leads = [text[slice(*unit.lead)] if unit.lead else None for unit in found]
    assert leads[3:7] == ["The options are:", "The options are:", "The options are:", "| item | cost |"]
    assert [unit.start_line for unit in found] == [3, 3, 5, 7, 8, 8, 12, 15]


def test_markup_around_words_is_left_out() -> None:
    text = (
        '<table>\n<td class="x"><li>Size of one shard. Default is two.</li></td>\n</table>\n\n'
        "> **Note:**\n>\n> Mind the gap.\n"
    )
    assert [unit.text for unit in units(text)] == [
        "Size of one shard.",
        "Default is two.",
        "**Note:**",
        "Mind the gap.",
    ]


def test_front_matter_gives_its_summary() -> None:
    assert [
        unit.text for unit in units("---\nid: a.md\nsummary: What it is about.\n---\n\nText here.\n")
    ] == [
        "What it is about.",
        "Text here.",
    ]


def test_lines_without_punctuation_are_cut_when_long() -> None:
    text = "\n".join(f"line number {i} says something" for i in range(40))
    found = units(text)
    assert len(found) == 40
    assert all(len(unit.text) <= LONG_UNIT_CHARS for unit in found)


@given(st.text(alphabet="ab中1。.\n\r|-#`> *:<p>", max_size=120))
def test_units_are_exact_slices_at_their_lines(text: str) -> None:
    document = document_from_text("n.md", text)
    for unit in units(text):
        assert text[unit.start_char : unit.end_char] == unit.text
        assert document.line_range(unit.start_char, unit.end_char) == (unit.start_line, unit.end_line)
        moved = unit.moved(7, 3)
        assert (moved.start_char, moved.end_line) == (unit.start_char + 7, unit.end_line + 3)
