"""The gate: what is approved is exactly one revision by its hash; text is never an approval; copies are new runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from masks.domains import DomainId
from masks.gradient import set_leaf
from orchestrator.core.errors import NoReport, SourcesMissing, StaleApproval, WrongState
from orchestrator.core.events import ChangesWereRequested, NodeReused, ProposalApproved, RunCreated
from orchestrator.core.proposal import Proposal
from orchestrator.core.state import RunState
from orchestrator.run import (
    approval_token,
    approve,
    execute,
    post_control,
    reject,
    report_of,
    request_changes,
    revise,
    run_again,
    state_of,
    submit,
)
from tests.core.builders import CONTRACTS, DATABASES, n, plan, proposal
from tests.flows.stage import EVERY, ROWS, Script, Stage, passes_on, says, set_stage, written

GOAL = "How many rows does the database keep?"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    notes = written(tmp_path)
    return set_stage(notes)


def submitted(stage: Stage) -> RunState:
    return submit(stage.shop, GOAL, sources=[stage.notes.folder])


def with_mask(proposal_: Proposal, domain: DomainId, value: int) -> Proposal:
    agents = tuple(
        replace(agent, mask=set_leaf(agent.mask, domain, value, author="user", reason="test"))
        for agent in proposal_.roster.agents
    )
    return replace(proposal_, roster=replace(proposal_.roster, agents=agents))


def sha(state: RunState) -> str:
    assert state.sha256 is not None
    return state.sha256


async def test_nothing_runs_before_an_approval(stage: Stage) -> None:
    drafted = submitted(stage)
    assert (drafted.status, drafted.seq) == ("reviewing", 2)
    with pytest.raises(WrongState, match=f"maskgrad review {drafted.run}"):
        await execute(stage.shop, drafted.run)
    assert stage.worker.orders == []
    with pytest.raises(NoReport):
        report_of(stage.shop, drafted.run)


def test_equal_goals_over_equal_notes_give_an_equal_hash(stage: Stage) -> None:
    assert sha(submitted(stage)) == sha(submitted(stage))


def test_a_changed_mask_is_another_revision_with_another_hash_and_the_old_approval_is_refused(
    stage: Stage,
) -> None:
    first = submitted(stage)
    assert first.proposal is not None
    second = revise(stage.shop, first.run, with_mask(first.proposal, CONTRACTS, 50), ["A1: 0.00 -> 0.50"])
    assert second.proposal is not None
    assert (second.proposal.revision, second.status) == (2, "reviewing")
    assert sha(second) != sha(first)
    for revision, sha256 in (
        (1, sha(first)),
        (2, sha(first)),
        (1, sha(second)),
        (2, sha(second)[:7]),
        (2, ""),
    ):
        with pytest.raises(StaleApproval, match=f"maskgrad approve {first.run}@2-{sha(second)[:8]}"):
            approve(stage.shop, first.run, revision, sha256, by="test")
    assert state_of(stage.shop, first.run).approved_revision is None
    assert approval_token(second) == f"{first.run}@2-{sha(second)[:8]}"
    approved = approve(stage.shop, first.run, 2, sha(second)[:8], by="test")
    assert (approved.status, approved.approved_revision) == ("confirmed", 2)
    (body,) = stage.bodies(first.run, ProposalApproved)
    assert body.sha256 == sha(second)


def test_back_to_an_earlier_content_is_back_to_its_hash(stage: Stage) -> None:
    first = submitted(stage)
    assert first.proposal is not None
    revise(stage.shop, first.run, with_mask(first.proposal, CONTRACTS, 50), ["there"])
    third = revise(stage.shop, first.run, first.proposal, ["and back"])
    assert third.proposal is not None
    # The revision before is what is replaced: its number is the next one, whatever was handed over.
    assert third.proposal.revision == 3
    assert sha(third) == sha(first)


def test_text_is_a_wish_and_never_an_approval(stage: Stage) -> None:
    drafted = submitted(stage)
    for words in ("approve", "yes, go on", f"approve {approval_token(drafted)}"):
        assert request_changes(stage.shop, drafted.run, words).status == "reviewing"
    assert len(stage.bodies(drafted.run, ChangesWereRequested)) == 3
    assert stage.bodies(drafted.run, ProposalApproved) == []


def test_a_rejected_run_is_blocked_for_good(stage: Stage) -> None:
    drafted = submitted(stage)
    assert reject(stage.shop, drafted.run, "not now").status == "blocked"
    with pytest.raises(WrongState):
        approve(stage.shop, drafted.run, 1, sha(drafted), by="test")
    with pytest.raises(WrongState):
        post_control(stage.shop, drafted.run, "cancel", by="test")


async def test_running_again_is_a_new_run_with_a_copy(stage: Stage) -> None:
    good = says(stage.notes.quoted("a", "storage.md", ROWS, question="Why?"))
    script: Script = {(n("a"), EVERY): good, (n("b"), EVERY): passes_on}
    played = set_stage(stage.notes, script)
    first = played.approved(proposal(plan("a>b")))
    done = await played.execute(first)
    copy = run_again(played.shop, first)
    assert copy.run != first
    assert (copy.status, copy.approved_revision, copy.sha256) == ("confirmed", 1, done.sha256)
    again = await played.execute(copy.run)
    assert (again.status, again.result) == ("completed", done.result)
    assert played.bodies(copy.run, NodeReused) == []
    (created,) = played.bodies(copy.run, RunCreated)
    assert created.forked_from is not None
    assert (created.forked_from.run, created.forked_from.seq) == (first, done.seq)
    with pytest.raises(WrongState):
        run_again(played.shop, submitted(played).run)


async def test_a_plan_that_searches_needs_sources(stage: Stage) -> None:
    drafted = submitted(stage)
    assert drafted.proposal is not None
    bare = replace(drafted.proposal, goal=replace(drafted.proposal.goal, sources=()))
    state = revise(stage.shop, drafted.run, bare, ["no sources"])
    approve(stage.shop, drafted.run, 2, sha(state), by="test")
    with pytest.raises(SourcesMissing):
        await execute(stage.shop, drafted.run)
    assert stage.shop.store.lease(drafted.run) is None


def test_the_drafts_masks_follow_from_the_required_domains(stage: Stage) -> None:
    drafted = submitted(stage)
    assert drafted.proposal is not None
    required = {domain for task in drafted.proposal.plan.subtasks for domain in task.required_domains}
    assert DATABASES in required
    worker = next(agent for agent in drafted.proposal.roster.agents if agent.role == "generate")
    assert worker.mask.value(DATABASES) > 70
    assert worker.mask.value(CONTRACTS) == 0
