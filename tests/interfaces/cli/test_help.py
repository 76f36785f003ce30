"""Every command has help with an example in both languages, the documentation says the same, and help is fast."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from orchestrator.interfaces.cli.commands import make_app
from orchestrator.interfaces.cli.help_page import help_page
from orchestrator.interfaces.cli.help_texts import COMMON, EVERYWHERE, HELP
from orchestrator.interfaces.cli.problems import Lang
from orchestrator.interfaces.cli.reference import command_paths, reference_page
from tests.interfaces.cli.harness import REPOSITORY, call

PATHS = command_paths()
PAGES: dict[Lang, Path] = {
    "en": REPOSITORY / "docs" / "cli.md",
    "zh": REPOSITORY / "docs" / "cli.zh-CN.md",
}
CHINESE = re.compile("[\u4e00-\u9fff]")


def test_there_is_a_text_for_every_command_and_none_for_another() -> None:
    assert set(PATHS) == set(HELP)


@pytest.mark.parametrize("path", sorted(PATHS))
def test_every_parameter_has_its_words(path: str) -> None:
    command = PATHS[path]
    names = {parameter.name for parameter in command.params if not parameter.hidden}
    assert set(HELP[path].parameters) == names - set(COMMON)


@pytest.mark.parametrize("path", sorted(PATHS))
def test_a_page_is_in_one_language_and_has_an_example(path: str) -> None:
    english, chinese = help_page(PATHS[path], path, "en"), help_page(PATHS[path], path, "zh")
    examples = HELP[path].examples
    assert examples
    assert all(example.startswith(f"maskgrad {path}".rstrip()) or not path for example in examples)
    for example in examples:
        assert f"  {example}\n" in english
        assert f"  {example}\n" in chinese
    assert not CHINESE.search(
        "\n".join(line for line in english.splitlines() if line.strip() not in examples)
    )
    for both in (HELP[path].does, HELP[path].more, *HELP[path].parameters.values()):
        assert bool(both[0]) == bool(both[1])
        assert not both[1] or CHINESE.search(both[1])


def test_a_page_is_at_most_a_hundred_columns_wide() -> None:
    for path, command in PATHS.items():
        for line in help_page(command, path, "en").splitlines():
            assert len(line) <= 100 or line.strip() in HELP[path].examples


def test_help_is_chinese_when_asked_for(tmp_path: Path) -> None:
    for argv in (["--lang", "zh", "--help"], ["--help", "--lang", "zh"]):
        called = call(*argv, home=tmp_path)
        assert (called.code, called.err) == (0, "")
        assert "用法: maskgrad" in called.out
        assert "从目标到经核验的报告" in called.out
    assert "用法" in call("-h", home=tmp_path, environment={"MASKGRAD_LANG": "zh"}).out
    assert not (tmp_path / "runs.db").exists()


def test_the_options_for_every_command_are_on_every_page() -> None:
    for path, command in PATHS.items():
        page = help_page(command, path, "en")
        assert all(name in page for name, _ in EVERYWHERE)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_documentation_is_what_the_commands_say(lang: Lang) -> None:
    page = PAGES[lang]
    if os.environ.get("MASKGRAD_WRITE_DOCS"):
        page.write_text(reference_page(lang), encoding="utf-8")
    assert page.read_text(encoding="utf-8") == reference_page(lang), (
        "docs are behind the commands; write them anew: MASKGRAD_WRITE_DOCS=1 pytest tests/interfaces/cli/test_help.py"
    )


def test_no_command_is_a_usage_error_that_shows_the_help(tmp_path: Path) -> None:
    called = call(home=tmp_path)
    assert called.code == 2
    assert "Usage: maskgrad COMMAND" in called.out
    assert "no command was given" in called.err


LOADED_FOR_HELP = {
    "orchestrator",
    *(f"orchestrator.{name}" for name in ("interfaces", "shell", "shell.langgraph_env", "shell.settings")),
    "orchestrator.interfaces.cli",
    *(
        f"orchestrator.interfaces.cli.{name}"
        for name in (
            "app",
            "commands",
            "completion",
            "exit_codes",
            "help_page",
            "help_texts",
            "invocation",
            "opening",
            "problems",
            "results",
            "session",
            "streams",
            "usage",
        )
    ),
    # The standard library alone: what limits of providers are made of, which settings may name.
    *("agents", "agents.models", "agents.models.rate_limits"),
}
"""Every module of ours that `--help` imports."""
OTHERS_FOR_HELP = {"platformdirs", "typer"}
"""Packages of others that it imports beyond what `import typer` brings along."""
SLOW_OF_PYTHON = {"asyncio", "multiprocessing", "sqlite3", "unittest"}
"""Parts of the standard library that take long to import."""


def test_the_help_loads_no_more_than_it_is_allowed_to() -> None:
    """What the time of `--help` rests on, without a clock; `python -m benchmarks.help` takes the time."""
    script = (
        "import sys, typer; before = set(sys.modules); from orchestrator.interfaces.cli.app import run_command; "
        "from orchestrator.interfaces.cli.streams import Streams; "
        "code = run_command(['--help'], {}, Streams()); "
        "print(code, *sorted(set(sys.modules) - before), file=sys.stderr)"
    )
    called = subprocess.run(
        [sys.executable, "-c", script], cwd=REPOSITORY, capture_output=True, check=True, text=True
    )
    code, *loaded = called.stderr.split()
    ours = {
        name for name in loaded if name.partition(".")[0] in ("agents", "graphs", "masks", "orchestrator")
    }
    beside = {name.partition(".")[0] for name in loaded} - {"orchestrator", "agents"}
    assert code == "0"
    assert ours == LOADED_FOR_HELP
    assert beside - sys.stdlib_module_names <= OTHERS_FOR_HELP
    assert beside & SLOW_OF_PYTHON == set()


def test_version(tmp_path: Path) -> None:
    assert call("--version", home=tmp_path).out.startswith("maskgrad ")


def test_the_application_is_a_typer_app() -> None:
    assert isinstance(make_app(), typer.Typer)
