"""Attempts: what the check is told, what is kept, what a resumed one does not do again, and how failures are named."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pytest

from agents.broker import Broker, BudgetExhausted
from agents.evidence import ClaimId, EvidenceId
from agents.results import Need, OpenQuestion, WorkOutput, WorkResult
from agents.tools.contract import ToolCall, ToolResult
from agents.workers.ports import WorkOrder
from graphs.contract import Lang
from masks.bands import Band
from masks.domains import DomainId
from masks.leaks.provenance import Leak
from masks.leaks.report import LeakReport
from masks.leaks.rules import Judgement, LeakAction
from orchestrator.core.blockage import Failure
from orchestrator.core.claims import (
    ClaimVerdict,
    Confidence,
    EvidenceVerdict,
    Falsified,
    Finding,
    Level,
    Verification,
)
from orchestrator.core.events import AttemptFailed, AttemptProduced, AttemptVerified
from orchestrator.core.input_key import WORK_OUTPUT, content_digest_of
from orchestrator.core.proposal import Proposal
from orchestrator.shell import attempts
from orchestrator.shell.attempt_judgement import judge_attempt
from orchestrator.shell.leak_scan import LeakScan
from orchestrator.shell.store.memory_store import MemoryStore
from orchestrator.verification.levels import StandardVerifier
from orchestrator.verification.ports import CheckOrder, Verifier
from orchestrator.verification.sources.documents import DocumentSource
from tests.core.builders import A1, CONTRACT, CONTRACTS, DATABASES, MEDICINE, ROSTER, agent, n, plan, proposal
from tests.flows.counting import COUNT
from tests.flows.crashes import Crash, crash_at
from tests.flows.stage import (
    EVERY,
    ROWS,
    YEARS,
    Extras,
    NoteFolder,
    Script,
    passes_on,
    says,
    set_stage,
    written,
)

PAIR = plan("a>b")
HALF = replace(ROSTER, agents=(agent("A1", {DATABASES: 90, CONTRACTS: 50}), *ROSTER.agents[1:]))


@pytest.fixture
def notes(tmp_path: Path) -> NoteFolder:
    return written(tmp_path)


@dataclass
class Overhearing:
    """The standard check stage, which keeps the orders that it got."""

    inner: Verifier
    orders: list[CheckOrder] = field(default_factory=list)

    def verify(self, order: CheckOrder) -> Verification:
        self.orders.append(order)
        return self.inner.verify(order)


def overhearing(notes: NoteFolder) -> Overhearing:
    return Overhearing(StandardVerifier((DocumentSource(notes.folder),)))


async def test_the_check_is_told_of_inputs_their_verifications_and_the_place_in_the_plan(
    notes: NoteFolder,
) -> None:
    checks = overhearing(notes)
    good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
    stage = set_stage(notes, {(n("a"), EVERY): good, (n("b"), EVERY): passes_on}, verifier=checks)
    run = stage.approved(proposal(PAIR))
    done = await stage.execute(run)
    assert done.status == "completed"
    first, second = checks.orders
    assert (first.terminal, second.terminal) == (False, True)
    assert (dict(first.inputs), dict(first.verifications)) == ({}, {})
    assert list(second.inputs) == ["a"]
    accepted = done.node(n("a")).accepted
    assert accepted is not None
    assert dict(second.verifications) == {"a": accepted.verification}
    assert second.seed == f"{done.sha256}|seed|b|1|1"
    assert (first.forced_level, first.triggers, first.extended_domains) == (None, (), ())


async def test_a_mark_that_a_worker_drops_is_restored_before_the_output_is_kept(notes: NoteFolder) -> None:
    def forgets(order: WorkOrder, broker: Broker) -> WorkResult:
        result = passes_on(order, broker)
        claims = tuple(replace(claim, leaks=()) for claim in result.output.claims)
        return replace(result, output=replace(result.output, claims=claims))

    years = says(notes.quoted("a", "liability.md", YEARS, question="Why?"))
    stage = set_stage(notes, {(n("a"), EVERY): years, (n("b"), EVERY): forgets})
    run = stage.approved(proposal(PAIR, roster=HALF))
    assert (await stage.execute(run)).status == "completed"
    first, second = stage.bodies(run, AttemptVerified)
    assert "leak_mark_lost" in [finding.code for finding in second.verification.findings]
    kept = WORK_OUTPUT.validate_json(stage.shop.store.get_artefact(second.output))
    assert [(mark.domain, mark.node) for claim in kept.claims for mark in claim.leaks] == [(CONTRACTS, "a")]
    assert second.content == content_digest_of(WORK_OUTPUT.dump_python(kept, mode="json"))
    (citation,) = stage.report(run).citations
    assert [mark.strength for mark in citation.leaks] == [50]
    assert first.leaks[0].declared is False


async def test_a_finished_piece_of_work_is_not_done_again_when_the_check_was_cut_off(
    notes: NoteFolder,
) -> None:
    """Between work and check there is a checkpoint; the process dies when the worker's result was announced."""
    good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
    script: Script = {(n("a"), EVERY): good, (n("b"), EVERY): passes_on}
    store = MemoryStore()
    stage = set_stage(notes, script, store=store)
    run = stage.approved(proposal(PAIR))
    with pytest.raises(Crash):
        await stage.execute(run, listeners=[crash_at(lambda event: isinstance(event.body, AttemptProduced))])
    threads = {row.thread for row in store.checkpoints()}
    assert threads == {f"{run}/a/1/1/1"}
    other = set_stage(notes, script, store=store)
    assert (await other.execute(run)).status == "completed"
    assert [order.subtask.id for order in other.worker.orders] == ["b"]
    assert store.checkpoints() == ()


