"""The ladder of repairs: every branch, one small run each (specification 4.6, 5 and 6.2; semantics 4 to 6)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import pytest

from agents.evidence import ClaimId, EvidenceId
from agents.operations import SEARCH_TOOLS
from agents.spec import AgentId
from agents.tools.contract import SideEffectClass
from graphs.contract import Limits
from graphs.plan import Plan
from masks.bands import Thresholds
from orchestrator.core.approvals import CommittedCall
from orchestrator.core.backtrack import (
    BacktrackLevel,
    BacktrackPlan,
    ChangeAgent,
    CorrectParameters,
    ExtendMask,
    InjectGuard,
    SetMask,
)
from orchestrator.core.blockage import Blockage, BlockageClass, ClassReason, FailureKind
from orchestrator.core.claims import (
    ClaimVerdict,
    Diagnosis,
    EvidenceVerdict,
    Falsified,
    Level,
    RootCause,
    Verified,
)
from orchestrator.core.commands import AskPerson, Backtrack
from orchestrator.core.events import BlockageClassified, NodeReused, NodesSkipped, RetryScheduled
from orchestrator.core.going_back import backtrack
from orchestrator.core.proposal import Candidate, Envelope, proposal_sha256
from orchestrator.core.recovery import max_attempts, retry_delay
from orchestrator.core.repairs import memory_key
from orchestrator.core.requests import Answer, InvalidAnswer, Request, check_answer
from tests.core.builders import (
    A1,
    A2,
    CONTRACT,
    CONTRACTS,
    DATABASES,
    EMBEDDED,
    FORBIDDEN,
    MEDICINE,
    ROSTER,
    SOLO,
    agent,
    failure,
    n,
    plan,
    proposal,
    subtask,
)
from tests.core.simulation import OK, Outcome, Simulation, fails, rejected
from tests.core.strategies import SEVERAL

CHAIN = plan("a>b b>c")


def run(
    work: Plan, script: dict[str, list[Outcome]], *, answers: Sequence[Answer] = (), **changes: object
) -> Simulation:
    """One attempt at a time, first come, first served, to the end."""
    draft = replace(proposal(work), **changes)  # type: ignore[arg-type]
    simulation = Simulation(draft, script, answers=answers, cap=1)
    simulation.run()
    return simulation


def only_backtrack(simulation: Simulation) -> BacktrackPlan:
    (backtracked,) = simulation.backtracks()
    return backtracked.plan


def blockages(simulation: Simulation) -> list[Blockage]:
    return [e.body.blockage for e in simulation.log if isinstance(e.body, BlockageClassified)]


def delays(simulation: Simulation) -> list[float]:
    return [e.body.delay_s for e in simulation.log if isinstance(e.body, RetryScheduled)]


class TestTransient:
    def test_is_retried_three_times_with_the_same_agent_and_then_passes(self) -> None:
        timeouts = [fails(failure("timeout"))] * 3
        done = run(CHAIN, {"b": timeouts})
        assert done.state.status == "completed"
        assert done.started("b") == 4
        assert [b.cls for b in blockages(done)] == ["A", "A", "A"]
        assert not done.backtracks()
        node = done.state.node(n("b"))
        assert (node.generation, node.attempt, node.retries) == (1, 4, 3)
        assert [row.outcome for row in node.history] == ["timeout", "timeout", "timeout", "verified"]

    def test_delays_are_jittered_below_bounds_that_double(self) -> None:
        done = run(CHAIN, {"b": [fails(failure("timeout"))] * 3})
        assert len(delays(done)) == 3
        for delay, bound in zip(delays(done), (0.5, 1.0, 2.0), strict=True):
            assert 0 <= delay < bound
        assert len(set(delays(done))) == 3

    def test_a_delay_is_drawn_from_proposal_seed_and_attempt(self) -> None:
        done = run(CHAIN, {"b": [fails(failure("timeout"))]})
        sha = proposal_sha256(proposal(CHAIN))
        digest = hashlib.sha256(f"{sha}|seed|b|1|1".encode()).hexdigest()
        assert delays(done) == [pytest.approx(int(digest[:14], 16) / 16**14 * 0.5)]

    def test_no_delay_exceeds_the_cap(self) -> None:
        done = run(CHAIN, {})
        node = replace(done.state.node(n("b")), retries=40)
        assert all(
            0 <= retry_delay(done.state, replace(node, attempt=attempt), None) < 30 for attempt in range(50)
        )
        assert max(retry_delay(done.state, replace(node, attempt=k), None) for k in range(50)) > 20

    def test_retry_after_is_honoured(self) -> None:
        done = run(CHAIN, {"b": [fails(failure("rate_limited", retry_after_s=42.5))]})
        assert delays(done) == [42.5]

    def test_ten_days_are_not_slept_through_but_given_to_another_agent(self) -> None:
        done = run(CHAIN, {"b": [fails(failure("rate_limited", retry_after_s=864_000.0))]})
        assert delays(done) == []
        assert only_backtrack(done).repair == ChangeAgent(node=n("b"), old=A1, new=A2)
        assert retry_delay(done.state, done.state.node(n("b")), 864_000.0) == 900.0

    def test_the_fourth_failure_is_a_capability_gap(self) -> None:
        done = run(CHAIN, {"b": [fails(failure("timeout"))] * 4})
        assert [b.cls for b in blockages(done)] == ["A", "A", "A", "C"]
        assert only_backtrack(done).repair == ChangeAgent(node=n("b"), old=A1, new=A2)
        assert done.state.status == "completed"

    def test_the_fourth_failure_that_blames_an_input_is_parametric(self) -> None:
        done = run(CHAIN, {"b": [fails(failure("timeout", blamed="a"))] * 4})
        assert [b.cls for b in blockages(done)][-1] == "B"
        assert only_backtrack(done).repair.node == "a"

    def test_a_repair_starts_the_count_anew(self) -> None:
        timeout = fails(failure("timeout"))
        done = run(CHAIN, {"b": [timeout, timeout, fails(failure("structure")), timeout, timeout, timeout]})
        assert [b.cls for b in blockages(done)] == ["A", "A", "B", "A", "A", "A"]
        assert done.state.status == "completed"


class TestParametric:
    def test_goes_back_to_the_blamed_parent(self) -> None:
        done = run(plan("a>c b>c"), {"c": [fails(failure("structure", blamed="a"))]})
        back = only_backtrack(done)
        assert (back.level, back.invalidated, back.depth) == (BacktrackLevel.PARENT, ("a", "c"), 1)
        assert isinstance(back.repair, CorrectParameters)
        assert back.repair.node == "a"
        assert "its structure was not as the sub-task asks" in back.repair.guard
        assert "it was structure" not in back.repair.guard, "words of a model or a document"
        assert done.started("a") == done.started("c") == 2
        assert done.started("b") == 1
        assert not back.redo
        assert back.forced_level is None

    def test_goes_back_to_the_parent_that_completed_last(self) -> None:
        work = plan("a>c b>c")
        for slow, fast in (("a", "b"), ("b", "a")):
            script = {slow: [fails(failure("timeout"))], "c": [fails(failure("structure"))]}
            assert only_backtrack(run(work, script)).repair.node == slow, fast

    def test_a_blamed_ancestor_that_is_no_parent_is_gone_back_to(self) -> None:
        done = run(CHAIN, {"c": [fails(failure("structure", blamed="a"))]})
        assert only_backtrack(done).invalidated == ("a", "b", "c")
        assert done.state.status == "completed"

    @pytest.mark.parametrize("blamed", ["c", "d", "nobody"])
    def test_who_is_not_upstream_is_not_blamed(self, blamed: str) -> None:
        done = run(plan("a>b b>c", lone="d"), {"b": [fails(failure("structure", blamed=blamed))]})
        assert only_backtrack(done).repair.node == "a"

    def test_a_parent_that_was_given_up_is_not_gone_back_to(self) -> None:
        work = plan("a~c b>c", optional="a")
        done = run(
            work,
            {"a": [fails(failure("tool_missing"))] * 2, "c": [fails(failure("structure", blamed="a"))]},
        )
        assert done.statuses()["a"] == "skipped"
        assert done.backtracks()[-1].plan.repair.node == "b"
        assert done.started("a") == 2

    def test_a_root_node_goes_back_to_itself(self) -> None:
        done = run(CHAIN, {"a": [fails(failure("bad_request"))]})
        back = only_backtrack(done)
        assert (back.level, back.repair.node) == (BacktrackLevel.NODE, "a")
        assert back.invalidated == ("a", "b", "c")

    def test_a_model_that_is_set_up_wrongly_is_asked_about_at_once(self) -> None:
        done = run(CHAIN, {"a": [fails(failure("misconfigured"))]})
        assert (done.started("a"), done.backtracks()) == (1, [])
        (asked,) = done.requests()
        assert asked.reason == "model_misconfigured"
        assert set(asked.choices) >= {"retry", "reassign", "abandon", "review"}
        assert "set_mask" not in asked.choices

    def test_what_failed_outside_at_every_try_is_no_used_up_repair(self) -> None:
        done = run(CHAIN, {"a": [fails(failure("unavailable"))] * 9})
        assert done.requests()[0].reason == "outside_failed"

    def test_the_guard_is_in_the_goals_language(self) -> None:
        draft = proposal(CHAIN, lang="zh")
        simulation = Simulation(draft, {"a": [fails(failure("structure"))]})
        simulation.run()
        repair = only_backtrack(simulation).repair
        assert isinstance(repair, CorrectParameters)
        assert repair.guard.startswith("上一次的输出未被接受")
        assert not any(character.isascii() and character.isalpha() for character in repair.guard)

    def test_where_the_request_was_not_accepted_no_output_is_blamed(self) -> None:
        draft = proposal(CHAIN)
        simulation = Simulation(draft, {"a": [fails(failure("bad_request"))]})
        simulation.run()
        repair = only_backtrack(simulation).repair
        assert isinstance(repair, CorrectParameters)
        assert "request" in repair.guard
        assert "output" not in repair.guard

    def test_the_second_time_it_is_a_capability_gap(self) -> None:
        done = run(CHAIN, {"b": [fails(failure("structure"))] * 2})
        assert [b.cls for b in blockages(done)] == ["B", "C"]
        assert [b.plan.repair.kind for b in done.backtracks()] == ["correct_parameters", "change_agent"]
        assert done.state.assigned[n("b")] == "A2"

    def test_falsified_evidence_is_not_handed_over_again(self) -> None:
        simulation = Simulation(proposal(CHAIN), {"b": [rejected(failure("structure"))]})
        verdicts = (
            ClaimVerdict(
                claim=ClaimId("c-1"),
                verdict=Falsified(reason="another year"),
                level=Level.L3,
                traced=True,
                evidence=(
                    EvidenceVerdict(evidence=EvidenceId("e-2"), verdict=Falsified(reason="another year")),
                    EvidenceVerdict(evidence=EvidenceId("e-1"), verdict=Falsified(reason="no such line")),
                    EvidenceVerdict(evidence=EvidenceId("e-3"), verdict=Verified(source="x.md:3")),
                ),
            ),
        )
        simulation.verdicts = verdicts
        simulation.run()
        repair = only_backtrack(simulation).repair
        assert isinstance(repair, CorrectParameters)
        assert repair.params == {"exclude_evidence": ["e-1", "e-2"]}
        assert dict(simulation.state.node(n("a")).params.items()) == {"exclude_evidence": ["e-1", "e-2"]}

    def test_children_whose_inputs_stay_the_same_do_not_run_again(self) -> None:
        timeout = fails(failure("timeout"))
        script = {"b": [timeout, timeout, fails(failure("structure"))]}
        done = Simulation(proposal(plan("a>b a>c c>d")), script)
        done.run()
        assert only_backtrack(done).invalidated == ("a", "b", "c", "d")
        assert (done.started("c"), done.started("d")) == (1, 1)
        assert [e.body.node for e in done.log if isinstance(e.body, NodeReused)] == ["c", "d"]
        assert (done.started("a"), done.started("b")) == (2, 4)

    def test_children_whose_inputs_changed_run_again(self) -> None:
        script = {
            "a": [OK, Outcome(variant="other")],
            "b": [OK],
            "d": [fails(failure("structure", blamed="a"))],
        }
        done = run(plan("a>b a>c c>d"), script)
        assert (done.started("b"), done.started("c"), done.started("d")) == (2, 2, 2)


class TestCapability:
    def test_extends_a_silent_required_domain_to_background(self) -> None:
        done = run(CHAIN, {"b": [fails(failure("domain_closed", domain=CONTRACTS))]})
        back = only_backtrack(done)
        assert isinstance(back.repair, ExtendMask)
        assert (back.repair.domain, back.repair.old, back.repair.new) == (CONTRACTS, 0, 40)
        assert (back.start_path, back.forced_level, back.level) == (2, Level.L2, BacktrackLevel.NODE)
        node = done.state.node(n("b"))
        assert (node.start_path, node.forced_level, node.extended) == (2, Level.L2, (CONTRACTS,))
        assert done.state.assigned[n("b")] == "A1+b.1"
        assert done.state.assigned[n("a")] == done.state.assigned[n("c")] == "A1"
        successor = done.state.agent_of(n("b"))
        assert dict(successor.mask.values) == {DATABASES: 90, FORBIDDEN: -100, CONTRACTS: 40}
        assert successor.mask.changes[-1].author == "controller"
        assert done.state.agents[A1] == ROSTER.get("A1")

    def test_extends_to_no_more_than_theta_main(self) -> None:
        done = run(
            CHAIN,
            {"b": [fails(failure("domain_closed", domain=CONTRACTS))]},
            thresholds=Thresholds(main=75, background=70),
            roster=SOLO,
        )
        repair = only_backtrack(done).repair
        assert isinstance(repair, ExtendMask)
        assert repair.new == 75

    def test_uses_the_thresholds_of_the_agent(self) -> None:
        done = run(
            CHAIN,
            {"b": [fails(failure("domain_closed", domain=CONTRACTS))]},
            agent_thresholds={A1: Thresholds(main=60, background=10)},
        )
        repair = only_backtrack(done).repair
        assert isinstance(repair, ExtendMask)
        assert repair.new == 20

    def test_changes_the_agent_the_second_time_and_asks_the_third(self) -> None:
        closed = fails(failure("domain_closed", domain=CONTRACTS))
        done = run(CHAIN, {"b": [closed, closed, closed]})
        assert [b.plan.repair.kind for b in done.backtracks()] == ["extend_mask", "change_agent"]
        assert done.state.assigned[n("b")] == "A2"
        (request,) = done.requests()
        assert (request.reason, request.kind, request.node) == ("repairs_exhausted", "suspension", "b")
        assert [row.outcome for row in request.attempts] == ["domain_closed"] * 3
        assert [row.agent for row in request.attempts] == ["A1", "A1+b.1", "A2"]
        assert [row.repair for row in request.attempts] == [None, "extend_mask", "change_agent"]
        assert done.state.status == "suspended"

    def test_what_an_extension_led_to_stays_valid(self) -> None:
        timeouts = [fails(failure("timeout"))] * 3
        script = {
            "b": [fails(failure("domain_closed", domain=CONTRACTS))],
            "c": [*timeouts, fails(failure("structure", blamed="a"))],
        }
        done = Simulation(proposal(plan("a>b a>c")), script)
        done.run()
        assert done.backtracks()[-1].plan.invalidated == ("a", "b", "c")
        assert done.started("b") == 2
        assert done.state.node(n("b")).start_path == 2

    @pytest.mark.parametrize("kind", ["refused", "tool_missing"])
    def test_without_a_domain_it_changes_the_agent(self, kind: str) -> None:
        done = run(CHAIN, {"b": [fails(failure(kind))]})  # type: ignore[arg-type]
        assert only_backtrack(done).repair == ChangeAgent(node=n("b"), old=A1, new=A2)
        assert only_backtrack(done).forced_level is None

    def test_a_spontaneous_leak_never_extends(self) -> None:
        done = run(CHAIN, {"b": [rejected(failure("spontaneous_leak", domain=CONTRACTS))]})
        assert only_backtrack(done).repair == ChangeAgent(node=n("b"), old=A1, new=A2)

    def test_a_spontaneous_leak_does_not_ask_for_an_agent_that_has_the_domain_open(self) -> None:
        done = run(CHAIN, {"b": [rejected(failure("spontaneous_leak", domain=MEDICINE))]})
        assert only_backtrack(done).repair == ChangeAgent(node=n("b"), old=A1, new=A2)

    def test_a_need_out_of_untrusted_text_goes_to_a_person(self) -> None:
        done = run(CHAIN, {"b": [fails(failure("domain_closed", domain=CONTRACTS, tainted=True))]})
        assert not done.backtracks()
        (request,) = done.requests()
        assert (request.reason, request.kind) == ("untrusted_need", "amendment")

    def test_a_domain_that_is_not_required_goes_to_a_person(self) -> None:
        done = run(CHAIN, {"b": [fails(failure("domain_closed", domain=MEDICINE))]})
        assert [request.reason for request in done.requests()] == ["untrusted_need"]
        assert blockages(done)[0].reasons[-1] == ClassReason(code="domain_not_required", values=(MEDICINE,))

    def test_a_suppressed_domain_is_never_raised(self) -> None:
        work = plan("a>b", b=subtask("b", domains={FORBIDDEN: 1.0}))
        closed = {"b": [fails(failure("domain_closed", domain=FORBIDDEN))]}
        assert only_backtrack(run(work, closed)).repair == ChangeAgent(node=n("b"), old=A1, new=A2)
        alone = run(work, closed, roster=SOLO)
        assert not alone.backtracks()
        assert [r.reason for r in alone.requests()] == ["outside_envelope"]

    @pytest.mark.parametrize(("ceiling", "extends"), [(39, False), (40, True)])
    def test_a_ceiling_bounds_the_extension(self, ceiling: int, extends: bool) -> None:
        done = run(
            CHAIN,
            {"b": [fails(failure("domain_closed", domain=CONTRACTS))]},
            envelope=Envelope(ceilings={A1: {CONTRACTS: ceiling}}),
            roster=SOLO,
        )
        assert bool(done.backtracks()) == extends
        if not extends:
            (request,) = done.requests()
            assert (request.reason, request.kind) == ("outside_envelope", "amendment")

    def test_without_reassignment_everything_of_class_c_is_an_amendment(self) -> None:
        done = run(CHAIN, {"b": [fails(failure("tool_missing"))]}, envelope=Envelope(reassign=False))
        assert not done.backtracks()
        assert [r.reason for r in done.requests()] == ["outside_envelope"]

    def test_a_repair_that_proved_wrong_is_not_tried(self) -> None:
        simulation = Simulation(proposal(CHAIN), {"b": [fails(failure("domain_closed", domain=CONTRACTS))]})
        key = memory_key(simulation.state, n("b"), "extend_mask", CONTRACTS)
        assert key == "research/claims/cs.databases+law.contracts|extend_mask:law.contracts"
        simulation.remember(key)
        simulation.run()
        assert only_backtrack(simulation).repair == ChangeAgent(node=n("b"), old=A1, new=A2)

    def test_the_best_ranked_candidate_takes_over(self) -> None:
        third = agent("A4", {DATABASES: 85})
        ranked = tuple(
            Candidate(agent=name, fit=0.5, reasons=()) for name in map(AgentId, ("gone", "V1", "A3", "A4"))
        )
        done = run(
            CHAIN,
            {"b": [fails(failure("tool_missing"))]},
            roster=ROSTER.with_agent(third),
            grants={A1: SEARCH_TOOLS, third.id: SEARCH_TOOLS},
            candidates={n("b"): ranked},
        )
        assert only_backtrack(done).repair == ChangeAgent(node=n("b"), old=A1, new=third.id)

    def test_an_agent_to_which_the_lacking_domain_is_silent_does_not_take_over(self) -> None:
        without = agent("A0", {DATABASES: 95})
        closed = fails(failure("domain_closed", domain=CONTRACTS))
        roster = replace(ROSTER, agents=(ROSTER.agents[0], without, *ROSTER.agents[1:]))
        done = run(CHAIN, {"b": [closed, closed]}, roster=roster)
        assert done.state.assigned[n("b")] == "A2"


class TestFalsified:
    def test_by_process_is_redone_under_a_guard_with_forced_l2(self) -> None:
        done = run(CHAIN, {"b": [rejected(failure("falsified", cause=RootCause.PROCESS))]})
        back = only_backtrack(done)
        assert isinstance(back.repair, InjectGuard)
        assert (back.redo, back.forced_level, back.level) == (True, Level.L2, BacktrackLevel.NODE)
        node = done.state.node(n("b"))
        assert node.guards == (back.repair.guard,)
        assert (node.forced_level, node.redone) == (Level.L2, True)
        assert done.state.assigned[n("b")] == "A1"

    def test_without_a_diagnosis_is_redone_under_a_guard(self) -> None:
        done = run(CHAIN, {"b": [rejected(failure("falsified"))]})
        assert only_backtrack(done).repair.kind == "inject_guard"

    def test_by_input_corrects_the_parent_and_checks_both_at_l2(self) -> None:
        done = run(CHAIN, {"b": [rejected(failure("falsified", cause=RootCause.INPUT, blamed="a"))]})
        back = only_backtrack(done)
        assert (back.repair.kind, back.repair.node, back.redo) == ("correct_parameters", "a", True)
        assert done.state.node(n("a")).forced_level is Level.L2
        assert done.state.node(n("b")).forced_level is Level.L2
        assert done.state.node(n("c")).forced_level is None
        assert (done.state.node(n("a")).redone, done.state.node(n("b")).redone) == (False, True)

    def test_by_input_after_the_parameters_were_corrected_is_a_capability_gap(self) -> None:
        falsified = rejected(failure("falsified", cause=RootCause.INPUT, blamed="a"))
        done = run(CHAIN, {"b": [fails(failure("structure")), falsified]})
        assert [b.plan.repair.kind for b in done.backtracks()] == ["correct_parameters", "change_agent"]

    def test_by_mask_extends(self) -> None:
        done = run(CHAIN, {"b": [rejected(failure("falsified", cause=RootCause.MASK, domain=CONTRACTS))]})
        back = only_backtrack(done)
        assert (back.repair.kind, back.redo, back.forced_level) == ("extend_mask", True, Level.L2)

    def test_by_capability_changes_the_agent(self) -> None:
        done = run(CHAIN, {"b": [rejected(failure("falsified", cause=RootCause.CAPABILITY))]})
        back = only_backtrack(done)
        assert (back.repair.kind, back.redo, back.forced_level) == ("change_agent", True, Level.L2)

    @pytest.mark.parametrize("cause", list(RootCause))
    def test_a_second_time_suspends(self, cause: RootCause) -> None:
        falsified = rejected(failure("falsified", cause=cause))
        done = run(CHAIN, {"b": [falsified, falsified]})
        assert len(done.backtracks()) == 1
        (request,) = done.requests()
        assert request.reason == "second_falsification"
        assert "accept" in request.choices
        assert done.state.status == "suspended"

    def test_a_forced_level_outlives_later_repairs(self) -> None:
        script = {"b": [rejected(failure("falsified", cause=RootCause.PROCESS)), fails(failure("refused"))]}
        done = run(CHAIN, script)
        assert [b.plan.repair.kind for b in done.backtracks()] == ["inject_guard", "change_agent"]
        assert done.state.node(n("b")).forced_level is Level.L2


def false_evidence(*names: str) -> tuple[ClaimVerdict, ...]:
    """A falsified claim with this falsified evidence, and `sound` evidence that was verified."""
    reason = Falsified(reason="no such line")
    pieces = [EvidenceVerdict(evidence=EvidenceId(name), verdict=reason) for name in names]
    sound = EvidenceVerdict(evidence=EvidenceId("sound"), verdict=Verified(source="x.md:3"))
    return (
        ClaimVerdict(
            claim=ClaimId("c-1"), verdict=reason, level=Level.L3, traced=True, evidence=(*pieces, sound)
        ),
    )


class TestEmbedded:
    """Deterministic code reads no guards: a repair has to change what it works on, or somebody else works."""

    by_process = rejected(failure("falsified", cause=RootCause.PROCESS))
    by_input = rejected(failure("falsified", cause=RootCause.INPUT, blamed="a"))

    def run(self, script: dict[str, list[Outcome]], *falsified: str, solo: bool = False) -> Simulation:
        roster = replace(EMBEDDED, agents=EMBEDDED.agents[:1]) if solo else EMBEDDED
        simulation = Simulation(replace(proposal(CHAIN), roster=roster), script, cap=1)
        simulation.verdicts = false_evidence(*falsified) if falsified else ()
        simulation.run()
        return simulation

    @pytest.mark.parametrize(("outcome", "target"), [(by_process, "b"), (by_input, "a")])
    def test_a_falsification_leaves_its_evidence_out(self, outcome: Outcome, target: str) -> None:
        done = self.run({"b": [outcome]}, "e-2", "e-1")
        back = only_backtrack(done)
        assert back.repair == CorrectParameters(node=n(target), params={"exclude_evidence": ["e-1", "e-2"]})
        assert (back.redo, back.forced_level) == (True, Level.L2)
        assert done.state.node(n(target)).guards == ()
        assert done.state.status == "completed"

    @pytest.mark.parametrize("outcome", [by_process, by_input, fails(failure("structure"))])
    def test_with_nothing_to_leave_out_another_agent_takes_over(self, outcome: Outcome) -> None:
        done = self.run({"b": [outcome]})
        assert only_backtrack(done).repair == ChangeAgent(node=n("b"), old=A1, new=A2)

    @pytest.mark.parametrize("outcome", [by_process, by_input, fails(failure("structure"))])
    def test_and_with_nobody_else_a_person_is_asked_after_one_attempt(self, outcome: Outcome) -> None:
        done = self.run({"b": [outcome]}, solo=True)
        assert done.started("b") == 1
        (request,) = done.requests()
        assert {"abandon", "review"} <= set(request.choices)
        assert "retry" not in request.choices, "it reads no guidance and would do the same again"

    @pytest.mark.parametrize("kind", ["unavailable", "tool_missing"])
    def test_what_is_mended_outside_can_be_tried_again(self, kind: FailureKind) -> None:
        done = self.run({"b": [fails(failure(kind))] * 4}, solo=True)
        (request,) = done.requests()
        assert request.choices[0] == "retry"

    def test_what_was_left_out_already_is_no_correction(self) -> None:
        # c's repair makes a leave e-1 out; e-1 again at b, and a has nothing new to leave out.
        script = {"c": [rejected(failure("falsified", cause=RootCause.INPUT, blamed="a"))]}
        done = self.run({**script, "a": [OK, Outcome(variant="other")], "b": [OK, self.by_input]}, "e-1")
        assert [b.plan.repair.kind for b in done.backtracks()] == ["correct_parameters", "change_agent"]

    def test_a_use_of_a_domain_that_was_not_needed_opens_it_for_nobody(self) -> None:
        outcome = rejected(failure("falsified", cause=RootCause.PROCESS, domain=CONTRACTS))
        assert only_backtrack(self.run({"b": [outcome]})).repair.kind == "change_agent"


class TestCrossingRule:
    closed = fails(failure("domain_closed", domain=CONTRACTS))
    crossed = rejected(failure("falsified", cause=RootCause.MASK, domain=CONTRACTS))

    def test_changes_the_agent_keeps_the_mask_and_remembers(self) -> None:
        done = run(CHAIN, {"b": [self.closed, self.crossed]})
        back = done.backtracks()[-1].plan
        extended = AgentId("A1+b.1")
        assert back.repair == ChangeAgent(node=n("b"), old=extended, new=A2)
        key = memory_key(done.state, n("b"), "extend_mask", CONTRACTS)
        assert (back.remember, back.redo, back.forced_level) == (key, True, Level.L2)
        assert key in done.state.remembered
        assert done.state.agents[extended].mask.value(CONTRACTS) == 40, "not rolled back"
        assert done.state.status == "completed"

    def test_keeps_other_sub_tasks_of_the_class_from_the_same_extension(self) -> None:
        done = run(plan("a>b a>c b>d c>d"), {"b": [self.closed, self.crossed], "d": [self.closed]})
        assert [b.plan.repair.kind for b in done.backtracks()] == [
            "extend_mask",
            "change_agent",
            "change_agent",
        ]

    def test_does_not_hold_for_a_domain_that_no_repair_raised(self) -> None:
        done = run(CHAIN, {"b": [rejected(failure("falsified", cause=RootCause.MASK, domain=DATABASES))]})
        assert only_backtrack(done).remember is None

    def test_does_not_hold_for_the_next_agent(self) -> None:
        done = run(CHAIN, {"b": [self.closed, fails(failure("refused")), self.crossed]})
        assert [b.plan.repair.kind for b in done.backtracks()] == ["extend_mask", "change_agent"]
        assert done.state.node(n("b")).extended == ()
        assert not len(done.state.remembered)
        assert [r.reason for r in done.requests()] == ["repairs_exhausted"]

    def test_asks_when_nobody_can_take_over(self) -> None:
        done = run(CHAIN, {"b": [self.closed, self.crossed]}, roster=SOLO)
        assert [r.reason for r in done.requests()] == ["repairs_exhausted"]


class TestDecomposition:
    def test_blockages_on_one_path_of_a_doubtful_split_go_to_a_person(self) -> None:
        work = plan("a>b b>c", b=replace(subtask("b"), title=SEVERAL))
        done = run(work, {"b": [fails(failure("tool_missing"))] * 2, "a": [OK, OK]})
        assert [b.cls for b in blockages(done)] == ["C", "C"], "one node alone is no path"
        script = {"b": [fails(failure("structure"))], "a": [OK, fails(failure("structure"))]}
        done = run(work, script)
        assert [b.cls for b in blockages(done)] == ["B", "D"]
        assert blockages(done)[1].reasons[-2:] == (
            ClassReason(code="follows", values=("b",)),
            ClassReason(code="split_doubtful", values=("several_actions",)),
        )
        assert [r.reason for r in done.requests()] == ["split_at_fault"]

    def test_blockages_on_one_path_of_a_sound_split_are_repaired(self) -> None:
        script = {"b": [fails(failure("structure"))], "a": [OK, fails(failure("structure"))]}
        done = run(CHAIN, script)
        assert [b.cls for b in blockages(done)] == ["B", "B"]
        assert blockages(done)[1].reasons[-1] == ClassReason(code="split_sound")
        assert done.state.status == "completed"

    def test_falsifications_escalate_too(self) -> None:
        work = plan("a>b b>c", b=replace(subtask("b"), title=SEVERAL))
        script = {"b": [fails(failure("structure"))], "a": [OK, rejected(failure("falsified"))]}
        assert [r.reason for r in run(work, script).requests()] == ["split_at_fault"]

    def test_other_paths_do_not_count(self) -> None:
        doubtful = replace(subtask("b"), title=SEVERAL)
        work = plan("a>b", lone="x", b=doubtful, x=replace(subtask("x"), title=SEVERAL))
        done = run(work, {"b": [fails(failure("refused"))], "x": [fails(failure("refused"))]})
        assert {b.cls for b in blockages(done)} == {BlockageClass.C}
        assert done.state.status == "completed"

    def test_a_blockage_elsewhere_does_not_hide_one_on_the_path(self) -> None:
        work = plan("a>b b>c", lone="x", b=replace(subtask("b"), title=SEVERAL))
        structure = fails(failure("structure"))
        simulation = Simulation(
            proposal(work), {"b": [structure], "a": [OK, structure], "x": [fails(failure("refused"))]}, cap=1
        )
        simulation.run()
        assert "D" in [b.cls for b in blockages(simulation)]

    def test_an_accepted_node_is_no_longer_blocked(self) -> None:
        work = plan("a>b b>c", b=replace(subtask("b"), title=SEVERAL))
        done = run(work, {"b": [fails(failure("refused"))], "c": [fails(failure("refused"))]})
        assert [b.cls for b in blockages(done)] == ["C", "C"]
        assert done.state.status == "completed"


class TestEnds:
    def test_a_limit_gives_up_the_sub_task_and_what_needs_it(self) -> None:
        done = run(plan("a>b b>c b~d e>d"), {"b": [fails(failure("limit"))]})
        (skipped,) = [e.body for e in done.log if isinstance(e.body, NodesSkipped)]
        assert (skipped.nodes, skipped.reason, skipped.detail) == (("b", "c"), "limit", "it was limit")
        assert done.statuses() == {
            "a": "accepted",
            "b": "skipped",
            "c": "skipped",
            "d": "accepted",
            "e": "accepted",
        }
        assert done.state.limit_hit
        assert done.state.internal_error is None
        assert blockages(done)[0].cls == "D"

    def test_an_internal_error_keeps_its_trace(self) -> None:
        done = run(CHAIN, {"b": [fails(failure("internal"))]})
        assert done.state.internal_error == "Traceback: boom"
        assert done.started("b") == 1

    def test_a_broken_checker_is_retried_and_then_a_person_decides(self) -> None:
        broken = rejected(failure("not_verified"))
        assert run(CHAIN, {"b": [broken] * 3}).state.status == "completed"
        done = run(CHAIN, {"b": [broken] * 4})
        assert [b.cls for b in blockages(done)] == ["A", "A", "A", "B"]
        assert [r.reason for r in done.requests()] == ["not_verified"]
        assert not done.backtracks()
        assert done.statuses() == {"a": "accepted", "b": "suspended", "c": "pending"}

    def test_an_optional_sub_task_is_given_up(self) -> None:
        done = run(plan("a>b b~c", optional="b"), {"b": [fails(failure("tool_missing"))] * 2})
        (skipped,) = [e.body for e in done.log if isinstance(e.body, NodesSkipped)]
        assert (skipped.nodes, skipped.reason) == (("b",), "optional")
        assert done.statuses() == {"a": "accepted", "b": "skipped", "c": "accepted"}
        assert not done.requests()

    def test_a_required_port_that_an_optional_sub_task_feeds_goes_without(self) -> None:
        done = run(plan("a>b", optional="a"), {"a": [fails(failure("tool_missing"))] * 2})
        assert done.statuses() == {"a": "skipped", "b": "accepted"}

    def test_the_fourth_repair_of_a_region_suspends(self) -> None:
        # b and c take turns: each repair of c's invalidates b, so that all four are charged to one region.
        structure, refused = fails(failure("structure", blamed="a")), fails(failure("refused"))
        script = {"b": [structure, refused], "c": [structure, refused]}
        done = run(CHAIN, script)
        assert [b.plan.depth for b in done.backtracks()] == [1, 2, 3]
        assert {b.plan.region for b in done.backtracks()} == {"b"}
        assert [r.reason for r in done.requests()] == ["depth_limit"]
        assert done.state.status == "suspended"

    def test_an_external_effect_is_not_thrown_away_without_a_person(self) -> None:
        work = plan("a>b b>c", b=replace(subtask("b"), side_effects="external"))
        done = run(work, {"c": [fails(failure("structure", blamed="a"))]})
        assert not done.backtracks()
        assert [r.reason for r in done.requests()] == ["external_effect"]
        untouched = run(work, {"a": [fails(failure("structure"))]})
        assert untouched.state.status == "completed", "b had not begun"

    @pytest.mark.parametrize(
        ("effect", "failed", "asks"),
        [
            ("write", False, True),
            ("external", False, True),
            ("draft", False, False),
            ("read", False, False),
            ("write", True, False),
            ("external", True, False),
        ],
    )
    def test_work_whose_calls_changed_something_outside_is_not_thrown_away_without_a_person(
        self, effect: SideEffectClass, failed: bool, asks: bool
    ) -> None:
        """Semantics 6; a file of the user's that was changed stands as a letter does that was sent."""
        state = run(CHAIN, {}).state
        call = CommittedCall(
            tool="change",
            key="k",
            side_effect=effect,
            generation=1,
            attempt=1,
            step="work.1.0",
            index=0,
            arguments={},
            arguments_digest="d",
            failed=failed,
        )
        b = replace(state.node(n("b")), committed=state.node(n("b")).committed.insert("k", call))
        state = replace(state, nodes=state.nodes.insert(n("b"), b))
        fix = InjectGuard(node=n("b"), guard="once more")
        command = backtrack(state, state.node(n("c")), fix, parent=n("b"))
        assert isinstance(command, AskPerson if asks else Backtrack)
        if isinstance(command, AskPerson):
            assert command.request.reason == "external_effect"
        chosen = backtrack(state, state.node(n("c")), fix, parent=n("b"), by="person")
        assert isinstance(chosen, Backtrack), "a person may choose it"


