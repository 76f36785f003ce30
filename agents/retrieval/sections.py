"""Cut a Markdown or plain text document into blocks, and blocks into sections under their headings.

Every block and section is a character range of the document's own text: nothing is rewritten.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from agents.retrieval.reading import Document

SECTION_CHARS = 1_200
"""A longer section is cut at the next block border, so that one hit of a search is a place and not a chapter."""

BlockKind = Literal["front_matter", "heading", "paragraph", "list", "table", "html", "code", "blank"]

_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_ATX = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$")
_SETEXT = re.compile(r"^ {0,3}(=+|-{2,})[ \t]*$")
_LIST_ITEM = re.compile(
    r"^\s*(?:>\s*)?(?:[-*+•]|\d{1,3}[.)、]|[(（]\d{1,3}[)）]|[a-zA-Z][.)])[ \t]+\S|^\s*\d{1,2}、\S"
)
_TABLE_ROW = re.compile(r"^\s*\|.*\|\s*$")
_ZH_HEADING = re.compile(
    r"^\s*(?:第[一二三四五六七八九十百0-9]+[章节部分]|[一二三四五六七八九十]+、)\s*\S{1,30}$"
)
_BLANK = re.compile(r"^[\s>]*$")
_HTML = re.compile(r"^\s*</?[a-zA-Z][^>]*>?")
_HEADING_ANCHOR = re.compile(r"\s*\{#[^}]*\}\s*$")


_Predicate = Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A stretch of whole lines of one kind."""

    kind: BlockKind
    start_char: int
    end_char: int
    """Exclusive; the last line end is left out."""
    level: int = 0
    """1 to 6 for a heading."""
    title: str = ""
    """The words of a heading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Blocks under one heading, or a part of them."""

    trail: tuple[str, ...]
    """Titles from the document's top heading down to this section's."""
    start_char: int
    end_char: int
    start_line: int
    end_line: int
    blocks: tuple[Block, ...]
    """The heading's block first, where this part has one; no blank blocks."""

    @property
    def heading(self) -> str:
        """Return the trail as people write it, `A > B`."""
        return " > ".join(self.trail)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    text: str
    start: int
    end: int


def blocks_of(document: Document) -> tuple[Block, ...]:
    """Return the blocks of `document` in order; they don't overlap, and together hold every visible character."""
    lines = _lines(document)
    blocks: list[Block] = []
    index = 0
    while index < len(lines):
        block, index = _next_block(lines, index)
        if block.kind != "blank":
            blocks.append(block)
    return tuple(blocks)


def sections_of(document: Document) -> tuple[Section, ...]:
    """Return the sections of `document` in order, each at most `SECTION_CHARS` long unless one block is longer."""
    sections: list[Section] = []
    trail: list[tuple[int, str]] = []
    pending: list[Block] = []

    def close() -> None:
        if pending:
            sections.append(_section(document, tuple(title for _, title in trail), tuple(pending)))
            pending.clear()

    for block in blocks_of(document):
        if block.kind == "heading":
            close()
            while trail and trail[-1][0] >= block.level:
                trail.pop()
            trail.append((block.level, block.title))
        elif (
            pending and block.end_char - pending[0].start_char > SECTION_CHARS and not _only_heading(pending)
        ):
            close()
        pending.append(block)
        if block.kind == "front_matter":
            close()
    close()
    return tuple(sections)


def _only_heading(blocks: list[Block]) -> bool:
    return all(block.kind == "heading" for block in blocks)


def _section(document: Document, trail: tuple[str, ...], blocks: tuple[Block, ...]) -> Section:
    start, end = blocks[0].start_char, blocks[-1].end_char
    first, last = document.line_range(start, end)
    return Section(
        trail=trail, start_char=start, end_char=end, start_line=first, end_line=last, blocks=blocks
    )


