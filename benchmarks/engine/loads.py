"""The DAGs that the engine is measured on: W1 to W6. Equal seeds give equal DAGs."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

W2_NODES = 60
W2_DAGS = 3
W2_MEDIAN_S = 0.05
W2_SIGMA = 1.0
W3_NODES = 200
W4_WIDTH = 500
W4_LATENCY_S = 0.05
W6_FAILING = 0.1
"""Share of the nodes that fail once."""

_PARENTS = 3
"""A node of a layered DAG has one to this many predecessors, all in the layer before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """One DAG with what each node waits for."""

    name: str
    parents: Mapping[str, tuple[str, ...]]
    """In a topological order."""
    latency: Mapping[str, float]
    """Seconds that the work of a node takes in the outside world, per attempt."""
    failing: frozenset[str] = frozenset()
    """Nodes whose first attempt fails, after its latency."""

    @property
    def sources(self) -> frozenset[str]:
        """Nodes that something depends on."""
        return frozenset(parent for parents in self.parents.values() for parent in parents)

    def critical_path(self, delays: Mapping[str, float] | None = None) -> float:
        """Return the seconds of the longest path: no execution can be shorter.

        A failing node counts twice, with the delay of `delays` between.
        """
        ends: dict[str, float] = {}
        for node, parents in self.parents.items():
            own = self.latency[node] * (2 if node in self.failing else 1) + (delays or {}).get(node, 0.0)
            ends[node] = own + max((ends[parent] for parent in parents), default=0.0)
        return max(ends.values())

    def without(self, done: frozenset[str]) -> Load:
        """Return what is left to do when `done` are finished; the rest starts from the beginning."""
        left = {
            node: tuple(parent for parent in parents if parent not in done)
            for node, parents in self.parents.items()
            if node not in done
        }
        return replace(self, name=f"rest of {self.name}", parents=left)


def w1(nodes: int, seed: int) -> Load:
    """Return a layered random DAG of width sqrt(nodes) that waits for nothing."""
    return layered(f"w1_{nodes}", nodes, seed, lambda _: 0.0)


def w2(seed: int, nodes: int = W2_NODES, median_s: float = W2_MEDIAN_S) -> Load:
    """Return a layered random DAG with lognormal latencies."""
    return layered(f"w2_{seed}", nodes, seed, lambda rnd: rnd.lognormvariate(math.log(median_s), W2_SIGMA))


def w3(nodes: int = W3_NODES) -> Load:
    """Return a chain that waits for nothing: all that counts is how soon the next node starts."""
    names = [f"n{i}" for i in range(nodes)]
    return Load(
        name="w3",
        parents={name: tuple(names[max(i - 1, 0) : i]) for i, name in enumerate(names)},
        latency=dict.fromkeys(names, 0.0),
    )


def w4(width: int = W4_WIDTH, latency_s: float = W4_LATENCY_S) -> Load:
    """Return one node, `width` that depend on it, and one that depends on all of them."""
    middle = [f"m{i}" for i in range(width)]
    parents: dict[str, tuple[str, ...]] = {"s": (), **dict.fromkeys(middle, ("s",)), "e": tuple(middle)}
    return Load(name="w4", parents=parents, latency=dict.fromkeys(parents, latency_s))


def w6(load: Load, seed: int, share: float = W6_FAILING) -> Load:
    """Return `load` with `share` of its nodes failing once, at least one."""
    names = sorted(load.parents)
    failing = random.Random(seed).sample(names, max(1, round(share * len(names))))
    return replace(load, name=load.name.replace("w2", "w6"), failing=frozenset(failing))


def layered(name: str, nodes: int, seed: int, latency: Callable[[random.Random], float]) -> Load:
    """Return a DAG in layers of sqrt(nodes); each node depends on one to three of the layer before."""
    rnd = random.Random(seed)
    width = max(1, round(math.sqrt(nodes)))
    names = [f"n{i}" for i in range(nodes)]
    parents: dict[str, tuple[str, ...]] = {}
    before: list[str] = []
    for start in range(0, nodes, width):
        layer = names[start : start + width]
        for node in layer:
            count = min(len(before), rnd.randint(1, _PARENTS))
            parents[node] = tuple(sorted(rnd.sample(before, count)))
        before = layer
    return Load(name=name, parents=parents, latency={node: latency(rnd) for node in names})
