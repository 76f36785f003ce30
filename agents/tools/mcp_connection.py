"""One MCP server as it is reached: connected at the first need, again after it died, and closed at the end.

The SDK's connections live in a task group that has to be left in the task that entered it. So each connection has a
task of its own; whoever needs it only borrows the client.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TextIO

from agents.tools.configuration import McpServer
from agents.tools.pins import Described

if TYPE_CHECKING:  # the SDK takes a second to import, and is an extra
    from mcp import Client

CONNECT_TIMEOUT_S: Final = 20.0
"""To start a server or reach it; some are fetched by their package's runner at the first time."""
MOST_PAGES: Final = 100
"""Pages of a list of tools: a server whose list never ends is broken."""
_SAID_CHARS: Final = 300


class Unreachable(Exception):
    """A server that can't be started or reached, or that went away; `str()` says why."""


@dataclass(slots=True)
class McpConnection:
    """The way to one server, on one event loop."""

    server: McpServer
    environment: Mapping[str, str]
    """Where secrets of the configuration are taken from."""
    _client: Client | None = None
    _task: asyncio.Task[None] | None = None
    _stop: asyncio.Event = field(default_factory=asyncio.Event)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def client(self) -> Client:
        """Return the client, connected; raises `Unreachable`."""
        async with self._lock:
            if self._client is None or self._task is None or self._task.done():
                await self._leave()
                self._client = await self._enter()
            return self._client

    async def listed(self) -> tuple[Described, ...]:
        """Return the tools as the server describes them now, connecting again if it died; raises `Unreachable`."""
        try:
            return await self._list()
        except Unreachable:
            await self.drop()
            return await self._list()

    async def drop(self) -> None:
        """Leave the connection, if there is one: the next need makes a new one."""
        async with self._lock:
            await self._leave()

    async def _list(self) -> tuple[Described, ...]:
        client = await self.client()
        found, cursor = list[Described](), None
        try:
            async with asyncio.timeout(self.server.timeout_s):
                for _ in range(MOST_PAGES):
                    page = await client.list_tools(cursor=cursor, cache_mode="bypass")
                    found += [_described(tool) for tool in page.tools]
                    cursor = page.next_cursor
                    if cursor is None:
                        return tuple(found)
        except Exception as error:
            # The SDK lets many kinds of errors out, and whatever it is, nothing is known of the tools.
            raise Unreachable(f"its tools can't be listed: {said_by(error)}") from error
        raise Unreachable(f"its list of tools does not end after {MOST_PAGES} pages")

    async def _enter(self) -> Client:
        stop = self._stop = asyncio.Event()
        ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._hold(ready, stop), name=f"mcp {self.server.name}")
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                return await asyncio.shield(ready)
        except TimeoutError:
            await self._leave()
            raise Unreachable(f"it did not answer within {CONNECT_TIMEOUT_S:g} s") from None
        except asyncio.CancelledError:
            await self._leave()
            raise

    async def _hold(self, ready: asyncio.Future[Client], stop: asyncio.Event) -> None:
        """Enter the connection, lend it until `stop`, and leave it, all in this task."""
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
            try:
                async with self._connected(errors) as client:
                    if not ready.done():
                        ready.set_result(client)
                    await stop.wait()
            except Exception as error:  # noqa: BLE001 - foreign code: whatever it is, the server can't be reached
                if not ready.done():
                    said = "; ".join(part for part in (said_by(error), _tail(errors)) if part)
                    ready.set_exception(Unreachable(said))
                    ready.exception()  # seen: nobody may wait for it any more

    async def _leave(self) -> None:
        task, self._client, self._task = self._task, None, None
        if task is None:
            return
        self._stop.set()
        if not task.done():
            _, late = await asyncio.wait([task], timeout=CONNECT_TIMEOUT_S)
            for each in late:
                each.cancel()

    @asynccontextmanager
    async def _connected(self, errors: TextIO) -> AsyncIterator[Client]:
        try:
            import httpx2  # noqa: PLC0415 - extras, and only for who has servers
            from mcp import Client, StdioServerParameters, stdio_client  # noqa: PLC0415
            from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415
        except ImportError as error:
            raise Unreachable("MCP is not installed; install `maskgrad[mcp]`") from error
        if self.server.command is not None:
            parameters = StdioServerParameters(
                command=self.server.command,
                args=list(self.server.args),
                env={**self.server.env, **self._taken(self.server.env_from)},
            )
            async with Client(stdio_client(parameters, errlog=errors), cache=None) as client:
                yield client
            return
        headers = self._taken(self.server.headers_from)
        timeout = httpx2.Timeout(self.server.timeout_s, read=self.server.timeout_s * 2)
        async with (
            httpx2.AsyncClient(headers=headers, timeout=timeout) as http,
            Client(streamable_http_client(self.server.url or "", http_client=http), cache=None) as client,
        ):
            yield client

    def _taken(self, names: Mapping[str, str]) -> dict[str, str]:
        missing = sorted({variable for variable in names.values() if variable not in self.environment})
        if missing:
            raise Unreachable(
                f"the environment variable {', '.join(missing)} is not set; set it and start again"
            )
        return {name: self.environment[variable] for name, variable in names.items()}


def said_by(error: BaseException) -> str:
    """Return what the first real error in `error` says, on one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:_SAID_CHARS]


def _tail(errors: TextIO) -> str:
    """Return the last line that a server wrote on its error stream."""
    errors.flush()
    errors.seek(0, os.SEEK_END)
    errors.seek(max(0, errors.tell() - 4 * _SAID_CHARS))
    lines = [line.strip() for line in errors.read().splitlines() if line.strip()]
    return f"it said: {lines[-1][:_SAID_CHARS]}" if lines else ""


def _described(tool: Any) -> Described:
    return Described(
        name=tool.name,
        description=tool.description or "",
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
    )
