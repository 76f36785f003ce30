"""The dispatcher of one process: attempts of all its runs start as tasks, within caps, with no barrier.

Each run has a part of it (`SharedDispatcher.for_run`), which is the dispatcher that its executor knows. Who is next is
told by `orchestrator.shell.turns`; here are the tasks, the delays and the ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from agents.spec import Provider
from graphs.plan import NodeId
from orchestrator.core.ids import RunId
from orchestrator.shell.ports import Attempt, AttemptKey, Clock, Ticket
from orchestrator.shell.turns import Entry, RunQueue, Turns

DEFAULT_MAX_IN_FLIGHT: Final = 32
"""Attempts in flight at a time (architecture 1); growth of cost per node comes from what is in flight."""

NO_CAPS: Final[Mapping[Provider, int]] = MappingProxyType({})
"""No provider has a cap of its own."""


class SharedDispatcher:
    """Runs the attempts of every run of an event loop, as tasks of this loop."""

    def __init__(
        self,
        clock: Clock,
        *,
        max_in_flight: int = DEFAULT_MAX_IN_FLIGHT,
        provider_caps: Mapping[Provider, int] = NO_CAPS,
    ) -> None:
        """Return a dispatcher with `max_in_flight` slots for all runs, and at most the cap of a provider on it.

        A provider without an entry has no cap of its own. Raises `ValueError` for a number below 1.
        """
        self.clock = clock
        self._turns = Turns(max_in_flight, provider_caps)

    def for_run(self, run: RunId) -> RunDispatcher:
        """Return the part of a run: what it does touches no attempt of another run.

        It needs no end: a run with nothing in line and nothing running takes no part.
        """
        return RunDispatcher(self, self._turns.new_run(), run)

    def start_what_fits(self) -> None:
        """Start attempts while there are slots and something that can start."""
        while (entry := self._turns.take()) is not None:
            entry.start(entry)

    def give_back(self, entry: Entry) -> None:
        """Free the slot of an attempt that ended, for whoever is next."""
        self._turns.give_back(entry)
        self.start_what_fits()


class RunDispatcher:
    """The dispatcher of one run: its part of a shared one."""

    def __init__(self, shared: SharedDispatcher, queue: RunQueue, run: RunId) -> None:
        self._shared = shared
        self._queue = queue
        self._run = run
        self._entries: dict[AttemptKey, Entry] = {}
        """Delayed, in line, or running."""
        self._of_node: dict[NodeId, list[AttemptKey]] = {}
        """Keys of `_entries`, in the order in which they came."""
        self._delayed: dict[AttemptKey, asyncio.Task[None]] = {}
        self._running: dict[AttemptKey, asyncio.Task[None]] = {}
        self._idle = asyncio.Event()
        self._idle.set()

    def submit(self, ticket: Ticket, run: Attempt) -> None:
        """Queue `run` for `ticket`; a key that is queued or running already is not queued again.

        Raises `ValueError` for an agent's cap below 1.
        """
        key = ticket.key
        if key in self._entries:
            return
        entry = self._queue.entry(ticket, lambda entry: self._start(entry, run))
        self._entries[key] = entry
        self._of_node.setdefault(key.node, []).append(key)
        if ticket.delay_s > 0:
            self._delayed[key] = asyncio.ensure_future(self._add_later(entry))
        else:
            self._add(entry)

    def cancel(self, node: NodeId, before: int) -> None:
        """Drop or stop the attempts of `node` of generations below `before`."""
        for key in [key for key in self._of_node.get(node, ()) if key.generation < before]:
            self._stop(key)

    def cancel_all(self) -> None:
        """Drop every queued attempt and stop every running one."""
        for key in list(self._entries):
            self._stop(key)
        self._queue.clear()

    def hold(self) -> None:
        """Start nothing until `go_on`; what runs goes on."""
        self._queue.hold()

    def go_on(self) -> None:
        """Start queued attempts again."""
        self._queue.go_on()
        self._shared.start_what_fits()

    async def drain(self) -> None:
        """Return when nothing of the run runs any more; queued attempts stay queued."""
        await self._idle.wait()

    def _add(self, entry: Entry) -> None:
        self._queue.add(entry)
        self._shared.start_what_fits()

    async def _add_later(self, entry: Entry) -> None:
        await self._shared.clock.sleep(entry.ticket.delay_s)
        del self._delayed[entry.ticket.key]
        self._add(entry)

    def _stop(self, key: AttemptKey) -> None:
        entry = self._entries[key]
        if not entry.wanted:
            return  # it was stopped and has not ended yet
        entry.wanted = False
        running = self._running.get(key)
        if running is not None:
            running.cancel()
            return
        self._forget(key)
        delayed = self._delayed.pop(key, None)
        if delayed is not None:
            delayed.cancel()

    def _start(self, entry: Entry, run: Attempt) -> None:
        self._idle.clear()
        task = asyncio.ensure_future(run())
        self._running[entry.ticket.key] = task
        task.add_done_callback(lambda done: self._ended(entry, done))

    def _ended(self, entry: Entry, task: asyncio.Task[None]) -> None:
        key = entry.ticket.key
        del self._running[key]
        self._forget(key)
        if not task.cancelled() and (error := task.exception()) is not None:
            # `run` turns failures into events; what escapes it is a bug of ours and must not pass in silence.
            task.get_loop().call_exception_handler(
                {"message": f"an attempt of run {self._run!r} broke its runner: {key}", "exception": error}
            )
        self._shared.give_back(entry)
        if not self._running:
            self._idle.set()

    def _forget(self, key: AttemptKey) -> None:
        del self._entries[key]
        of_node = self._of_node[key.node]
        of_node.remove(key)
        if not of_node:
            del self._of_node[key.node]
