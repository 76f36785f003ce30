"""A tool that says how often it was really called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.tools.contract import ToolOk, ToolResult, ToolSpec

COUNT = ToolSpec(
    name="count",
    purpose="Counts.",
    when_to_use="In tests.",
    when_not_to_use="Elsewhere.",
    input_schema={
        "type": "object",
        "properties": {"what": {"type": "string"}},
        "required": ["what"],
    },
    output_schema={"type": "object"},
    scope="the test",
    timeout_s=5.0,
    side_effect="read",
    permission="test",
    error_codes=(),
)


@dataclass
class CountingTool:
    """Says how often it was really called."""

    spec: ToolSpec = COUNT
    calls: list[str] = field(default_factory=list)

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        self.calls.append(arguments["what"])
        return ToolOk(summary="counted", data={"nth": len(self.calls)}, source="counter")
