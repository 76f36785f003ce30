"""Make text of unknown origin plain text inside Markdown: it can't open a heading, a table, a link or raw HTML."""

from __future__ import annotations

import re

_INLINE = re.compile(r"([\\`*_\[\]<>|~&$])")
_SCHEME = re.compile(r"(?<=[A-Za-z0-9])://")
_WWW = re.compile(r"\b(www)\.", re.IGNORECASE)
_LINE_START = re.compile(r"^([#+=:-])|^(\d{1,9})([.)])")
# Controls move a terminal's cursor; the bidirectional ones make a line read as what it is not.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ue000-\uf8ff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def inert(text: str, *, at_line_start: bool = True) -> str:
    r"""Return `text` on one line, so that Markdown shows exactly its words.

    White space is reduced to single spaces; control, bidirectional and private-use characters become U+FFFD; web
    addresses stay readable and are no links. A mail address may still be shown as a link by some viewers.

    >>> inert("# [Pay](http://x.example) <b>now</b>")
    '\\# \\[Pay\\](http\\://x.example) \\<b\\>now\\</b\\>'
    """
    plain = _CONTROL.sub(_REPLACEMENT, " ".join(text.split()))
    escaped = _WWW.sub(r"\1\\.", _SCHEME.sub(r"\\://", _INLINE.sub(r"\\\1", plain)))
    return _LINE_START.sub(_escape_start, escaped) if at_line_start else escaped


def without_bar_escapes(rendered: str) -> str:
    r"""Return an inert line with its vertical bars as they are, for places that can't be a row of a table: a line that
    no line below can make a table's head, because it stands alone in its block.

    >>> without_bar_escapes(inert("| gel | 6 tubes |"))
    '| gel | 6 tubes |'
    """
    return rendered.replace(r"\|", "|") if r"\\" not in rendered else rendered


def inert_part(text: str) -> str:
    """Return a stretch from the middle of a line as `inert` does, keeping one space where it begins or ends with
    white space."""
    core = inert(text, at_line_start=False)
    if not core:
        return " " if text else ""
    return f"{' ' if text[0].isspace() else ''}{core}{' ' if text[-1].isspace() else ''}"


def inert_lines(text: str) -> tuple[str, ...]:
    """Return the lines of `text`, each made inert; an empty line is an empty string."""
    return tuple(inert(line) for line in text.splitlines())


def _escape_start(match: re.Match[str]) -> str:
    return f"\\{match[1]}" if match[1] else f"{match[2]}\\{match[3]}"
