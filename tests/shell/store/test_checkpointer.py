from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Interrupt, interrupt

from orchestrator.shell.store.checkpoint_json import JsonSerializer
from orchestrator.shell.store.checkpointer import StoreCheckpointer
from orchestrator.shell.store.errors import NotStorable, StaleLease
from orchestrator.shell.store.rows import AttemptThread
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.store.writer import Writer
from tests.shell.store.conformance import event


class State(TypedDict, total=False):
    draft: str
    answer: str
    checked: bool
    odd: object


def thread(epoch: int) -> str:
    return AttemptThread(run="r-1", node="n", generation=0, attempt=1, epoch=epoch).text


def config(thread_id: str) -> Any:
    return {"configurable": {"thread_id": thread_id}}


@pytest.fixture
async def saver(tmp_path: Path) -> AsyncIterator[StoreCheckpointer]:
    store = SqliteStore(tmp_path / "runs.db")
    store.create_run("r-1", "t", "2025")
    async with Writer(store) as writer:
        yield StoreCheckpointer(writer)
    store.close()


class Stages:
    """Two stages that count how often they ran; `check` can fail or ask."""

    def __init__(self, *, asks: bool = False) -> None:
        self.ran: list[str] = []
        self.fails = False
        self.asks = asks

    async def work(self, state: State) -> State:  # noqa: ARG002
        self.ran.append("work")
        return {"draft": "草稿"}

    async def check(self, state: State) -> State:  # noqa: ARG002
        self.ran.append("check")
        if self.fails:
            raise RuntimeError("stopped here")
        answer = interrupt({"question": "继续？"}) if self.asks else "none"
        return {"answer": answer, "checked": True}

    def graph(self, saver: StoreCheckpointer) -> Any:
        graph = StateGraph(State)
        graph.add_node("work", self.work)
        graph.add_node("check", self.check)
        graph.add_edge(START, "work")
        graph.add_edge("work", "check")
        graph.add_edge("check", END)
        return graph.compile(checkpointer=saver)


async def test_an_attempt_goes_on_after_its_last_stage_in_the_next_epoch(saver: StoreCheckpointer) -> None:
    stages = Stages()
    stages.fails = True
    graph = stages.graph(saver)
    with pytest.raises(RuntimeError, match="stopped here"):
        await graph.ainvoke({}, config(thread(1)))
    assert await saver.take_over([thread(1)], thread(2)) == 1
    stages.fails = False
    assert (await graph.aget_state(config(thread(2)))).next == ("check",)
    result = await graph.ainvoke(None, config(thread(2)))
    assert result == {"draft": "草稿", "answer": "none", "checked": True}
    assert stages.ran == ["work", "check", "check"]
    assert (await graph.aget_state(config(thread(1)))).values == {}


async def test_nothing_to_take_over_is_zero(saver: StoreCheckpointer) -> None:
    assert await saver.take_over([thread(1)], thread(2)) == 0


async def test_an_interrupt_is_answered_by_its_id_in_another_process(
    saver: StoreCheckpointer, tmp_path: Path
) -> None:
    graph = Stages(asks=True).graph(saver)
    asked = (await graph.ainvoke({}, config("t")))["__interrupt__"]
    other_store = SqliteStore(tmp_path / "runs.db")
    async with Writer(other_store) as writer:
        later = Stages(asks=True)
        graph = later.graph(StoreCheckpointer(writer))
        (waiting,) = (await graph.aget_state(config("t"))).interrupts
        assert (waiting.id, waiting.value) == (asked[0].id, {"question": "继续？"})
        result = await graph.ainvoke(Command(resume={waiting.id: "好"}), config("t"))
    other_store.close()
    assert result["answer"] == "好"
    assert later.ran == ["check"]


async def test_the_last_write_to_a_special_channel_stands_beside_the_others(saver: StoreCheckpointer) -> None:
    await Stages().graph(saver).ainvoke({}, config("t"))
    (newest, *_) = [c.config async for c in saver.alist(config("t"))]
    await saver.aput_writes(newest, [("__error__", "first")], "task")
    await saver.aput_writes(newest, [("__error__", "second")], "task")
    await saver.aput_writes(newest, [("draft", "kept")], "task")
    await saver.aput_writes(newest, [("draft", "too late")], "task")
    found = await saver.aget_tuple(newest)
    assert found is not None
    assert found.pending_writes == [("task", "__error__", "second"), ("task", "draft", "kept")]


async def test_the_last_event_deletes_the_thread(saver: StoreCheckpointer) -> None:
    await Stages().graph(saver).ainvoke({}, config("t"))
    assert [c.metadata["source"] async for c in saver.alist(config("t"))] == ["loop", "loop", "loop", "input"]
    await saver._writer.append("r-1", 0, [event("attempt.verified")], delete_threads=["t"])
    assert [c async for c in saver.alist(config("t"))] == []
    assert saver._store.info().checkpoints == 0


async def test_a_stopped_and_continued_process_cannot_checkpoint(saver: StoreCheckpointer) -> None:
    stages = Stages()
    graph = stages.graph(saver)
    store = saver._store
    lease = saver._writer.submit(lambda writes: writes.acquire("r-1", "p", 30.0)).result(10)
    await graph.ainvoke({}, config(thread(1)))
    saver._writer.submit(lambda writes: writes.acquire("r-1", "q", 30.0, instead_of=lease.holder)).result(10)
    with pytest.raises(StaleLease):
        await graph.ainvoke({"draft": "late"}, config(thread(1)))
    assert {row.thread for row in store.checkpoints()} == {thread(1)}
    assert b"late" not in b"".join(row.checkpoint for row in store.checkpoints())


