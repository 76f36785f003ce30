"""An attempt whose check had finished when its process died: nothing is done again, and everything is recorded."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from agents.results import WorkOutput, WorkResult
from orchestrator.core.claims import Confidence, Level, Verification
from orchestrator.core.events import AttemptProduced, AttemptVerified, Body
from orchestrator.core.ids import ArtefactId
from orchestrator.shell.attempt_graph import FINISHED, FinishedAttempt
from orchestrator.shell.attempts import AttemptJob, AttemptRunner, Graph
from orchestrator.shell.check_threads import CheckThreads
from orchestrator.shell.clock import SystemClock
from orchestrator.shell.ports import AttemptKey
from orchestrator.shell.store.memory_store import MemoryStore
from tests.core.builders import n, plan, proposal
from tests.core.simulation import Simulation

RESULT = WorkResult(output=WorkOutput(text="x"), candidate_complete=True, mode="scripted", path=2)
LEFT = FinishedAttempt(
    result=RESULT,
    verification=Verification(
        outcome="passed",
        level=Level.L1,
        confidence=Confidence(value=0.5, level=Level.L1, traced=0, total=0),
    ),
    leaks=(),
    failure=None,
)


class Finished:
    """A graph whose checkpoint holds a finished attempt, and that must not run."""

    async def aget_state(self, config: object) -> SimpleNamespace:
        del config
        return SimpleNamespace(values={"finished": FINISHED.dump_python(LEFT, mode="json")}, next=())


class Carried:
    """Threads of which one checkpoint is carried over."""

    async def take_over(self, source: str, target: str) -> int:
        assert source != target
        return 1


def untouched(*given: object) -> Any:
    raise AssertionError(f"nothing is to be done again: {given!r}")


async def test_what_it_had_produced_is_told_again_before_its_end() -> None:
    store = MemoryStore()
    checks = CheckThreads()
    runner = AttemptRunner(
        graph=cast(Graph, Finished()),
        threads=Carried(),
        artefacts=store,
        worker_for=untouched,
        chat_for=untouched,
        tools={},
        scanner=cast(Any, None),
        verifier=cast(Any, None),
        checks=checks,
        clock=SystemClock(),
    )
    told: list[Body] = []
    job = AttemptJob(
        state=Simulation(proposal(plan("a>b"))).state,
        key=AttemptKey(node=n("a"), generation=1, attempt=1),
        epoch=2,
        previous_epoch=1,
        emit=told.append,
        keep=lambda _: ArtefactId("kept"),
    )
    ended = await runner.run(job)
    assert isinstance(ended, AttemptVerified)
    (produced,) = told
    assert isinstance(produced, AttemptProduced)
    assert (produced.node, produced.attempt, produced.path) == (n("a"), 1, 2)
