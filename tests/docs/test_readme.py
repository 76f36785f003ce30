"""The READMEs' commands are CI's, and what the READMEs show is what the program prints."""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from orchestrator.shell.settings import Settings
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.wiring import Workshop
from tests.docs.pages import ROOT, Block, blocks, text_of
from tests.interfaces.cli.harness import Called, call

READMES = [ROOT / "README.md", ROOT / "README.zh-CN.md"]
LEFT_OUT = "…"
PROGRAM = ".venv/bin/maskgrad "


def _of(language: str, readme: Path) -> list[Block]:
    return [block for block in blocks(text_of(readme)) if block.language == language]


def _commands(readme: Path) -> list[str]:
    return [block.text.strip() for block in _of("sh", readme)]


def test_there_are_two_commands_the_first_in_each_language() -> None:
    english, chinese = (_commands(readme) for readme in READMES)
    assert len(english) == 3
    assert [english[1], english[0], english[2]] == chinese
    assert all("\n" not in command for command in english)
    assert english[2].endswith("pytest")


@pytest.mark.parametrize("command", _commands(READMES[0]), ids=["first", "first, Chinese", "second"])
def test_ci_runs_the_command_word_for_word(command: str) -> None:
    assert command in text_of(ROOT / ".ci" / "run").splitlines()


def test_ci_ends_with_the_tests() -> None:
    assert text_of(ROOT / ".ci" / "run").splitlines()[-1] == _commands(READMES[0])[-1]


def test_what_a_command_names_is_there() -> None:
    for command in _commands(READMES[0]):
        for word in shlex.split(command):
            if "/" in word and not word.startswith(".venv"):
                assert (ROOT / word).exists(), word


@dataclass(slots=True)
class _Terminal:
    """Runs command lines of one page in one data directory, and checks what is shown of their output."""

    shop: Workshop
    home: Path
    run: str = "RUN"
    hash8: str = "HASH"
    last: Called = field(default_factory=lambda: Called(0, "", ""))

    def type(self, line: str) -> None:
        """Run `maskgrad …` or `echo $?`, with the placeholders filled in."""
        if line == "echo $?":
            self.last = Called(0, f"{self.last.code}\n", "")
            return
        words = [self._filled(word) for word in shlex.split(line)]
        assert words.pop(0) in ("maskgrad", PROGRAM.strip())
        self.last = call(*words, home=self.home, shop=self.shop)
        assert self.last.code in (0, 4), (line, self.last)
        shown = self.last.out + self.last.err
        for token in re.finditer(r"\b(r-\w{6})(?:@\d+-([0-9a-f]{8}))?", shown):
            self.run, self.hash8 = token[1], token[2] or self.hash8

    def shows(self, expected: Sequence[str]) -> None:
        """Check that each line was written, those of one stream in this order; `…` stands for what is left out."""
        places = {"out": 0, "err": 0}
        written = {"out": self.last.out.splitlines(), "err": self.last.err.splitlines()}
        for line in expected:
            if line == LEFT_OUT or not line.strip():
                continue
            where = next((s for s in written if self._find(line, written[s], places[s]) is not None), None)
            assert where is not None, (line, self.last.out, self.last.err)
            found = self._find(line, written[where], places[where])
            assert found is not None
            places[where] = found + 1

    def _find(self, line: str, written: Sequence[str], start: int) -> int | None:
        pattern = ".*".join(re.escape(part) for part in self._filled(line).split(LEFT_OUT))
        return next((n for n in range(start, len(written)) if re.fullmatch(pattern, written[n])), None)

    def _filled(self, text: str) -> str:
        return re.sub(r"\bRUN\b", self.run, re.sub(r"\bHASH\b", self.hash8, text))


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[_Terminal]:
    """Return a terminal at the root of the repository with a data directory of its own."""
    monkeypatch.chdir(ROOT)
    settings = Settings(home=tmp_path, lang="en")
    store = SqliteStore(settings.store_path)
    yield _Terminal(shop=Workshop(settings=settings, store=store), home=tmp_path)
    store.close()


@pytest.mark.parametrize("readme", READMES, ids=lambda readme: readme.name)
def test_the_first_command_delivers_the_report_that_is_shown(readme: Path, terminal: _Terminal) -> None:
    command = _commands(readme)[0]
    terminal.type(command[command.index(PROGRAM) :])
    assert terminal.last.code == 0
    (report,) = _of("markdown", readme)
    terminal.shows(report.text.splitlines())


@pytest.mark.parametrize("readme", READMES, ids=lambda readme: readme.name)
def test_the_other_commands_show_what_the_page_says(readme: Path, terminal: _Terminal) -> None:
    sessions = [block.text.splitlines() for block in _of("console", readme)]
    assert len(sessions) == 3
    for lines in sessions:
        starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            terminal.type(lines[start].removeprefix("$ "))
            terminal.shows(lines[start + 1 : end])
