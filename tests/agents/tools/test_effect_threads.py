"""A function that outlives its call: a thread can't be stopped, so nothing says too early what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any, Literal

import pytest

from agents.tools.builtin.drafts import WriteTool, draft_tools
from agents.tools.callables import FunctionTool, ToolFailed, tool
from agents.tools.contract import RepeatRule, ToolError, ToolOk, ToolResult
from agents.tools.ports import EffectTool, NotPerformed

TO = {"to": "bob"}


@dataclass
class Post:
    """A function that sends a letter, the first time when it is let, and what looks it up."""

    ends: Literal["sent", "refused"] = "sent"
    begun: Event = field(default_factory=Event)
    let: Event = field(default_factory=Event)
    starts: int = 0
    letters: list[str] = field(default_factory=list)

    def tool(self, repeat: RepeatRule = "never") -> FunctionTool:
        @tool(
            purpose="Sends.",
            when_to_use="In tests.",
            when_not_to_use="Elsewhere.",
            side_effect="external",
            repeat=repeat,
            outcome=self.outcome,
        )
        def send(to: str, idempotency_key: str) -> None:
            self.starts += 1
            self.begun.set()
            if self.starts == 1:
                self.let.wait()
            if self.ends == "refused":
                raise ToolFailed("no such address")
            self.letters.append(to + idempotency_key)

        return send

    def outcome(self, arguments: Mapping[str, Any], key: str) -> ToolResult | NotPerformed:
        """As an honest register does: what is not in it did not happen, so far."""
        sent = arguments["to"] + key in self.letters
        return ToolOk(summary="sent", data=None, source="post") if sent else NotPerformed()


def effect(made: FunctionTool) -> EffectTool:
    assert isinstance(made, EffectTool)
    return made


async def given_up(post: Post, made: EffectTool, key: str) -> None:
    """Perform the call, and give it up when its thread runs."""
    call = asyncio.ensure_future(made.perform(TO, key))
    await asyncio.to_thread(post.begun.wait)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


@pytest.mark.parametrize(("ends", "kind"), [("sent", ToolOk), ("refused", NotPerformed)])
def test_that_it_did_not_happen_counts_only_when_its_thread_has_ended(
    ends: Literal["sent", "refused"], kind: type
) -> None:
    post = Post(ends=ends)
    made = effect(post.tool())

    async def while_it_runs() -> ToolResult | NotPerformed | None:
        try:
            await given_up(post, made, f"1{ends}")
            return await made.outcome_of(TO, f"1{ends}")
        finally:
            post.let.set()

    # The loop is closed when its threads have ended.
    assert asyncio.run(while_it_runs()) is None
    assert isinstance(asyncio.run(made.outcome_of(TO, f"1{ends}")), kind)
    assert len(post.letters) == (ends == "sent")


def test_no_second_thread_is_begun_beside_it_under_the_same_key() -> None:
    post = Post()
    made = effect(post.tool(repeat="keyed"))

    async def while_it_runs() -> tuple[ToolResult, int]:
        try:
            await given_up(post, made, "2")
            return await made.perform(TO, "2"), post.starts
        finally:
            post.let.set()

    again, starts = asyncio.run(while_it_runs())
    assert isinstance(again, ToolError)
    assert (again.error_type, starts) == ("OBSERVATION_UNKNOWN", 1)
    # When it has ended the function is called again, which keeps its promise or does not.
    assert asyncio.run(made.perform(TO, "2")).ok
    assert post.starts == 2


def test_what_was_given_up_before_it_began_is_never_made() -> None:
    post = Post()
    made, busy = effect(post.tool()), Event()

    async def behind_another() -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        other = asyncio.ensure_future(asyncio.to_thread(busy.wait))
        call = asyncio.ensure_future(made.perform(TO, "3"))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        post.let.set()
        busy.set()
        await other

    asyncio.run(behind_another())
    assert post.starts == 0
    assert isinstance(asyncio.run(made.outcome_of(TO, "3")), NotPerformed)


def test_a_draft_that_is_still_being_written_is_not_said_to_be_unwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, *_ = draft_tools(tmp_path / "drafts")
    assert isinstance(write, WriteTool)
    begun, let = Event(), Event()
    real = type(write.drafts).write

    def slow(*given: Any) -> Any:
        begun.set()
        let.wait()
        return real(*given)

    monkeypatch.setattr(type(write.drafts), "write", slow)
    arguments = {"path": "letter", "content": "why?"}

    async def while_it_runs() -> ToolResult | NotPerformed | None:
        try:
            call = asyncio.ensure_future(write.perform(arguments, "4"))
            await asyncio.to_thread(begun.wait)
            call.cancel()
            return await write.outcome_of(arguments, "4")
        finally:
            let.set()

    assert asyncio.run(while_it_runs()) is None
    assert isinstance(asyncio.run(write.outcome_of(arguments, "4")), ToolOk)
    assert (tmp_path / "drafts" / "letter").read_text(encoding="utf-8") == "why?"
