"""The tools of MCP servers, over stdio and streamable HTTP.

A server is foreign: what it says of its tools is shown to models only as the user trusted it, its hints that a tool
only reads are not believed, and what it returns is data.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import inf
from typing import Any, Final

from agents.models.failures import hidden
from agents.tools.configuration import McpServer
from agents.tools.contract import ToolError, ToolResult, ToolSpec
from agents.tools.diffs import call_preview
from agents.tools.mcp_answers import answered, texts_of
from agents.tools.mcp_connection import CONNECT_TIMEOUT_S, McpConnection, Unreachable, said_by
from agents.tools.mcp_names import may_name, offered_name
from agents.tools.mcp_standing import Standing, Why
from agents.tools.pins import Described, PinsFile, place_of
from agents.tools.ports import NotPerformed, Tool
from graphs.contract import Lang

KEY_META: Final = "maskgrad/idempotency-key"
"""In the metadata of a call that changes something: a server may use it to perform the call once."""
QUIET_TIMES: Final = 10
LONGEST_QUIET_S: Final = 60.0
_SAID_CHARS: Final = 1_000
"""Of what a server says of a call that went wrong."""
_ERRORS: Final = (
    "UNAVAILABLE",
    "NOT_SENT",
    "TIMEOUT",
    "SERVER_ERROR",
    "ACTION_DENIED",
    "OBSERVATION_UNKNOWN",
)


@dataclass(slots=True)
class ServerTools:
    """The tools of one server on one event loop: those that are trusted, and why others are held."""

    server: McpServer
    pins: PinsFile
    connection: McpConnection
    trusted: Mapping[str, Described] = field(default_factory=dict)
    listed: Mapping[str, Described] | None = None
    """As the server last described them; `None`: not asked yet."""
    moved: bool = False
    """Whether the server is another one of the name than that which is trusted."""
    down: str | None = None
    """Why the server could not be reached when it was last asked."""
    clock: Callable[[], float] = time.monotonic
    """In seconds."""
    beside: Collection[ServerTools] = field(default=(), repr=False, compare=False)
    """All servers of the configuration."""
    _asked: int = 0
    """How often it was asked."""
    _quiet_until: float = -inf
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        """Read what is trusted; raises `InvalidToolsFile`."""
        self._look_up()

    def _look_up(self) -> None:
        self.trusted = self.pins.trusted(self.server.name)
        self.moved = self.pins.place(self.server.name) not in (None, place_of(self.server))

    def tools(self) -> dict[str, Tool]:
        """Return the tools by the name that models call them by, also those that are held.

        A tool that is not trusted has nothing in its specification that its server wrote.
        """
        names = dict.fromkeys([*self.trusted, *(self.listed or ())])
        found: dict[str, Tool] = {}
        for name in names:
            spec = self._spec(name)
            # Two of one name: trusted ones come first, and of two trusted ones both are held.
            if spec.name not in found:
                found[spec.name] = (
                    McpReadTool(self, name, spec)
                    if spec.side_effect == "read"
                    else McpEffectTool(self, name, spec)
                )
        return found

    async def refresh(self) -> None:
        """Connect and compare what the server describes with what is trusted; a failure is kept in `down`.

        Who comes while it is asked shares the answer. A server that was not reached is left alone for ten times as long
        as that took, a minute at the most: who waits for one that hangs does so once.
        """
        if self.moved:
            return  # nobody trusts what would be started
        asked = self._asked
        async with self._asking:
            begun = self.clock()
            if self._asked != asked or begun < self._quiet_until:
                return
            try:
                self._compare(await self.connection.listed())
            except Unreachable as error:
                self.down = str(error)
                now = self.clock()
                self._quiet_until = now + min(QUIET_TIMES * (now - begun), LONGEST_QUIET_S)
            self._asked += 1

    def may_have(self, name: str) -> bool:
        """Say whether a tool that models call `name` can be one of this server's."""
        return may_name(self.server.name, name)

    async def described(self) -> tuple[Described, ...]:
        """Return what the server describes now, to be shown to the user; raises `Unreachable`."""
        found = await self.connection.listed()
        self._compare(found)
        return found

    def trusts(self, tool: Tool) -> bool:
        """Say whether one of its `tools` is trusted."""
        return isinstance(tool, McpReadTool | McpEffectTool) and tool.name in self.trusted

    def trust(self, tools: Iterable[Described]) -> None:
        """Record that the user trusts exactly these descriptions, as they were shown."""
        self.pins.trust(self.server, tools)
        self._look_up()

    def standing(self, tool: str) -> Standing:
        """Return how a tool stands, as far as the server was asked."""
        known = self.trusted.get(tool)
        if known is None:
            return "new"
        if self.namesake(tool) is not None:
            return "same_name"
        if self.moved:
            return "moved"
        if self.down is not None:
            return "unreachable"
        if self.listed is None:
            return "usable"
        now = self.listed.get(tool)
        if now is None:
            return "gone"
        return "usable" if now.digest == known.digest else "changed"

    def namesake(self, tool: str) -> tuple[str, str] | None:
        """Return another trusted tool that models would call by the same name, as server and tool; `None`: none."""
        name = offered_name(self.server.name, tool)
        return next(
            (
                (server.server.name, other)
                for server in (self.beside or (self,))
                if server.may_have(name)
                for other in server.trusted
                if offered_name(server.server.name, other) == name and (server is not self or other != tool)
            ),
            None,
        )

    def held(self, tool: str) -> str | None:
        """Say why a tool is not used now; `None`: it may be."""
        why = Why(server=self.server.name, tool=tool, down=self.down, namesake=self.namesake(tool))
        return why.held(self.standing(tool))

    async def call(self, tool: str, arguments: Mapping[str, Any], key: str | None) -> ToolResult:
        """Call a tool, after the server has described it as it is trusted; `key` says that it changes something.

        With a key, what left this machine and was not answered by the protocol as a call that can't be made is
        `OBSERVATION_UNKNOWN`: a server says of a tool that broke after its effect just what it says of one that broke
        before. `NOT_SENT` is the word that nothing happened.
        """
        if self.moved and (moved := self.held(tool)) is not None:
            return ToolError(error_type="ACTION_DENIED", message=moved, retryable=False)
        try:
            async with asyncio.timeout(self._reach_s):
                # Before each call: between two of them a server may have become another one.
                self._compare(await self.connection.listed())
                client = await self.connection.client()
        except TimeoutError:
            return self._not_sent(f"it did not answer within {self._reach_s:g} s", key)
        except Unreachable as error:
            return self._not_sent(str(error), key)
        held = self.held(tool)
        if held is not None:
            return ToolError(error_type="ACTION_DENIED", message=held, retryable=False)
        from mcp import MCPError  # noqa: PLC0415 - an extra; there is a client, so it is installed
        from mcp.types import CONNECTION_CLOSED, INVALID_PARAMS, METHOD_NOT_FOUND  # noqa: PLC0415

        try:
            async with asyncio.timeout(self.server.timeout_s):
                meta: Any = {KEY_META: key} if key is not None else None
                result = await client.call_tool(tool, dict(arguments), meta=meta)
        except TimeoutError:
            return self._lost(f"gave no result within {self.server.timeout_s:g} s", "TIMEOUT", key)
        except MCPError as error:
            if error.code != CONNECTION_CLOSED:
                if key is None or error.code in (INVALID_PARAMS, METHOD_NOT_FOUND):
                    return self._error("SERVER_ERROR", said_by(error, self.connection.secrets))
                return self._lost(f"says: {said_by(error, self.connection.secrets)}", "SERVER_ERROR", key)
            await self.connection.drop()
            return self._lost("went away during the call", "UNAVAILABLE", key)
        except Exception as error:  # noqa: BLE001 - the SDK's transports let anything out, and the call was sent
            await self.connection.drop()
            return self._lost(f"broke off: {said_by(error, self.connection.secrets)}", "UNAVAILABLE", key)
        if not result.is_error:
            return answered(self.server.name, tool, result, self.connection.secrets)
        said = hidden(" ".join(texts_of(result)), self.connection.secrets)[:_SAID_CHARS] or "no reason given"
        if key is None:
            return self._error("SERVER_ERROR", f"{tool} says: {said}")
        return self._lost(f"{tool} says: {said}", "SERVER_ERROR", key)

    @property
    def _reach_s(self) -> float:
        """To start the server or reach it, and to have its tools listed."""
        return CONNECT_TIMEOUT_S + self.server.timeout_s

    def _compare(self, found: Iterable[Described]) -> None:
        self.listed = {described.name: described for described in found}
        self.down = None
        self._quiet_until = -inf

    def _lost(self, what: str, error_type: str, key: str | None) -> ToolError:
        """Return the error of a call that was sent and not answered: what changes something may have happened."""
        if key is None:
            return ToolError(error_type=error_type, message=self._told(what), retryable=True)
        message = self._told(f"{what}; whether the call happened is not known")
        return ToolError(error_type="OBSERVATION_UNKNOWN", message=message, retryable=False)

    def _not_sent(self, why: str, key: str | None) -> ToolError:
        """Return the error of a call that never left: it certainly did nothing."""
        message = f"MCP server {self.server.name!r} can't be reached: {why}"
        if key is None:
            return ToolError(error_type="UNAVAILABLE", message=message, retryable=True)
        return ToolError(
            error_type="NOT_SENT", message=f"{message}; nothing was sent, nothing happened", retryable=True
        )

    def _error(self, error_type: str, what: str) -> ToolError:
        return ToolError(error_type=error_type, message=self._told(what), retryable=False)

    def _told(self, what: str) -> str:
        return f"MCP server {self.server.name!r}: {what}"

    def _spec(self, tool: str) -> ToolSpec:
        known = self.trusted.get(tool)
        effect = self.server.side_effects.get(tool, "external")
        return ToolSpec(
            name=offered_name(self.server.name, tool),
            purpose=known.description
            if known is not None
            else "Not trusted yet: its description is not shown.",
            when_to_use=f"When what it does is needed of the server {self.server.name!r}.",
            when_not_to_use="For what a built-in tool does.",
            input_schema=known.input_schema if known is not None else {"type": "object"},
            output_schema={"type": "object"},
            scope=f"MCP server {self.server.name!r}",
            # Its own time-outs, to reach the server and to call it, come first and know more.
            timeout_s=self._reach_s + self.server.timeout_s + 1,
            side_effect=effect,
            permission=f"mcp.{self.server.name}",
            error_codes=_ERRORS,
            repeat="safe" if effect == "read" else "never",
        )


