"""The executor over scripted attempts: late results, obsolete commands, what a dead process left, failure memory."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import pytest

from graphs.plan import NodeId
from graphs.schedule import priorities
from orchestrator.core.blockage import FailureKind
from orchestrator.core.claims import RootCause
from orchestrator.core.events import (
    AttemptCancelled,
    AttemptFailed,
    AttemptStarted,
    AttemptVerified,
    Backtracked,
    Body,
    CallReturned,
    CancelRequested,
    Event,
    ExecutorTookOver,
    MessageRefused,
    ProposalApproved,
    ProposalDrafted,
    RequestOpened,
    RunCreated,
    RunEnded,
    RunPaused,
)
from orchestrator.core.ids import ArtefactId, ContentDigest, RunId
from orchestrator.core.input_key import input_key
from orchestrator.core.proposal import Proposal, proposal_sha256
from orchestrator.core.reducer import initial
from orchestrator.core.state import RunState
from orchestrator.shell.attempt_orders import AttemptJob
from orchestrator.shell.attempts import Finished
from orchestrator.shell.executor import MakeDelivery, RunExecutor
from orchestrator.shell.inbox import answer_name
from orchestrator.shell.journal import Journal, Listener
from orchestrator.shell.runs import append, events_of, load
from orchestrator.shell.scheduler import SharedDispatcher
from orchestrator.shell.store.errors import NotStorable, StoreBusy
from orchestrator.shell.store.memory_store import MemoryStore
from orchestrator.shell.store.ports import Operation, Outcome
from orchestrator.shell.store.rows import CheckpointRow, NewEvent
from orchestrator.shell.store.writer import Writer
from tests.core.builders import A1, CONTRACTS, SOLO, failure, n, plan, proposal, verification
from tests.core.simulation import content_of
from tests.flows.stage import FakeClock

RUN = RunId("r-1")
B = TypeVar("B")
Play = Callable[[AttemptJob], Awaitable[Finished]]


def verified(job: AttemptJob, variant: str = "") -> AttemptVerified:
    content = content_of(job.key.node, (), variant)
    return AttemptVerified(
        node=job.key.node,
        generation=job.key.generation,
        attempt=job.key.attempt,
        output=ArtefactId(f"artefact of {content}"),
        content=content,
        path=1,
        mode="scripted",
        verification=verification(),
    )


@dataclass
class Theatre:
    """A run whose attempts are played by functions per node; without one they pass."""

    draft: Proposal
    plays: Mapping[str, Play] = field(default_factory=dict)
    store: MemoryStore = field(default_factory=MemoryStore)
    clock: FakeClock = field(default_factory=FakeClock)
    jobs: list[AttemptJob] = field(default_factory=list)
    deliver: MakeDelivery = lambda state, _: RunEnded(
        outcome="partial" if state.counts.skipped else "completed"
    )
    listeners: Sequence[Listener] = ()
    created: bool = False
    """Whether the store holds the run already: this is another process."""

    def __post_init__(self) -> None:
        if self.created:
            return
        self.store.create_run(RUN, "Why?", self.clock.now())
        sha256 = proposal_sha256(self.draft)
        bodies: list[Body] = [
            RunCreated(goal="Why?", lang="en", sources=(), run_seed="seed", versions={}),
            ProposalDrafted(proposal=self.draft, sha256=sha256, author="planner"),
            ProposalApproved(revision=1, sha256=sha256, by="test"),
        ]
        append(self.store, self.clock, initial(RUN), bodies)

    async def run(
        self,
        *,
        during: Callable[[RunExecutor], Awaitable[None]] | None = None,
        writer: Writer | None = None,
    ) -> RunState:
        lease = self.store.acquire(RUN, "test", 30.0)
        try:
            async with writer or Writer(self.store) as writing:
                executor = RunExecutor(
                    journal=Journal(load(self.store, RUN), writing, self.clock, lease, self.listeners),
                    inbox=self.store,
                    dispatcher=SharedDispatcher(self.clock).for_run(RUN),
                    run_attempt=self._attempt,
                    deliver=self.deliver,
                    priorities=lambda state: priorities(state.index) if state.index else {},
                    clock=self.clock,
                    holder="test",
                )
                task = asyncio.ensure_future(asyncio.wait_for(executor.execute(), 30))
                if during is not None:
                    await during(executor)
                return await task
        finally:
            self.store.release(lease)

    async def _attempt(self, job: AttemptJob) -> Finished:
        self.jobs.append(job)
        play = self.plays.get(job.key.node)
        return verified(job) if play is None else await play(job)

    @property
    def log(self) -> list[Event]:
        return list(events_of(self.store, RUN))

    def bodies(self, kind: type[B]) -> list[B]:
        return [event.body for event in self.log if isinstance(event.body, kind)]


def called(job: AttemptJob, index: int = 0) -> CallReturned:
    return CallReturned(
        node=job.key.node,
        generation=job.key.generation,
        attempt=job.key.attempt,
        step="work.1.0",
        index=index,
        call="tool",
        name="search",
        arguments={},
        arguments_digest="d",
        arguments_origin="computed",
        arguments_taint="trusted",
        result=ArtefactId("x"),
        ok=True,
        summary="found",
    )


async def test_a_late_result_is_refused_and_its_calls_stay_in_the_log() -> None:
    """d works on a's first output and does not let itself be stopped; meanwhile b sends the run back to a."""
    d_runs = asyncio.Event()

    async def b(job: AttemptJob) -> Finished:
        await d_runs.wait()
        if job.key.generation > 1:
            return verified(job)
        return AttemptFailed(
            node=job.key.node,
            generation=1,
            attempt=job.key.attempt,
            failure=failure("invalid_output", blamed="a"),
        )

    async def d(job: AttemptJob) -> Finished:
        if job.key.generation > 1:
            return verified(job, "new")
        d_runs.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            job.emit(called(job))
        return verified(job, "old")

    theatre = Theatre(proposal(plan("a>b a>d")), {"b": b, "d": d})
    done = await theatre.run()
    assert done.status == "completed"
    (back,) = theatre.bodies(Backtracked)
    assert back.plan.invalidated == ("a", "b", "d")
    ended = [(str(body.node), body.generation) for body in theatre.bodies(AttemptVerified)]
    assert ("d", 1) not in ended
    assert ("d", 2) in ended
    assert theatre.bodies(AttemptCancelled) == [AttemptCancelled(node=n("d"), generation=1, attempt=1)]
    # The late call was paid for; it means nothing for the node.
    assert [body.generation for body in theatre.bodies(CallReturned)] == [1]
    accepted = done.node(n("d")).accepted
    assert accepted is not None
    assert accepted.content == content_of(n("d"), (), "new")