VALID: Final = "JSON of the version before"
BROKEN = {
    "another encoding": {"encoding": "msgpack", "checkpoint": b"\x81\xa1v\x04"},
    "cut off": {"checkpoint": b'{"v":4,'},
    "no checkpoint": {"checkpoint": b"[]"},
    "metadata": {"metadata": b"\x00"},
}


@pytest.mark.parametrize("broken", [*BROKEN, VALID])
async def test_a_checkpoint_that_can_not_be_read_is_a_lost_cache_and_no_failure_of_the_worker(
    notes: NoteFolder, caplog: pytest.LogCaptureFixture, broken: str
) -> None:
    good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
    script: Script = {(n("a"), EVERY): good, (n("b"), EVERY): passes_on}
    store = MemoryStore()
    stage = set_stage(notes, script, store=store)
    run = stage.approved(proposal(PAIR))
    with pytest.raises(Crash):
        await stage.execute(run, listeners=[crash_at(lambda event: isinstance(event.body, AttemptProduced))])
    (row,) = store.checkpoints()
    if broken == VALID:
        checkpoint = json.loads(row.checkpoint)
        checkpoint["channel_values"]["result"] = '{"answer":"of another shape"}'
        damaged = replace(row, checkpoint=json.dumps(checkpoint).encode())
    else:
        damaged = replace(row, **BROKEN[broken])  # type: ignore[arg-type]
    store.delete_thread(row.thread)
    store.put_checkpoint(damaged)
    other = set_stage(notes, script, store=store)
    assert (await other.execute(run)).status == "completed"
    assert [order.subtask.id for order in other.worker.orders] == ["a", "b"]
    assert other.bodies(run, AttemptFailed) == []
    assert [body.attempt for body in other.bodies(run, AttemptVerified)] == [1, 1]
    assert f"'{run}/a/1/1/2' can't be read, its attempt starts anew" in caplog.text
    assert store.checkpoints() == ()


