"""Whose attempt starts next: slots go to the runs in turn, and within a run to the longest remaining path.

Attempts of a run with the same agent, cap and provider stand in one lane: either its first can start, or none of them
can. Each run offers the first attempts of its lanes, by provider; each provider lists the runs that offer something, by
their turn. Adding an attempt, taking the next one and giving its slot back look at no other run, node or agent: they
cost a logarithm each, and a look at the providers in use, which are few. An offer that no longer holds (a better one
came, the attempt was dropped, the agent is at its cap, the run is held) stays where it is until it comes to the front.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush, heapreplace
from itertools import count

from agents.spec import AgentId, Provider
from orchestrator.shell.ports import Ticket

Rank = tuple[float, int]
"""Greatest priority first, then first come: no two attempts have the same."""


@dataclass(slots=True, eq=False)
class Entry:
    """An attempt in line."""

    ticket: Ticket
    start: Callable[[Entry], None]
    """Called by whoever took it."""
    rank: Rank
    lane: _Lane
    wanted: bool = True
    """Set to False to drop it from the line."""


@dataclass(slots=True, eq=False)
class _Agent:
    """An agent of one run."""

    running: int = 0
    lanes: list[_Lane] = field(default_factory=list)
    """Rarely more than one: all tickets of an agent have the same cap and provider."""


@dataclass(slots=True, eq=False)
class _Lane:
    """Attempts of one run with the same agent, cap and provider."""

    agent: _Agent
    cap: int
    offers: _Offers
    line: list[tuple[Rank, Entry]] = field(default_factory=list)
    offered: Rank | None = None
    """Of its attempt that can start, as far as the run is concerned."""

    def first(self) -> Entry | None:
        """Return the first attempt that was not dropped."""
        while self.line and not self.line[0][1].wanted:
            heappop(self.line)
        return self.line[0][1] if self.line else None

    def offer(self) -> None:
        """Offer its first attempt, or none while the agent is at its cap."""
        first = self.first() if self.agent.running < self.cap else None
        if first is None:
            self.offered = None
        elif self.offered != first.rank:
            self.offered = first.rank
            heappush(self.offers.heap, (first.rank, self))


@dataclass(slots=True, eq=False)
class _Offers:
    """What one run could start on one provider."""

    queue: RunQueue
    pool: _Pool
    heap: list[tuple[Rank, _Lane]] = field(default_factory=list)
    listed: bool = False
    """Whether the provider lists it."""

    def first(self) -> _Lane | None:
        """Return the lane whose first attempt has the best rank."""
        while self.heap:
            rank, lane = self.heap[0]
            first = lane.first()
            if lane.offered == rank and first is not None and first.rank == rank:
                return lane
            heappop(self.heap)
            if lane.offered == rank:  # what it offered was dropped
                lane.offered = None
                lane.offer()
        return None

    def enlist(self) -> None:
        """Have the provider list it, where there may be something to start."""
        if self.heap and not self.listed and not self.queue.held:
            self.listed = True
            heappush(self.pool.listed, (self.queue.turn, self))


@dataclass(slots=True, eq=False)
class _Pool:
    """A provider, or everything that needs none."""

    cap: int | None
    running: int = 0
    listed: list[tuple[int, _Offers]] = field(default_factory=list)
    """By the turn that the run had then: turns only grow, so none is found too late."""

    @property
    def is_open(self) -> bool:
        return self.cap is None or self.running < self.cap

    def next(self) -> _Offers | None:
        """Return what the run whose turn it is could start here."""
        while self.listed:
            turn, offers = self.listed[0]
            if offers.queue.held or offers.first() is None:
                heappop(self.listed)
                offers.listed = False
            elif turn != offers.queue.turn:
                heapreplace(self.listed, (offers.queue.turn, offers))
            else:
                return offers
        return None


class Turns:
    """The slots of one process and everything that waits for one."""

    def __init__(self, slots: int, provider_caps: Mapping[Provider, int]) -> None:
        """Return `slots` free ones; no more than `provider_caps` says run on a provider, whatever the run.

        Raises `ValueError` for a number below 1.
        """
        for name, cap in (("max_in_flight", slots), *provider_caps.items()):
            if cap < 1:
                raise ValueError(f"{name} is {cap!r}; accepted: 1 or more")
        self._slots = slots
        self._caps = dict(provider_caps)
        self._pools: dict[Provider | None, _Pool] = {}
        self._turn = count()
        self.running = 0
        """Attempts that were taken and not given back."""

    def new_run(self) -> RunQueue:
        """Return the line of one more run; its turn comes after that of the others."""
        return RunQueue(self)

    def take(self) -> Entry | None:
        """Return the attempt that starts next, which has a slot from now on; `None`: nothing can start."""
        if self.running >= self._slots:
            return None
        queue: RunQueue | None = None
        for pool in self._pools.values():
            offers = pool.next() if pool.is_open else None
            if offers is not None and (queue is None or offers.queue.turn < queue.turn):
                queue = offers.queue
        if queue is None:
            return None
        self.running += 1
        return queue.take()

    def give_back(self, entry: Entry) -> None:
        """Free the slot of an attempt that was taken."""
        self.running -= 1
        lane = entry.lane
        lane.offers.pool.running -= 1
        lane.agent.running -= 1
        for other in lane.agent.lanes:
            other.offer()
            other.offers.enlist()

    def next_turn(self) -> int:
        """Return a turn after all that were given out."""
        return next(self._turn)

    def pool(self, provider: Provider | None) -> _Pool:
        """Return the pool of a provider."""
        known = self._pools.get(provider)
        if known is None:
            cap = None if provider is None else self._caps.get(provider)
            known = self._pools[provider] = _Pool(cap)
        return known


class RunQueue:
    """The line of one run."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._come = count()
        self._agents: defaultdict[AgentId, _Agent] = defaultdict(_Agent)
        self._offers: dict[Provider | None, _Offers] = {}
        self._lanes: dict[tuple[AgentId, int, Provider | None], _Lane] = {}
        self.turn = turns.next_turn()
        """The run with the lowest one is next."""
        self.held = False

    def entry(self, ticket: Ticket, start: Callable[[Entry], None]) -> Entry:
        """Return an attempt that came now, not in line yet; raises `ValueError` for an agent's cap below 1."""
        if ticket.agent_cap < 1:
            raise ValueError(
                f"the cap of agent {ticket.agent!r} is {ticket.agent_cap!r}; accepted: 1 or more"
            )
        rank = (-ticket.priority, next(self._come))
        return Entry(ticket, start, rank, self._lane_of(ticket))

    def add(self, entry: Entry) -> None:
        """Put an attempt in line."""
        heappush(entry.lane.line, (entry.rank, entry))
        entry.lane.offer()
        entry.lane.offers.enlist()

    def clear(self) -> None:
        """Drop every attempt in line."""
        for lane in self._lanes.values():
            lane.line.clear()
            lane.offered = None
        for offers in self._offers.values():
            offers.heap.clear()

    def hold(self) -> None:
        """Let nothing start until `go_on`."""
        self.held = True

    def go_on(self) -> None:
        """Let attempts start again."""
        self.held = False
        for offers in self._offers.values():
            offers.enlist()

    def take(self) -> Entry:
        """Return the best attempt that can start; there is one."""
        lane = min(self._first_lanes(), key=lambda lane: lane.line[0][0])
        _, entry = heappop(lane.line)
        heappop(lane.offers.heap)
        lane.offered = None
        lane.offers.pool.running += 1
        lane.agent.running += 1
        for other in lane.agent.lanes:
            other.offer()
        self.turn = self._turns.next_turn()
        return entry

    def _lane_of(self, ticket: Ticket) -> _Lane:
        key = (ticket.agent, ticket.agent_cap, ticket.provider)
        lane = self._lanes.get(key)
        if lane is None:
            agent = self._agents[ticket.agent]
            lane = self._lanes[key] = _Lane(agent, ticket.agent_cap, self._offers_to(ticket.provider))
            agent.lanes.append(lane)
        return lane

    def _first_lanes(self) -> Iterator[_Lane]:
        for offers in self._offers.values():
            lane = offers.first() if offers.pool.is_open else None
            if lane is not None:
                yield lane

    def _offers_to(self, provider: Provider | None) -> _Offers:
        known = self._offers.get(provider)
        if known is None:
            known = self._offers[provider] = _Offers(self, self._turns.pool(provider))
        return known
