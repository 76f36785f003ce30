"""Inspect, add to and erase the long-term memory on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.memory.contract import Candidate, memory_of
from orchestrator.interfaces.cli.completion import complete_memories
from orchestrator.shell.clock import SystemClock
from orchestrator.shell.memory_file import MemoryFile
from tests.interfaces.cli.harness import call


def lesson(home: Path) -> str:
    """Put a lesson of a run into the memory of a home."""
    candidate = Candidate(
        kind="lesson",
        text="research (law.civil) failed: a tool was missing; it passed after: another agent",
        lang="en",
        origin="computed",
        taint="trusted",
        confirmed_by="success",
        source_run="r-7k2m9d",
    )
    memory = MemoryFile(home / "memory.db", SystemClock().now)
    return memory.remember(memory_of(candidate, SystemClock().now())).id


def test_an_empty_memory_says_how_to_begin_and_makes_no_file(tmp_path: Path) -> None:
    called = call("memory", home=tmp_path)
    assert (called.code, called.out) == (0, "")
    assert "maskgrad memory add" in called.err
    assert call("memory", "list", "--json", home=tmp_path).data == {"memories": []}
    assert call("memory", "clear", "--yes", "--json", home=tmp_path).data == {"erased": 0}
    assert list(tmp_path.iterdir()) == []


def test_a_preference_is_added_listed_shown_and_erased(tmp_path: Path) -> None:
    added = call("memory", "add", "Prefer  tables\nto prose.", "--json", home=tmp_path).data
    assert (added["kind"], added["text"], added["times"]) == ("preference", "Prefer tables to prose.", 1)
    assert (added["origin"], added["taint"], added["expires"]) == ("user", "trusted", None)
    again = call("memory", "add", "prefer tables to prose", "--json", home=tmp_path).data
    assert (again["id"], again["times"]) == (added["id"], 2)
    listed = call("memory", home=tmp_path)
    head, row = listed.out.splitlines()
    assert head.split() == ["id", "kind", "confirmed", "times", "text"]
    assert row.startswith(f"{added['id']}  preference  ")
    assert row.endswith("2      Prefer tables to prose.")
    shown = call("memory", "show", added["id"], home=tmp_path)
    assert "from: you" in shown.out
    assert "kept until: it is erased" in shown.out
    forgotten = call("memory", "forget", added["id"], "--json", home=tmp_path)
    assert forgotten.data == {"forgotten": added["id"]}
    assert call("memory", "--json", home=tmp_path).data == {"memories": []}


def test_everything_is_said_in_chinese_too(tmp_path: Path) -> None:
    name = lesson(tmp_path)
    chinese = {"MASKGRAD_LANG": "zh"}
    assert call("memory", home=tmp_path, environment=chinese).out.splitlines()[0].split() == [
        "标识",
        "类别",
        "确认日期",
        "次数",
        "文字",
    ]
    shown = call("memory", "show", name, home=tmp_path, environment=chinese).out
    assert "来源：r-7k2m9d" in shown
    assert "教训" in shown
    assert "保留至：20" in shown
    assert call("memory", "add", "请用中文。", "--json", home=tmp_path).data["lang"] == "zh"
    refused = call("memory", "clear", home=tmp_path, environment=chinese)
    assert (refused.code, refused.out) == (2, "")
    assert "全部 2 条" in refused.err
    cleared = call("memory", "clear", "--yes", home=tmp_path, environment=chinese)
    assert cleared.out == "已擦除 2 条记忆\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("my password is swordfish", "memory_refused_secret"),
        (" ", "memory_refused_empty"),
        ("x " * 300, "memory_refused_too_long"),
    ],
)
def test_what_may_not_be_kept_is_refused(tmp_path: Path, text: str, code: str) -> None:
    called = call("memory", "add", text, "--json", home=tmp_path)
    assert (called.code, called.error["code"], called.error["kind"]) == (2, code, "usage")
    assert "swordfish" not in called.out + called.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["show", "forget"])
def test_an_unknown_entry_is_named_with_the_next_step(tmp_path: Path, command: str) -> None:
    called = call("memory", command, "m-nobody", "--json", home=tmp_path)
    assert (called.code, called.error["code"], called.error["kind"]) == (2, "unknown_memory", "not_found")
    assert called.error["hint"] == "maskgrad memory list"


def test_clearing_needs_the_word(tmp_path: Path) -> None:
    lesson(tmp_path)
    called = call("memory", "clear", "--json", home=tmp_path)
    assert (called.code, called.error["code"]) == (2, "memory_clear_unconfirmed")
    assert len(call("memory", "--json", home=tmp_path).data["memories"]) == 1


def test_a_file_that_is_none_is_an_error_of_the_store(tmp_path: Path) -> None:
    (tmp_path / "memory.db").write_bytes(b"something else" * 50)
    for lang, word in (("en", "long-term memory"), ("zh", "长期记忆")):
        called = call("memory", "--json", home=tmp_path, environment={"MASKGRAD_LANG": lang})
        assert (called.code, called.error["kind"], called.error["code"]) == (1, "store", "memory_unavailable")
        assert word in called.error["message"]


def test_ids_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MASKGRAD_HOME", str(tmp_path))
    name = lesson(tmp_path)
    assert [found for found, _ in complete_memories("m-")] == [name]
    assert complete_memories("x") == []
    (tmp_path / "memory.db").write_bytes(b"something else" * 50)
    assert complete_memories("m-") == []
