"""Suspended runs and what a person's answer, given from another process, leads to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agents.evidence import Evidence, Source, SourceId
from agents.workers.ports import WorkFailed
from graphs.contract import Lang
from graphs.plan import Plan
from orchestrator.core.backtrack import ChangeAgent, InjectGuard, SetMask
from orchestrator.core.claims import Level
from orchestrator.core.errors import UnknownRequest, WrongState
from orchestrator.core.events import (
    AttemptFailed,
    AttemptRejected,
    AttemptStarted,
    Backtracked,
    BlockageClassified,
    ExecutorTookOver,
    NodeAcceptedAsIs,
    NodeReused,
    NodesSkipped,
    RequestAnswered,
    RequestOpened,
    RunSuspended,
)
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Proposal
from orchestrator.core.requests import Answer, InvalidAnswer
from orchestrator.run import answer, approval_token, approve, report_of, revise
from orchestrator.shell.store.errors import AlreadyRecorded
from orchestrator.shell.store.memory_store import MemoryStore
from orchestrator.shell.store.ports import RunStore
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.verification.ports import CheckOrder, FactSource, FactVerdict
from tests.core.builders import A1, A2, CONTRACTS, SOLO, n, plan, proposal
from tests.flows.stage import EVERY, ROWS, NoteFolder, Script, Stage, passes_on, says, set_stage, written

REFUSES = WorkFailed("refused", "I can't")
PAIR = plan("a>b")


@pytest.fixture
def notes(tmp_path: Path) -> NoteFolder:
    return written(tmp_path / "notes")


async def suspended(
    notes: NoteFolder, draft: Proposal, script: Script, store: RunStore
) -> tuple[Stage, RunId, str]:
    """Execute until a person is asked; return the one open request's id."""
    stage = set_stage(notes, script, store=store)
    run = stage.approved(draft)
    state = await stage.execute(run)
    assert state.status == "suspended"
    (request,) = state.requests.keys()
    return stage, run, request


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> RunStore:
    return MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "runs.db")