def leak(domain: DomainId, band: Band = Band.SILENT) -> Leak:
    return Leak(
        agent="A1",
        domain=domain,
        m100=0,
        band=band,
        origin="source",
        declared=False,
        detected=True,
        start=0,
        end=1,
        text="x",
    )


def judgement(action: LeakAction) -> Judgement:
    return Judgement(action=action, rule="2a", noted_against_agent=False)


def scanned(result: WorkResult, *found: tuple[DomainId, LeakAction]) -> LeakScan:
    return LeakScan(
        result=result,
        report=LeakReport(entries=tuple(leak(domain) for domain, _ in found)),
        judgements=tuple(judgement(action) for _, action in found),
    )


def verification(outcome: str = "passed", **changes: object) -> Verification:
    made = Verification(
        outcome="passed", level=Level.L1, confidence=Confidence(value=0.5, level=Level.L1, traced=0, total=0)
    )
    return replace(made, outcome=outcome, **changes)  # type: ignore[arg-type]


WORK = WorkResult(output=WorkOutput(text="x"), candidate_complete=True, mode="scripted", path=1)
REQUIRED = frozenset({str(CONTRACTS)})


class TestJudgement:
    def test_nothing_wrong(self) -> None:
        assert judge_attempt(WORK, scanned(WORK), verification(), REQUIRED, CONTRACT, "en") is None
        allowed = scanned(
            WORK, (CONTRACTS, LeakAction.ALLOW_DECLARED), (CONTRACTS, LeakAction.DECLARE_AND_NOTE)
        )
        assert judge_attempt(WORK, allowed, verification("qualified"), REQUIRED, CONTRACT, "en") is None

    @pytest.mark.parametrize(
        ("action", "kind", "tainted"),
        [
            (LeakAction.NECESSARY_GAP, "domain_closed", False),
            (LeakAction.ASK_PERSON, "domain_closed", True),
            (LeakAction.BLOCK_AND_REGENERATE, "spontaneous_leak", False),
            (LeakAction.CHANGE_AGENT_OR_GUARD, "spontaneous_leak", False),
        ],
    )
    def test_a_silent_leak_comes_before_the_check(self, action: LeakAction, kind: str, tainted: bool) -> None:
        failure = judge_attempt(
            WORK, scanned(WORK, (MEDICINE, action)), verification("falsified"), REQUIRED, CONTRACT, "en"
        )
        assert failure is not None
        assert (failure.kind, failure.domain, failure.domain_tainted) == (kind, MEDICINE, tainted)
        assert MEDICINE in failure.message

    def test_a_broken_check_is_no_pass(self) -> None:
        failure = judge_attempt(
            WORK, scanned(WORK), verification("not_verified", error="disk gone"), REQUIRED, CONTRACT, "en"
        )
        assert failure is not None
        assert (failure.kind, failure.message) == ("not_verified", "disk gone")

    def test_a_structural_failure_names_its_structural_findings_only(self) -> None:
        findings = (
            Finding(code="empty_output", message="it is empty", severity="structural"),
            Finding(code="anything", message="by the way", severity="note"),
        )
        failure = judge_attempt(
            WORK,
            scanned(WORK),
            verification("structural_failure", findings=findings),
            REQUIRED,
            CONTRACT,
            "en",
        )
        assert failure is not None
        assert (failure.kind, failure.message) == ("structure", "it is empty")

    def test_a_falsification_names_each_reason_once(self) -> None:
        verdicts = tuple(
            ClaimVerdict(
                claim=ClaimId(f"c-{number}"),
                verdict=Falsified(reason="another text stands there"),
                level=Level.L3,
                traced=True,
                evidence=(
                    EvidenceVerdict(evidence=EvidenceId("e-1"), verdict=Falsified(reason="not told here")),
                ),
            )
            for number in (1, 2)
        )
        failure = judge_attempt(
            WORK, scanned(WORK), verification("falsified", verdicts=verdicts), REQUIRED, CONTRACT, "en"
        )
        assert failure is not None
        assert (failure.kind, failure.message) == ("falsified", "another text stands there")

    def test_a_question_left_open_by_a_required_silent_domain_is_a_gap(self) -> None:
        left = OpenQuestion(question="Why?", reason="domain_closed", searched=("why",))
        need = Need(domain=CONTRACTS, question="Why?", band="SILENT", match=0.5)
        work = replace(WORK, output=WorkOutput(text="x", open_questions=(left,)), needs=(need,))
        failure = judge_attempt(work, scanned(work), verification(), REQUIRED, CONTRACT, "en")
        assert failure is not None
        assert (failure.kind, failure.domain, failure.domain_tainted) == ("domain_closed", CONTRACTS, False)
        assert CONTRACTS in failure.message


