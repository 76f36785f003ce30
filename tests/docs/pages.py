"""The pages that people read, and what stands in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
CHINESE: Final = ".zh-CN.md"

_FENCE = re.compile(r"^```(\w*)[ \t]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^(#{1,6}) (.+)$", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block of a page."""

    language: str
    """What stands behind the fence; empty for none."""
    text: str


def pages() -> list[Path]:
    """Return every Markdown page of the repository that is for people, READMEs first."""
    roots = [ROOT / name for name in ("README.md", "README.zh-CN.md", "CHANGELOG.md", "examples/README.md")]
    return [*roots, *sorted((ROOT / "docs").rglob("*.md"))]


def page_id(page: Path) -> str:
    """Return how a page is called in test ids."""
    return page.relative_to(ROOT).as_posix()


def text_of(page: Path) -> str:
    """Return a page's text."""
    return page.read_text(encoding="utf-8")


def blocks(text: str) -> list[Block]:
    """Return the fenced blocks of a text, in order.

    >>> blocks("a\\n```sh\\nls\\n```\\n")
    [Block(language='sh', text='ls\\n')]
    """
    return [Block(language=match[1], text=match[2]) for match in _FENCE.finditer(text)]


def prose(text: str) -> str:
    """Return a text without fenced blocks and comments."""
    return _COMMENT.sub("", _FENCE.sub("", text))


def headings(text: str) -> list[tuple[int, str]]:
    """Return level and words of each heading.

    >>> headings("# A\\n```text\\n# no\\n```\\n## B\\n")
    [(1, 'A'), (2, 'B')]
    """
    return [(len(match[1]), match[2].strip()) for match in _HEADING.finditer(prose(text))]


def links(text: str) -> Iterator[str]:
    """Yield the targets of the links of a text.

    >>> list(links("[a](b.md#c) and `[x](y)`"))
    ['b.md#c']
    """
    yield from _LINK.findall(re.sub(r"`[^`\n]*`", "", prose(text)))


def anchor(heading: str) -> str:
    """Return the anchor that GitHub gives to a heading.

    >>> anchor("From Python"), anchor("run.created"), anchor("在 Python 中使用")
    ('from-python', 'runcreated', '在-python-中使用')
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