class TestChoices:
    async def test_retry_gives_the_worker_the_guidance(self, notes: NoteFolder, store: RunStore) -> None:
        _, run, request = await suspended(
            notes, proposal(PAIR, roster=SOLO), {(n("a"), EVERY): REFUSES}, store
        )
        good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
        other = set_stage(notes, {(n("a"), EVERY): good, (n("b"), EVERY): passes_on}, store=store)
        asked = answer(
            other.shop, request, Answer(choice="retry", guidance="Look into storage.md."), by="ann"
        )
        assert asked.node == "a"
        done = await other.execute(run)
        assert done.status == "completed"
        assert other.orders("a")[0].guards == ("Look into storage.md.",)
        (answered,) = other.bodies(run, RequestAnswered)
        assert (answered.by, answered.answer.choice) == ("ann", "retry")
        (body,) = other.bodies(run, Backtracked)
        assert isinstance(body.plan.repair, InjectGuard)
        assert (body.plan.by, body.plan.forced_level) == ("person", Level.L2)
        assert len(other.bodies(run, ExecutorTookOver)) == 2

    async def test_set_mask_sets_one_value_for_one_sub_task(self, notes: NoteFolder) -> None:
        store = MemoryStore()
        _, run, request = await suspended(
            notes, proposal(PAIR, roster=SOLO), {(n("a"), EVERY): REFUSES}, store
        )
        good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
        other = set_stage(notes, {(n("a"), EVERY): good, (n("b"), EVERY): passes_on}, store=store)
        choice = Answer(choice="set_mask", agent="A1", domain=CONTRACTS, value=55)
        answer(other.shop, request, choice, by="ann")
        done = await other.execute(run)
        assert done.status == "completed"
        (body,) = other.bodies(run, Backtracked)
        assert isinstance(body.plan.repair, SetMask)
        assert (body.plan.repair.old, body.plan.repair.new) == (0, 55)
        assert [order.agent.mask.value(CONTRACTS) for order in other.orders("a")] == [55]
        assert [order.agent.mask.value(CONTRACTS) for order in other.orders("b")] == [0]

    async def test_reassign_gives_it_to_the_agent_that_was_named(self, notes: NoteFolder) -> None:
        store = MemoryStore()
        script: Script = {(n("a"), EVERY): REFUSES}
        stage, run, request = await suspended(notes, proposal(PAIR), script, store)
        assert [order.agent.id for order in stage.orders("a")] == [A1, A2]
        good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
        other = set_stage(notes, {(n("a"), EVERY): good, (n("b"), EVERY): passes_on}, store=store)
        answer(other.shop, request, Answer(choice="reassign", agent="A1"), by="ann")
        assert (await other.execute(run)).status == "completed"
        assert other.bodies(run, Backtracked)[-1].plan.repair == ChangeAgent(node=n("a"), old=A2, new=A1)
        assert [order.agent.id for order in other.orders("a")] == [A1]

    async def test_abandon_goes_on_without_it(self, notes: NoteFolder) -> None:
        store = MemoryStore()
        good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
        script: Script = {(n("a"), EVERY): good, (n("b"), EVERY): REFUSES, (n("c"), EVERY): passes_on}
        _, run, request = await suspended(notes, proposal(plan("a>c b~c"), roster=SOLO), script, store)
        other = set_stage(notes, script, store=store)
        answer(other.shop, request, Answer(choice="abandon"), by="ann")
        done = await other.execute(run)
        assert done.status == "partial"
        assert not done.stopped
        assert done.gaps == ("Look into b: given up",)
        (skipped,) = other.bodies(run, NodesSkipped)
        assert (skipped.nodes, skipped.reason) == (("b",), "abandoned")
        assert other.orders("a") == []
        assert set(other.orders("c")[0].inputs) == {"a"}
        assert [c.statement for c in report_of(other.shop, run).citations] == [ROWS]

    async def test_abandoning_what_everything_needs_blocks_the_run(self, notes: NoteFolder) -> None:
        store = MemoryStore()
        stage, run, request = await suspended(
            notes, proposal(PAIR, roster=SOLO), {(n("a"), EVERY): REFUSES}, store
        )
        answer(stage.shop, request, Answer(choice="abandon"), by="ann")
        assert (await stage.execute(run)).status == "blocked"


async def test_one_accept_of_a_sub_task_in_the_middle_is_enough_and_the_report_says_so(
    notes: NoteFolder,
) -> None:
    store = MemoryStore()
    forged = says(
        notes.quoted("a", "storage.md", ROWS, question="Why?", instead="The database keeps 43 rows.")
    )
    script: Script = {(n("a"), EVERY): forged, (n("b"), EVERY): passes_on, (n("c"), EVERY): passes_on}
    _, run, request = await suspended(notes, proposal(plan("a>b b>c")), script, store)
    other = set_stage(notes, script, store=store)
    answer(other.shop, request, Answer(choice="accept"), by="ann")
    done = await other.execute(run)
    assert done.status == "partial"
    assert len(other.bodies(run, RequestOpened)) == 1
    assert other.orders("a") == []
    assert done.gaps == (
        "Why?: answered, but no source confirms it",
        "Look into a: taken as it is, not verified",
    )
    (citation,) = report_of(other.shop, run).citations
    assert citation.verdict is not None
    assert citation.verdict.kind == "uncertain"
    assert "not verified" in citation.verdict.reason


class BrokenSource:
    """A fact source whose disk is gone."""

    name = "a broken disk"

    def __init__(self) -> None:
        self.asked = 0

    def trace(
        self, evidence: Evidence, sources: Mapping[SourceId, Source], *, lang: Lang
    ) -> FactVerdict | None:
        del evidence, sources, lang
        self.asked += 1
        raise OSError("input/output error")


