"""Every difference is said, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from agents.roster import Roster
from graphs.contract import Lang
from graphs.plan import Plan
from masks.bands import Thresholds
from masks.errors import MaskError
from masks.gradient import set_leaf, undo
from orchestrator.core.proposal import PROPOSAL as ADAPTER
from orchestrator.core.proposal import Candidate, Envelope, Proposal, proposal_sha256
from orchestrator.shell.editing.changes import changes_between
from tests.shell.editing.builders import (
    A1,
    A2,
    CLIMATE,
    ENERGY,
    FINANCE,
    N1,
    N2,
    N3,
    PROPOSAL,
    REGISTRY,
    V1,
    agent,
    with_mask,
)
from tests.shell.editing.strategies import proposals, texts


def changes(new: Proposal, lang: Lang = "en", old: Proposal = PROPOSAL) -> tuple[str, ...]:
    found = changes_between(old, new, REGISTRY, lang)
    assert bool(found) == (proposal_sha256(old) != proposal_sha256(new))
    assert all(line == " ".join(line.split()) for line in found), "one line each"
    return found


def test_nothing_changed_is_nothing_said() -> None:
    assert changes(replace(PROPOSAL, revision=9)) == ()


def test_a_long_text_is_shown_where_it_was_changed() -> None:
    same = "How much does it yield in the years to come, counted without the roof and without the yard, "
    old = replace(PROPOSAL, goal=replace(PROPOSAL.goal, text=f"{same}by 2030?"))
    new = replace(PROPOSAL, goal=replace(PROPOSAL.goal, text=f"{same}by 2041?"))
    (line,) = changes(new, old=old)
    # Twenty characters before the first one that differs.
    assert line == '~ goal text: …hout the yard, by 2030?" -> …hout the yard, by 2041?"'


def test_masks_name_both_values_and_both_bands() -> None:
    assert changes(with_mask(PROPOSAL, A1, ENERGY, 50)) == (
        "A1 env.energy 0.95 -> 0.50 (main -> background)",
    )
    assert changes(with_mask(PROPOSAL, V1, CLIMATE, -100)) == (
        "V1 env.climate 0.00 -> -1.00 (silent -> silent)",
    )


def test_the_bands_of_a_mask_follow_the_thresholds_of_each_revision() -> None:
    new = replace(with_mask(PROPOSAL, A1, CLIMATE, 60), thresholds=Thresholds(main=55, background=20))
    assert changes(new) == (
        "A1 env.climate 0.50 -> 0.60 (background -> main)",
        "main threshold 0.70 -> 0.55",
        "background threshold 0.30 -> 0.20",
    )


def test_a_mask_that_came_back_still_has_a_history() -> None:
    first = PROPOSAL.roster.agents[0]
    mask = undo(set_leaf(first.mask, ENERGY, 10, author="u", reason="r"), author="u", reason="r")
    new = replace(PROPOSAL, roster=PROPOSAL.roster.with_agent(replace(first, mask=mask)))
    assert changes(new) == ("A1 mask: history (version 1 -> 3), values as before",)


def test_each_part_has_its_line() -> None:
    report = replace(PROPOSAL.plan.subtasks[2], title="The report")
    new = replace(
        PROPOSAL,
        plan=replace(
            PROPOSAL.plan,
            subtasks=(*PROPOSAL.plan.subtasks[:2], report),
            dependencies=PROPOSAL.plan.dependencies[:1],
        ),
        contract=replace(
            PROPOSAL.contract,
            allow_unresolved=True,
            acceptance=PROPOSAL.contract.acceptance[:1],
            forbidden=("no guessing",),
        ),
        assignment={N1: A1, N2: A1, N3: A1},
        grants={**PROPOSAL.grants, A2: ("read_note",)},
        envelope=Envelope(ceilings={A1: {FINANCE: 35}}, reassign=False),
        agent_thresholds={A2: Thresholds(main=90, background=10)},
        roster=PROPOSAL.roster.with_agent(agent(A1, {ENERGY: 95, CLIMATE: 50}, cap=4)),
    )
    assert changes(new) == (
        "- contract acceptance.c2: " + '{"core":true,"field":null,"id":"c2","kind":"question_answer…',
        '+ contract forbidden: "no guessing"',
        "~ contract allow_unresolved: false -> true",
        "- edge n2.claims -> n3.claims",
        '~ node n3 title: "Report" -> "The report"',
        "~ A1 max_concurrency: 2 -> 4",
        '~ assignment n2: "A2" -> "A1"',
        "+ A2 main threshold 0.90, background threshold 0.10",
        '- grants A2: "search_notes"',
        "envelope ceilings.A1.econ.finance - -> 0.35",
        "~ envelope reassign: true -> false",
    )
    chinese = changes(new, "zh")
    assert len(chinese) == len(changes(new))
    assert '~ 指派 n2："A2" -> "A1"' in chinese
    assert '~ 节点 n3 标题: "Report" -> "The report"' in chinese


def test_agents_come_and_go() -> None:
    new = replace(PROPOSAL, roster=Roster(agents=(*PROPOSAL.roster.agents[1:], agent(A1, {ENERGY: 95}))))
    assert changes(new)[-1] == "~ order of the agents"
    gone = replace(PROPOSAL, roster=Roster(agents=PROPOSAL.roster.agents[1:]))
    assert changes(gone) == ('- agent A1 "A1 does its part."',)
    assert changes(PROPOSAL, old=gone) == (
        '+ agent A1 "A1 does its part."',
        "A1 env.climate 0.00 -> 0.50 (silent -> background)",
        "A1 env.energy 0.00 -> 0.95 (silent -> main)",
    )


def test_an_order_that_changed_is_said() -> None:
    subtasks = PROPOSAL.plan.subtasks
    new = replace(PROPOSAL, plan=replace(PROPOSAL.plan, subtasks=(subtasks[1], subtasks[0], subtasks[2])))
    assert changes(new) == ("~ order of the sub-tasks",)
    edges = replace(PROPOSAL, plan=replace(PROPOSAL.plan, dependencies=PROPOSAL.plan.dependencies[::-1]))
    assert changes(edges) == ("~ order of the dependencies",)


def test_a_rank_that_alone_changed_is_said_and_one_that_follows_is_not() -> None:
    ranked = {N1: (Candidate(agent=A2, fit=0.5, reasons=()),)}
    assert len(changes(replace(PROPOSAL, candidates=ranked))) >= 1
    assert changes(replace(with_mask(PROPOSAL, A1, ENERGY, 50), candidates=ranked)) == changes(
        with_mask(PROPOSAL, A1, ENERGY, 50)
    )


def test_one_as_a_truth_value_is_not_one_as_a_number() -> None:
    def with_param(value: bool | int | float) -> Proposal:
        first = replace(PROPOSAL.plan.subtasks[0], params={"x": value})
        return replace(PROPOSAL, plan=replace(PROPOSAL.plan, subtasks=(first, *PROPOSAL.plan.subtasks[1:])))

    assert changes(with_param(True), old=with_param(1)) != ()
    assert changes(with_param(1.0), old=with_param(1)) != ()


def leaves(document: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    if isinstance(document, Mapping):
        return [leaf for key, value in document.items() for leaf in leaves(value, (*path, key))]
    if isinstance(document, list):
        return [leaf for place, value in enumerate(document) for leaf in leaves(value, (*path, place))]
    return [path]


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(proposals(), st.data(), st.sampled_from(["en", "zh"]))
def test_any_changed_value_is_said(proposal: Proposal, data: st.DataObject, lang: Lang) -> None:
    """Empty exactly when the hashes are equal: one value anywhere in the hashed document is replaced."""
    document = ADAPTER.dump_python(proposal, mode="json")
    path = data.draw(st.sampled_from([leaf for leaf in leaves(document) if leaf[0] != "revision"]))
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = data.draw(texts | st.integers(1, 99) | st.booleans() | st.none())
    try:
        new = ADAPTER.validate_python(document)
    except (ValidationError, MaskError):
        return
    if len({subtask.id for subtask in new.plan.subtasks}) < len(new.plan.subtasks):
        return
    changes(new, lang, proposal)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_plan_without_sub_tasks_can_be_compared(lang: Lang) -> None:
    empty = replace(PROPOSAL, plan=Plan())
    assert len(changes(empty, lang)) == 5
