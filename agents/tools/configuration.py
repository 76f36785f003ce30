"""The user's own tools: `tools.yaml` in the data directory, read once into a typed object.

Only the user writes it: which folders may be read, where drafts go, which hosts are fetched from, which tables are
asked, which MCP servers run and what their tools may do. Nothing that a model, a document or a server says adds to it.

    folders: [~/reports, {name: 资料, path: /srv/material}]
    drafts: ~/drafts
    fetch: [example.org, "*.gov.cn", {host: wiki.local, private: true}]
    tables: [~/data/sales.sqlite, {name: sites, path: ~/data/sites.csv}]
    servers:
      files:
        command: npx
        args: ["-y", "some-server"]
        env: {MODE: quiet}                       # as written here
        env_from: {TOKEN: FILES_TOKEN}           # taken from the environment variable FILES_TOKEN
        side_effects: {read_page: read}          # any other tool of it is `external`
      remote:
        url: https://tools.example.org/mcp
        headers_from: {Authorization: REMOTE_AUTH}
        timeout_s: 30
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, get_args

from agents.tools.contract import SideEffectClass
from agents.tools.hiding import without_secrets
from agents.tools.mcp_names import may_collide
from agents.tools.previews import TOOL_TIMEOUT_S
from agents.tools.yaml_lines import InvalidToolsFile, Lined, read_lined

TOOLS_FILE: Final = "tools.yaml"
LONGEST_TIMEOUT_S: Final = 300.0
_NAME: Final = re.compile(r"[^\W_](?:[\w.-]{0,38}[^\W_])?")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER: Final = re.compile(r"[A-Za-z0-9-]+")
_HOST: Final = re.compile(r"(?:\*\.)?[^\s/@:?#*\[\]]+(?::[0-9]{1,5})?|\[[0-9a-fA-F:.]+\](?::[0-9]{1,5})?")
_EFFECTS: Final[tuple[SideEffectClass, ...]] = get_args(SideEffectClass)


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedHost:
    """A host that may be fetched from."""

    host: str
    """Exact, or `*.suffix`: every host below it; with `:port` for another port than the scheme's own."""
    private: bool = False
    """Whether it may be at an address of the local network or of this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """An MCP server: started by a command (stdio), or reached at a URL (streamable HTTP)."""

    name: str
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    env_from: Mapping[str, str] = field(default_factory=dict)
    """Variable of the server to the environment variable that its value is taken from."""
    url: str | None = None
    headers_from: Mapping[str, str] = field(default_factory=dict)
    """Header to the environment variable that its value is taken from."""
    side_effects: Mapping[str, SideEffectClass] = field(default_factory=dict)
    """What the user says that a tool of it does; one that is not named is `external`."""
    timeout_s: float = TOOL_TIMEOUT_S


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsFile:
    """What `tools.yaml` says; without the file, nothing is allowed."""

    folders: Mapping[str, Path] = field(default_factory=dict)
    drafts: Path | None = None
    fetch: tuple[AllowedHost, ...] = ()
    tables: Mapping[str, Path] = field(default_factory=dict)
    servers: tuple[McpServer, ...] = ()


def tools_file_in(home: Path) -> ToolsFile:
    """Return the tools that the user configured in the data directory `home`.

    Paths begin with `~` or are relative to `home`. Raises `InvalidToolsFile`, which names the file, the line, the value
    got, what is accepted and the next step.
    """
    document = read_lined(home / TOOLS_FILE)
    if document is None:
        return ToolsFile()
    parts = _mapping(document, ("folders", "drafts", "fetch", "tables", "servers"))
    return ToolsFile(
        folders=_named_paths(parts, "folders", home),
        drafts=_path(parts["drafts"], home) if "drafts" in parts else None,
        fetch=tuple(_host(each) for each in _list(parts.get("fetch"))),
        tables=_named_paths(parts, "tables", home),
        servers=tuple(_server(name, each) for name, each in _server_names(parts.get("servers")).items()),
    )


def _server_names(given: Lined | None) -> Mapping[str, Lined]:
    """Return the servers by name; two whose tools models could not tell apart by name are refused."""
    found = _names(given, "servers")
    for name, each in found.items():
        for other in found:
            if other == name:
                break  # those after it are compared when their turn comes
            if may_collide(name, other):
                raise Lined(name, each.line, each.file).wrong(
                    en=f"names of servers that stay apart from {other!r} when each '.' is '_', and of which none "
                    "begins with another one and '__'",
                    zh=f"将每个“.”视为“_”后与 {other!r} 不同，且不以另一个名称加“__”开头的服务器名称",
                    next_en="Rename one of the two: models would call tools of both by the same name.",
                    next_zh="请为二者之一改名：否则模型会用同一名称调用两者的工具。",
                )
    return found


def _server(name: str, given: Lined) -> McpServer:
    known = ("command", "args", "env", "env_from", "url", "headers_from", "side_effects", "timeout_s")
    parts = _mapping(given, known)
    if ("command" in parts) == ("url" in parts):
        raise given.wrong(
            en="a server with either a command or a url",
            zh="有 command 或 url 之一的服务器",
            next_en="Give one of them.",
            next_zh="请给出其中一个。",
        )
    return McpServer(
        name=name,
        command=_text(parts["command"]) if "command" in parts else None,
        args=tuple(_private_text(each) for each in _list(parts.get("args"))),
        env=_texts(parts.get("env"), _VARIABLE, None),
        env_from=_texts(parts.get("env_from"), _VARIABLE, _VARIABLE),
        url=_url(parts["url"]) if "url" in parts else None,
        headers_from=_texts(parts.get("headers_from"), _HEADER, _VARIABLE),
        side_effects={
            tool: _effect(each) for tool, each in _mapping_of_any(parts.get("side_effects")).items()
        },
        timeout_s=_seconds(parts["timeout_s"]) if "timeout_s" in parts else TOOL_TIMEOUT_S,
    )


def _mapping(given: Lined, known: tuple[str, ...]) -> Mapping[str, Lined]:
    found = _mapping_of_any(given)
    for name, each in found.items():
        if name not in known:
            raise Lined(name, each.line, each.file).wrong(
                en=", ".join(known),
                zh="、".join(known),
                next_en="Correct the name or remove the line.",
                next_zh="请改正名称或删除该行。",
            )
    return found


def _mapping_of_any(given: Lined | None) -> Mapping[str, Lined]:
    if given is None or given.value is None:
        return {}
    if not isinstance(given.value, dict):
        raise given.wrong(
            en="names, each with a value",
            zh="名称与值的对应",
            next_en="Write `name: value` lines.",
            next_zh="请写成 `名称: 值` 的行。",
        )
    return given.value


def _names(given: Lined | None, what: str) -> Mapping[str, Lined]:
    found = _mapping_of_any(given)
    for name, each in found.items():
        _name(Lined(name, each.line, each.file), what)
    return found


def _name(given: Lined, what: str) -> str:
    if not isinstance(given.value, str) or not _NAME.fullmatch(given.value):
        raise given.wrong(
            en="a name of at most 40 letters, digits, '-', '_' or '.', with a letter or digit at both ends",
            zh="最多 40 个字母、数字、“-”“_”或“.”的名称，首尾为字母或数字",
            next_en=f"Rename it in {what}.",
            next_zh=f"请在 {what} 中改名。",
        )
    return given.value


def _list(given: Lined | None) -> list[Lined]:
    if given is None or given.value is None:
        return []
    if not isinstance(given.value, list):
        raise given.wrong(en="a list", zh="列表", next_en="Put it into [ ].", next_zh="请放入 [ ] 中。")
    return given.value


def _text(given: Lined) -> str:
    if not _is_text(given):
        raise _no_text(given)
    return str(given.value)


def _is_text(given: Lined) -> bool:
    return isinstance(given.value, str) and bool(given.value.strip()) and "\0" not in given.value


def _no_text(given: Lined) -> InvalidToolsFile:
    return given.wrong(en="a text", zh="文本", next_en="Put it into quotes.", next_zh="请加上引号。")


def _private_text(given: Lined) -> str:
    """Return a text that may be a secret: what stands in its place is not repeated."""
    if not _is_text(given):
        raise _no_text(replace(given, value="…"))
    return str(given.value)


def _texts(given: Lined | None, name: re.Pattern[str], value: re.Pattern[str] | None) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for key, each in _mapping_of_any(given).items():
        text = _private_text(each)
        if not name.fullmatch(key) or (value is not None and not value.fullmatch(text)):
            # The value may be a secret that was put into the wrong place: it is not repeated.
            raise Lined(f"{key}: …", each.line, each.file).wrong(
                en="NAME: ENVIRONMENT_VARIABLE" if value is not None else "NAME: text",
                zh="名称: 环境变量名" if value is not None else "名称: 文本",
                next_en="A secret stays in the environment: name its variable here.",
                next_zh="密钥留在环境变量中：此处只写变量名。",
            )
        found[key] = text
    return found


def _path(given: Lined, home: Path) -> Path:
    path = home / Path(_text(given)).expanduser()
    if path.resolve() == Path(path.anchor):
        raise given.wrong(
            en="a folder or file below the root of the file system",
            zh="文件系统根目录之下的文件夹或文件",
            next_en="Name the folder that is meant.",
            next_zh="请指明具体的文件夹。",
        )
    return path


def _named_paths(parts: Mapping[str, Lined], what: str, home: Path) -> Mapping[str, Path]:
    """Return paths by name: the given one, else the last part of the path, made different where two are equal."""
    found: dict[str, Path] = {}
    for each in _list(parts.get(what)):
        given = each
        if isinstance(each.value, dict):
            fields = _mapping(each, ("name", "path"))
            given = _needed(each, fields, "path")
            name = _name(fields["name"], what) if "name" in fields else None
        else:
            name = None
        path = _path(given, home)
        chosen = name or (path.stem if what == "tables" else path.name)
        if chosen in found:
            raise Lined(chosen, each.line, each.file).wrong(
                en="each name once",
                zh="每个名称一次",
                next_en="Write {name: …, path: …} with another name.",
                next_zh="请写成 {name: …, path: …} 并换一个名称。",
            )
        found[chosen] = path
    return found


def _needed(given: Lined, fields: Mapping[str, Lined], name: str) -> Lined:
    if name not in fields:
        raise given.wrong(
            en=f"an entry with {name!r}",
            zh=f"带有 {name!r} 的条目",
            next_en=f"Add `{name}:`.",
            next_zh=f"请补上 `{name}:`。",
        )
    return fields[name]


def _host(given: Lined) -> AllowedHost:
    private = False
    text = given
    if isinstance(given.value, dict):
        fields = _mapping(given, ("host", "private"))
        text = _needed(given, fields, "host")
        if "private" in fields:
            private = _yes_or_no(fields["private"])
    host = _text(text).strip().lower()
    if not _HOST.fullmatch(host) or (host.startswith("*.") and "." not in host[2:]):
        raise text.wrong(
            en="a host such as 'example.org', '*.example.org' or 'example.org:8080', no URL",
            zh="主机名，如 'example.org'、'*.example.org' 或 'example.org:8080'，不是网址",
            next_en="Give the host alone.",
            next_zh="请只写主机名。",
        )
    return AllowedHost(host=host, private=private)


def _yes_or_no(given: Lined) -> bool:
    if not isinstance(given.value, bool):
        raise given.wrong(
            en="true or false", zh="true 或 false", next_en="Write one of them.", next_zh="请写其中之一。"
        )
    return given.value


def _url(given: Lined) -> str:
    url = _private_text(given)
    if not re.fullmatch(r"https?://[^\s@/]+(/\S*)?", url):
        raise Lined(without_secrets(url), given.line, given.file).wrong(
            en="an http or https URL without a user name in it",
            zh="不含用户名的 http 或 https 网址",
            next_en="Put credentials into `headers_from`.",
            next_zh="凭据请写入 `headers_from`。",
        )
    return url


def _effect(given: Lined) -> SideEffectClass:
    for effect in _EFFECTS:
        if given.value == effect:
            return effect
    raise given.wrong(
        en=", ".join(_EFFECTS),
        zh="、".join(_EFFECTS),
        next_en="Write what the tool does; leave it out when you do not know.",
        next_zh="请写明该工具的作用；不清楚时请删去。",
    )


def _seconds(given: Lined) -> float:
    value = given.value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LONGEST_TIMEOUT_S:
        raise given.wrong(
            en=f"seconds, more than 0 and at most {LONGEST_TIMEOUT_S:g}",
            zh=f"秒数，大于 0 且不超过 {LONGEST_TIMEOUT_S:g}",
            next_en="Correct the number.",
            next_zh="请改正数字。",
        )
    return float(value)
