"""What `decide` wants done, in the imperative. The interpreter turns each into events and decides nothing."""

from __future__ import annotations

from dataclasses import dataclass

from graphs.plan import NodeId
from orchestrator.core.backtrack import BacktrackPlan
from orchestrator.core.blockage import Blockage
from orchestrator.core.events import SkipReason
from orchestrator.core.ids import ContentDigest, RequestId
from orchestrator.core.requests import Request


@dataclass(frozen=True, slots=True, kw_only=True)
class StartAttempt:
    """Run an attempt when a slot is free and `delay_s` has passed; `resumed`: go on with one that a crash cut."""

    node: NodeId
    generation: int
    attempt: int
    input_key: ContentDigest
    delay_s: float = 0.0
    resumed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelAttempts:
    """Stop attempts of a sub-task that a backtrack made obsolete."""

    node: NodeId
    before: int
    """Those of generations below this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelAll:
    """Stop every attempt. The state's active ones that do not run in this process (left behind by the last one, and not
    yet gone on with) end with an `AttemptCancelled` at once: nothing else would ever end them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReuseOutput:
    """Accept a sub-task's earlier output again: its inputs are as they were."""

    node: NodeId
    generation: int
    input_key: ContentDigest


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordBlockage:
    """Write down how a failure was classed."""

    node: NodeId
    generation: int
    attempt: int
    blockage: Blockage


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryAttempt:
    """Class A: try again after a delay."""

    node: NodeId
    generation: int
    attempt: int
    """Of the attempt to come."""
    delay_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Backtrack:
    """Go back."""

    plan: BacktrackPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class AskPerson:
    """Open a request and suspend its sub-task."""

    request: Request


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptAsIs:
    """Take the rejected output of a sub-task, as a person chose."""

    node: NodeId
    generation: int
    request: RequestId


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipNodes:
    """Give up sub-tasks."""

    nodes: tuple[NodeId, ...]
    reason: SkipReason
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspendRun:
    """Say that only a person can move the run on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReopenReview:
    """Stop what runs and take the plan back to the review, as a person chose."""

    node: NodeId
    """The sub-task that the person was asked about."""
    request: RequestId


@dataclass(frozen=True, slots=True, kw_only=True)
class Deliver:
    """Everything is done: let the acceptor look at the artefacts, write the report, end the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndCancelled:
    """Nothing runs any more and the run was cancelled: end it."""


Command = (
    StartAttempt
    | CancelAttempts
    | CancelAll
    | ReuseOutput
    | RecordBlockage
    | RetryAttempt
    | Backtrack
    | AskPerson
    | AcceptAsIs
    | SkipNodes
    | SuspendRun
    | ReopenReview
    | Deliver
    | EndCancelled
)
