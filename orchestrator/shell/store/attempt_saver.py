"""The checkpointer of attempts: it keeps what going on with one needs, and nothing waits for it.

Of what LangGraph puts, this keeps the checkpoints after every stage but the last, and what a stage leaves when it stops
(a question, an error). Not kept is what would never be read:

* the checkpoint before the first stage: an attempt without a checkpoint starts from the beginning;
* the writes of a stage that ended: they stand in the checkpoint that follows at once;
* the checkpoint after the last stage: the event that ends the attempt says the same, comes at once, and deletes the
  thread. A crash in between runs the last stage again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
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


class AttemptSaver(StoreCheckpointer):
    """Keep checkpoints of attempts without waiting for the disk, only for room in the writer's queue.

    They are committed in order with the events. What the store refuses is raised at the next checkpoint of any attempt;
    the event that ends an attempt meets the same store, so that nothing is accepted after a refusal that counts.
    """

    def __init__(self, writer: Writer, *, last: str) -> None:
        """Return a saver for graphs of which the last stage, and no other, writes to the channel `last`."""
        super().__init__(writer)
        self._last = last
        self._refusal: BaseException | None = None

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """See `get_tuple`; `None` at once for a thread that is marked with `NEW_THREAD`."""
        return None if config["configurable"].get(NEW_THREAD) else self.get_tuple(config)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Queue a checkpoint, unless nobody will read it. Raises `NotStorable`, and what the store refused before."""
        if metadata["source"] != "input" and self._last not in checkpoint["channel_values"]:
            row = self._row(config, checkpoint, metadata, new_versions)
            await self._queue(lambda writes: writes.put_checkpoint(row))
        return self._config_after(config, checkpoint)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Queue what a stage leaves that stopped. Raises as `aput` does."""
        if any(channel in WRITES_IDX_MAP for channel, _ in writes):
            rows = self._write_rows(config, writes, task_id, task_path)
            await self._queue(lambda store: store.put_checkpoint_writes(rows))

    async def _queue(self, operation: Operation[None]) -> None:
        if self._refusal is not None:
            raise self._refusal
        queued = await self._writer.enqueue(operation)
        queued.add_done_callback(self._note)

    def _note(self, queued: asyncio.Future[None]) -> None:
        if not queued.cancelled() and (error := queued.exception()) is not None:
            self._refusal = error
