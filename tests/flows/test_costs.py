"""What a run was estimated at, what it spent, and what the next one is estimated at."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agents.models.langchain import LangChainChat
from agents.models.prices import Price, Prices
from agents.models.recorded import RecordedChat, RecordingChat
from agents.models.scripted import CallTools, Reply, Say, ScriptedChatModel
from agents.spec import ModelPolicy
from graphs.contract import Criterion, PortSpec, TaskContract
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Proposal
from orchestrator.core.state import Spent
from orchestrator.shell.cost_book import COSTS_FILE, CostBook, estimated, learn, read_costs
from orchestrator.shell.settings import Settings
from tests.core.builders import A1, DATABASES, EMBEDDED, ROSTER, agent, plan, proposal, subtask
from tests.flows.stage import ROWS, Stage, set_stage, written
from tests.interfaces.cli.harness import call

QUESTION = "How many rows does the database keep?"
FINISHED = {
    "claims": [{"statement": ROWS, "excerpts": ["E1"], "question": 1}],
    "complete": True,
    "open_questions": [],
}
PRICES = "own:big: {input: 1000, output: 2000}\n"


def draft() -> Proposal:
    thinks = replace(
        agent("A1", {DATABASES: 90}, operations=("research", "report")),
        model_policy=ModelPolicy(kind="model", model="own:big"),
    )
    search = replace(subtask("a", domains={DATABASES: 1.0}), kind="loop", params={"questions": [QUESTION]})
    report = replace(
        subtask("b", operation="report", domains={}),
        kind="function",
        params={"title": "Report", "questions": [QUESTION]},
        outputs=(PortSpec(name="report", type="report"),),
    )
    criterion = Criterion(id="c1", text="Answered.", kind="question_answered", question=QUESTION)
    made = proposal(
        plan("a>b", a=search, b=report),
        roster=replace(ROSTER, agents=(thinks, *EMBEDDED.agents[1:])),
        contract=TaskContract(kind="research", acceptance=(criterion,)),
    )
    return replace(made, grants={A1: ("search_notes", "read_note")})


async def ran(folder: Path, *, prices: Prices, replies: Sequence[Reply] = ()) -> tuple[Stage, RunId]:
    model = ScriptedChatModel.in_order(*(replies or [CallTools(calls=(("finish", FINISHED),))]))
    stage = set_stage(written(folder))
    stage.shop.worker_for = None
    stage.shop.chat_for = lambda _: LangChainChat(model, "own:big", prices=prices)
    run = stage.approved(draft())
    assert (await stage.execute(run)).status == "completed"
    return stage, run


async def test_replies_from_a_recording_are_no_spending_of_today(tmp_path: Path) -> None:
    home = tmp_path / "home"
    settings = Settings(home=home, lang="en")
    model = ScriptedChatModel.in_order(CallTools(calls=(("finish", FINISHED),)))
    paid = Prices(own={"own:big": Price(input=1000.0, output=2000.0)})
    recording = RecordingChat(LangChainChat(model, "own:big", prices=paid), tmp_path / "answers.jsonl")
    spent = []
    for again in (False, True):
        chat = RecordedChat(tmp_path / "answers.jsonl", recording.name) if again else recording
        stage = set_stage(written(tmp_path / "notes"))
        stage.shop.worker_for = None
        stage.shop.chat_for = lambda _, chat=chat: chat  # type: ignore[misc]
        run = stage.approved(draft())
        assert (await stage.execute(run)).status == "completed"
        spent.append(stage.state(run).spent)
    assert (spent[0].calls, spent[0].recorded) == (1, 0)
    assert spent[1] == Spent(recorded=1)
    learn(settings, stage.shop.store, stage.state(run))
    assert read_costs(settings) == CostBook()
    for lang, line in (
        ("en", "a recording stood in for the model (MASKGRAD_REPLAY): 1 calls; nothing was spent for them"),
        ("zh", "由录制代替模型（MASKGRAD_REPLAY）：1 次调用，未产生费用"),
    ):
        assert line in call("show", run, "--lang", lang, home=home, shop=stage.shop).out


@pytest.mark.parametrize("known", [True, False])
async def test_what_was_spent_stands_beside_the_estimate(tmp_path: Path, known: bool) -> None:
    home = tmp_path / "home"
    home.mkdir()
    if known:
        (home / "prices.yaml").write_text(PRICES, encoding="utf-8")
    table = Prices(own={"own:big": Price(input=1000.0, output=2000.0)} if known else {})
    stage, run = await ran(tmp_path / "notes", prices=table)
    spent = stage.state(run).spent
    assert spent.calls == 1
    usd = (spent.input_tokens * 1000 + spent.output_tokens * 2000) / 1_000_000
    shown = call("show", run, home=home, shop=stage.shop)
    told = f"tokens in and out {spent.input_tokens:,} / {spent.output_tokens:,}, "
    last, estimate = shown.out.rstrip().splitlines()[-2:]
    assert last == f"spent: 1 model calls, {told}" + (f"${usd:.4f}" if known else "unknown cost")
    # Four steps: 4 x (800 + 2 x 92) + 6 x 970 in, 4 x 370 out.
    assert estimate == (
        "estimated for the sub-tasks: about 4 model calls, tokens in and out 9,756 / 1,480, "
        + ("$12.7160" if known else "unknown cost")
    )
    document = call("show", run, "--json", home=home, shop=stage.shop).data["spent"]
    assert document["cost_usd"] == (pytest.approx(usd) if known else None)
    review = call("review", run, "--lang", "zh", home=home, shop=stage.shop).out
    wanted = "模型费用：约 $12.7160，至少 $1.7240" if known else "模型费用：未知，没有 own:big 的价格"
    assert wanted in review


async def test_the_next_run_is_estimated_by_what_this_one_spent(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", lang="en")
    stage, run = await ran(tmp_path / "notes", prices=Prices())
    state = stage.state(run)
    learn(settings, stage.shop.store, state)
    before, after = estimated(settings, draft(), run), estimated(settings, draft())
    assert before is not None
    assert after is not None
    assert (before.expected.input, before.expected.output) == (9_756, 1_480), "the run keeps its own estimate"
    assert after.expected.input == pytest.approx(state.spent.input_tokens)
    assert after.expected.output == pytest.approx(state.spent.output_tokens)
    book = read_costs(settings)
    learn(settings, stage.shop.store, state)
    assert read_costs(settings) == book, "a run teaches once"


def test_a_file_that_cannot_be_read_teaches_nothing(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, lang="en")
    (tmp_path / COSTS_FILE).write_text('{"factors": 3', encoding="utf-8")
    assert read_costs(settings).factors == ()
    found = estimated(settings, draft())
    assert found is not None
    assert found.expected.input == 9_756


async def test_a_run_with_a_model_that_ignores_native_tools_is_completed_in_words(tmp_path: Path) -> None:
    """As a small model behind llama.cpp does: `tools` are taken, and nothing but text comes back."""
    finish = json.dumps({"tool": "finish", "arguments": FINISHED})
    replies = (Say(text="It keeps many rows."), Say(text=f"Here it is: {finish}"))
    stage, run = await ran(tmp_path, prices=Prices(), replies=replies)
    assert stage.state(run).status == "completed"
    assert stage.state(run).spent.calls == 2


@pytest.mark.parametrize(
    ("url", "variable", "is_priced"),
    [
        (None, "", True),
        ("https://api.openai.com/v1", "", True),
        ("http://127.0.0.1:9/v1", "", False),
        (None, "http://127.0.0.1:9/v1", False),
    ],
)
def test_a_server_of_ones_own_is_not_estimated_at_the_providers_price(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str | None, variable: str, is_priced: bool
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", variable)
    policy = ModelPolicy(kind="model", model="openai:gpt-5", base_url=url)
    made = draft()
    agents = tuple(replace(a, model_policy=policy) if a.id == A1 else a for a in made.roster.agents)
    elsewhere = replace(made, roster=replace(made.roster, agents=agents))
    found = estimated(Settings(home=tmp_path, lang="en"), elsewhere)
    assert found is not None
    assert (found.expected_usd is not None) is is_priced
    (tmp_path / "prices.yaml").write_text("openai:gpt-5: {input: 0, output: 0}\n", encoding="utf-8")
    own = estimated(Settings(home=tmp_path, lang="en"), elsewhere)
    assert own is not None
    assert own.expected_usd == 0.0
