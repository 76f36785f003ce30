"""Secrets of a server's configuration and of foreign errors are stars; what serves as a word or a path is not."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from agents.models.failures import hidden
from agents.tools.configuration import TOOLS_FILE, McpServer, tools_file_in
from agents.tools.hiding import secrets_of, without_secrets
from agents.tools.mcp_connection import McpConnection, said_by
from agents.tools.yaml_lines import InvalidToolsFile

TOKEN = "s3cr3t/t0ken"


@pytest.mark.parametrize(
    ("server", "said"),
    [
        (
            {"url": "https://x.org/mcp?token=s3cr3t%2Ft0ken"},
            f"401 for https://x.org/mcp?token=s3cr3t%2Ft0ken and {TOKEN}",
        ),
        ({"url": f"https://x.org/mcp?a=1&token={TOKEN}"}, f"you are {TOKEN}"),
        ({"url": "https://me:s3cr3t%2Ft0ken@x.org/mcp"}, base64.b64encode(f"me:{TOKEN}".encode()).decode()),
        ({"url": "https://x.org/s/s3cr3tt0ken12345/mcp"}, "no route s3cr3tt0ken12345"),
        ({"env": {"API_KEY": "secretword"}}, "unknown key secretword"),
        ({"env": {"ANY": TOKEN}}, f"unknown {TOKEN}"),
        ({"env": {"DB": f"postgres://me:{TOKEN.replace('/', '-')}@db/x"}}, "no user s3cr3t-t0ken"),
        ({"args": ("--api-key", "secretword")}, "unknown key secretword"),
        ({"args": ("--token=secretword",)}, "unknown key secretword"),
        ({"args": ("-y", "sk-12345678abcdefgh")}, "unknown key sk-12345678abcdefgh"),
        ({"args": (f"https://x.org/?k={TOKEN}",)}, f"unknown key {TOKEN}"),
    ],
)
def test_a_secret_of_the_configuration_is_hidden(server: dict[str, object], said: str) -> None:
    connection = McpConnection(McpServer(name="t", **server), {})  # type: ignore[arg-type]
    told = said_by(ValueError(said), connection.secrets)
    assert "***" in told
    parts = (TOKEN, "t0ken", "secretword", "12345678", base64.b64encode(f"me:{TOKEN}".encode()).decode())
    assert not any(each in told for each in parts), told


def test_words_and_paths_stay_readable() -> None:
    env = {"MODE": "production", "ROOT": "/srv/notes", "BASE": "https://x.org/v1"}
    args = ("-y", "@scope/server-name@2025.1.14", "/srv/notes")
    secrets = secrets_of(url="https://x.org/mcp/sse", args=args, env=env, taken=())
    told = "in production /srv/notes at https://x.org/v1 of https://x.org/mcp/sse by @scope/server-name@2025.1.14"
    assert hidden(told, secrets) == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("404 for https://me:pw@x.org/a?q=1&key=2 here", "404 for https://***@x.org/a?*** here"),
        ("Authorization: Bearer abc.def", "Authorization: ***"),
        ("{'api_key': 'abc', 'page': 2}", "{'api_key': '***', 'page': 2}"),
        ("password=hunter2; user=me", "password=***; user=me"),
        ("no such key: name", "no such key: name"),
        ("401 with key=abc", "401 with key=***"),
        ("no key of that name: try again", "no key of that name: try again"),
    ],
)
def test_what_a_foreign_error_says_of_secrets_is_hidden(said: str, told: str) -> None:
    assert without_secrets(said) == told


@pytest.mark.parametrize(
    "text",
    [
        "servers:\n  a:\n    command: x\n    env: {PIN: 7294816}\n",
        "servers:\n  a:\n    command: x\n    args: [--pin, 7294816]\n",
        "servers:\n  a:\n    url: ftp://x.org/?token=7294816\n",
        "servers:\n  a:\n    url: http://me:7294816@x.org/\n",
    ],
)
def test_a_mistake_beside_a_secret_does_not_repeat_it(text: str, tmp_path: Path) -> None:
    (tmp_path / TOOLS_FILE).write_text(text, encoding="utf-8")
    with pytest.raises(InvalidToolsFile) as caught:
        tools_file_in(tmp_path)
    for lang in ("en", "zh"):
        assert "7294816" not in caught.value.message(lang)
    assert f"{TOOLS_FILE}:" in caught.value.message("en")
