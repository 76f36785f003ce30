"""When nodes can run: what is ready, what is urgent, how long a plan takes (architecture, section 1).

Durations are in any unit, each finite and at least 0; only nodes named in `durations` count by it, all others by
`SubTask.estimate`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Final

from graphs.plan import NodeId, PlanIndex

NO_DURATIONS: Final[Mapping[NodeId, float]] = {}
"""Every node by its estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalPath:
    """A longest chain of a plan: no schedule can be shorter."""

    nodes: tuple[NodeId, ...]
    length: float
    """Sum of the durations of `nodes`; 0 for an empty plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """When one node runs."""

    node: NodeId
    start: float
    end: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When every node runs."""

    slots: tuple[Slot, ...]
    """By start, then priority."""
    makespan: float
    """End of the last node; 0 for an empty plan."""


def durations_of(
    index: PlanIndex, durations: Mapping[NodeId, float] = NO_DURATIONS
) -> Mapping[NodeId, float]:
    """Give every node's duration: the one given, else its estimate.

    Raises `ValueError` for an unknown node or a duration below 0 or not finite.
    """
    for node in durations:
        if node not in index:
            raise ValueError(f"Duration given for node {node!r}, which is not in the plan; drop it.")
    every = {node: float(durations.get(node, index.subtask(node).estimate)) for node in index.order}
    for node, duration in every.items():
        if not 0 <= duration < float("inf"):
            raise ValueError(f"Node {node!r} has duration {duration!r}; accepted is a finite number from 0.")
    return every


def priorities(index: PlanIndex, durations: Mapping[NodeId, float] = NO_DURATIONS) -> Mapping[NodeId, float]:
    """Give each node the length of the longest path that starts with it, itself included.

    Ready nodes run in descending priority. O(nodes + edges).
    """
    lasting = durations_of(index, durations)
    longest: dict[NodeId, float] = {}
    for node in reversed(index.order):
        longest[node] = lasting[node] + max((longest[n] for n in index.successors(node)), default=0.0)
    return longest


def critical_path(index: PlanIndex, durations: Mapping[NodeId, float] = NO_DURATIONS) -> CriticalPath:
    """Give a longest path; among equally long ones, the one with the smallest ids. O(nodes + edges)."""
    if not len(index):
        return CriticalPath(nodes=(), length=0.0)
    remaining = priorities(index, durations)
    path: list[NodeId] = []
    choices: Iterable[NodeId] = index.entries
    while choices:
        # `max` keeps the first of equals, and choices come in natural order of ids.
        node = max(choices, key=remaining.__getitem__)
        path.append(node)
        choices = index.successors(node)
    return CriticalPath(nodes=tuple(path), length=remaining[path[0]])


def makespan(
    index: PlanIndex,
    durations: Mapping[NodeId, float] = NO_DURATIONS,
    *,
    slots: int | None = None,
    caps: Mapping[str, int] | None = None,
    assignment: Mapping[NodeId, str] | None = None,
) -> Schedule:
    """Simulate the dataflow scheduler: whenever something ends, the most urgent ready nodes start.

    `slots` bounds how many nodes run at once, `caps` how many of one agent, by `assignment`; what is not named is
    unbounded. List scheduling by longest remaining path: never above (2 - 1 / slots) times the optimum
    without caps (Graham 1969). Raises `ValueError` for a bound below 1. O((nodes + edges) log nodes), times
    the number of agents whose cap is reached.
    """
    for name, bound in [("slots", slots), *(caps or {}).items()]:
        if bound is not None and bound < 1:
            raise ValueError(f"Bound {name!r} is {bound!r}; accepted is 1 or more, or leave it out.")
    lasting = durations_of(index, durations)
    urgency = priorities(index, durations)
    bench = _Bench(
        ranks={node: (-urgency[node], place) for place, node in enumerate(index.order)},
        caps=caps or {},
        assignment=assignment or {},
    )
    waiting = dict(initial_waiting(index))
    for node in initial_ready(index):
        bench.offer(node)
    running: list[tuple[float, tuple[float, int], NodeId]] = []
    done: list[Slot] = []
    now = 0.0
    while True:
        while slots is None or len(running) < slots:
            chosen = bench.take()
            if chosen is None:
                break
            end = now + lasting[chosen]
            done.append(Slot(node=chosen, start=now, end=end))
            heappush(running, (end, bench.ranks[chosen], chosen))
        if not running:
            break
        now = running[0][0]
        while running and running[0][0] == now:
            finished = heappop(running)[2]
            bench.give_back(finished)
            for node in release(index, waiting, finished):
                bench.offer(node)
    return Schedule(slots=tuple(done), makespan=now)


