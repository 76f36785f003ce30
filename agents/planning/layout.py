"""How many questions go into one sub-task, and how many sub-tasks into one part of the plan.

A level holds at most five nodes (003 2.1). Up to five questions get a node each. Up to fifteen are dealt in
their order into five nodes of at most three questions, as many as the steps of one loop allow. More make a second
level: nodes of three questions stand in parts of at most five, every part is merged, then the whole; beyond 75
questions the nodes grow, never the levels.
"""

from __future__ import annotations

import math
from typing import Final

MAX_WIDTH: Final = 5
"""Nodes side by side in one part, and parts side by side in one plan (003 2.1)."""

QUESTIONS_PER_NODE: Final = 3
"""Questions of one research loop: 12 steps (003 3.2) leave each of them four searches and readings."""


def layout(count: int) -> tuple[tuple[range, ...], ...]:
    """Deal `count` things, numbered from 0, into parts of nodes; every node is a range of neighbours.

    >>> [[len(node) for node in part] for part in layout(12)]
    [[3, 3, 2, 2, 2]]
    >>> [[len(node) for node in part] for part in layout(17)]
    [[3, 3, 3], [3, 3, 2]]
    """
    if count <= 0:
        return ()
    if count <= MAX_WIDTH * QUESTIONS_PER_NODE:
        return (deal(0, count, min(count, MAX_WIDTH)),)
    per_node = max(QUESTIONS_PER_NODE, math.ceil(count / (MAX_WIDTH * MAX_WIDTH)))
    nodes = deal(0, count, math.ceil(count / per_node))
    parts = deal(0, len(nodes), math.ceil(len(nodes) / MAX_WIDTH))
    return tuple(tuple(nodes[index] for index in part) for part in parts)


def deal(start: int, count: int, into: int) -> tuple[range, ...]:
    """Cut `count` neighbours into `into` runs whose lengths differ by at most one, longer ones first."""
    base, longer = divmod(count, into)
    runs: list[range] = []
    for index in range(into):
        length = base + (1 if index < longer else 0)
        runs.append(range(start, start + length))
        start += length
    return tuple(runs)
