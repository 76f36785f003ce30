"""Which worker performs which operation, and the one worker that performs them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from agents.broker import Broker
from agents.results import WorkResult
from agents.workers.embedded.check import CheckWorker
from agents.workers.embedded.compare import compare
from agents.workers.embedded.extract import ExtractWorker
from agents.workers.embedded.inquiry import ResearchLimits
from agents.workers.embedded.outline import outline
from agents.workers.embedded.report import report
from agents.workers.embedded.research import ResearchWorker
from agents.workers.embedded.summarise import SummariseWorker
from agents.workers.embedded.synthesise import synthesise
from agents.workers.ports import Worker, WorkFailed, WorkOrder

WorkerFactory = Callable[[ResearchLimits], Worker]
"""Makes the worker of one operation."""


class UnknownOperation(WorkFailed):
    """Raised for an order whose operation no embedded worker performs; the plan has to name another one."""

    def __init__(self, operation: str) -> None:
        self.operation = operation
        super().__init__(
            "bad_request",
            f"no embedded worker performs the operation {operation!r}; accepted: {', '.join(sorted(WORKERS))}. "
            "Change the operation in the plan, or give the sub-task to an agent with a model",
        )


@dataclass(frozen=True, slots=True)
class ComputingWorker:
    """Performs an operation that needs nothing but its order."""

    perform: Callable[[WorkOrder], WorkResult]

    async def work(self, order: WorkOrder, broker: Broker) -> WorkResult:
        """Return what `perform` computes; calls neither tools nor models."""
        del broker
        return self.perform(order)


WORKERS: Final[Mapping[str, WorkerFactory]] = MappingProxyType(
    {
        "check": CheckWorker,
        "compare": lambda _: ComputingWorker(compare),
        "extract": ExtractWorker,
        "gather": SummariseWorker,
        "outline": lambda _: ComputingWorker(outline),
        "report": lambda _: ComputingWorker(report),
        "research": ResearchWorker,
        "summarise": SummariseWorker,
        "synthesise": lambda _: ComputingWorker(synthesise),
    }
)
"""The worker of each operation of `agents.operations`."""


@dataclass(frozen=True, slots=True)
class EmbeddedWorker:
    """Performs every operation: deterministic, extractive, in English and Chinese, with no model."""

    limits: ResearchLimits = field(default_factory=ResearchLimits)

    async def work(self, order: WorkOrder, broker: Broker) -> WorkResult:
        """Return the result of `order` by the worker of its operation; raises `UnknownOperation` without one."""
        factory = WORKERS.get(order.subtask.operation)
        if factory is None:
            raise UnknownOperation(order.subtask.operation)
        return await factory(self.limits.within(order.limits)).work(order, broker)