def _lines(document: Document) -> list[_Line]:
    starts = (*document.line_starts, len(document.text))
    lines = []
    for start, end in pairwise(starts):
        text = document.text[start:end].rstrip("\r\n")
        lines.append(_Line(text=text, start=start, end=start + len(text)))
    return lines


def _next_block(lines: list[_Line], index: int) -> tuple[Block, int]:
    line = lines[index]
    if index == 0 and line.text.strip() == "---":
        end = _find(lines, 1, lambda text: text.strip() in {"---", "..."})
        if end is not None:
            return _block("front_matter", lines, 0, end + 1), end + 1
    if _BLANK.match(line.text):
        return _block("blank", lines, index, index + 1), index + 1
    fence = _FENCE.match(line.text)
    if fence:
        return _code(lines, index, fence.group(1))
    heading = _heading(lines, index)
    if heading:
        return heading
    if _TABLE_ROW.match(line.text):
        return _run("table", lines, index, lambda text: bool(_TABLE_ROW.match(text)))
    if _LIST_ITEM.match(line.text):
        return _block("list", lines, index, _list_end(lines, index)), _list_end(lines, index)
    if _HTML.match(line.text):
        return _run("html", lines, index, _continues_paragraph)
    return _run("paragraph", lines, index, _continues_paragraph)


def _code(lines: list[_Line], index: int, fence: str) -> tuple[Block, int]:
    def closes(text: str) -> bool:
        stripped = text.strip()
        return stripped.startswith(fence) and not stripped.strip(fence[0])

    end = _find(lines, index + 1, closes)
    stop = len(lines) if end is None else end + 1
    return _block("code", lines, index, stop), stop


def _heading(lines: list[_Line], index: int) -> tuple[Block, int] | None:
    line = lines[index]
    atx = _ATX.match(line.text)
    if atx:
        title = _HEADING_ANCHOR.sub("", atx.group(2)).strip()
        return _block("heading", lines, index, index + 1, level=len(atx.group(1)), title=title), index + 1
    if index + 1 < len(lines) and not _TABLE_ROW.match(line.text) and not _LIST_ITEM.match(line.text):
        underline = _SETEXT.match(lines[index + 1].text)
        if underline:
            level = 1 if underline.group(1)[0] == "=" else 2
            return _block("heading", lines, index, index + 2, level=level, title=line.text.strip()), index + 2
    alone = index + 1 >= len(lines) or not lines[index + 1].text.strip()
    if _ZH_HEADING.match(line.text) and alone and not line.text.rstrip().endswith(("。", "；", "，")):
        return _block("heading", lines, index, index + 1, level=2, title=line.text.strip()), index + 1
    return None


def _list_end(lines: list[_Line], index: int) -> int:
    """A list item ends before the next item, heading, fence at its own level, or unindented text after a blank."""
    stop = index + 1
    while stop < len(lines):
        text = lines[stop].text
        if _BLANK.match(text) or _LIST_ITEM.match(text) or _FENCE.match(text) or _ATX.match(text):
            break
        if _TABLE_ROW.match(text):
            break
        stop += 1
    return stop


def _continues_paragraph(text: str) -> bool:
    return not (
        _BLANK.match(text)
        or _FENCE.match(text)
        or _ATX.match(text)
        or _TABLE_ROW.match(text)
        or _LIST_ITEM.match(text)
    )


def _run(kind: BlockKind, lines: list[_Line], index: int, belongs: _Predicate) -> tuple[Block, int]:
    stop = index + 1
    while stop < len(lines) and belongs(lines[stop].text):
        stop += 1
    return _block(kind, lines, index, stop), stop


def _find(lines: list[_Line], start: int, found: _Predicate) -> int | None:
    return next((index for index in range(start, len(lines)) if found(lines[index].text)), None)


def _block(
    kind: BlockKind, lines: list[_Line], start: int, stop: int, *, level: int = 0, title: str = ""
) -> Block:
    return Block(
        kind=kind, start_char=lines[start].start, end_char=lines[stop - 1].end, level=level, title=title
    )
