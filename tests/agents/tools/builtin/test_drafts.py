"""The draft tools: a write happens once for its key, over the version that was named, and can be taken back."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.json_schema import schema_problems
from agents.tools.builtin import drafts
from agents.tools.builtin.drafts import UndoTool, WriteTool, draft_tools
from agents.tools.builtin.files import ReadFile
from agents.tools.contract import ToolError, ToolOk
from agents.tools.names import RefusalReason
from agents.tools.ports import EffectTool, NotPerformed
from agents.tools.undo import UNDO_FOLDER

REPORT = "报告（终稿）.md"


class Tools:
    """The three tools over one folder, called as the broker does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write, self.overwrite, self.undo = draft_tools(folder)

    def ok(self, tool: WriteTool | UndoTool, key: str, **arguments: Any) -> Any:
        result = asyncio.run(tool.perform(arguments, key))
        assert isinstance(result, ToolOk), result
        assert schema_problems(result.data, tool.spec.output_schema) == ()
        return result.data

    def error(self, tool: WriteTool | UndoTool, key: str = "k", **arguments: Any) -> str:
        result = asyncio.run(tool.perform(arguments, key))
        assert isinstance(result, ToolError), result
        assert result.error_type in tool.spec.error_codes
        return result.error_type

    def files(self) -> dict[str, str]:
        """Return every file of the drafts but the records."""
        return {
            str(path.relative_to(self.folder)): path.read_text(encoding="utf-8")
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and UNDO_FOLDER not in path.parts
        }


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    return Tools(tmp_path / "drafts")


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_draft_is_written_overwritten_and_taken_back(tools: Tools) -> None:
    first = tools.ok(tools.write, "k1", path=f"sub/{REPORT}", content="一\n二\n")
    assert first["digest"] == sha("一\n二\n")
    second = tools.ok(
        tools.overwrite, "k2", path=f"sub/{REPORT}", content="一\n三\n", replaces=first["digest"]
    )
    assert tools.files() == {f"sub/{REPORT}": "一\n三\n"}
    assert tools.error(tools.undo, undo=first["undo"]) == "CONFLICT"
    assert tools.ok(tools.undo, "u2", undo=second["undo"])["digest"] == sha("一\n二\n")
    assert tools.files() == {f"sub/{REPORT}": "一\n二\n"}
    assert tools.ok(tools.undo, "u1", undo=first["undo"])["digest"] is None
    assert tools.files() == {}
    assert tools.ok(tools.undo, "u1", undo=first["undo"])["digest"] is None


def test_the_tools_say_what_they_are(tools: Tools) -> None:
    for tool, effect in ((tools.write, "draft"), (tools.overwrite, "write"), (tools.undo, "write")):
        assert isinstance(tool, EffectTool)
        assert (tool.spec.side_effect, tool.spec.repeat) == (effect, "keyed")
        called = asyncio.run(tool.call({"path": "x", "content": "x"}))
        assert isinstance(called, ToolError)
    assert tools.write.spec.compensation == tools.overwrite.spec.compensation == tools.undo.spec.name
    assert tools.files() == {}


def test_the_same_key_writes_once(tools: Tools) -> None:
    arguments = {"path": "a.md", "content": "one"}
    first = tools.ok(tools.write, "k", **arguments)
    stamp = os.stat(tools.folder / "a.md").st_mtime_ns
    assert tools.ok(tools.write, "k", **arguments)["undo"] == first["undo"]
    assert os.stat(tools.folder / "a.md").st_mtime_ns == stamp
    assert tools.error(tools.write, "other", **arguments) == "EXISTS"


