"""One MCP server as it is reached: connected at the first need, again after it died, and closed at the end.

The SDK's connections live in a task group that has to be left in the task that entered it. So each connection has a
task of its own; whoever needs it only borrows the client.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TextIO

from agents.models.failures import hidden
from agents.tools.configuration import McpServer
from agents.tools.hiding import secrets_of, without_secrets
from agents.tools.mcp_answers import without
from agents.tools.pins import Described

if TYPE_CHECKING:  # the SDK takes a second to import, and is an extra
    from mcp import Client

CONNECT_TIMEOUT_S: Final = 20.0
"""To start a server or reach it; some are fetched by their package's runner at the first time."""
LEAVE_TIMEOUT_S: Final = 5.0
"""For a server to end when it is left; the SDK kills it sooner."""
MOST_PAGES: Final = 100
"""Pages of a list of tools: a server whose list never ends is broken."""
_SAID_CHARS: Final = 300
_TAIL_BYTES: Final = 65_536


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
    _ending: set[asyncio.Task[None]] = field(default_factory=set)
    """Connections that were given up and are not left yet: nobody waits for them but `close`."""

    async def client(self) -> Client:
        """Return the client, connected; raises `Unreachable`."""
        async with self._lock:
            if self._client is None or self._task is None or self._task.done():
                await self._leave()
                self._client = await self._enter()
            return self._client

    async def listed(self) -> tuple[Described, ...]:
        """Return the tools as the server describes them now, connecting again if it died; raises `Unreachable`."""
        was_there = self._client is not None
        try:
            return await self._list()
        except Unreachable:
            await self.drop()
            if not was_there:
                raise  # the connection was new: another one would fare no better
            return await self._list()

    async def close(self) -> None:
        """Leave the connection, and wait until all that were given up are left too; none begins after that."""
        await self.drop()
        if self._ending:
            await asyncio.wait(self._ending, timeout=LEAVE_TIMEOUT_S)

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
                    found += [_described(tool, self.secrets) for tool in page.tools]
                    cursor = page.next_cursor
                    if cursor is None:
                        return tuple(found)
        except Exception as error:
            # The SDK lets many kinds of errors out, and whatever it is, nothing is known of the tools.
            said = said_by(error, self.secrets)
            raise Unreachable(f"its tools can't be listed: {said}") from error
        raise Unreachable(f"its list of tools does not end after {MOST_PAGES} pages")

    async def _enter(self) -> Client:
        stop = self._stop = asyncio.Event()
        ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._hold(ready, stop), name=f"mcp {self.server.name}")
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                return await asyncio.shield(ready)
        except TimeoutError:
            self._give_up()
            raise Unreachable(f"it did not answer within {CONNECT_TIMEOUT_S:g} s") from None
        except asyncio.CancelledError:
            self._give_up()
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
                    secrets = self.secrets
                    said = "; ".join(
                        part for part in (said_by(error, secrets), _tail(errors, secrets)) if part
                    )
                    ready.set_exception(Unreachable(said))
                    ready.exception()  # seen: nobody may wait for it any more

    async def _leave(self) -> None:
        task, self._client, self._task = self._task, None, None
        if task is None or task.done():
            return
        self._stop.set()
        _, late = await asyncio.wait([task], timeout=LEAVE_TIMEOUT_S)
        for each in late:
            self._end(each)

    def _give_up(self) -> None:
        """Let the connection go that is being made: it never looks at `_stop`, and nobody shall wait for it."""
        task, self._client, self._task = self._task, None, None
        if task is not None and not task.done():
            self._end(task)

    def _end(self, task: asyncio.Task[None]) -> None:
        task.cancel()
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What is hidden in all that is said of the server: see `secrets_of`."""
        names = {*self.server.env_from.values(), *self.server.headers_from.values()}
        return secrets_of(
            url=self.server.url,
            args=self.server.args,
            env=self.server.env,
            taken=[self.environment[name] for name in sorted(names) if name in self.environment],
        )

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


def said_by(error: BaseException, secrets: Sequence[str] = ()) -> str:
    """Return what the first real error in `error` says, on one line, without `secrets`."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    # Hidden before anything is cut: half a secret would not be found any more.
    text = " ".join(without_secrets(hidden(str(error), secrets)).split()) or type(error).__name__
    return text[:_SAID_CHARS]


def _tail(errors: TextIO, secrets: Sequence[str]) -> str:
    """Return the last line that a server wrote on its error stream, without `secrets`."""
    errors.flush()
    errors.seek(0, os.SEEK_END)
    start = max(0, errors.tell() - _TAIL_BYTES)
    errors.seek(start)
    text = errors.read()
    if start:
        text = text.partition("\n")[2]  # what the cut goes through may begin with half a secret
    lines = [line.strip() for line in hidden(text, secrets).splitlines() if line.strip()]
    return f"it said: {without_secrets(lines[-1])[:_SAID_CHARS]}" if lines else ""


def _described(tool: Any, secrets: Sequence[str]) -> Described:
    return Described(
        # A name is what the tool is called by: with stars in it there would be no such tool.
        name=tool.name,
        description=hidden(tool.description or "", secrets),
        input_schema=without(tool.input_schema, secrets),
        output_schema=without(tool.output_schema, secrets),
    )
