"""Cut a section into sentence units: the smallest stretches that can be quoted and cited.

A unit is a sentence, a sentence of a list item, a table row, or a stretch of code. Its text is an exact slice of the
document. English and Chinese may be mixed in one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from agents.retrieval.reading import Document
from agents.retrieval.sections import Block, Section
from agents.retrieval.statement_lines import statement_starts

LONG_UNIT_CHARS = 420
"""A unit longer than this is cut at line ends: notes without punctuation put one statement on each line."""
CODE_BLOCK_CHARS = 320
"""A code block up to this length is one unit; a longer one is quoted line by line."""

UnitKind = Literal["sentence", "list_item", "table_row", "code"]

ABBREVIATIONS = frozenset(
    """e.g i.e etc vs cf al fig figs eq no nos vol pp ed eds dr mr mrs ms prof st jr sr inc ltd co corp dept est approx
    jan feb mar apr jun jul aug sep sept oct nov dec a.m p.m u.s u.k u.n ph.d""".split()  # noqa: SIM905
)
"""Words after which a full stop ends no sentence, without their last stop."""

_CLOSERS = "\"'”’」』）)】》]*_`"
_SENTENCE_END = re.compile(
    rf"[。！？；]+[{re.escape(_CLOSERS)}]*|[.!?]+[{re.escape(_CLOSERS)}]*(?=\s|$)|　　+"
)
_NO_SPACE = re.compile(r"\S")
_BULLET = re.compile(r"\s*(?:>\s*)*(?:(?:[-*+•]|\d{1,3}[.)、]|[(（]\d{1,3}[)）]|[a-zA-Z][.)])\s*)?")
_QUOTE_MARK = re.compile(r"\s*(?:>\s?)*(?:\[!\w+\]\s*)?")
_NOT_WORDS = re.compile(r"!\[[^\]]*\]\([^)]*\)|<[^>]{1,400}>|\{\{.*?\}\}|\{[#.:%][^}]*\}|https?://\S+")
_OPENING_TAG = re.compile(r"\s*</?[a-zA-Z][^>]*>")
_CLOSING_TAG = re.compile(r"\s*</?[a-zA-Z][^>]*>\s*\Z")
_WORD = re.compile(r"[^\W_]")
_TABLE_RULE = re.compile(r"^\s*\|[\s:|-]+\|\s*$")
_FRONT_TEXT = re.compile(r"^(?:title|summary|description|标题|摘要)[ \t]*:[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A quotable stretch of a document."""

    kind: UnitKind
    text: str
    """Exactly the document's characters `start_char` to `end_char`."""
    start_char: int
    end_char: int
    start_line: int
    """1-based, inclusive."""
    end_line: int
    lead: tuple[int, int] | None = None
    """Character range of what the unit can't be understood without: a table's header row, or the sentence that
    introduces a list."""

    def moved(self, chars: int, lines: int) -> Unit:
        """Return the unit at its place in a document of which the text at hand is a part."""
        lead = None if self.lead is None else (self.lead[0] + chars, self.lead[1] + chars)
        return replace(
            self,
            start_char=self.start_char + chars,
            end_char=self.end_char + chars,
            start_line=self.start_line + lines,
            end_line=self.end_line + lines,
            lead=lead,
        )


def units_of(document: Document, section: Section) -> tuple[Unit, ...]:
    """Return the units of `section` in order; headings, images, rules and markup without words give none."""
    found: list[Unit] = []
    lead: tuple[int, int] | None = None
    for block in section.blocks:
        if block.kind == "heading":
            lead = None
            continue
        units = list(_block_units(document, block, lead))
        found.extend(units)
        lead = _lead_after(document, block, units, lead)
    return tuple(found)


def sentence_ranges(text: str) -> tuple[tuple[int, int], ...]:
    """Return the character ranges of the sentences of running text, without surrounding white space.

    >>> text = "See Fig. 3. It costs 2.5 kWh! 价格是3元。不含税；运费另计。"
    >>> [text[a:b] for a, b in sentence_ranges(text)]
    ['See Fig. 3.', 'It costs 2.5 kWh!', '价格是3元。', '不含税；', '运费另计。']
    """
    ranges: list[tuple[int, int]] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if match.end() > start and _ends_sentence(text, match):
            ranges.extend(_cut_long(text, *_trim(text, start, match.end())))
            start = match.end()
    ranges.extend(_cut_long(text, *_trim(text, start, len(text))))
    return tuple((a, b) for a, b in ranges if b > a)


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    # Only what stands beside the mark is looked at: a slice up to either end would make a long text quadratic.
    mark = text[match.start()]
    following = _NO_SPACE.search(text, match.end())
    after = following.group() if following else ""
    if mark != ".":
        return mark not in "!?" or not after.islower()
    start, end = _run_before(text, match.start())
    shown = text[start:end]
    word = shown.lower()
    if word in ABBREVIATIONS or (len(shown) == 1 and shown.isupper()):
        return not after
    if word.isdigit() and not _NO_SPACE.search(text, 0, start):
        return False
    return not after.islower()


