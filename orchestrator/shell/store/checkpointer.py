"""LangGraph's checkpointer on the run store: checkpoints share the file, the writer and the commits of the events.

A checkpoint is a cache of an unfinished attempt. Its thread is deleted by the append of the attempt's last event
(`delete_threads`), and carried to the next epoch by `take_over`. LangGraph's own conformance suite runs against this
class (`tests/shell/store/test_checkpointer_conformance.py`).
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Self

import orchestrator.shell.langgraph_env  # noqa: F401

# isort: split
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_serializable_checkpoint_metadata,
)

from orchestrator.shell.store.checkpoint_json import JsonSerializer, encoded
from orchestrator.shell.store.ports import Operation, StoreWrites
from orchestrator.shell.store.rows import CheckpointRow, WriteRow
from orchestrator.shell.store.writer import Writer


class StoreCheckpointer(BaseCheckpointSaver[int]):
    """Keep LangGraph checkpoints through a `Writer`; a method returns when what it wrote is durable.

    Writes to the thread of an attempt raise `StaleLease` once another epoch holds the run; values that are no JSON
    raise `NotStorable`. The methods without `a` wait on the calling thread and are not for an event loop.
    """

    def __init__(self, writer: Writer) -> None:
        super().__init__(serde=JsonSerializer())
        self._writer = writer
        self._store = writer.store

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> Self:  # noqa: ARG002
        """Return this saver: it restores no classes, so there are none to allow."""
        return self

    async def take_over(self, sources: Sequence[str], target: str) -> int:
        """Carry the newest checkpoint of the first of `sources` that has one to `target`, and delete all `sources`.

        All in one transaction. Returns how many checkpoints were carried: 0 means that nothing was kept.
        """

        def carried(writes: StoreWrites) -> int:
            copied = 0
            for source in sources:
                copied = copied or writes.copy_thread(source, target, newest_only=True)
                writes.delete_thread(source)
            return copied

        return await self._writer.write(carried)

    def row_of(self, thread: str, checkpoint: Checkpoint) -> CheckpointRow:
        """Return the row of the first checkpoint of a thread. Raises `NotStorable`."""
        config: RunnableConfig = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
        return self._row(config, checkpoint, {"source": "loop", "step": 0, "parents": {}}, {})

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that `config` names, the newest of its thread without an id, None if there is none."""
        thread, ns = _thread(config), _namespace(config)
        row = self._store.checkpoint(thread, ns, get_checkpoint_id(config))
        return None if row is None else self._tuple(row)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """See `get_tuple`. A read is a few look-ups by key and never waits for a writer."""
        return self.get_tuple(config)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Iterate over checkpoints, newest first, whose metadata has the values of `filter`."""
        rows = self._store.checkpoints(
            None if config is None else _thread(config),
            None if config is None else config["configurable"].get("checkpoint_ns"),
            exactly=None if config is None else get_checkpoint_id(config),
            before=None if before is None else get_checkpoint_id(before),
        )
        chosen = (row for row in rows if not filter or _matches(json.loads(row.metadata), filter))
        return (self._tuple(row) for row in islice(chosen, limit))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """See `list`. Nothing is locked between two items."""
        for found in self.list(config, filter=filter, before=before, limit=limit):
            yield found

    def _tuple(self, row: CheckpointRow) -> CheckpointTuple:
        writes = self._store.checkpoint_writes(row.thread, row.ns, row.id)
        return CheckpointTuple(
            config=_config(row.thread, row.ns, row.id),
            checkpoint=self.serde.loads_typed((row.encoding, row.checkpoint)),
            metadata=json.loads(row.metadata),
            parent_config=None if row.parent is None else _config(row.thread, row.ns, row.parent),
            pending_writes=[
                (w.task, w.channel, self.serde.loads_typed((w.encoding, w.value))) for w in writes
            ],
        )

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keep a checkpoint with all its channel values and return the config that names it."""
        row = self._row(config, checkpoint, metadata, new_versions)
        self._wait(lambda writes: writes.put_checkpoint(row))
        return _config(row.thread, row.ns, row.id)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """See `put`."""
        row = self._row(config, checkpoint, metadata, new_versions)
        await self._writer.write(lambda writes: writes.put_checkpoint(row))
        return self._config_after(config, checkpoint)

    def _config_after(self, config: RunnableConfig, checkpoint: Checkpoint) -> RunnableConfig:
        return _config(_thread(config), _namespace(config), checkpoint["id"])

    def _row(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,  # noqa: ARG002 - a row holds all channels: an attempt has few, and briefly
    ) -> CheckpointRow:
        encoding, content = self.serde.dumps_typed(checkpoint)
        return CheckpointRow(
            thread=_thread(config),
            ns=_namespace(config),
            id=checkpoint["id"],
            parent=get_checkpoint_id(config),
            encoding=encoding,
            checkpoint=content,
            metadata=encoded(get_serializable_checkpoint_metadata(config, metadata)),
        )

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Keep a task's writes beside the checkpoint that they follow."""
        rows = self._write_rows(config, writes, task_id, task_path)
        self._wait(lambda store: store.put_checkpoint_writes(rows))

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """See `put_writes`."""
        rows = self._write_rows(config, writes, task_id, task_path)
        await self._writer.write(lambda store: store.put_checkpoint_writes(rows))

    def _write_rows(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> tuple[WriteRow, ...]:
        serialised = [(channel, *self.serde.dumps_typed(value)) for channel, value in writes]
        return tuple(
            WriteRow(
                thread=_thread(config),
                ns=_namespace(config),
                checkpoint=config["configurable"]["checkpoint_id"],
                task=task_id,
                index=WRITES_IDX_MAP.get(channel, position),
                channel=channel,
                encoding=encoding,
                value=value,
                path=task_path,
            )
            for position, (channel, encoding, value) in enumerate(serialised)
        )

    def delete_thread(self, thread_id: str) -> None:
        """Delete a thread's checkpoints and writes."""
        self._wait(lambda writes: writes.delete_thread(thread_id))

    async def adelete_thread(self, thread_id: str) -> None:
        """See `delete_thread`."""
        await self._writer.write(lambda writes: writes.delete_thread(thread_id))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread with its whole history; for the next epoch of an attempt see `take_over`."""
        self._wait(lambda writes: writes.copy_thread(source_thread_id, target_thread_id))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """See `copy_thread`."""
        await self._writer.write(lambda writes: writes.copy_thread(source_thread_id, target_thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints that LangGraph runs made (`run_id` of their metadata)."""
        self._wait(self._deletion_for_runs(run_ids))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """See `delete_for_runs`."""
        await self._writer.write(self._deletion_for_runs(run_ids))

    def _deletion_for_runs(self, run_ids: Sequence[str]) -> Operation[None]:
        return _deletion(
            [row for row in self._store.checkpoints() if json.loads(row.metadata).get("run_id") in run_ids]
        )

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete threads (`delete`), or all but the newest checkpoint of each namespace (`keep_latest`)."""
        self._wait(self._pruning(thread_ids, strategy))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """See `prune`."""
        await self._writer.write(self._pruning(thread_ids, strategy))

    def _pruning(self, thread_ids: Sequence[str], strategy: str) -> Operation[None]:
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f"{strategy!r} is no pruning strategy; accepted are 'keep_latest' and 'delete'")
        doomed = []
        for thread in thread_ids:
            kept: set[str] = set()
            for row in self._store.checkpoints(
                thread
            ):  # newest first, so the first of a namespace is the latest
                if strategy == "delete" or row.ns in kept:
                    doomed.append(row)
                kept.add(row.ns)
        return _deletion(doomed)

    def _wait(self, operation: Operation[Any]) -> None:
        self._writer.submit(operation).result()


def _deletion(rows: Sequence[CheckpointRow]) -> Operation[None]:
    def delete(writes: StoreWrites) -> None:
        for row in rows:
            writes.delete_checkpoints(row.thread, row.ns, [row.id])

    return delete


def _matches(metadata: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(metadata.get(key) == value for key, value in wanted.items())


def _thread(config: RunnableConfig) -> str:
    return str(config["configurable"]["thread_id"])


def _namespace(config: RunnableConfig) -> str:
    return str(config["configurable"].get("checkpoint_ns", ""))


def _config(thread: str, ns: str, checkpoint: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": checkpoint}}