def initial_waiting(index: PlanIndex) -> Mapping[NodeId, int]:
    """Give for each node how many predecessors it waits for."""
    return {node: len(index.predecessors(node)) for node in index.order}


def initial_ready(index: PlanIndex) -> tuple[NodeId, ...]:
    """Give the nodes that can start at once, in topological order."""
    return index.entries


def released_by(index: PlanIndex, waiting: Mapping[NodeId, int], node: NodeId) -> Mapping[NodeId, int]:
    """Give the new counts of the successors of an accepted node; 0 means ready. O(out-degree).

    Changes nothing: for callers that keep their counts in a persistent map. Raises `ValueError` if a
    successor waits for nothing any more, which means that `node` was counted twice.
    """
    counts = {follower: waiting[follower] - 1 for follower in index.successors(node)}
    for follower, count in counts.items():
        if count < 0:
            raise ValueError(
                f"Node {follower!r} waits for no predecessor any more; {node!r} was released twice."
            )
    return counts


def release(index: PlanIndex, waiting: dict[NodeId, int], node: NodeId) -> tuple[NodeId, ...]:
    """Count an accepted node off in `waiting`, in place, and give the nodes that became ready. O(out-degree)."""
    counts = released_by(index, waiting, node)
    waiting.update(counts)
    return tuple(follower for follower, count in counts.items() if count == 0)


@dataclass(slots=True, kw_only=True)
class _Bench:
    """The ready nodes of a simulation, one heap per agent so that a full agent blocks nobody else."""

    ranks: Mapping[NodeId, tuple[float, int]]
    caps: Mapping[str, int]
    assignment: Mapping[NodeId, str]
    _heaps: dict[str | None, list[tuple[tuple[float, int], NodeId]]] = field(default_factory=dict)
    _busy: dict[str | None, int] = field(default_factory=dict)
    _heads: list[tuple[tuple[float, int], NodeId]] = field(default_factory=list)

    def offer(self, node: NodeId) -> None:
        agent = self._agent(node)
        heap = self._heaps.setdefault(agent, [])
        heappush(heap, (self.ranks[node], node))
        if heap[0][1] == node:
            self._show(agent)

    def take(self) -> NodeId | None:
        """Take the most urgent node whose agent has room; None if there is none."""
        while self._heads:
            head = heappop(self._heads)
            agent = self._agent(head[1])
            heap = self._heaps[agent]
            # A head is shown again whenever it changes; older entries are passed over here.
            if not heap or heap[0] != head or not self._has_room(agent):
                continue
            heappop(heap)
            self._busy[agent] = self._busy.get(agent, 0) + 1
            self._show(agent)
            return head[1]
        return None

    def give_back(self, node: NodeId) -> None:
        agent = self._agent(node)
        self._busy[agent] -= 1
        self._show(agent)

    def _show(self, agent: str | None) -> None:
        heap = self._heaps[agent]
        if heap and self._has_room(agent):
            heappush(self._heads, heap[0])

    def _has_room(self, agent: str | None) -> bool:
        return agent is None or agent not in self.caps or self._busy.get(agent, 0) < self.caps[agent]

    def _agent(self, node: NodeId) -> str | None:
        return self.assignment.get(node)
