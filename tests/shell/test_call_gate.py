"""The gate of an attempt learns what its agent was shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from agents.tools.contract import ToolCall, ToolOk, ToolResult, ToolSpec
from agents.tools.gate import Ask, GateRules
from orchestrator.shell.call_gate import CallGate
from tests.agents.tools.tool_material import STRING, a_tool


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