@dataclass(frozen=True, slots=True)
class McpReadTool:
    """A tool of a server that the user says only reads."""

    tools: ServerTools
    name: str
    """As the server calls it."""
    spec: ToolSpec

    def unavailable(self) -> str | None:
        """Say why it can't be used now."""
        return self.tools.held(self.name)

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Call it."""
        return await self.tools.call(self.name, arguments, None)


@dataclass(frozen=True, slots=True)
class McpEffectTool:
    """A tool of a server that may change something."""

    tools: ServerTools
    name: str
    spec: ToolSpec

    def unavailable(self) -> str | None:
        """Say why it can't be used now."""
        return self.tools.held(self.name)

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Refuse: it is performed under a key."""
        del arguments
        message = f"{self.spec.name} may change something: it is performed under a key, never called"
        return ToolError(error_type="ACTION_DENIED", message=message, retryable=False)

    async def preview(self, arguments: Mapping[str, Any], lang: Lang) -> str:
        """Return the call as it would be sent; what the server makes of it is not known."""
        server = {
            "en": f"MCP server {self.tools.server.name!r}: ",
            "zh": f"MCP 服务器 {self.tools.server.name!r}：",
        }
        return call_preview(server[lang] + self.name, arguments, lang)

    async def perform(self, arguments: Mapping[str, Any], key: str) -> ToolResult:
        """Call it, with `key` in the metadata."""
        return await self.tools.call(self.name, arguments, key)

    async def outcome_of(self, arguments: Mapping[str, Any], key: str) -> ToolResult | NotPerformed | None:
        """Return `None`: the protocol has no way to ask."""
        del arguments, key
        return None


@dataclass(slots=True)
class McpServers:
    """The servers of a configuration on one event loop."""

    servers: Mapping[str, ServerTools]

    def tools(self) -> dict[str, Tool]:
        """Return the tools of all servers, also those that are held, by the name that models call them by.

        Of two of one name it is the trusted one; where both are trusted, both are held.
        """
        found: dict[str, Tool] = {}
        for server in self.servers.values():
            for name, tool in server.tools().items():
                if name not in found or server.trusts(tool):
                    found[name] = tool
        return found

    async def refresh(self, names: Collection[str] | None = None) -> None:
        """Ask servers, all at a time, what they describe; call it before tools are offered.

        With `names`, those that have a tool which models call so: nobody waits for a server that is not theirs.
        """
        asked = [
            server
            for server in self.servers.values()
            if names is None or any(server.may_have(name) for name in names)
        ]
        await asyncio.gather(*(server.refresh() for server in asked))

    async def aclose(self) -> None:
        """Close what was connected."""
        await asyncio.gather(*(server.connection.close() for server in self.servers.values()))


def mcp_servers(servers: Iterable[McpServer], pins: PinsFile, environment: Mapping[str, str]) -> McpServers:
    """Return the servers for one event loop; nothing is connected before it is needed.

    `environment` is where secrets of the configuration are taken from. Raises `InvalidToolsFile` for a file of trusted
    descriptions that can't be read.
    """
    found = {each.name: ServerTools(each, pins, McpConnection(each, environment)) for each in servers}
    for each in found.values():
        each.beside = found.values()
    return McpServers(found)


@asynccontextmanager
async def open_mcp_servers(
    servers: Iterable[McpServer], pins: PinsFile, environment: Mapping[str, str]
) -> AsyncIterator[McpServers]:
    """Lend the servers to the running event loop, as `mcp_servers`; what was connected is closed at the end."""
    opened = mcp_servers(servers, pins, environment)
    try:
        yield opened
    finally:
        await opened.aclose()
