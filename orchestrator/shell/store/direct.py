"""Make each write of a store an operation of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TypeVar, assert_never, cast

from orchestrator.shell.store.ports import Committed, Operation, Outcome, Refused, StoreWrites
from orchestrator.shell.store.rows import CheckpointRow, Lease, NewEvent, WriteRow

T = TypeVar("T")


def value_of(outcome: Outcome) -> object:
    """Return what a committed operation returned; raise what a refused one raised."""
    match outcome:
        case Committed(value=value):
            return value
        case Refused(error=error):
            raise error
        case _:
            assert_never(outcome)


class DirectWrites(ABC):
    """The writes of `StoreWrites`, each in a transaction of its own, for a store that can `commit`."""

    @abstractmethod
    def commit(self, operations: Sequence[Operation[object]]) -> list[Outcome]:
        """Run operations in one transaction, see `RunStore.commit`."""

    def _alone(self, operation: Callable[[StoreWrites], T]) -> T:
        (outcome,) = self.commit([operation])
        return cast("T", value_of(outcome))

    def create_run(self, run: str, title: str, created: str) -> None:
        """See `StoreWrites.create_run`."""
        self._alone(lambda writes: writes.create_run(run, title, created))

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
        """See `StoreWrites.append`."""
        return self._alone(
            lambda writes: writes.append(
                run,
                expected_head,
                events,
                lease=lease,
                delete_threads=delete_threads,
                artefacts=artefacts,
                folded=folded,
            )
        )

    def put_artefact(self, content: bytes) -> str:
        """See `StoreWrites.put_artefact`."""
        return self._alone(lambda writes: writes.put_artefact(content))

    def post(self, run: str, kind: str, payload: str, dedup: str) -> int:
        """See `StoreWrites.post`."""
        return self._alone(lambda writes: writes.post(run, kind, payload, dedup))

    def mark_folded(self, run: str, ids: Sequence[int], *, lease: Lease | None = None) -> None:
        """See `StoreWrites.mark_folded`."""
        self._alone(lambda writes: writes.mark_folded(run, ids, lease=lease))

    def acquire(self, run: str, holder: str, ttl_s: float, *, instead_of: str | None = None) -> Lease:
        """See `StoreWrites.acquire`."""
        return self._alone(lambda writes: writes.acquire(run, holder, ttl_s, instead_of=instead_of))

    def renew(self, lease: Lease, ttl_s: float) -> Lease:
        """See `StoreWrites.renew`."""
        return self._alone(lambda writes: writes.renew(lease, ttl_s))

    def release(self, lease: Lease) -> None:
        """See `StoreWrites.release`."""
        self._alone(lambda writes: writes.release(lease))

    def add_failure(
        self, task_class: str, repair: str, outcome: str, run: str, *, lease: Lease | None = None
    ) -> int:
        """See `StoreWrites.add_failure`."""
        return self._alone(lambda writes: writes.add_failure(task_class, repair, outcome, run, lease=lease))

    def put_checkpoint(self, row: CheckpointRow) -> None:
        """See `StoreWrites.put_checkpoint`."""
        self._alone(lambda writes: writes.put_checkpoint(row))

    def put_checkpoint_writes(self, rows: Sequence[WriteRow]) -> None:
        """See `StoreWrites.put_checkpoint_writes`."""
        self._alone(lambda writes: writes.put_checkpoint_writes(rows))

    def copy_thread(self, source: str, target: str, *, newest_only: bool = False) -> int:
        """See `StoreWrites.copy_thread`."""
        return self._alone(lambda writes: writes.copy_thread(source, target, newest_only=newest_only))

    def delete_thread(self, thread: str) -> None:
        """See `StoreWrites.delete_thread`."""
        self._alone(lambda writes: writes.delete_thread(thread))

    def delete_checkpoints(self, thread: str, ns: str, ids: Sequence[str]) -> None:
        """See `StoreWrites.delete_checkpoints`."""
        self._alone(lambda writes: writes.delete_checkpoints(thread, ns, ids))
