"""Checks beside the event loop: what else goes on meanwhile, and what a check that raises or is left alone leads to."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field
from itertools import chain, repeat
from pathlib import Path

import pytest

from orchestrator.core.claims import Verification
from orchestrator.core.events import AttemptVerified, Event
from orchestrator.core.state import RunState
from orchestrator.shell.check_threads import CheckThreads, Clocks
from orchestrator.verification.levels import StandardVerifier
from orchestrator.verification.ports import CheckOrder, Verifier
from orchestrator.verification.sources.documents import DocumentSource
from tests.core.builders import n, plan, proposal
from tests.flows.stage import EVERY, ROWS, STARTED, Script, says, set_stage, written

PATIENCE_S = 20.0
"""After this long, a check that still waits gives up, and the test fails instead of hanging."""


@dataclass
class Patient:
    """The standard check stage, which holds the check of one sub-task until it is let go."""

    inner: Verifier
    node: str
    go: threading.Event = field(default_factory=threading.Event)
    let_go: list[bool] = field(default_factory=list)

    def verify(self, order: CheckOrder) -> Verification:
        if order.subtask.id == self.node:
            self.let_go.append(self.go.wait(PATIENCE_S))
        return self.inner.verify(order)


async def test_a_check_that_takes_long_stops_no_other_sub_task(tmp_path: Path) -> None:
    notes = written(tmp_path)
    checks = Patient(StandardVerifier((DocumentSource(notes.folder),)), node="a")

    def watch(event: Event, state: RunState) -> None:
        del event
        if state.node(n("c")).status == "accepted" and state.node(n("a")).status == "verifying":
            checks.go.set()

    script: Script = {
        (n("a"), EVERY): says(notes.quoted("a", "storage.md", ROWS, question="Why?")),
        (n("b"), EVERY): says(notes.quoted("b", "storage.md", ROWS)),
        (n("c"), EVERY): says(notes.quoted("c", "storage.md", STARTED)),
    }
    stage = set_stage(notes, script, verifier=checks)
    run = stage.approved(proposal(plan("b>c", lone="a")))
    done = await stage.execute(run, listeners=[watch])
    assert checks.let_go == [True]
    assert done.status == "completed"
    assert [body.node for body in stage.bodies(run, AttemptVerified)] == ["b", "c", "a"]


async def test_what_a_check_raises_is_raised_where_it_is_waited_for() -> None:
    def breaks() -> None:
        raise OSError("disk gone")

    with pytest.raises(OSError, match="disk gone"):
        await CheckThreads(1).run(breaks, 1)


async def test_who_is_cancelled_stops_waiting_and_the_next_check_is_run() -> None:
    threads = CheckThreads(1, on_loop_s=-1.0)
    begun, go = threading.Event(), threading.Event()

    def waits() -> bool:
        begun.set()
        return go.wait(PATIENCE_S)

    left = asyncio.ensure_future(threads.run(waits, 1))
    assert await asyncio.to_thread(begun.wait, PATIENCE_S)
    left.cancel()
    with pytest.raises(asyncio.CancelledError):
        await left
    go.set()
    assert await threads.run(threading.current_thread, 1) is not threading.main_thread()


async def test_closed_threads_end_and_run_no_further_check() -> None:
    threads = CheckThreads(1, on_loop_s=-1.0)
    worker = await threads.run(threading.current_thread, 1)
    threads.close()
    threads.close()
    await asyncio.to_thread(worker.join, PATIENCE_S)
    assert not worker.is_alive()
    with pytest.raises(RuntimeError):
        await threads.run(threading.current_thread, 1)


async def test_a_size_is_checked_on_the_loop_once_its_checks_were_short() -> None:
    threads = CheckThreads(1, on_loop_s=PATIENCE_S)
    on = [await threads.run(threading.current_thread, size) for size in (8, 8, 15, 16, 16, 0, 0)]
    # 8 to 15 are of one size, 16 of the next.
    here = threading.main_thread()
    assert [thread is here for thread in on] == [False, True, True, False, True, False, True]


async def test_a_size_goes_back_to_the_threads_when_a_check_was_long() -> None:
    times = chain((0.0, 0.001, 10.0, 10.2), repeat(11.0))
    threads = CheckThreads(1, clocks=Clocks(on_loop=lambda: next(times), on_thread=lambda: next(times)))
    here = threading.main_thread()
    assert await threads.run(threading.current_thread, 8) is not here
    assert await threads.run(threading.current_thread, 8) is here  # took 0.2 s
    on = [await threads.run(threading.current_thread, 8) for _ in range(40)]
    # 0.2 s times 0.9 to the power of n is below 5 ms for the first time at n = 36.
    assert [thread is here for thread in on] == [False] * 36 + [True] * 4


async def test_checks_that_wait_for_a_thread_go_on_the_loop_when_their_size_turns_out_to_be_short() -> None:
    threads = CheckThreads(1, on_loop_s=PATIENCE_S)
    on = await asyncio.gather(*(threads.run(threading.current_thread, 8) for _ in range(5)))
    here = threading.main_thread()
    assert [thread is here for thread in on] == [False, True, True, True, True]


def test_the_threads_serve_one_event_loop_after_the_other() -> None:
    threads = CheckThreads(1, on_loop_s=-1.0)

    async def three() -> set[bool]:
        on = await asyncio.gather(*(threads.run(threading.current_thread, 8) for _ in range(3)))
        return {thread is threading.main_thread() for thread in on}

    assert [asyncio.run(three()) for _ in range(2)] == [{False}, {False}]
