"""The port of the run store: what is written, what is read, and how several writes become one commit.

A *write operation* is a function of `StoreWrites`. `RunStore.commit` runs many of them in one transaction, each all or
nothing on its own, so one operation may call several writes that belong together:

    store.commit([lambda writes: (writes.append(run, head, events), writes.copy_thread(old, new))])

Called on the store itself, a write is an operation of its own. Every implementation passes the same conformance suite
(`tests/shell/store/conformance.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, TypeVar

from orchestrator.shell.store.rows import (
    CheckpointRow,
    FailureRecord,
    InboxMessage,
    Lease,
    NewEvent,
    RunRow,
    StoredEvent,
    StoreInfo,
    WriteRow,
)

T = TypeVar("T")


class StoreWrites(Protocol):
    """Everything that changes a store. Each call is all or nothing; each error is a `StoreError`."""

    def create_run(self, run: str, title: str, created: str) -> None:
        """Add a run without events. Raises `RunExists`, and `NotStorable` for an empty id or one with `/`."""

    def append(
        self,
        run: str,
        expected_head: int,
        events: Sequence[NewEvent],
        *,
        lease: Lease | None = None,
        delete_threads: Sequence[str] = (),
        artefacts: Sequence[bytes] = (),
        folded: Sequence[int] = (),
    ) -> int:
        """Append events behind `expected_head`, which must be the head, and return the new head.

        Together with the events, checkpoint threads are deleted, artefacts are kept and inbox messages are marked as
        folded. Events that are in the log already, in this order and with the same name, type and payload, are not
        appended again: the head that the first append returned comes back.

        Raises `UnknownRun`; `HeadMoved`; `AlreadyRecorded` when a name (`idem`) stands for another event; `StaleLease`
        when `lease` is not the current one; `RunBusy` without a lease while another process holds one; `NotStorable`
        for a cause that is no earlier event.
        """

    def put_artefact(self, content: bytes) -> str:
        """Keep content under its SHA-256, which is returned in hex; keeping it again changes nothing."""

    def post(self, run: str, kind: str, payload: str, dedup: str) -> int:
        """Leave a message for the executor of a run and return its id. Any process may; no lease is needed.

        A message with the same `dedup`, kind and payload is the same message. Raises `UnknownRun`, and
        `AlreadyRecorded` when `dedup` stands for another message: the first one counts.
        """

    def mark_folded(self, run: str, ids: Sequence[int], *, lease: Lease | None = None) -> None:
        """Take messages out of `pending`. Raises as `append` does. To lose none, fold them through `append`."""

    def acquire(self, run: str, holder: str, ttl_s: float, *, instead_of: str | None = None) -> Lease:
        """Take the right to execute a run for `ttl_s` seconds by the store's clock, under a new epoch.

        `instead_of` names a holder that the caller knows to be dead: its lease is taken before it expires. Raises
        `UnknownRun`, and `RunBusy` while anybody else's lease (or this holder's own) has not expired.
        """

    def renew(self, lease: Lease, ttl_s: float) -> Lease:
        """Return the same lease, running `ttl_s` seconds from now. Raises `StaleLease` if it is not current."""

    def release(self, lease: Lease) -> None:
        """Give the right up; nothing is written under this lease any more. A stale lease is no error."""

    def add_failure(
        self, task_class: str, repair: str, outcome: str, run: str, *, lease: Lease | None = None
    ) -> int:
        """Remember what a repair led to and return the record's id. Raises as `mark_folded` does."""

    def put_checkpoint(self, row: CheckpointRow) -> None:
        """Keep a checkpoint; the same id replaces it. Raises `StaleLease` for an attempt of an older epoch."""

    def put_checkpoint_writes(self, rows: Sequence[WriteRow]) -> None:
        """Keep task writes; at an index of 0 or above the first stands. Raises as `put_checkpoint` does."""

    def copy_thread(self, source: str, target: str, *, newest_only: bool = False) -> int:
        """Copy checkpoints and writes to another thread and return how many checkpoints.

        Writes whose checkpoint is not there are copied too. `newest_only` takes the newest checkpoint of each
        namespace, without a parent, and its writes: what a take-over needs. Raises as `put_checkpoint` does for
        `target`.
        """

    def delete_thread(self, thread: str) -> None:
        """Delete all checkpoints and writes of a thread; an unknown one is no error."""

    def delete_checkpoints(self, thread: str, ns: str, ids: Sequence[str]) -> None:
        """Delete single checkpoints of a thread with their writes; unknown ones are no error."""


