"""What stands in for a tool with effects: a reading that a person lets, and a tool that is gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.tools.contract import ToolError, ToolResult, ToolSpec
from agents.tools.ports import EffectTool, NotPerformed, Tool
from agents.tools.texts.calls import OUTCOMES
from agents.tools.texts.contract import say
from graphs.contract import Lang
from orchestrator.core.approvals import CommittedCall
from orchestrator.shell.call_time import LAST_LOOK_S


def settles(before: CommittedCall, tool: Tool | None) -> EffectTool:
    """Return what can tell of a call that was committed `before`, given the tool that now has its name.

    What the call was is in its commit: a tool that counts as a reading now can tell nothing of a call that was
    committed as an effect, and least of all may that be made again for it.
    """
    if isinstance(tool, EffectTool):
        return tool
    if tool is not None and before.side_effect == "read":
        return ReadAsEffect(tool)
    return Gone(before)


@dataclass(frozen=True, slots=True)
class ReadAsEffect:
    """A reading that a person has to let: each word is good for one of them, and it may be repeated safely."""

    tool: Tool

    @property
    def spec(self) -> ToolSpec:
        """Return the contract of the reading."""
        return self.tool.spec

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Read."""
        return await self.tool.call(arguments)

    async def preview(self, arguments: Mapping[str, Any], lang: Lang) -> str:
        """Return nothing: it changes nothing."""
        del arguments, lang
        return ""

    async def perform(self, arguments: Mapping[str, Any], key: str) -> ToolResult:
        """Read."""
        del key
        return await self.tool.call(arguments)

    async def outcome_of(self, arguments: Mapping[str, Any], key: str) -> ToolResult | NotPerformed | None:
        """Say that it did not happen: what was read before a crash is lost."""
        del arguments, key
        return NotPerformed()


class Gone:
    """Stands for a tool that is not there any more: it can neither be looked up nor asked again."""

    def __init__(self, before: CommittedCall) -> None:
        """Return the stand-in for the tool of `before`."""
        self.spec = ToolSpec(
            name=before.tool,
            purpose="",
            when_to_use="",
            when_not_to_use="",
            input_schema={},
            output_schema={},
            scope="",
            timeout_s=LAST_LOOK_S,
            side_effect=before.side_effect,
            permission="",
            error_codes=(),
            repeat="never",
        )

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Say that it is gone."""
        return await self.perform(arguments, "")

    async def preview(self, arguments: Mapping[str, Any], lang: Lang) -> str:
        """Return nothing: nobody knows any more what it would change."""
        del arguments, lang
        return ""

    async def perform(self, arguments: Mapping[str, Any], key: str) -> ToolResult:
        """Say that it is gone."""
        del arguments, key
        message = say(OUTCOMES, "gone", tool=repr(self.spec.name))
        return ToolError(error_type="NOT_PERFORMED", message=message, retryable=False)

    async def outcome_of(self, arguments: Mapping[str, Any], key: str) -> ToolResult | NotPerformed | None:
        """Say that it can't be told."""
        del arguments, key
        return None
