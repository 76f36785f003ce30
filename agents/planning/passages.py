"""Read a goal as passages: sentences, each with the list that it introduces."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Final

from agents.planning.clauses import numbered, sentences, split_at_colon, unquote
from agents.planning.language import CJK

_FENCE = re.compile(r"^\s*(?:```|~~~).*$")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+")
_QUOTE_MARK = re.compile(r"^\s*(?:>\s?)+")
_NO_PART: Final = r"(?!\d{1,3}(?!\d))"
"""After the dot of a list's number: `1.5 MW`, `10:30` and `1.1.6` are one number, `1.2023年` is an entry."""
_BULLET = re.compile(
    r"^\s*(?:[-*+•·‣–—]\s+|\[[ xX]\]\s+"
    rf"|(?:\d{{1,3}}|[a-zA-Z]|Q\s?\d{{1,3}})(?:[)、]|[.．:：]{_NO_PART})\s*(?=\S)|[（(]"
    r"(?:\d{1,3}|[a-z])[)）]\s*"
    r"|[①-⑳]\s*|[（(][一二三四五六七八九十]{1,3}[)）]\s*|[一二三四五六七八九十]{1,3}[、.．]\s*)+"
)
_ONLY_NUMBER = re.compile(
    rf"^(?:[（(](?:\d{{1,3}}|[a-z]|[一二三四五六七八九十]{{1,3}})[)）]|[①-⑳]|\d{{1,3}}(?:[)、]|[.．]{_NO_PART}))\s*(?=\S)"
)
"""The number of the only entry of a list inside a line."""
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)")
_EMPHASIS = re.compile(r"(\*\*|__|~~|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*]))")
_BRACES = re.compile(r"\{\{|\}\}")
_OPEN_END = re.compile(r"[:：]\s*$")
_CONTINUES = re.compile(r"^[a-z(（]")
_STOPPED = re.compile(r"[。．.！？!?；;:：]\s*[\"”』」)）]*$")

_WRAP_LENGTH: Final = 24
"""Characters from which an unfinished line of Chinese counts as wrapped instead of ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A sentence, and the list that it introduces."""

    text: str
    """Without the colon before the list; empty for a list that nothing introduces."""
    items: tuple[str, ...] = ()

    @property
    def whole(self) -> str:
        """The passage on one line, for titles and for the parts of it that nothing else names."""
        return ": ".join(part for part in (self.text, "; ".join(self.items)) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    text: str
    item: bool
    after_blank: bool = False


def read_passages(text: str) -> tuple[Passage, ...]:
    """Return the passages of a goal, in order.

    Markdown marks are removed, words are kept as typed. `{{` and `}}` are pulled apart, because in a plan they
    would refer to an input.
    """
    passages: list[Passage] = []
    for line in _lines(_plain(text)):
        if line.item:
            _attach(passages, line.text)
        else:
            passages.extend(_sentence_passages(line.text))
    return tuple(passage for passage in passages if passage.text or passage.items)


def _plain(text: str) -> str:
    pulled = _BRACES.sub(lambda match: " ".join(match.group(0)), unicodedata.normalize("NFC", text))
    visible = "".join(c for c in pulled if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf"))
    single = re.sub(r"[^\S\n]+", " ", visible)
    return _EMPHASIS.sub("", _LINK.sub(r"\1", single))


def _lines(text: str) -> list[_Line]:
    lines: list[_Line] = []
    blank = False
    for raw in text.splitlines():
        if not raw.strip() or _FENCE.match(raw):
            blank = True
            continue
        body = _HEADING.sub("", _QUOTE_MARK.sub("", raw))
        bullet = _BULLET.match(body)
        if bullet and body[bullet.end() :].strip():
            lines.append(_Line(text=body[bullet.end() :].strip(), item=True, after_blank=blank))
        elif lines and not blank and _wrapped(lines[-1].text, body.strip()):
            glue = "" if re.search(f"[{CJK}，、]$", lines[-1].text) else " "
            lines[-1] = replace(lines[-1], text=lines[-1].text + glue + body.strip())
        else:
            lines.append(_Line(text=body.strip(), item=False, after_blank=blank))
        blank = False
    return lines


def _wrapped(before: str, after: str) -> bool:
    """Whether a line goes on in the next one."""
    if not after or _STOPPED.search(before):
        return False
    if before.endswith((",", "，", "、")) or _CONTINUES.match(after):
        return True
    return bool(re.search(f"[{CJK}]$", before)) and len(before) >= _WRAP_LENGTH


def _attach(passages: list[Passage], item: str) -> None:
    """Add a list item to the passage before it, or start a list of its own."""
    open_list = passages and (passages[-1].items or not _STOPPED.search(passages[-1].text))
    if open_list:
        passages[-1] = replace(passages[-1], items=(*passages[-1].items, item))
    else:
        passages.append(Passage(text="", items=(item,)))


def _sentence_passages(line: str) -> list[Passage]:
    listed = numbered(line)
    if listed is not None:
        *before, lead = sentences(_OPEN_END.sub("", listed.lead)) or ("",)
        *items, last = listed.items
        first, *tail = sentences(last) or (last,)
        tail_questions = [part for part in tail if part.endswith(("?", "？"))]
        rest = [part for part in tail if part not in tail_questions]
        return [
            *(passage for part in before for passage in _introduced(part)),
            Passage(text=lead, items=(*items, " ".join([first, *tail_questions]))),
            *(passage for part in rest for passage in _introduced(part)),
        ]
    return _by_colon(line)


def _by_colon(line: str) -> list[Passage]:
    """Cut a line into sentences; what follows a colon belongs to the sentence that it ends."""
    found: list[Passage] = []
    parts = list(sentences(line))
    if _OPEN_END.search(line) and parts:
        *before, last = parts
        return [
            *(passage for part in before for passage in _introduced(part)),
            Passage(text=_OPEN_END.sub("", last).strip(), items=()),
        ]
    for index, part in enumerate(parts):
        split = split_at_colon(part)
        if split is None or not part.endswith((";", "；")):
            found.extend(_introduced(part))
            continue
        # `Find out: what X costs; who runs it; when it opens` – the semicolons divide the list.
        upto = index + 1
        while upto < len(parts) and parts[upto - 1].endswith((";", "；")):
            upto += 1
        items = [split[1], *parts[index + 1 : upto]]
        found.append(Passage(text=split[0], items=tuple(item.strip(" ;；") for item in items)))
        found.extend(passage for later in parts[upto:] for passage in _introduced(later))
        break
    return found


def _introduced(sentence: str) -> list[Passage]:
    split = split_at_colon(sentence)
    if split is None:
        return [Passage(text=unquote(sentence.strip(" ;；")))]
    lead, rest = split
    return [Passage(text=lead, items=(_ONLY_NUMBER.sub("", rest),))]
