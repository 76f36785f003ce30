"""The dispatcher of one process: attempts start by longest remaining path, within caps, with no barrier.

Queued attempts stand in one heap; an attempt whose agent is at its cap waits beside it until a slot of that agent
becomes free. Starting or ending an attempt costs the heap's logarithm, never a look at all nodes.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from agents.spec import AgentId
from graphs.plan import NodeId
from orchestrator.shell.ports import AttemptKey, Clock, Ticket

DEFAULT_MAX_IN_FLIGHT: Final = 32
"""Attempts in flight at a time (architecture 1); growth of cost per node comes from what is in flight."""

Run = Callable[[], Awaitable[None]]


@dataclass(order=True, slots=True)
class _Queued:
    rank: tuple[float, int]
    """Greatest priority first, then first come."""
    ticket: Ticket = field(compare=False)
    run: Run = field(compare=False)


class LocalDispatcher:
    """Runs attempts as tasks of the running event loop."""

    def __init__(self, clock: Clock, *, max_in_flight: int = DEFAULT_MAX_IN_FLIGHT) -> None:
        """Return a dispatcher with `max_in_flight` slots; raises `ValueError` below 1."""
        if max_in_flight < 1:
            raise ValueError(f"max_in_flight is {max_in_flight!r}; accepted: 1 or more")
        self._clock = clock
        self._slots = max_in_flight
        self._order = count()
        self._heap: list[_Queued] = []
        self._at_cap: dict[AgentId, list[_Queued]] = defaultdict(list)
        self._known: dict[NodeId, set[AttemptKey]] = defaultdict(set)
        self._running: dict[AttemptKey, asyncio.Task[None]] = {}
        self._delayed: dict[AttemptKey, asyncio.Task[None]] = {}
        self._per_agent: dict[AgentId, int] = defaultdict(int)
        self._held = False
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def in_flight(self) -> int:
        """Attempts that run now."""
        return len(self._running)

    def submit(self, ticket: Ticket, run: Run) -> None:
        """Queue `run` for `ticket`; a key that is queued or running already is not queued again."""
        if ticket.key in self._known[ticket.key.node] or ticket.key in self._running:
            return
        self._known[ticket.key.node].add(ticket.key)
        queued = _Queued(rank=(-ticket.priority, next(self._order)), ticket=ticket, run=run)
        if ticket.delay_s > 0:
            self._delayed[ticket.key] = asyncio.ensure_future(self._queue_later(queued))
        else:
            heapq.heappush(self._heap, queued)
            self._start_what_fits()

    def cancel(self, node: NodeId, before: int) -> None:
        """Drop or stop the attempts of `node` of generations below `before`."""
        for key in [key for key in self._known[node] if key.generation < before]:
            self._stop(key)

    def cancel_all(self) -> None:
        """Drop every queued attempt and stop every running one."""
        for keys in list(self._known.values()):
            for key in list(keys):
                self._stop(key)

    def hold(self) -> None:
        """Start nothing until `go_on`; what runs goes on."""
        self._held = True

    def go_on(self) -> None:
        """Start queued attempts again."""
        self._held = False
        self._start_what_fits()

    async def drain(self) -> None:
        """Return when nothing runs any more; queued attempts stay queued while the dispatcher is held."""
        await self._idle.wait()

    async def _queue_later(self, queued: _Queued) -> None:
        await self._clock.sleep(queued.ticket.delay_s)
        del self._delayed[queued.ticket.key]
        heapq.heappush(self._heap, queued)
        self._start_what_fits()

    def _stop(self, key: AttemptKey) -> None:
        # A queued entry stays in its heap and is passed over when its turn comes: it is no longer known.
        self._known[key.node].discard(key)
        delayed = self._delayed.pop(key, None)
        if delayed is not None:
            delayed.cancel()
        running = self._running.get(key)
        if running is not None:
            running.cancel()

    def _start_what_fits(self) -> None:
        while self._heap and not self._held and len(self._running) < self._slots:
            queued = heapq.heappop(self._heap)
            ticket = queued.ticket
            if not self._is_wanted(queued):
                # It may have come here in the place of others that wait for a slot of its agent.
                self._unpark(ticket.agent)
                continue
            if self._per_agent[ticket.agent] >= ticket.agent_cap:
                heapq.heappush(self._at_cap[ticket.agent], queued)
                continue
            self._start(queued)

    def _start(self, queued: _Queued) -> None:
        ticket = queued.ticket
        self._per_agent[ticket.agent] += 1
        self._idle.clear()
        task = asyncio.ensure_future(queued.run())
        self._running[ticket.key] = task
        task.add_done_callback(lambda done: self._ended(ticket, done))

    def _ended(self, ticket: Ticket, task: asyncio.Task[None]) -> None:
        del self._running[ticket.key]
        self._known[ticket.key.node].discard(ticket.key)
        self._per_agent[ticket.agent] -= 1
        if not task.cancelled() and (error := task.exception()) is not None:
            # `run` turns failures into events; what escapes it is a bug of ours and must not pass in silence.
            task.get_loop().call_exception_handler(
                {"message": "an attempt broke its runner", "exception": error}
            )
        self._unpark(ticket.agent)
        self._start_what_fits()
        if not self._running:
            self._idle.set()

    def _unpark(self, agent: AgentId) -> None:
        """Put the first attempt that waits for a slot of `agent` back in line; cancelled ones are passed over."""
        waiting = self._at_cap.get(agent)
        while waiting:
            queued = heapq.heappop(waiting)
            if self._is_wanted(queued):
                heapq.heappush(self._heap, queued)
                return

    def _is_wanted(self, queued: _Queued) -> bool:
        key = queued.ticket.key
        return key in self._known[key.node] and key not in self._running