def test_another_version_is_not_overwritten(tools: Tools) -> None:
    tools.ok(tools.write, "k1", path="a.md", content="one")
    (tools.folder / "a.md").write_text("changed by the user", encoding="utf-8")
    assert tools.error(tools.overwrite, path="a.md", content="two", replaces=sha("one")) == "CONFLICT"
    assert tools.error(tools.overwrite, path="b.md", content="two", replaces=sha("one")) == "NOT_FOUND"
    assert tools.files() == {"a.md": "changed by the user"}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../a.md", "INVALID_PATH"),
        ("/etc/a.md", "ACCESS_DENIED"),
        ("leave/a.md", "ACCESS_DENIED"),
        ("dangling", "NOT_A_FILE"),
        ("inner", "NOT_A_FILE"),
        (".", "NOT_A_FILE"),
        (f"{UNDO_FOLDER}/a.md", "NOT_FOUND"),
        ("file/a.md", "NOT_A_FILE"),
    ],
)
def test_nothing_is_written_outside_the_drafts(tools: Tools, tmp_path: Path, path: str, code: str) -> None:
    (tmp_path / "out").mkdir()
    (tools.folder / "leave").symlink_to("../out")
    (tools.folder / "dangling").symlink_to("../out/new.md")
    (tools.folder / "inner").mkdir()
    (tools.folder / "file").write_text("x", encoding="utf-8")
    assert tools.error(tools.write, path=path, content="x") == code
    assert list((tmp_path / "out").iterdir()) == []
    assert sorted(each.name for each in tmp_path.iterdir()) == ["drafts", "out"]


def test_a_preview_shows_the_change_and_makes_none(tools: Tools) -> None:
    new = asyncio.run(tools.write.preview({"path": "sub/a.md", "content": "one\ntwo\n"}, "en"))
    assert new.splitlines()[:2] == ["--- /dev/null", "+++ b/sub/a.md"]
    assert "+two" in new
    assert tools.files() == {}
    assert not (tools.folder / "sub").exists()
    tools.ok(tools.write, "k", path="a.md", content="one\ntwo\n")
    arguments = {"path": "a.md", "content": "one\nthr\u202eee\n", "replaces": sha("one\ntwo\n")}
    changed = asyncio.run(tools.overwrite.preview(arguments, "en"))
    assert changed.splitlines()[-2:] == ["-two", "+thr<U+202E>ee"]
    assert tools.files() == {"a.md": "one\ntwo\n"}
    refused = asyncio.run(tools.overwrite.preview({**arguments, "replaces": sha("x")}, "en"))
    assert refused.startswith("refused: ")
    assert sha("one\ntwo\n") in refused


def test_previews_are_in_the_language_of_who_reads_them(tools: Tools) -> None:
    tools.ok(tools.write, "k", path="是.md", content="一")
    (tools.folder / "旧").write_bytes(b"\xff\xfe\x00")
    old = hashlib.sha256(b"\xff\xfe\x00").hexdigest()
    cases: list[tuple[WriteTool | UndoTool, dict[str, str]]] = [
        (tools.write, {"path": "是.md", "content": "x"}),
        (tools.write, {"path": "../是", "content": "x"}),
        (tools.overwrite, {"path": "无", "content": "x", "replaces": sha("x")}),
        (tools.overwrite, {"path": "是.md", "content": "x", "replaces": sha("x")}),
        (tools.overwrite, {"path": "是.md", "content": "一", "replaces": sha("一")}),
        (tools.overwrite, {"path": "旧", "content": "一", "replaces": old}),
        (tools.undo, {"undo": "0" * 24}),
        (tools.write, {"path": "空", "content": ""}),
        (tools.write, {"path": "长", "content": "一\n" * 30_000}),
    ]
    for tool, arguments in cases:
        zh, en = (asyncio.run(tool.preview(arguments, lang)) for lang in ("zh", "en"))
        # Codes, paths and the signs of a diff are the same in both; other English words are none of the Chinese text.
        words = re.findall(r"[a-z]{4,}", zh.replace("/dev/null", "").replace(".md", ""))
        assert words == [], zh
        assert re.findall(r"[a-z]{4,}", en), en
        assert not re.search(r"[\u4e00-\u9fff]", re.sub("[是无旧空长一]", "", en)), en


def test_every_reason_for_a_refusal_has_words_in_both_languages() -> None:
    assert {*get_args(RefusalReason), "EXISTS", "CONFLICT"} == set(drafts._WHY_ZH)


