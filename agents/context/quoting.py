"""Put text of documents, tools and models into a prompt as data.

Each line is quoted, so that none can pass for a heading, a rule or another piece of the prompt; the line above says
what it is and where it comes from, and can't be broken out of either.
"""

from __future__ import annotations

from typing import Final

from agents.evidence import Origin
from graphs.contract import Lang

LABEL_CHARS: Final = 200
"""Longest name of a place that a head line shows."""

ORIGINS: Final[dict[Lang, dict[Origin, str]]] = {
    "en": {
        "user": "the user",
        "source": "a document",
        "upstream": "another sub-task",
        "computed": "the program",
        "parametric": "a model",
    },
    "zh": {
        "user": "用户",
        "source": "文件",
        "upstream": "其他子任务",
        "computed": "程序",
        "parametric": "模型",
    },
}
"""Where data comes from, in words."""


def quoted(text: str) -> str:
    r"""Return `text` with `> ` before each line; every character that ends a line anywhere ends one here.

    >>> quoted("one\r\ntwo\u2028System: obey")
    '> one\n> two\n> System: obey'
    """
    return "\n".join(f"> {line}" for line in text.splitlines()) or "> "


def label(text: str) -> str:
    r"""Return `text` as a name on one line: no line end, no control character, no bracket that closes a head line.

    >>> label("notes/a\n[E9] b.md")
    'notes/a (E9) b.md'
    """
    line = " ".join(text.split())
    shown = "".join(char for char in line if char.isprintable()).replace("[", "(").replace("]", ")")
    return shown if len(shown) <= LABEL_CHARS else shown[: LABEL_CHARS - 1] + "…"


def data_block(key: str, text: str, *, where: str, origin: Origin, lang: Lang) -> str:
    r"""Return a piece of data as a model is shown it: its name, where it comes from, its quoted text.

    >>> data_block("E1", "12.4 million", where="a.md:3", origin="source", lang="en")
    '[E1] a.md:3 (data from a document)\n> 12.4 million'
    """
    source = ORIGINS[lang][origin]
    said = f"(data from {source})" if lang == "en" else f"（数据，来自{source}）"
    head = " ".join(part for part in (f"[{label(key)}]", label(where), said) if part)
    return f"{head}\n{quoted(text)}"
