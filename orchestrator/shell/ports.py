"""The ports of the shell: the clock, ids, and the dispatcher of attempts. Everything that is not deterministic."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from agents.spec import AgentId, Provider
from graphs.plan import NodeId


class Clock(Protocol):
    """Time, for stamps and delays."""

    def now(self) -> str:
        """Return the time of day, ISO 8601 in UTC with milliseconds."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go back, for durations."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds`."""
        ...


class Ids(Protocol):
    """Names for new runs, and seeds."""

    def run(self) -> str:
        """Return a fresh run id: `r-` and letters and digits, no `/`, no `.`."""
        ...

    def seed(self) -> str:
        """Return a fresh seed for everything that a run draws."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class AttemptKey:
    """Names one attempt within a run."""

    node: NodeId
    generation: int
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """An attempt that waits for a slot."""

    key: AttemptKey
    agent: AgentId
    """The approved agent whose cap counts."""
    agent_cap: int
    """Attempts of this agent at a time, within the run; at least 1."""
    priority: float
    """Longest remaining path, in units of the plan's estimates: the greatest of the run starts first."""
    provider: Provider | None = None
    """Who serves the agent's model, where that is outside: its cap counts over all runs of the process."""
    delay_s: float = 0.0
    """Before it may start; until then it takes no slot."""


Attempt = Callable[[], Awaitable[None]]
"""Runs one attempt to its end."""


class Dispatcher(Protocol):
    """Runs the attempts of one run when slots are free. Whatever it does leaves other runs alone."""

    def submit(self, ticket: Ticket, run: Attempt) -> None:
        """Queue `run` for `ticket`; a key that is queued or running already is not queued again.

        Raises `ValueError` for an agent's cap below 1.
        """
        ...

    def cancel(self, node: NodeId, before: int) -> None:
        """Drop or stop the attempts of `node` of generations below `before`."""
        ...

    def cancel_all(self) -> None:
        """Drop every queued attempt and stop every running one."""
        ...

    def hold(self) -> None:
        """Start nothing until `go_on`; what runs goes on."""
        ...

    def go_on(self) -> None:
        """Start queued attempts again."""
        ...

    async def drain(self) -> None:
        """Return when nothing runs any more."""
        ...
