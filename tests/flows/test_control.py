"""Pause, continue, cancel, stop; leases; crashes at every event; stores that break: what a run survives."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from agents.broker import Broker
from agents.results import OpenQuestion, WorkOutput, WorkResult
from agents.workers.ports import WorkOrder
from agents.workers.scripted import Answer
from graphs.plan import NodeId
from orchestrator.core.errors import WrongState
from orchestrator.core.events import (
    AttemptCancelled,
    AttemptProduced,
    AttemptStarted,
    AttemptVerified,
    Backtracked,
    CancelRequested,
    Event,
    ExecutorTookOver,
    RunContinued,
    RunPaused,
)
from orchestrator.core.ids import RunId
from orchestrator.core.state import RunState
from orchestrator.run import post_control
from orchestrator.shell import lease_keeper
from orchestrator.shell.executor import LEASE_TTL_S
from orchestrator.shell.store.errors import RunBusy, StaleLease, StoreFull
from orchestrator.shell.store.memory_store import MemoryStore
from orchestrator.shell.store.ports import Operation, Outcome, RunStore
from orchestrator.shell.store.rows import Lease
from orchestrator.shell.store.sqlite_store import SqliteStore
from tests.core.builders import n, plan, proposal
from tests.flows.crashes import Crash, crash_at, stop_at
from tests.flows.stage import EVERY, ROWS, NoteFolder, Script, Stage, passes_on, says, set_stage, written

CHAIN = plan("a>b b>c")


@pytest.fixture
def notes(tmp_path: Path) -> NoteFolder:
    return written(tmp_path / "notes")


def script_of(notes: NoteFolder, *, b: Answer = passes_on) -> Script:
    good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
    return {(n("a"), EVERY): good, (n("b"), EVERY): b, (n("c"), EVERY): passes_on}


class Gate:
    """A worker that waits until the test opens it."""

    def __init__(self, result: Callable[[WorkOrder, Broker], WorkResult] = passes_on) -> None:
        self.reached = asyncio.Event()
        self.open = asyncio.Event()
        self._result = result

    async def __call__(self, order: WorkOrder, broker: Broker) -> WorkResult:
        self.reached.set()
        await self.open.wait()
        return self._result(order, broker)


async def settled(condition: Callable[[], bool]) -> None:
    """Give the loop turns until `condition` holds; the time limit of the run fails the test if it never does."""
    while not condition():
        await asyncio.sleep(0)


class TestPause:
    async def test_what_runs_ends_and_nothing_starts_until_it_is_continued(self, notes: NoteFolder) -> None:
        gate = Gate()
        stage = set_stage(notes, script_of(notes, b=gate))
        run = stage.approved(proposal(CHAIN))
        task = asyncio.ensure_future(stage.execute(run))
        await gate.reached.wait()
        post_control(stage.shop, run, "pause", by="ann")
        stage.clock.look()
        await settled(lambda: bool(stage.bodies(run, RunPaused)))
        gate.open.set()
        await settled(lambda: len(stage.bodies(run, AttemptVerified)) == 2)
        for _ in range(50):
            await asyncio.sleep(0)
        assert [body.node for body in stage.bodies(run, AttemptStarted)] == ["a", "b"]
        assert stage.state(run).status == "paused"
        post_control(stage.shop, run, "continue", by="ann")
        stage.clock.look()
        done = await task
        assert done.status == "completed"
        order = [event.body.type for event in stage.log(run)]
        assert order.index("run.paused") < order.index("run.continued")
        assert [body.node for body in stage.bodies(run, AttemptStarted)] == ["a", "b", "c"]
        assert stage.shop.store.pending(run) == ()

    async def test_the_last_word_counts_even_if_nobody_listened_in_between(self, notes: NoteFolder) -> None:
        stage = set_stage(notes, script_of(notes))
        run = stage.approved(proposal(CHAIN))
        kinds: tuple[Literal["pause", "continue"], ...] = ("pause", "pause", "continue", "pause")
        for kind in kinds:
            post_control(stage.shop, run, kind, by="ann")
        assert [message.kind for message in stage.shop.store.pending(run)] == ["pause", "continue", "pause"]
        task = asyncio.ensure_future(stage.execute(run))
        await settled(lambda: len(stage.bodies(run, RunPaused)) == 2)
        assert len(stage.bodies(run, RunContinued)) == 1
        for _ in range(50):
            await asyncio.sleep(0)
        assert stage.bodies(run, AttemptStarted) == []
        post_control(stage.shop, run, "continue", by="ann")
        await settled(lambda: stage.clock.waits)
        stage.clock.look()
        assert (await task).status == "completed"


class TestCancel:
    async def test_stops_what_runs_and_ends_once(self, notes: NoteFolder) -> None:
        gate = Gate()
        stage = set_stage(notes, script_of(notes, b=gate))
        run = stage.approved(proposal(CHAIN))
        task = asyncio.ensure_future(stage.execute(run))
        await gate.reached.wait()
        post_control(stage.shop, run, "cancel", by="ann")
        stage.clock.look()
        done = await task
        assert done.status == "cancelled"
        kinds = [event.body.type for event in stage.log(run)]
        assert kinds[-3:] == ["run.cancel_requested", "attempt.cancelled", "run.ended"]
        assert [body.node for body in stage.bodies(run, AttemptCancelled)] == ["b"]
        assert done.report is None
        assert stage.shop.store.checkpoints() == ()
        with pytest.raises(WrongState):
            post_control(stage.shop, run, "pause", by="ann")
        assert await stage.execute(run) == done

    async def test_a_run_in_review_confirmed_or_suspended_is_cancelled_at_once(
        self, notes: NoteFolder
    ) -> None:
        stage = set_stage(notes, script_of(notes))
        run = stage.approved(proposal(CHAIN))
        assert post_control(stage.shop, run, "cancel", by="ann").status == "cancelled"
        assert (await stage.execute(run)).status == "cancelled"
        assert stage.worker.orders == []
        assert len(stage.bodies(run, CancelRequested)) == 1

    async def test_ends_what_a_dead_process_left_behind(self, notes: NoteFolder) -> None:
        store = MemoryStore()
        gate = Gate()
        stage = set_stage(notes, script_of(notes, b=gate), store=store)
        run = stage.approved(proposal(CHAIN))
        with pytest.raises(Crash):
            await stage.execute(run, listeners=[crash_at(lambda e: is_start(e, "b"))])
        post_control(stage.shop, run, "cancel", by="ann")
        other = set_stage(notes, script_of(notes), store=store)
        done = await other.execute(run)
        assert done.status == "cancelled"
        assert [body.node for body in other.bodies(run, AttemptCancelled)] == ["b"]
        assert other.worker.orders == []
        assert store.checkpoints() == ()


def is_start(event: Event, node: str) -> bool:
    return isinstance(event.body, AttemptStarted) and event.body.node == node


def accepted_once(stage: Stage, run: RunId) -> None:
    """Nothing that was accepted runs again."""
    accepted: set[NodeId] = set()
    for event in stage.log(run):
        if isinstance(event.body, AttemptStarted):
            assert event.body.node not in accepted
        if isinstance(event.body, AttemptVerified):
            assert event.body.node not in accepted
            accepted.add(event.body.node)


class TestStop:
    async def test_leaves_the_run_resumable_and_nothing_accepted_runs_again(self, notes: NoteFolder) -> None:
        stage = set_stage(notes, script_of(notes))
        run = stage.approved(proposal(CHAIN))
        stop = asyncio.Event()
        state = await stage.execute(
            run, stop=stop, listeners=[stop_at(stop, lambda e: isinstance(e.body, AttemptVerified))]
        )
        assert state.status == "running"
        assert "b" not in [body.node for body in stage.bodies(run, AttemptVerified)]
        assert stage.shop.store.lease(run) is None
        done = await stage.execute(run)
        assert done.status == "completed"
        accepted_once(stage, run)
        assert len(stage.orders("a")) == 1

    async def test_before_anything_ran(self, notes: NoteFolder) -> None:
        stage = set_stage(notes, script_of(notes))
        run = stage.approved(proposal(CHAIN))
        stop = asyncio.Event()
        stop.set()
        state = await stage.execute(run, stop=stop)
        assert state.status == "running"
        assert (await stage.execute(run)).status == "completed"

    @pytest.mark.parametrize("turns", range(4, 100, 4))
    async def test_at_any_turn_of_the_loop_every_accepted_output_is_kept(
        self, notes: NoteFolder, turns: int
    ) -> None:
        stage = set_stage(notes, script_of(notes))
        run = stage.approved(proposal(CHAIN))
        stop = asyncio.Event()

        async def stop_later() -> None:
            for _ in range(turns):
                await asyncio.sleep(0)
            stop.set()

        stopper = asyncio.ensure_future(stop_later())
        await stage.execute(run, stop=stop)
        await stopper
        for body in stage.bodies(run, AttemptVerified):
            assert stage.shop.store.get_artefact(body.output)
        assert (await stage.execute(run)).status == "completed"
        accepted_once(stage, run)


@pytest.mark.parametrize(
    "make", [lambda _: MemoryStore(), lambda p: SqliteStore(p / "runs.db")], ids=["memory", "sqlite"]
)
async def test_a_crash_after_any_event_changes_nothing_of_the_result(
    notes: NoteFolder, tmp_path: Path, make: Callable[[Path], RunStore]
) -> None:
    """At every event of the run: the process dies, another goes on, the result is that of an undisturbed run."""
    work = proposal(plan("a>c b>c"))
    parts: Script = {
        (n("a"), EVERY): says(notes.quoted("a", "storage.md", ROWS, question="Why?")),
        (n("b"), EVERY): passes_nothing,
        (n("c"), EVERY): passes_on,
    }
    store = make(tmp_path)
    calm_stage = set_stage(notes, parts, store=store)
    calm = await calm_stage.finish(work)
    assert calm.status == "completed"
    events = calm.seq
    first = 4  # after the approval
    for place in range(first, events):
        stage = set_stage(notes, parts, store=store)
        stage.shop.ids = calm_stage.shop.ids
        run = stage.approved(work)
        with pytest.raises(Crash):
            await stage.execute(run, listeners=[crash_at(lambda e, at=place: e.seq == at)])  # type: ignore[misc]
        other = set_stage(notes, parts, store=store)
        done = await other.execute(run)
        assert done.status == "completed", place
        assert done.result == calm.result, place
        accepted_once(other, run)
        assert len(other.bodies(run, ExecutorTookOver)) in (1, 2)
        assert stage.state(run) == done
    assert store.checkpoints() == ()
    store.close()


def passes_nothing(order: WorkOrder, broker: Broker) -> WorkResult:
    """A second branch with an open question of its own."""
    from_notes = passes_on(order, broker)
    text = "# Nothing\n\n- Is there more?"
    open_question = OpenQuestion(question="Is there more?", reason="not_found", searched=("more",))
    return replace(from_notes, output=replace(from_notes.output, text=text, open_questions=(open_question,)))


class TestLeases:
    async def test_a_second_executor_is_refused(self, notes: NoteFolder) -> None:
        store = MemoryStore()
        gate = Gate()
        stage = set_stage(notes, script_of(notes, b=gate), store=store)
        run = stage.approved(proposal(CHAIN))
        task = asyncio.ensure_future(stage.execute(run))
        await gate.reached.wait()
        other = set_stage(notes, script_of(notes), store=store)
        with pytest.raises(RunBusy):
            await other.execute(run)
        assert other.worker.orders == []
        gate.open.set()
        assert (await task).status == "completed"

    async def test_a_process_that_lost_its_lease_writes_nothing_more(self, notes: NoteFolder) -> None:
        now = [0.0]
        store = MemoryStore(clock=lambda: now[0])
        gate = Gate()
        stage = set_stage(notes, script_of(notes, b=gate), store=store)
        run = stage.approved(proposal(CHAIN))
        slow = asyncio.ensure_future(stage.execute(run))
        await gate.reached.wait()
        now[0] += LEASE_TTL_S + 1
        other = set_stage(notes, script_of(notes), store=store)
        done = await other.execute(run)
        assert done.status == "completed"
        length = len(other.log(run))
        gate.open.set()
        with pytest.raises(StaleLease):
            await slow
        assert len(other.log(run)) == length
        assert other.orders("a") == []

    async def test_a_step_that_holds_the_loop_for_long_does_not_lose_the_lease(
        self, notes: NoteFolder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A check that takes 40 s, with nothing else getting a turn on the loop meanwhile."""
        monkeypatch.setattr(lease_keeper, "RENEWALS_PER_TERM", 30_000)
        now = [0.0]
        renewal = threading.Event()

        class Counting(MemoryStore):
            def renew(self, lease: Lease, ttl_s: float) -> Lease:
                renewed = super().renew(lease, ttl_s)
                renewal.set()
                return renewed

        store = Counting(clock=lambda: now[0])

        def takes_long(order: WorkOrder, broker: Broker) -> WorkResult:
            for _ in range(2):
                now[0] += 20.0
                for _ in range(2):  # the first may have read the clock before it moved
                    renewal.clear()
                    assert renewal.wait(timeout=20)
            with pytest.raises(RunBusy):
                store.acquire(run, "another process", LEASE_TTL_S)
            return passes_on(order, broker)

        stage = set_stage(notes, script_of(notes, b=takes_long), store=store)
        run = stage.approved(proposal(CHAIN))
        assert (await stage.execute(run)).status == "completed"

    async def test_a_lease_that_somebody_took_ends_the_execution(
        self, notes: NoteFolder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(lease_keeper, "RENEWALS_PER_TERM", 30_000)
        store = MemoryStore()
        gate = Gate()
        stage = set_stage(notes, script_of(notes, b=gate), store=store)
        run = stage.approved(proposal(CHAIN))
        task = asyncio.ensure_future(stage.execute(run))
        await gate.reached.wait()
        store.acquire(run, "another process", LEASE_TTL_S, instead_of=stage.shop.holder)
        with pytest.raises(StaleLease):
            await task


async def test_a_late_result_of_an_obsolete_attempt_is_refused(notes: NoteFolder) -> None:
    """b fails while its sibling d still works on a's first output: a is done again, d's result is refused."""
    started = asyncio.Event()
    good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
    empty = replace(good, output=WorkOutput(text=" "))

    async def stubborn(order: WorkOrder, broker: Broker) -> WorkResult:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return passes_on(order, broker)  # it does not let itself be stopped
        raise AssertionError("nobody sets the event")

    async def fails_then(order: WorkOrder, broker: Broker) -> WorkResult:
        del order, broker
        await started.wait()
        return empty

    stage = set_stage(
        notes,
        {
            (n("a"), EVERY): good,
            (n("b"), 1): fails_then,
            (n("b"), EVERY): passes_on,
            (n("d"), 1): stubborn,
            (n("d"), EVERY): passes_on,
        },
    )
    run = stage.approved(proposal(plan("a>b a>d")))
    done = await stage.execute(run)
    assert done.status == "completed"
    (back,) = stage.bodies(run, Backtracked)
    assert back.plan.invalidated == ("a", "b", "d")
    assert [(c.node, c.generation) for c in stage.bodies(run, AttemptCancelled)] == [("d", 1)]
    verified = [(v.node, v.generation) for v in stage.bodies(run, AttemptVerified)]
    assert sorted(verified) == [("a", 1), ("a", 2), ("b", 2), ("d", 2)]


class BreakingStore(MemoryStore):
    """A store whose disk is full after some transactions, until it is repaired."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.good = 10**9
        super().__init__(clock=lambda: self.now_s)

    def commit(self, operations: Sequence[Operation[object]]) -> list[Outcome]:
        self.good -= 1
        if self.good < 0:
            raise StoreFull(self.location)
        return super().commit(operations)


@pytest.mark.parametrize("good", range(6))
async def test_a_store_that_breaks_gives_its_own_error_and_the_run_goes_on_later(
    notes: NoteFolder, good: int
) -> None:
    store = BreakingStore()
    stage = set_stage(notes, script_of(notes), store=store)
    run = stage.approved(proposal(CHAIN))
    store.good = good
    with pytest.raises(StoreFull):
        await stage.execute(run)
    store.good = 10**9
    store.now_s += LEASE_TTL_S + 1
    done = await stage.execute(run)
    assert done.status == "completed"
    accepted_once(stage, run)


class HiccupStore(MemoryStore):
    """A store one transaction of which fails."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.until_failure = -1
        super().__init__(clock=lambda: self.now_s)

    def commit(self, operations: Sequence[Operation[object]]) -> list[Outcome]:
        self.until_failure -= 1
        if self.until_failure == -1:
            raise StoreFull(self.location)
        return super().commit(operations)


@pytest.mark.parametrize("good", range(1, 6))
async def test_one_failed_transaction_is_no_failure_of_a_sub_task(notes: NoteFolder, good: int) -> None:
    """Checkpoints too: what the store could not do says nothing of the work, which is gone on with.

    A checkpoint that could not be kept may also go unnoticed: it is a cache of the attempt.
    """
    store = HiccupStore()
    stage = set_stage(notes, script_of(notes), store=store)
    run = stage.approved(proposal(CHAIN))
    store.until_failure = good
    with suppress(StoreFull):
        await stage.execute(run)
    assert store.until_failure < 0
    store.now_s += LEASE_TTL_S + 1
    done = await stage.execute(run)
    assert done.status == "completed"
    assert done.internal_error is None
    accepted_once(stage, run)


async def test_a_store_that_breaks_while_everybody_works_is_noticed_at_the_next_look(
    notes: NoteFolder,
) -> None:
    gate = Gate()
    store = BreakingStore()
    stage = set_stage(notes, script_of(notes, b=gate), store=store)
    run = stage.approved(proposal(CHAIN))
    task = asyncio.ensure_future(stage.execute(run))
    await gate.reached.wait()
    post_control(stage.shop, run, "pause", by="ann")
    await settled(lambda: stage.state(run).node(n("b")).status == "running")
    store.good = 0
    stage.clock.look()  # records the pause, which does not get to the disk
    while not task.done():
        await asyncio.sleep(0)
        stage.clock.look()
    with pytest.raises(StoreFull):
        await task
    assert stage.state(run).paused is False


async def test_a_store_that_fails_does_not_hide_what_ended_the_run(notes: NoteFolder) -> None:
    store = BreakingStore()
    stage = set_stage(notes, script_of(notes), store=store)
    run = stage.approved(proposal(CHAIN))

    def break_both(event: Event, state: RunState) -> None:
        if is_start(event, "b"):
            store.good = 0
            raise Crash(state.run)

    with pytest.raises(Crash):
        await stage.execute(run, listeners=[break_both])


async def test_checkpoints_of_earlier_executors_go_with_the_attempt(notes: NoteFolder) -> None:
    """The second process dies between the start of the attempt and the take-over of its checkpoint."""
    store = MemoryStore()
    for when in (
        lambda event: isinstance(event.body, AttemptProduced),
        lambda event: isinstance(event.body, AttemptStarted),
    ):
        stage = set_stage(notes, script_of(notes), store=store)
        run = stage.approved(proposal(CHAIN)) if not store.runs() else RunId(store.runs()[0].id)
        with pytest.raises(Crash):
            await stage.execute(run, listeners=[crash_at(when)])
    assert {row.thread for row in store.checkpoints()} == {f"{run}/a/1/1/1"}
    last = set_stage(notes, script_of(notes), store=store)
    assert (await last.execute(run)).status == "completed"
    assert store.checkpoints() == ()
