"""Text of others does not act on the terminal, and a reader who leaves ends nothing."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.interfaces.cli.streams import Streams, one_line, plain_text
from tests.interfaces.cli.harness import REPOSITORY, Terminal


@given(st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp", "L", "N"])))
def test_no_character_that_moves_the_cursor_or_turns_the_line_is_left(text: str) -> None:
    shown = plain_text(text)
    assert len(shown) == len(text)
    for char in shown:
        assert char in "\t\n" or not 0 <= ord(char) < 0x20
        assert not 0x7F <= ord(char) < 0xA0
        assert char not in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029"
        assert not 0xD800 <= ord(char) < 0xE000


@given(st.text(), st.integers(2, 50))
def test_one_line_is_one_line_and_not_longer_than_asked(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1


def test_a_person_can_be_asked_only_at_a_terminal() -> None:
    assert Streams(io.StringIO(), Terminal(), Terminal("1\n")).terminal
    assert not Streams(io.StringIO(), Terminal(), io.StringIO("1\n")).terminal
    assert not Streams(io.StringIO(), io.StringIO(), Terminal("1\n")).terminal


def test_the_end_of_the_input_is_no_answer() -> None:
    streams = Streams(io.StringIO(), Terminal(), Terminal("x\n"))
    assert (streams.ask("? "), streams.ask("? ")) == ("x", None)


class _Gone(io.StringIO):
    """A pipe whose reader has left."""

    def write(self, text: str) -> int:
        del text
        raise BrokenPipeError


def test_a_reader_that_left_is_no_error() -> None:
    err = io.StringIO()
    streams = Streams(_Gone(), err)
    streams.data("1")
    streams.data("2")
    streams.talk("still here")
    assert err.getvalue() == "still here\n"


@pytest.mark.parametrize("locale", ["C", "POSIX", "zh_CN.GBK"])
def test_chinese_survives_a_locale_that_has_none(locale: str) -> None:
    environment = {**os.environ, "LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    environment["PYTHONPATH"] = str(REPOSITORY)
    called = subprocess.run(
        [sys.executable, "-m", "orchestrator.interfaces.cli", "--lang", "zh", "runs", "--help"],
        env=environment,
        capture_output=True,
        check=True,
    )
    assert "列出运行" in called.stdout.decode("utf-8")


@pytest.mark.parametrize(
    ("encoding", "head"), [("gbk", "列出运行"), ("gbk:strict", "列出运行"), ("latin-1", "????")]
)
def test_the_encoding_that_the_user_asks_for_is_kept_and_never_fails(encoding: str, head: str) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONPATH": str(REPOSITORY)}
    called = subprocess.run(
        [sys.executable, "-m", "orchestrator.interfaces.cli", "--lang", "zh", "runs", "--help"],
        env=environment,
        capture_output=True,
        check=True,
    )
    assert head in called.stdout.decode(encoding.partition(":")[0])
