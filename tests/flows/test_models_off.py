"""The switch of the last resort: what would think with a model is done by the embedded default, and the run ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agents.models.langchain import LangChainChat
from agents.models.scripted import CallTools, Fail, Messages, Reply, Rule, Say, ScriptedChatModel
from agents.spec import ModelPolicy
from graphs.contract import Criterion, PortSpec, TaskContract
from orchestrator.core.errors import ModelUnavailable
from orchestrator.core.events import AttemptFailed, AttemptVerified, Event
from orchestrator.core.proposal import Proposal
from orchestrator.core.stand_ins import stood_in
from orchestrator.core.state import RunState
from orchestrator.shell.journal import Listener
from orchestrator.shell.model_switch import ModelSwitch
from tests.core.builders import A1, DATABASES, EMBEDDED, ROSTER, agent, n, plan, proposal, subtask
from tests.flows.stage import ROWS, STARTED, NoteFolder, Stage, set_stage, written

ROWS_ASKED = "How many rows does the database keep?"
START_ASKED = "When was the database started?"
FINISHED = {
    "claims": [{"statement": ROWS, "excerpts": ["E1"], "question": 1}],
    "complete": True,
    "open_questions": [],
}
ANSWER = CallTools(calls=(("finish", FINISHED),))


@pytest.fixture
def notes(tmp_path: Path) -> NoteFolder:
    return written(tmp_path)


def draft() -> Proposal:
    """A model answers one question and then another one, code writes the report."""
    thinks = replace(
        agent("A1", {DATABASES: 90}, operations=("research", "report")),
        model_policy=ModelPolicy(kind="model", model="scripted:one"),
    )
    first, then = (
        replace(subtask(name, domains={DATABASES: 1.0}), kind="loop", params={"questions": [question]})
        for name, question in (("a", ROWS_ASKED), ("b", START_ASKED))
    )
    report = replace(
        subtask("c", operation="report", domains={}),
        kind="function",
        params={"title": "Report", "questions": [ROWS_ASKED, START_ASKED]},
        outputs=(PortSpec(name="report", type="report"),),
    )
    criteria = tuple(
        Criterion(id=f"c{number}", text="Answered.", kind="question_answered", question=question)
        for number, question in enumerate((ROWS_ASKED, START_ASKED))
    )
    made = proposal(
        plan("a>b a>c b>c", a=first, b=then, c=report),
        roster=replace(ROSTER, agents=(thinks, *EMBEDDED.agents[1:])),
        contract=TaskContract(kind="research", acceptance=criteria),
    )
    return replace(made, grants={A1: ("search_notes", "read_note")})


def thinking(notes: NoteFolder, *replies: Reply) -> tuple[Stage, ScriptedChatModel]:
    model = ScriptedChatModel.in_order(*replies)
    stage = set_stage(notes)
    stage.shop.worker_for = None
    stage.shop.chat_for = lambda _: LangChainChat(model, "scripted")
    return stage, model


def off_once_verified(stage: Stage) -> Listener:
    """Switch models off, as another process does, when the first sub-task is accepted."""

    def listen(event: Event, state: RunState) -> None:
        del state
        if isinstance(event.body, AttemptVerified):
            ModelSwitch(stage.shop.settings).turn_off("2026-01-01T00:00:00Z")

    return listen


async def test_switched_off_in_the_middle_the_rest_is_done_by_code(notes: NoteFolder) -> None:
    stage, model = thinking(notes, ANSWER)
    run = stage.approved(draft())
    done = await stage.execute(run, listeners=[off_once_verified(stage)])
    assert done.status == "completed", done.gaps
    modes = {body.node: body.mode for body in stage.bodies(run, AttemptVerified)}
    assert modes == {n("a"): "model", n("b"): "extractive", n("c"): "extractive"}
    assert len(model.requests) == 1
    assert stood_in(done) == (n("b"),), "a function is code for every agent"
    statements = {citation.statement for citation in stage.report(run).citations}
    assert {ROWS, STARTED} <= statements


async def test_an_attempt_under_way_asks_no_more_and_is_made_again_by_code(notes: NoteFolder) -> None:
    """While the model writes an answer that can't be read, somebody switches models off: no repair is asked for."""
    stage, _ = thinking(notes)

    def switched_off(messages: Messages) -> Reply:
        del messages
        ModelSwitch(stage.shop.settings).turn_off("2026-01-01T00:00:00Z")
        return Say(text="42, I think")

    model = ScriptedChatModel(rules=(Rule(reply=switched_off),))
    stage.shop.chat_for = lambda _: LangChainChat(model, "scripted")
    run = stage.approved(draft())
    done = await stage.execute(run)
    assert done.status == "completed", done.gaps
    assert len(model.requests) == 1
    assert [body.failure.kind for body in stage.bodies(run, AttemptFailed)] == ["unavailable"]
    assert stood_in(done) == (n("a"), n("b"))


async def test_on_again_models_are_asked_again(notes: NoteFolder) -> None:
    stage, model = thinking(notes, ANSWER, Fail(error=TimeoutError("slow")), Fail(error=TimeoutError("slow")))
    switch = ModelSwitch(stage.shop.settings)
    switch.turn_off("2026-01-01T00:00:00Z")
    switch.turn_on()
    run = stage.approved(draft())
    done = await stage.execute(run, listeners=[off_once_verified(stage)])
    assert len(model.requests) == 1
    assert done.status == "completed"


async def test_a_model_that_is_not_configured_keeps_no_run_up_while_models_are_off(notes: NoteFolder) -> None:
    stage, _ = thinking(notes)
    stage.shop.chat_for = lambda _: None
    run = stage.approved(draft())
    with pytest.raises(ModelUnavailable):
        await stage.execute(run)
    ModelSwitch(stage.shop.settings).turn_off("2026-01-01T00:00:00Z")
    done = await stage.execute(run)
    assert done.status == "completed"
    assert stood_in(done) == (n("a"), n("b"))
