"""The memory without a file does what every memory must do."""

import pytest

from agents.memory.ports import LongTermMemory
from tests.agents.memory.conformance import FakeNow, LongTermMemoryConformance
from tests.agents.memory.in_process import MemoryInProcess


class TestMemoryInProcess(LongTermMemoryConformance):
    @pytest.fixture
    def memory(self, now: FakeNow) -> LongTermMemory:
        return MemoryInProcess(now)
