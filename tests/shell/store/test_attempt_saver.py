"""What of an attempt is kept for going on with it, and that nothing waits for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langgraph.checkpoint.base import CheckpointMetadata, empty_checkpoint
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from orchestrator.shell.store.attempt_saver import NEW_THREAD, AttemptSaver
from orchestrator.shell.store.errors import NotStorable, StaleLease
from orchestrator.shell.store.memory_store import MemoryStore
from orchestrator.shell.store.ports import Operation, Outcome
from orchestrator.shell.store.rows import AttemptThread, CheckpointRow
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.store.writer import Writer


class State(TypedDict, total=False):
    draft: object
    finished: bool


def thread(epoch: int) -> str:
    return AttemptThread(run="r-1", node="n", generation=1, attempt=1, epoch=epoch).text


def config(epoch: int, *, new: bool = True) -> Any:
    return {"configurable": {"thread_id": thread(epoch)} | ({NEW_THREAD: True} if new else {})}


class Stages:
    """`work` hands over `draft`; `check` fails or asks, when told to."""

    def __init__(self, *, draft: object = "草稿", asks: bool = False) -> None:
        self.ran: list[str] = []
        self.draft = draft
        self.fails = False
        self.asks = asks

    async def work(self, state: State) -> State:  # noqa: ARG002
        self.ran.append("work")
        return {"draft": self.draft}

    async def check(self, state: State) -> State:
        self.ran.append("check")
        if self.fails:
            raise RuntimeError("stopped here")
        if self.asks:
            interrupt({"question": state["draft"]})
        return {"finished": True}

    def graph(self, saver: AttemptSaver) -> Any:
        graph = StateGraph(State)
        graph.add_node("work", self.work)
        graph.add_node("check", self.check)
        graph.add_edge(START, "work")
        graph.add_edge("work", "check")
        graph.add_edge("check", END)
        return graph.compile(checkpointer=saver)


@pytest.fixture
async def saver(tmp_path: Path) -> AsyncIterator[AttemptSaver]:
    store = SqliteStore(tmp_path / "runs.db")
    store.create_run("r-1", "t", "2025")
    async with Writer(store) as writer:
        yield AttemptSaver(writer, last="finished")
    store.close()


async def kept(saver: AttemptSaver) -> tuple[CheckpointRow, ...]:
    await saver._writer.write(
        lambda _: None
    )  # whatever was queued before it is committed with it, at the latest
    return saver._store.checkpoints()


async def test_only_what_stands_between_the_stages_is_kept(saver: AttemptSaver) -> None:
    result = await Stages().graph(saver).ainvoke({}, config(1))
    assert result == {"draft": "草稿", "finished": True}
    rows = await kept(saver)
    values = [saver.serde.loads_typed((row.encoding, row.checkpoint))["channel_values"] for row in rows]
    # A `StateGraph` takes its input in before the first stage, in a step of its own.
    assert [found.get("draft") for found in values] == ["草稿", None]
    assert not any("finished" in found for found in values)
    assert [saver._store.checkpoint_writes(row.thread, row.ns, row.id) for row in rows] == [(), ()]


async def test_another_executor_goes_on_behind_the_last_stage_that_ended(saver: AttemptSaver) -> None:
    stages = Stages()
    stages.fails = True
    graph = stages.graph(saver)
    with pytest.raises(RuntimeError, match="stopped here"):
        await graph.ainvoke({}, config(1))
    assert await saver.take_over(thread(1), thread(2)) == 1
    stages.fails = False
    assert (await graph.aget_state(config(2, new=False))).next == ("check",)
    assert (await graph.ainvoke(None, config(2, new=False)))["finished"] is True
    assert stages.ran == ["work", "check", "check"]


async def test_a_question_is_kept(saver: AttemptSaver) -> None:
    graph = Stages(asks=True).graph(saver)
    await graph.ainvoke({}, config(1))
    await kept(saver)
    (waiting,) = (await graph.aget_state(config(1, new=False))).interrupts
    assert waiting.value == {"question": "草稿"}


async def test_a_value_that_is_no_json_ends_the_attempt(saver: AttemptSaver) -> None:
    with pytest.raises(NotStorable):
        await Stages(draft=object()).graph(saver).ainvoke({}, config(1))


async def test_what_the_store_refused_is_raised_at_the_next_checkpoint(saver: AttemptSaver) -> None:
    lease = saver._writer.submit(lambda writes: writes.acquire("r-1", "p", 30.0)).result(10)
    saver._writer.submit(lambda writes: writes.acquire("r-1", "q", 30.0, instead_of=lease.holder)).result(10)
    after_work: CheckpointMetadata = {"source": "loop", "step": 1, "parents": {}}
    await saver.aput(config(1), empty_checkpoint(), after_work, {})
    assert await kept(saver) == ()
    with pytest.raises(StaleLease):
        await saver.aput(config(1), empty_checkpoint(), after_work, {})


class Slow(MemoryStore):
    """A store whose commits wait for `opened`."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = threading.Event()

    def commit(self, operations: Sequence[Operation[object]]) -> list[Outcome]:
        assert self.opened.wait(10)
        return super().commit(operations)


async def test_an_attempt_does_not_wait_for_the_disk() -> None:
    store = Slow()
    async with Writer(store) as writer:
        try:
            graph = Stages().graph(AttemptSaver(writer, last="finished"))
            result = await asyncio.wait_for(graph.ainvoke({}, config(1)), 10)
        finally:
            store.opened.set()
    assert result["finished"] is True
    assert {row.thread for row in store.checkpoints()} == {thread(1)}
