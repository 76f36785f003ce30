"""Render the text of an output: its headings, lists and tables stay, everything else becomes inert words.

Anchors become citation numbers. What stands right before the anchor of a claim and equals the claim's statement is
shown between quotation marks when it is an exact excerpt, so that a number inside a quoted note can't be taken for a
citation of the report.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from agents.citations import find_anchors
from agents.evidence import ClaimId
from orchestrator.core.report.contents import Citation
from orchestrator.core.report.escaping import inert, inert_part, without_bar_escapes

CiteForm = Callable[[Citation], str]
"""How a citation is shown in the text, e.g. `[3]`."""

_OPEN, _CLOSE = "\ue000", "\ue001"
_TOKEN = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_HEADING = re.compile(r"^(?P<mark>#{1,6} )(?P<rest>.*)$")
_ITEM = re.compile(r"^(?P<mark>(?:  ){0,3}(?:- |\d{1,3}\. ))(?P<rest>.*)$")
_QUOTE = re.compile(r"^(?P<mark>> )(?P<rest>.*)$")
_ROW = re.compile(r"^\|.*\|$")
_RULE = re.compile(r"^\|(?: *:?-{1,} *:?\|)+$")
_BAR = re.compile(r"(?<!\\)\|")


def render_text(text: str, citations: Mapping[ClaimId, Citation], cite: CiteForm) -> str:
    """Return `text` as safe Markdown; an anchor that points at no claim of `citations` stays visible as words."""
    marked, tokens = _with_tokens(_PRIVATE.sub("\N{REPLACEMENT CHARACTER}", text), citations, cite)
    return "\n".join(_with_words(line.rstrip(), tokens) for line in marked.splitlines())


def _with_words(line: str, tokens: tuple[str, ...]) -> str:
    """Render a line and put the tokens' words in; an item of a list is alone in its block, a row needs its bars."""
    filled = _TOKEN.sub(lambda match: tokens[int(match[1])], _line(line))
    return without_bar_escapes(filled) if _ITEM.match(line) else filled


def is_exact_quote(citation: Citation) -> bool:
    """Return whether the statement's words stand exactly so in one of the cited places."""
    words = " ".join(citation.statement.split())
    return any(words in " ".join(place.excerpt.split()) for place in citation.places) and bool(words)


def _with_tokens(
    text: str, citations: Mapping[ClaimId, Citation], cite: CiteForm
) -> tuple[str, tuple[str, ...]]:
    """Replace anchors and the statements before them by tokens, which no later step can take for Markdown."""
    parts: list[str] = []
    tokens: list[str] = []

    def token(rendered: str) -> str:
        tokens.append(rendered)
        return f"{_OPEN}{len(tokens) - 1}{_CLOSE}"

    end = 0
    for found in find_anchors(text):
        citation = citations.get(found.claim)
        if citation is None:
            continue
        before, statement = _split_statement(text[end : found.start], citation)
        parts.append(before)
        if statement:
            parts.append(token(_quoted(statement, citation)) + " ")
        parts.append(token(cite(citation)))
        end = found.end
    parts.append(text[end:])
    return "".join(parts), tuple(tokens)


def _split_statement(before: str, citation: Citation) -> tuple[str, str]:
    """Split off the statement at the end of `before`, whatever white space and table escapes it is written with."""
    words = citation.statement.split()
    if not words:
        return before, ""
    pattern = r"\s+".join(re.escape(word).replace(r"\|", r"\\?\|") for word in words)
    match = re.search(rf"{pattern}\s*\Z", before)
    return (before[: match.start()], citation.statement) if match else (before, "")


def _quoted(statement: str, citation: Citation) -> str:
    if is_exact_quote(citation):
        return f"“{inert(statement, at_line_start=False)}”"
    return inert(statement)


def _line(line: str) -> str:
    if _ROW.match(line):
        return line if _RULE.match(line) else _row(line)
    for pattern in (_HEADING, _ITEM, _QUOTE):
        if match := pattern.match(line):
            return match["mark"] + _content(match["rest"])
    return _content(line)


def _row(line: str) -> str:
    cells = [_content(cell.replace(r"\|", "|")) for cell in _BAR.split(line[1:-1])]
    return "|" + "|".join(f" {cell.strip()} " for cell in cells) + "|"


def _content(text: str) -> str:
    """Make everything but tokens inert; the first words are escaped as the beginning of a line."""
    rendered: list[str] = []
    end = 0
    for match in _TOKEN.finditer(text):
        rendered.append(_words(text[end : match.start()], first=end == 0))
        rendered.append(match[0])
        end = match.end()
    rendered.append(_words(text[end:], first=end == 0))
    return "".join(rendered)


def _words(text: str, *, first: bool) -> str:
    if not first or not text.strip():
        return inert_part(text)
    return inert(text) + (" " if text[-1].isspace() else "")
