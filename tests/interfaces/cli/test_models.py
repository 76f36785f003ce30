"""`maskgrad models`: the switch is shown and turned in both languages, and a run says who stood in for a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rpds import HashTrieMap

from agents.spec import ModelPolicy
from orchestrator.core.ids import ArtefactId, ContentDigest, RunId
from orchestrator.core.reducer import initial
from orchestrator.core.state import Accepted, NodeState, RunState
from orchestrator.interfaces.cli.bodies.model_switching import stand_in_lines
from orchestrator.shell.model_switch import SWITCH_FILE
from tests.core.builders import A1, agent, n, plan, proposal, verification
from tests.interfaces.cli.harness import call


def test_off_and_on_again(tmp_path: Path) -> None:
    assert call("models", home=tmp_path).out == (
        "models are on: agents think with the model that their proposal names\n"
    )
    off = call("models", "off", "--json", home=tmp_path)
    assert off.code == 0
    assert (off.data["models"], off.data["switch"], off.data["environment"]) == (
        "off",
        "off",
        None,
    )
    assert off.data["file"] == str(tmp_path / SWITCH_FILE)
    status = call("models", "--lang", "zh", home=tmp_path).out
    assert status == (
        f"模型已关闭（自 {off.data['since']} 起）：所有进程中的 agent 都由内置方式执行。"
        "重新打开：maskgrad models on\n"
    )
    assert call("models", "on", home=tmp_path).code == 0
    assert not (tmp_path / SWITCH_FILE).exists()


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("en", "action 'stop' does not exist; accepted: status, off, on"),
        ("zh", "没有操作 'stop'；可接受：status, off, on"),
    ],
)
def test_another_action_is_refused(tmp_path: Path, lang: str, said: str) -> None:
    called = call("models", "stop", "--lang", lang, home=tmp_path)
    assert called.code == 2
    assert said in called.err


def accepted(mode: str) -> Accepted:
    return Accepted(
        input_key=ContentDigest("0" * 64),
        output=ArtefactId("0" * 64),
        content=ContentDigest("0" * 64),
        path=1,
        mode="model" if mode == "model" else "extractive",
        verification=verification("passed"),
    )


def worked(modes: dict[str, str]) -> RunState:
    """A run whose agent thinks with a model, and what its sub-tasks were made by; `f...` are functions."""
    drawn = plan("", lone=" ".join(modes))
    tasks = tuple(
        replace(task, kind="function" if task.id.startswith("f") else "loop") for task in drawn.subtasks
    )
    thinks = replace(agent("A1", {}), model_policy=ModelPolicy(kind="model", model="x:y"))
    made = proposal(replace(drawn, subtasks=tasks))
    nodes = {
        n(name): NodeState(id=n(name), status="accepted", accepted=accepted(mode))
        for name, mode in modes.items()
    }
    return replace(
        initial(RunId("r-abc")),
        proposal=made,
        nodes=HashTrieMap(nodes),
        agents=HashTrieMap({A1: thinks}),
        assigned=HashTrieMap({n(name): A1 for name in modes}),
    )


def test_who_stood_in_is_named() -> None:
    state = worked({"a10": "code", "a2": "code", "b": "model", "f": "code"})
    assert stand_in_lines(state, "en") == [
        "worked by the embedded default, models were switched off: a2, a10"
    ]
    assert stand_in_lines(state, "zh") == ["模型已关闭，由内置方式完成：a2, a10"]
    assert stand_in_lines(worked({"b": "model", "f": "code"}), "en") == []


def test_a_large_run_names_ten() -> None:
    state = worked({f"a{number}": "code" for number in range(1, 14)})
    (line,) = stand_in_lines(state, "en")
    assert line.endswith(": a1, a2, a3, a4, a5, a6, a7, a8, a9, a10 and 3 more")
