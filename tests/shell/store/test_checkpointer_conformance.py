"""LangGraph's published conformance suite (`langgraph-checkpoint-conformance`) against our checkpointers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory

from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability

from orchestrator.shell.store.attempt_saver import AttemptSaver
from orchestrator.shell.store.checkpointer import StoreCheckpointer
from orchestrator.shell.store.memory_store import MemoryStore
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.store.writer import Writer


@checkpointer_test(name="StoreCheckpointer on SQLite")
async def on_sqlite() -> AsyncIterator[StoreCheckpointer]:
    with TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "runs.db")
        async with Writer(store) as writer:
            yield StoreCheckpointer(writer)
        store.close()


@checkpointer_test(name="StoreCheckpointer in memory")
async def in_memory() -> AsyncIterator[StoreCheckpointer]:
    async with Writer(MemoryStore()) as writer:
        yield StoreCheckpointer(writer)


async def test_the_suite_passes_with_every_capability_on_sqlite() -> None:
    report = await validate(on_sqlite)
    assert {name: result.failures for name, result in report.results.items()} == {
        c.value: [] for c in Capability
    }
    assert all(result.detected and result.passed for result in report.results.values())


async def test_the_suite_passes_with_every_capability_in_memory() -> None:
    report = await validate(in_memory)
    assert {name: result.failures for name, result in report.results.items()} == {
        c.value: [] for c in Capability
    }
    assert all(result.detected and result.passed for result in report.results.values())


@checkpointer_test(name="AttemptSaver")
async def of_attempts() -> AsyncIterator[AttemptSaver]:
    async with Writer(MemoryStore()) as writer:
        yield AttemptSaver(writer, lambda _, write: writer.submit(write).result(10), last="finished")


LEAVES_OUT = {
    # The checkpoint before the first stage (`source` is `input`).
    "put": {"test_put_roundtrip"},
    "list": {
        "test_list_all",
        "test_list_by_thread",
        "test_list_ordering",
        "test_list_metadata_filter_single_key",
        "test_list_metadata_filter_multiple_keys",
        "test_list_before",
        "test_list_limit_plus_before",
        "test_list_includes_pending_writes",
    },
    # Writes of a stage that ended.
    "put_writes": {
        "test_put_writes_basic",
        "test_put_writes_multiple_writes_same_task",
        "test_put_writes_multiple_tasks",
        "test_put_writes_preserves_task_id",
        "test_put_writes_preserves_channel_and_value",
        "test_put_writes_task_path",
        "test_put_writes_idempotent",
        "test_put_writes_across_namespaces",
    },
    # Both.
    "get_tuple": {"test_get_tuple_metadata", "test_get_tuple_pending_writes"},
    "delete_thread": {"test_delete_thread_removes_writes"},
    "delete_for_runs": {"test_delete_for_runs_removes_writes"},
    "copy_thread": {"test_copy_thread_preserves_writes"},
    "prune": {"test_prune_keep_latest_preserves_writes"},
}
"""Tests that need what the saver of attempts keeps on purpose from the store (decision 0007): each puts an `input`
checkpoint or ordinary writes and reads them back."""


async def test_the_saver_of_attempts_differs_in_what_it_leaves_out_and_in_nothing_else() -> None:
    report = await validate(of_attempts)
    failed = {
        name: {failure.partition(":")[0] for failure in result.failures}
        for name, result in report.results.items()
    }
    assert failed == LEAVES_OUT
    assert sum(result.tests_passed for result in report.results.values()) == 58
