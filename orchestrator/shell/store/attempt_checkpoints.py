"""The checkpoints of a run's attempts: kept with the run's events, and carried over from one executor to the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import orchestrator.shell.langgraph_env  # noqa: F401

# isort: split
from langgraph.checkpoint.base import Checkpoint

from orchestrator.shell.store.checkpointer import StoreCheckpointer
from orchestrator.shell.store.ports import Operation

Ride = Callable[[str, Operation[None]], None]
"""Queues a write of a checkpoint thread (`orchestrator.shell.journal.Journal.ride`)."""


class AttemptCheckpoints:
    """Keep checkpoints of attempts without waiting for the disk: they go with the next events of the run.

    So they are committed in order with the events, all or nothing, and what the store refuses breaks the run's journal.
    """

    def __init__(self, checkpointer: StoreCheckpointer, ride: Ride, *, channel: str) -> None:
        """Return the checkpoints of attempts whose result stands in `channel`."""
        self._checkpointer = checkpointer
        self._ride = ride
        self._channel = channel

    def keep(self, thread: str, make: Callable[[], Checkpoint]) -> None:
        """Queue the first checkpoint of a thread; it is made when it is written, if it ever is.

        Raises what `Journal.ride` raises after a refusal.
        """
        self._ride(thread, lambda writes: writes.put_checkpoint(self._checkpointer.row_of(thread, make())))

    async def take_over(self, sources: Sequence[str], target: str) -> str | None:
        """Carry what was kept last under `sources`, newest first, to `target`, and return its channel `channel`.

        `sources` are deleted, in the same transaction. `None` when there is nothing. Raises `NotStorable`, `KeyError`
        and `TypeError` for a checkpoint that this program can't have written.
        """
        if not await self._checkpointer.take_over(sources, target):
            return None
        found = self._checkpointer.get_tuple({"configurable": {"thread_id": target}})
        return None if found is None else str(found.checkpoint["channel_values"][self._channel])
