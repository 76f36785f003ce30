"""The port of workers: one order in, one result out, everything else through the broker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from agents.broker import Broker
from agents.memory.contract import Recalled
from agents.models.contract import ToolOffer
from agents.results import WorkOutput, WorkResult
from agents.spec import AgentSpec
from graphs.contract import Lang, Limits
from graphs.plan import NodeId, SubTask
from masks.bands import Thresholds


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkOrder:
    """Everything that a worker needs for one path of one attempt."""

    subtask: SubTask
    agent: AgentSpec
    """With the mask as it is now (a repair may have changed it since the approval)."""
    thresholds: Thresholds
    path: Literal[1, 2]
    """1: MAIN only; 2: MAIN and BACKGROUND, each leak declared (specification 3.4)."""
    lang: Lang
    """Language of the goal: of everything written for people."""
    inputs: Mapping[NodeId, WorkOutput] = field(default_factory=dict)
    """Accepted outputs of the predecessors, by their id, in a stable order."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """The sub-task's parameters after corrections (a repair of class B may have changed them)."""
    guards: tuple[str, ...] = ()
    """Process guards injected by repairs (specification 4.6), in order."""
    limits: Limits = field(default_factory=Limits)
    """Of the attempt, as the contract sets them; the broker holds the worker to them."""
    offers: tuple[ToolOffer, ...] | None = None
    """The tools that a model is told of: granted and available. `None`: those that the operation needs."""
    memories: tuple[Recalled, ...] = ()
    """What was remembered for the goal when it was planned: data for a model; deterministic workers ignore it."""


WorkFailureKind = Literal[
    "timeout",
    "rate_limited",
    "unavailable",
    "bad_request",
    "invalid_output",
    "refused",
    "misconfigured",
    "tool_missing",
]
"""Why a worker has no result: the outside world (first three), input or instruction (next two), the agent itself; its
model as it is set up (`misconfigured`)."""


class WorkFailed(Exception):
    """Raised by a worker that has no result at all; the attempt fails with this kind and is classified.

    An open question is no failure: a worker returns it.
    """

    def __init__(self, kind: WorkFailureKind, message: str, *, retry_after_s: float | None = None) -> None:
        self.kind: WorkFailureKind = kind
        self.message = message
        self.retry_after_s = retry_after_s
        super().__init__(message)


class Worker(Protocol):
    """Performs one order."""

    async def work(self, order: WorkOrder, broker: Broker) -> WorkResult:
        """Return the result of `order`.

        Raises `WorkFailed` when there is no result, and nothing for an unanswerable question. `BudgetExhausted`
        passes where nothing was made yet; a search that it ends is answered with what was found.
        """
        ...
