"""Whole runs with a chat model that is scripted: worker, broker, leak check and verification are the product's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.models.langchain import LangChainChat
from agents.models.scripted import Fail, Reply, Say, SayJson, ScriptedChatModel
from agents.spec import ModelPolicy
from graphs.contract import Criterion, PortSpec, TaskContract
from masks.leaks.markers import LeakMarker, render_marker
from orchestrator.core.claims import Level
from orchestrator.core.events import (
    AttemptFailed,
    AttemptVerified,
    Backtracked,
    BlockageClassified,
    CallReturned,
    RetryScheduled,
)
from orchestrator.core.proposal import Proposal
from orchestrator.shell.store.memory_store import MemoryStore
from tests.core.builders import (
    A1,
    CONTRACTS,
    DATABASES,
    EMBEDDED,
    MEDICINE,
    ROSTER,
    agent,
    plan,
    proposal,
    subtask,
)
from tests.flows.crashes import Crash, crash_at
from tests.flows.stage import DOSE, ROWS, YEARS, NoteFolder, Stage, set_stage, written

QUESTION = "How many rows does the database keep?"


@pytest.fixture
def notes(tmp_path: Path) -> NoteFolder:
    return written(tmp_path)


def draft(contracts: int = 0) -> Proposal:
    """A model looks for the answer, code writes the report."""
    thinks = replace(
        agent("A1", {DATABASES: 90, CONTRACTS: contracts}, operations=("research", "report")),
        model_policy=ModelPolicy(kind="model", model="scripted:one"),
    )
    search = replace(subtask("a", domains={DATABASES: 1.0}), kind="loop", params={"questions": [QUESTION]})
    report = replace(
        subtask("b", operation="report", domains={}),
        params={"title": "Report", "questions": [QUESTION]},
        outputs=(PortSpec(name="report", type="report"),),
    )
    contract = TaskContract(
        kind="research",
        acceptance=(Criterion(id="c1", text="Answered.", kind="question_answered", question=QUESTION),),
    )
    made = proposal(
        plan("a>b", a=search, b=report),
        roster=replace(ROSTER, agents=(thinks, *EMBEDDED.agents[1:])),
        contract=contract,
    )
    return replace(made, grants={A1: ("search_notes", "read_note")})


def thinking(
    notes: NoteFolder, *replies: Reply, store: MemoryStore | None = None
) -> tuple[Stage, ScriptedChatModel]:
    model = ScriptedChatModel.in_order(*replies)
    stage = set_stage(notes, store=store)
    stage.shop.worker_for = None
    stage.shop.chat_for = lambda _: LangChainChat(model, "scripted")
    return stage, model


def claims(*entries: tuple[str, list[str]], **more: Any) -> SayJson:
    return SayJson(
        data={
            "claims": [{"statement": text, "excerpts": cited, "question": 1} for text, cited in entries],
            "complete": True,
            **more,
        }
    )


GOOD = claims((ROWS, ["E1"]))


async def test_an_answer_is_cited_by_code_and_verified(notes: NoteFolder) -> None:
    stage, model = thinking(notes, GOOD)
    run = stage.approved(draft())
    done = await stage.execute(run)
    assert done.status == "completed", (done.gaps, done.internal_error)
    (citation,) = stage.report(run).citations
    assert (citation.statement, citation.places[0].uri, citation.places[0].excerpt) == (
        ROWS,
        "storage.md",
        ROWS,
    )
    assert (citation.verdict is not None and citation.verdict.kind, citation.origin) == ("verified", "source")
    assert len(model.requests) == 1
    calls = [(body.call, body.name) for body in stage.bodies(run, CallReturned)]
    assert calls == [("tool", "search_notes"), ("model", "scripted")]


async def test_a_resumed_attempt_does_not_ask_the_model_again(notes: NoteFolder) -> None:
    store = MemoryStore()
    stage, model = thinking(notes, GOOD, store=store)
    run = stage.approved(draft())
    answered = crash_at(lambda event: isinstance(event.body, CallReturned) and event.body.call == "model")
    with pytest.raises(Crash):
        await stage.execute(run, listeners=[answered])
    assert len(model.requests) == 1
    other, silent = thinking(notes, store=store)
    done = await other.execute(run)
    assert done.status == "completed"
    assert silent.requests == ()


async def test_a_model_that_is_not_reached_is_asked_again_later(notes: NoteFolder) -> None:
    stage, model = thinking(notes, Fail(error=TimeoutError("no answer")), GOOD)
    run = stage.approved(draft())
    assert (await stage.execute(run)).status == "completed"
    assert [body.blockage.failure.kind for body in stage.bodies(run, BlockageClassified)] == ["timeout"]
    assert len(stage.bodies(run, RetryScheduled)) == 1
    assert len(model.requests) == 2


@pytest.mark.parametrize(("allowed", "status"), [(3, "completed"), (2, "partial")])
async def test_a_model_takes_no_more_steps_than_the_contract_allows(
    notes: NoteFolder, allowed: int, status: str
) -> None:
    """Two answers that can't be read and a good one are three calls."""
    stage, model = thinking(notes, Say(text="42, I think"), Say(text="42, I said"), GOOD)
    made = draft()
    limits = replace(made.contract.limits, max_steps_per_node=allowed)
    run = stage.approved(replace(made, contract=replace(made.contract, limits=limits)))
    assert (await stage.execute(run)).status == status
    assert len(model.requests) == allowed
    failures = [(body.failure.kind, body.failure.message) for body in stage.bodies(run, AttemptFailed)]
    told = "limit reached: 2 of 2 model calls used (max_steps_per_node)"
    assert failures == ([("limit", told)] if allowed == 2 else [])


