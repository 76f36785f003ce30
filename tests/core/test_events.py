"""Events survive their stored form, and what can't be read is said to be unreadable."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.evidence import ClaimId, EvidenceId
from agents.models.contract import Dropped, Usage
from agents.results import Need, SearchRound
from agents.tools.contract import HeldCall
from agents.tools.gate_reasons import Reason
from masks.bands import Band
from masks.leaks.provenance import Leak
from orchestrator.core.backtrack import (
    BacktrackLevel,
    BacktrackPlan,
    ChangeAgent,
    CorrectParameters,
    ExtendMask,
    InjectGuard,
    Repair,
    SetMask,
)
from orchestrator.core.blockage import Blockage, BlockageClass, ClassReason
from orchestrator.core.claims import (
    ClaimVerdict,
    Confidence,
    Contested,
    Deviates,
    Diagnosis,
    EvidenceVerdict,
    Falsified,
    Finding,
    Level,
    RootCause,
    SoftClaim,
    Uncertain,
    Verdict,
    Verification,
    Verified,
    ViewFinding,
)
from orchestrator.core.events import (
    EVENT_SCHEMA,
    AttemptCancelled,
    AttemptFailed,
    AttemptHeld,
    AttemptProduced,
    AttemptRejected,
    AttemptStarted,
    AttemptVerified,
    Backtracked,
    BlockageClassified,
    Body,
    CallCommitted,
    CallReturned,
    CallStreamed,
    CancelRequested,
    ChangesWereRequested,
    Event,
    ExecutorTookOver,
    FailureRemembered,
    ForkPoint,
    MessageRefused,
    NodeAcceptedAsIs,
    NodeReused,
    NodesSkipped,
    ProposalApproved,
    ProposalDrafted,
    ProposalRejected,
    RequestAnswered,
    RequestOpened,
    RetryScheduled,
    ReviewReopened,
    RunContinued,
    RunCreated,
    RunEnded,
    RunPaused,
    RunSuspended,
    SkippedFile,
    SourcesRead,
    UnreadableEvent,
    data_text,
    from_wire,
    to_wire,
)
from orchestrator.core.ids import ArtefactId, ContentDigest, RegionId, RequestId, RunId
from orchestrator.core.proposal import Sha256, proposal_sha256
from orchestrator.core.reducer import fold
from orchestrator.core.requests import Answer, AttemptRow, Request, answer_schema
from orchestrator.core.state import RunState
from tests.core.builders import A1, A2, CONTRACTS, ROSTER, failure, n, plan, proposal

FIXTURES = Path(__file__).parent / "fixtures"
RUN = RunId("r-1")
DRAFT = proposal(plan("a>b"))

VERDICTS: tuple[Verdict, ...] = (
    Verified(source="x.md:3"),
    Deviates(source="x.md:3", delta=0.02, found="12 km"),
    Contested(sources=("x.md:3", "y.md:4")),
    Falsified(reason="another year", source="x.md:3"),
    Uncertain(reason="nothing says so"),
    SoftClaim(),
)
VERIFICATION = Verification(
    outcome="falsified",
    level=Level.L3,
    confidence=Confidence(value=0.25, level=Level.L3, traced=6, total=6),
    findings=(Finding(code="citation_unresolved", message="no line 9", severity="uncertain"),),
    verdicts=tuple(
        ClaimVerdict(
            claim=ClaimId(f"c-{number}"),
            verdict=verdict,
            level=Level.L3,
            traced=True,
            evidence=(EvidenceVerdict(evidence=EvidenceId(f"e-{number}"), verdict=verdict),),
        )
        for number, verdict in enumerate(VERDICTS)
    ),
    triggers=("terminal",),
    diagnosis=Diagnosis(
        cause=RootCause.MASK,
        views=(ViewFinding(view="supervisor", cause=None, strength=0.0, evidence=("no silent use",)),),
        domain=CONTRACTS,
    ),
)
LEAK = Leak(
    agent="A1",
    domain=CONTRACTS,
    m100=40,
    band=Band.BACKGROUND,
    origin="source",
    declared=True,
    detected=False,
    start=3,
    end=9,
    text="合同",
    locator="x.md:3",
    path=2,
)
SUCCESSOR = ROSTER.agents[1]
REPAIRS: tuple[Repair, ...] = (
    CorrectParameters(
        node=n("a"), params={"exclude_evidence": ["e-1"], "deep": {"x": None}}, guard="mind it"
    ),
    ExtendMask(node=n("a"), domain=CONTRACTS, old=0, new=40, successor=SUCCESSOR),
    ChangeAgent(node=n("a"), old=A1, new=A2),
    InjectGuard(node=n("a"), guard="mind the year"),
    SetMask(node=n("a"), domain=CONTRACTS, old=0, new=-100, successor=SUCCESSOR),
)
REQUEST = Request(
    id=RequestId("r-1.q1"),
    kind="amendment",
    node=n("b"),
    reason="outside_envelope",
    detail="closed",
    attempts=(AttemptRow(generation=1, attempt=2, agent="A1", outcome="timeout", repair=None),),
    choices=("retry", "abandon"),
    schema=answer_schema(("retry", "abandon")),
)
AT: dict[str, Any] = {"node": n("b"), "generation": 2, "attempt": 1}
MADE: dict[str, Any] = {
    "output": ArtefactId("o"),
    "content": ContentDigest("c"),
    "path": 2,
    "mode": "extractive",
    "verification": VERIFICATION,
    "leaks": (LEAK,),
}

BODIES: tuple[Body, ...] = (
    RunCreated(
        goal="为什么？",
        lang="zh",
        sources=("notes",),
        run_seed="s",
        versions={"product": "0.1"},
        forked_from=ForkPoint(run=RunId("r-0"), seq=7),
        shadow_of=RunId("r-0"),
    ),
    ProposalDrafted(
        proposal=DRAFT, sha256=proposal_sha256(DRAFT), author="user", changes=("b: another agent",)
    ),
    ChangesWereRequested(note="shorter"),
    ProposalRejected(note="no"),
    ProposalApproved(revision=1, sha256=Sha256("0" * 64), by="cli"),
    SourcesRead(documents=3, digest="d", skipped=(SkippedFile(uri="a.png", reason="binary"),)),
    ExecutorTookOver(epoch=2, holder="p"),
    RunPaused(by="x"),
    RunContinued(by="x"),
    CancelRequested(by="x"),
    AttemptStarted(**AT, epoch=1, agent=A1, input_key=ContentDigest("k")),
    CallReturned(
        **AT,
        step="work.1",
        index=0,
        call="tool",
        name="search",
        arguments={"query": "why", "limit": 3},
        arguments_digest="d",
        arguments_origin="computed",
        arguments_taint="trusted",
        result=ArtefactId("r"),
        ok=False,
        summary="nothing",
        call_id="call-7",
        key="k1",
        performed=False,
        usage=Usage(model="ollama:qwen3", input_tokens=9, output_tokens=4, cost_usd=None),
        elapsed_ms=12.5,
        prompt_version="work/1",
        means="json_schema",
        dropped=(Dropped(part="excerpt E7", how="left_out", tokens=120),),
        error="rate_limited",
    ),
    CallCommitted(
        **AT,
        step="work.2",
        index=3,
        tool="send",
        arguments={"to": "李四", "copies": [1, 2]},
        arguments_digest="d",
        side_effect="external",
        key="k2",
        approval=RequestId("r-1.q2"),
        call_id="call-8",
    ),
    CallStreamed(**AT, step="work.1", index=4, text="The data"),
    AttemptHeld(
        **AT,
        call=HeldCall(
            why="approval_needed",
            step="work.1",
            index=3,
            tool="send",
            arguments={"to": "李四"},
            arguments_digest="d",
            side_effect="external",
            tier="highest",
            reasons=(
                Reason(code="from_untrusted_text", tool="send", argument="arguments.to", text="写给李四"),
            ),
            preview="一封信",
            origin="parametric",
            taint="untrusted",
        ),
    ),
    AttemptProduced(
        **AT,
        path=1,
        mode="scripted",
        candidate_complete=False,
        acted_through=("selection",),
        needs=(Need(domain=CONTRACTS, question="Why?", band="SILENT", match=0.5, taint="untrusted"),),
        rounds=(SearchRound(query="why", why="open", hits=2, new_evidence=1, open_after=("Why?",)),),
    ),
    AttemptVerified(**AT, **MADE),
    AttemptRejected(**AT, **MADE, failure=failure("falsified", cause=RootCause.INPUT, blamed="a")),
    AttemptFailed(**AT, failure=failure("rate_limited", retry_after_s=3.5)),
    AttemptCancelled(**AT),
    NodeReused(node=n("b"), generation=2, input_key=ContentDigest("k")),
    NodeAcceptedAsIs(node=n("b"), generation=2, request=RequestId("r-1.q1")),
    NodesSkipped(nodes=(n("a"), n("b")), reason="optional", detail="gave up"),
    BlockageClassified(
        **AT,
        blockage=Blockage(
            cls=BlockageClass.D,
            failure=failure("internal"),
            reasons=(
                ClassReason(code="program_error"),
                ClassReason(code="follows", values=("a", "c")),
            ),
            blamed="a",
            domain=CONTRACTS,
        ),
    ),
    RetryScheduled(**AT, delay_s=0.125),
    *(
        Backtracked(
            plan=BacktrackPlan(
                node=n("b"),
                level=BacktrackLevel.PARENT,
                invalidated=(n("a"), n("b")),
                repair=repair,
                region=RegionId("a"),
                depth=3,
                forced_level=Level.L2,
                start_path=2,
                redo=True,
                remember="key",
                by="person",
            )
        )
        for repair in REPAIRS
    ),
    FailureRemembered(key="k"),
    RequestOpened(request=REQUEST),
    MessageRefused(kind="answer", request=RequestId("r-1.q1"), by="ann", why="no choice"),
    RequestAnswered(
        request=REQUEST.id,
        node=n("b"),
        answer=Answer(choice="set_mask", agent="A1", domain=CONTRACTS, value=-5),
        by="http",
    ),
    RunSuspended(requests=(REQUEST.id,)),
    ReviewReopened(request=REQUEST.id),
    RunEnded(
        outcome="partial",
        gaps=("Why?",),
        stopped=True,
        report=ArtefactId("r"),
        result=ContentDigest("d"),
        error="Traceback",
    ),
)


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.type)
def test_every_event_comes_back_from_its_stored_form(body: Body) -> None:
    event = Event(seq=5, ts="2026-01-01T00:00:00.000Z", body=body, cause=4)
    document = to_wire(RUN, event)
    assert set(document) == {"v", "seq", "ts", "run", "type", "cause", "data"}
    assert (document["v"], document["run"], document["type"]) == (EVENT_SCHEMA, RUN, body.type)
    assert from_wire(json.loads(json.dumps(document, allow_nan=False))) == event


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.type)
def test_the_text_that_the_store_keeps_is_the_data_of_the_wire(body: Body) -> None:
    data = to_wire(RUN, Event(seq=1, ts="t", body=body))["data"]
    assert data_text(body) == json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def test_a_number_without_end_is_stored_so_that_it_comes_back() -> None:
    body = RetryScheduled(**AT, delay_s=float("inf"))
    data = json.loads(data_text(body))
    document = to_wire(RUN, Event(seq=1, ts="t", body=body))
    assert from_wire({**document, "data": data}).body == body


def test_no_type_of_event_is_missing_above() -> None:
    assert {type(body) for body in BODIES} == set(get_args(Body))
    assert len({body.type for body in BODIES}) == len(get_args(Body)), "the tags tell the types apart"
    assert {type(repair) for repair in REPAIRS} == set(get_args(Repair))
    assert {type(verdict) for verdict in VERDICTS} == set(get_args(Verdict))


GOOD = to_wire(RUN, Event(seq=1, ts="t", body=RunPaused(by="x")))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"v": EVENT_SCHEMA + 1}, f"schema {EVENT_SCHEMA + 1} is not readable .* update maskgrad"),
        ({"v": 0}, "schema 0"),
        ({"v": "1"}, "schema '1'"),
        ({"v": True}, "schema True"),
        ({"v": None}, "schema None"),
        ({"type": "run.exploded"}, "event 1"),
        ({"type": None}, "event 1"),
        ({"data": {}}, "event 1"),
        ({"data": None}, "event 1"),
        ({"data": {"by": 3}}, "event 1"),
        ({"seq": "1"}, "event '1'"),
        ({"seq": 1.0}, "event 1.0"),
        ({"ts": None}, "event 1"),
        ({"cause": "0"}, "event 1"),
    ],
)
def test_what_cannot_be_read_is_said(change: dict[str, Any], says: str) -> None:
    assert from_wire(GOOD).body == RunPaused(by="x")
    with pytest.raises(UnreadableEvent, match=says):
        from_wire({**GOOD, **change})


@pytest.mark.parametrize("lacking", ["v", "seq", "ts", "type", "cause", "data"])
def test_a_row_that_lacks_a_part_is_unreadable(lacking: str) -> None:
    with pytest.raises(UnreadableEvent):
        from_wire({name: value for name, value in GOOD.items() if name != lacking})


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@given(st.sampled_from(BODIES), st.sampled_from(["v", "seq", "ts", "type", "cause", "data"]), junk)
def test_a_damaged_row_is_unreadable_or_read_as_something_valid(body: Body, part: str, value: Any) -> None:
    """It never breaks the reader in another way."""
    document = to_wire(RUN, Event(seq=1, ts="t", body=body))
    try:
        event = from_wire({**document, part: value})
    except UnreadableEvent:
        return
    assert from_wire(to_wire(RUN, event)) == event


def summary(state: RunState) -> dict[str, Any]:
    """What a stored log says, in plain values."""
    return {
        "seq": state.seq,
        "status": state.status,
        "outcome": state.outcome,
        "epoch": state.epoch,
        "requests_opened": state.requests_opened,
        "remembered": sorted(state.remembered),
        "nodes": {
            name: {
                "status": node.status,
                "generation": node.generation,
                "attempt": node.attempt,
                "depth": node.depth,
                "region": node.region,
                "repairs": list(node.repairs),
                "agent": state.assigned[name],
                "mask": [list(value) for value in state.agent_of(name).mask.values],
                "start_path": node.start_path,
                "content": node.accepted.content if node.accepted else None,
                "history": [[row.generation, row.attempt, row.agent, row.outcome] for row in node.history],
            }
            for name, node in sorted(state.nodes.items())
        },
    }


@pytest.mark.parametrize("version", range(1, EVENT_SCHEMA + 1))
def test_a_stored_log_of_every_schema_still_means_what_it_meant(version: int) -> None:
    rows = (FIXTURES / f"log-v{version}.jsonl").read_text(encoding="utf-8").splitlines()
    events = [from_wire(json.loads(row)) for row in rows]
    kinds = {event.body.type for event in events}
    assert {"backtrack.started", "request.opened", "request.answered", "node.reused", "run.ended"} <= kinds
    expected = json.loads((FIXTURES / f"log-v{version}.summary.json").read_text(encoding="utf-8"))
    assert summary(fold(RunId("r-test"), events)) == expected
