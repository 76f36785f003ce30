"""What holds for every page: links lead somewhere, both languages tell one story, examples run."""

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.docs.pages import CHINESE, ROOT, anchor, blocks, headings, links, page_id, pages, prose, text_of

PAGES = pages()
PAIRS: list[tuple[Path, Path]] = [
    (page, translated)
    for page in PAGES
    if not page.name.endswith(CHINESE) and (translated := page.with_name(f"{page.stem}{CHINESE}")).is_file()
]
CODE_PATH = re.compile(r"`((?:masks|graphs|agents|orchestrator|tests|benchmarks|docs|examples)/[\w./\-]+)`")


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_relative_links_lead_somewhere(page: Path) -> None:
    for target in links(text_of(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, fragment = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), target
        assert found.is_relative_to(ROOT), target
        if fragment:
            assert fragment in {anchor(words) for _, words in headings(text_of(found))}, target


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_files_that_a_page_names_exist(page: Path) -> None:
    missing = [path for path in CODE_PATH.findall(text_of(page)) if not (ROOT / path).exists()]
    assert missing == []


def test_every_concept_page_and_readme_has_both_languages() -> None:
    translated = {page_id(page) for page, _ in PAIRS}
    assert "README.md" in translated
    assert {
        page_id(p) for p in PAGES if p.parent.name == "concepts" and not p.name.endswith(CHINESE)
    } <= translated
    assert "docs/cli.md" in translated


@pytest.mark.parametrize(("page", "translated"), PAIRS, ids=[page_id(page) for page, _ in PAIRS])
def test_both_languages_have_the_same_structure(page: Path, translated: Path) -> None:
    english, chinese = text_of(page), text_of(translated)
    assert [level for level, _ in headings(english)] == [level for level, _ in headings(chinese)]
    assert [block.language for block in blocks(english)] == [block.language for block in blocks(chinese)]
    assert _rows(english) == _rows(chinese)


@pytest.mark.parametrize(("page", "translated"), PAIRS, ids=[page_id(page) for page, _ in PAIRS])
def test_both_languages_lead_to_the_same_pages(page: Path, translated: Path) -> None:
    assert {_neutral(t) for t in links(text_of(page))} == {_neutral(t) for t in links(text_of(translated))}


def _rows(text: str) -> int:
    return len(re.findall(r"^\|", prose(text), re.MULTILINE))


def _neutral(target: str) -> str:
    """A link target whatever the language of the page that it leads to."""
    path, _, fragment = target.partition("#")
    return path.replace(CHINESE, ".md") + ("#" if fragment else "")


def _documents_with(mark: str) -> Iterator[Path]:
    for page in PAGES:
        if any(block.language == "python" and mark in block.text for block in blocks(text_of(page))):
            yield page


@pytest.mark.parametrize("page", list(_documents_with(">>> ")), ids=page_id)
def test_interactive_examples_give_what_they_say(page: Path) -> None:
    result = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert (result.failed, result.attempted > 0) == (0, True)


def _programs() -> Iterator[tuple[Path, str, str]]:
    """Yield page, program and expected output of each block that is a program with its output behind it."""
    for page in PAGES:
        found = blocks(text_of(page))
        for block, after in zip(found, [*found, None][1:], strict=True):
            if block.language == "python" and ">>> " not in block.text:
                assert after is not None, page
                assert after.language == "text", page
                yield page, block.text, after.text


@pytest.mark.parametrize(
    ("page", "program", "output"), list(_programs()), ids=lambda v: page_id(v) if isinstance(v, Path) else ""
)
def test_programs_print_what_the_page_says(page: Path, program: str, output: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), page
    assert done.stdout == output


def test_the_index_of_the_docs_names_every_page() -> None:
    docs = ROOT / "docs"
    named = {(docs / target).resolve() for target in links(text_of(docs / "README.md"))}
    there = {page for page in docs.rglob("*.md") if page.parent.name != "adr"} - {docs / "README.md"}
    assert there - named == set()


def test_every_decision_is_listed_with_its_title() -> None:
    folder = ROOT / "docs" / "adr"
    listed = re.findall(
        r"^- \[(\d{4})\]\((\1-[\w\-]+\.md)\) (.+)$", text_of(folder / "README.md"), re.MULTILINE
    )
    there = sorted(folder.glob("[0-9]*.md"))
    assert [name for _, name, _ in listed] == [page.name for page in there]
    for (number, _, title), page in zip(listed, there, strict=True):
        assert headings(text_of(page)) == [(1, f"{number} {title}")]
        parts = re.findall(r"^\*\*([\w ]+?)[.:]?\*\*", text_of(page), re.MULTILINE)
        assert {"Problem", "Decision", "Kept by"} <= set(parts), page


def test_every_type_of_the_glossary_exists() -> None:
    rows = re.findall(r"^\| .+ \| `([\w.]+)` \|", text_of(ROOT / "docs" / "glossary.md"), re.MULTILINE)
    assert len(rows) > 40
    for name in rows:
        module, _, attribute = name.rpartition(".")
        assert hasattr(import_module(module), attribute), name
    assert len(rows) == len(set(rows))


def test_every_row_of_the_glossary_is_filled_in_both_languages() -> None:
    rows = [line for line in text_of(ROOT / "docs" / "glossary.md").splitlines() if line.startswith("| ")]
    for line in rows:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert len(cells) == 5, line
        assert all(cells), line
        if "`" in line:
            assert re.search("[\u4e00-\u9fff]", cells[4]), line
