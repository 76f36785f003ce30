"""The user's tools file: what it allows, and mistakes told with line, value, what is accepted and the next step."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.tools.configuration import TOOLS_FILE, AllowedHost, McpServer, ToolsFile, tools_file_in
from agents.tools.yaml_lines import InvalidToolsFile

WHOLE = """\
folders: [reports, {name: 资料, path: /srv/material}]
drafts: ~/drafts
fetch: [Example.org, "*.gov.cn", {host: "wiki.local:8080", private: true}, "[::1]:80"]
tables: [data/sales.sqlite, {name: sites, path: data/x.csv}]
servers:
  files:
    command: npx
    args: ["-y", "some-server"]
    env: {MODE: quiet}
    env_from: {TOKEN: FILES_TOKEN}
    side_effects: {read_page: read}
  remote:
    url: https://tools.example.org/mcp
    headers_from: {Authorization: REMOTE_AUTH}
    timeout_s: 30
"""


def read(home: Path, text: str) -> ToolsFile:
    (home / TOOLS_FILE).write_text(text, encoding="utf-8")
    return tools_file_in(home)


def test_without_a_file_nothing_is_allowed(tmp_path: Path) -> None:
    assert tools_file_in(tmp_path) == ToolsFile()
    assert read(tmp_path, "# nothing yet\n") == ToolsFile()
    assert read(tmp_path, "folders:\nservers:\n") == ToolsFile()


def test_every_part_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, WHOLE)
    assert found == ToolsFile(
        folders={"reports": tmp_path / "reports", "资料": Path("/srv/material")},
        drafts=Path.home() / "drafts",
        fetch=(
            AllowedHost(host="example.org"),
            AllowedHost(host="*.gov.cn"),
            AllowedHost(host="wiki.local:8080", private=True),
            AllowedHost(host="[::1]:80"),
        ),
        tables={"sales": tmp_path / "data/sales.sqlite", "sites": tmp_path / "data/x.csv"},
        servers=(
            McpServer(
                name="files",
                command="npx",
                args=("-y", "some-server"),
                env={"MODE": "quiet"},
                env_from={"TOKEN": "FILES_TOKEN"},
                side_effects={"read_page": "read"},
            ),
            McpServer(
                name="remote",
                url="https://tools.example.org/mcp",
                headers_from={"Authorization": "REMOTE_AUTH"},
                timeout_s=30.0,
            ),
        ),
    )


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("folder: [x]\n", 1, "'folder'"),
        ("drafts: ~/d\nfolders: x\n", 2, "'x'"),
        ("folders: [a/x, b/x]\n", 1, "'x'"),
        ("folders:\n  - /\n", 2, "'/'"),
        ("folders:\n  - {name: x}\n", 2, "'path'"),
        ("folders:\n  - {name: 'a/b', path: x}\n", 2, "'a/b'"),
        ("fetch:\n  - https://example.org/x\n", 2, "'https://example.org/x'"),
        ("fetch:\n  - '*.org'\n", 2, "'*.org'"),
        ("fetch:\n  - '*'\n", 2, "'*'"),
        ("fetch:\n  - {host: x.org, private: maybe}\n", 2, "'maybe'"),
        ("servers:\n  a:\n    args: [x]\n", 3, "a url"),
        ("servers:\n  a:\n    command: x\n    url: http://x/\n", 3, "a url"),
        ("servers:\n  a:\n    command: x\n    side_effects: {t: none}\n", 4, "'none'"),
        ("servers:\n  a:\n    command: x\n    timeout_s: 0\n", 4, "0"),
        ("servers:\n  a:\n    command: x\n    timeout_s: true\n", 4, "True"),
        ("servers:\n  a:\n    url: ftp://x/\n", 3, "'ftp://x/'"),
        ("servers:\n  a:\n    url: http://me:pw@x/\n", 3, "'http://***@x/'"),
        (
            "servers:\n  a:\n    url: http://x/\n    headers_from: {Authorization: Bearer secret}\n",
            4,
            "variable",
        ),
        ("servers:\n  a b: {command: x}\n", 2, "'a b'"),
        ("servers:\n  mail.x: {command: x}\n  mail_x: {command: x}\n", 3, "'mail.x'"),
        ("servers:\n  a__b: {command: x}\n  a: {command: x}\n", 3, "'a__b'"),
        ("drafts: a\ndrafts: b\n", 2, "'drafts'"),
        ("drafts: [a\n", 2, "YAML"),
        ("- a\n", 1, "names"),
        ("drafts: 5\n", 1, "5"),
        ("drafts: !!python/object:os.system x\n", 1, "YAML"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, text: str, line: int, told: str) -> None:
    with pytest.raises(InvalidToolsFile) as caught:
        read(tmp_path, text)
    message = caught.value.message("en")
    assert message.startswith(f"{tmp_path / TOOLS_FILE}:{line}: ")
    assert told in message
    assert "Accepted: " in message
    assert "secret" not in message.lower().replace("a secret stays", "")
    assert "可接受" in caught.value.message("zh")


def test_servers_whose_tools_stay_apart_are_accepted(tmp_path: Path) -> None:
    names = ("a", "a_b", "a-b", "ab", "数据", "资料", "a数")
    text = "servers:\n" + "".join(f"  {name}: {{command: x}}\n" for name in names)
    assert tuple(each.name for each in read(tmp_path, text).servers) == names


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / TOOLS_FILE).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidToolsFile, match=r"Accepted: YAML in UTF-8"):
        tools_file_in(tmp_path)