class TestBrokenChecker:
    async def test_is_never_a_pass(self, notes: NoteFolder) -> None:
        store = MemoryStore()
        source = BrokenSource()

        def broken(_: Path) -> tuple[FactSource, ...]:
            return (source,)

        good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
        stage = set_stage(notes, {(n("a"), EVERY): good}, store=store, fact_sources=broken)
        run = stage.approved(proposal(plan("", lone="a")))
        state = await stage.execute(run)
        assert state.status == "suspended"
        assert source.asked >= 4
        rejected = stage.bodies(run, AttemptRejected)
        assert [body.failure.kind for body in rejected] == ["not_verified"] * 4
        assert [body.blockage.cls for body in stage.bodies(run, BlockageClassified)] == ["A", "A", "A", "B"]
        (opened,) = stage.bodies(run, RequestOpened)
        assert opened.request.reason == "not_verified"
        assert "input/output error" in opened.request.detail

        # A person may take it as it is, and the report says so.
        answer(stage.shop, opened.request.id, Answer(choice="accept"), by="ann")
        done = await stage.execute(run)
        assert done.status == "partial"
        (taken,) = stage.bodies(run, NodeAcceptedAsIs)
        assert taken.node == "a"
        report = stage.report(run)
        assert [node.accepted_as_is for node in report.confidence] == [True]
        assert [node.outcome for node in report.confidence] == ["not_verified"]
        assert [citation.verdict for citation in report.citations] == [None]

    async def test_raising_anything_is_not_verified_either(self, notes: NoteFolder) -> None:
        class Buggy:
            name = "buggy"

            def trace(self, evidence: Evidence, sources: Mapping[SourceId, Source], *, lang: Lang) -> None:
                raise KeyError(evidence.id, len(sources), lang)

        def buggy(_: Path) -> tuple[FactSource, ...]:
            return (Buggy(),)

        good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
        stage = set_stage(notes, {(n("a"), EVERY): good}, fact_sources=buggy)
        run = stage.approved(proposal(plan("", lone="a")))
        assert (await stage.execute(run)).status == "suspended"
        assert {body.failure.kind for body in stage.bodies(run, AttemptRejected)} == {"not_verified"}

    async def test_a_check_stage_that_raises_fails_the_run_and_accepts_nothing(
        self, notes: NoteFolder
    ) -> None:
        class Raising:
            def verify(self, order: CheckOrder) -> object:
                raise RuntimeError(f"no check of {order.subtask.id}")

        good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
        stage = set_stage(notes, {(n("a"), EVERY): good}, verifier=Raising())  # type: ignore[arg-type]
        run = stage.approved(proposal(plan("", lone="a")))
        done = await stage.execute(run)
        assert done.status == "failed"
        assert [body.failure.kind for body in stage.bodies(run, AttemptFailed)] == ["internal"]
        assert done.node(n("a")).accepted is None


class TestReview:
    async def reopened(self, notes: NoteFolder) -> tuple[Stage, RunId]:
        store = MemoryStore()
        good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
        script: Script = {(n("a"), EVERY): good, (n("b"), 1): REFUSES, (n("b"), EVERY): passes_on}
        stage, run, request = await suspended(notes, proposal(PAIR, roster=SOLO), script, store)
        answer(stage.shop, request, Answer(choice="review"), by="ann")
        state = await stage.execute(run)
        assert state.status == "reviewing"
        return stage, run

    async def test_an_edited_plan_is_approved_and_only_what_changed_runs(self, notes: NoteFolder) -> None:
        stage, run = await self.reopened(notes)
        with pytest.raises(WrongState):
            await stage.execute(run)
        before = stage.state(run).proposal
        assert before is not None
        titles = tuple(replace(t, title="Tell it") if t.id == "b" else t for t in before.plan.subtasks)
        edited = replace(before, plan=Plan(subtasks=titles, dependencies=before.plan.dependencies))
        state = revise(stage.shop, run, edited, ["b: another title"])
        assert state.sha256 is not None
        assert approval_token(state).startswith(f"{run}@2-")
        approve(stage.shop, run, 2, state.sha256, by="ann")
        done = await stage.execute(run)
        assert done.status == "completed"
        assert [body.node for body in stage.bodies(run, NodeReused)] == ["a"]
        assert [order.subtask.title for order in stage.orders("b")] == ["Look into b", "Tell it"]
        assert len(stage.orders("a")) == 1

    async def test_a_changed_mask_runs_its_sub_tasks_again(self, notes: NoteFolder) -> None:
        stage, run = await self.reopened(notes)
        before = stage.state(run).proposal
        assert before is not None
        (only,) = before.roster.agents
        other = proposal(PAIR, roster=replace(SOLO, agents=(replace(only, responsibility="Another one."),)))
        state = revise(stage.shop, run, replace(other, goal=before.goal), ["A1: another responsibility"])
        assert state.sha256 is not None
        approve(stage.shop, run, 2, state.sha256, by="ann")
        assert (await stage.execute(run)).status == "completed"
        assert stage.bodies(run, NodeReused) == []
        assert len(stage.orders("a")) == 2