@pytest.mark.parametrize("odd", [{1, 2}, object(), Path("x"), float("nan"), float("inf"), "\ud800"])
async def test_only_json_is_checkpointed(saver: StoreCheckpointer, odd: object) -> None:
    graph = StateGraph(State)
    graph.add_node("work", lambda _: {"odd": odd})
    graph.add_edge(START, "work")
    with pytest.raises(NotStorable):
        await graph.compile(checkpointer=saver).ainvoke({}, config("t"))


def test_the_methods_for_threads_do_the_same(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.db")
    with Writer(store) as writer:
        saver = StoreCheckpointer(writer)
        graph = StateGraph(State)
        graph.add_node("work", lambda _: {"draft": "d"})
        graph.add_edge(START, "work")
        compiled = graph.compile(checkpointer=saver)
        assert compiled.invoke({}, config("t")) == {"draft": "d"}
        assert compiled.get_state(config("t")).values == {"draft": "d"}
        saver.copy_thread("t", "u")
        saver.prune(["u"])
        assert [c.checkpoint["channel_values"]["draft"] for c in saver.list(config("u"))] == ["d"]
        saver.prune(["u"], strategy="delete")
        assert list(saver.list(config("u"))) == []
        with pytest.raises(ValueError, match="'other' is no pruning strategy"):
            saver.prune(["t"], strategy="other")
        saver.delete_thread("t")
        assert saver.get_tuple(config("t")) is None
    store.close()


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        2.5,
        "甲",
        [1, [2]],
        {"a": {"b": None}},
        b"\x00\xff",
        [],
        [Interrupt(value={"q": 1}, id="i")],
    ],
)
def test_json_values_come_back_equal(value: object) -> None:
    serde = JsonSerializer()
    assert serde.loads_typed(serde.dumps_typed(value)) == value


def test_an_exception_is_kept_as_its_repr() -> None:
    serde = JsonSerializer()
    assert serde.loads_typed(serde.dumps_typed(ValueError("bad"))) == "ValueError('bad')"


@pytest.mark.parametrize("encoding", ["msgpack", "pickle", ""])
def test_no_other_encoding_is_read(encoding: str) -> None:
    with pytest.raises(NotStorable):
        JsonSerializer().loads_typed((encoding, b"\x80"))


@pytest.mark.parametrize(
    ("encoding", "content"),
    [
        ("json", b"{"),
        ("json", b"\xff\xfe\x80"),
        ("json", b"[" * 100_000),
        ("interrupts", b"3"),
        ("interrupts", b'[{"value":1,"id":"i","response_schema":null,"__reduce__":"os.system"}]'),
        ("interrupts", b'["value"]'),
    ],
)
def test_what_this_program_cannot_have_written_is_refused(encoding: str, content: bytes) -> None:
    with pytest.raises(NotStorable, match=f"'{encoding}'"):
        JsonSerializer().loads_typed((encoding, content))


def test_nothing_is_constructed_from_what_stands_in_a_checkpoint() -> None:
    """Neither LangChain's notation of objects nor anything that looks like it: it stays data."""
    planted = {"lc": 2, "type": "constructor", "id": ["os", "system"], "args": ["false"], "kwargs": {}}
    assert JsonSerializer().loads_typed(("json", json.dumps([planted]).encode())) == [planted]


PLANTED = """
import pickle, sys
class Touch:
    def __reduce__(self):
        return open, (sys.argv[1], "w")
sys.stdout.buffer.write(pickle.dumps(Touch()))
"""


@pytest.mark.parametrize("encoding", ["pickle", "msgpack", "json"])
async def test_a_planted_pickle_is_not_executed(
    saver: StoreCheckpointer, tmp_path: Path, encoding: str
) -> None:
    """Somebody who can write into the file puts a pickle where a checkpoint is read."""
    touched = tmp_path / "touched"
    made = subprocess.run([sys.executable, "-c", PLANTED, str(touched)], capture_output=True, check=True)
    await Stages().graph(saver).ainvoke({}, config("t"))
    (newest, *_) = saver._store.checkpoints("t")
    row = replace(newest, encoding=encoding, checkpoint=made.stdout)
    saver._writer.submit(lambda writes: writes.put_checkpoint(row)).result(10)
    with pytest.raises(NotStorable):
        await saver.aget_tuple(config("t"))
    assert not touched.exists()
    pickle.loads(made.stdout).close()
    assert touched.exists()  # it would have done so


@pytest.mark.parametrize(
    "surroundings", [{}, {"LANGGRAPH_STRICT_MSGPACK": "false"}], ids=["unset", "lenient"]
)
def test_langgraph_is_strict_wherever_the_saver_is_imported_first(surroundings: dict[str, str]) -> None:
    code = (
        "import orchestrator.shell.store.checkpointer\n"
        "from langgraph.checkpoint.serde._msgpack import STRICT_MSGPACK_ENABLED\n"
        "print(STRICT_MSGPACK_ENABLED)"
    )
    environment = {"PATH": "", "PYTHONPATH": str(Path(__file__).parents[3]), **surroundings}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "True"


def test_the_store_itself_needs_no_langgraph() -> None:
    code = (
        "import sys, orchestrator.shell.store.sqlite_store, orchestrator.shell.store.writer\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('langgraph', 'langchain_core')])"
    )
    environment = {"PATH": "", "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
