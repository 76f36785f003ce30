"""docs/dependencies.md and pyproject.toml name the same packages, and the locked files hold all of them."""

import re
import tomllib

import pytest

from tests.docs.pages import ROOT, text_of

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PAGE = text_of(ROOT / "docs" / "dependencies.md")


def _names(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=!~;\[ ]", requirement)[0].lower() for requirement in requirements}


RUN = _names(PROJECT["project"]["dependencies"])
DEVELOP = _names(PROJECT["dependency-groups"]["dev"])


def test_every_dependency_has_a_line_and_every_line_a_dependency() -> None:
    assert set(re.findall(r"^\| ([\w\-]+) \| (?!what for)", PAGE, re.MULTILINE)) - {"---"} == RUN


def test_every_line_is_filled() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and "---" not in line][1:]
    assert len(rows) == len(RUN)
    for row in rows:
        name, what_for, why, weight, licence = (cell.strip() for cell in row.strip("|").split("|"))
        assert what_for, name
        assert why, name
        assert licence, name
        assert float(weight) > 0, name


def test_development_packages_are_named() -> None:
    named = {word.lower() for word in re.findall(r"[\w\-]+", PAGE.partition("For development only:")[2])}
    assert DEVELOP - named == set()


@pytest.mark.parametrize(("file", "wanted"), [("run.txt", RUN), ("dev.txt", RUN | DEVELOP)])
def test_the_locked_file_holds_exact_versions_of_all(file: str, wanted: set[str]) -> None:
    lines = text_of(ROOT / "requirements" / file).splitlines()
    assert all(re.match(r"[\w.\-]+==[\w.]+(?: ; .+)?$", line) for line in lines)
    assert {line.partition("==")[0].lower() for line in lines} >= wanted
