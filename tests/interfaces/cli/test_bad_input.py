"""Bad input gives its typed error or a listed skip, with the documented exit code, in both languages."""

from __future__ import annotations

import errno
import json
import os
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

from agents.retrieval import reading
from agents.retrieval.reading import read_folder
from orchestrator.interfaces.cli.problems import Lang
from orchestrator.shell.proposing import LISTED_FILES
from orchestrator.shell.wiring import Workshop
from tests.interfaces.cli.harness import Called, call, store_log
from tests.interfaces.cli.logs import reviewing_log
from tests.interfaces.cli.shops import scripted_shop, write_notes

RUN = "r-test22"
GOAL = "What does the battery system cost?"


@dataclass(frozen=True)
class Desk:
    """A home with one run in review and a folder of notes."""

    home: Path
    notes: Path
    shop: Workshop

    def call(self, *argv: str, lang: Lang = "en", given: bool = True) -> Called:
        """Run a command line; without `given`, with the product's own workshop and the domains of the home."""
        shop = self.shop if given else None
        return call(*argv, home=self.home, shop=shop, environment={"MASKGRAD_LANG": lang})

    def runs(self) -> list[tuple[str, int]]:
        """Each run with its last event."""
        return [(row.id, row.head) for row in self.shop.store.runs()]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    store_log(tmp_path, RUN, reviewing_log())
    shop = scripted_shop(tmp_path, {})
    yield Desk(tmp_path, write_notes(tmp_path / "notes"), shop)
    shop.store.close()


def sources_that_are_not_there(desk: Desk) -> list[str]:
    return ["plan", GOAL, "--sources", str(desk.home / "nowhere")]


def sources_that_are_a_file(desk: Desk) -> list[str]:
    return ["plan", GOAL, "--sources", str(desk.notes / "costs.md")]


def no_goal(desk: Desk) -> list[str]:
    return ["plan", " \n", "--sources", str(desk.notes)]


def a_run_without_a_goal(desk: Desk) -> list[str]:
    return ["run", "", "--sources", str(desk.notes), "--approve"]


def a_mask_value(desk: Desk) -> list[str]:
    del desk
    return ["masks", "set", RUN, "A1", "cs.databases", "1.2"]


def document(desk: Desk, old: str, new: str) -> str:
    """The proposal as YAML with one change, in a file."""
    text = desk.call("export", RUN, "--format", "yaml").out
    assert text.count(old) >= 1, text
    file = desk.home / "changed.yaml"
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    return str(file)


CYCLE = ("- a.claims -> c.from_a", "- a.claims -> c.from_a\n    - c.claims -> a.from_c")


def a_mask_value_in_a_file(desk: Desk) -> list[str]:
    return ["edit", RUN, "--from", document(desk, "cs.databases: 0.90", "cs.databases: 1.2")]


def a_cycle_in_an_edit(desk: Desk) -> list[str]:
    return ["edit", RUN, "--from", document(desk, *CYCLE)]


def a_cycle_in_a_plan_file(desk: Desk) -> list[str]:
    return ["plan", "--from", document(desk, *CYCLE)]


def a_cycle_in_a_file_to_run(desk: Desk) -> list[str]:
    return ["run", document(desk, *CYCLE), "--approve"]


def a_plan_file_in_another_encoding(desk: Desk) -> list[str]:
    file = desk.home / "gbk.yaml"
    file.write_bytes("目标：水泵".encode("gbk"))
    return ["plan", "--from", str(file)]


def a_plan_file_that_is_huge(desk: Desk) -> list[str]:
    file = desk.home / "huge.yaml"
    with file.open("wb") as out:
        out.truncate(20_000_000)
    return ["plan", "--from", str(file)]


def a_domain_file_with_an_unknown_parent(desk: Desk) -> list[str]:
    texts, lists = {"zh": "陶艺", "en": "Pottery"}, {"zh": ["窑"], "en": ["kiln"]}
    record = {"id": "life.pottery", "names": texts, "descriptions": texts, "parent": "crafts"}
    records = [{**record, "key_terms": lists, "exemplars": lists}]
    (desk.home / "domains.json").write_text(json.dumps(records), encoding="utf-8")
    return ["plan", GOAL, "--sources", str(desk.notes)]


