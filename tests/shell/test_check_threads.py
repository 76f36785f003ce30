"""Checks beside the event loop: what else goes on meanwhile, and what a check that raises or is left alone leads to."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from orchestrator.core.claims import Verification
from orchestrator.core.events import AttemptVerified, Event
from orchestrator.core.state import RunState
from orchestrator.shell.check_threads import ON_LOOP_S, CheckThreads, Clocks
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


@dataclass
class FakeTime:
    """Three clocks that a check moves: it computes, waits for something, or lets others of this process compute."""

    wall: float = 0.0
    thread: float = 0.0
    process: float = 0.0

    @property
    def clocks(self) -> Clocks:
        return Clocks(wall=lambda: self.wall, thread=lambda: self.thread, process=lambda: self.process)

    def taking(
        self, *, computing: float = 0.0, waiting: float = 0.0, others: float = 0.0
    ) -> Callable[[], bool]:
        """Return a check that takes so long, and says whether it ran on the loop; `others` compute while it waits."""

        def check() -> bool:
            self.thread += computing
            self.process += computing + others
            self.wall += computing + waiting
            return threading.current_thread() is threading.main_thread()

        return check


async def test_a_size_goes_back_to_the_threads_when_a_check_was_long() -> None:
    time = FakeTime()
    threads = CheckThreads(1, clocks=time.clocks)
    assert not await threads.run(time.taking(computing=0.001), 8)
    assert await threads.run(time.taking(waiting=0.2), 8)
    on = [await threads.run(time.taking(), 8) for _ in range(40)]
    # 0.2 s times 0.9 to the power of n is below 5 ms for the first time at n = 36.
    assert on == [False] * 36 + [True] * 4


@dataclass(frozen=True)
class Taken:
    id: str
    computing: float = 0.0
    waiting: float = 0.0
    others: float = 0.0
    short: bool = False


TAKEN = (
    Taken("short", computing=0.004, short=True),
    Taken("computes", computing=0.006),
    Taken("waits long", waiting=0.5),
    Taken("waits", computing=0.004, waiting=0.021),
    Taken("was taken off the processor", computing=0.004, waiting=0.019, short=True),
    Taken("waits for the lock", computing=0.004, waiting=0.03, others=0.03, short=True),
    Taken("waits for more than the lock", computing=0.004, waiting=0.03, others=0.008),
    Taken("waits while others compute", waiting=0.5, others=0.5),
    Taken("others compute on several cores", computing=0.004, waiting=0.03, others=0.06, short=True),
)


@pytest.mark.parametrize("taken", TAKEN, ids=lambda taken: taken.id)
async def test_of_a_check_on_a_thread_all_counts_but_waiting_for_the_interpreter_lock(taken: Taken) -> None:
    time = FakeTime()
    threads = CheckThreads(1, clocks=time.clocks)
    check = time.taking(computing=taken.computing, waiting=taken.waiting, others=taken.others)
    on = [await threads.run(check, 8) for _ in range(40)]
    assert on[0] is False
    # The second one on the loop would take it to the threads again.
    assert any(on) is taken.short


async def test_a_check_that_waits_never_holds_up_the_loop() -> None:
    """With the real clocks: a check that waits for as long as it takes until the loop has gone on."""
    threads = CheckThreads(1)
    gone_on: list[bool] = []
    for _ in range(3):
        loop, go = asyncio.get_running_loop(), threading.Event()

        def waits(loop: asyncio.AbstractEventLoop = loop, go: threading.Event = go) -> bool:
            loop.call_soon_threadsafe(loop.call_later, 10 * ON_LOOP_S, go.set)
            return go.wait(1.0)

        gone_on.append(await threads.run(waits, 8))
    assert gone_on == [True] * 3


@pytest.mark.parametrize("first", [0.001, 0.2], ids=["on the loop", "on a thread"])
async def test_a_long_check_that_raises_counts_too(first: float) -> None:
    time = FakeTime()
    threads = CheckThreads(1, clocks=time.clocks)

    def breaks() -> None:
        time.taking(computing=0.2)()
        raise OSError("disk gone")

    await threads.run(time.taking(computing=first), 8)
    for size in (8, 16):
        with pytest.raises(OSError, match="disk gone"):
            await threads.run(breaks, size)
    assert [await threads.run(time.taking(computing=0.2), size) for size in (8, 16)] == [False, False]


async def test_checks_that_are_not_alike_are_expected_apart() -> None:
    time = FakeTime()
    threads = CheckThreads(1, clocks=time.clocks)
    on = [await threads.run(time.taking(computing=0.001), 8, like) for like in ("L1", "L1", "L3", "L3", None)]
    assert on == [False, True, False, True, False]


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
