"""One run's log and state in this process: events are recorded in order and committed in groups.

`record` stamps an event, applies it and hands it to the writer without waiting; whoever must not act before an event
is on disk awaits `durable`. At most one append of a run is under way, so everything recorded meanwhile goes into the
next one: the group grows with the load. When the store refuses, nothing more is recorded and every waiter learns it.

What nobody acts on goes with the next group instead of asking for one: that an attempt started or produced something,
and its checkpoint (`ride`). It follows by itself after `LINGER_S`, so that others see it and a crash loses no more than
that. An attempt that ends sooner costs one commit, and its checkpoint none: it would be deleted where it is written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from orchestrator.core.events import AttemptProduced, AttemptStarted, Body, Event
from orchestrator.core.ids import ArtefactId, RunId
from orchestrator.core.proposal import canonical_json
from orchestrator.core.reducer import apply
from orchestrator.core.state import RunState
from orchestrator.shell.ports import Clock
from orchestrator.shell.runs import new_event
from orchestrator.shell.store.ports import Operation
from orchestrator.shell.store.rows import Lease, NewEvent, artefact_digest

Listener = Callable[[Event, RunState], None]
"""Told of each event after it was applied, in order; must not block."""


WAITING_LIMIT: Final = 1024
"""Events of a run that may wait for the disk: with more of them no attempt begins, so that a slow disk slows the run
down and does not fill the memory. Some hundreds of sub-tasks, more than a disk that keeps up ever leaves waiting."""
LINGER_S: Final = 0.05
"""How long what nobody acts on waits for company, in seconds: what a crash may lose of it. Much longer than a commit,
so that a short attempt is one group; much shorter than a person notices."""
_WITH_THE_NEXT: Final = (AttemptStarted, AttemptProduced)
"""Events that nobody acts on. A call with an effect on the world waits for `durable` of what it has to follow."""


class Appender(Protocol):
    """The writer, as far as a journal needs it."""

    async def append(
        self,
        run: str,
        expected_head: int,
        events: Sequence[NewEvent],
        *,
        lease: Lease | None = None,
        delete_threads: Sequence[str] = (),
        artefacts: Sequence[bytes] = (),
        folded: Sequence[int] = (),
        riding: Sequence[Operation[None]] = (),
    ) -> int:
        """Run `riding`, append, all together or not at all, and return the new head once it is durable."""
        ...


@dataclass(slots=True)
class _Batch:
    events: list[NewEvent] = field(default_factory=list)
    delete_threads: list[str] = field(default_factory=list)
    artefacts: list[bytes] = field(default_factory=list)
    folded: list[int] = field(default_factory=list)
    riding: list[tuple[str | None, Operation[None]]] = field(default_factory=list)
    """Other writes, those of checkpoints with their thread."""
    is_urgent: bool = False
    """Whether it is to be appended without waiting for company."""

    def __bool__(self) -> bool:
        return bool(self.events or self.riding)

    def kept(self) -> list[Operation[None]]:
        """Return the writes but those of checkpoints whose thread ends in this very batch."""
        ended = set(self.delete_threads)
        return [write for thread, write in self.riding if thread not in ended]


class JournalBroken(RuntimeError):
    """The store refused an append; the run can't go on in this process. `__cause__` is the store's error."""


class Journal:
    """The log of one run, held by its one executor."""

    def __init__(
        self,
        state: RunState,
        writer: Appender,
        clock: Clock,
        lease: Lease,
        listeners: Sequence[Listener] = (),
        *,
        linger_s: float = LINGER_S,
    ) -> None:
        """Return a journal that goes on after `state`, which is the fold of what is stored."""
        self.state = state
        self.lease = lease
        self._writer = writer
        self._clock = clock
        self._listeners = tuple(listeners)
        self._batch = _Batch()
        self._committed = state.seq
        self._waiters: list[tuple[int, Callable[[], None]]] = []
        self._flusher: asyncio.Task[None] | None = None
        self._linger_s = linger_s
        self._lingering: asyncio.TimerHandle | None = None
        self._broken: BaseException | None = None
        self.listener_error: Exception | None = None
        """What a listener raised last: it looks on, so that is no failure of the run."""

    @property
    def run(self) -> RunId:
        """The run that this is the log of."""
        return self.state.run

    @property
    def committed(self) -> int:
        """The last event that is certainly on disk, whatever the store says now."""
        return self._committed

    def record(
        self,
        body: Body,
        *,
        cause: int | None = None,
        delete_threads: Sequence[str] = (),
        folded: Sequence[int] = (),
    ) -> Event:
        """Stamp `body`, apply it and queue it for the store; return the event.

        `delete_threads` and `folded` become true in the same transaction. Raises `JournalBroken` after the store
        refused an append.
        """
        self.check()
        event = Event(seq=self.state.seq + 1, ts=self._clock.now(), cause=cause, body=body)
        self.state = apply(self.state, event)
        self._batch.events.append(new_event(event))
        self._batch.delete_threads.extend(delete_threads)
        self._batch.folded.extend(folded)
        # Before the listeners: one that raises must not keep an event from the store.
        if isinstance(body, _WITH_THE_NEXT):
            self._flush_soon()
        else:
            self._flush()
        for listener in self._listeners:
            self._tell(listener, event)
        return event

    def ride(self, thread: str | None, write: Operation[None]) -> None:
        """Queue a write that goes with the next events, before them and in their transaction.

        One of the checkpoint thread `thread` is left out where those events delete the thread. Raises
        `JournalBroken` after the store refused an append.
        """
        self.check()
        self._batch.riding.append((thread, write))
        self._flush_soon()

    def keep(self, document: object) -> ArtefactId:
        """Queue a JSON value as an artefact of the next event and return its id."""
        return self.keep_bytes(canonical_json(document).encode("utf-8"))

    def keep_bytes(self, content: bytes) -> ArtefactId:
        """Queue bytes as an artefact of the next event and return their id."""
        self._batch.artefacts.append(content)
        return ArtefactId(artefact_digest(content))

    async def durable(self, seq: int) -> None:
        """Return when the event `seq` is on disk; raises `JournalBroken` when it never will be."""
        self.check()
        if seq <= self._committed:
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def told() -> None:
            if waiter.done():
                return
            try:
                self.check()
            except JournalBroken as broken:
                waiter.set_exception(broken)
            else:
                waiter.set_result(None)

        self.once_durable(seq, told)
        await waiter

    def once_durable(self, seq: int, told: Callable[[], None]) -> None:
        """Call `told` when the event `seq` is on disk, at once if it is; or when it never will be: `check` raises then.

        `told` must not raise.
        """
        if seq <= self._committed or self._broken is not None:
            told()
            return
        self._waiters.append((seq, told))
        if self._batch:
            self._flush()

    async def room(self) -> None:
        """Return when fewer than `WAITING_LIMIT` events wait for the disk; raises `JournalBroken` as `durable` does."""
        while self.state.seq - self._committed >= WAITING_LIMIT:
            await self.durable(self.state.seq - WAITING_LIMIT + 1)

    def _tell(self, listener: Listener, event: Event) -> None:
        try:
            listener(event, self.state)
        except Exception as error:
            self.listener_error = error
            raise

    async def flush(self) -> None:
        """Return when everything recorded so far is on disk."""
        while self._batch or self._committed < self.state.seq:
            self.check()
            self._flush()
            assert self._flusher is not None, "a flush is under way"
            await asyncio.shield(self._flusher)
        self.check()

    def check(self) -> None:
        """Raise `JournalBroken` after the store refused an append."""
        if self._broken is not None:
            raise JournalBroken(f"run {self.run!r}: the store refused an append") from self._broken

    def _flush(self) -> None:
        self._batch.is_urgent = True
        if self._lingering is not None:
            self._lingering.cancel()
            self._lingering = None
        if self._flusher is None or self._flusher.done():
            self._flusher = asyncio.ensure_future(self._append_batches())

    def _flush_soon(self) -> None:
        if self._lingering is None and not self._batch.is_urgent:
            self._lingering = asyncio.get_running_loop().call_later(self._linger_s, self._flush)

    async def _append_batches(self) -> None:
        while self._batch.is_urgent and self._broken is None:
            if not self._batch:
                # Nothing but artefacts, perhaps: they wait for the event that names them.
                self._batch.is_urgent = False
                break
            batch, self._batch = self._batch, _Batch()
            try:
                self._committed = await self._writer.append(
                    self.run,
                    self._committed,
                    batch.events,
                    lease=self.lease,
                    delete_threads=batch.delete_threads,
                    artefacts=batch.artefacts,
                    folded=batch.folded,
                    riding=batch.kept(),
                )
            except Exception as error:  # noqa: BLE001 - whatever the store raises, the waiters must learn it
                self._broken = error
            self._wake()

    def _wake(self) -> None:
        ready, rest = [], []
        for seq, told in self._waiters:
            if self._broken is not None or seq <= self._committed:
                ready.append(told)
            else:
                rest.append((seq, told))
        self._waiters = rest
        for told in ready:
            told()