class TestAnswers:
    """What each choice leads to, for a sub-task whose output was falsified twice."""

    falsified = rejected(failure("falsified", cause=RootCause.PROCESS))

    def ask(self, answer: Answer, *more: Outcome) -> Simulation:
        return run(plan("a>b b>c a>d"), {"b": [self.falsified, self.falsified, *more]}, answers=[answer])

    def test_retry_runs_again_with_the_guidance(self) -> None:
        done = self.ask(Answer(choice="retry", guidance="Use the newer file."))
        back = done.backtracks()[-1].plan
        assert (back.by, back.level, back.forced_level) == ("person", BacktrackLevel.NODE, Level.L2)
        assert back.repair == InjectGuard(node=n("b"), guard="Use the newer file.")
        assert done.state.node(n("b")).guards[-1] == "Use the newer file."
        assert done.state.status == "completed"

    def test_retry_without_guidance_says_what_was_wrong(self) -> None:
        repair = self.ask(Answer(choice="retry")).backtracks()[-1].plan.repair
        assert isinstance(repair, InjectGuard)
        assert "falsified" in repair.guard

    def test_set_mask_runs_again_with_the_value(self) -> None:
        done = self.ask(Answer(choice="set_mask", agent="A1", domain=MEDICINE, value=55))
        repair = done.backtracks()[-1].plan.repair
        assert isinstance(repair, SetMask)
        assert (repair.old, repair.new) == (0, 55)
        agent_now = done.state.agent_of(n("b"))
        assert agent_now.id == "A1+b.2"
        assert agent_now.mask.value(MEDICINE) == 55
        assert agent_now.mask.changes[-1].author == "person"
        assert done.state.agents[A1].mask.value(MEDICINE) == 0
        assert done.state.node(n("b")).extended == ()

    def test_reassign_runs_again_with_the_agent(self) -> None:
        done = self.ask(Answer(choice="reassign", agent="A2"))
        assert done.backtracks()[-1].plan.repair == ChangeAgent(node=n("b"), old=A1, new=A2)
        assert done.state.assigned[n("b")] == "A2"

    def test_accept_takes_the_output_marked(self) -> None:
        done = self.ask(Answer(choice="accept"))
        accepted = done.state.node(n("b")).accepted
        assert accepted is not None
        assert accepted.as_is
        assert accepted.verification.outcome == "falsified"
        assert done.started("b") == 2
        assert done.state.status == "completed"

    def test_what_a_person_took_is_not_blamed(self) -> None:
        by_b = rejected(failure("falsified", cause=RootCause.INPUT, blamed="b"))
        script = {"b": [self.falsified, self.falsified], "c": [by_b]}
        done = run(CHAIN, script, answers=[Answer(choice="accept")])
        assert done.backtracks()[-1].plan.repair.node == "c"
        assert (done.started("b"), done.answered, done.state.status) == (2, 1, "completed")

    def test_abandon_goes_on_without_it(self) -> None:
        done = self.ask(Answer(choice="abandon", guidance="not worth it"))
        (skipped,) = [e.body for e in done.log if isinstance(e.body, NodesSkipped)]
        assert (skipped.nodes, skipped.reason, skipped.detail) == (("b", "c"), "abandoned", "not worth it")
        assert done.statuses()["d"] == "accepted"
        assert done.state.status == "partial"

    def test_review_goes_back_to_the_plan(self) -> None:
        done = self.ask(Answer(choice="review"))
        assert done.state.status == "reviewing"
        assert done.state.approved_revision is None
        assert not len(done.state.requests)

    def test_an_answer_grants_one_repair_beyond_the_limit(self) -> None:
        structure, refused = fails(failure("structure", blamed="a")), fails(failure("refused"))
        script = {"b": [structure, refused], "c": [structure, refused, refused]}
        done = run(CHAIN, script, answers=[Answer(choice="retry")])
        assert [b.plan.depth for b in done.backtracks()] == [1, 2, 3, 4]
        assert [b.plan.by for b in done.backtracks()] == ["controller"] * 3 + ["person"]
        assert [r.reason for r in done.requests()] == ["depth_limit", "depth_limit"]

    def test_an_output_of_inputs_that_were_made_again_is_not_offered(self) -> None:
        by_input = rejected(failure("falsified", cause=RootCause.INPUT, blamed="a"))
        done = run(CHAIN, {"b": [by_input, *[fails(failure("tool_missing"))] * 2]})
        assert "accept" not in done.requests()[0].choices

    def test_an_unstructured_output_is_not_offered(self) -> None:
        done = run(CHAIN, {"b": [fails(failure("domain_closed", domain=MEDICINE))]})
        assert done.requests()[0].choices == ("retry", "set_mask", "reassign", "abandon", "review")