async def test_an_attempt_that_waited_for_its_slot_in_vain_never_starts() -> None:
    """c is queued behind b of the same agent when b sends the run back to a: its first generation never runs."""

    async def b(job: AttemptJob) -> Finished:
        if job.key.generation > 1:
            return verified(job)
        return AttemptFailed(
            node=job.key.node, generation=1, attempt=1, failure=failure("invalid_output", blamed="a")
        )

    one_at_a_time = proposal(plan("a>b a>c b>e"))
    agents = tuple(replace(agent, max_concurrency=1) for agent in one_at_a_time.roster.agents)
    draft = replace(one_at_a_time, roster=replace(one_at_a_time.roster, agents=agents))
    theatre = Theatre(draft, {"b": b})
    done = await theatre.run()
    assert done.status == "completed"
    started = [(body.node, body.generation) for body in theatre.bodies(AttemptStarted)]
    assert ("c", 1) not in started
    assert started == [("a", 1), ("b", 1), ("a", 2), ("b", 2), ("c", 2), ("e", 1)]


async def test_stopping_records_no_end_of_what_runs() -> None:
    reached = asyncio.Event()

    async def a(job: AttemptJob) -> Finished:
        reached.set()
        await asyncio.Event().wait()
        raise AssertionError(job)

    theatre = Theatre(proposal(plan("a>b")), {"a": a})

    async def stop(executor: RunExecutor) -> None:
        await reached.wait()
        executor.stop()

    state = await theatre.run(during=stop)
    assert state.status == "running"
    assert state.node(n("a")).status == "running"
    assert theatre.bodies(AttemptCancelled) == []

    resumed = Theatre(theatre.draft, store=theatre.store, created=True)
    done = await resumed.run()
    assert done.status == "completed"
    job = resumed.jobs[0]
    assert (job.key.node, job.key.generation, job.key.attempt) == ("a", 1, 1)
    assert (job.epoch, job.previous_epoch) == (2, 1)
    assert resumed.jobs[1].previous_epoch is None


