"""What dispatchers are tested with: attempts and delays that end when the test says so, and the implementations."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from agents.spec import AgentId, Provider
from graphs.plan import NodeId
from orchestrator.core.ids import RunId
from orchestrator.shell.ports import Attempt, AttemptKey, Clock, Dispatcher, Ticket
from orchestrator.shell.scheduler import SharedDispatcher
from tests.shell.dispatching.plain import PlainDispatcher


class Shared(Protocol):
    """A dispatcher of several runs."""

    def for_run(self, run: RunId) -> Dispatcher: ...


class Make(Protocol):
    """Makes a dispatcher of several runs."""

    def __call__(
        self, clock: Clock, *, max_in_flight: int, provider_caps: Mapping[Provider, int]
    ) -> Shared: ...


def alone(clock: Clock, *, max_in_flight: int, provider_caps: Mapping[Provider, int]) -> Shared:
    return SharedDispatcher(clock, max_in_flight=max_in_flight, provider_caps=provider_caps)


BYSTANDERS: Final = 20


def among_others(clock: Clock, *, max_in_flight: int, provider_caps: Mapping[Provider, int]) -> Shared:
    """Return a dispatcher that holds other runs already: paused ones with work in line, some over, some delayed."""
    shared = SharedDispatcher(clock, max_in_flight=max_in_flight, provider_caps=provider_caps)
    work = Work()
    for number in range(BYSTANDERS):
        part = shared.for_run(RunId(f"r-bystander-{number}"))
        part.hold()
        for provider in (None, *provider_caps):
            made = ticket(f"parked {provider}", priority=1e6, provider=provider)
            part.submit(made, work.of("parked"))
        if number % 3 == 0:
            part.submit(ticket("late", delay_s=3600.0), work.of("late"))
        if number % 3 == 1:
            part.cancel_all()
            part.go_on()
    return shared


IMPLEMENTATIONS: Final[Mapping[str, Make]] = {
    "alone": alone,
    "among_others": among_others,
    "plain": PlainDispatcher,
}
"""`plain` is the reference: the suite itself has to hold for what is obviously right."""


class Instant:
    """A clock whose delays pass when the test says so."""

    def __init__(self) -> None:
        self.waiting: list[tuple[float, asyncio.Future[None]]] = []

    def now(self) -> str:
        return "2026-01-01T00:00:00.000Z"

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append((seconds, done))
        await done

    def let_pass(self, upto: float) -> None:
        """Let the delays of at most `upto` seconds pass."""
        for seconds, done in self.waiting:
            if seconds <= upto and not done.done():
                done.set_result(None)


def ticket(
    node: str,
    *,
    agent: str = "A1",
    cap: int = 99,
    provider: str | None = None,
    priority: float = 0.0,
    delay_s: float = 0.0,
    generation: int = 1,
) -> Ticket:
    return Ticket(
        key=AttemptKey(node=NodeId(node), generation=generation, attempt=1),
        agent=AgentId(agent),
        agent_cap=cap,
        provider=None if provider is None else Provider(provider),
        priority=priority,
        delay_s=delay_s,
    )


@dataclass
class Work:
    """Attempts that end when the test lets them."""

    started: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    gates: dict[str, asyncio.Event] = field(default_factory=dict)

    @property
    def running(self) -> list[str]:
        """What has started and not ended, in order."""
        return [name for name in self.started if name not in self.ended]

    def of(self, name: str, *, stubborn: bool = False) -> Attempt:
        """Return the attempt `name`; a stubborn one goes on when it is cancelled, until it may end."""
        gate = self.gates[name] = asyncio.Event()

        async def run() -> None:
            self.started.append(name)
            try:
                while not gate.is_set():
                    try:
                        await gate.wait()
                    except asyncio.CancelledError:
                        self.cancelled.append(name)
                        if not stubborn:
                            raise
            finally:
                self.ended.append(name)

        return run

    async def end(self, *names: str) -> None:
        """Let attempts end one after the other, each with what follows from it."""
        for name in names:
            self.gates[name].set()
            await turns()


async def turns() -> None:
    """Let everything happen that needs no time."""
    for _ in range(5):
        await asyncio.sleep(0)