@pytest.mark.parametrize("kind", ["timeout", "structure"])
def test_the_contract_s_limit_of_attempts_is_kept_and_an_answer_grants_one_more(kind: str) -> None:
    few = replace(CONTRACT, limits=Limits(max_attempts_per_node=2))
    failing = [fails(failure(kind))] * 9  # type: ignore[arg-type]
    done = run(CHAIN, {"b": failing}, contract=few)
    assert done.started("b") == 2
    assert [r.reason for r in done.requests()] == ["attempts_exhausted"]
    again = run(CHAIN, {"b": failing}, contract=few, answers=[Answer(choice="retry")])
    assert again.started("b") == 3
    assert [r.reason for r in again.requests()] == ["attempts_exhausted"] * 2


class TestChangedSources:
    """The cited file was changed or deleted: the choices are those that can bring it back or do without it."""

    def gone(self) -> Outcome:
        seen = Diagnosis(cause=RootCause.INPUT, views=(), changed=("prices.md",))
        return rejected(replace(failure("falsified"), diagnosis=seen))

    def test_no_mask_value_and_no_other_agent_is_offered(self) -> None:
        done = run(CHAIN, {"b": [self.gone()] * 9, "a": [OK] * 9})
        (request,) = done.requests()
        assert (request.reason, request.kind, request.sources) == (
            "source_changed",
            "suspension",
            ("prices.md",),
        )
        assert request.choices == ("retry", "accept", "abandon", "review")
        assert (request.agents, request.domains) == ((), ())
        # The same falsification without a changed file offers more.
        done = run(CHAIN, {"b": [rejected(failure("falsified", cause=RootCause.INPUT))] * 9, "a": [OK] * 9})
        assert done.requests()[0].choices == (
            "retry",
            "set_mask",
            "reassign",
            "accept",
            "abandon",
            "review",
        )

    @pytest.mark.parametrize("same", ["claim", "evidence"])
    def test_repairs_go_back_to_the_sub_task_that_read_the_file(self, same: str) -> None:
        """`a` read it, `b` and `c` pass it on: only `a` can read it anew."""
        (false,) = false_evidence("e-1")
        sound = EvidenceVerdict(evidence=EvidenceId("e-1"), verdict=Verified(source="prices.md:1"))
        then = replace(false, verdict=Verified(source="prices.md:1"), evidence=(sound,))
        then = replace(then, evidence=()) if same == "claim" else replace(then, claim=ClaimId("c-2"))
        done = Simulation(
            proposal(plan("a>b b>c")), {"c": [self.gone()] * 2}, answers=[Answer(choice="retry")], cap=1
        )
        done.verdicts, done.traced = (false,), {n("a"): (then,)}
        done.run()
        by_itself, by_person = (body.plan for body in done.backtracks())
        assert (by_itself.by, by_itself.repair.node, by_itself.invalidated) == (
            "controller",
            "a",
            ("a", "b", "c"),
        )
        assert (by_person.by, by_person.repair.node, by_person.invalidated) == (
            "person",
            "a",
            ("a", "b", "c"),
        )
        assert (done.started("a"), done.state.status) == (3, "completed")

    def test_a_sub_task_that_may_have_acted_outside_is_not_undone_by_a_retry(self) -> None:
        (false,) = false_evidence("e-1")
        work = plan("a>b b>c", b=replace(subtask("b"), side_effects="external"))
        done = Simulation(proposal(work), {"c": [self.gone()]}, answers=[Answer(choice="retry")], cap=1)
        done.verdicts = (false,)
        done.traced = {n("a"): (replace(false, verdict=Verified(source="prices.md:1")),)}
        done.run()
        (back,) = (body.plan for body in done.backtracks())
        assert (back.by, back.invalidated) == ("person", ("c",))

    def test_after_the_file_was_restored_a_retry_completes(self) -> None:
        done = run(CHAIN, {"b": [self.gone()] * 2}, answers=[Answer(choice="retry")])
        assert done.state.status == "completed"


