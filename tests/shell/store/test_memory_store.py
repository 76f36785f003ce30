from __future__ import annotations

from contextlib import AbstractContextManager

from orchestrator.shell.store.memory_store import MemoryStore
from orchestrator.shell.store.ports import RunStore
from tests.shell.store.conformance import RunStoreConformance, StoreRig
from tests.shell.store.rigs import memory_rig


class TestMemoryStore(RunStoreConformance):
    def new_rig(self) -> AbstractContextManager[StoreRig]:
        return memory_rig()


def test_it_is_a_run_store() -> None:
    store: RunStore = MemoryStore()
    assert store.location == ":memory:"
