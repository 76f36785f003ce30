"""The text of an HTML page, as a person would read it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Final

_UNSEEN: Final = frozenset({"script", "style", "noscript", "template", "svg", "head", "iframe", "object"})
_BLOCKS: Final = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "br",
        "dd",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "table",
        "td",
        "th",
        "tr",
        "ul",
    ]
)


def text_of_html(page: str) -> tuple[str, str]:
    """Return the title and the visible text of `page`, a block to a line; broken HTML gives what can be read.

    >>> text_of_html("<title>A</title><p>one <b>two</b><script>x()</script><li>three")
    ('A', 'one two\\nthree')
    """
    reader = _Reader()
    reader.feed(page)
    reader.close()
    lines = (re.sub(r"\s+", " ", line).strip() for line in "".join(reader.parts).split("\n"))
    return " ".join("".join(reader.title).split())[:200], "\n".join(line for line in lines if line)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.title: list[str] = []
        self._unseen: list[str] = []
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        if tag == "title":
            self._in_title = True
        elif tag == "body":
            self._unseen.clear()  # a head that was never closed hides no text
        elif tag in _UNSEEN:
            self._unseen.append(tag)
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag in self._unseen:
            del self._unseen[self._unseen.index(tag) :]
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        elif not self._unseen:
            # Line ends within a block are spaces; only blocks end lines.
            self.parts.append(data.replace("\n", " "))