class TestRefusedAnswers:
    async def test_an_unknown_request_a_choice_not_offered_and_names_that_do_not_exist(
        self, notes: NoteFolder
    ) -> None:
        store = MemoryStore()
        stage, run, request = await suspended(
            notes, proposal(PAIR, roster=SOLO), {(n("a"), EVERY): REFUSES}, store
        )
        shop = stage.shop
        with pytest.raises(UnknownRequest, match=f"open requests of the run: {request}"):
            answer(shop, f"{run}.q9", Answer(choice="retry"), by="ann")
        with pytest.raises(InvalidAnswer, match="'accept' is no choice"):
            answer(shop, request, Answer(choice="accept"), by="ann")
        with pytest.raises(InvalidAnswer, match="'reassign' is no choice"):
            answer(shop, request, Answer(choice="reassign", agent="A1"), by="ann")
        with pytest.raises(
            InvalidAnswer, match=r"'law.contract' is no knowledge domain .* near: law.contracts"
        ):
            answer(
                shop,
                request,
                Answer(choice="set_mask", agent="A1", domain="law.contract", value=40),
                by="ann",
            )
        assert shop.store.pending(run) == ()
        # None of them used the request up.
        answer(shop, request, Answer(choice="abandon"), by="ann")
        assert (await stage.execute(run)).status == "blocked"

    async def test_a_verifying_agent_is_given_no_work(self, notes: NoteFolder) -> None:
        store = MemoryStore()
        stage, _, request = await suspended(notes, proposal(PAIR), {(n("a"), EVERY): REFUSES}, store)
        with pytest.raises(InvalidAnswer, match="'V1' is no agent that can take 'a'; choose one of: A1"):
            answer(stage.shop, request, Answer(choice="reassign", agent="V1"), by="ann")

    async def test_the_first_answer_counts(self, notes: NoteFolder) -> None:
        store = MemoryStore()
        stage, run, request = await suspended(
            notes, proposal(PAIR, roster=SOLO), {(n("a"), EVERY): REFUSES}, store
        )
        answer(stage.shop, request, Answer(choice="abandon"), by="ann")
        with pytest.raises(AlreadyRecorded):
            answer(stage.shop, request, Answer(choice="review"), by="bob")
        assert (await stage.execute(run)).status == "blocked"

    async def test_resuming_without_an_answer_asks_again_and_runs_nothing(self, notes: NoteFolder) -> None:
        store = MemoryStore()
        stage, run, _ = await suspended(notes, proposal(PAIR, roster=SOLO), {(n("a"), EVERY): REFUSES}, store)
        again = await stage.execute(run)
        assert again.status == "suspended"
        assert len(stage.bodies(run, RequestOpened)) == 1
        assert len(stage.bodies(run, RunSuspended)) == 2
        assert len(stage.bodies(run, AttemptStarted)) == 1
