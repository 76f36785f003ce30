"""Execute one run: turn commands into events, attempts into tasks, and answers of persons into the log.

The loop is short, because it decides nothing: it records an event, asks `decide` what follows, performs that, and takes
the next fact from an attempt, a timer or the inbox. Events are recorded in one place and in one order.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, assert_never

from pydantic import TypeAdapter, ValidationError

from agents.spec import AgentId
from graphs.plan import NodeId
from orchestrator.core.commands import (
    AcceptAsIs,
    AskPerson,
    Backtrack,
    CancelAll,
    CancelAttempts,
    Command,
    Deliver,
    EndCancelled,
    RecordBlockage,
    ReopenReview,
    RetryAttempt,
    ReuseOutput,
    SkipNodes,
    StartAttempt,
    SuspendRun,
)
from orchestrator.core.decide import decide, recover
from orchestrator.core.events import (
    AttemptCancelled,
    AttemptFailed,
    AttemptProduced,
    AttemptRejected,
    AttemptStarted,
    AttemptVerified,
    Backtracked,
    BlockageClassified,
    Body,
    CallReturned,
    CancelRequested,
    ExecutorTookOver,
    NodeAcceptedAsIs,
    NodeReused,
    NodesSkipped,
    RequestAnswered,
    RequestOpened,
    RetryScheduled,
    ReviewReopened,
    RunContinued,
    RunEnded,
    RunPaused,
    RunSuspended,
)
from orchestrator.core.ids import RequestId
from orchestrator.core.proposal import base_agent
from orchestrator.core.requests import Answer, InvalidAnswer, check_answer
from orchestrator.core.state import ENDED, RunState
from orchestrator.shell.attempts import AttemptJob, Finished, attempt_thread
from orchestrator.shell.journal import Journal
from orchestrator.shell.ports import AttemptKey, Clock, Dispatcher, Ticket
from orchestrator.shell.store.rows import InboxMessage, Lease

INBOX_INTERVAL_S: Final = 0.25
"""How often the inbox is looked at for answers of other processes, in seconds."""
LEASE_TTL_S: Final = 30.0
"""How long a lease holds without renewal: after a crash, another process can take over that soon."""

ANSWER: TypeAdapter[Answer] = TypeAdapter(Answer)


class Inbox(Protocol):
    """The store, as far as the executor needs it beyond the journal."""

    def pending(self, run: str, after: int = 0) -> Sequence[InboxMessage]:
        """Return messages that were not folded in yet, in order."""
        ...

    def mark_folded(self, run: str, ids: Sequence[int], *, lease: Lease | None = None) -> None:
        """Take messages out of `pending` that lead to no event."""
        ...

    def renew(self, lease: Lease, ttl_s: float) -> Lease:
        """Prolong the lease; raises when it is no longer current."""
        ...


@dataclass(frozen=True, slots=True)
class _Fact:
    """Something that an attempt reports to the loop."""

    body: Body
    cause: int
    thread: str | None = None
    """The checkpoint thread that ends with it."""


RunAttempt = Callable[[AttemptJob], Awaitable[Finished]]
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
        self._priorities: Mapping[NodeId, float] = {}
        self._clock = clock
        self._holder = holder
        self._facts: asyncio.Queue[_Fact | BaseException | None] = asyncio.Queue()
        self._agenda: deque[tuple[Command, int]] = deque()
        self._performing = False
        self._left_behind: dict[NodeId, int] = {}
        self._folded: set[int] = set()
        self._stopping = False
        self._renewed = clock.monotonic()

    async def execute(self) -> RunState:
        """Run until the run has ended, waits for persons only, or is back in review; return its state.

        Raises what the store raises when it refuses to go on; everything recorded before is kept.
        """
        self._take_over()
        listener = asyncio.ensure_future(self._watch())
        try:
            while not self._at_rest():
                await self._next_fact()
        finally:
            listener.cancel()
            self._dispatcher.cancel_all()
            await self._dispatcher.drain()
        while not self._facts.empty():
            await self._next_fact()
        await self._journal.flush()
        return self._journal.state

    def stop(self) -> None:
        """Stop without ending the run: what was accepted is kept, the rest can be resumed."""
        self._stopping = True
        self._dispatcher.hold()
        self._facts.put_nowait(None)

    async def _next_fact(self) -> None:
        fact = await self._facts.get()
        if isinstance(fact, BaseException):
            raise fact
        if fact is not None:
            self._take(fact)

    def _at_rest(self) -> bool:
        state = self._journal.state
        return self._stopping or state.status in ENDED or state.status in ("suspended", "reviewing")

    def _take_over(self) -> None:
        state = self._journal.state
        index = state.index
        assert index is not None, "only an approved run is executed"
        self._left_behind = {
            name: state.node(name).epoch
            for name in index.order
            if state.node(name).status in ("running", "verifying")
        }
        self._priorities = self._priorities_of(state)
        event = self._journal.record(ExecutorTookOver(epoch=self._journal.lease.epoch, holder=self._holder))
        if self._journal.state.paused:
            self._dispatcher.hold()
        self._fold_inbox()
        self._perform_all([(command, event.seq) for command in recover(self._journal.state)])

    def _take(self, fact: _Fact) -> None:
        threads = (fact.thread,) if fact.thread else ()
        body = fact.body
        if not isinstance(body, AttemptCancelled) and self._is_late(body):
            if fact.thread is None:
                return
            # A result of an attempt that a backtrack made obsolete is refused (architecture 5).
            assert isinstance(body, AttemptVerified | AttemptRejected | AttemptFailed), (
                "only these end a thread"
            )
            body = AttemptCancelled(node=body.node, generation=body.generation, attempt=body.attempt)
        self._record(body, fact.cause, delete_threads=threads)

    def _is_late(self, body: Body) -> bool:
        if not isinstance(
            body, CallReturned | AttemptProduced | AttemptVerified | AttemptRejected | AttemptFailed
        ):
            return False
        node = self._journal.state.node(body.node)
        current = node.generation == body.generation and node.attempt == body.attempt
        return not current or node.status not in ("running", "verifying")

    def _submit(self, command: StartAttempt, cause: int) -> None:
        agent = self._journal.state.agent_of(command.node)
        key = AttemptKey(node=command.node, generation=command.generation, attempt=command.attempt)
        ticket = Ticket(
            key=key,
            agent=base_agent(agent.id),
            agent_cap=agent.max_concurrency,
            priority=self._priorities.get(command.node, 0.0),
            delay_s=command.delay_s,
        )
        self._dispatcher.submit(ticket, lambda: self._attempt(command, key, cause))

    async def _attempt(self, command: StartAttempt, key: AttemptKey, cause: int) -> None:
        """One attempt as a task; what comes of it goes to the loop as a fact."""
        thread = None
        started = cause
        try:
            await self._journal.durable(cause)
            if self._journal.state.node(key.node).generation != key.generation:
                return
            epoch = self._journal.lease.epoch
            previous = self._left_behind.pop(key.node, None) if command.resumed else None
            self._record(
                AttemptStarted(
                    node=key.node,
                    generation=key.generation,
                    attempt=key.attempt,
                    epoch=epoch,
                    agent=self._journal.state.assigned[key.node],
                    input_key=command.input_key,
                ),
                cause,
            )
            started = self._journal.state.seq
            job = AttemptJob(
                state=self._journal.state,
                key=key,
                epoch=epoch,
                previous_epoch=previous,
                emit=lambda body: self._facts.put_nowait(_Fact(body=body, cause=started)),
                keep=self._journal.keep,
            )
            thread = attempt_thread(job, epoch)
            body: Body = await self._run_attempt(job)
        except asyncio.CancelledError:
            if not self._stopping:
                body = AttemptCancelled(node=key.node, generation=key.generation, attempt=key.attempt)
                self._facts.put_nowait(_Fact(body=body, cause=started, thread=thread))
            raise
        except Exception as error:  # noqa: BLE001 - whatever breaks here ends the loop, with its own type
            self._facts.put_nowait(error)
        else:
            self._facts.put_nowait(_Fact(body=body, cause=started, thread=thread))

    async def _watch(self) -> None:
        """Fold in what other processes ask for, and keep the lease."""
        try:
            while True:
                await self._clock.sleep(INBOX_INTERVAL_S)
                self._fold_inbox()
                if self._clock.monotonic() - self._renewed > LEASE_TTL_S / 3:
                    self._journal.lease = self._inbox.renew(self._journal.lease, LEASE_TTL_S)
                    self._renewed = self._clock.monotonic()
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - a store that fails or a lost lease ends the loop, with its own type
            self._facts.put_nowait(error)

    def _fold_inbox(self) -> None:
        for message in self._inbox.pending(self._journal.run):
            if message.id in self._folded:
                continue
            self._folded.add(message.id)
            body = asked_for(self._journal.state, message)
            if body is None:
                self._inbox.mark_folded(self._journal.run, [message.id], lease=self._journal.lease)
            else:
                self._record(body, None, folded=(message.id,))
        self._facts.put_nowait(None)

    def _record(
        self,
        body: Body,
        cause: int | None,
        *,
        delete_threads: Sequence[str] = (),
        folded: Sequence[int] = (),
    ) -> None:
        event = self._journal.record(body, cause=cause, delete_threads=delete_threads, folded=folded)
        if isinstance(body, RunPaused):
            self._dispatcher.hold()
        elif isinstance(body, RunContinued):
            self._dispatcher.go_on()
        self._perform_all([(command, event.seq) for command in decide(self._journal.state, event)])

    def _perform_all(self, commands: Sequence[tuple[Command, int]]) -> None:
        """Perform commands first come, first served; each may record an event that enables more."""
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

    def _perform(self, command: Command, cause: int) -> None:
        match command:
            case StartAttempt():
                self._submit(command, cause)
            case CancelAttempts(node=node, before=before):
                self._dispatcher.cancel(node, before)
            case CancelAll():
                self._dispatcher.cancel_all()
            case ReuseOutput(node=node, generation=generation, input_key=key):
                self._record(NodeReused(node=node, generation=generation, input_key=key), cause)
            case RecordBlockage():
                self._record(
                    BlockageClassified(
                        node=command.node,
                        generation=command.generation,
                        attempt=command.attempt,
                        blockage=command.blockage,
                    ),
                    cause,
                )
            case RetryAttempt():
                self._record(
                    RetryScheduled(
                        node=command.node,
                        generation=command.generation,
                        attempt=command.attempt,
                        delay_s=command.delay_s,
                    ),
                    cause,
                )
            case Backtrack(plan=plan):
                self._record(Backtracked(plan=plan), cause)
            case AskPerson(request=request):
                self._record(RequestOpened(request=request), cause)
            case AcceptAsIs(node=node, generation=generation, request=request_id):
                self._record(NodeAcceptedAsIs(node=node, generation=generation, request=request_id), cause)
            case SkipNodes(nodes=nodes, reason=reason, detail=detail):
                self._record(NodesSkipped(nodes=nodes, reason=reason, detail=detail), cause)
            case SuspendRun():
                self._record(RunSuspended(requests=tuple(sorted(self._journal.state.requests.keys()))), cause)
            case ReopenReview(request=request_id):
                self._dispatcher.cancel_all()
                self._record(ReviewReopened(request=request_id), cause)
            case Deliver():
                self._record(self._deliver(self._journal.state, self._journal), cause)
            case EndCancelled():
                self._record(RunEnded(outcome="cancelled"), cause)
            case _:
                assert_never(command)


def asked_for(state: RunState, message: InboxMessage) -> Body | None:
    """Return the event that a message of another process asks for, or `None` when it no longer applies.

    Kinds: `pause`, `continue`, `cancel` with `{"by"}`; `answer` with `{"request", "answer", "by"}`. An answer counts
    only while its request is open and only if it is one of the choices; the first valid one wins.
    """
    document = json.loads(message.payload)
    by = str(document.get("by", "unknown"))
    match message.kind:
        case "pause":
            return None if state.paused else RunPaused(by=by)
        case "continue":
            return RunContinued(by=by) if state.paused else None
        case "cancel":
            return None if state.cancelling else CancelRequested(by=by)
        case "answer":
            return _answered(state, document, by)
        case _:
            return None


def _answered(state: RunState, document: Mapping[str, Any], by: str) -> RequestAnswered | None:
    request = state.requests.get(RequestId(str(document.get("request"))))
    if request is None:
        return None
    try:
        answer = ANSWER.validate_python(document.get("answer"))
        check_answer(request, answer)
    except (ValidationError, InvalidAnswer):
        return None
    if answer.agent and AgentId(answer.agent) not in state.agents:
        return None
    return RequestAnswered(request=request.id, node=request.node, answer=answer, by=by)
