"""The READMEs' commands are CI's, and what the READMEs show is what the program prints."""

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.shell.settings import Settings
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.wiring import Workshop
from tests.docs.pages import ROOT, Block, blocks, text_of
from tests.docs.terminal import PROGRAM, Terminal

READMES = [ROOT / "README.md", ROOT / "README.zh-CN.md"]


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


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """Return a terminal at the root of the repository with a data directory of its own."""
    monkeypatch.chdir(ROOT)
    settings = Settings(home=tmp_path, lang="en")
    store = SqliteStore(settings.store_path)
    yield Terminal(shop=Workshop(settings=settings, store=store), home=tmp_path)
    store.close()


@pytest.mark.parametrize("readme", READMES, ids=lambda readme: readme.name)
def test_the_first_command_delivers_the_report_that_is_shown(readme: Path, terminal: Terminal) -> None:
    command = _commands(readme)[0]
    terminal.type(command[command.index(PROGRAM) :])
    assert terminal.last.code == 0
    (report,) = _of("markdown", readme)
    terminal.shows(report.text.splitlines())


@pytest.mark.parametrize("readme", READMES, ids=lambda readme: readme.name)
def test_the_other_commands_show_what_the_page_says(readme: Path, terminal: Terminal) -> None:
    sessions = [block.text.splitlines() for block in _of("console", readme)]
    assert len(sessions) == 3
    for lines in sessions:
        terminal.session(lines)
