"""The attempts of one run as tasks: which run here, which another process left, and what comes of each.

An attempt is handed to the dispatcher with what it was decided by. When its turn comes it is recorded as started,
unless something recorded meanwhile made it obsolete, and whatever comes of it goes to the executor's loop as a fact.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Set
from dataclasses import dataclass

from graphs.plan import NodeId
from orchestrator.core.commands import StartAttempt
from orchestrator.core.decide import still_open
from orchestrator.core.events import AttemptCancelled, AttemptStarted, Body, CallCommitted, Event
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import base_agent
from orchestrator.core.state import NodeState, RunState
from orchestrator.core.transition import ACTIVE
from orchestrator.shell.attempt_orders import AttemptJob
from orchestrator.shell.attempts import Rested
from orchestrator.shell.journal import Journal
from orchestrator.shell.ports import AttemptKey, Dispatcher, Ticket
from orchestrator.shell.store.rows import AttemptThread


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that an attempt reports to the loop."""

    body: Body
    cause: int
    ends: AttemptKey | None = None
    """The attempt that ends with it."""
    threads: tuple[str, ...] = ()
    """Its checkpoint threads, which end with it."""
    stored: asyncio.Future[bool] | None = None
    """Is told `True` once it is in the store, and `False` when it was not recorded, being obsolete."""


RunAttempt = Callable[[AttemptJob], Awaitable[Rested]]
Report = Callable[[Fact | BaseException], None]
Record = Callable[[Body, int], Event]


