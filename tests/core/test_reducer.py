"""What each event makes true, and which events are refused out of place (semantics 7)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import get_args, get_type_hints

import pytest

from orchestrator.core.backtrack import BacktrackLevel, BacktrackPlan, InjectGuard
from orchestrator.core.blockage import Blockage, BlockageClass, ClassReason
from orchestrator.core.events import (
    AttemptCancelled,
    AttemptFailed,
    AttemptProduced,
    AttemptRejected,
    AttemptStarted,
    AttemptVerified,
    Backtracked,
    BlockageClassified,
    Body,
    CallReturned,
    CancelRequested,
    ChangesWereRequested,
    Event,
    ExecutorTookOver,
    FailureRemembered,
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
    SourcesRead,
)
from orchestrator.core.ids import ArtefactId, ContentDigest, RegionId, RequestId, RunId
from orchestrator.core.proposal import Sha256, proposal_sha256
from orchestrator.core.reducer import STEPS, apply, fold, initial
from orchestrator.core.requests import Answer, Request
from orchestrator.core.state import Counts, NodeState, RunState, call_key
from orchestrator.core.transition import BrokenLog
from tests.core.builders import A1, failure, n, plan, proposal, verification

RUN = RunId("r-1")
DRAFT = proposal(plan("a>b b>c a~c"))
SHA = proposal_sha256(DRAFT)
K1, K2, CONTENT = ContentDigest("key-1"), ContentDigest("key-2"), ContentDigest("content")
OUTPUT = ArtefactId("out")
Q1 = RequestId("r-1.q1")

CREATED = RunCreated(goal="Why?", lang="en", sources=("notes",), run_seed="s", versions={"product": "0"})
DRAFTED = ProposalDrafted(proposal=DRAFT, sha256=SHA, author="planner")
APPROVED = ProposalApproved(revision=1, sha256=SHA, by="cli")
TOOK_OVER = ExecutorTookOver(epoch=1, holder="p1")


def started(node: str, generation: int = 1, attempt: int = 1, key: ContentDigest = K1) -> AttemptStarted:
    return AttemptStarted(
        node=n(node), generation=generation, attempt=attempt, epoch=1, agent=A1, input_key=key
    )


def produced(node: str, generation: int = 1, attempt: int = 1) -> AttemptProduced:
    return AttemptProduced(
        node=n(node), generation=generation, attempt=attempt, path=1, mode="scripted", candidate_complete=True
    )


def verified(node: str, generation: int = 1, attempt: int = 1) -> AttemptVerified:
    return AttemptVerified(
        node=n(node),
        generation=generation,
        attempt=attempt,
        output=OUTPUT,
        content=CONTENT,
        path=2,
        mode="scripted",
        verification=verification(),
    )


def rejected(node: str, generation: int = 1, attempt: int = 1) -> AttemptRejected:
    return AttemptRejected(
        node=n(node),
        generation=generation,
        attempt=attempt,
        output=OUTPUT,
        content=CONTENT,
        path=1,
        mode="scripted",
        verification=verification("falsified"),
        failure=failure("falsified"),
    )


def failed(node: str, generation: int = 1, attempt: int = 1) -> AttemptFailed:
    return AttemptFailed(node=n(node), generation=generation, attempt=attempt, failure=failure("structure"))


def classified(
    node: str, cls: BlockageClass = BlockageClass.B, generation: int = 1, attempt: int = 1
) -> BlockageClassified:
    return BlockageClassified(
        node=n(node),
        generation=generation,
        attempt=attempt,
        blockage=Blockage(cls=cls, failure=failure("structure"), reasons=(ClassReason(code="input_unfit"),)),
    )


def retry(node: str, attempt: int = 2) -> RetryScheduled:
    return RetryScheduled(node=n(node), generation=1, attempt=attempt, delay_s=1.5)


def backtracked(node: str, *scope: str, depth: int = 1) -> Backtracked:
    return Backtracked(
        plan=BacktrackPlan(
            node=n(node),
            level=BacktrackLevel.NODE,
            invalidated=tuple(map(n, scope)),
            repair=InjectGuard(node=n(node), guard="mind the year"),
            region=RegionId(node),
            depth=depth,
        )
    )


def opened(node: str, request: RequestId = Q1) -> RequestOpened:
    return RequestOpened(
        request=Request(
            id=request,
            kind="suspension",
            node=n(node),
            reason="depth_limit",
            detail="",
            attempts=(),
            choices=("retry", "abandon"),
        )
    )


def answered(node: str, answer: Answer | None = None, request: RequestId = Q1) -> RequestAnswered:
    return RequestAnswered(request=request, node=n(node), answer=answer or Answer(choice="retry"), by="test")


def skipped(*nodes: str, reason: str = "limit") -> NodesSkipped:
    return NodesSkipped(nodes=tuple(map(n, nodes)), reason=reason, detail="too long")  # type: ignore[arg-type]


def after(*bodies: Body, start: RunState | None = None) -> RunState:
    state = initial(RUN) if start is None else start
    for body in bodies:
        state = apply(state, Event(seq=state.seq + 1, ts="2026-01-01T00:00:00Z", body=body))
    return state


RUNNING = after(CREATED, DRAFTED, APPROVED, TOOK_OVER)


def node(state: RunState, name: str) -> NodeState:
    return state.node(n(name))


class TestDraftAndReview:
    def test_from_the_goal_to_the_confirmed_plan(self) -> None:
        assert initial(RUN).status == "drafting"
        assert after(CREATED).created == CREATED
        drafted = after(CREATED, DRAFTED)
        assert (drafted.status, drafted.proposal, drafted.sha256) == ("reviewing", DRAFT, SHA)
        assert drafted.approved_revision is None
        assert after(CREATED, DRAFTED, ChangesWereRequested(note="shorter")).status == "reviewing"
        confirmed = after(CREATED, DRAFTED, APPROVED)
        assert (confirmed.status, confirmed.approved_revision, confirmed.epoch) == ("confirmed", 1, 0)
        assert confirmed.counts == Counts(ready=1)
        assert {name: state.waiting for name, state in confirmed.nodes.items()} == {"a": 0, "b": 1, "c": 2}
        assert confirmed.agent_of(n("b")).id == "A1"
        assert after(SourcesRead(documents=3, digest="d"), start=confirmed).status == "confirmed"

    def test_a_rejected_proposal_ends_the_run(self) -> None:
        state = after(CREATED, DRAFTED, ProposalRejected(note="no"))
        assert (state.status, state.outcome, state.gaps) == ("blocked", "blocked", ())

    def test_an_executor_takes_over(self) -> None:
        assert (RUNNING.status, RUNNING.epoch) == ("running", 1)
        again = after(ExecutorTookOver(epoch=2, holder="p2"), start=RUNNING)
        assert (again.status, again.epoch) == ("running", 2)

    def test_an_executor_does_not_confirm_a_draft(self) -> None:
        state = after(CREATED, DRAFTED, TOOK_OVER)
        assert (state.status, state.epoch) == ("reviewing", 1)

    @pytest.mark.parametrize(
        "bodies",
        [
            (CREATED, APPROVED),
            (CREATED, DRAFTED, replace(APPROVED, revision=2)),
            (CREATED, DRAFTED, replace(APPROVED, sha256=Sha256("0" * 64))),
            (CREATED, DRAFTED, APPROVED, APPROVED),
            (CREATED, DRAFTED, APPROVED, DRAFTED),
            (CREATED, DRAFTED, APPROVED, TOOK_OVER, ProposalRejected(note="late")),
            (CREATED, ChangesWereRequested(note="of nothing")),
            (CREATED, DRAFTED, APPROVED, replace(TOOK_OVER, epoch=3), replace(TOOK_OVER, epoch=2)),
            (CREATED, DRAFTED, started("a")),
        ],
    )
    def test_out_of_place(self, bodies: tuple[Body, ...]) -> None:
        after(*bodies[:-1])
        with pytest.raises(BrokenLog, match="'r-1'"):
            after(*bodies)


class TestRun:
    def test_pause_and_continue(self) -> None:
        paused = after(RunPaused(by="x"), start=RUNNING)
        assert (paused.status, paused.paused) == ("paused", True)
        assert after(ExecutorTookOver(epoch=2, holder="p"), start=paused).status == "paused"
        assert after(RunContinued(by="x"), start=paused).status == "running"

    def test_pausing_leaves_what_does_not_run_as_it_is(self) -> None:
        suspended = after(RunSuspended(requests=()), RunPaused(by="x"), start=RUNNING)
        assert (suspended.status, suspended.paused) == ("suspended", True)
        assert after(RunContinued(by="x"), start=suspended).status == "suspended"
        assert after(CREATED, DRAFTED, RunContinued(by="x")).status == "reviewing"
        ended = after(RunEnded(outcome="completed"), RunPaused(by="x"), RunContinued(by="x"), start=RUNNING)
        assert ended.status == "completed"

    def test_the_first_cancellation_counts(self) -> None:
        state = after(CancelRequested(by="x"), CancelRequested(by="y"), start=RUNNING)
        assert (state.cancelling, state.cancel_seq) == (True, RUNNING.seq + 1)

    def test_an_end_is_final(self) -> None:
        end = RunEnded(outcome="failed", gaps=("q",), stopped=True, error="Traceback")
        state = after(end, start=RUNNING)
        assert (state.status, state.outcome, state.gaps, state.stopped) == ("failed", "failed", ("q",), True)
        assert state.internal_error == "Traceback"
        assert after(ExecutorTookOver(epoch=2, holder="p"), start=state).status == "failed"
        with pytest.raises(BrokenLog, match="second end"):
            after(end, start=state)

    def test_a_remembered_failure(self) -> None:
        assert "k" in after(FailureRemembered(key="k"), start=RUNNING).remembered

    def test_a_gap_in_the_log(self) -> None:
        with pytest.raises(BrokenLog, match="event 3 follows 0"):
            fold(RUN, [Event(seq=3, ts="", body=CREATED)])
        with pytest.raises(BrokenLog, match="event 1 follows 1"):
            fold(RUN, [Event(seq=1, ts="", body=CREATED)] * 2)


class TestAttempts:
    def test_start_produce_and_accept(self) -> None:
        state = after(started("a"), start=RUNNING)
        assert (node(state, "a").status, node(state, "a").attempt, node(state, "a").epoch) == (
            "running",
            1,
            1,
        )
        assert state.counts == Counts(active=1)
        state = after(produced("a"), start=state)
        assert node(state, "a").status == "verifying"
        assert state.counts == Counts(active=1)
        state = after(verified("a"), start=state)
        done = node(state, "a")
        assert done.status == "accepted"
        assert done.accepted is not None
        assert (done.accepted.input_key, done.accepted.output, done.accepted.path) == (K1, OUTPUT, 2)
        assert not done.accepted.as_is
        assert done.done_seq == state.seq
        assert [(row.outcome, row.agent, row.repair) for row in done.history] == [("verified", "A1", None)]
        assert (node(state, "b").ready, node(state, "c").waiting) == (True, 1)
        assert state.counts == Counts(accepted=1, ready=1)

    def test_a_call_is_kept_for_a_resumed_attempt(self) -> None:
        call = CallReturned(
            node=n("a"),
            generation=1,
            attempt=1,
            step="work.1",
            index=0,
            call="tool",
            name="search",
            arguments={},
            arguments_digest="d",
            arguments_origin="computed",
            arguments_taint="trusted",
            result=ArtefactId("hits"),
            ok=True,
            summary="",
        )
        state = after(started("a"), call, produced("a"), start=RUNNING)
        key = call_key("work.1", 0, "d")
        assert dict(node(state, "a").calls.items()) == {key: "hits"}
        resumed = after(ExecutorTookOver(epoch=2, holder="p"), replace(started("a"), epoch=2), start=state)
        assert dict(node(resumed, "a").calls.items()) == {key: "hits"}
        assert (node(resumed, "a").status, node(resumed, "a").epoch) == ("running", 2)
        late = replace(call, attempt=2)
        assert node(after(late, start=state), "a") == node(state, "a")
        assert not len(node(after(verified("a"), start=state), "a").calls)
        assert node(after(failed("a"), call, start=state), "a").status == "blocked"

    def test_reject_keeps_the_output_and_fail_has_none(self) -> None:
        state = after(started("a"), produced("a"), rejected("a"), start=RUNNING)
        blocked = node(state, "a")
        assert (blocked.status, blocked.failure, blocked.blockage) == ("blocked", failure("falsified"), None)
        assert blocked.rejected is not None
        assert blocked.rejected.input_key == K1
        assert blocked.accepted is None
        assert state.counts == Counts(blocked=1)
        without = node(after(started("a"), failed("a"), start=RUNNING), "a")
        assert (without.status, without.rejected) == ("blocked", None)

    def test_classify_and_retry(self) -> None:
        state = after(started("a"), failed("a"), classified("a"), start=RUNNING)
        assert node(state, "a").blockage is not None
        assert list(state.unresolved) == ["a"]
        state = after(retry("a"), start=state)
        again = node(state, "a")
        assert (again.status, again.retries, again.delay_s, again.failure) == ("pending", 1, 1.5, None)
        assert again.ready
        state = after(started("a", attempt=2), verified("a", attempt=2), start=state)
        assert (node(state, "a").delay_s, list(state.unresolved)) == (0.0, [])

    @pytest.mark.parametrize("cls", [BlockageClass.A, BlockageClass.D])
    def test_only_b_and_c_count_as_unresolved(self, cls: BlockageClass) -> None:
        assert not len(after(started("a"), failed("a"), classified("a", cls), start=RUNNING).unresolved)

    def test_a_cancelled_attempt_is_pending_again(self) -> None:
        state = after(started("a"), start=RUNNING)
        cancelled = after(AttemptCancelled(node=n("a"), generation=1, attempt=1), start=state)
        assert (node(cancelled, "a").status, node(cancelled, "a").attempt) == ("pending", 1)
        assert node(cancelled, "a").history[-1].outcome == "cancelled"

    @pytest.mark.parametrize(
        ("name", "generation", "attempt"), [("a", 0, 1), ("a", 1, 2), ("gone", 1, 1), ("b", 1, 0)]
    )
    def test_the_end_of_an_obsolete_attempt_changes_nothing(
        self, name: str, generation: int, attempt: int
    ) -> None:
        state = after(started("a"), start=RUNNING)
        late = AttemptCancelled(node=n(name), generation=generation, attempt=attempt)
        assert after(late, start=state) == replace(state, seq=state.seq + 1)

    def test_a_cancellation_that_comes_after_the_result_changes_nothing(self) -> None:
        late = AttemptCancelled(node=n("a"), generation=1, attempt=1)
        for end in (verified("a"), failed("a")):
            state = after(started("a"), end, start=RUNNING)
            assert after(late, start=state) == replace(state, seq=state.seq + 1)

    @pytest.mark.parametrize(
        "bodies",
        [
            (started("b"),),
            (started("a", attempt=2),),
            (started("a", generation=2),),
            (started("gone"),),
            (started("a"), started("a", attempt=2)),
            (started("a"), verified("a"), started("a", attempt=2)),
            (produced("a"),),
            (verified("a"),),
            (started("a"), verified("a", attempt=2)),
            (started("a"), verified("a", generation=2)),
            (started("a"), verified("a"), verified("a")),
            (started("a"), verified("a"), failed("a")),
            (started("a"), failed("a"), rejected("a")),
            (classified("a"),),
            (started("a"), failed("a"), classified("a", generation=2)),
            (started("a"), failed("a"), classified("a", attempt=2)),
            (retry("a"),),
            (started("a"), failed("a"), classified("a"), retry("a", attempt=3)),
            (NodeReused(node=n("a"), generation=1, input_key=K1),),
            (NodeAcceptedAsIs(node=n("a"), generation=1, request=Q1),),
            (started("a"), failed("a"), NodeAcceptedAsIs(node=n("a"), generation=1, request=Q1)),
            (started("a"), rejected("a"), NodeAcceptedAsIs(node=n("a"), generation=2, request=Q1)),
            (started("a"), skipped("a")),
            (skipped("b"), skipped("b")),
            (started("a"), verified("a"), skipped("a")),
            (opened("a"),),
            (answered("a"),),
            (started("a"), failed("a"), opened("a"), opened("a")),
            (started("a"), failed("a"), opened("a"), answered("b")),
            (started("a"), failed("a"), opened("a"), answered("a", request=RequestId("r-1.q9"))),
            (backtracked("a", "a", "b", "c"),),
            (started("a"), failed("a"), backtracked("a", "b", "c")),
        ],
    )
    def test_out_of_place(self, bodies: tuple[Body, ...]) -> None:
        state = after(*bodies[:-1], start=RUNNING)
        with pytest.raises(BrokenLog, match="'r-1'"):
            after(bodies[-1], start=state)


class TestSkipping:
    def test_releases_who_can_do_without(self) -> None:
        state = after(started("a"), verified("a"), skipped("b"), start=RUNNING)
        assert (node(state, "b").status, node(state, "b").skipped_because) == ("skipped", "limit")
        assert node(state, "c").ready
        assert state.counts == Counts(accepted=1, skipped=1, ready=1)
        assert (state.limit_hit, state.internal_error) == (True, None)

    def test_takes_the_starved_with_it(self) -> None:
        state = after(started("a"), failed("a"), classified("a"), skipped("a", "b", "c"), start=RUNNING)
        assert state.counts == Counts(skipped=3)
        assert not len(state.unresolved)

    def test_an_internal_error_is_kept(self) -> None:
        assert after(skipped("a", "b", "c", reason="internal"), start=RUNNING).internal_error == "too long"


class TestRequests:
    ASKED = after(started("a"), rejected("a"), classified("a"), opened("a"), start=RUNNING)

    def test_ask_suspend_and_answer(self) -> None:
        assert (node(self.ASKED, "a").status, node(self.ASKED, "a").request) == ("suspended", Q1)
        assert list(self.ASKED.requests) == [Q1]
        assert (self.ASKED.requests_opened, self.ASKED.counts) == (1, Counts(suspended=1))
        suspended = after(RunSuspended(requests=(Q1,)), start=self.ASKED)
        assert suspended.status == "suspended"
        state = after(answered("a"), start=suspended)
        asked = node(state, "a")
        assert (state.status, asked.status, asked.request, asked.answered) == ("running", "blocked", None, Q1)
        assert (asked.answer, asked.granted) == (Answer(choice="retry"), 1)
        assert not len(state.requests)

    def test_an_answer_does_not_continue_a_paused_run(self) -> None:
        state = after(RunPaused(by="x"), RunSuspended(requests=(Q1,)), answered("a"), start=self.ASKED)
        assert state.status == "paused"

    def test_taking_an_output_as_it_is(self) -> None:
        taken = NodeAcceptedAsIs(node=n("a"), generation=1, request=Q1)
        state = after(answered("a", Answer(choice="accept")), taken, start=self.ASKED)
        done = node(state, "a")
        assert done.status == "accepted"
        assert done.accepted is not None
        assert done.accepted.as_is
        assert (done.answer, done.answered) == (None, None)
        assert node(state, "b").ready

    def test_reopening_the_review(self) -> None:
        review = answered("a", Answer(choice="review"))
        state = after(review, ReviewReopened(request=Q1), start=self.ASKED)
        assert (state.status, state.approved_revision, state.superseded) == ("reviewing", None, DRAFT)
        again = replace(DRAFT, revision=2)
        state = after(
            replace(DRAFTED, proposal=again, sha256=proposal_sha256(again)),
            replace(APPROVED, revision=2, sha256=proposal_sha256(again)),
            start=state,
        )
        assert (state.status, state.approved_revision, state.superseded) == ("confirmed", 2, None)
        assert {name: found.generation for name, found in state.nodes.items()} == {"a": 2, "b": 2, "c": 2}
        assert node(state, "a").history == node(self.ASKED, "a").history
        assert (node(state, "a").granted, node(state, "a").repairs) == (0, ())


class TestBacktracks:
    def test_invalidates_what_was_built_on_it_and_cancels_what_runs(self) -> None:
        state = after(started("a"), verified("a"), started("b"), failed("b"), classified("b"), start=RUNNING)
        state = after(backtracked("b", "b", "c"), start=state)
        assert node(state, "a").generation == 1
        back = node(state, "b")
        assert (back.status, back.generation, back.attempt, back.waiting) == ("pending", 2, 0, 0)
        assert (back.depth, back.region, back.repairs) == (1, "b", ("inject_guard",))
        assert back.guards == ("mind the year",)
        assert back.failure is None
        never_started = node(state, "c")
        assert (never_started.generation, never_started.depth, never_started.waiting) == (1, 0, 1)

    def test_an_old_output_is_accepted_again_for_its_inputs(self) -> None:
        state = after(
            started("a"),
            verified("a"),
            started("b", key=K2),
            verified("b"),
            started("c"),
            failed("c"),
            classified("c"),
            backtracked("c", "a", "b", "c"),
            started("a", generation=2),
            verified("a", generation=2),
            start=RUNNING,
        )
        assert node(state, "b").ready
        reused = after(NodeReused(node=n("b"), generation=2, input_key=K2), start=state)
        assert node(reused, "b").status == "accepted"
        assert node(reused, "c").ready
        with pytest.raises(BrokenLog, match="no output of these inputs"):
            after(NodeReused(node=n("b"), generation=2, input_key=K1), start=state)

    def test_withdraws_the_question_about_an_invalidated_sub_task(self) -> None:
        state = after(
            started("a"),
            verified("a"),
            started("b"),
            failed("b"),
            opened("b"),
            start=after(CREATED, *_approval(plan("a>b a>c")), TOOK_OVER),
        )
        state = after(started("c"), failed("c"), backtracked("c", "a", "b", "c"), start=state)
        assert not len(state.requests)
        assert node(state, "b").request is None
        with pytest.raises(BrokenLog, match="not open"):
            after(answered("b"), start=state)

    def test_a_started_sub_task_that_was_ready_gets_a_new_generation(self) -> None:
        """A start that waits for a slot must not be confused with the one after the backtrack."""
        state = after(CREATED, *_approval(plan("a>b a>c")), TOOK_OVER, started("a"), verified("a"))
        state = after(started("b"), failed("b"), backtracked("b", "a", "b", "c"), start=state)
        assert node(state, "c").generation == 2

    @pytest.mark.parametrize(
        ("reason", "revived"),
        [("optional", True), ("limit", True), ("abandoned", False), ("internal", False)],
    )
    def test_a_given_up_sub_task_gets_another_chance(self, reason: str, revived: bool) -> None:
        state = after(CREATED, *_approval(plan("a>b a>c c~d")), TOOK_OVER, started("a"), verified("a"))
        state = after(skipped("c", reason=reason), started("b"), failed("b"), start=state)
        state = after(backtracked("b", "a", "b", "c", "d"), start=state)
        assert node(state, "c").status == ("pending" if revived else "skipped")
        assert node(state, "d").waiting == (1 if revived else 0)
        assert state.counts.skipped == (not revived)

    def test_what_stays_starved_stays_given_up(self) -> None:
        """x needs both; what it lacked from `lost` is as lost after a backtrack to `a`."""
        state = after(CREATED, *_approval(plan("lost>x a>x a>b x~y")), TOOK_OVER)
        state = after(
            started("lost"),
            failed("lost"),
            skipped("lost", "x"),
            started("a"),
            verified("a"),
            started("b"),
            failed("b"),
            backtracked("b", "a", "b", "x", "y"),
            start=state,
        )
        assert node(state, "x").status == "skipped"
        assert (node(state, "y").status, node(state, "y").waiting) == ("pending", 0)


def _approval(work: object) -> tuple[Body, ...]:
    draft = proposal(work)  # type: ignore[arg-type]
    sha256 = proposal_sha256(draft)
    return (
        ProposalDrafted(proposal=draft, sha256=sha256, author="user"),
        ProposalApproved(revision=1, sha256=sha256, by="cli"),
    )


def test_nothing_is_changed_in_place() -> None:
    before = RUNNING
    snapshot = (before.counts, dict(before.nodes.items()), before.status)
    steps: list[Callable[[RunState], RunState]] = [
        lambda s: after(started("a"), start=s),
        lambda s: after(failed("a"), start=s),
        lambda s: after(backtracked("a", "a", "b", "c"), start=s),
    ]
    state = before
    for step in steps:
        state = step(state)
    assert (before.counts, dict(before.nodes.items()), before.status) == snapshot


def test_every_type_of_event_has_a_step_for_bodies_of_its_type() -> None:
    """What `assert_never` is for a match: a new type of event is noticed here."""
    assert set(STEPS) == set(get_args(Body))
    for body, step in STEPS.items():
        taken = get_type_hints(step)["body"]
        assert body in (get_args(taken) or (taken,))
