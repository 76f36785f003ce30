"""The dispatcher as its words say, without a thought for cost: everything is looked at whenever anything changes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count

from agents.spec import Provider
from graphs.plan import NodeId
from orchestrator.core.ids import RunId
from orchestrator.shell.ports import Attempt, AttemptKey, Clock, Ticket


@dataclass(eq=False)
class _Item:
    order: int
    ticket: Ticket
    run: Attempt
    task: asyncio.Task[None] | None = None
    stopped: bool = False


class PlainDispatcher:
    """All runs."""

    def __init__(self, clock: Clock, *, max_in_flight: int, provider_caps: Mapping[Provider, int]) -> None:
        self.clock = clock
        self.slots = max_in_flight
        self.caps = provider_caps
        self.parts: list[PlainPart] = []
        self.numbers = count()

    def for_run(self, run: RunId) -> PlainPart:
        del run
        part = PlainPart(self, served=next(self.numbers))
        self.parts.append(part)
        return part

    def running(self) -> list[Ticket]:
        return [item.ticket for part in self.parts for item in part.running]

    def fill(self) -> None:
        while len(self.running()) < self.slots:
            able = [
                (part.served, -item.ticket.priority, item.order, part, item)
                for part in self.parts
                if not part.held
                for item in part.waiting
                if part.allows(item.ticket)
            ]
            if not able:
                return
            *_, part, item = min(able, key=lambda each: each[:3])
            part.served = next(self.numbers)
            part.start(item)


@dataclass(eq=False)
class PlainPart:
    """One run."""

    shared: PlainDispatcher
    served: int
    """Who was served longest ago is next."""
    held: bool = False
    delayed: list[_Item] = field(default_factory=list)
    waiting: list[_Item] = field(default_factory=list)
    running: list[_Item] = field(default_factory=list)

    def allows(self, ticket: Ticket) -> bool:
        of_agent = [item for item in self.running if item.ticket.agent == ticket.agent]
        if len(of_agent) >= ticket.agent_cap:
            return False
        if ticket.provider is None or ticket.provider not in self.shared.caps:
            return True
        on_provider = [one for one in self.shared.running() if one.provider == ticket.provider]
        return len(on_provider) < self.shared.caps[ticket.provider]

    def submit(self, ticket: Ticket, run: Attempt) -> None:
        if any(item.ticket.key == ticket.key for item in (*self.delayed, *self.waiting, *self.running)):
            return
        item = _Item(next(self.shared.numbers), ticket, run)
        if ticket.delay_s > 0:
            self.delayed.append(item)
            item.task = asyncio.ensure_future(self._later(item))
        else:
            self.waiting.append(item)
            self.shared.fill()

    async def _later(self, item: _Item) -> None:
        await self.shared.clock.sleep(item.ticket.delay_s)
        self.delayed.remove(item)
        self.waiting.append(item)
        self.shared.fill()

    def cancel(self, node: NodeId, before: int) -> None:
        self._stop(
            [
                item.ticket.key
                for item in (*self.delayed, *self.waiting, *self.running)
                if item.ticket.key.node == node and item.ticket.key.generation < before
            ]
        )

    def cancel_all(self) -> None:
        self._stop([item.ticket.key for item in (*self.delayed, *self.waiting, *self.running)])

    def _stop(self, keys: list[AttemptKey]) -> None:
        for item in sorted((*self.delayed, *self.waiting, *self.running), key=lambda item: item.order):
            if item.ticket.key not in keys or item.stopped:
                continue
            item.stopped = True
            if item.task is not None:
                item.task.cancel()
        self.delayed = [item for item in self.delayed if item.ticket.key not in keys]
        self.waiting = [item for item in self.waiting if item.ticket.key not in keys]

    def hold(self) -> None:
        self.held = True

    def go_on(self) -> None:
        self.held = False
        self.shared.fill()

    async def drain(self) -> None:
        while self.running:
            await asyncio.sleep(0)

    def start(self, item: _Item) -> None:
        self.waiting.remove(item)
        self.running.append(item)
        item.task = asyncio.ensure_future(item.run())
        item.task.add_done_callback(lambda task: self._ended(item, task))

    def _ended(self, item: _Item, task: asyncio.Task[None]) -> None:
        self.running.remove(item)
        if not task.cancelled() and (error := task.exception()) is not None:
            task.get_loop().call_exception_handler({"message": "broke", "exception": error})
        self.shared.fill()
