"""Commands that need no effect: their event says what they said."""

from __future__ import annotations

import pytest

from orchestrator.core.blockage import Blockage, BlockageClass, ClassReason
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
from orchestrator.core.decide import recover, still_open
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
from orchestrator.core.ids import ContentDigest, RequestId
from orchestrator.shell.decisions import Decision, recorded_as
from tests.core.builders import SOLO, failure, n, plan, proposal
from tests.core.simulation import Simulation, fails

BLOCKAGE = Blockage(cls=BlockageClass.A, failure=failure("timeout"), reasons=(ClassReason(code="outside"),))


@pytest.mark.parametrize(
    ("decision", "event"),
    [
        (
            RecordBlockage(node=n("a"), generation=2, attempt=3, blockage=BLOCKAGE),
            BlockageClassified(node=n("a"), generation=2, attempt=3, blockage=BLOCKAGE),
        ),
        (
            RetryAttempt(node=n("a"), generation=2, attempt=3, delay_s=1.5),
            RetryScheduled(node=n("a"), generation=2, attempt=3, delay_s=1.5),
        ),
        (
            ReuseOutput(node=n("a"), generation=2, input_key=ContentDigest("k")),
            NodeReused(node=n("a"), generation=2, input_key=ContentDigest("k")),
        ),
        (
            AcceptAsIs(node=n("a"), generation=2, request=RequestId("r.q1")),
            NodeAcceptedAsIs(node=n("a"), generation=2, request=RequestId("r.q1")),
        ),
        (
            SkipNodes(nodes=(n("a"), n("b")), reason="limit", detail="too much"),
            NodesSkipped(nodes=(n("a"), n("b")), reason="limit", detail="too much"),
        ),
        (EndCancelled(), RunEnded(outcome="cancelled")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_is_recorded_as_it_was_decided(decision: Decision, event: Body) -> None:
    assert recorded_as(decision, Simulation(proposal(plan("a>b"))).state) == event


def test_a_question_and_a_suspension_name_the_open_requests() -> None:
    run = Simulation(
        proposal(plan("a>c b>c"), roster=SOLO),
        {"ab": []} | {name: [fails(failure("refused"))] * 3 for name in ("a", "b")},
    )
    run.run()
    (first, second) = run.requests()
    assert recorded_as(AskPerson(request=first), run.state) == RequestOpened(request=first)
    assert recorded_as(SuspendRun(), run.state) == RunSuspended(requests=(first.id, second.id))
    assert recover(run.state) == ()
    assert still_open(run.state, SuspendRun()) is None