async def test_a_repair_that_proved_wrong_is_remembered_once_per_run() -> None:
    """An older version wrote the memory before the backtrack: a crash in between must not write it twice."""
    store = MemoryStore()
    task_class = "research/claims/cs.databases+law.contracts"

    async def a(job: AttemptJob) -> Finished:
        key = (job.key.node, job.key.generation)
        if key == ("a", 1):
            return AttemptFailed(
                node=n("a"), generation=1, attempt=1, failure=failure("domain_closed", domain=CONTRACTS)
            )
        if key == ("a", 2):
            return AttemptFailed(
                node=n("a"),
                generation=2,
                attempt=1,
                failure=failure("falsified", cause=RootCause.CAPABILITY, domain=CONTRACTS),
            )
        return verified(job)

    theatre = Theatre(proposal(plan("a>b")), {"a": a}, store=store)
    # As if a process had died between the memory and the event:
    store.add_failure(task_class, f"extend_mask:{CONTRACTS}", "falsified", RUN)
    store.create_run("r-0", "Another run", "2026-01-01T00:00:00.000Z")
    store.add_failure(task_class, f"extend_mask:{CONTRACTS}", "falsified", "r-0")
    done = await theatre.run()
    assert done.status == "completed"
    kinds = [body.plan.repair.kind for body in theatre.bodies(Backtracked)]
    assert kinds == ["extend_mask", "change_agent"]
    assert [(record.repair, record.run) for record in store.failures(task_class)] == [
        (f"extend_mask:{CONTRACTS}", RUN),
        (f"extend_mask:{CONTRACTS}", "r-0"),
    ]
    assert done.assigned[n("b")] == A1


def _falsified_once() -> Mapping[str, Play]:
    """Raises a's mask, which proves wrong in the next generation: the second repair remembers the first."""

    async def a(job: AttemptJob) -> Finished:
        match job.key.generation:
            case 1:
                found = failure("domain_closed", domain=CONTRACTS)
            case 2:
                found = failure("falsified", cause=RootCause.CAPABILITY, domain=CONTRACTS)
            case _:
                return verified(job)
        return AttemptFailed(node=n("a"), generation=job.key.generation, attempt=1, failure=found)

    return {"a": a}


class Watched(MemoryStore):
    """Notes which threads write into it."""

    def __init__(self) -> None:
        super().__init__()
        self.writers: list[str] = []

    def commit(self, operations: Sequence[Operation[object]]) -> list[Outcome]:
        self.writers.append(threading.current_thread().name)
        return super().commit(operations)


async def test_the_event_loop_waits_for_no_commit_of_the_executor() -> None:
    """A message that leads to nothing, and a repair for the memory of all runs: the writer commits both."""
    store = Watched()
    theatre = Theatre(proposal(plan("a>b")), _falsified_once(), store=store)
    store.post(RUN, "continue", "{}", "m-1")

    async def forget_the_lease(executor: RunExecutor) -> None:
        del executor
        store.writers.clear()

    assert (await theatre.run(during=forget_the_lease)).status == "completed"
    assert store.pending(RUN) == ()
    assert [record.outcome for record in store.failures()] == ["falsified"]
    assert store.writers.pop() == threading.current_thread().name, "the test itself gives up the lease"
    assert set(store.writers) == {"maskgrad-writer"}