def _run_before(text: str, position: int) -> tuple[int, int]:
    """Return the range of word characters and full stops before `position`, or before a line end there."""
    end = position
    if end and text[end - 1] == "\n":
        end -= 1
    start = end
    while start and (text[start - 1] in "._" or text[start - 1].isalnum()):
        start -= 1
    return start, end


def _cut_long(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if end - start <= LONG_UNIT_CHARS:
        yield start, end
        return
    for line in re.finditer(r"[^\r\n]+", text[start:end]):
        yield _trim(text, start + line.start(), start + line.end())


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and (text[start].isspace() or text[start] == "\u200b"):
        start += 1
    while end > start and (text[end - 1].isspace() or text[end - 1] == "\u200b"):
        end -= 1
    return start, end


def _block_units(document: Document, block: Block, lead: tuple[int, int] | None) -> Iterator[Unit]:
    match block.kind:
        case "table":
            yield from _table_units(document, block)
        case "code":
            yield from _code_units(document, block, lead)
        case "list":
            yield from _text_units(document, block, "list_item", _BULLET, lead)
        case "html":
            for line in _line_ranges(document.text, block.start_char, block.end_char):
                yield from _html_units(document, *_inside_tags(document.text, *line))
        case "front_matter":
            yield from _front_units(document, block)
        case _:
            yield from _text_units(document, block, "sentence", _QUOTE_MARK, None)


def _lead_after(
    document: Document, block: Block, units: list[Unit], lead: tuple[int, int] | None
) -> tuple[int, int] | None:
    if block.kind in {"list", "code"}:
        return lead
    if units and document.text[units[-1].end_char - 1] in ":：" and units[-1].kind == "sentence":
        return units[-1].start_char, units[-1].end_char
    return None


def _text_units(
    document: Document, block: Block, kind: UnitKind, marker: re.Pattern[str], lead: tuple[int, int] | None
) -> Iterator[Unit]:
    text = document.text[block.start_char : block.end_char]
    opening = marker.match(text)
    skip = opening.end() if opening else 0
    text = text[skip:]
    # A list item's further lines are its continuation; a paragraph's may be statements of their own.
    starts = statement_starts(text) if kind == "sentence" else ()
    for first, last in pairwise((0, *starts, len(text))):
        offset = block.start_char + skip + first
        for start, end in sentence_ranges(text[first:last]):
            yield from _unit(document, kind, offset + start, offset + end, lead)


def _table_units(document: Document, block: Block) -> Iterator[Unit]:
    rows = _line_ranges(document.text, block.start_char, block.end_char)
    header: tuple[int, int] | None = None
    if len(rows) > 1 and _TABLE_RULE.match(document.text[slice(*rows[1])]):
        header = rows[0]
    for row in rows:
        if row != header and not _TABLE_RULE.match(document.text[slice(*row)]):
            yield from _unit(document, "table_row", *row, header)


def _code_units(document: Document, block: Block, lead: tuple[int, int] | None) -> Iterator[Unit]:
    lines = _line_ranges(document.text, block.start_char, block.end_char)[1:]
    if lines and re.fullmatch(r"[`~]{3,}", document.text[slice(*lines[-1])]):
        lines = lines[:-1]
    if not lines:
        return
    if lines[-1][1] - lines[0][0] <= CODE_BLOCK_CHARS:
        yield from _unit(document, "code", lines[0][0], lines[-1][1], lead)
        return
    for line in lines:
        yield from _unit(document, "code", *line, lead)


def _front_units(document: Document, block: Block) -> Iterator[Unit]:
    for match in _FRONT_TEXT.finditer(document.text, block.start_char, block.end_char):
        yield from _unit(document, "sentence", match.start(1), match.end(1), None)


def _html_units(document: Document, start: int, end: int) -> Iterator[Unit]:
    for first, last in sentence_ranges(document.text[start:end]):
        yield from _unit(
            document, "sentence", *_inside_tags(document.text, start + first, start + last), None
        )


def _inside_tags(text: str, start: int, end: int) -> tuple[int, int]:
    while opening := _OPENING_TAG.match(text, start, end):
        start = opening.end()
    while closing := _CLOSING_TAG.search(text, start, end):
        end = closing.start()
    return _trim(text, start, end)


def _line_ranges(text: str, start: int, end: int) -> list[tuple[int, int]]:
    found = [
        _trim(text, start + line.start(), start + line.end())
        for line in re.finditer(r"[^\r\n]+", text[start:end])
    ]
    return [(a, b) for a, b in found if b > a]


def _unit(
    document: Document, kind: UnitKind, start: int, end: int, lead: tuple[int, int] | None
) -> Iterator[Unit]:
    text = document.text[start:end]
    if len(_WORD.findall(_NOT_WORDS.sub("", text))) < 2:
        return
    first, last = document.line_range(start, end)
    yield Unit(
        kind=kind, text=text, start_char=start, end_char=end, start_line=first, end_line=last, lead=lead
    )