@pytest.mark.parametrize("stop", ["begin", "exchange", "finish"])
@pytest.mark.parametrize("over", [False, True])
def test_after_a_crash_the_key_tells_whether_the_write_happened(
    tools: Tools, monkeypatch: pytest.MonkeyPatch, stop: str, over: bool
) -> None:
    arguments = {"path": "a.md", "content": "new"}
    tool = tools.write
    if over:
        tools.ok(tools.write, "k0", path="a.md", content="old")
        tool, arguments = tools.overwrite, {**arguments, "replaces": sha("old")}

    class Killed(BaseException):
        pass

    def killed(*_: object, **__: object) -> None:
        raise Killed

    owner = "agents.tools.drafts_folder._Place" if stop == "exchange" else "agents.tools.undo.UndoJournal"
    with monkeypatch.context() as patched:
        patched.setattr(f"{owner}.{stop}", killed)
        with pytest.raises(Killed):
            asyncio.run(tool.perform(arguments, "k"))
    outcome = asyncio.run(tool.outcome_of(arguments, "k"))
    if stop == "finish":
        assert isinstance(outcome, ToolOk)
        assert tools.files() == {"a.md": "new"}
    else:
        assert isinstance(outcome, NotPerformed)
        assert tools.files() == ({"a.md": "old"} if over else {})
    tools.ok(tool, "k", **arguments)
    assert tools.files() == {"a.md": "new"}
    assert isinstance(asyncio.run(tool.outcome_of(arguments, "k")), ToolOk)


def test_a_write_that_was_undone_is_made_by_the_same_call_again(tools: Tools) -> None:
    arguments = {"path": REPORT, "content": "text"}
    undone = []
    for number in range(3):
        assert asyncio.run(tools.write.outcome_of(arguments, "k1")) == NotPerformed()
        made = tools.ok(tools.write, "k1", **arguments)
        assert (made["digest"], tools.files()) == (sha("text"), {REPORT: "text"})
        assert isinstance(asyncio.run(tools.write.outcome_of(arguments, "k1")), ToolOk)
        assert tools.ok(tools.write, "k1", **arguments)["undo"] == made["undo"], "made once"
        assert made["undo"] not in undone, "each write is undone by itself"
        undone.append(made["undo"])
        tools.ok(tools.undo, f"u{number}", undo=made["undo"])
        assert tools.files() == {}


def test_the_outcome_is_unknown_when_others_changed_the_file_in_between(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(
            "agents.tools.undo.UndoJournal.finish", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(tools.write.perform({"path": "a.md", "content": "new"}, "k"))
    (tools.folder / "a.md").write_text("somebody else's", encoding="utf-8")
    assert asyncio.run(tools.write.outcome_of({"path": "a.md", "content": "new"}, "k")) is None
    assert tools.error(tools.write, "k", path="a.md", content="new") == "CONFLICT"
    assert tools.files() == {"a.md": "somebody else's"}


def test_permissions_of_an_overwritten_file_stay_and_its_digest_is_what_was_read(tools: Tools) -> None:
    tools.ok(tools.write, "k", path="a.md", content="one")
    os.chmod(tools.folder / "a.md", 0o600)
    read = asyncio.run(ReadFile(tools.write.drafts.gate).call({"path": "a.md"}))
    assert isinstance(read, ToolOk)
    tools.ok(tools.overwrite, "k2", path="a.md", content="two", replaces=read.data["digest"])
    assert os.stat(tools.folder / "a.md").st_mode & 0o777 == 0o600


@given(
    steps=st.lists(st.tuples(st.sampled_from(["a.md", "b.md"]), st.text(max_size=20)), min_size=1, max_size=6)
)
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_undoing_all_writes_backwards_restores_what_was_there(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str]]
) -> None:
    tools = Tools(tmp_path_factory.mktemp("drafts"))
    (tools.folder / "a.md").write_text("mine", encoding="utf-8")
    seen, undo = [tools.files()], list[str]()
    for number, (path, text) in enumerate(steps):
        there = tools.folder / path
        if there.exists():
            now = hashlib.sha256(there.read_bytes()).hexdigest()
            done = tools.ok(tools.overwrite, f"k{number}", path=path, content=text, replaces=now)
        else:
            done = tools.ok(tools.write, f"k{number}", path=path, content=text)
        assert there.read_bytes() == text.encode()
        undo.append(done["undo"])
        seen.append({name: (tools.folder / name).read_bytes().decode() for name in tools.files()})
    for each, wanted in zip(reversed(undo), reversed(seen[:-1]), strict=True):
        tools.ok(tools.undo, "u" + each, undo=each)
        assert {name: (tools.folder / name).read_bytes().decode() for name in tools.files()} == wanted
