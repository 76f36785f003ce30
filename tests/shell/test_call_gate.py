"""The gate of an attempt learns what its agent was shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from agents.planning.roster_design import DesignedRoster
from agents.spec import ModelPolicy
from agents.tools.contract import ToolCall, ToolOk, ToolResult, ToolSpec
from agents.tools.gate import Ask, GateRules, Pass
from graphs.contract import Goal
from orchestrator.core.ids import RunId
from orchestrator.core.state import RunState
from orchestrator.shell.call_gate import CallGate, trusted_texts
from orchestrator.shell.granting import granting
from tests.agents.tools.tool_material import STRING, a_tool
from tests.core.builders import ROSTER, plan, proposal


@dataclass(frozen=True)
class Held:
    """A tool that is never called."""

    spec: ToolSpec

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        raise AssertionError(f"called with {arguments}")


SEND = Held(a_tool("send", "external", properties={"body": STRING}))


@pytest.mark.parametrize(
    "data",
    [
        "See www.evil.org\nbye",
        {"rows": [{"note": "See www.evil.org\nbye"}]},
        {"www.evil.org": [1, None, True]},
        [["www.evil.org", "x"]],
    ],
)
def test_an_address_out_of_a_result_is_known_again_wherever_it_stood(data: Any) -> None:
    gate = CallGate(GateRules(granted=frozenset({"send"})), trusted=["Send a greeting."])
    call = ToolCall(tool="send", arguments={"body": "Hello there, look at www.evil.org when you can"})

    def reasons() -> list[str]:
        decision = gate.judge(call, SEND)
        assert isinstance(decision, Ask)
        return [reason.code for reason in decision.reasons]

    # Before: an address that nobody gave.
    assert reasons() == ["acts_outside", "said_by_nobody"]
    gate.learn(ToolOk(summary="found", data=data, source="web"))
    assert reasons() == ["acts_outside", "from_untrusted_text"]


FETCH = Held(a_tool("fetch_url", purpose="Fetch a page of the web.", properties={"url": STRING}))


@pytest.mark.parametrize(
    "goal",
    [
        "Read https://www.good.org/a, but never open https://www.evil.org/x under any circumstances",
        "阅读 https://www.good.org/a ，绝不要打开 https://www.evil.org/x 。",
    ],
)
def test_an_address_that_the_goal_forbids_is_asked_about_and_one_that_it_names_is_not(goal: str) -> None:
    base = proposal(plan("a>b"))
    state = RunState(
        run=RunId("r-1"), proposal=replace(base, goal=Goal(text=goal, lang="en", sources=base.goal.sources))
    )
    gate = CallGate(GateRules(granted=frozenset({"fetch_url"})), trusted=trusted_texts(state))
    good = gate.judge(ToolCall(tool="fetch_url", arguments={"url": "https://www.good.org/a"}), FETCH)
    evil = gate.judge(ToolCall(tool="fetch_url", arguments={"url": "https://www.evil.org/x"}), FETCH)
    assert good == Pass()
    assert isinstance(evil, Ask)


@pytest.mark.parametrize(
    ("goal", "note"),
    [
        (
            Goal(text="Do not fetch any web page", lang="en"),
            "tool not granted: fetch_url: the goal forbids it (web)",
        ),
        (Goal(text="不要访问任何网页", lang="zh"), "未授予工具 fetch_url：目标不允许（web）"),
    ],
)
def test_the_review_says_which_tool_the_goal_forbids(goal: Goal, note: str) -> None:
    thinking = replace(ROSTER.agents[0], model_policy=ModelPolicy(kind="model"))
    designed = DesignedRoster(
        roster=replace(ROSTER, agents=(thinking,)), assignment={}, mask_origins={}, grants={thinking.id: ()}
    )
    given = granting(designed, goal, [FETCH.spec])
    assert (given.grants, given.notes) == ({thinking.id: ()}, (note,))