@dataclass(frozen=True)
class Case:
    """A command line with something bad in it, and what comes of it."""

    argv: Callable[[Desk], list[str]]
    code: str
    told: tuple[str, ...]
    told_zh: tuple[str, ...]
    given: bool = True

    @property
    def id(self) -> str:
        return self.argv.__name__


CASES = [
    Case(no_goal, "empty_goal", ("GOAL",), ("目标",)),
    Case(a_run_without_a_goal, "empty_goal", (), ()),
    Case(
        sources_that_are_not_there, "folder_not_found", ("nowhere", "does not exist"), ("nowhere", "不存在")
    ),
    Case(
        sources_that_are_a_file,
        "folder_not_found",
        ("costs.md", "is not a folder"),
        ("costs.md", "不是文件夹"),
    ),
    Case(a_mask_value, "mask_value_invalid", ("'1.2'", "-1.00", "1.00"), ("'1.2'",)),
    Case(a_mask_value_in_a_file, "invalid_proposal", ("1.2", "cs.databases"), ("1.2", "cs.databases")),
    Case(a_cycle_in_an_edit, "invalid_proposal", ("a -> c -> a", "line "), ("a -> c -> a", "行")),
    Case(
        a_cycle_in_a_plan_file,
        "invalid_proposal",
        ("a -> c -> a", "correct the file"),
        ("a -> c -> a", "修正该文件"),
    ),
    Case(
        a_cycle_in_a_file_to_run,
        "invalid_proposal",
        ("a -> c -> a", "correct the file"),
        ("a -> c -> a", "修正该文件"),
    ),
    Case(a_plan_file_in_another_encoding, "file_not_utf8", ("gbk.yaml", "UTF-8"), ("gbk.yaml", "UTF-8")),
    Case(a_plan_file_that_is_huge, "file_too_large", ("huge.yaml", "4,000,000"), ("huge.yaml", "4,000,000")),
    Case(
        a_domain_file_with_an_unknown_parent,
        "domains_file_invalid",
        ("domains.json", "'life.pottery'", "'crafts'"),
        ("domains.json", "'life.pottery'", "'crafts'"),
        given=False,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_it_is_refused_typed_in_both_languages_and_nothing_changes(desk: Desk, case: Case) -> None:
    before = desk.runs()
    argv = case.argv(desk)
    for lang, told in (("en", case.told), ("zh", case.told_zh)):
        refused = desk.call(*argv, "--json", lang="en" if lang == "en" else "zh", given=case.given)
        assert (refused.code, refused.error["code"]) == (2, case.code)
        said = refused.error["message"] + refused.error["hint"]
        assert [part for part in told if part not in said] == [], said
        shown = desk.call(*argv, lang="en" if lang == "en" else "zh", given=case.given)
        assert (shown.code, shown.out) == (2, "")
        assert "Traceback" not in shown.err
        assert ("error: " if lang == "en" else "错误：") in shown.err
    assert desk.runs() == before


def refusing(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let the system refuse to list a folder; the mode of a folder does not stop every user."""
    scandir = os.scandir

    def refuse(path: str | Path = ".") -> Iterator[os.DirEntry[str]]:
        if Path(path) == folder:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)


def test_a_folder_that_can_not_be_listed_is_refused(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    refusing(monkeypatch, desk.notes.resolve())
    before = desk.runs()
    argv = ("plan", GOAL, "--sources", str(desk.notes))
    refused = desk.call(*argv, "--json")
    assert (refused.code, refused.error["code"]) == (2, "folder_unreadable")
    assert f"{str(desk.notes)!r} can't be read (Permission denied)" in refused.error["message"]
    chinese = desk.call(*argv, lang="zh")
    assert (chinese.code, f"无法读取资料文件夹 {str(desk.notes)!r}" in chinese.err) == (2, True)
    assert desk.runs() == before


def test_a_folder_that_became_unreadable_holds_a_resume_up_and_says_how_to_go_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = desk.call("plan", GOAL, "--sources", str(desk.notes), "--json").data
    desk.call("approve", planned["approval"])
    refusing(monkeypatch, desk.notes.resolve())
    stopped = desk.call("run", planned["run"], "--json")
    assert (stopped.code, stopped.error["code"]) == (2, "folder_unreadable")
    assert f"maskgrad resume {planned['run']}" in stopped.error["hint"]


def test_what_is_not_read_or_read_by_a_guess_is_listed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    locked = desk.notes / "locked"
    locked.mkdir()
    (desk.notes / "运营.txt").write_bytes("运营数据：全年处理水量二千万立方米，负荷率很高。".encode("gbk"))
    (desk.notes / "latin.txt").write_bytes("Öl für Müller, naïve façade".encode("latin-1"))
    (desk.notes / "scan.md").write_bytes(b"%PDF-1.7\x00\x01\x02" * 40)
    with (desk.notes / "dump.md").open("wb") as out:
        out.truncate(20_000_000)
    os.mkfifo(desk.notes / "pipe.md")
    refusing(monkeypatch, locked.resolve())
    argv = ("plan", GOAL, "--sources", str(desk.notes))
    english, chinese = desk.call(*argv), desk.call(*argv, lang="zh")
    for called in (english, chinese):
        # What is said of a proposal is said in the language of its goal.
        assert called.code == 0
        for line in (
            "not read: locked (unreadable)",
            "not read: latin.txt (unknown_encoding)",
            "not read: scan.md (binary)",
            "not read: dump.md (too_large)",
            "not read: pipe.md (unsupported_type)",
            "read by a guess of the encoding, look at the quotes: 运营.txt (gb18030)",
        ):
            assert line in called.out
    goal = desk.call("plan", "电池系统的造价是多少？", "--sources", str(desk.notes)).out
    for line in (
        "未读取：locked（无法读取）",
        "未读取：latin.txt（编码无法识别）",
        "未读取：scan.md（二进制文件）",
        "未读取：dump.md（文件过大）",
        "编码为推测，请核对引文：运营.txt (gb18030)",
    ):
        assert line in goal


def test_hundreds_of_files_that_are_not_read_are_counted(desk: Desk) -> None:
    for number in range(300):
        (desk.notes / f"scan{number:03}.pdf").write_bytes(b"%PDF")
    for number in range(40):
        (desk.notes / f"z{number:02}.md").write_bytes(b" ")
    shown = desk.call("plan", GOAL, "--sources", str(desk.notes)).out
    assert shown.count("not read: ") == LISTED_FILES + 1
    # `write_notes` put one picture there, which comes before the scans.
    rest = 300 + 40 + 1 - LISTED_FILES
    assert f"not read: {rest} more files ({300 + 1 - LISTED_FILES} unsupported_type, 40 empty)" in shown


def test_a_file_of_twenty_megabytes_costs_neither_time_nor_memory(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("The fence costs €40,000.", encoding="utf-8")
    (tmp_path / "dump.md").write_bytes(b"a line of a data dump\n" * 1_000_000)
    tracemalloc.start()
    corpus = read_folder(tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000
    assert [document.path for document in corpus.documents] == ["a.md"]
    (skip,) = corpus.skipped
    assert (skip.path, skip.reason) == ("dump.md", "too_large")
    assert skip.detail == "22000000 bytes; notes of up to 5000000 bytes are read"


@pytest.mark.parametrize(("grown", "is_read"), [(100, True), (101, False), (5000, False)])
def test_a_note_that_grows_while_it_is_read_is_read_up_to_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grown: int, is_read: bool
) -> None:
    (tmp_path / "log.md").write_text("short", encoding="utf-8")
    opened = Path.open

    def grow(path: Path, mode: str) -> IO[bytes]:
        with opened(path, "ab") as file:
            file.write(b"x" * (grown - len("short")))
        found: IO[bytes] = opened(path, mode)
        return found

    monkeypatch.setattr(reading, "MAX_NOTE_BYTES", 100)
    monkeypatch.setattr(Path, "open", grow)
    corpus = read_folder(tmp_path)
    assert [len(document.text) for document in corpus.documents] == ([grown] if is_read else [])
    told = [skip.detail for skip in corpus.skipped]
    assert told == ([] if is_read else ["101 bytes; notes of up to 100 bytes are read"])
