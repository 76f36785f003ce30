"""Execute one run: turn commands into events, attempts into tasks, and answers of persons into the log.

The loop is short, because it decides nothing: it records an event, asks `decide` what follows, performs that, and takes
the next fact from an attempt, a timer or the inbox. Events are recorded in one place and in one order.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, assert_never

from graphs.plan import NodeId
from orchestrator.core.backtrack import BacktrackPlan
from orchestrator.core.commands import (
    Backtrack,
    CancelAll,
    CancelAttempts,
    Command,
    Deliver,
    ReopenReview,
    StartAttempt,
)
from orchestrator.core.decide import decide, recover, still_open
from orchestrator.core.events import (
    AttemptCancelled,
    AttemptFailed,
    AttemptHeld,
    AttemptProduced,
    AttemptRejected,
    AttemptVerified,
    Backtracked,
    Body,
    CallCommitted,
    CallReturned,
    CallStreamed,
    Event,
    ExecutorTookOver,
    MessageRefused,
    RequestAnswered,
    ReviewReopened,
    RunContinued,
    RunEnded,
    RunPaused,
)
from orchestrator.core.repairs import MEMORY_MARK
from orchestrator.core.state import ENDED, RunState
from orchestrator.core.transition import ACTIVE, is_running
from orchestrator.core.unsettled import end_gaps
from orchestrator.shell.attempt_tasks import AttemptTasks, Fact, RunAttempt, current_attempt
from orchestrator.shell.collector import rare_passes
from orchestrator.shell.decisions import recorded_as
from orchestrator.shell.inbox import Inbox, UnreadableMessage, asked_for, refusal
from orchestrator.shell.journal import Journal, JournalBroken
from orchestrator.shell.ports import Clock, Dispatcher
from orchestrator.shell.store.errors import StoreError
from orchestrator.shell.store.ports import Operation, StoreWrites
from orchestrator.shell.store.rows import InboxMessage

_LOG: Final = logging.getLogger(__name__)

INBOX_INTERVAL_S: Final = 0.25
"""How often the inbox is looked at for answers of other processes, in seconds."""
LEASE_TTL_S: Final = 30.0
"""How long a lease holds without renewal (`orchestrator.shell.lease_keeper`): after a crash, another process can take
over that soon."""


@dataclass(frozen=True, slots=True)
class _Due:
    """A command that waited for what it reads to be in the store."""

    command: Deliver
    cause: int


_OfAnAttempt = (
    AttemptProduced
    | AttemptVerified
    | AttemptRejected
    | AttemptFailed
    | AttemptHeld
    | CallCommitted
    | CallStreamed
)
MakeDelivery = Callable[[RunState, Journal], RunEnded]


class RunExecutor:
    """Executes one approved run in this process, under the journal's lease."""

    def __init__(
        self,
        *,
        journal: Journal,
        inbox: Inbox,
        dispatcher: Dispatcher,
        run_attempt: RunAttempt,
        deliver: MakeDelivery,
        priorities: Callable[[RunState], Mapping[NodeId, float]],
        clock: Clock,
        holder: str,
    ) -> None:
        self._journal = journal
        self._inbox = inbox
        self._dispatcher = dispatcher
        self._run_attempt = run_attempt
        self._deliver = deliver
        self._priorities_of = priorities
        self._clock = clock
        self._holder = holder
        self._facts: asyncio.Queue[Fact | _Due | BaseException | None] = asyncio.Queue()
        self._delivering: asyncio.Task[None] | None = None
        self._agenda: deque[tuple[Command, int]] = deque()
        self._performing = False
        self._attempts = AttemptTasks(
            journal=journal,
            dispatcher=dispatcher,
            run_attempt=run_attempt,
            report=self._facts.put_nowait,
            record=self._record,
        )
        self._folded: set[int] = set()
        self._remembered: set[tuple[str, str]] = set()
        """Classes of task and repairs that this execution wrote, or is writing, into the memory of all runs."""
        self._stopping = False
        self._resting = False

    async def execute(self) -> RunState:
        """Run until the run has ended, waits for persons only, or is back in review; return its state.

        Raises what the store raises when it refuses to go on, and what a listener raises; everything recorded before is
        kept, and the run can be gone on with. Any other error is a bug of ours: the run ends as `failed` with its
        trace, for a resume would only meet it again.
        """
        try:
            with rare_passes():
                return await self._run()
        except JournalBroken as broken:
            if broken.__cause__ is None:
                raise
            # The journal only relays: what the store said is what people can act on.
            raise broken.__cause__ from None
        except StoreError:
            raise
        except Exception as error:
            if error is self._journal.listener_error or self._journal.state.status in ENDED:
                raise
            return await self._fail(error)

    async def _run(self) -> RunState:
        self._take_over()
        watch = asyncio.ensure_future(self._watch())
        try:
            while not self._at_rest():
                await self._next_fact()
        finally:
            watch.cancel()
            if self._delivering is not None:
                self._delivering.cancel()
            self._attempts.close()
            self._dispatcher.cancel_all()
            await self._dispatcher.drain()
            # Also when something broke: one append can be under way while what was recorded since waits behind it.
            with suppress(JournalBroken):
                await self._journal.flush()
        # What attempts reported last is recorded; what follows from it is for the next execution to find.
        self._resting = True
        while not self._facts.empty():
            await self._next_fact()
        await self._journal.flush()
        return self._journal.state

    def abort(self, error: Exception) -> None:
        """End the execution with `error`, such as a lost lease; to be called on the event loop."""
        self._facts.put_nowait(error)

    async def _fail(self, error: Exception) -> RunState:
        """End the run with the trace of `error`; raises `error` where even that can't be written down.

        Nothing is decided any more: whatever broke would break again. Attempts that were under way end first, with
        their checkpoint threads.
        """
        trace = "".join(traceback.format_exception(error))
        journal = self._journal
        try:
            for name in sorted(journal.state.nodes.keys()):
                node = journal.state.node(name)
                if node.status in ACTIVE:
                    body = AttemptCancelled(node=name, generation=node.generation, attempt=node.attempt)
                    journal.record(
                        body, delete_threads=self._attempts.threads_until_now(current_attempt(node))
                    )
            journal.record(RunEnded(outcome="failed", error=trace, gaps=end_gaps(journal.state)))
            await journal.flush()
        except Exception as again:
            raise error from again  # the first one explains the rest
        return journal.state

    def stop(self) -> None:
        """Stop without ending the run: what was accepted is kept, the rest can be resumed."""
        self._stopping = True
        self._attempts.stop()
        self._facts.put_nowait(None)

    async def _next_fact(self) -> None:
        fact = await self._facts.get()
        match fact:
            case BaseException():
                raise fact
            case Fact():
                self._take(fact)
            case _Due(command=command, cause=cause):
                # It waited: what was recorded meanwhile may have made it obsolete.
                if still_open(self._journal.state, command) is not None:
                    self._record(self._deliver(self._journal.state, self._journal), cause)
            case None:
                pass
            case _:
                assert_never(fact)

    def _at_rest(self) -> bool:
        state = self._journal.state
        return self._stopping or state.status in ENDED or state.status in ("suspended", "reviewing")

    def _take_over(self) -> None:
        self._attempts.take_over(self._priorities_of(self._journal.state))
        event = self._journal.record(ExecutorTookOver(epoch=self._journal.lease.epoch, holder=self._holder))
        if self._journal.state.paused:
            self._dispatcher.hold()
        self._fold_inbox()
        self._perform_all([(command, event.seq) for command in recover(self._journal.state)])

    def _take(self, fact: Fact) -> None:
        if fact.ends is not None:
            self._attempts.ended(fact.ends)
        if fact.stored is not None:
            self._take_awaited(fact, fact.stored)
            return
        body = self._unless_late(fact.body)
        if body is not None:
            self._record(body, fact.cause, delete_threads=fact.threads)

    def _take_awaited(self, fact: Fact, stored: asyncio.Future[bool]) -> None:
        """Record what an attempt must not go on without; one that was stopped meanwhile goes on with nothing."""
        if stored.done():
            return
        if self._unless_late(fact.body) is None:
            stored.set_result(False)
            return
        event = self._record(fact.body, fact.cause)

        def told() -> None:
            if stored.done():
                return
            try:
                self._journal.check()
            except JournalBroken as broken:
                stored.set_exception(broken)
            else:
                stored.set_result(True)

        self._journal.once_durable(event.seq, told)

    def _unless_late(self, body: Body) -> Body | None:
        """What is recorded of an attempt's fact: a result that a backtrack made obsolete is refused."""
        match body:
            case AttemptVerified() | AttemptRejected() | AttemptFailed() | AttemptHeld() if self._is_late(
                body
            ):
                return AttemptCancelled(node=body.node, generation=body.generation, attempt=body.attempt)
            case AttemptProduced() | CallCommitted() | CallStreamed() if self._is_late(body):
                return None
            case CallReturned() if self._journal.state.status in ENDED:
                return None
            case _:
                # A late call was paid for and stays in the log; it means nothing for its sub-task.
                return body

    def _is_late(self, body: _OfAnAttempt) -> bool:
        node = self._journal.state.nodes.get(body.node)
        return node is None or not is_running(node, body.generation, body.attempt)

    async def _watch(self) -> None:
        """Fold in what other processes ask for."""
        try:
            while True:
                await self._clock.sleep(INBOX_INTERVAL_S)
                self._journal.check()
                self._fold_inbox()
        except Exception as error:  # noqa: BLE001 - a store that fails ends the loop, with its own type
            self._facts.put_nowait(error)

    def _fold_inbox(self) -> None:
        for message in self._inbox.pending(self._journal.run):
            if message.id in self._folded:
                continue
            self._folded.add(message.id)
            body = self._asked_for(message)
            if body is None:
                self._journal.ride(None, self._folding(message.id))
            else:
                self._record(body, None, folded=(message.id,))
                self._facts.put_nowait(None)

    def _folding(self, message: int) -> Operation[None]:
        """Return the write that takes a message which leads to no event out of the inbox.

        It follows what was recorded before: events that the message came too late for are stored first, or with it.
        """
        run, lease = self._journal.run, self._journal.lease
        return lambda writes: writes.mark_folded(run, [message], lease=lease)

    def _asked_for(self, message: InboxMessage) -> Body | None:
        """What a message leads to; one that can't be read is refused in the log, or it would stop every resume."""
        state = self._journal.state
        try:
            body = asked_for(state, message)
        except UnreadableMessage as error:
            _LOG.warning("refused: %s", error)
            body = refusal(state, message, str(error))
        if isinstance(body, RequestAnswered) and not body.at:
            body = replace(body, at=self._clock.now())
        # Nothing follows the end of a run but its end.
        return None if isinstance(body, MessageRefused) and state.status in ENDED else body

    def _record(
        self,
        body: Body,
        cause: int | None,
        *,
        delete_threads: Sequence[str] = (),
        folded: Sequence[int] = (),
    ) -> Event:
        event = self._journal.record(body, cause=cause, delete_threads=delete_threads, folded=folded)
        if isinstance(body, RunPaused):
            self._dispatcher.hold()
        elif isinstance(body, RunContinued):
            self._dispatcher.go_on()
        self._perform_all([(command, event.seq) for command in decide(self._journal.state, event)])
        return event

    def _perform_all(self, commands: Sequence[tuple[Command, int]]) -> None:
        """Perform commands first come, first served; each may record an event that enables more."""
        if self._resting:
            return
        self._agenda.extend(commands)
        if self._performing:
            return
        self._performing = True
        try:
            while self._agenda:
                command, cause = self._agenda.popleft()
                self._perform(command, cause)
        finally:
            self._performing = False

    def _perform(self, decided: Command, cause: int) -> None:
        """Perform what stands for `decided` now: events that were recorded since may have made it obsolete."""
        state = self._journal.state
        # `cause` is what it was decided after: when nothing was recorded since, there is nothing to ask again.
        command = decided if state.seq == cause else still_open(state, decided)
        match command:
            case None:
                return
            case StartAttempt():
                self._attempts.submit(command, cause)
            case CancelAttempts(node=node, before=before):
                self._dispatcher.cancel(node, before)
            case CancelAll():
                self._dispatcher.cancel_all()
                self._end_left_behind(cause)
            case Backtrack(plan=plan):
                self._remember(plan)
                threads = self._attempts.left_threads(set(plan.invalidated))
                self._record(Backtracked(plan=plan), cause, delete_threads=threads)
            case ReopenReview(request=request_id):
                self._dispatcher.cancel_all()
                threads = self._attempts.left_threads(set(self._journal.state.nodes.keys()))
                self._record(ReviewReopened(request=request_id), cause, delete_threads=threads)
            case Deliver():
                self._delivering = asyncio.ensure_future(self._once_kept(command, cause))
            case _:
                self._record(recorded_as(command, self._journal.state), cause)

    async def _once_kept(self, command: Deliver, cause: int) -> None:
        """Hand `command` to the loop when everything before it is in the store: a report is made from there."""
        try:
            await self._journal.durable(cause)
        except Exception as error:  # noqa: BLE001 - whatever breaks here ends the loop, with its own type
            self._facts.put_nowait(error)
        else:
            self._facts.put_nowait(_Due(command=command, cause=cause))

    def _end_left_behind(self, cause: int) -> None:
        """End the attempts that nobody runs in this process: nothing else would ever end them."""
        state = self._journal.state
        for name in state.nodes:
            node = state.node(name)
            key = current_attempt(node)
            if node.status in ACTIVE and not self._attempts.is_live(key):
                body = AttemptCancelled(node=name, generation=node.generation, attempt=node.attempt)
                self._record(body, cause, delete_threads=self._attempts.left_threads({name}))

    def _remember(self, plan: BacktrackPlan) -> None:
        """Write a repair that proved wrong into the memory of all runs, once per run; a shadow only records.

        It goes with the backtrack that is recorded next, in one transaction: a crash leaves both or neither. What an
        older version wrote by itself, before a crash took the backtrack, stands there already.
        """
        if plan.remember is None or self._journal.state.shadow_of is not None:
            return
        task_class, _, repair = plan.remember.rpartition(MEMORY_MARK)
        run, lease = str(self._journal.run), self._journal.lease
        known = self._inbox.failures(task_class)
        written = (task_class, repair) in self._remembered
        if written or any((record.repair, record.run) == (repair, run) for record in known):
            return
        self._remembered.add((task_class, repair))

        def remember(writes: StoreWrites) -> None:
            writes.add_failure(task_class, repair, "falsified", run, lease=lease)

        self._journal.ride(None, remember)