class AttemptTasks:
    """Starts the attempts of one run and knows which are under way."""

    def __init__(
        self,
        *,
        journal: Journal,
        dispatcher: Dispatcher,
        run_attempt: RunAttempt,
        report: Report,
        record: Record,
    ) -> None:
        """Return the tasks of a run: `report` takes facts without waiting, `record` an event and what follows."""
        self._journal = journal
        self._dispatcher = dispatcher
        self._run_attempt = run_attempt
        self._report = report
        self._record = record
        self._priorities: Mapping[NodeId, float] = {}
        self._live: set[AttemptKey] = set()
        """Attempts that were started in this process and have not ended: each will report its end as a fact."""
        self._left_behind: dict[AttemptKey, int] = {}
        """Attempts that the last process left unfinished, not gone on with yet, with its epoch."""
        self._stopping = False
        self._closed = False

    def take_over(self, priorities: Mapping[NodeId, float]) -> None:
        """Note what the last process left unfinished; `priorities` order the attempts that wait, greatest first."""
        state = self._journal.state
        self._priorities = priorities
        self._left_behind = {
            current_attempt(state.node(name)): state.node(name).epoch
            for name in state.nodes
            if state.node(name).status in ACTIVE
        }

    def stop(self) -> None:
        """Start nothing more; attempts that are cancelled from here on are left as they are, to be gone on with."""
        self._stopping = True
        self._dispatcher.hold()

    def close(self) -> None:
        """Hand nothing more to the dispatcher."""
        self._closed = True

    def is_live(self, key: AttemptKey) -> bool:
        """Tell whether an attempt was started in this process and has not ended."""
        return key in self._live

    def ended(self, key: AttemptKey) -> None:
        """Note that an attempt has reported its end."""
        self._live.discard(key)

    def left_threads(self, nodes: Set[NodeId]) -> tuple[str, ...]:
        """Return the checkpoint threads of attempts of `nodes` that were left behind and will not be gone on with."""
        keys = [key for key in self._left_behind if key.node in nodes]
        for key in keys:
            del self._left_behind[key]
        return tuple(thread for key in keys for thread in self.threads_until_now(key))

    def threads_until_now(self, key: AttemptKey) -> tuple[str, ...]:
        """Return every checkpoint thread that an attempt can have which another executor began.

        Each one until now may have died before or after it carried the checkpoint over.
        """
        run, until = self._journal.run, self._journal.lease.epoch
        return tuple(_thread(run, key, epoch) for epoch in range(1, until + 1))

    def submit(self, command: StartAttempt, cause: int) -> None:
        """Hand an attempt to the dispatcher; `cause` is the event that it was decided after."""
        agent = self._journal.state.agent_of(command.node)
        key = AttemptKey(node=command.node, generation=command.generation, attempt=command.attempt)
        ticket = Ticket(
            key=key,
            agent=base_agent(agent.id),
            agent_cap=agent.max_concurrency,
            priority=self._priorities.get(command.node, 0.0),
            provider=agent.model_policy.provider,
            delay_s=command.delay_s,
        )
        decided_in = self._journal.state

        def hand_over() -> None:
            # With nothing between turn and start, a pause or a backtrack in between is never missed.
            try:
                self._journal.check()
                if not self._closed:
                    self._dispatcher.submit(ticket, lambda: self._attempt(command, key, cause, decided_in))
            except Exception as error:  # noqa: BLE001 - whatever breaks here ends the loop, with its own type
                self._report(error)

        self._journal.once_durable(cause, hand_over)

    async def _attempt(
        self, command: StartAttempt, key: AttemptKey, cause: int, decided_in: RunState
    ) -> None:
        """One attempt as a task; what comes of it goes to the loop as a fact."""
        threads: tuple[str, ...] = ()
        started = cause
        try:
            await self._journal.room()
            # It waited for the disk and for a slot: a backtrack may have made it obsolete meanwhile.
            state = self._journal.state
            start = (
                command if _stands_on_the_same(decided_in, state, key.node) else still_open(state, command)
            )
            if not isinstance(start, StartAttempt):
                return
            started = self._record_start(start, key, cause)
            previous, epoch = self._left_behind.pop(key, None), self._journal.lease.epoch
            # A new one has its own: a checkpoint is in the store only together with the start of its attempt.
            new = previous is None
            threads = (_thread(self._journal.run, key, epoch),) if new else self.threads_until_now(key)
            body: Body = await self._run_attempt(self._job(key, started, previous))
        except asyncio.CancelledError:
            if key in self._live and not self._stopping:
                body = AttemptCancelled(node=key.node, generation=key.generation, attempt=key.attempt)
                self._report(Fact(body=body, cause=started, ends=key, threads=threads))
            raise
        except BaseException as error:  # noqa: BLE001 - whatever breaks here ends the loop, or it would wait for ever
            self._report(error)
        else:
            self._report(Fact(body=body, cause=started, ends=key, threads=threads))

    def _record_start(self, start: StartAttempt, key: AttemptKey, cause: int) -> int:
        self._live.add(key)
        body = AttemptStarted(
            node=key.node,
            generation=key.generation,
            attempt=key.attempt,
            epoch=self._journal.lease.epoch,
            agent=self._journal.state.assigned[key.node],
            input_key=start.input_key,
        )
        return self._record(body, cause).seq

    def _job(self, key: AttemptKey, started: int, previous_epoch: int | None) -> AttemptJob:
        return AttemptJob(
            state=self._journal.state,
            key=key,
            epoch=self._journal.lease.epoch,
            previous_epoch=previous_epoch,
            emit=lambda body: self._report(Fact(body=body, cause=started)),
            keep=self._journal.keep,
            keep_bytes=self._journal.keep_bytes,
            commit=lambda body: self._committed(body, started),
        )

    async def _committed(self, body: CallCommitted, started: int) -> bool:
        stored: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._report(Fact(body=body, cause=started, stored=stored))
        return await stored


def _stands_on_the_same(before: RunState, now: RunState, name: NodeId) -> bool:
    """Whether everything that an attempt of `name` is decided by is the very same; a quick look that never errs to yes.

    Values of a state are never changed in place, and what an attempt is decided by is these: the approved proposal, the
    sub-task's own state and agent, its predecessors' states, and whether the run goes on.
    """
    assert now.index is not None, "attempts exist for approved plans only"
    return (
        (now.status, now.cancelling) == (before.status, before.cancelling)
        and now.proposal is before.proposal
        and now.index is before.index
        and now.nodes[name] is before.nodes[name]
        and now.agent_of(name) is before.agent_of(name)
        and all(now.nodes[given] is before.nodes[given] for given in now.index.predecessors(name))
    )


def current_attempt(node: NodeState) -> AttemptKey:
    """Return the key of the newest attempt of a sub-task."""
    return AttemptKey(node=node.id, generation=node.generation, attempt=node.attempt)


def _thread(run: RunId, key: AttemptKey, epoch: int) -> str:
    return AttemptThread(
        run=run, node=key.node, generation=key.generation, attempt=key.attempt, epoch=epoch
    ).text
