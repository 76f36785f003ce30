"""The attempt graph against LangGraph itself: what the runtime keeps between the stages is what LangGraph would put."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver

from agents.results import WorkOutput, WorkResult
from orchestrator.shell.attempt_graph import (
    CONTEXT,
    WORK_RESULT,
    AttemptContext,
    Made,
    build_attempt_graph,
    checkpoint_after_work,
)
from orchestrator.shell.store.checkpointer import StoreCheckpointer
from orchestrator.shell.store.memory_store import MemoryStore
from orchestrator.shell.store.writer import Writer


class Stopped(RuntimeError):
    """The check breaks off."""


@dataclass
class Attempt:
    """An attempt whose worker hands over a fixed result and whose check breaks off."""

    ran: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    text: str = ""

    def __post_init__(self) -> None:
        result = WorkResult(output=WorkOutput(text="草稿"), candidate_complete=True, mode="scripted", path=1)
        self.made = Made(result, WORK_RESULT.dump_json(result).decode())

    def context(self) -> AttemptContext:
        async def work(path: int, guards: tuple[str, ...]) -> Made:
            del path, guards
            self.ran.append("work")
            return self.made

        async def examine(made: Made, blocked: tuple[str, ...]) -> Any:
            del blocked
            self.ran.append("check")
            assert made == self.made
            raise Stopped

        def never(*_: Any) -> Any:
            raise AssertionError("the check broke off before")

        return AttemptContext(
            work=work,
            start_path=1,
            examine=examine,
            keep=self.kept.append,
            suppress=never,
            judge=never,
            finalise=never,
        )


async def put_by_langgraph(attempt: Attempt, saver: BaseCheckpointSaver[Any]) -> Any:
    """Return the checkpoint that LangGraph puts between the stages when it is told to put all of them."""
    config: Any = {"configurable": {"thread_id": "theirs", CONTEXT: attempt.context()}}
    with pytest.raises(Stopped):
        await build_attempt_graph(saver).ainvoke(True, config, durability="async", version="v2")
    return saver.get_tuple(config)


async def test_the_checkpoint_between_the_stages_is_the_one_that_langgraph_puts() -> None:
    attempt = Attempt()
    with Writer(MemoryStore()) as writer:
        theirs = await put_by_langgraph(attempt, StoreCheckpointer(writer))
    ours = checkpoint_after_work(attempt.kept[0])
    own = {"id", "ts"}
    assert {name: value for name, value in ours.items() if name not in own} == {
        name: value for name, value in theirs.checkpoint.items() if name not in own
    }


@pytest.mark.parametrize("durability", ["async", "exit"])
async def test_langgraph_goes_on_from_it_with_the_check(durability: Any) -> None:
    attempt, saver = Attempt(), InMemorySaver()
    start: Any = {"configurable": {"thread_id": "ours", "checkpoint_ns": ""}}
    checkpoint = checkpoint_after_work(attempt.made.text)
    saver.put(start, checkpoint, {"source": "loop", "step": 0, "parents": {}}, checkpoint["channel_versions"])
    graph = build_attempt_graph(saver)
    config: Any = {"configurable": {"thread_id": "ours", CONTEXT: attempt.context()}}
    assert (await graph.aget_state(config)).next == ("check",)
    with pytest.raises(Stopped):
        await graph.ainvoke(None, config, durability=durability, version="v2")
    assert attempt.ran == ["check"]


async def test_a_new_attempt_keeps_its_result_before_it_is_checked() -> None:
    attempt = Attempt()
    config: Any = {"configurable": {"thread_id": "new", CONTEXT: attempt.context()}}
    with pytest.raises(Stopped):
        await build_attempt_graph(None).ainvoke(True, config, version="v2")
    assert attempt.ran == ["work", "check"]
    assert attempt.kept == [attempt.made.text]
