"""What a goal and its notes are shown to is said before, in the review, and when nothing came of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agents.models.contract import ModelError, ModelReply, ModelRequest, Usage
from agents.models.errors import RecordAndReplay
from agents.models.ports import Told
from agents.spec import ModelPolicy
from orchestrator.core.ids import RunId
from orchestrator.interfaces.cli.bodies.looking import proposal_of
from orchestrator.shell.chat_models import ChatModels
from orchestrator.shell.editing.checks import check_proposal
from orchestrator.shell.editing.overview import render_review
from orchestrator.shell.runs import load
from orchestrator.shell.wiring import Workshop
from tests.interfaces.cli.harness import call
from tests.interfaces.cli.logs import draft
from tests.interfaces.cli.shops import real_shop, write_notes

URL = "http://127.0.0.1:9/v1"
MODEL = "openai:gpt-5"


class DeadChat:
    """A model that nobody answers for."""

    name = MODEL

    async def complete(self, request: ModelRequest, told: Told | None = None) -> ModelReply:
        """Return that the address could not be reached."""
        del request, told
        return ModelReply(
            outcome=ModelError(error_type="unavailable", message="Connection error.", retryable=True),
            usage=Usage(),
        )


class DeadChats(ChatModels):
    """Opens a dead model, whatever is asked for."""

    def of_policy(self, policy: ModelPolicy) -> DeadChat | None:
        """Return it, or nothing where no model is named."""
        return DeadChat() if policy.model else None


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    shop = real_shop(tmp_path)
    shop.chats = DeadChats({}, tmp_path)
    yield shop
    shop.close()


@pytest.mark.parametrize(
    ("lang", "before", "after"),
    [
        (
            "en",
            f"asking {MODEL} {URL} to plan since ",
            "Nothing usable came of the model's reading",
        ),
        (
            "zh",
            f"起请 {MODEL} {URL} 制定计划；每次调用最多静默 180 秒",
            "模型的目标理解没有可用之处，改用内置规划器",
        ),
    ],
)
def test_a_planner_that_was_not_reached_is_said_when_nobody_sees_the_review(
    tmp_path: Path, shop: Workshop, lang: str, before: str, after: str
) -> None:
    notes = str(write_notes(tmp_path / "notes"))
    options = ("--planner-model", MODEL, "--base-url", URL, "--approve", "--lang", lang)
    called = call("run", "What does the fence cost?", "--sources", notes, *options, home=tmp_path, shop=shop)
    assert called.code in (0, 4), called.err
    said = called.err.splitlines()
    (first,) = [number for number, line in enumerate(said) if before in line]
    assert any(after in line for line in said[first + 1 :]), said[first : first + 2]


def test_the_review_names_who_was_asked_to_plan_and_where(tmp_path: Path, shop: Workshop) -> None:
    notes = str(write_notes(tmp_path / "notes"))
    options = ("--model", "embedded", "--planner-model", MODEL, "--base-url", URL)
    run = call(
        "plan", "What does the fence cost?", "--sources", notes, *options, "--json", home=tmp_path, shop=shop
    ).data["run"]
    assert f"note: asked to plan: {MODEL} at {URL}\n" in call("review", run, home=tmp_path, shop=shop).out
    # It is part of what is approved.
    assert f"asked to plan: {MODEL} at {URL}" in proposal_of(load(shop.store, RunId(run))).notes


def test_the_review_names_what_each_agent_thinks_with_and_where(shop: Workshop) -> None:
    base = draft()
    first, second, checker = base.roster.agents
    policies = (
        ModelPolicy(kind="model", model=MODEL, base_url=URL),
        ModelPolicy(kind="model", model="ollama:qwen3"),
    )
    agents = tuple(replace(a, model_policy=p) for a, p in zip((first, second), policies, strict=True))
    proposal = replace(base, roster=replace(base.roster, agents=(*agents, checker)), profile="debug")

    def shown(chinese: bool) -> str:
        return render_review(
            proposal,
            shop.registry,
            "zh" if chinese else "en",
            run="r-1",
            sha256="ab" * 32,
            findings=check_proposal(proposal, shop.registry),
        )

    english = shown(False)
    assert f"  thinks with: {MODEL} at {URL}\n" in english
    assert "  thinks with: ollama:qwen3\n" in english
    assert english.count("thinks with") == 2
    assert "profile debug" in english
    assert f"  使用模型：{MODEL}，地址 {URL}\n" in shown(True)


def test_recording_and_replay_at_once_are_refused_before_a_file_is_touched(tmp_path: Path) -> None:
    chats = ChatModels(
        {"MASKGRAD_RECORD": str(tmp_path / "a"), "MASKGRAD_REPLAY": str(tmp_path / "b")}, tmp_path
    )
    with pytest.raises(RecordAndReplay, match="accepted: one of them"):
        chats.of_policy(ModelPolicy(kind="model", model="openai:toy"))
    assert not list(tmp_path.iterdir())