class TestAttemptsBeforeTheDispatch:
    """A sub-task that others' repairs invalidated is looked at before it gets a further attempt."""

    ONE = replace(CONTRACT, limits=Limits(max_attempts_per_node=1))
    BLAMES_A: ClassVar = {"b": [rejected(failure("structure", blamed="a"))]}

    def test_a_blamed_parent_without_an_attempt_left_is_asked_about_instead_of_run(self) -> None:
        done = run(CHAIN, self.BLAMES_A, contract=self.ONE)
        # b's own bound is reached first: it had its one attempt.
        assert [(r.node, r.reason) for r in done.requests()] == [("b", "attempts_exhausted")]
        two = replace(CONTRACT, limits=Limits(max_attempts_per_node=2))
        script = {"a": [fails(failure("timeout"))], **self.BLAMES_A}
        done = run(CHAIN, script, contract=two)
        assert done.started("a") == 2
        (request,) = done.requests()
        assert (request.node, request.reason, request.kind) == ("a", "attempts_exhausted", "suspension")
        assert [row.outcome for row in request.attempts] == ["timeout", "verified"]
        assert done.state.status == "suspended"

    @pytest.mark.parametrize(
        "answer", [Answer(choice="retry"), Answer(choice="retry", guidance="Look again.")]
    )
    def test_an_answer_grants_one_more(self, answer: Answer) -> None:
        two = replace(CONTRACT, limits=Limits(max_attempts_per_node=2))
        script = {"a": [fails(failure("timeout"))], **self.BLAMES_A}
        done = run(CHAIN, script, contract=two, answers=[answer])
        assert done.state.status == "completed"
        assert (done.started("a"), done.started("b")) == (3, 2)
        assert len(done.requests()) == 1

    def test_abandoned_it_takes_those_with_it_that_need_it(self) -> None:
        two = replace(CONTRACT, limits=Limits(max_attempts_per_node=2))
        script = {"a": [fails(failure("timeout"))], **self.BLAMES_A}
        done = run(CHAIN, script, contract=two, answers=[Answer(choice="abandon")])
        assert done.statuses() == dict.fromkeys("abc", "skipped")

    def test_an_optional_one_is_given_up(self) -> None:
        two = replace(CONTRACT, limits=Limits(max_attempts_per_node=2))
        script = {
            "c": [fails(failure("timeout"))],
            "d": [rejected(failure("structure", blamed="a"))],
        }
        done = run(plan("a>c a>d c~e d>e", optional="c"), script, contract=two)
        assert done.statuses()["c"] == "skipped"
        assert done.state.status == "partial"
        assert (done.started("a"), done.started("c"), done.started("d")) == (2, 2, 2)


