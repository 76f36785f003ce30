"""A worker whose answers are written down beforehand: for tests of what happens around workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Literal

from agents.broker import Broker
from agents.results import WorkResult
from agents.workers.ports import WorkOrder
from graphs.plan import NodeId

ANY: Final = "any"
"""Matches every order of a node that has no entry of its own."""

ScriptKey = tuple[NodeId, int | Literal["any"]]
"""A node and which of its orders, counted from 1 by the worker; both paths of an attempt are orders."""

Answer = Callable[[WorkOrder, Broker], WorkResult | Awaitable[WorkResult]]
"""Computes a result from the order; may call the broker."""


class UnscriptedOrder(LookupError):
    """The script has no entry for an order. A fault of the test: nobody catches it."""

    def __init__(self, node: str, number: int, known: tuple[ScriptKey, ...]) -> None:
        self.node, self.number = node, number
        super().__init__(
            f"order {number} for node {node!r} is not scripted; scripted are {', '.join(map(repr, known)) or 'none'}. "
            f"Add ({node!r}, {number}) or ({node!r}, ANY)."
        )


class ScriptedWorker:
    """Answers each order from a script and keeps the orders that it received."""

    def __init__(self, script: Mapping[ScriptKey, WorkResult | Answer | Exception]) -> None:
        self._script = dict(script)
        self._count: Counter[NodeId] = Counter()
        self.orders: list[WorkOrder] = []
        """Every order, in the order received."""

    async def work(self, order: WorkOrder, broker: Broker) -> WorkResult:
        """Return the scripted result; raises the scripted exception, or `UnscriptedOrder`."""
        node = order.subtask.id
        self._count[node] += 1
        self.orders.append(order)
        number = self._count[node]
        entry = self._script.get((node, number), self._script.get((node, ANY)))
        if entry is None:
            raise UnscriptedOrder(node, number, tuple(self._script))
        if isinstance(entry, Exception):
            raise entry
        if isinstance(entry, WorkResult):
            return entry
        result = entry(order, broker)
        return result if isinstance(result, WorkResult) else await result