def test_reasons_are_in_the_language_of_the_goal() -> None:
    leaked = scanned(WORK, (MEDICINE, LeakAction.NECESSARY_GAP))
    again = scanned(WORK, (MEDICINE, LeakAction.CHANGE_AGENT_OR_GUARD))
    cases = [
        (leaked, verification(), f"不使用静默知识域 {MEDICINE} 就无法完成"),
        (again, verification(), f"再次使用了静默知识域：{MEDICINE}"),
        (scanned(WORK), verification("not_verified"), "某项检查出错"),
        (scanned(WORK), verification("falsified"), "被证伪"),
    ]
    for scan, verdict, told in cases:
        failure = judge_attempt(WORK, scan, verdict, REQUIRED, CONTRACT, "zh")
        assert failure is not None
        assert failure.message == told

    left = OpenQuestion(question="Why?", reason="domain_closed", searched=("why",))
    need = Need(domain=CONTRACTS, question="Why?", band="SILENT", match=0.5)
    work = replace(WORK, output=WorkOutput(text="x", open_questions=(left,)), needs=(need,))
    gap = judge_attempt(work, scanned(work), verification(), REQUIRED, CONTRACT, "zh")
    assert gap is not None
    assert gap.message == f"不使用静默知识域 {CONTRACTS} 就无法完成"


@pytest.mark.parametrize(
    ("lang", "told"),
    [
        ("en", "limit reached: 1 of 1 tool calls used (max_tool_calls)"),
        ("zh", "达到限额：工具调用次数（max_tool_calls）已用 1，上限 1"),
    ],
)
async def test_a_limit_is_named_in_the_language_of_the_goal(notes: NoteFolder, lang: Lang, told: str) -> None:
    async def greedy(order: WorkOrder, broker: Broker) -> WorkResult:
        for query in ("rows", "years"):
            await broker.call_tool(ToolCall(tool="search_notes", arguments={"query": query}))
        raise AssertionError(order)

    stage = set_stage(notes, {(n("a"), EVERY): greedy})
    limits = replace(CONTRACT.limits, max_tool_calls=1)
    draft = proposal(PAIR, contract=replace(CONTRACT, limits=limits), lang=lang)
    run = stage.approved(replace(draft, grants={A1: ("search_notes",)}))
    assert (await stage.execute(run)).stopped
    (failed,) = stage.bodies(run, AttemptFailed)
    assert (failed.failure.kind, failed.failure.message) == ("limit", told)


def due(deadline_s: float) -> Proposal:
    draft = proposal(
        plan("", lone="a"), contract=replace(CONTRACT, limits=replace(CONTRACT.limits, deadline_s=deadline_s))
    )
    return replace(draft, grants={A1: ("hangs",)})


async def test_a_worker_that_waits_for_ever_is_stopped_at_the_deadline(
    notes: NoteFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "HANDING_OVER_S", 0.0)
    cancelled: list[bool] = []

    async def hangs(order: WorkOrder, broker: Broker) -> WorkResult:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise
        raise AssertionError(order, broker)

    stage = set_stage(notes, {(n("a"), EVERY): hangs})
    run = stage.approved(due(0.01))
    assert (await stage.execute(run)).stopped
    (failed,) = stage.bodies(run, AttemptFailed)
    assert failed.failure == Failure(
        kind="limit", message="limit reached: 0.01 of 0.01 seconds used (deadline_s)"
    )
    assert cancelled == [True]


