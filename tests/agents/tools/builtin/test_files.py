"""The file tools: what is listed opens, pages join to the text, names read alike find each other."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.tools.builtin.files import ListFiles, ReadFile, SearchFiles
from agents.tools.contract import ToolError, ToolOk, ToolResult
from agents.tools.names import Refused
from agents.tools.paths import PathGate
from agents.tools.ports import EffectTool, Tool, VersionedTool
from agents.tools.previews import PREVIEW_CHARS

REPORT = "报告（终稿）.md"


def call(tool: Tool, **arguments: Any) -> ToolResult:
    result = asyncio.run(tool.call(arguments))
    if isinstance(result, ToolOk):
        assert len(json.dumps(result.data, ensure_ascii=False)) <= PREVIEW_CHARS
        assert (
            result.truncated == (result.next_offset is not None) == (result.data["next_offset"] is not None)
        )
        assert result.taint == "untrusted"
    else:
        assert result.error_type in tool.spec.error_codes
    return result


def data(tool: Tool, **arguments: Any) -> Any:
    result = call(tool, **arguments)
    assert isinstance(result, ToolOk), result
    return result.data


def error(tool: Tool, **arguments: Any) -> str:
    result = call(tool, **arguments)
    assert isinstance(result, ToolError), result
    return result.error_type


@pytest.fixture
def gate(tmp_path: Path) -> PathGate:
    inside = tmp_path / "in"
    (inside / "子" / "deep").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("pump outside", encoding="utf-8")
    (inside / REPORT).write_text("总磷限值 0.3 mg/L\n第二行\n", encoding="utf-8")
    (inside / "re\u0301sume\u0301.md").write_text("The Pump\nno\na pump again", encoding="utf-8")
    (inside / "子" / "gbk.txt").write_bytes("水泵额定流量为每小时四百立方米。".encode("gb18030"))
    (inside / "子" / "deep" / "c.bin").write_bytes(b"\x00\x01\x02\xff" * 100)
    (inside / "link.md").symlink_to("../secret.txt")
    return PathGate(folders={"in": inside})


def test_files_are_listed_with_paths_that_open(gate: PathGate) -> None:
    found = data(ListFiles(gate))
    assert sorted(row["path"] for row in found["files"]) == sorted(
        [REPORT, "re\u0301sume\u0301.md", "子/gbk.txt", "子/deep/c.bin"]
    )
    assert found["complete"] is True
    for row in found["files"]:
        opened = gate.open_file(row["path"])
        assert not isinstance(opened, Refused)
        with opened as file:
            assert len(file.read()) == row["bytes"]
    assert [row["path"] for row in data(ListFiles(gate), name="R\u00c9*.md")["files"]] == [
        "re\u0301sume\u0301.md"
    ]
    assert [row["path"] for row in data(ListFiles(gate), folder="子")["files"]] == [
        "子/deep/c.bin",
        "子/gbk.txt",
    ]
    assert error(ListFiles(gate), folder="../") == "INVALID_PATH"


def test_a_name_is_found_however_its_accents_are_stored_and_shown_as_typed(gate: PathGate) -> None:
    found = data(ReadFile(gate), path="r\u00e9sum\u00e9.md")
    assert found["path"] == "r\u00e9sum\u00e9.md"
    assert found["text"] == "The Pump\nno\na pump again"
    report = data(ReadFile(gate), path=REPORT)
    assert report["text"].startswith("总磷限值")
    assert report["digest"] == hashlib.sha256("总磷限值 0.3 mg/L\n第二行\n".encode()).hexdigest()


def test_words_are_found_in_any_case_and_not_through_links(gate: PathGate) -> None:
    found = data(SearchFiles(gate), text="PUMP")
    assert [(hit["path"], hit["line"]) for hit in found["hits"]] == [
        ("re\u0301sume\u0301.md", 1),
        ("re\u0301sume\u0301.md", 3),
    ]
    assert (found["searched"], found["passed_over"]) == (3, 1)
    assert data(SearchFiles(gate), text="额定流量")["hits"] == [
        {"path": "子/gbk.txt", "line": 1, "text": "水泵额定流量为每小时四百立方米。"}
    ]
    assert data(SearchFiles(gate), text="nowhere")["hits"] == []


def test_what_can_not_be_read_says_why(gate: PathGate) -> None:
    read = ReadFile(gate)
    assert error(read, path="link.md") == "ACCESS_DENIED"
    assert error(read, path="/etc/passwd") == "ACCESS_DENIED"
    assert error(read, path="nothing.md") == "NOT_FOUND"
    assert error(read, path="子") == "NOT_A_FILE"
    assert error(read, path="子/deep/c.bin") == "NOT_TEXT"
    assert error(read, path=REPORT, offset=10_000) == "INVALID_ARGUMENT"


@given(
    text=st.text(st.characters(exclude_categories=("Cs", "Cc", "Co", "Cn")), max_size=400).map(
        lambda t: t * 30
    )
)
def test_pages_of_a_file_join_to_its_text(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("pages")
    # Text that is also valid in another encoding is read as UTF-8 first; a mark in front is left out.
    (folder / "t.txt").write_text("报告\n" + text, encoding="utf-8", newline="")
    read, parts, offset = ReadFile(PathGate(folders={"in": folder})), list[str](), 0
    while True:
        page = data(read, path="t.txt", offset=offset)
        assert page["start_line"] == ("报告\n" + text).count("\n", 0, offset) + 1
        parts.append(page["text"])
        if page["next_offset"] is None:
            break
        assert page["next_offset"] == offset + len(page["text"]) > offset
        offset = page["next_offset"]
    assert "".join(parts) == "报告\n" + text


def test_pages_of_a_listing_and_of_a_search_reach_everything_once(tmp_path: Path) -> None:
    for number in range(150):
        (tmp_path / f"file-{number:03}-{'x' * 40}.txt").write_text(f"pump {number}\n", encoding="utf-8")
    gate = PathGate(folders={"in": tmp_path})
    for tool, name, arguments in (
        (ListFiles(gate), "files", {}),
        (SearchFiles(gate), "hits", {"text": "pump"}),
    ):
        seen = list[str]()
        offset: int | None = 0
        while offset is not None:
            page = data(tool, offset=offset, **arguments)
            seen += [row["path"] for row in page[name]]
            offset = page["next_offset"]
        assert seen == sorted(os.listdir(tmp_path))


def test_the_version_of_a_file_changes_with_it(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("one", encoding="utf-8")
    read = ReadFile(PathGate(folders={"in": tmp_path}))
    assert isinstance(read, VersionedTool)
    assert not isinstance(read, EffectTool)
    before = read.source_version({"path": "a.md"})
    result = call(read, path="a.md")
    assert isinstance(result, ToolOk)
    assert result.source_version == before
    file.write_text("other", encoding="utf-8")
    assert read.source_version({"path": "a.md"}) != before
    assert read.source_version({"path": "b.md"}) is None
