from pathlib import Path

import pytest

from agents.models.langchain import LangChainChat
from agents.models.scripted import Say, SayJson, ScriptedChatModel
from agents.planning.model.planner import ModelPlanner
from graphs.contract import Goal
from orchestrator.core.proposal import proposal_sha256
from orchestrator.shell.editing.checks import check_proposal
from orchestrator.shell.proposing import ProposalOptions, draft_proposal, propose
from orchestrator.shell.settings import Settings
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.wiring import Workshop
from tests.agents.planning.embedded_planner import EmbeddedPlanner
from tests.interfaces.cli.shops import HashedEmbedder, write_notes

TEXT = "What does the battery system cost? How far apart must containers stand?"


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    settings = Settings(home=tmp_path / "home", lang="en")
    return Workshop(settings=settings, store=SqliteStore(settings.store_path), embedder=HashedEmbedder())


@pytest.fixture
def goal(tmp_path: Path) -> Goal:
    return Goal(text=TEXT, lang="en", sources=(str(write_notes(tmp_path / "notes")),))


async def test_the_embedded_planner_behind_the_port_gives_the_same_proposal(
    shop: Workshop, goal: Goal
) -> None:
    options = ProposalOptions(allow_unresolved=True)
    ported = await propose(shop, goal, options, EmbeddedPlanner())
    assert proposal_sha256(ported.proposal) == proposal_sha256(draft_proposal(shop, goal, options))


async def test_a_models_plan_gets_roster_masks_and_grants_by_code(shop: Workshop, goal: Goal) -> None:
    questions = TEXT.replace("? ", "?\n").splitlines()
    model = ScriptedChatModel.in_order(
        SayJson(data={"objective": "Know cost and distance."}),
        SayJson(
            data={
                "steps": [
                    {
                        "id": "t1",
                        "operation": "research",
                        "title": "Cost",
                        "questions": questions[:1],
                        "tools": ["rm"],
                    },
                    {"id": "t2", "operation": "research", "title": "Distance", "questions": questions[1:]},
                ],
                "grants": {"A1": ["write_file"]},
            }
        ),
    )
    planner = ModelPlanner(LangChainChat(model, "scripted:model"))
    proposal = (await propose(shop, goal, ProposalOptions(), planner)).proposal
    assert [s.title for s in proposal.plan.subtasks] == ["Cost", "Distance", "Merge the answers", "Report"]
    assert check_proposal(proposal, shop.registry).errors == ()
    assert {tool for tools in proposal.grants.values() for tool in tools} == {"search_notes", "read_note"}
    assert set(proposal.assignment) == {s.id for s in proposal.plan.subtasks}
    # What the notes say of themselves stands behind what was repaired, as it always does.
    assert any(note.startswith("not read: picture.md") for note in proposal.notes)


async def test_repairs_stand_first_among_the_notes(shop: Workshop, goal: Goal) -> None:
    model = ScriptedChatModel.in_order(*(Say(text="?") for _ in range(6)))
    proposed = await propose(
        shop, goal, ProposalOptions(), ModelPlanner(LangChainChat(model, "scripted:model"))
    )
    proposal = proposed.proposal
    assert len(proposed.usage) == len(model.requests)
    # Answers that were alike are told of once: of the reading of the goal and of the plan, asked again and given up.
    begins = (
        "Repaired: the model's reading",
        "Nothing usable came of the model's reading",
        "Repaired: the model's plan",
        "Nothing usable came of the model's plan",
    )
    assert all(note.startswith(begin) for note, begin in zip(proposal.notes, begins, strict=False))
    assert len(proposal.notes) > 4
    assert not any(note.startswith(("Repaired: ", "Nothing usable")) for note in proposal.notes[4:])
