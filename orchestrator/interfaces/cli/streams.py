"""The three streams of the process: UTF-8 whatever the locale says, data on stdout, talk on stderr."""

from __future__ import annotations

import io
import os
import re
import sys
from typing import Final, TextIO
from unicodedata import east_asian_width

_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Controls that move a cursor or set a title, bidirectional ones that make a line read as what it is not, and lone
surrogates. Tab and line feed stay."""
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"


def prepare_streams() -> None:
    """Make stdout and stderr write UTF-8, so that Chinese survives an ASCII or GBK locale and a pipe.

    An encoding that the user asks for with `PYTHONIOENCODING` is kept; what it has no character for is replaced.
    """
    wanted = os.environ.get("PYTHONIOENCODING", "").partition(":")[0]
    for stream, errors in ((sys.stdout, "replace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=stream.encoding if wanted else "utf-8", errors=errors)


def plain_text(text: str) -> str:
    r"""Return `text` without characters that act on a terminal: text of notes, models and file names is not ours.

    >>> plain_text("a\x1b[2Jb\tc")
    'a�[2Jb\tc'
    """
    return _UNSAFE.sub(_REPLACEMENT, text)


def one_line(text: str, limit: int | None = None) -> str:
    """Return `text` on one line, plain, cut to `limit` characters with an ellipsis.

    >>> one_line("a\\n  b", 10), one_line("abcdef", 4)
    ('a b', 'abc…')
    """
    joined = plain_text(" ".join(text.split()))
    return joined if limit is None or len(joined) <= limit else f"{joined[: limit - 1]}…"


def columns_of(text: str) -> int:
    """Return how many columns of a terminal a line takes: Chinese characters take two.

    >>> columns_of("run"), columns_of("运行")
    (3, 4)
    """
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


class Streams:
    """Where a command writes and asks.

    A reader of a pipe may leave early (`maskgrad runs | head`). That is no error: whatever is written after it is
    dropped, and a run goes on.
    """

    def __init__(
        self, out: TextIO | None = None, err: TextIO | None = None, inp: TextIO | None = None
    ) -> None:
        self.out = out or sys.stdout
        self.err = err or sys.stderr
        self.inp = inp or sys.stdin
        self._closed: set[int] = set()

    @property
    def terminal(self) -> bool:
        """Whether a person can be asked: stdin and stderr are a terminal."""
        return _is_terminal(self.inp) and _is_terminal(self.err)

    @property
    def live(self) -> bool:
        """Whether stderr is a terminal that can move its cursor."""
        return _is_terminal(self.err) and os.environ.get("TERM", "") != "dumb"

    def data(self, text: str) -> None:
        """Write a line of data to stdout."""
        self._write(self.out, text)

    def talk(self, text: str) -> None:
        """Write a line for people to stderr."""
        self._write(self.err, plain_text(text))

    def ask(self, prompt: str) -> str | None:
        """Write `prompt` to stderr and return the line that is typed; `None` at the end of the input."""
        self.err.write(prompt)
        self.err.flush()
        line = self.inp.readline()
        return line.rstrip("\r\n") if line else None

    def _write(self, stream: TextIO, text: str) -> None:
        if id(stream) in self._closed:
            return
        try:
            stream.write(f"{text}\n")
            stream.flush()
        except BrokenPipeError:
            self._closed.add(id(stream))
            _silence(stream)


def _is_terminal(stream: TextIO) -> bool:
    # A stream that was closed by the caller (`2>&-`) raises on being asked.
    try:
        return stream.isatty()
    except ValueError:
        return False


def _silence(stream: TextIO) -> None:
    """Point the stream's file at nothing, so that closing it at the end of the process raises nothing either."""
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):
        return
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, descriptor)
    os.close(nothing)