class TestCandidates:
    """A request offers what can be done, and lists with whom and with what."""

    closed = fails(failure("domain_closed", domain=MEDICINE))

    def request(self, *outcomes: Outcome, **changes: object) -> Request:
        return run(CHAIN, {"b": list(outcomes)}, answers=(), **changes).requests()[0]

    def test_lists_agents_and_domains(self) -> None:
        request = self.request(self.closed)
        assert request.agents == ("A2",)
        assert request.domains == (MEDICINE, CONTRACTS)

    def test_an_agent_without_the_tools_can_t_take_over(self) -> None:
        grants = {A1: SEARCH_TOOLS, A2: SEARCH_TOOLS[:1]}
        request = self.request(self.closed, grants=grants)
        assert request.agents == ()
        assert "reassign" not in request.choices
        refused = run(CHAIN, {"b": [fails(failure("refused"))]}, grants=grants)
        assert [r.reason for r in refused.requests()] == ["repairs_exhausted"]

    def test_a_failure_that_is_not_of_the_mask_offers_no_mask_value(self) -> None:
        request = self.request(*[fails(failure("tool_missing"))] * 2)
        assert (request.domains, request.choices) == ((), ("retry", "reassign", "abandon", "review"))

    def test_what_is_closed_is_listed_per_agent_and_not_suggested(self) -> None:
        forbids = replace(CONTRACT, forbidden=("no guessing", "domain:med"))
        request = self.request(self.closed, contract=forbids)
        assert request.closed == {"A1": (FORBIDDEN, "med"), "A2": ("med",)}
        assert request.domains == (CONTRACTS,)
        for agent_id, domain in (("A1", FORBIDDEN), ("A1", MEDICINE), ("A2", MEDICINE)):
            with pytest.raises(InvalidAnswer, match=f"'{domain}' is forbidden .* choose 'review'"):
                check_answer(request, Answer(choice="set_mask", agent=agent_id, domain=domain, value=-99))
            check_answer(request, Answer(choice="set_mask", agent=agent_id, domain=domain, value=-100))
        check_answer(request, Answer(choice="set_mask", agent="A2", domain=FORBIDDEN, value=80))


def test_an_attempt_bound_by_hand() -> None:
    # Specification 5.2: three repairs; semantics 5: three retries each; so 4 x 4 attempts of a node.
    assert max_attempts(1, 0) == 16
    assert max_attempts(3, 2) == 3 * 6 * 4
    assert max_attempts(3, 2, approvals=2) == 2 * 3 * 6 * 4