async def test_the_deadline_is_of_all_the_work_of_an_attempt_by_the_clock_of_the_engine(
    notes: NoteFolder,
) -> None:
    left = OpenQuestion(question="Why?", reason="not_answerable", searched=("why",))
    need = Need(domain=CONTRACTS, question="Why?", band="BACKGROUND", match=0.9)
    open_yet = says(extras=Extras(open_questions=(left,), needs=(need,)))

    async def works(order: WorkOrder, broker: Broker) -> WorkResult:
        del broker
        if order.path == 1:
            stage.clock.t += 1_000.0
            return open_yet
        await asyncio.Event().wait()
        raise AssertionError(order)

    stage = set_stage(notes, {(n("a"), EVERY): works})
    run = stage.approved(due(900.0))
    assert (await stage.execute(run)).stopped
    (failed,) = stage.bodies(run, AttemptFailed)
    assert failed.failure.message == "limit reached: 1000 of 900 seconds used (deadline_s)"
    assert [order.path for order in stage.worker.orders] == [1, 2]


class Hangs:
    """A tool that never answers."""

    spec = replace(COUNT, name="hangs")

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        await asyncio.Event().wait()
        raise AssertionError(arguments)


async def test_what_a_worker_has_when_the_deadline_ends_its_call_is_not_lost(notes: NoteFolder) -> None:
    good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))

    async def answers(order: WorkOrder, broker: Broker) -> WorkResult:
        del order
        with pytest.raises(BudgetExhausted, match="deadline_s"):
            await broker.call_tool(ToolCall(tool="hangs", arguments={"what": "more"}))
        return good

    stage = set_stage(notes, {(n("a"), EVERY): answers}, tools={"hangs": Hangs()})
    run = stage.approved(due(0.01))
    assert (await stage.execute(run)).status == "completed"
    assert stage.bodies(run, AttemptFailed) == []


async def test_a_worker_that_times_out_by_itself_has_not_reached_the_deadline(notes: NoteFolder) -> None:
    stage = set_stage(notes, {(n("a"), EVERY): TimeoutError("a bug")})
    run = stage.approved(due(900.0))
    await stage.execute(run)
    assert {body.failure.kind for body in stage.bodies(run, AttemptFailed)} == {"internal"}


HALF_A_CHARACTER = "\ud800"


@pytest.mark.parametrize("where", ["text", "field", "need", "number"])
async def test_a_result_that_can_not_be_written_down_fails_its_attempt_and_not_the_run(
    notes: NoteFolder, where: str
) -> None:
    """A chat model can write half of a surrogate pair; no store takes that, and a resume would meet it again."""
    good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
    need = Need(domain=CONTRACTS, question="Why?", band="SILENT", match=0.5)
    bad = {
        "text": replace(good, output=replace(good.output, text=good.output.text + HALF_A_CHARACTER)),
        "field": replace(good, output=replace(good.output, fields={"price": HALF_A_CHARACTER})),
        "need": replace(good, needs=(replace(need, question=HALF_A_CHARACTER),)),
        "number": replace(good, needs=(replace(need, match=float("nan")),)),
    }[where]
    stage = set_stage(notes, {(n("a"), EVERY): bad})
    run = stage.approved(proposal(plan("", lone="a")))
    assert (await stage.execute(run)).status == "suspended"
    failures = [body.failure for body in stage.bodies(run, AttemptFailed)]
    assert {failure.kind for failure in failures} == {"invalid_output"}
    assert "cannot be stored" in failures[0].message
    assert stage.bodies(run, AttemptProduced) == []
    assert stage.state(run).status == "suspended"
