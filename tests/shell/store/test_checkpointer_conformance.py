"""LangGraph's published conformance suite (`langgraph-checkpoint-conformance`) against our checkpointers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory

from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability

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
