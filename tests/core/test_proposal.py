"""One hash over everything that is approved, and the room that the approval grants (semantics 5)."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given

from agents.memory.contract import Recalled
from agents.spec import AgentId
from graphs.contract import Ambiguity, Limits
from masks.bands import Thresholds
from masks.design import MaskOrigin, MaskOriginKind
from masks.gradient import set_leaf
from orchestrator.core.proposal import (
    PROPOSAL,
    Candidate,
    Envelope,
    Proposal,
    base_agent,
    canonical_json,
    digest_of,
    proposal_sha256,
    successor_id,
)
from tests.agents.memory.entries import hostile_memory
from tests.core import strategies
from tests.core.builders import A1, A2, CONTRACTS, DATABASES, MEDICINE, ROSTER, n, plan, proposal, subtask

DRAFT = proposal(plan("a>b"))

CHANGES: dict[str, Any] = {
    "goal": replace(DRAFT.goal, text="Why not?"),
    "intent": replace(
        DRAFT.intent, ambiguities=(Ambiguity(id="x", question="?", options=("a",), assumed="a"),)
    ),
    "contract": replace(DRAFT.contract, allow_unresolved=True),
    "plan": plan("a>b b>c"),
    "roster": ROSTER.with_agent(
        replace(
            ROSTER.agents[0],
            mask=set_leaf(ROSTER.agents[0].mask, CONTRACTS, 1, author="user", reason="review"),
        )
    ),
    "assignment": {n("a"): A1, n("b"): A2},
    "thresholds": Thresholds(main=71, background=30),
    "agent_thresholds": {A1: Thresholds(main=71, background=30)},
    "grants": {A1: ("search",)},
    "limits": Limits(max_actions=3),
    "profile": "evaluate",
    "envelope": Envelope(reassign=False),
    "mask_origins": {A1: {DATABASES: MaskOrigin(kind=MaskOriginKind.REQUIRED, relevance=0.5)}},
    "candidates": {n("a"): (Candidate(agent=A2, fit=0.5, reasons=("covers",)),)},
    "notes": ("no pattern fitted",),
    "memories": (Recalled(memory=hostile_memory("Short lists."), score=0.5),),
}


def test_every_part_is_hashed_and_the_revision_is_not() -> None:
    hashes = {proposal_sha256(DRAFT)}
    names = {spec.name for spec in fields(Proposal)} - {"revision"}
    for name in names:
        hashes.add(proposal_sha256(replace(DRAFT, **{name: CHANGES[name]})))
    assert len(hashes) == 1 + len(names), (
        f"the table above lacks one of {names - set(CHANGES)} or one is not hashed"
    )
    assert proposal_sha256(replace(DRAFT, revision=7)) == proposal_sha256(DRAFT)


def test_a_change_and_its_opposite_give_the_earlier_hash() -> None:
    there = replace(DRAFT, revision=2, thresholds=Thresholds(main=80, background=30))
    back = replace(there, revision=3, thresholds=DRAFT.thresholds)
    assert proposal_sha256(there) != proposal_sha256(back) == proposal_sha256(DRAFT)


@given(strategies.proposals(strategies.plans()))
def test_a_proposal_keeps_its_hash_in_its_stored_form(draft: Proposal) -> None:
    stored = json.loads(json.dumps(PROPOSAL.dump_python(draft, mode="json")))
    assert PROPOSAL.validate_python(stored) == draft
    assert proposal_sha256(PROPOSAL.validate_python(stored)) == proposal_sha256(draft)


def test_whole_numbers_in_float_fields_keep_the_hash_in_the_stored_form() -> None:
    work = plan("a>b", a=replace(subtask("a", domains={DATABASES: 1}), estimate=2))
    draft = proposal(work)
    stored = json.loads(json.dumps(PROPOSAL.dump_python(draft, mode="json")))
    assert proposal_sha256(PROPOSAL.validate_python(stored)) == proposal_sha256(draft)


def test_what_came_later_counts_and_hashes_from_before_hold() -> None:
    document = PROPOSAL.dump_python(replace(DRAFT, revision=0), mode="json")
    for agent in document["roster"]["agents"]:
        assert agent["model_policy"].pop("base_url") is None
    assert document.pop("memories") == []
    assert proposal_sha256(DRAFT) == digest_of(document)
    assert PROPOSAL.validate_python(document) == replace(DRAFT, revision=0)
    first, *others = DRAFT.roster.agents
    policy = replace(first.model_policy, base_url="http://127.0.0.1:8091/v1")
    there = replace(
        DRAFT, roster=replace(DRAFT.roster, agents=(replace(first, model_policy=policy), *others))
    )
    assert proposal_sha256(there) != proposal_sha256(DRAFT)


def test_who_a_successor_was_copied_from() -> None:
    first = successor_id(A1, n("n3"), 2)
    assert first == "A1+n3.2"
    assert base_agent(first) == base_agent(successor_id(first, n("n3"), 3)) == base_agent(A1) == A1
    assert successor_id(first, n("n3"), 3) == "A1+n3.3"


def test_a_successor_has_the_room_of_its_agent() -> None:
    draft = replace(
        DRAFT,
        agent_thresholds={A1: Thresholds(main=60, background=20)},
        envelope=Envelope(ceilings={A1: {CONTRACTS: 35}}),
    )
    for name in (A1, AgentId("A1+a.2")):
        assert draft.thresholds_of(name) == Thresholds(main=60, background=20)
        assert draft.ceiling(name, CONTRACTS) == 35
        assert draft.ceiling(name, MEDICINE) == 30, "theta_bg + 0.10"
    assert draft.thresholds_of(A2) == Thresholds()
    assert draft.ceiling(A2, CONTRACTS) == 40
    assert replace(DRAFT, thresholds=Thresholds(main=75, background=70)).ceiling(A2, CONTRACTS) == 75


def test_agents_are_looked_up_by_node() -> None:
    assert DRAFT.agent_of(n("a")) == ROSTER.agents[0]
    with pytest.raises(KeyError):
        DRAFT.agent_of(n("z"))


def test_canonical_json() -> None:
    assert canonical_json({"b": [1, 1.0, True, None], "a": "为"}) == '{"a":"为","b":[1,1.0,true,null]}'
    with pytest.raises(ValueError, match="Out of range"):
        canonical_json(float("nan"))
