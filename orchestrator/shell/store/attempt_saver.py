"""The checkpointer of attempts: it keeps what going on with one needs, and nothing waits for it.

Kept is a worker's result before it is checked (`keep`), and what LangGraph puts where an attempt stops behind its first
step (a question, an error), with a durability of `exit`. Not kept is what would never be read:

* the checkpoint before the first step: an attempt without a checkpoint starts from the beginning;
* the checkpoint after the end: the event that ends the attempt says the same, comes at once, and deletes the thread. A
  crash in between runs the check again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import orchestrator.shell.langgraph_env  # noqa: F401

# isort: split
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)

from orchestrator.shell.store.checkpointer import StoreCheckpointer
from orchestrator.shell.store.ports import Operation
from orchestrator.shell.store.writer import Writer

NEW_THREAD: Final = "__maskgrad_new_thread"
"""Set in `configurable` for a thread of which nothing can have been kept: the store is not asked. LangGraph keeps names
that begin so out of a checkpoint's metadata."""


Ride = Callable[[str, Operation[None]], None]
"""Queues a write of a checkpoint thread (`orchestrator.shell.journal.Journal.ride`)."""


class AttemptSaver(StoreCheckpointer):
    """Keep checkpoints of attempts without waiting for the disk: they go with the next events of the run.

    They are committed in order with the events, all or nothing. What the store refuses breaks the run's journal, so
    that nothing is accepted after a refusal that counts.
    """

    def __init__(self, writer: Writer, ride: Ride, *, last: str) -> None:
        """Return a saver for graphs that write to the channel `last` at their end, and never before."""
        super().__init__(writer)
        self._ride = ride
        self._last = last

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """See `get_tuple`; `None` at once for a thread that is marked with `NEW_THREAD`."""
        return None if config["configurable"].get(NEW_THREAD) else self.get_tuple(config)

    def keep(self, thread: str, make: Callable[[], Checkpoint]) -> None:
        """Queue the first checkpoint of a thread; it is made when it is written.

        Raises what `Journal.ride` raises after a refusal.
        """
        config: RunnableConfig = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
        metadata: CheckpointMetadata = {"source": "loop", "step": 0, "parents": {}}
        self._ride(thread, lambda writes: writes.put_checkpoint(self._row(config, make(), metadata, {})))

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Queue what stands where an attempt stops between two steps. Raises `NotStorable`, and as `keep` does."""
        if metadata["source"] != "input" and self._last not in checkpoint["channel_values"]:
            row = self._row(config, checkpoint, metadata, new_versions)
            self._ride(row.thread, lambda writes: writes.put_checkpoint(row))
        return self._config_after(config, checkpoint)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Queue what a step leaves that stopped. Raises as `aput` does."""
        if any(channel in WRITES_IDX_MAP for channel, _ in writes):
            rows = self._write_rows(config, writes, task_id, task_path)
            self._ride(rows[0].thread, lambda store: store.put_checkpoint_writes(rows))
