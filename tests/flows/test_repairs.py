"""The four classes of blockages through the whole machine: scripted workers, real store, leaks and verification."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agents.broker import Broker, BudgetExhausted
from agents.evidence import LeakMark
from agents.results import Need, OpenQuestion, WorkOutput, WorkResult
from agents.spec import AgentId
from agents.workers.ports import WorkFailed, WorkOrder
from masks.bands import Band
from orchestrator.core.backtrack import (
    BacktrackLevel,
    ChangeAgent,
    CorrectParameters,
    ExtendMask,
    InjectGuard,
)
from orchestrator.core.claims import Level, RootCause
from orchestrator.core.events import (
    AttemptFailed,
    AttemptRejected,
    AttemptStarted,
    AttemptVerified,
    Backtracked,
    BlockageClassified,
    FailureRemembered,
    NodesSkipped,
    RequestOpened,
    RetryScheduled,
)
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Proposal
from orchestrator.shell.store.memory_store import MemoryStore
from tests.core.builders import (
    A1,
    A2,
    CONTRACTS,
    DATABASES,
    FORBIDDEN,
    MEDICINE,
    ROSTER,
    SOLO,
    agent,
    n,
    plan,
    proposal,
    subtask,
)
from tests.flows.stage import (
    DOSE,
    EVERY,
    NOTES,
    ROWS,
    STARTED,
    YEARS,
    Extras,
    NoteFolder,
    Quoted,
    Script,
    Stage,
    passes_on,
    says,
    set_stage,
    written,
)

CHAIN = plan("a>b b>c")
PAIR = plan("a>b")
ON_PATH_2 = Extras(path=2)


@pytest.fixture
def notes(tmp_path: Path) -> NoteFolder:
    return written(tmp_path)


def answer(notes: NoteFolder, node: str = "a") -> WorkResult:
    return says(notes.quoted(node, "storage.md", ROWS, question="Why?"))


def started(stage: Stage, run: RunId) -> list[tuple[str, int, int]]:
    return [(body.node, body.generation, body.attempt) for body in stage.bodies(run, AttemptStarted)]


async def played(notes: NoteFolder, draft: Proposal, script: Script) -> tuple[Stage, RunId]:
    """Run to the end, the nodes that the script leaves out handing on what they get."""
    rest: Script = {(subtask.id, EVERY): passes_on for subtask in draft.plan.subtasks}
    stage = set_stage(notes, {**rest, **script})
    run = stage.approved(draft)
    await stage.execute(run)
    return stage, run


class TestTransient:
    async def test_is_retried_after_its_delay_and_after_what_the_provider_asked_for(
        self, notes: NoteFolder
    ) -> None:
        stage, run = await played(
            notes,
            proposal(CHAIN),
            {
                (n("a"), 1): WorkFailed("timeout", "no answer"),
                (n("a"), 2): WorkFailed("rate_limited", "too many", retry_after_s=42.0),
                (n("a"), 3): answer(notes),
            },
        )
        assert stage.state(run).status == "completed"
        delays = [body.delay_s for body in stage.bodies(run, RetryScheduled)]
        assert stage.clock.slept == delays
        assert 0 <= delays[0] < 0.5
        assert delays[1] == 42.0
        assert started(stage, run) == [("a", 1, 1), ("a", 1, 2), ("a", 1, 3), ("b", 1, 1), ("c", 1, 1)]
        (citation,) = stage.report(run).citations
        assert citation.statement == ROWS
        assert citation.verdict is not None
        assert citation.verdict.kind == "verified"
        assert not stage.report(run).leaks

    async def test_after_three_retries_it_is_a_capability_gap_and_the_agent_changes(
        self, notes: NoteFolder
    ) -> None:
        script: Script = {(n("a"), k): WorkFailed("timeout", "no answer") for k in (1, 2, 3, 4)}
        stage, run = await played(notes, proposal(PAIR), {**script, (n("a"), 5): answer(notes)})
        classes = [body.blockage.cls for body in stage.bodies(run, BlockageClassified)]
        assert classes == ["A", "A", "A", "C"]
        assert [order.agent.id for order in stage.orders("a")] == [A1, A1, A1, A1, A2]
        assert stage.state(run).status == "completed"


async def test_a_structural_failure_goes_back_to_the_parent_which_is_told_why(notes: NoteFolder) -> None:
    empty = WorkResult(output=WorkOutput(text=" "), candidate_complete=True, mode="scripted", path=1)
    stage, run = await played(
        notes, proposal(CHAIN), {(n("a"), EVERY): answer(notes), (n("b"), 1): empty, (n("b"), 2): passes_on}
    )
    assert stage.state(run).status == "completed"
    (body,) = stage.bodies(run, Backtracked)
    assert body.plan.level is BacktrackLevel.PARENT
    assert body.plan.invalidated == ("a", "b", "c")
    assert isinstance(body.plan.repair, CorrectParameters)
    assert body.plan.repair.node == "a"
    assert "its structure was not as the sub-task asks" in stage.orders("a")[1].guards[0]
    assert started(stage, run) == [("a", 1, 1), ("b", 1, 1), ("a", 2, 1), ("b", 2, 1), ("c", 1, 1)]


async def test_an_agent_that_refuses_is_changed(notes: NoteFolder) -> None:
    stage, run = await played(
        notes, proposal(PAIR), {(n("a"), 1): WorkFailed("refused", "I can't"), (n("a"), 2): answer(notes)}
    )
    (body,) = stage.bodies(run, Backtracked)
    assert body.plan.repair == ChangeAgent(node=n("a"), old=A1, new=A2)
    assert [order.agent.id for order in stage.orders("a")] == [A1, A2]
    assert stage.state(run).status == "completed"


class TestSilentDomains:
    async def test_a_required_one_is_raised_to_background_and_the_leak_stays_on_the_claim(
        self, notes: NoteFolder
    ) -> None:
        years = notes.quoted("a", "liability.md", YEARS, question="Why?")

        def declared(order: WorkOrder, broker: Broker) -> WorkResult:
            del broker
            assert order.agent.mask.band(CONTRACTS, order.thresholds) is Band.BACKGROUND
            strength = order.agent.mask.value(CONTRACTS)
            return says(years.marked(order.agent.id, CONTRACTS, strength), extras=ON_PATH_2)

        stage, run = await played(notes, proposal(CHAIN), {(n("a"), 1): says(years), (n("a"), 2): declared})
        assert stage.state(run).status == "completed"
        (body,) = stage.bodies(run, Backtracked)
        repair = body.plan.repair
        assert isinstance(repair, ExtendMask)
        assert (repair.node, repair.domain, repair.old, repair.new) == ("a", CONTRACTS, 0, 40)
        assert body.plan.start_path == 2
        assert body.plan.forced_level is Level.L2
        assert [order.path for order in stage.orders("a")] == [1, 2]
        (rejected,) = stage.bodies(run, AttemptRejected)
        assert rejected.failure.kind == "domain_closed"
        made = stage.bodies(run, AttemptVerified)[0]
        assert made.verification.level in (Level.L2, Level.L3)
        (leak,) = made.leaks
        assert (leak.agent, leak.domain, leak.strength, leak.origin) == ("A1+a.1", CONTRACTS, 40, "source")
        assert (leak.declared, leak.detected, leak.path) == (True, True, 2)
        assert leak.locator == "liability.md:3"
        # Two sub-tasks later:
        report = stage.report(run)
        (citation,) = report.citations
        assert citation.leaks == (
            LeakMark(agent="A1+a.1", domain=CONTRACTS, strength=40, origin="source", declared=True, node="a"),
        )
        assert [row.node for row in report.leaks] == ["a"]
        assert "mask leak" not in report.body

    async def test_one_at_minus_one_is_never_raised(self, tmp_path: Path) -> None:
        texts = {**NOTES, "desk.md": "# Desk\n\nThe trading desk closes at 17:30.\n"}
        notes = written(tmp_path, texts)
        closes = notes.quoted("a", "desk.md", "The trading desk closes at 17:30.", question="Why?")
        work = plan("a>b", a=subtask("a", domains={DATABASES: 1.0, FORBIDDEN: 0.5}))
        stage, run = await played(notes, proposal(work), {(n("a"), EVERY): says(closes)})
        (body,) = stage.bodies(run, Backtracked)
        assert body.plan.repair == ChangeAgent(node=n("a"), old=A1, new=A2)
        assert stage.state(run).status == "completed"
        assert not stage.report(run).leaks  # MAIN for A2

    async def test_one_at_minus_one_with_nobody_to_change_to_asks_a_person(self, tmp_path: Path) -> None:
        texts = {**NOTES, "desk.md": "# Desk\n\nThe trading desk closes at 17:30.\n"}
        notes = written(tmp_path, texts)
        closes = notes.quoted("a", "desk.md", "The trading desk closes at 17:30.", question="Why?")
        work = plan("a>b", a=subtask("a", domains={DATABASES: 1.0, FORBIDDEN: 0.5}))
        stage, run = await played(notes, proposal(work, roster=SOLO), {(n("a"), EVERY): says(closes)})
        assert stage.state(run).status == "suspended"
        (opened,) = stage.bodies(run, RequestOpened)
        assert (opened.request.kind, opened.request.reason) == ("amendment", "outside_envelope")
        assert not stage.bodies(run, Backtracked)

    async def test_one_that_only_the_agent_asks_for_goes_to_a_person(self, notes: NoteFolder) -> None:
        need = Need(domain=MEDICINE, question="Why?", band="SILENT", match=0.9)
        dose = says(notes.quoted("a", "health.md", DOSE, question="Why?"), extras=Extras(needs=(need,)))
        stage, run = await played(notes, proposal(PAIR), {(n("a"), EVERY): dose})
        assert stage.state(run).status == "suspended"
        (opened,) = stage.bodies(run, RequestOpened)
        assert (opened.request.kind, opened.request.reason) == ("amendment", "untrusted_need")
        assert not stage.bodies(run, Backtracked)
        assert len(stage.orders("a")) == 1

    async def test_used_spontaneously_the_output_is_written_once_more_under_a_guard(
        self, notes: NoteFolder
    ) -> None:
        dose = says(notes.quoted("a", "health.md", DOSE, question="Why?"))
        stage, run = await played(notes, proposal(PAIR), {(n("a"), 1): dose, (n("a"), 2): answer(notes)})
        assert stage.state(run).status == "completed"
        assert started(stage, run) == [("a", 1, 1), ("b", 1, 1)]
        first, second = stage.orders("a")
        assert first.guards == ()
        assert [MEDICINE in guard for guard in second.guards] == [True]
        assert DOSE not in stage.report(run).body

    async def test_written_once_more_a_question_may_still_lead_to_path_2(self, notes: NoteFolder) -> None:
        left = OpenQuestion(question="Why?", reason="not_answerable", searched=("why",))
        need = Need(domain=CONTRACTS, question="Why?", band="BACKGROUND", match=0.9)
        dose = says(notes.quoted("a", "health.md", DOSE, question="Why?"))
        asks = says(extras=Extras(open_questions=(left,), needs=(need,)))
        stage, _ = await played(
            notes, proposal(PAIR), {(n("a"), 1): dose, (n("a"), 2): asks, (n("a"), 3): answer(notes)}
        )
        first, *again = stage.orders("a")
        assert (first.path, first.guards) == (1, ())
        assert [order.path for order in again] == [1, 2]
        assert all(MEDICINE in guard for order in again for guard in order.guards)
        assert [len(order.guards) for order in again] == [1, 1]

    async def test_used_spontaneously_again_the_agent_is_changed_and_no_mask_extended(
        self, notes: NoteFolder
    ) -> None:
        dose = says(notes.quoted("a", "health.md", DOSE, question="Why?"))
        stage, run = await played(
            notes, proposal(PAIR), {(n("a"), 1): dose, (n("a"), 2): dose, (n("a"), 3): answer(notes)}
        )
        assert stage.state(run).status == "completed"
        (rejected,) = stage.bodies(run, AttemptRejected)
        assert rejected.failure.kind == "spontaneous_leak"
        leaks = sorted((leak.domain, leak.declared, leak.blocked) for leak in rejected.leaks)
        assert leaks == [(MEDICINE, False, False), (MEDICINE, False, True)], (
            "of the second output, and of the first"
        )
        (body,) = stage.bodies(run, Backtracked)
        assert body.plan.repair == ChangeAgent(node=n("a"), old=A1, new=A2)

    async def test_a_forged_place_does_not_lend_its_section_to_a_leak(self, notes: NoteFolder) -> None:
        # The excerpt names a place in the MAIN domain where other words stand; only its words tell the domain.
        dose = says(notes.quoted("a", "storage.md", ROWS, question="Why?", instead=DOSE))
        stage, run = await played(notes, proposal(PAIR), {(n("a"), 1): dose, (n("a"), 2): answer(notes)})
        assert [MEDICINE in guard for guard in stage.orders("a")[1].guards] == [True]
        assert stage.state(run).status == "completed"

    async def test_a_claim_that_the_text_hides_leaks_all_the_same(self, notes: NoteFolder) -> None:
        shown, hidden = (
            notes.quoted("a", "storage.md", ROWS, question="Why?"),
            notes.quoted("a", "health.md", DOSE),
        )
        whole = says(shown, hidden)
        text = whole.output.text.replace(DOSE, "See there.")
        sly = replace(whole, output=replace(whole.output, text=text))
        stage, run = await played(notes, proposal(PAIR), {(n("a"), 1): sly, (n("a"), 2): answer(notes)})
        assert len(stage.orders("a")) == 2
        assert stage.state(run).status == "completed"

    async def test_a_worker_does_not_choose_the_path_that_excuses_its_leak(self, notes: NoteFolder) -> None:
        half = agent("A1", {DATABASES: 90, CONTRACTS: 50})
        years = notes.quoted("a", "liability.md", YEARS, question="Why?").marked("A1", CONTRACTS, 50)
        draft = proposal(PAIR, roster=replace(ROSTER, agents=(half, *ROSTER.agents[1:])))
        stage, run = await played(notes, draft, {(n("a"), 1): says(years, extras=ON_PATH_2)})
        made = stage.bodies(run, AttemptVerified)[0]
        assert made.path == 1
        assert [leak.path for leak in made.leaks] == [1]


class TestFalsified:
    def forged(self, notes: NoteFolder, node: str) -> Quoted:
        return notes.quoted(node, "storage.md", ROWS, question="Why?", instead="The database keeps 43 rows.")

    async def test_a_fabricated_citation_is_traced_back_redone_under_a_guard_and_checked_at_level_2(
        self, notes: NoteFolder
    ) -> None:
        stage, run = await played(
            notes,
            proposal(PAIR),
            {
                (n("a"), EVERY): answer(notes),
                (n("b"), 1): says(self.forged(notes, "b")),
                (n("b"), 2): passes_on,
            },
        )
        assert stage.state(run).status == "completed"
        (rejected,) = stage.bodies(run, AttemptRejected)
        assert rejected.failure.kind == "falsified"
        assert rejected.verification.level is Level.L3
        diagnosis = rejected.failure.diagnosis
        assert diagnosis is not None
        assert diagnosis.cause is RootCause.PROCESS
        assert [view.view for view in diagnosis.views] == ["supervisor", "upstream", "downstream"]
        (body,) = stage.bodies(run, Backtracked)
        assert isinstance(body.plan.repair, InjectGuard)
        assert (body.plan.level, body.plan.invalidated) == (BacktrackLevel.NODE, ("b",))
        assert (body.plan.redo, body.plan.forced_level) == (True, Level.L2)
        last = stage.bodies(run, AttemptVerified)[-1]
        assert last.verification.level is Level.L2
        assert "redo" in last.verification.triggers
        assert [c.statement for c in stage.report(run).citations] == [ROWS]

    async def test_a_second_falsification_suspends(self, notes: NoteFolder) -> None:
        stage, run = await played(
            notes,
            proposal(PAIR),
            {(n("a"), EVERY): answer(notes), (n("b"), EVERY): says(self.forged(notes, "b"))},
        )
        assert stage.state(run).status == "suspended"
        (opened,) = stage.bodies(run, RequestOpened)
        assert opened.request.reason == "second_falsification"
        assert [row.outcome for row in opened.request.attempts] == ["falsified", "falsified"]
        assert "accept" in opened.request.choices

    async def test_an_extension_that_led_to_it_is_remembered_for_the_next_run(
        self, notes: NoteFolder
    ) -> None:
        years = notes.quoted("a", "liability.md", YEARS, question="Why?")
        forged = notes.quoted(
            "a", "liability.md", YEARS, question="Why?", instead="The contract runs for 9 years."
        )

        def lies(order: WorkOrder, broker: Broker) -> WorkResult:
            del broker
            strength = order.agent.mask.value(CONTRACTS)
            return says(forged.marked(order.agent.id, CONTRACTS, strength), extras=ON_PATH_2)

        rest: Script = {(n("b"), EVERY): passes_on}
        script: Script = {(n("a"), 1): says(years), (n("a"), 2): lies, (n("a"), 3): says(years)}
        store = MemoryStore()
        stage = set_stage(notes, {**rest, **script}, store=store)
        first = stage.approved(proposal(PAIR))
        assert (await stage.execute(first)).status == "completed"
        repairs = [body.plan.repair.kind for body in stage.bodies(first, Backtracked)]
        assert repairs == ["extend_mask", "change_agent"]
        (record,) = store.failures()
        assert record.task_class == "research/claims/cs.databases+law.contracts"
        assert (record.repair, record.outcome, record.run) == (
            "extend_mask:law.contracts",
            "falsified",
            first,
        )

        later = set_stage(notes, {**rest, (n("a"), EVERY): says(years)}, store=store)
        later.shop.ids = stage.shop.ids
        second = later.approved(proposal(PAIR))
        assert (await later.execute(second)).status == "completed"
        assert [body.key for body in later.bodies(second, FailureRemembered)] == [
            "research/claims/cs.databases+law.contracts|extend_mask:law.contracts"
        ]
        assert [body.plan.repair for body in later.bodies(second, Backtracked)] == [
            ChangeAgent(node=n("a"), old=A1, new=A2)
        ]
        assert len(store.failures()) == 1


class TestBugsAndBudgets:
    async def test_a_bug_fails_the_run_with_its_trace_while_independent_branches_finish(
        self, notes: NoteFolder
    ) -> None:
        stage, run = await played(
            notes,
            proposal(plan("a>c b>d")),
            {(n("a"), EVERY): ZeroDivisionError("a bug of ours"), (n("b"), EVERY): answer(notes, "b")},
        )
        done = stage.state(run)
        assert done.status == "failed"
        assert done.internal_error is not None
        assert "ZeroDivisionError: a bug of ours" in done.internal_error
        assert "Traceback" in done.internal_error
        (skipped,) = stage.bodies(run, NodesSkipped)
        assert (skipped.nodes, skipped.reason) == (("a", "c"), "internal")
        assert done.node(n("d")).status == "accepted"
        assert [c.statement for c in stage.report(run).citations] == [ROWS]

    async def test_an_exhausted_budget_ends_partial_and_stopped(self, notes: NoteFolder) -> None:
        stage, run = await played(
            notes,
            proposal(plan("a>c b>d")),
            {(n("a"), EVERY): BudgetExhausted("max_tool_calls", 18, 18), (n("b"), EVERY): answer(notes, "b")},
        )
        done = stage.state(run)
        assert (done.status, done.stopped) == ("partial", True)
        (failed,) = stage.bodies(run, AttemptFailed)
        assert failed.failure.kind == "limit"
        assert any("Look into a" in gap for gap in done.gaps)

    async def test_a_budget_that_ends_everything_is_partial_too(self, notes: NoteFolder) -> None:
        stage, run = await played(
            notes, proposal(PAIR), {(n("a"), EVERY): BudgetExhausted("deadline_s", 901, 900)}
        )
        done = stage.state(run)
        assert (done.status, done.stopped) == ("partial", True)
        assert stage.report(run).body == ""


async def test_consecutive_sentences_of_the_same_leak_are_one_leak_per_span(notes: NoteFolder) -> None:
    half = agent("A1", {DATABASES: 90, CONTRACTS: 50})
    draft = proposal(PAIR, roster=replace(ROSTER, agents=(half, *ROSTER.agents[1:])))
    parts = [
        notes.quoted("a", "storage.md", STARTED, question="Why?"),
        notes.quoted("a", "liability.md", YEARS),
    ]
    stage, run = await played(notes, draft, {(n("a"), EVERY): says(*parts)})
    report = stage.report(run)
    assert [(row.leak.domain, row.leak.declared, row.leak.text) for row in report.leaks] == [
        (CONTRACTS, False, YEARS)
    ]
    assert {c.statement: [mark.domain for mark in c.leaks] for c in report.citations} == {
        STARTED: [],
        YEARS: [CONTRACTS],
    }
    assert AgentId("A1") == report.leaks[0].leak.agent