async def test_words_out_of_a_silent_domain_are_written_again_under_the_suppression_guard(
    notes: NoteFolder,
) -> None:
    stage, model = thinking(notes, claims((ROWS, ["E1"]), (DOSE, [])), GOOD)
    run = stage.approved(draft())
    assert (await stage.execute(run)).status == "completed"
    assert not stage.bodies(run, Backtracked)
    asked = ["\n".join(str(message.content) for message in request) for request in model.requests]
    assert ["Do not use these knowledge domains: med.general" in text for text in asked] == [False, True]
    assert DOSE not in stage.report(run).body
    (blocked,) = [leak for body in stage.bodies(run, AttemptVerified) for leak in body.leaks]
    assert (blocked.text, blocked.domain, blocked.noted, blocked.blocked) == (DOSE, MEDICINE, "2b", True)
    assert stage.report(run).leaks == (), "what was discarded is not in the report"


async def test_what_the_model_knows_by_itself_is_at_best_uncertain(notes: NoteFolder) -> None:
    """A background domain, declared, without a source: nothing to trace, so the answer leaves a gap."""
    marker = render_marker(LeakMarker(agent="A1", domain=CONTRACTS, strength=50), "en")
    words = "The contract was signed in 2011."
    stage, _ = thinking(notes, claims((f"{words} {marker}", [])))
    run = stage.approved(draft(contracts=50))
    done = await stage.execute(run)
    assert (done.status, done.gaps) == ("partial", (f"{QUESTION}: answered, but no source confirms it",))
    made = stage.bodies(run, AttemptVerified)[0]
    assert made.verification.level in (Level.L2, Level.L3)
    (row,) = stage.report(run).leaks
    assert (row.leak.domain, row.leak.origin, row.leak.declared, row.leak.strength) == (
        CONTRACTS,
        "parametric",
        True,
        50,
    )
    (citation,) = stage.report(run).citations
    assert citation.verdict is not None
    assert citation.verdict.kind == "uncertain"
    assert [mark.origin for mark in citation.leaks] == ["parametric"]
    assert YEARS not in stage.report(run).body
