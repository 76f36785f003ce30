"""The tools of a configuration: nothing without it, paths that fit each other, names and schemas for every model."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

from jsonschema import Draft202012Validator

from agents.tools.configuration import AllowedHost, ToolsFile
from agents.tools.configured import configured_tools
from agents.tools.contract import ToolOk
from agents.tools.ports import EffectTool
from agents.tools.previews import READ_RESULT


def whole(base: Path) -> ToolsFile:
    (base / "notes").mkdir()
    (base / "notes" / "a.md").write_text("a", encoding="utf-8")
    return ToolsFile(
        folders={"notes": base / "notes"},
        drafts=base / "new" / "drafts",
        fetch=(AllowedHost(host="example.org"),),
        tables={"t": base / "t.csv"},
    )


def test_without_a_configuration_only_sums_are_possible() -> None:
    assert list(configured_tools(ToolsFile())) == ["calculate"]


def test_a_draft_is_read_by_the_path_that_it_was_written_to(tmp_path: Path) -> None:
    tools = configured_tools(whole(tmp_path))
    write = tools["write_draft"]
    assert isinstance(write, EffectTool)
    done = asyncio.run(write.perform({"path": "drafts/报告.md", "content": "x"}, "k"))
    assert isinstance(done, ToolOk), done
    read = asyncio.run(tools["read_file"].call({"path": done.data["path"]}))
    assert isinstance(read, ToolOk), read
    assert read.data["digest"] == done.data["digest"]
    listed = asyncio.run(tools["list_files"].call({}))
    assert isinstance(listed, ToolOk)
    assert [row["path"] for row in listed.data["files"]] == ["drafts/报告.md", "notes/a.md"]
    outside = asyncio.run(write.perform({"path": "notes/b.md", "content": "x"}, "k2"))
    assert not outside.ok
    assert [path.name for path in (tmp_path / "notes").iterdir()] == ["a.md"]


def test_every_tool_says_what_a_model_and_the_broker_need(tmp_path: Path) -> None:
    tools = configured_tools(whole(tmp_path))
    specs = [tool.spec for tool in tools.values()] + [READ_RESULT]
    assert len(specs) == 10
    for spec in specs:
        assert re.fullmatch(r"[a-z_]{1,64}", spec.name)
        Draft202012Validator.check_schema(spec.input_schema)
        Draft202012Validator.check_schema(spec.output_schema)
        assert spec.input_schema["additionalProperties"] is False
        assert all((spec.purpose, spec.when_to_use, spec.when_not_to_use, spec.scope, spec.permission))
        assert 0 < spec.timeout_s <= 15
        assert spec.error_codes
        assert (spec.repeat == "safe") == (spec.side_effect == "read")
        assert spec.compensation is None or spec.compensation in tools
    for name, tool in tools.items():
        assert isinstance(tool, EffectTool) == (tool.spec.side_effect != "read"), name


def test_under_a_locale_without_utf_8_a_name_that_has_no_form_is_refused(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from agents.tools.paths import PathGate; "
        "gate = PathGate(folders={'in': Path(sys.argv[1])}); (Path(sys.argv[1]) / 'a.md').write_text('a'); "
        "found = gate.open_file('\\u62a5\\u544a.md'); print(sys.getfilesystemencoding(), found.reason); "
        "print(gate.open_file('a.md').read())"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    encoding, reason, content = run.stdout.split()
    assert reason == ("NOT_FOUND" if encoding == "utf-8" else "INVALID_PATH")
    assert content == "b'a'"
