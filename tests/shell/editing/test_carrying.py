"""What an edit leaves as it was, and what follows from it."""

from __future__ import annotations

from dataclasses import replace

from agents.roster import Roster
from graphs.contract import TaskContract
from masks.bands import Thresholds
from masks.design import MaskOrigin, MaskOriginKind
from orchestrator.core.proposal import Candidate
from orchestrator.shell.editing.carrying import (
    carry_candidates,
    carry_origins,
    newly_forbidden,
    suppress_forbidden,
)
from tests.shell.editing.builders import (
    A1,
    A2,
    CLIMATE,
    ENERGY,
    FINANCE,
    N1,
    N2,
    N3,
    PLAN,
    PROPOSAL,
    REGISTRY,
    V1,
    with_mask,
)


def test_a_group_is_forbidden_leaf_by_leaf() -> None:
    old, new = (
        TaskContract(kind="x", forbidden=f) for f in (("domain:env.energy",), ("domain:env", "words"))
    )
    expected = set(REGISTRY.leaves_under(REGISTRY.get(ENERGY).parent or ENERGY)) - {ENERGY}
    assert newly_forbidden(old, new, REGISTRY) == expected
    assert newly_forbidden(new, old, REGISTRY) == frozenset()


def test_prohibitions_that_were_there_change_no_mask() -> None:
    contract = replace(PROPOSAL.contract, forbidden=("domain:env.climate",))
    base = replace(PROPOSAL, contract=contract)
    assert suppress_forbidden(base.roster, base, contract, REGISTRY) is base.roster


def test_a_value_that_the_edit_set_against_a_new_prohibition_is_left_for_the_checks() -> None:
    contract = replace(PROPOSAL.contract, forbidden=("domain:env.climate",))
    edited = with_mask(PROPOSAL, A1, CLIMATE, 80).roster
    found = suppress_forbidden(edited, PROPOSAL, contract, REGISTRY)
    assert [agent.mask.value(CLIMATE) for agent in found.agents] == [80, -100, -100]
    assert [agent.mask.changes[-1].author for agent in found.agents[1:]] == ["user", "user"]


def test_origins_follow_the_agents() -> None:
    gone = replace(PROPOSAL, roster=Roster(agents=PROPOSAL.roster.agents[1:]))
    assert carry_origins(PROPOSAL, gone, REGISTRY) == {}
    assert carry_origins(PROPOSAL, PROPOSAL, REGISTRY) == PROPOSAL.mask_origins
    changed = carry_origins(PROPOSAL, with_mask(PROPOSAL, V1, FINANCE, 10), REGISTRY)
    assert changed == {**PROPOSAL.mask_origins, V1: {FINANCE: MaskOrigin(kind=MaskOriginKind.USER)}}


def test_candidates_are_ranked_anew_where_the_edit_can_have_moved_them() -> None:
    kept = carry_candidates(PROPOSAL, replace(PROPOSAL, notes=("x",)))
    assert kept == PROPOSAL.candidates
    title = replace(PLAN.subtasks[1], title="Other")
    only_one = replace(PROPOSAL, plan=replace(PLAN, subtasks=(PLAN.subtasks[0], title, PLAN.subtasks[2])))
    assert carry_candidates(PROPOSAL, only_one).keys() == {N1, N2}
    every = carry_candidates(PROPOSAL, replace(PROPOSAL, thresholds=Thresholds(main=85, background=30)))
    assert every.keys() == {N1, N2, N3}
    # A2 has energy at 0.80: background under the new thresholds, weight (80 - 30) / (100 - 30).
    assert [(c.agent, c.fit) for c in every[N1]] == [(A1, 1.0), (A2, round(50 / 70, 4))]
    without = replace(PROPOSAL, plan=replace(PLAN, subtasks=PLAN.subtasks[1:]))
    assert N1 not in carry_candidates(PROPOSAL, without)


def test_reasons_are_in_the_language_of_the_goal() -> None:
    chinese = replace(PROPOSAL, goal=replace(PROPOSAL.goal, lang="zh"))
    (first, *_) = carry_candidates(chinese, with_mask(chinese, A1, ENERGY, 90))[N1]
    assert first == Candidate(agent=A1, fit=1.0, reasons=first.reasons)
    assert first.reasons[0] == "能执行 'research'"
