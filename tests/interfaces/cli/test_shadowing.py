"""`run --shadow`: the run's result first and as without it, the shadow named, Ctrl-C for both."""

from __future__ import annotations

import asyncio
import io
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from agents.models.contract import ModelReply, ModelRequest
from agents.models.embedders import CachedEmbedder, UseEmbedder
from agents.models.langchain import LangChainChat
from agents.models.ports import ChatPort, Told
from agents.models.scripted import CallTools, Fail, Reply, SayJson, ScriptedChatModel
from agents.spec import AgentSpec, ModelPolicy
from agents.workers.embedded.registry import EmbeddedWorker
from agents.workers.model import ModelWorker
from agents.workers.ports import Worker
from agents.workers.scripted import ScriptedWorker
from graphs.plan import NodeId
from masks.ports import Embedder
from orchestrator.core.ids import RunId
from orchestrator.interfaces.cli.app import run_command
from orchestrator.interfaces.cli.exit_codes import ExitCode
from orchestrator.interfaces.cli.streams import Streams
from orchestrator.shell.chat_models import ChatModels
from orchestrator.shell.runs import load
from orchestrator.shell.wiring import Workshop
from tests.flows.stage import EVERY
from tests.interfaces.cli.harness import Called, call
from tests.interfaces.cli.shops import never, real_shop, write_notes

GOAL = "What does the fence cost?"
SAYS = "The fence costs €40,000."
NAMED = ("--shadow", "--model", "scripted:model")
PLANNED = (
    SayJson(data={"objective": "Know the cost.", "ambiguities": []}),
    SayJson(
        data={"steps": [{"id": "t1", "operation": "research", "title": "Cost", "questions": [GOAL]}]},
    ),
)
FOUND = CallTools(
    calls=(
        (
            "finish",
            {
                "claims": [{"statement": SAYS, "excerpts": ["E2"], "question": 1}],
                "complete": True,
                "open_questions": [],
            },
        ),
    )
)


class OneChat(ChatModels):
    """Opens one model, whatever is named."""

    def __init__(self, home: Path, chat: ChatPort) -> None:
        super().__init__({}, home)
        self._chat = chat

    def of_policy(self, policy: ModelPolicy) -> ChatPort | None:
        return self._chat if policy.model else None


class Desk:
    """A home with notes, and a workshop whose model is given."""

    embedder: ClassVar[Embedder | None] = None

    def __init__(self, home: Path, chat: ChatPort) -> None:
        self.home = home
        self.notes = home / "notes"
        if not self.notes.is_dir():
            write_notes(self.notes)
        self.shop: Workshop = real_shop(home)
        assert self.embedder is not None, "the fixture of this module made it"
        self.shop.embedder = self.embedder
        self.shop.chats = OneChat(home, chat)
        self.shop.chat_for = self.shop.chats.of_agent

    def call(self, *argv: str) -> Called:
        return call(*argv, home=self.home, shop=self.shop)

    def run(self, *options: str) -> Called:
        return self.call("run", GOAL, "--sources", str(self.notes), "--approve", *options)

    def shadows(self) -> list[str]:
        rows = self.call("runs", "--json").data["runs"]
        return [row["run"] for row in rows if row["shadow_of"]]


@pytest.fixture(autouse=True, scope="module")
def _embedder() -> Iterator[None]:
    """The product's own, loaded once for all workshops here."""
    Desk.embedder = CachedEmbedder(UseEmbedder())
    yield
    Desk.embedder = None


def scripted(*replies: Reply) -> ChatPort:
    return LangChainChat(ScriptedChatModel.in_order(*replies), "scripted:model")


def test_the_run_is_as_without_and_the_shadow_is_named_everywhere(tmp_path: Path) -> None:
    desk = Desk(tmp_path, scripted(*PLANNED, FOUND))
    called = desk.run(*NAMED, "--json")
    assert called.code == ExitCode.DONE, called.err
    run = called.data["run"]
    assert (called.data["shadow_of"], called.data["spent"]["calls"]) == (None, 0)
    (beside,) = desk.shadows()
    assert f"Compare them: maskgrad compare {run} {beside}" in called.err
    state = load(desk.shop.store, RunId(beside))
    assert (state.status, state.shadow_of, state.spent.calls) == ("completed", run, 3)
    shown = desk.call("show", beside)
    assert f"completed (shadow of {run})" in shown.out
    assert f"（{run} 的影子）" in desk.call("runs", "--lang", "zh").out
    compared = desk.call("compare", run, beside).out
    assert f"(shadow of {run})" in compared
    assert "profile: A | B: production | evaluate" in compared
    assert "  A1 the embedded default | scripted:model" in compared
    chinese = desk.call("compare", run, beside, "--lang", "zh").out
    assert "  A1 内置方式 | scripted:model" in chinese


