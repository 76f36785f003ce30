"""What came of calls that change something is told wherever a run is looked at, in both languages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agents.tools.contract import ToolError
from graphs.plan import NodeId
from orchestrator.core.comparing import compare_runs
from orchestrator.core.effects import EffectCall, effects_of
from orchestrator.core.report import render_markdown
from orchestrator.core.requests import ChoiceId
from orchestrator.desk import report_of
from orchestrator.interfaces.cli.bodies.effects import effect_documents, effect_lines
from orchestrator.interfaces.cli.progress.changes import Narrator
from orchestrator.shell.runs import load
from tests.core.report.delivered import delivered, facts
from tests.flows.outbox import SendTool
from tests.flows.stage import NoteFolder, written
from tests.flows.test_approvals import BOB, EVE, Desk


@pytest.fixture
def notes(tmp_path: Path) -> NoteFolder:
    return written(tmp_path)


def _outcomes(desk: Desk) -> list[tuple[str, str, bool]]:
    assert desk.run is not None
    found = effects_of(load(desk.store, desk.run))
    return [(str(call.arguments["to"]), call.outcome, call.approved) for call in found]


async def _answered(notes: NoteFolder, choice: ChoiceId, tool: SendTool | None = None) -> Desk:
    desk = Desk(notes, tool=tool)
    await desk.go()
    assert _outcomes(desk) == [("bob", "held", False)]
    desk.says(choice, "no letters" if choice == "refuse" else "")
    await desk.go()
    return desk


async def test_a_call_that_was_made_is_told_by_show_report_export_and_replay(notes: NoteFolder) -> None:
    desk = await _answered(notes, "approve")
    assert desk.stage is not None
    assert desk.run is not None
    state = load(desk.store, desk.run)
    assert state.status == "completed"
    assert _outcomes(desk) == [("bob", "made", True)]
    line = 'send text="hello" to="bob" — '
    assert effect_lines(state, "en")[1].endswith(f"{line}made, approved by you".replace("  ", " "))
    assert effect_lines(state, "zh") == ["会产生改动的调用：", f"  a     {line}已执行，经您批准"]
    report = report_of(desk.stage.shop, desk.run)
    assert [(each["outcome"], each["arguments"]) for each in effect_documents(state)] == [
        ("made", {"to": "bob", "text": "hello"})
    ]
    assert report.changes == effects_of(state)
    for lang, head in (("en", "## What was changed"), ("zh", "## 所作改动")):
        shown = render_markdown(report, "zh" if lang == "zh" else "en")
        assert shown.count(head) == 1
        assert shown.index(head) < shown.index("send text=") < shown.index("## ", shown.index(head) + 3)

    narrator, told = Narrator("en"), []
    for event in desk.log():
        changes = narrator.tell(event, load(desk.store, desk.run, at=event.seq))
        told += [dict(c.fields) for c in changes if c.weight != "activity" and dict(c.fields).get("call")]
    assert [each["state"] for each in told if each["call"] == "send"] == ["held", "committed", "made"]
    assert told[-1]["summary"] == "sent"


async def test_a_call_that_was_refused_is_told_and_changed_nothing(notes: NoteFolder) -> None:
    desk = await _answered(notes, "refuse")
    assert desk.stage is not None
    assert desk.run is not None
    assert _outcomes(desk) == [("bob", "refused", False)]
    state = load(desk.store, desk.run)
    assert "refused by you, not made" in effect_lines(state, "en")[1]
    report = report_of(desk.stage.shop, desk.run)
    assert [call.outcome for call in report.changes] == ["refused"]
    assert "What was changed" not in render_markdown(report, "en")


async def test_a_call_that_failed_for_certain_changed_nothing(notes: NoteFolder) -> None:
    gone = ToolError(error_type="NO_SUCH_ADDRESS", message="nobody lives there", retryable=False)
    desk = Desk(notes)
    desk.tool = SendTool(desk.outbox, before=lambda: gone)
    await desk.go()
    desk.says("approve")
    await desk.go()
    assert _outcomes(desk) == [("bob", "nothing", True)]


async def test_two_runs_that_differ_in_a_call_are_not_equal(notes: NoteFolder) -> None:
    made, refused = await _answered(notes, "approve"), await _answered(notes, "refuse")
    assert made.run is not None
    assert refused.run is not None
    found = compare_runs(made.run, made.log(), refused.run, refused.log())
    assert [(each.node, each.tool, each.first, each.second) for each in found.call_differences] == [
        ("a", "send", ("made",), ("refused",))
    ]
    assert found.call_differences[0].arguments == '{"text":"hello","to":"bob"}'
    assert not found.equal
    same = compare_runs(made.run, made.log(), made.run, made.log())
    assert same.call_differences == ()
    assert same.equal


async def test_only_what_waits_is_held_and_what_was_made_stays_made(notes: NoteFolder) -> None:
    desk = Desk(notes, calls=(BOB, EVE))
    await desk.go()
    desk.says("approve")
    await desk.go()
    assert _outcomes(desk) == [("bob", "made", True), ("eve", "held", False)]


def test_hostile_arguments_change_no_line_and_no_structure() -> None:
    call = EffectCall(
        node=NodeId("n1"),
        tool="send",
        side_effect="external",
        arguments={"to": "x\n\n## Missing\n\n- [y](http://z)"},
        outcome="unknown",
    )
    shown = render_markdown(delivered(about=replace(facts(), changes=(call,))), "en")
    assert "begun; nobody knows whether it happened" in shown
    assert [line for line in shown.splitlines() if line.startswith("## Missing")] == []
    assert "[y](" not in shown
