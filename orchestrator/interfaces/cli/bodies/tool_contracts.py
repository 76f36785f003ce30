"""Which tools the user's file allows, what each may do, and whether it can be used now."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, assert_never

from agents.tools.contract import RepeatRule, SideEffectClass, ToolSpec
from agents.tools.mcp import McpEffectTool, McpReadTool, McpServers, ServerTools
from agents.tools.mcp_standing import Standing
from agents.tools.told import told, told_spec
from orchestrator.interfaces.cli.bodies.listing import aligned
from orchestrator.interfaces.cli.problems import Lang, NotFound, pick
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.interfaces.cli.streams import one_line, plain_text
from orchestrator.shell.toolbox import Toolbox

_HEAD: Final[Mapping[Lang, tuple[str, ...]]] = {
    "en": ("tool", "may", "now", "what for"),
    "zh": ("工具", "可做", "现在", "用途"),
}
_PURPOSE: Final = 60
"""Characters of a purpose that a row shows."""
_EFFECTS: Final[Mapping[SideEffectClass, tuple[str, str]]] = {
    "read": ("changes nothing", "不作任何改动"),
    "draft": ("writes new drafts", "写入新草稿"),
    "write": ("changes your files", "改动您的文件"),
    "external": ("acts outside this machine", "在本机之外产生作用"),
}
_REPEATS: Final[Mapping[RepeatRule, tuple[str, str]]] = {
    "safe": ("may be called again: it changes nothing", "可再次调用：不作任何改动"),
    "keyed": ("may be called again under the same key: it happens once", "可用同一键再次调用：只发生一次"),
    "never": (
        "is never called again by itself: a lost outcome is looked up, or you are asked",
        "绝不自动再次调用：结果不明时会查询或询问您",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTool:
    """A configured tool as it stands now."""

    spec: ToolSpec
    server: str | None = None
    """The MCP server that it belongs to."""
    standing: Standing = "usable"
    down: str | None = None
    """Why its server was not reached."""
    namesake: tuple[str, str] | None = None
    """Server and name of another tool that models would call alike."""

    def now(self, lang: Lang) -> str:
        """Say whether it can be used, and what to do where that is for the user."""
        trust = f"maskgrad tools trust {self.server}"
        match self.standing:
            case "usable":
                return pick(lang, "can be used", "可用")
            case "new":
                return pick(lang, f"held, new: {trust}", f"已搁置，新工具：{trust}")
            case "same_name":
                server, other = self.namesake or ("", "")
                return pick(
                    lang,
                    f"held, {other!r} of {server!r} is called so too: rename one of the servers or tools",
                    f"已搁置，{server!r} 的 {other!r} 也用此名称：请为其中一个服务器或工具改名",
                )
            case "changed":
                return pick(lang, f"held, its description changed: {trust}", f"已搁置，描述有改动：{trust}")
            case "moved":
                return pick(
                    lang,
                    f"held, its server is started or reached otherwise than you trusted: {trust}",
                    f"已搁置，其服务器的启动方式或地址与信任时不同：{trust}",
                )
            case "gone":
                return pick(lang, "its server does not have it any more", "其服务器已不再提供")
            case "unreachable":
                return pick(lang, "its server can't be reached", "无法连接其服务器")
            case other:
                assert_never(other)


def tools_list(session: Session) -> Result:
    """Return every configured tool; raises `InvalidToolsFile`."""
    toolbox = session.toolbox()
    known, servers = _asked(session, toolbox)
    rows = [
        (
            tool.spec.name,
            tool.spec.side_effect,
            tool.now(session.lang),
            one_line(told(tool.spec.purpose, session.lang), _PURPOSE),
        )
        for tool in known
    ]
    return Result(
        data={
            "tools": [_document(tool, session.lang) for tool in known],
            "servers": [
                {"name": name, "reached": server.down is None, "why": server.down}
                for name, server in servers.servers.items()
            ],
        },
        text="\n".join(aligned([_HEAD[session.lang], *rows])),
        notes=tuple(_notes(session, toolbox, servers)),
    )


def tools_show(session: Session, name: str) -> Result:
    """Return the contract of one tool; raises `NotFound` and `InvalidToolsFile`."""
    toolbox = session.toolbox()
    own = toolbox.built_in().get(name)
    found = KnownTool(spec=own.spec) if own is not None else None
    if found is None:  # only then is it worth the time to ask servers
        known, _ = _asked(session, toolbox)
        found = next((tool for tool in known if tool.spec.name == name), None)
    if found is None:
        names = ", ".join(tool.spec.name for tool in known)
        raise NotFound(
            "unknown_tool",
            en=f"no configured tool is named {name[:80]!r}; accepted: {names}",
            zh=f"没有名为 {name[:80]!r} 的已配置工具；可接受：{names}",
        )
    return Result(
        data={**_document(found, session.lang), **asdict(found.spec)},
        text="\n".join(_described(session, found)),
    )


def _asked(session: Session, toolbox: Toolbox) -> tuple[list[KnownTool], McpServers]:
    """Return the tools by name, after every server was asked what it has."""
    known = [KnownTool(spec=tool.spec) for tool in toolbox.built_in().values()]
    servers = toolbox.servers()
    if servers.servers:
        count = len(servers.servers)
        session.say_at_once(f"asking {count} MCP servers …", f"正在询问 {count} 个 MCP 服务器……")
        asyncio.run(_ask(servers))
        known += [tool for server in servers.servers.values() for tool in _of_server(server)]
    return sorted(known, key=lambda tool: tool.spec.name), servers


async def _ask(servers: McpServers) -> None:
    try:
        await servers.refresh()
    finally:
        await servers.aclose()


def _of_server(server: ServerTools) -> Iterator[KnownTool]:
    for tool in server.tools().values():
        assert isinstance(tool, McpReadTool | McpEffectTool), "a server has no other tools"
        yield KnownTool(
            spec=tool.spec,
            server=server.server.name,
            standing=server.standing(tool.name),
            down=server.down,
            namesake=server.namesake(tool.name),
        )


def _notes(session: Session, toolbox: Toolbox, servers: McpServers) -> Iterator[str]:
    for name, server in servers.servers.items():
        if server.down is not None:
            why = one_line(server.down, 400)
            yield session.pick(
                f"MCP server {name!r} can't be reached: {why}", f"无法连接 MCP 服务器 {name!r}：{why}"
            )
    if not toolbox.configured:
        path = str(toolbox.path)
        yield session.pick(
            f"there is no {path}: only what needs no permission can be used",
            f"没有 {path}：只有无需授权的工具可用",
        )


def _document(tool: KnownTool, lang: Lang) -> dict[str, Any]:
    return {
        "name": tool.spec.name,
        "side_effect": tool.spec.side_effect,
        "server": tool.server,
        "standing": tool.standing,
        "available": tool.standing == "usable",
        "now": tool.now(lang),
        "why": tool.down if tool.standing == "unreachable" else None,
        "purpose": tool.spec.purpose,
    }


def _described(session: Session, tool: KnownTool) -> Iterator[str]:
    spec, said = told_spec(tool.spec, session.lang), session.pick
    none = said("none", "无")
    effect, repeat = said(*_EFFECTS[spec.side_effect]), said(*_REPEATS[spec.repeat])
    yield f"{spec.name}  ({tool.now(session.lang)})"
    if tool.standing == "unreachable" and tool.down is not None:
        yield said("why: ", "原因：") + one_line(tool.down, 400)
    yield said("purpose: ", "用途：") + plain_text(spec.purpose)
    yield said("use it: ", "何时使用：") + plain_text(spec.when_to_use)
    yield said("do not use it: ", "何时不用：") + plain_text(spec.when_not_to_use)
    yield said("side effect: ", "副作用：") + f"{spec.side_effect}, {effect}"
    yield said("repetition: ", "重复：") + f"{spec.repeat}, {repeat}"
    yield said("undone by: ", "由何补救：") + (spec.compensation or none)
    yield said("scope: ", "范围：") + plain_text(spec.scope)
    yield said("permission: ", "权限：") + spec.permission
    yield said("time-out: ", "超时：") + f"{spec.timeout_s:g} s"
    yield said("errors: ", "错误：") + (", ".join(spec.error_codes) or none)
    yield said("takes:", "参数：")
    yield plain_text(json.dumps(spec.input_schema, ensure_ascii=False, indent=2))
    yield said("gives:", "结果：")
    yield plain_text(json.dumps(spec.output_schema, ensure_ascii=False, indent=2))