def test_a_shadow_whose_model_breaks_changes_no_exit_code(tmp_path: Path) -> None:
    desk = Desk(tmp_path, scripted(Fail(error=RuntimeError("broken")), Fail(error=RuntimeError("broken"))))
    called = desk.run(*NAMED)
    assert called.code == ExitCode.DONE, called.err
    assert SAYS in called.out
    assert "its shadow r-" in called.err


class Interrupting:
    """Presses Ctrl-C when the `n`-th call comes, and never answers it."""

    name = "scripted:model"

    def __init__(self, first: ChatPort, calls: int) -> None:
        self._first = first
        self._left = calls

    async def complete(self, request: ModelRequest, told: Told | None = None) -> ModelReply:
        self._left -= 1
        if self._left >= 0:
            return await self._first.complete(request, told)
        signal.raise_signal(signal.SIGINT)
        await asyncio.Event().wait()
        raise AssertionError("nobody answers")


def test_ctrl_c_ends_both_and_both_go_on(tmp_path: Path) -> None:
    desk = Desk(tmp_path, Interrupting(scripted(*PLANNED), 2))
    waits = ScriptedWorker({(NodeId(name), EVERY): never for name in ("n1", "n2", "n3")})

    def worker_for(agent: AgentSpec) -> Worker:
        if agent.model_policy.kind == "model":
            return ModelWorker(desk.shop.registry, functions=EmbeddedWorker())
        return waits

    desk.shop.worker_for = worker_for
    called = desk.run(*NAMED, "--json")
    assert called.code == ExitCode.INTERRUPTED
    run = called.data["run"]
    (beside,) = desk.shadows()
    assert f"Go on with: maskgrad resume {beside}" in called.err
    again = Desk(tmp_path, scripted(FOUND))
    assert again.call("resume", run).code == ExitCode.DONE
    assert again.call("resume", beside).code == ExitCode.DONE


def test_the_result_is_written_before_a_slow_shadow_ends(tmp_path: Path) -> None:
    """The model answers once the result is there: a command that waited for its shadow would never end."""
    out = io.StringIO()

    class AfterTheResult:
        name = "scripted:model"

        async def complete(self, request: ModelRequest, told: Told | None = None) -> ModelReply:
            del request, told
            while SAYS not in out.getvalue():
                await asyncio.sleep(0)
            signal.raise_signal(signal.SIGINT)
            await asyncio.Event().wait()
            raise AssertionError("nobody answers")

    desk = Desk(tmp_path, AfterTheResult())
    argv = ("run", GOAL, "--sources", str(desk.notes), "--approve", *NAMED)
    err = io.StringIO()
    settings = {"MASKGRAD_HOME": str(tmp_path), "MASKGRAD_LANG": "en"}
    code = run_command(argv, settings, Streams(out, err, io.StringIO()), shop=desk.shop)
    assert code == ExitCode.DONE, err.getvalue()
    assert SAYS in out.getvalue()
    assert "stopped before the shadow was drafted" in err.getvalue()


@pytest.mark.parametrize("model", [(), ("--model", "embedded")])
def test_a_shadow_needs_a_model(tmp_path: Path, model: tuple[str, ...]) -> None:
    desk = Desk(tmp_path, scripted())
    called = desk.run("--shadow", *model, "--json")
    assert (called.code, called.error["code"]) == (ExitCode.USAGE, "shadow_without_model")
    assert desk.call("runs", "--json").data["runs"] == []


def test_without_models_there_is_no_shadow_and_a_review_says_how_to_have_one(tmp_path: Path) -> None:
    desk = Desk(tmp_path, scripted())
    waiting = desk.call("run", GOAL, "--sources", str(desk.notes), *NAMED)
    assert waiting.code == ExitCode.WAITING
    assert "--shadow --model scripted:model" in waiting.err
    assert desk.call("models", "off").code == ExitCode.DONE
    called = desk.run(*NAMED, "--json")
    assert called.code == ExitCode.DONE
    assert "there will be no shadow" in called.err
    assert desk.shadows() == []
