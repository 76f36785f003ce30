"""What was changed about a delivered plan is offered at the next similar goal, and taken over where it fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from graphs.edits import AddNode, UpdateNode
from graphs.plan import NodeId
from masks.domains import DomainId
from orchestrator.core.ids import RunId
from orchestrator.interfaces.cli.bodies.looking import proposal_of
from orchestrator.shell.plan_templates import similar_template, template_of
from orchestrator.shell.runs import load
from orchestrator.shell.settings import Settings
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.template_applying import apply_template
from orchestrator.shell.wiring import Workshop
from tests.interfaces.cli.harness import Called, call
from tests.interfaces.cli.shops import HashedEmbedder, write_notes

GOAL = "What does the battery system cost?"
NEXT = "What does the fence cost?"


class Alike:
    """Finds every two texts alike."""

    name = "alike"
    version = "0"
    dimension = 2

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the same vector for each."""
        return np.ones((len(texts), 2), dtype=np.float32)


class Home:
    """A home with one delivered run whose report was renamed and whose mask was changed before it was approved."""

    def __init__(self, home: Path) -> None:
        self.home = home
        settings = Settings(home=home, lang="en")
        self.shop = Workshop(
            settings=settings, store=SqliteStore(settings.store_path), embedder=HashedEmbedder()
        )
        self.notes = str(write_notes(home / "notes"))
        self.run = self.plan(GOAL).data["run"]

    def call(self, *argv: str) -> Called:
        return call(*argv, home=self.home, shop=self.shop)

    def plan(self, goal: str, *argv: str) -> Called:
        return self.call("plan", goal, "--sources", self.notes, *argv, "--json")

    def change_and_deliver(self) -> None:
        set_one = self.call("masks", "set", self.run, "A1", "life.sport", "0.5")
        assert set_one.code == 0, set_one.err
        text = self.call("export", self.run, "--format", "yaml").out
        report = proposal_of(load(self.shop.store, RunId(self.run))).plan.subtasks[-1]
        assert text.count(f"title: {report.title}\n") == 1
        file = self.home / "edited.yaml"
        file.write_text(text.replace(f"title: {report.title}\n", "title: Cost sheet\n"), encoding="utf-8")
        edited = self.call("edit", self.run, "--from", str(file))
        assert edited.code == 0, edited.err
        self.deliver()

    def deliver(self) -> None:
        assert self.call("run", self.run, "--approve").code in (0, 4)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    path = tmp_path / "home"
    path.mkdir()
    found = Home(path)
    yield found
    found.shop.store.close()


def test_a_template_holds_what_the_user_changed_as_edits(home: Home) -> None:
    assert template_of(home.shop.store, RunId(home.run)) is None
    home.change_and_deliver()
    template = template_of(home.shop.store, RunId(home.run))
    assert template is not None
    assert template.goal == GOAL
    assert template.kind == "research"
    assert template.outcome in ("completed", "partial")
    (edit,) = template.edits
    assert isinstance(edit, UpdateNode)
    assert edit.title == "Cost sheet"
    assert [(m.agent.id, m.domain, m.old, m.new) for m in template.masks] == [
        ("A1", DomainId("life.sport"), 0, 50)
    ]


def test_a_plan_that_was_approved_as_drafted_gives_none(home: Home) -> None:
    home.deliver()
    assert template_of(home.shop.store, RunId(home.run)) is None
    assert home.plan(GOAL).data.get("template") is None


def test_it_is_offered_at_a_similar_goal_and_at_no_other(home: Home) -> None:
    home.change_and_deliver()
    again = home.plan(GOAL)
    assert again.data["template"] == home.run
    shown = home.call("plan", GOAL, "--sources", home.notes)
    assert f"--template {home.run}" in shown.err
    assert home.plan("泵房的造价是多少？").data.get("template") is None
    store = home.shop.store
    # Two of the four words of both goals are the same, and the embedder finds them alike: (2/4 + 1) / 2.
    found = similar_template(store, Alike(), NEXT)
    assert found is not None
    assert found.run == home.run
    assert similar_template(store, Alike(), "How far apart must containers stand?") is None
    assert similar_template(store, Alike(), GOAL, but=RunId(home.run)) is None


