"""The attempt graph against LangGraph itself: what the runtime keeps between the stages is what LangGraph would put."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from langgraph.channels import EphemeralValue, LastValue
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.pregel import NodeBuilder, Pregel

from agents.results import WorkOutput, WorkResult
from orchestrator.shell.attempt_graph import (
    CONTEXT,
    FROM_THE_BEGINNING,
    WORK_RESULT,
    AttemptContext,
    Made,
    build_attempt_graph,
    checkpoint_after_work,
    from_result,
)


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


def counted(current: int | None, channel: None) -> int:
    """Number versions as our checkpointer does."""
    del channel
    return (current or 0) + 1


def kept_in(saver: BaseCheckpointSaver[Any], attempt: Attempt) -> Any:
    """Put what an attempt keeps between work and check into `saver`, and return a config that goes on with it."""
    start: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
    checkpoint = checkpoint_after_work(attempt.made.text)
    saver.put(start, checkpoint, {"source": "loop", "step": 0, "parents": {}}, checkpoint["channel_versions"])
    return {"configurable": {"thread_id": "t", CONTEXT: attempt.context()}}


@pytest.mark.parametrize("durability", ["async", "exit"])
async def test_langgraph_goes_on_with_the_check_of_what_was_kept(durability: Any) -> None:
    attempt, saver = Attempt(), InMemorySaver()
    config = kept_in(saver, attempt)
    graph = build_attempt_graph(saver)
    assert (await graph.aget_state(config)).next == ("check",)
    with pytest.raises(Stopped):
        await graph.ainvoke(None, config, durability=durability, version="v2")
    assert attempt.ran == ["check"]
    # And once more, for that process died as well.
    assert (await graph.aget_state(config)).next == ("check",)


async def test_a_checkpoint_after_work_has_the_shape_that_langgraph_gives_its_own() -> None:
    """In a graph whose first node writes the result, LangGraph puts this one, but for the node's name."""
    attempt = Attempt()
    ours = checkpoint_after_work(attempt.made.text)
    saver = InMemorySaver()
    saver.get_next_version = counted  # type: ignore[method-assign,assignment]
    two_steps: Pregel[Any, Any, Any, Any] = Pregel(
        nodes={
            "attempt": NodeBuilder()
            .subscribe_only("start")
            .do(lambda _: attempt.made.text)
            .write_to("result")
            .build(),
            "check": NodeBuilder().subscribe_only("result").do(lambda _: True).write_to("finished").build(),
        },
        channels={"start": EphemeralValue(bool), "result": LastValue(str), "finished": LastValue(bool)},
        input_channels="start",
        output_channels="finished",
        checkpointer=saver,
    )
    config: Any = {"configurable": {"thread_id": "theirs"}}
    await two_steps.ainvoke(True, config, durability="async", version="v2")
    (theirs,) = [found.checkpoint for found in saver.list(config) if (found.metadata or {}).get("step") == 0]
    own = {"id", "ts"}
    assert {name: value for name, value in ours.items() if name not in own} == {
        name: value for name, value in theirs.items() if name not in own
    }


async def test_a_new_attempt_keeps_its_result_before_it_is_checked() -> None:
    attempt = Attempt()
    config: Any = {"configurable": {"thread_id": "new", CONTEXT: attempt.context()}}
    with pytest.raises(Stopped):
        await build_attempt_graph().ainvoke(FROM_THE_BEGINNING, config, version="v2")
    assert attempt.ran == ["work", "check"]
    assert attempt.kept == [attempt.made.text]


async def test_a_result_that_is_there_is_checked_and_not_made_again() -> None:
    attempt = Attempt()
    config: Any = {"configurable": {"thread_id": "left", CONTEXT: attempt.context()}}
    with pytest.raises(Stopped):
        await build_attempt_graph().ainvoke(from_result(attempt.made.text), config, version="v2")
    assert (attempt.ran, attempt.kept) == (["check"], [])
