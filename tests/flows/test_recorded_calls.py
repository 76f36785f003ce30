"""A resumed attempt gets the recorded results of its calls instead of making them again."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from agents.broker import Broker
from agents.results import WorkResult
from agents.tools.contract import ToolCall, ToolOk
from agents.workers.ports import WorkOrder
from orchestrator.core.events import CallReturned
from orchestrator.core.proposal import Proposal
from orchestrator.core.requests import Answer
from orchestrator.desk import answer
from orchestrator.shell.store.memory_store import MemoryStore
from tests.core.builders import A1, n, plan, proposal
from tests.flows.counting import CountingTool
from tests.flows.crashes import Crash, crash_at
from tests.flows.stage import EVERY, ROWS, NoteFolder, Script, passes_on, says, set_stage, written


def granted(draft: Proposal) -> Proposal:
    return replace(draft, grants={A1: ("count",)})


@pytest.fixture
def notes(tmp_path: Path) -> NoteFolder:
    return written(tmp_path)


@pytest.mark.parametrize("returned", [1, 2, 3])
async def test_calls_made_before_a_crash_are_not_made_again(notes: NoteFolder, returned: int) -> None:
    good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
    seen: list[list[int]] = []

    async def counts(order: WorkOrder, broker: Broker) -> WorkResult:
        del order
        seen.append([])
        for what in ("rows", "tables", "views"):
            result = await broker.call_tool(ToolCall(tool="count", arguments={"what": what}))
            assert isinstance(result, ToolOk)
            seen[-1].append(result.data["nth"])
            await asyncio.sleep(0)  # the crash happens between two calls
        return good

    script: Script = {(n("a"), EVERY): counts, (n("b"), EVERY): passes_on}
    store, tool = MemoryStore(), CountingTool()
    stage = set_stage(notes, script, store=store, tools={"count": tool})
    run = stage.approved(granted(proposal(plan("a>b"))))
    before = 0

    def is_last(body: object) -> bool:
        nonlocal before
        before += isinstance(body, CallReturned)
        return isinstance(body, CallReturned) and before == returned

    with pytest.raises(Crash):
        await stage.execute(run, listeners=[crash_at(lambda event: is_last(event.body))])
    recorded = len(stage.bodies(run, CallReturned))
    assert recorded >= returned
    made = len(tool.calls)

    other = set_stage(notes, script, store=store, tools={"count": tool})
    done = await other.execute(run)
    assert done.status == "completed"
    # Only what had not been recorded was really called again.
    assert tool.calls[made:] == ["rows", "tables", "views"][recorded:]
    assert seen[-1][:recorded] == [1, 2, 3][:recorded]
    assert [body.index for body in other.bodies(run, CallReturned)] == [0, 1, 2]
    assert all(body.step == "work.1.0" for body in other.bodies(run, CallReturned))


async def test_a_tool_that_is_not_granted_is_for_a_person_and_is_not_called(notes: NoteFolder) -> None:
    """What was not granted is outside of what was approved (semantics 5): refused by the person, the agent goes on."""
    errors: list[str] = []

    async def tries(order: WorkOrder, broker: Broker) -> WorkResult:
        del order
        result = await broker.call_tool(ToolCall(tool="count", arguments={"what": "rows"}))
        errors.append("" if isinstance(result, ToolOk) else result.error_type)
        return says(notes.quoted("a", "storage.md", ROWS, question="Why?"))

    tool = CountingTool()
    stage = set_stage(notes, {(n("a"), EVERY): tries, (n("b"), EVERY): passes_on}, tools={"count": tool})
    run = stage.approved(proposal(plan("a>b")))
    state = await stage.execute(run)
    assert (state.status, errors) == ("suspended", [])
    (request,) = state.requests.values()
    assert request.call is not None
    assert [reason.code for reason in request.call.reasons] == ["outside_the_task"]
    answer(stage.shop, request.id, Answer(choice="refuse"), by="test")
    assert (await stage.execute(run)).status == "completed"
    assert errors == ["ACTION_DENIED"]
    assert tool.calls == []
    (call,) = stage.bodies(run, CallReturned)
    assert (call.ok, call.name) == (False, "count")