class RefusesSecondBacktrack(Writer):
    """Refuses the append that holds the second backtrack, as a disk does that fails right there."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self._seen = 0

    async def append(self, run: str, expected_head: int, events: Sequence[NewEvent], **more: Any) -> int:
        self._seen += any(event.type == "backtrack.started" for event in events)
        refused = [replace(events[0], cause=10_000), *events[1:]] if self._seen == 2 else events
        return await super().append(run, expected_head, refused, **more)


async def test_a_repair_is_remembered_with_its_backtrack_or_not_at_all() -> None:
    theatre = Theatre(proposal(plan("a>b")), _falsified_once())
    with pytest.raises(NotStorable):
        await theatre.run(writer=RefusesSecondBacktrack(theatre.store))
    assert len(theatre.bodies(Backtracked)) == 1
    assert theatre.store.failures() == ()
    done = await Theatre(theatre.draft, _falsified_once(), store=theatre.store, created=True).run()
    assert done.status == "completed"
    assert len(theatre.bodies(Backtracked)) == 2
    assert len(theatre.store.failures()) == 1


async def test_children_start_only_after_the_commit_of_what_they_build_on() -> None:
    committed: list[int] = []

    async def b(job: AttemptJob) -> Finished:
        committed.append(job.state.seq)
        stored = [event.body for event in events_of(theatre.store, RUN)]
        assert any(isinstance(body, AttemptVerified) and body.node == NodeId("a") for body in stored)
        return verified(job)

    theatre = Theatre(proposal(plan("a>b")), {"b": b})
    assert (await theatre.run()).status == "completed"
    assert len(committed) == 1


async def test_events_name_their_cause() -> None:
    theatre = Theatre(proposal(plan("a>b")))
    await theatre.run()
    by_seq = {event.seq: event for event in theatre.log}
    for event in theatre.log:
        if isinstance(event.body, AttemptStarted) and event.body.node == "b":
            assert event.cause is not None
            assert isinstance(by_seq[event.cause].body, AttemptVerified)
        if isinstance(event.body, AttemptVerified):
            assert event.cause is not None
            assert isinstance(by_seq[event.cause].body, AttemptStarted)
        if isinstance(event.body, RunEnded):
            assert event.cause == event.seq - 1


def died_after(theatre: Theatre, *bodies: Body) -> None:
    """Write to the log what a process recorded before it died."""
    append(
        theatre.store,
        theatre.clock,
        load(theatre.store, RUN),
        [ExecutorTookOver(epoch=0, holder="dead"), *bodies],
    )


def begun(node: str) -> AttemptStarted:
    key = ContentDigest(f"key of {node}")
    return AttemptStarted(node=n(node), generation=1, attempt=1, epoch=0, agent=A1, input_key=key)


def failed(node: str, kind: FailureKind, *, blamed: str | None = None) -> AttemptFailed:
    return AttemptFailed(node=n(node), generation=1, attempt=1, failure=failure(kind, blamed=blamed))


async def test_two_repairs_that_wait_side_by_side_are_decided_one_after_the_other() -> None:
    """Both followers of a failed when the process died; the first repair makes the second one obsolete."""
    theatre = Theatre(proposal(plan("a>b a>d")))
    passed = AttemptVerified(
        node=n("a"),
        generation=1,
        attempt=1,
        output=ArtefactId("x"),
        content=ContentDigest("x"),
        path=1,
        mode="scripted",
        verification=verification(),
    )
    died_after(
        theatre,
        begun("a"),
        passed,
        begun("b"),
        begun("d"),
        failed("b", "invalid_output", blamed="a"),
        failed("d", "invalid_output", blamed="a"),
    )
    done = await theatre.run()
    assert done.status == "completed"
    assert [(body.plan.node, body.plan.invalidated) for body in theatre.bodies(Backtracked)] == [
        ("b", ("a", "b", "d"))
    ]
    assert [job.key.node for job in theatre.jobs] == ["a", "b", "d"]


async def test_two_questions_that_wait_side_by_side_have_two_names() -> None:
    theatre = Theatre(proposal(plan("a>c b>c"), roster=SOLO))
    died_after(theatre, begun("a"), begun("b"), failed("a", "refused"), failed("b", "refused"))
    done = await theatre.run()
    assert done.status == "suspended"
    asked = [(str(body.request.id), str(body.request.node)) for body in theatre.bodies(RequestOpened)]
    assert asked == [(f"{RUN}.q1", "a"), (f"{RUN}.q2", "b")]


async def test_a_message_that_nobody_can_read_is_refused_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    theatre = Theatre(proposal(plan("a>b")))
    theatre.store.post(RUN, "answer", "[]", "m-1")
    theatre.store.post(RUN, "dance", "{}", "m-2")
    done = await theatre.run()
    assert done.status == "completed"
    assert theatre.store.pending(RUN) == ()
    refused = theatre.bodies(MessageRefused)
    assert [(body.kind, body.request) for body in refused] == [("answer", None), ("dance", None)]
    assert [line.split(":")[0] for line in caplog.messages] == ["refused", "refused"]
    assert "is no 'answer'" in caplog.messages[0]
    assert "unknown kind 'dance'" in caplog.messages[1]


async def test_a_refused_answer_is_noted_at_its_request_and_bars_no_other() -> None:
    theatre = Theatre(proposal(plan("", lone="a"), roster=SOLO))
    died_after(theatre, begun("a"), failed("a", "refused"))
    suspended = await theatre.run()
    (request,) = suspended.requests.values()
    name = answer_name(request)
    bad = json.dumps({"request": request.id, "answer": {"choice": "abandn"}, "by": "ann"})
    theatre.store.post(RUN, "answer", bad, name)
    again = await theatre.run()
    assert again.status == "suspended"
    (noted,) = again.requests.values()
    assert noted.id == request.id
    assert len(noted.refused) == 1
    assert "choice" in noted.refused[0]
    (refused,) = theatre.bodies(MessageRefused)
    assert (refused.request, refused.by) == (request.id, "ann")
    assert answer_name(noted) != name
    theatre.store.post(RUN, "answer", bad.replace("abandn", "abandon"), answer_name(noted))
    done = await theatre.run()
    assert done.requests.get(request.id) is None
    assert done.node(n("a")).status == "skipped"


async def test_a_bug_while_delivering_ends_the_run_with_its_trace() -> None:
    def breaks(state: RunState, journal: Journal) -> RunEnded:
        del state, journal
        raise KeyError("a bug of ours")

    theatre = Theatre(proposal(plan("a>b")), deliver=breaks)
    done = await theatre.run()
    assert done.status == "failed"
    (end,) = theatre.bodies(RunEnded)
    assert end.error is not None
    assert end.error.startswith("Traceback")
    assert "KeyError: 'a bug of ours'" in end.error
    assert load(theatre.store, RUN) == done


async def test_a_bug_while_an_event_is_applied_ends_the_run_and_what_was_under_way() -> None:
    """An event out of place, as only a bug can make it: nothing can be made of it."""

    async def waits(job: AttemptJob) -> Finished:
        await asyncio.Event().wait()
        raise AssertionError(job)

    async def c(job: AttemptJob) -> Finished:
        job.emit(ProposalApproved(revision=7, sha256=proposal_sha256(theatre.draft), by="nobody"))
        return await waits(job)

    theatre = Theatre(proposal(plan("", lone="a c")), {"a": waits, "c": c})
    done = await theatre.run()
    assert done.status == "failed"
    assert "BrokenLog" in (done.internal_error or "")
    cancelled = [str(body.node) for body in theatre.bodies(AttemptCancelled)]
    assert cancelled == ["a", "c"]
    assert done.counts.active == 0
    assert load(theatre.store, RUN) == done


async def test_a_failure_of_the_store_leaves_the_run_to_be_gone_on_with() -> None:
    async def a(job: AttemptJob) -> Finished:
        raise StoreBusy(f"runs.db of {job.key.node}", 5.0)

    theatre = Theatre(proposal(plan("a>b")), {"a": a})
    with pytest.raises(StoreBusy):
        await theatre.run()
    assert theatre.bodies(RunEnded) == []
    assert (await Theatre(theatre.draft, store=theatre.store, created=True).run()).status == "completed"


class SlowWriter(Writer):
    """Holds the first append of an event of a type until it is told to go on."""

    def __init__(
        self, store: MemoryStore, entered: asyncio.Event, go_on: asyncio.Event, held: str = "call.returned"
    ) -> None:
        super().__init__(store)
        self._entered, self._go_on, self._held = entered, go_on, held

    async def append(self, run: str, expected_head: int, events: Sequence[NewEvent], **more: Any) -> int:
        if any(event.type == self._held for event in events) and not self._entered.is_set():
            self._entered.set()
            await self._go_on.wait()
        return await super().append(run, expected_head, events, **more)


async def test_what_was_recorded_behind_a_slow_append_is_kept_when_a_listener_breaks() -> None:
    entered, go_on = asyncio.Event(), asyncio.Event()

    async def a(job: AttemptJob) -> Finished:
        job.emit(called(job, 0))
        await entered.wait()
        job.emit(called(job, 1))
        await asyncio.Event().wait()
        raise AssertionError(job)

    def breaks(event: Event, state: RunState) -> None:
        del state
        if isinstance(event.body, CallReturned) and event.body.index == 1:
            asyncio.get_running_loop().call_soon(go_on.set)
            raise OSError("the listener's terminal is gone")

    theatre = Theatre(proposal(plan("a>b")), {"a": a}, listeners=(breaks,))
    with pytest.raises(OSError, match="terminal is gone"):
        await theatre.run(writer=SlowWriter(theatre.store, entered, go_on))
    assert [body.index for body in theatre.bodies(CallReturned)] == [0, 1]


async def test_a_report_is_made_when_everything_that_it_reads_is_in_the_store() -> None:
    """More outputs than are kept in memory are read back from the store, where the newest ones may not be yet."""
    stored: list[tuple[int, int]] = []

    def deliver(state: RunState, _: Journal) -> RunEnded:
        stored.append((theatre.log[-1].seq, state.seq))
        return RunEnded(outcome="completed")

    theatre = Theatre(proposal(plan("", lone="a b c"), roster=SOLO), deliver=deliver)
    done = await theatre.run()
    assert done.status == "completed"
    ((on_disk, recorded),) = stored
    assert on_disk == recorded


def checkpoint(epoch: int) -> CheckpointRow:
    return CheckpointRow(
        thread=f"{RUN}/a/1/1/{epoch}",
        ns="",
        id="1",
        parent=None,
        encoding="json",
        checkpoint=b"{}",
        metadata=b"{}",
    )


def dead_process(theatre: Theatre, *bodies: Body, keeps: bool = True) -> None:
    """A process took the run over, recorded `bodies`, kept a checkpoint for `a`, and died; its lease is over."""
    lease = theatre.store.acquire(RUN, "dead", 30.0)
    took_over = ExecutorTookOver(epoch=lease.epoch, holder="dead")
    append(theatre.store, theatre.clock, load(theatre.store, RUN), [took_over, *bodies], lease=lease)
    if keeps:
        theatre.store.put_checkpoint(checkpoint(lease.epoch))
    theatre.store.release(lease)


def start_of_a(theatre: Theatre, epoch: int) -> AttemptStarted:
    state = load(theatre.store, RUN)
    return AttemptStarted(
        node=n("a"),
        generation=1,
        attempt=1,
        epoch=epoch,
        agent=state.assigned[n("a")],
        input_key=input_key(state, n("a")),
    )


async def test_the_end_of_a_resumed_attempt_deletes_the_threads_of_every_epoch_until_now() -> None:
    """The second process died after it had carried the checkpoint over, its own start of the attempt not recorded."""
    theatre = Theatre(proposal(plan("", lone="a"), roster=SOLO))
    dead_process(theatre, start_of_a(theatre, 1))
    dead_process(theatre)
    assert (await theatre.run()).status == "completed"
    (job,) = theatre.jobs
    assert (job.epoch, job.previous_epoch) == (3, 1)
    assert theatre.store.checkpoints() == ()


@pytest.mark.parametrize("asked", ["in the log", "in the inbox"])
async def test_a_cancel_ends_what_dead_processes_left_with_all_its_threads(asked: str) -> None:
    theatre = Theatre(proposal(plan("a>b"), roster=SOLO))
    cancel = [CancelRequested(by="ann")] if asked == "in the log" else []
    dead_process(theatre, start_of_a(theatre, 1), keeps=False)
    dead_process(theatre, *cancel)
    if asked == "in the inbox":
        theatre.store.post(RUN, "cancel", '{"by":"ann"}', "c-1")
    done = await theatre.run()
    assert (done.status, done.node(n("a")).status) == ("cancelled", "pending")
    assert [body.node for body in theatre.bodies(AttemptCancelled)] == ["a"]
    assert theatre.jobs == []
    assert theatre.store.checkpoints() == ()


class Panic(BaseException):
    """What libraries raise whose core is not Python, when it gives up."""


async def test_an_attempt_that_panics_ends_the_execution_instead_of_hanging_it() -> None:
    async def panics(job: AttemptJob) -> Finished:
        raise Panic(job.key.node)

    theatre = Theatre(proposal(plan("", lone="a"), roster=SOLO), plays={"a": panics})
    with pytest.raises(Panic, match="a"):
        await theatre.run()


async def test_what_is_paused_while_it_waits_for_the_disk_does_not_start() -> None:
    """The pause is recorded behind the acceptance that lets `b` start, and before that is on disk."""
    entered, go_on = asyncio.Event(), asyncio.Event()
    theatre = Theatre(proposal(plan("a>b"), roster=SOLO))

    def pause(event: Event, state: RunState) -> None:
        if isinstance(event.body, AttemptVerified):
            theatre.store.post(state.run, "pause", '{"by":"ann"}', "p-1")
            theatre.clock.look()
        if isinstance(event.body, RunPaused):
            assert entered.is_set()
            go_on.set()

    async def look(executor: RunExecutor) -> None:
        while theatre.log[-1].body.type != "run.paused":
            await asyncio.sleep(0)
        executor.stop()

    theatre.listeners = [pause]
    await theatre.run(during=look, writer=SlowWriter(theatre.store, entered, go_on, "attempt.verified"))
    assert [event.body.type for event in theatre.log][-2:] == ["attempt.verified", "run.paused"]
    assert [job.key.node for job in theatre.jobs] == ["a"]
