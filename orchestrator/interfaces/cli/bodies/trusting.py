"""Trust what an MCP server says of its tools: exactly what was shown, and only by the user's word."""

from __future__ import annotations

import asyncio
import difflib
import hashlib
import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from agents.models.failures import hidden
from agents.tools.mcp import ServerTools
from agents.tools.mcp_connection import Unreachable
from agents.tools.pins import Described, place_of
from orchestrator.interfaces.cli.exit_codes import ExitCode
from orchestrator.interfaces.cli.problems import Changed, NotFound, Unavailable, UsageProblem
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session

Difference = Literal["new", "changed", "same", "gone"]
_WORDS: Final[Mapping[Difference, tuple[str, str]]] = {
    "new": ("new", "新工具"),
    "changed": ("changed", "有改动"),
    "same": ("as you trust it", "与已信任的相同"),
    "gone": ("the server does not have it any more", "服务器已不再提供"),
}
_YES: Final = frozenset({"y", "yes", "是"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A tool as it is trusted and as its server describes it now."""

    name: str
    old: Described | None
    new: Described | None

    @property
    def difference(self) -> Difference:
        """What is different."""
        if self.new is None:
            return "gone"
        if self.old is None:
            return "new"
        return "same" if self.old.digest == self.new.digest else "changed"


def tools_trust(session: Session, name: str, *, yes: bool, seen: str) -> Result:
    """Show what the server describes, and trust it when the user says so.

    What is trusted is the very tuple that was shown: nobody asks the server again in between. Without a terminal and
    without `yes` nothing is trusted; the result has the command, with the digest of what was shown. Raises `NotFound`
    for another server, `Unavailable` for one that is not reached, `Changed` when it is not what `seen` was shown for,
    and `InvalidToolsFile`.
    """
    server = _server(session, name)
    session.say_at_once(f"asking MCP server {name} …", f"正在询问 MCP 服务器 {name}……")
    described = asyncio.run(_described(server))
    digest = digest_of(described, place_of(server.server))
    if seen and digest[:8] != seen:
        raise Changed(
            "descriptions_changed",
            en=f"what MCP server {name!r} says of its tools is {digest[:8]} now and not {seen[:80]!r}; nothing was "
            f"trusted. See it with: maskgrad tools trust {name}",
            zh=f"MCP 服务器 {name!r} 对其工具的说明现为 {digest[:8]}，不是 {seen[:80]!r}；没有信任任何内容。"
            f"请查看：maskgrad tools trust {name}",
        )
    compared = _compared(server.trusted, described)
    command = f"maskgrad tools trust {name} --yes --seen {digest[:8]}"
    text = "\n".join([*_moved(session, server), *_shown(session, compared)])
    data = {
        "server": name,
        "digest": digest,
        "tools": [_document(each) for each in compared],
        "trusted": True,
    }
    if not server.moved and all(each.difference == "same" for each in compared):
        note = session.pick("nothing differs from what you trust", "与已信任的内容没有差别")
        return Result(data=data, text=text, notes=(note,))
    if not yes and session.interactive:
        session.streams.talk(text)
        typed = session.streams.ask(session.pick("trust exactly this? [y/N] ", "信任以上内容？[y/N] "))
        yes, text = (typed or "").strip().casefold() in _YES, ""
        if not yes:
            note = session.pick("nothing was trusted", "没有信任任何内容")
            return Result(data={**data, "trusted": False}, notes=(note,), code=ExitCode.WAITING)
    if not yes:
        note = session.pick(
            f"nothing was trusted; trust exactly this with: {command}",
            f"没有信任任何内容；如要恰好信任以上内容：{command}",
        )
        data = {**data, "trusted": False, "command": command}
        return Result(data=data, text=text, notes=(note,), code=ExitCode.WAITING)
    _trust(server, described)
    note = session.pick(
        f"trusted: {len(described)} tools of {name}", f"已信任：{name} 的 {len(described)} 个工具"
    )
    return Result(data=data, text=text, notes=(note,))


def _moved(session: Session, server: ServerTools) -> Iterator[str]:
    """Say which program or address a trusted name stands for now, where it is another one."""
    if not server.moved:
        return
    now = server.server
    where = visible(hidden(now.url or " ".join([now.command or "", *now.args]), server.connection.secrets))
    yield session.pick(
        f"the server is started or reached otherwise than when you trusted it; now: {where}",
        f"该服务器的启动方式或地址与您信任时不同；现为：{where}",
    )


def digest_of(described: Sequence[Described], place: str) -> str:
    """Return the SHA-256 over where a server is and what it says of all its tools, hex; their order does not count."""
    digests = sorted(each.digest for each in described)
    return hashlib.sha256("\n".join([place, *digests]).encode("ascii")).hexdigest()


def visible(text: str) -> str:
    r"""Return `text` with what can't be seen as escapes: a model reads it, so the user has to.

    >>> visible("read\u200b it\n")
    'read\\u200b it\n'
    """
    return "".join(
        one if one in "\n\t" or not _unseen(one) else one.encode("unicode_escape").decode() for one in text
    )


def _unseen(character: str) -> bool:
    # Not printable (controls, format characters, tags, lone halves), variation selectors, and letters that are blank.
    return (
        not character.isprintable()
        or "VARIATION SELECTOR" in unicodedata.name(character, "")
        or "FILLER" in unicodedata.name(character, "")
    )


def _server(session: Session, name: str) -> ServerTools:
    servers = session.toolbox().servers().servers
    if name not in servers:
        known = ", ".join(servers) or "-"
        raise NotFound(
            "unknown_server",
            en=f"tools.yaml has no MCP server {name[:80]!r}; accepted: {known}",
            zh=f"tools.yaml 中没有 MCP 服务器 {name[:80]!r}；可接受：{known}",
        )
    return servers[name]


async def _described(server: ServerTools) -> tuple[Described, ...]:
    name = server.server.name
    try:
        return await server.described()
    except Unreachable as error:
        raise Unavailable(
            "server_unreachable",
            en=f"MCP server {name!r} can't be reached: {error}. Nothing was trusted",
            zh=f"无法连接 MCP 服务器 {name!r}：{error}。没有信任任何内容",
        ) from error
    finally:
        await server.connection.drop()


def _trust(server: ServerTools, described: Sequence[Described]) -> None:
    try:
        server.trust(described)
    except OSError as error:
        path = str(server.pins.path)
        raise UsageProblem(
            "trust_not_written",
            en=f"{path!r} can't be written: {error}; accepted: a data directory that may be written to. Nothing was "
            "trusted",
            zh=f"无法写入 {path!r}：{error}；可接受：可写入的数据目录。没有信任任何内容",
        ) from error


def _compared(trusted: Mapping[str, Described], described: Sequence[Described]) -> list[Compared]:
    now = {each.name: each for each in described}
    names = sorted({*trusted, *now})
    return [Compared(name=name, old=trusted.get(name), new=now.get(name)) for name in names]


def _shown(session: Session, compared: Sequence[Compared]) -> Iterator[str]:
    for each in compared:
        yield f"{visible(each.name)}  ({session.pick(*_WORDS[each.difference])})"
        if each.new is not None and each.difference != "changed":
            yield from _indented("  ", _lines(each.new))
        elif each.new is not None and each.old is not None:
            # The whole of both: what differs is marked, and nothing that a model will read is left out.
            found = difflib.ndiff(_lines(each.old), _lines(each.new))
            yield from _indented("  ", [line for line in found if not line.startswith("? ")])


def _lines(tool: Described) -> list[str]:
    """What models are told of a tool, line by line."""
    lines = visible(tool.description).splitlines()
    for title, schema in (("takes", tool.input_schema), ("gives", tool.output_schema)):
        if schema is not None:
            told = visible(json.dumps(schema, ensure_ascii=False, indent=1, sort_keys=True))
            lines += [f"{title}:", *told.splitlines()]
    return lines


def _indented(by: str, lines: Sequence[str]) -> Iterator[str]:
    return (f"{by}{line}" for line in lines)


def _document(each: Compared) -> dict[str, Any]:
    def told(tool: Described | None) -> dict[str, Any] | None:
        if tool is None:
            return None
        return {
            "description": tool.description,
            "input_schema": tool.input_schema,
            "output_schema": tool.output_schema,
            "digest": tool.digest,
        }

    return {
        "name": each.name,
        "difference": each.difference,
        "trusted": told(each.old),
        "described": told(each.new),
    }
