"""The events of the commands that need no effect: writing them down carries them out."""

from __future__ import annotations

from typing import assert_never

from orchestrator.core.commands import (
    AcceptAsIs,
    AskPerson,
    EndCancelled,
    RecordBlockage,
    RetryAttempt,
    ReuseOutput,
    SkipNodes,
    SuspendRun,
)
from orchestrator.core.events import (
    BlockageClassified,
    Body,
    NodeAcceptedAsIs,
    NodeReused,
    NodesSkipped,
    RequestOpened,
    RetryScheduled,
    RunEnded,
    RunSuspended,
)
from orchestrator.core.state import RunState
from orchestrator.core.unsettled import end_gaps

Decision = (
    RecordBlockage
    | RetryAttempt
    | ReuseOutput
    | AskPerson
    | AcceptAsIs
    | SkipNodes
    | SuspendRun
    | EndCancelled
)
"""A command that is carried out by recording it."""


def recorded_as(decision: Decision, state: RunState) -> Body:
    """Return the event that carries out `decision` in `state`."""
    match decision:
        case RecordBlockage():
            return BlockageClassified(
                node=decision.node,
                generation=decision.generation,
                attempt=decision.attempt,
                blockage=decision.blockage,
            )
        case RetryAttempt():
            return RetryScheduled(
                node=decision.node,
                generation=decision.generation,
                attempt=decision.attempt,
                delay_s=decision.delay_s,
            )
        case ReuseOutput():
            return NodeReused(
                node=decision.node, generation=decision.generation, input_key=decision.input_key
            )
        case AskPerson():
            return RequestOpened(request=decision.request)
        case AcceptAsIs():
            return NodeAcceptedAsIs(
                node=decision.node, generation=decision.generation, request=decision.request
            )
        case SkipNodes():
            return NodesSkipped(nodes=decision.nodes, reason=decision.reason, detail=decision.detail)
        case SuspendRun():
            return RunSuspended(requests=tuple(sorted(state.requests.keys())))
        case EndCancelled():
            return RunEnded(outcome="cancelled", gaps=end_gaps(state))
        case _:
            assert_never(decision)
