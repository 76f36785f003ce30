"""What all executions on one event loop share: one writer, so that a commit serves all runs, and one dispatcher.

The threads of the checks are shared too; they belong to the workshop, which outlives executions.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from agents.tools.mcp import McpServers
from orchestrator.shell.scheduler import SharedDispatcher
from orchestrator.shell.store.errors import StoreError
from orchestrator.shell.store.ports import StoreWrites
from orchestrator.shell.store.writer import Writer


@dataclass(frozen=True, slots=True)
class Engine:
    """Under every execution of an event loop."""

    writer: Writer
    dispatcher: SharedDispatcher
    servers: McpServers = field(default_factory=lambda: McpServers({}))
    """Connections belong to the event loop that they were made on."""


@dataclass(slots=True, eq=False)
class _InUse:
    engine: Engine
    executions: int = 0


class Engines:
    """Keeps an engine for each event loop, from its first execution to the end of its last one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._in_use: dict[asyncio.AbstractEventLoop, _InUse] = {}

    @asynccontextmanager
    async def shared(self, make: Callable[[], Engine]) -> AsyncIterator[Engine]:
        """Lend the engine of the running loop; the first one to ask has it made.

        Whoever leaves waits until the writer has committed everything that came before; the last one closes it. Raises
        what `make` raises.
        """
        loop = asyncio.get_running_loop()
        with self._lock:
            found = self._in_use.get(loop) or _InUse(make())
            self._in_use[loop] = found
            found.executions += 1
        try:
            yield found.engine
        finally:
            with self._lock:
                found.executions -= 1
                last = not found.executions
                if last:
                    del self._in_use[loop]
            writer = found.engine.writer
            if last:
                await found.engine.servers.aclose()
            await (writer.aclose() if last else _committed(writer))


async def _committed(writer: Writer) -> None:
    """Return when all that was queued until now is committed or refused: the writer keeps the order."""
    with suppress(StoreError):  # who queued something learned it already
        await writer.write(_nothing)


def _nothing(writes: StoreWrites) -> None:
    del writes
