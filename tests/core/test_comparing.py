"""Two runs beside each other: what differs is named, what is chance is not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.spec import ModelPolicy
from masks.bands import Thresholds
from masks.gradient import set_leaf
from orchestrator.core.claims import RootCause
from orchestrator.core.comparing import compare_runs
from orchestrator.core.comparison import COMPARISON, Comparison, NodeFacts, SameStart
from orchestrator.core.decision_trail import FirstDifference
from orchestrator.core.events import Event, RunCreated, RunEnded, SourcesRead
from orchestrator.core.ids import ContentDigest, RunId
from orchestrator.core.proposal import Proposal
from orchestrator.core.requests import Answer
from orchestrator.core.transition import BrokenLog
from tests.core import strategies
from tests.core.builders import A2, CONTRACTS, EMBEDDED, MEDICINE, failure, n, plan, proposal
from tests.core.simulation import RUN, Simulation, fails, rejected

OTHER = RunId("r-other")
DRAFT = proposal(plan("a>b b>c a>d"))


def compared(one: Sequence[Event], other: Sequence[Event]) -> Comparison:
    return compare_runs(RUN, one, OTHER, other)


def log_of(draft: Proposal = DRAFT, script: Any = None, **how: Any) -> list[Event]:
    run = Simulation(draft, script or {}, **how)
    run.run()
    return run.log


def differing_start(same: SameStart) -> set[str]:
    return {field.name for field in fields(same) if not getattr(same, field.name)}


calm = strategies.transient | strategies.accepted


@strategies.RUNS
@given(
    strategies.proposals(strategies.plans()),
    strategies.scripts(calm, max_size=2),
    st.integers(0, 2**16),
    st.integers(1, 4),
)
def test_the_order_in_which_sub_tasks_take_turns_is_no_difference(
    draft: Proposal, script: strategies.Scripts, seed: int, cap: int
) -> None:
    found = compared(log_of(draft, script), log_of(draft, script, order="random", seed=seed, cap=cap))
    assert found.first_difference is None
    assert differing_start(found.same) == set()
    assert [node.node for node in found.nodes if node.differs] == []
    assert found.outcome_equal


def test_a_run_beside_itself_is_equal() -> None:
    log = log_of(script={"c": [rejected(failure("structure", blamed="b"))]})
    found = compared(log, log)
    assert found.equal
    assert (found.first.run, found.second.run) == (RUN, OTHER)
    assert len(found.first.backtracks) == 1


def test_the_first_difference_names_both_places_and_the_table_what_came_of_it() -> None:
    calm, rough = log_of(), log_of(script={"b": [rejected(failure("falsified", cause=RootCause.PROCESS))]})
    found = compared(calm, rough)
    difference = found.first_difference
    assert difference is not None
    # b's one attempt is b's one decision in the calm run; in the rough one its failure is classed next.
    (classified,) = [event for event in rough if event.body.type == "failure.classified"]
    assert (difference.node, difference.first) == ("b", None)
    assert difference.second is not None
    assert (difference.second.seq, difference.second.type) == (classified.seq, "failure.classified")
    assert difference.second.said["failure"] == "falsified"
    rows = {node.node: node for node in found.nodes}
    first, second = rows[n("b")].first, rows[n("b")].second
    assert first is not None
    assert second is not None
    assert (first.attempts, second.attempts) == (1, 2)
    assert (first.failures, len(second.failures)) == ((), 1)
    assert {"attempts", "failures"} <= set(rows[n("b")].differs)
    assert rows[n("a")].differs == ()
    assert (found.first.backtracks, len(found.second.backtracks)) == ((), 1)
    assert found.second.backtracks[0].node == "b"
    assert not found.backtracks_equal
    assert found.outcome_equal
    assert not found.equal


def test_the_earliest_of_several_differences_is_the_first() -> None:
    broken = {name: [fails(failure("timeout"))] for name in ("a", "d")}
    found = compared(log_of(), log_of(script=broken))
    difference = found.first_difference
    assert difference is not None
    assert difference.node == "a"


def test_who_works_is_a_decision() -> None:
    other = replace(DRAFT, assignment={**DRAFT.assignment, n("b"): DRAFT.roster.agents[1].id})
    found = compared(log_of(), log_of(other))
    assert differing_start(found.same) == {"agents"}
    difference = found.first_difference
    # That another proposal was approved comes before everything that follows from it.
    assert difference is not None
    assert difference.node is None
    assert difference.first is not None
    assert difference.first.type == "proposal.approved"
    rows = {node.node: node for node in found.nodes}
    assert "agent" in rows[n("b")].differs


def with_mask(draft: Proposal) -> Proposal:
    first, *others = draft.roster.agents
    mask = set_leaf(first.mask, CONTRACTS, 55, author="test", reason="test")
    return replace(draft, roster=replace(draft.roster, agents=(replace(first, mask=mask), *others)))


@pytest.mark.parametrize(
    ("other", "differs"),
    [
        (DRAFT, set()),
        (replace(DRAFT, revision=1, notes=("another note",)), set()),
        (with_mask(DRAFT), {"masks"}),
        (replace(DRAFT, thresholds=replace(DRAFT.thresholds, main=80)), {"masks"}),
        (replace(DRAFT, contract=replace(DRAFT.contract, allow_unresolved=True)), {"contract"}),
        (replace(DRAFT, grants={DRAFT.roster.agents[0].id: ("read_note",)}), {"agents"}),
        (replace(DRAFT, profile="evaluate"), {"profile"}),
        (replace(DRAFT, roster=EMBEDDED), {"models"}),
    ],
    ids=["equal", "notes", "mask", "threshold", "contract", "grant", "profile", "model"],
)
def test_what_both_started_from(other: Proposal, differs: set[str]) -> None:
    assert differing_start(compared(log_of(), log_of(other)).same) == differs


def numbers(one: Sequence[Event], other: Sequence[Event]) -> list[tuple[str, str, int | None, int | None]]:
    found = compared(one, other).mask_differences
    return [(each.agent, each.about, each.first, each.second) for each in found]


def test_which_numbers_of_which_masks_differ_is_listed() -> None:
    low = replace(DRAFT, agent_thresholds={A2: Thresholds(main=80, background=20)})
    assert numbers(log_of(), log_of()) == []
    # A domain that a mask does not list is at 0.
    before = dict(DRAFT.roster.agents[0].mask.values).get(CONTRACTS, 0)
    assert numbers(log_of(), log_of(with_mask(DRAFT))) == [("A1", CONTRACTS, before, 55)]
    assert numbers(log_of(with_mask(DRAFT)), log_of()) == [("A1", CONTRACTS, 55, before)]
    assert numbers(log_of(), log_of(low)) == [
        ("A2", "threshold.main", 70, 80),
        ("A2", "threshold.background", 30, 20),
    ]
    fewer = replace(DRAFT, roster=replace(DRAFT.roster, agents=DRAFT.roster.agents[:-1]))
    gone = DRAFT.roster.agents[-1]
    only_first = numbers(log_of(), log_of()[:1] + log_of(fewer)[1:2])
    assert {(agent, second) for agent, _, _, second in only_first} == {(gone.id, None)}
    assert numbers(log_of(), log_of()[:1]) == []


def test_what_each_agent_thinks_with_and_the_profile_are_listed_where_they_differ() -> None:
    first, *others = DRAFT.roster.agents
    policy = ModelPolicy(kind="model", model="ollama:qwen3", base_url="http://127.0.0.1:8091/v1")
    roster = replace(DRAFT.roster, agents=(replace(first, model_policy=policy), *others[:-1]))
    found = compared(log_of(), log_of(replace(DRAFT, roster=roster, profile="evaluate")))
    assert [(each.agent, each.first, each.second) for each in found.model_differences] == [
        ("A1", "scripted", "ollama:qwen3 http://127.0.0.1:8091/v1"),
        (others[-1].id, "scripted", None),
    ]
    assert (found.first.profile, found.second.profile) == ("production", "evaluate")
    assert compared(log_of(), log_of()).model_differences == ()
    assert compared(log_of(), log_of()[:1]).model_differences == ()


def test_a_run_that_read_nothing_says_so() -> None:
    read = log_of()
    place = next(index for index, event in enumerate(read) if event.body.type == "proposal.approved") + 1
    body = SourcesRead(documents=1, digest="0" * 64)
    event = replace(read[place], body=body)
    assert not compared(read, read).first.sources_read
    found = compared([*read[:place], event], read[:place])
    assert (found.first.sources_read, found.second.sources_read) == (True, False)


def test_another_plan_has_sub_tasks_that_only_one_run_has() -> None:
    found = compared(log_of(), log_of(proposal(plan("a>b b>c"))))
    assert "plan" in differing_start(found.same)
    rows = {node.node: node for node in found.nodes}
    assert rows[n("d")].second is None
    assert set(rows[n("d")].differs) == {field.name for field in fields(NodeFacts)}


def created_as(log: Sequence[Event], **changes: Any) -> list[Event]:
    first, *rest = log
    assert isinstance(first.body, RunCreated)
    return [replace(first, body=replace(first.body, **changes)), *rest]


@pytest.mark.parametrize(
    ("changes", "differs"),
    [
        ({"goal": "Another?"}, {"goal"}),
        ({"versions": {"product": "9"}}, {"versions"}),
        ({"run_seed": "another"}, {"seed"}),
    ],
)
def test_goal_versions_and_seed(changes: dict[str, Any], differs: set[str]) -> None:
    log = log_of()
    assert differing_start(compared(log, created_as(log, **changes)).same) == differs


def test_a_run_that_waits_made_no_further_decision() -> None:
    asked = {"b": [fails(failure("domain_closed", domain=MEDICINE))] * 9}
    waits = log_of(script=asked)
    answered = log_of(script=asked, answers=[Answer(choice="abandon")])
    found = compared(waits, answered)
    difference = found.first_difference
    assert difference is not None
    assert difference == FirstDifference(node=n("b"), first=None, second=difference.second)
    assert difference.second is not None
    assert (difference.second.type, difference.second.said) == ("request.answered", {"choice": "abandon"})
    assert not found.outcome_equal


def test_a_restart_is_no_difference() -> None:
    run = Simulation(DRAFT, {})
    while not run.state.counts.active:
        run.step()
    run.take_over()
    run.run()
    assert sum(event.body.type == "attempt.started" for event in run.log) > len(DRAFT.plan.subtasks)
    found = compared(log_of(), run.log)
    assert found.first_difference is None
    assert [node.node for node in found.nodes if node.differs] == []


def test_a_draft_and_a_prefix_can_be_compared_and_a_gap_cannot() -> None:
    log = log_of()
    found = compared(log[:1], log[:2])
    assert (found.first.status, found.second.status, found.nodes) == ("drafting", "reviewing", ())
    with pytest.raises(BrokenLog):
        compared(log, log[1:])


def test_what_was_delivered_is_compared_by_its_digest() -> None:
    log = log_of()
    end = log[-1].body
    assert isinstance(end, RunEnded)
    ends = [
        [*log[:-1], replace(log[-1], body=replace(end, result=ContentDigest(digest)))]
        for digest in ("d1", "d1", "d2")
    ]
    assert compared(ends[0], ends[1]).result_equal
    assert not compared(ends[0], ends[2]).result_equal
    assert not compared(ends[0], ends[2]).equal
    assert not compared(log, log).result_equal, "nothing was delivered"


def test_it_survives_json() -> None:
    found = compared(log_of(), log_of(script={"b": [rejected(failure("structure", blamed="a"))]}))
    assert COMPARISON.validate_python(json.loads(COMPARISON.dump_json(found))) == found
