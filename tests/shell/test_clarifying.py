"""A decided point is planned anew, and what the user set in the contract holds on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from agents.memory.contract import Candidate, memory_of
from agents.operations import OPERATIONS
from agents.spec import AgentId, ModelPolicy
from agents.tools.contract import ToolResult, ToolSpec
from graphs.contract import Goal
from orchestrator.core.events import ProposalDrafted, RunCreated
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Proposal, proposal_sha256
from orchestrator.shell.clarifying import clarified
from orchestrator.shell.proposing import ProposalOptions, draft_proposal
from orchestrator.shell.runs import create
from orchestrator.shell.settings import Settings
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.user_terms import options_of
from orchestrator.shell.wiring import Workshop
from tests.agents.memory.in_process import MemoryInProcess
from tests.agents.tools.tool_material import STRING, a_tool
from tests.interfaces.cli.shops import HashedEmbedder, write_notes

NOW = "2026-03-01T12:00:00Z"
VAGUE = "Look at the battery and do something with it"
WITH_MODEL = ProposalOptions(policy=ModelPolicy(kind="model", model="scripted:one"))
FETCH = a_tool("fetch_pages", purpose="Reads web pages.", properties={"url": STRING})
LOOK = a_tool("look_online", purpose="Looks for web pages.", properties={"query": STRING})


@dataclass(frozen=True)
class NeverCalled:
    """A tool that drafting must not call."""

    spec: ToolSpec

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        raise AssertionError(f"called with {arguments}")


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    settings = Settings(home=tmp_path, lang="en")
    return Workshop(
        settings=settings,
        store=SqliteStore(settings.store_path),
        embedder=HashedEmbedder(),
        extra_tools={"fetch_pages": NeverCalled(FETCH), "look_online": NeverCalled(LOOK)},
    )


@pytest.fixture
def goal(tmp_path: Path) -> Goal:
    notes = write_notes(tmp_path / "notes")
    return Goal(text=f"{VAGUE} and read web pages", lang="en", sources=(str(notes),))


def in_review(shop: Workshop, *revisions: Proposal) -> RunId:
    """A run with these revisions, the first drafted, the others saved by the user."""
    run, first = RunId("r-review"), revisions[0]
    created = RunCreated(
        goal=first.goal.text, lang="en", sources=first.goal.sources, run_seed="seed", versions={}
    )
    drafts = [
        ProposalDrafted(
            proposal=replace(one, revision=number),
            sha256=proposal_sha256(one),
            author="planner" if number == 1 else "user",
        )
        for number, one in enumerate(revisions, 1)
    ]
    create(shop.store, shop.clock, run, first.goal.text, [created, *drafts])
    return run


def decided(shop: Workshop, *revisions: Proposal) -> Proposal:
    """The last of the revisions with its first point decided."""
    run, last = in_review(shop, *revisions), revisions[-1]
    point = last.intent.ambiguities[0].id
    return clarified(shop, run, last, point, "extract the capacity of the battery")


def test_what_the_user_set_in_the_contract_holds_on(shop: Workshop, goal: Goal) -> None:
    before = draft_proposal(shop, goal, ProposalOptions())
    contract = replace(before.contract, approval_required=("send_mail",), delta_max=0.01)
    before = replace(before, contract=contract, revision=3)
    after = decided(shop, before)
    assert after.plan != before.plan
    assert (after.contract.approval_required, after.contract.delta_max) == (("send_mail",), 0.01)
    assert after.revision == 3


def test_agents_from_a_catalogue_are_not_designed_away(shop: Workshop, goal: Goal) -> None:
    own = draft_proposal(shop, goal, ProposalOptions()).roster.agents[0]
    mine = replace(own, id=AgentId("mine"), operations=tuple(OPERATIONS))
    before = draft_proposal(shop, goal, ProposalOptions(catalogue=(mine,)))
    assert [agent.id for agent in before.roster.agents if agent.role == "generate"] == ["mine"]
    after = decided(shop, before)
    assert [agent.id for agent in after.roster.agents if agent.role == "generate"] == ["mine"]


def tools_of(proposal: Proposal) -> set[str]:
    """Tools beside those of the operations that a proposal grants to anybody."""
    return {tool for tools in proposal.grants.values() for tool in tools} & {"fetch_pages", "look_online"}


def test_a_tool_that_the_user_took_out_stays_out(shop: Workshop, goal: Goal) -> None:
    before = draft_proposal(shop, goal, WITH_MODEL)
    assert tools_of(before) == {"fetch_pages", "look_online"}, "the goal calls for both"
    without = {
        agent: tuple(tool for tool in tools if tool != "fetch_pages")
        for agent, tools in before.grants.items()
    }
    after = decided(shop, before, replace(before, grants=without))
    assert tools_of(after) == {"look_online"}
    assert [note for note in after.notes if "fetch_pages" in note] == [
        "tool not granted: fetch_pages: the goal calls for it, the proposal that this one follows does not grant it"
    ]


def test_tools_are_granted_as_the_goal_says_where_no_agent_could_have_had_one(
    shop: Workshop, goal: Goal
) -> None:
    embedded = draft_proposal(shop, goal, ProposalOptions())
    assert tools_of(embedded) == set()
    options = options_of(shop, in_review(shop, embedded), embedded, ())
    again = draft_proposal(shop, goal, replace(options, policy=WITH_MODEL.policy))
    assert tools_of(again) == {"fetch_pages", "look_online"}


def test_memories_that_the_user_took_out_stay_out(shop: Workshop, goal: Goal) -> None:
    memory = shop.memory = MemoryInProcess(lambda: NOW)
    for text in ("Answer in short sentences.", "Name the page."):
        candidate = Candidate(
            kind="preference", text=text, lang="en", origin="user", taint="trusted", confirmed_by="user"
        )
        memory.remember(memory_of(candidate, NOW))
    before = draft_proposal(shop, goal, WITH_MODEL)
    assert len(before.memories) == 2
    assert decided(shop, before, replace(before, memories=())).memories == ()


def test_what_nobody_recalled_so_far_is_recalled(shop: Workshop, goal: Goal) -> None:
    memory = shop.memory = MemoryInProcess(lambda: NOW)
    before = draft_proposal(shop, goal, WITH_MODEL)
    assert before.memories == ()
    candidate = Candidate(
        kind="preference",
        text="Name the page.",
        lang="en",
        origin="user",
        taint="trusted",
        confirmed_by="user",
    )
    memory.remember(memory_of(candidate, NOW))
    assert [each.memory.text for each in decided(shop, before).memories] == ["Name the page."]
