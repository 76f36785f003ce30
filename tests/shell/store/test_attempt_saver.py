"""What of an attempt is kept for going on with it, and that nothing waits for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from orchestrator.shell.store.attempt_saver import NEW_THREAD, AttemptSaver
from orchestrator.shell.store.errors import NotStorable, StaleLease
from orchestrator.shell.store.ports import Operation, RunStore
from orchestrator.shell.store.rows import AttemptThread
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


@dataclass
class Riding:
    """What waits to be written with the next events."""

    queued: list[tuple[str, Operation[None]]] = field(default_factory=list)

    def ride(self, thread: str, write: Operation[None]) -> None:
        self.queued.append((thread, write))

    def written(self, store: RunStore) -> None:
        """Write it, as the journal does with the next events."""
        operations: list[Operation[object]] = [write for _, write in self.queued]
        self.queued.clear()
        for outcome in store.commit(operations):
            assert outcome.kind == "committed", outcome.error


@pytest.fixture
def riding() -> Riding:
    return Riding()


@pytest.fixture
async def saver(tmp_path: Path, riding: Riding) -> AsyncIterator[AttemptSaver]:
    store = SqliteStore(tmp_path / "runs.db")
    store.create_run("r-1", "t", "2025")
    async with Writer(store) as writer:
        yield AttemptSaver(writer, riding.ride, last="finished")
    store.close()


async def test_only_what_stands_between_the_stages_is_kept(saver: AttemptSaver, riding: Riding) -> None:
    result = await Stages().graph(saver).ainvoke({}, config(1))
    assert result == {"draft": "草稿", "finished": True}
    riding.written(saver._store)
    rows = saver._store.checkpoints()
    values = [saver.serde.loads_typed((row.encoding, row.checkpoint))["channel_values"] for row in rows]
    # A `StateGraph` takes its input in before the first stage, in a step of its own.
    assert [found.get("draft") for found in values] == ["草稿", None]
    assert not any("finished" in found for found in values)
    assert [saver._store.checkpoint_writes(row.thread, row.ns, row.id) for row in rows] == [(), ()]


async def test_another_executor_goes_on_behind_the_last_stage_that_ended(
    saver: AttemptSaver, riding: Riding
) -> None:
    stages = Stages()
    stages.fails = True
    graph = stages.graph(saver)
    with pytest.raises(RuntimeError, match="stopped here"):
        await graph.ainvoke({}, config(1))
    riding.written(saver._store)
    assert await saver.take_over(thread(1), thread(2)) == 1
    stages.fails = False
    assert (await graph.aget_state(config(2, new=False))).next == ("check",)
    assert (await graph.ainvoke(None, config(2, new=False)))["finished"] is True
    assert stages.ran == ["work", "check", "check"]


async def test_a_question_is_kept(saver: AttemptSaver, riding: Riding) -> None:
    graph = Stages(asks=True).graph(saver)
    await graph.ainvoke({}, config(1))
    riding.written(saver._store)
    (waiting,) = (await graph.aget_state(config(1, new=False))).interrupts
    assert waiting.value == {"question": "草稿"}


async def test_a_value_that_is_no_json_ends_the_attempt(saver: AttemptSaver) -> None:
    with pytest.raises(NotStorable):
        await Stages(draft=object()).graph(saver).ainvoke({}, config(1))


async def test_what_is_kept_names_the_thread_that_it_ends_with(saver: AttemptSaver, riding: Riding) -> None:
    await Stages(asks=True).graph(saver).ainvoke({}, config(3))
    assert {name for name, _ in riding.queued} == {thread(3)}


async def test_an_attempt_waits_for_no_disk_and_no_event(saver: AttemptSaver, riding: Riding) -> None:
    """Nothing is written until events are; the attempt ends all the same."""
    result = await Stages().graph(saver).ainvoke({}, config(1))
    assert result["finished"] is True
    assert saver._store.checkpoints() == ()
    riding.written(saver._store)
    assert {row.thread for row in saver._store.checkpoints()} == {thread(1)}


async def test_a_journal_that_broke_ends_the_attempt(saver: AttemptSaver) -> None:
    def refuse(thread: str, write: Operation[None]) -> None:
        del write
        raise StaleLease(thread.partition("/")[0], 1, 2)

    graph = Stages().graph(AttemptSaver(saver._writer, refuse, last="finished"))
    with pytest.raises(StaleLease):
        await graph.ainvoke({}, config(1))