def test_it_is_taken_over_where_it_fits_and_the_rest_is_listed(home: Home) -> None:
    home.change_and_deliver()
    called = home.call("plan", NEXT, "--sources", home.notes, "--template", home.run)
    assert called.code == 0, called.err
    assert "revision 1 is the plan without them" in called.err
    run = home.call("runs", "--json").data
    newest = (run if isinstance(run, list) else run["runs"])[0]["run"]
    state = load(home.shop.store, RunId(newest))
    proposal = proposal_of(state)
    assert (state.status, proposal.revision) == ("reviewing", 2)
    assert proposal.plan.subtasks[-1].title == "Cost sheet"
    assert proposal.goal.text == NEXT
    before = proposal_of(load(home.shop.store, RunId(home.run))).roster.agents[0]
    agent = proposal.roster.agents[0]
    assert (agent.id, agent.responsibility != before.responsibility) == (before.id, True), "another agent"
    assert agent.mask.value(DomainId("life.sport")) == 0
    assert "does not fit this goal:\n  A1 life.sport 0.00 -> 0.50\n" in called.err


def test_an_edit_of_what_the_new_plan_says_otherwise_does_not_fit(home: Home) -> None:
    home.change_and_deliver()
    template = template_of(home.shop.store, RunId(home.run))
    assert template is not None
    drafted = template.drafted
    applied = apply_template(template, drafted, home.shop.registry)
    assert applied.misfits == ()
    assert applied.proposal.plan.subtasks[-1].title == "Cost sheet"
    twice = apply_template(template, applied.proposal, home.shop.registry)
    assert twice.proposal.plan == applied.proposal.plan
    assert [line.split()[0] for line in twice.misfits] == ["~", "A1"]
    assert '"Cost sheet"' in twice.misfits[0]


def test_edits_that_would_leave_an_error_are_not_taken_over_and_masks_all_the_same(home: Home) -> None:
    home.change_and_deliver()
    template = template_of(home.shop.store, RunId(home.run))
    assert template is not None
    drafted = template.drafted
    stray = replace(drafted.plan.subtasks[0], id=NodeId("x1"), acceptance=("q99",))
    broken = replace(template, edits=(*template.edits, AddNode(subtask=stray)))
    applied = apply_template(broken, drafted, home.shop.registry)
    assert applied.proposal.plan == drafted.plan
    assert [line[:8] for line in applied.misfits] == ["~ node n", "+ node x"]
    assert applied.proposal.roster.agents[0].mask.value(DomainId("life.sport")) == 50


def test_a_run_that_gives_no_template_is_refused_before_anything_is_drafted(home: Home) -> None:
    before = home.shop.store.runs()
    for run in (home.run, "r-nosuch"):
        called = home.plan(NEXT, "--template", run)
        assert called.error["code"] == ("no_template" if run == home.run else "run_unknown")
        assert called.code == 2
    assert home.shop.store.runs() == before


def test_why_a_run_gives_no_template_is_said(home: Home) -> None:
    def refusal(*argv: str) -> str:
        said = home.plan(NEXT, "--template", home.run, *argv).error["message"]
        assert isinstance(said, str)
        return said

    assert "it was never approved; accepted:" in refusal()
    home.deliver()
    assert "no sub-task, assignment, criterion or mask value of its draft was changed" in refusal()
    assert "其草稿的子任务、分配、验收条件与蒙版值均未改动" in refusal("--lang", "zh")


def test_one_change_is_one_change(home: Home) -> None:
    assert home.call("masks", "set", home.run, "A1", "life.sport", "0.5").code == 0
    home.deliver()
    called = home.call("plan", GOAL, "--sources", home.notes, "--template", home.run)
    assert f"taken over from {home.run}: 1 change; revision 1" in called.err