class StoreReads(Protocol):
    """Everything that can be asked of a store. What is read was committed."""

    def now(self) -> float:
        """Return the store's clock, in seconds since 1970-01-01 UTC."""

    def run(self, run: str) -> RunRow:
        """Return one run. Raises `UnknownRun`."""

    def runs(self, limit: int = 50) -> tuple[RunRow, ...]:
        """Return the newest runs first, by creation and then by id."""

    def head(self, run: str) -> int:
        """Return the highest `seq` of a run, 0 without events. Raises `UnknownRun`."""

    def events(self, run: str, after: int = 0, upto: int | None = None) -> Iterator[StoredEvent]:
        """Iterate over the events with `after < seq <= upto` in order; `upto` defaults to the head of now.

        Raises `UnknownRun` at the call. The iterator holds no lock while it waits for its reader.
        """

    def get_artefact(self, digest: str) -> bytes:
        """Return kept content. Raises `ArtefactMissing`, and `ArtefactCorrupted` if its SHA-256 is another."""

    def lease(self, run: str) -> Lease | None:
        """Return the lease that runs now, None if there is none. Raises `UnknownRun`."""

    def pending(self, run: str, after: int = 0) -> tuple[InboxMessage, ...]:
        """Return messages with an id above `after` that are not folded, in the order of posting."""

    def failures(self, task_class: str | None = None) -> tuple[FailureRecord, ...]:
        """Return the remembered failures of a class of tasks, or all, oldest first."""

    def checkpoint(self, thread: str, ns: str, exactly: str | None = None) -> CheckpointRow | None:
        """Return one checkpoint, the one of the id `exactly` or the newest; None if there is none."""

    def checkpoints(
        self,
        thread: str | None = None,
        ns: str | None = None,
        *,
        exactly: str | None = None,
        before: str | None = None,
    ) -> tuple[CheckpointRow, ...]:
        """Return checkpoints by thread and namespace, newest first; None admits all; only ids below `before`."""

    def checkpoint_writes(self, thread: str, ns: str, checkpoint: str) -> tuple[WriteRow, ...]:
        """Return the writes of one checkpoint in the order (path, task, index)."""

    def info(self) -> StoreInfo:
        """Return sizes and counts."""

    def check(self) -> tuple[str, ...]:
        """Return what is damaged in the store, one line each; nothing if it is sound. Reads everything."""


Operation: TypeAlias = Callable[[StoreWrites], T]
"""Writes that become true together or not at all. It may run more than once before it is committed, so it changes
nothing but the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """The operation is durable; `value` is what it returned."""

    value: object
    kind: Literal["committed"] = "committed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Nothing of the operation is in the store; `error` is what it raised."""

    error: Exception
    kind: Literal["refused"] = "refused"


Outcome: TypeAlias = Committed | Refused


class RunStore(StoreReads, StoreWrites, Protocol):
    """A place where runs are kept. Every method may be called from any thread."""

    @property
    def location(self) -> str:
        """Name the store in messages."""

    def commit(self, operations: Sequence[Operation[object]]) -> list[Outcome]:
        """Run operations in order in one transaction and return their outcomes in this order.

        An operation that raises leaves no trace and does not touch the others. Raises `StoreUnavailable`, with nothing
        of any operation stored, when the transaction itself fails.
        """

    def close(self) -> None:
        """Release files and locks; closing twice is no error. Later calls raise `StoreClosed`."""
