"""The port of a tool: a specification, and a function that the broker alone calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from agents.tools.contract import ToolResult, ToolSpec


class Tool(Protocol):
    """One tool as the broker holds it."""

    @property
    def spec(self) -> ToolSpec:
        """What it is for and what it may do."""
        ...

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Perform the call; a failure is a `ToolError`, never an exception, except for a bug."""
        ...
