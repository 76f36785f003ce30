"""What every long-term memory must do; a test module per implementation subclasses `LongTermMemoryConformance`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from agents.memory.contract import Candidate, Memory, MemoryId, MemoryKind, memory_of
from agents.memory.ports import LongTermMemory

DAY_0 = "2026-01-01T00:00:00.000Z"
DAY_1 = "2026-01-02T00:00:00.000Z"
DAY_180 = "2026-06-30T00:00:00.000Z"
"""180 days after the first."""
DAY_181 = "2026-07-01T00:00:00.000Z"


@dataclass
class FakeNow:
    """The time of day, set by the test."""

    time: str = DAY_0

    def __call__(self) -> str:
        return self.time


MakeMemory = Callable[[FakeNow], LongTermMemory]


def entry(text: str, kind: MemoryKind = "preference", *, now: str = DAY_0, run: str | None = None) -> Memory:
    candidate = Candidate(
        kind=kind,
        text=text,
        lang="en",
        origin="user",
        taint="trusted",
        confirmed_by="user",
        source_run=run,
        task_class="research",
    )
    return memory_of(candidate, now)


class LongTermMemoryConformance:
    @pytest.fixture
    def now(self) -> FakeNow:
        return FakeNow()

    @pytest.fixture
    def memory(self, now: FakeNow) -> LongTermMemory:
        raise NotImplementedError

    def test_what_is_remembered_comes_back_whole(self, memory: LongTermMemory) -> None:
        lesson = entry("搜索“合同 ‘A’;--” 失败\u2028", "lesson", run="r-1")
        assert memory.remember(lesson) == lesson
        assert memory.get(lesson.id) == lesson
        assert memory.get(MemoryId("m-00000000")) is None
        assert memory.entries() == (lesson,)

    def test_an_empty_memory(self, memory: LongTermMemory) -> None:
        assert (memory.entries(), memory.clear(), memory.forget(MemoryId("m-1"))) == ((), 0, False)
        assert memory.get(MemoryId("m-1")) is None

    def test_the_one_confirmed_last_comes_first(self, memory: LongTermMemory) -> None:
        older, other = entry("Short lists."), entry("In Chinese.")
        newer = entry("It failed.", "lesson", now=DAY_1)
        for each in (older, newer, other):
            memory.remember(each)
        first, second = sorted((older, other), key=lambda m: m.id)
        assert memory.entries() == (newer, first, second)
        assert memory.entries("lesson") == (newer,)
        assert memory.entries("solution") == ()

    def test_a_duplicate_is_merged(self, memory: LongTermMemory) -> None:
        first = entry("It failed.", "lesson", run="r-1")
        memory.remember(first)
        again = memory.remember(entry("it  failed", "lesson", now=DAY_1, run="r-2"))
        assert memory.entries() == (again,)
        assert (again.text, again.times, again.created, again.confirmed) == ("It failed.", 2, DAY_0, DAY_1)
        assert (again.source_run, again.last_run, again.expires) == ("r-1", "r-2", DAY_181)
        assert memory.remember(entry("It failed.", "lesson", now=DAY_1, run="r-2")) == again

    def test_what_expires_is_neither_found_nor_shown(self, memory: LongTermMemory, now: FakeNow) -> None:
        lesson, wish = entry("It failed.", "lesson"), entry("Short lists.")
        memory.remember(lesson)
        memory.remember(wish)
        now.time = "2026-06-29T23:59:59.999Z"
        assert len(memory.entries()) == 2
        now.time = DAY_180
        assert memory.entries() == (wish,)
        assert memory.get(lesson.id) is None
        again = memory.remember(entry("It failed.", "lesson", now=DAY_180))
        assert (again.times, again.created) == (1, DAY_180)

    def test_forgetting_and_clearing(self, memory: LongTermMemory, now: FakeNow) -> None:
        lesson, wish, other = entry("It failed.", "lesson"), entry("Short lists."), entry("In Chinese.")
        for each in (lesson, wish, other):
            memory.remember(each)
        assert memory.forget(wish.id)
        assert not memory.forget(wish.id)
        assert {m.id for m in memory.entries()} == {lesson.id, other.id}
        now.time = DAY_180
        assert not memory.forget(lesson.id)
        assert memory.clear() == 1
        assert memory.entries() == ()
        memory.close()
        memory.close()

    def test_threads_lose_nothing(self, memory: LongTermMemory) -> None:
        def add(number: int) -> None:
            memory.remember(entry("Again.", "lesson", run=f"r-{number}"))
            memory.remember(entry(f"Number {number}."))

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(add, range(12)))
        assert len(memory.entries("preference")) == 12
        assert memory.entries("lesson")[0].times == 12
