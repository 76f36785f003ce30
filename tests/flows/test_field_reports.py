"""What breaks systems of this kind in the field, as whole runs: empty plans, uneven branches, other scripts, failing
nodes, nothing found, planted instructions.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agents.broker import Broker
from agents.results import Need, OpenQuestion, WorkResult
from agents.workers.ports import WorkFailed, WorkOrder
from graphs.contract import TaskContract
from graphs.plan import Plan
from orchestrator.core.errors import NothingToDo
from orchestrator.core.events import (
    AttemptProduced,
    AttemptStarted,
    AttemptVerified,
    Backtracked,
    Event,
    ProposalApproved,
    ProposalDrafted,
    RequestOpened,
)
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import proposal_sha256
from orchestrator.core.report import render_markdown
from orchestrator.core.state import RunState
from orchestrator.shell.store.sqlite_store import SqliteStore
from tests.core.builders import CONTRACT, CONTRACTS, MEDICINE, ROSTER, SOLO, n, plan, proposal
from tests.flows.foreign import ACCENTED, QUESTION, REPORT, RESUME, SENTENCE, foreign, texts
from tests.flows.stage import (
    EVERY,
    NOTES,
    PLANTED,
    ROWS,
    Extras,
    NoteFolder,
    passes_on,
    says,
    set_stage,
    written,
)


@pytest.fixture
def notes(tmp_path: Path) -> NoteFolder:
    return written(tmp_path / "notes")


class TestSmallPlans:
    """Field report 2."""

    @pytest.mark.parametrize("kind", ["nothing", "answers"])
    async def test_nothing_to_do_is_refused_by_name_and_leaves_the_run_as_it_was(
        self, notes: NoteFolder, kind: str
    ) -> None:
        stage = set_stage(notes)
        draft = proposal(Plan(), contract=TaskContract(kind=kind))
        run = stage.approved(replace(draft, assignment={}))
        before = stage.log(run)
        with pytest.raises(NothingToDo, match="nothing to run"):
            await stage.execute(run)
        assert stage.log(run) == before
        assert stage.worker.orders == []

    async def test_one_node(self, notes: NoteFolder) -> None:
        good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
        stage = set_stage(notes, {(n("a"), EVERY): good})
        assert (await stage.finish(proposal(plan("", lone="a")))).status == "completed"


async def test_uneven_branches_wait_for_nobody_but_their_inputs(notes: NoteFolder) -> None:
    """Field report 3: the slow branch ends only after the fast one has got through; a barrier would never end."""
    fast_is_through = asyncio.Event()

    async def slow(order: WorkOrder, broker: Broker) -> WorkResult:
        await fast_is_through.wait()
        return passes_on(order, broker)

    def watch(event: Event, state: RunState) -> None:
        del state
        if isinstance(event.body, AttemptVerified) and event.body.node == "fast3":
            fast_is_through.set()

    good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
    names = ("fast", "fast2", "fast3", "join")
    stage = set_stage(
        notes,
        {(n("a"), EVERY): good, (n("slow"), EVERY): slow, **{(n(name), EVERY): passes_on for name in names}},
    )
    run = stage.approved(proposal(plan("a>fast fast>fast2 fast2>fast3 fast3>join a>slow slow>join")))
    done = await stage.execute(run, listeners=[watch])
    assert done.status == "completed"
    order = [
        (str(event.body.node), isinstance(event.body, AttemptVerified))
        for event in stage.log(run)
        if isinstance(event.body, AttemptStarted | AttemptVerified)
    ]
    assert order.index(("slow", False)) < order.index(("fast2", False))
    assert order.index(("fast3", True)) < order.index(("slow", True)) < order.index(("join", False))


async def test_other_scripts_and_accents_everywhere(tmp_path: Path) -> None:
    """Field report 11: goal, file, agent, sub-task and note in Chinese or with combining accents."""
    notes = written(tmp_path / "笔记", texts())
    made = foreign(notes)
    stage, run = made.stage, made.run
    done = await stage.execute(run)
    assert done.status == "completed", done.gaps
    report = stage.report(run)
    assert [(c.statement, c.places[0].uri) for c in report.citations] == [
        (SENTENCE, REPORT),
        (ACCENTED, RESUME),
    ]
    for citation in report.citations:
        place = citation.places[0]
        text = (notes.folder / place.uri).read_bytes().decode("utf-8")
        assert text[place.start_char : place.end_char] == citation.statement
    assert SENTENCE in render_markdown(report, "zh")
    assert stage.state(run) == done


@pytest.fixture(params=["C", "zh_CN.GBK"])
def locale(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """The environment of a process under a locale without UTF-8."""
    name = str(request.param)
    if name != "C":
        program = shutil.which("localedef")
        made = program is not None and subprocess.run(
            [program, "-i", "zh_CN", "-f", "GBK", str(tmp_path / name)], capture_output=True, check=False
        )
        if not made or not (tmp_path / name).exists():
            pytest.skip("this machine has no means to make a GBK locale")
    return {"LC_ALL": name, "LOCPATH": str(tmp_path)}


def test_kind_11_a_process_under_another_locale_reads_and_writes_utf_8(
    tmp_path: Path, locale: dict[str, str]
) -> None:
    """Field report 11: a process under an ASCII or GBK locale."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "PYTHON"))}
    root = Path(__file__).resolve().parents[2]
    # Its working folder is the one to write to: a name that it makes is in its own encoding.
    made = subprocess.run(
        [sys.executable, "-m", "tests.flows.foreign", "."],
        env={**kept, "PYTHONPATH": str(root), **locale},
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr.decode("utf-8", "replace")
    shown = json.loads(made.stdout.decode("utf-8"))["data"]
    assert (shown["status"], shown["goal"]) == ("completed", QUESTION)
    encoding = "gbk" if locale["LC_ALL"].endswith("GBK") else "utf-8"
    exported = tmp_path / os.fsdecode("导出.md".encode(encoding))
    report = exported.read_bytes().decode("utf-8")
    assert SENTENCE in report
    assert ACCENTED in report
    assert REPORT in report
    store = SqliteStore(tmp_path / "runs.db")
    log = "".join(stored.payload for stored in store.events(RunId(shown["run"]), 0))
    store.close()
    assert REPORT in log
    assert "数据分析师" in log


async def test_a_failing_node_blocks_its_dependents_with_the_cause_and_nothing_else(
    notes: NoteFolder,
) -> None:
    """Field report 12: independent branches finish, the run ends suspended and never hangs."""
    good = says(notes.quoted("b", "storage.md", ROWS, question="Why?"))
    stage = set_stage(
        notes,
        {
            (n("a"), EVERY): WorkFailed("tool_missing", "no such tool: 'plot'"),
            (n("b"), EVERY): good,
            (n("d"), EVERY): passes_on,
            (n("e"), EVERY): passes_on,
        },
    )
    run = stage.approved(proposal(plan("a>c b>d d>e c>f"), roster=SOLO))
    done = await stage.execute(run)
    assert done.status == "suspended"
    statuses = {name: done.node(n(name)).status for name in "abcdef"}
    assert statuses == {
        "a": "suspended",
        "b": "accepted",
        "c": "pending",
        "d": "accepted",
        "e": "accepted",
        "f": "pending",
    }
    (opened,) = stage.bodies(run, RequestOpened)
    assert opened.request.detail == "no such tool: 'plot'"


async def test_nothing_found_invents_nothing(notes: NoteFolder) -> None:
    """Field report 13: the question stays open with what was searched; no citation appears."""
    left = OpenQuestion(question="Why?", reason="not_found", searched=("why", "reason"))
    nothing = says(extras=Extras(open_questions=(left,)))
    stage = set_stage(notes, {(n("a"), EVERY): nothing, (n("b"), EVERY): passes_on})
    run = stage.approved(proposal(plan("a>b")))
    done = await stage.execute(run)
    assert (done.status, done.gaps) == ("partial", ("Why?: left open",))
    report = stage.report(run)
    assert report.citations == ()
    assert report.open_questions == (left,)

    lenient = proposal(plan("a>b"), contract=replace(CONTRACT, allow_unresolved=True))
    second = stage.approved(lenient)
    assert (await stage.execute(second)).status == "completed"
    assert stage.report(second).open_questions == (left,)


async def test_a_planted_instruction_stays_data(notes: NoteFolder) -> None:
    """Field report 14: a worker reports the sentence as if it had been told so; mask, plan and approvals stay."""
    good = notes.quoted("a", "storage.md", ROWS, question="Why?")
    planted = notes.quoted("a", "letter.md", PLANTED)
    stage = set_stage(notes, {(n("a"), EVERY): says(good, planted), (n("b"), EVERY): passes_on})
    draft = proposal(plan("a>b"))
    run = stage.approved(draft)
    before = stage.state(run)
    done = await stage.execute(run)
    assert done.status == "completed"
    assert done.proposal == before.proposal
    assert done.sha256 == before.sha256
    assert dict(done.agents.items()) == dict(before.agents.items())
    assert done.agents[ROSTER.agents[0].id].mask.value(CONTRACTS) == 0
    assert stage.bodies(run, Backtracked) == []
    assert len(stage.bodies(run, ProposalApproved)) == 1
    assert len(stage.bodies(run, ProposalDrafted)) == 1
    assert done.proposal is not None
    assert proposal_sha256(done.proposal) == done.sha256
    # It is quoted as what it is: text of a document, with its place.
    quoted = next(c for c in stage.report(run).citations if c.statement == PLANTED)
    assert (quoted.origin, quoted.taint, quoted.places[0].uri) == ("source", "untrusted", "letter.md")
    assert NOTES["letter.md"].count(PLANTED) == 1


async def test_a_need_that_a_document_states_opens_nothing(notes: NoteFolder) -> None:
    """Field report 14: the domain is even required, but the need was read in a note: a person decides."""
    left = OpenQuestion(question="Why?", reason="domain_closed", searched=("why",))
    need = Need(domain=CONTRACTS, question="Why?", band="SILENT", match=0.9, taint="untrusted")
    asks = says(extras=Extras(open_questions=(left,), needs=(need,)))
    stage = set_stage(notes, {(n("a"), EVERY): asks, (n("b"), EVERY): passes_on})
    run = stage.approved(proposal(plan("a>b")))
    done = await stage.execute(run)
    assert done.status == "suspended"
    (opened,) = stage.bodies(run, RequestOpened)
    assert (opened.request.reason, opened.request.kind) == ("untrusted_need", "amendment")
    assert stage.bodies(run, Backtracked) == []

    # The same need, derived from the sub-task, opens the domain once, to BACKGROUND.
    trusted = says(extras=Extras(open_questions=(left,), needs=(replace(need, taint="trusted"),)))
    good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
    other = set_stage(notes, {(n("a"), 1): trusted, (n("a"), 2): good, (n("b"), EVERY): passes_on})
    second = other.approved(proposal(plan("a>b")))
    assert (await other.execute(second)).status == "completed"
    (back,) = other.bodies(second, Backtracked)
    assert back.plan.repair.kind == "extend_mask"


async def test_a_needed_domain_that_nothing_requires_goes_to_a_person_unless_questions_may_stay_open(
    notes: NoteFolder,
) -> None:
    left = OpenQuestion(question="Why?", reason="domain_closed", searched=("why",))
    need = Need(domain=MEDICINE, question="Why?", band="SILENT", match=0.9)
    asks = says(extras=Extras(open_questions=(left,), needs=(need,)))
    stage = set_stage(notes, {(n("a"), EVERY): asks, (n("b"), EVERY): passes_on})
    run = stage.approved(proposal(plan("a>b")))
    assert (await stage.execute(run)).status == "suspended"
    (opened,) = stage.bodies(run, RequestOpened)
    assert (opened.request.reason, opened.request.kind) == ("untrusted_need", "amendment")
    assert MEDICINE in opened.request.detail

    lenient = stage.approved(proposal(plan("a>b"), contract=replace(CONTRACT, allow_unresolved=True)))
    done = await stage.execute(lenient)
    assert (done.status, done.gaps) == ("partial", ("Why?: left open",))
    assert stage.bodies(lenient, AttemptProduced)[0].needs == (need,)
    english, chinese = (render_markdown(stage.report(lenient), lang) for lang in ("en", "zh"))
    assert f"closes: {MEDICINE}, which the plan puts at 0.00 in the mask of A1" in english
    assert f"：{MEDICINE}（方案在 A1 的蒙版中设为 0.00）" in chinese

    shut = replace(CONTRACT, allow_unresolved=True, forbidden=(f"domain:{MEDICINE}",))
    forbidding = stage.approved(proposal(plan("a>b"), contract=shut))
    await stage.execute(forbidding)
    told = render_markdown(stage.report(forbidding), "en")
    assert f"{MEDICINE}, which the task contract forbids" in told
