"""A decided point is planned anew, and what the user set in the contract holds on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agents.operations import OPERATIONS
from agents.spec import AgentId
from graphs.contract import Goal
from orchestrator.shell.clarifying import clarified
from orchestrator.shell.proposing import ProposalOptions, draft_proposal
from orchestrator.shell.settings import Settings
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.wiring import Workshop
from tests.interfaces.cli.shops import HashedEmbedder, write_notes


def test_what_the_user_set_in_the_contract_holds_on(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, lang="en")
    shop = Workshop(settings=settings, store=SqliteStore(settings.store_path), embedder=HashedEmbedder())
    notes = write_notes(tmp_path / "notes")
    goal = Goal(text="Look at the battery and do something with it", lang="en", sources=(str(notes),))
    before = draft_proposal(shop, goal, ProposalOptions())
    contract = replace(before.contract, approval_required=("send_mail",), delta_max=0.01)
    before = replace(before, contract=contract, revision=3)
    after = clarified(shop, before, before.intent.ambiguities[0].id, "extract the capacity of the battery")
    assert after.plan != before.plan
    assert (after.contract.approval_required, after.contract.delta_max) == (("send_mail",), 0.01)
    assert after.revision == 3


def test_agents_from_a_catalogue_are_not_designed_away(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, lang="en")
    shop = Workshop(settings=settings, store=SqliteStore(settings.store_path), embedder=HashedEmbedder())
    notes = write_notes(tmp_path / "notes")
    goal = Goal(text="Look at the battery and do something with it", lang="en", sources=(str(notes),))
    own = draft_proposal(shop, goal, ProposalOptions()).roster.agents[0]
    mine = replace(own, id=AgentId("mine"), operations=tuple(OPERATIONS))
    before = draft_proposal(shop, goal, ProposalOptions(catalogue=(mine,)))
    assert [agent.id for agent in before.roster.agents if agent.role == "generate"] == ["mine"]
    after = clarified(shop, before, before.intent.ambiguities[0].id, "extract the capacity of the battery")
    assert [agent.id for agent in after.roster.agents if agent.role == "generate"] == ["mine"]
