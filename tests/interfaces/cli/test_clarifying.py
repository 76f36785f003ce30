"""Decide what a goal leaves open: by number or in words, with every change shown and nothing approved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.models.langchain import LangChainChat
from agents.models.ports import ChatPort
from agents.models.scripted import SayJson, ScriptedChatModel
from agents.spec import ModelPolicy
from orchestrator.core.events import ProposalDrafted
from orchestrator.interfaces.cli.bodies.looking import proposal_of
from orchestrator.shell.chat_models import ChatModels
from orchestrator.shell.clarifying import answer_of, clarified, clarified_by
from orchestrator.shell.runs import events_of, load
from orchestrator.shell.settings import Settings
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.wiring import Workshop
from tests.agents.planning.embedded_planner import EmbeddedPlanner
from tests.agents.planning.model.script import told
from tests.interfaces.cli.harness import Called, call
from tests.interfaces.cli.shops import HashedEmbedder, write_notes

GOAL = "Compare the battery system and the fence. Do not use legal knowledge."


class Review:
    """A home with one run in review, whose goal leaves one point open."""

    def __init__(self, home: Path) -> None:
        self.home = home
        settings = Settings(home=home, lang="en")
        self.shop = Workshop(
            settings=settings, store=SqliteStore(settings.store_path), embedder=HashedEmbedder()
        )
        notes = write_notes(home / "notes")
        drafted = self.call("plan", GOAL, "--sources", str(notes), "--forbid", "med.clinical", "--json")
        self.run = drafted.data["run"]

    def call(self, *argv: str) -> Called:
        return call(*argv, home=self.home, shop=self.shop)

    def aspects(self) -> list[str]:
        proposal = proposal_of(load(self.shop.store, self.run))
        compare = next(s for s in proposal.plan.subtasks if s.operation == "compare")
        return list(compare.params["aspects"])  # type: ignore[arg-type]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Review]:
    home = tmp_path / "home"
    home.mkdir()
    found = Review(home)
    yield found
    found.shop.store.close()


def test_a_point_is_decided_in_words_and_the_next_revision_shows_what_changed(desk: Review) -> None:
    review = desk.call("review", desk.run).out
    assert f"decide with: maskgrad clarify {desk.run} a1 NUMBER, or --text TEXT" in review
    called = desk.call("clarify", desk.run, "a1", "--text", "cost and  height", "--json")
    assert called.code == 0, called.err
    assert called.data["saved"] is True
    assert any("node n1 params" in line for line in called.data["changes"])
    assert any("ambiguities.a1.assumed" in line for line in called.data["changes"])
    assert desk.aspects() == ["cost", "height"]
    state = load(desk.shop.store, desk.run)
    proposal = proposal_of(state)
    assert (state.status, proposal.revision) == ("reviewing", 2)
    assert set(proposal.contract.forbidden) == {"domain:law", "domain:med.clinical"}
    assert [event.body.type for event in events_of(desk.shop.store, desk.run)].count("proposal.approved") == 0
    assert (
        "decided: On which aspects are they to be compared? cost and height"
        in desk.call("review", desk.run).out
    )


def test_a_number_confirms_a_reading_and_dry_run_saves_nothing(desk: Review) -> None:
    before = desk.aspects()
    assert desk.call("clarify", desk.run, "a1", "1", "--dry-run", "--json").data["saved"] is False
    assert proposal_of(load(desk.shop.store, desk.run)).revision == 1
    assert desk.call("clarify", desk.run, "a1", "1").code == 0
    assert desk.aspects() == before
    after = proposal_of(load(desk.shop.store, desk.run))
    assert all(c.core for c in after.contract.acceptance if c.kind == "field_filled")
    again = desk.call("clarify", desk.run, "a1", "1", "--json")
    assert again.data["saved"] is False


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (("a9", "1"), "unknown_point", "it has: a1: On which aspects"),
        (("a1", "3"), "unknown_point", "1: "),
        (("a1", "x"), "unknown_point", "or your words: --text TEXT"),
        (("a1", "2"), "decision_needs_words", "say it in your words with --text"),
        (("a1",), "one_answer", "either a NUMBER or --text TEXT"),
        (("a1", "1", "--text", "cost"), "one_answer", "either a NUMBER or --text TEXT"),
        (("a1", "--text", "  "), "one_answer", "either a NUMBER or --text TEXT"),
    ],
)
def test_what_decides_nothing_is_refused_with_what_is_accepted(
    desk: Review, argv: tuple[str, ...], code: str, said: str
) -> None:
    called = desk.call("clarify", desk.run, *argv, "--json")
    assert called.code == 2
    assert called.error["code"] == code
    assert said in called.error["message"]
    chinese = desk.call("--lang", "zh", "clarify", desk.run, *argv)
    assert any("\u4e00" <= character <= "\u9fff" for character in chinese.err)
    assert proposal_of(load(desk.shop.store, desk.run)).revision == 1


def test_outside_of_a_review_nothing_is_decided(desk: Review) -> None:
    assert desk.call("reject", desk.run).code == 0
    assert desk.call("clarify", desk.run, "a1", "1", "--json").error["code"] == "wrong_state"


async def test_any_planner_plans_with_the_decision(desk: Review) -> None:
    proposal = proposal_of(load(desk.shop.store, desk.run))
    answer = answer_of(proposal, "a1", "1")
    own = clarified(desk.shop, desk.run, proposal, "a1", answer)
    ported = await clarified_by(desk.shop, desk.run, proposal, "a1", answer, EmbeddedPlanner())
    assert ported.proposal == own
    assert own.intent.ambiguities[0].settled


class ScriptedChats(ChatModels):
    """Opens one scripted model, whatever is named."""

    def __init__(self, home: Path, model: ScriptedChatModel) -> None:
        super().__init__({}, home)
        self._chat = LangChainChat(model, "scripted:model")

    def of_policy(self, policy: ModelPolicy) -> ChatPort | None:
        return self._chat if policy.model else None


def test_a_point_that_a_model_saw_is_planned_by_the_model_under_the_users_answer(desk: Review) -> None:
    plan = SayJson(
        data={
            "steps": [
                {
                    "id": "t1",
                    "operation": "research",
                    "title": "Cost",
                    "questions": ["What does the fence cost?"],
                }
            ]
        }
    )
    point = {"question": "Which fence?", "options": ["the old one", "the new one"], "assumed": "the old one"}
    model = ScriptedChatModel.in_order(
        SayJson(data={"objective": "Know the cost.", "ambiguities": [point]}),
        plan,
        SayJson(data={"objective": "Know the cost of the new fence.", "ambiguities": [point]}),
        plan,
    )
    desk.shop.chats = ScriptedChats(desk.home, model)
    notes = str(desk.home / "notes")
    goal = "What does the fence cost?"
    named = ("--planner-model", "scripted:model")
    run = desk.call("plan", goal, "--sources", notes, *named, "--json").data["run"]
    called = desk.call("clarify", run, "a1", "2", *named, "--json")
    assert called.code == 0, called.err
    assert "- the user decided: Which fence? the new one" in told(model, 2)
    state = load(desk.shop.store, run)
    intent = proposal_of(state).intent
    assert intent.objective == "Know the cost of the new fence."
    assert [(a.question, a.settled, a.assumed) for a in intent.ambiguities] == [
        ("Which fence?", True, "the new one")
    ]
    drafted = [e.body for e in events_of(desk.shop.store, run) if isinstance(e.body, ProposalDrafted)]
    assert [len(body.usage) for body in drafted] == [2, 2]
