"""A tool that sends letters: what it did stays, as outside of a process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.tools.contract import ToolOk, ToolResult, ToolSpec
from agents.tools.ports import NotPerformed
from graphs.contract import Lang

SEND = ToolSpec(
    name="send",
    purpose="Sends a letter.",
    when_to_use="In tests.",
    when_not_to_use="Elsewhere.",
    input_schema={
        "type": "object",
        "properties": {"to": {"type": "string"}, "text": {"type": "string"}},
        "required": ["to", "text"],
    },
    output_schema={"type": "object"},
    scope="the test",
    timeout_s=5.0,
    side_effect="external",
    permission="test",
    error_codes=("NO_SUCH_ADDRESS",),
    repeat="never",
)


@dataclass
class Outbox:
    """The world outside: letters that were sent, with the key of each."""

    sent: list[tuple[str, str]] = field(default_factory=list)
    """Key and addressee, in order."""


@dataclass
class SendTool:
    """Sends into an outbox; a test says what breaks."""

    outbox: Outbox
    spec: ToolSpec = SEND
    knows: bool = False
    """Whether it can look up what came of a call."""
    before: Callable[[], ToolResult | None] = lambda: None
    """Called before it sends; a result that it gives is returned in place of sending."""
    after: Callable[[], Awaitable[None]] | None = None
    """Awaited when it has sent and before it says so."""

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        raise AssertionError(f"an effect is performed, not called: {arguments}")

    async def preview(self, arguments: Mapping[str, Any], lang: Lang) -> str:
        del lang
        return f"a letter to {arguments['to']}"

    async def perform(self, arguments: Mapping[str, Any], key: str) -> ToolResult:
        instead = self.before()
        if instead is not None:
            return instead
        if self.spec.repeat != "keyed" or all(known != key for known, _ in self.outbox.sent):
            self.outbox.sent.append((key, arguments["to"]))
        if self.after is not None:
            await self.after()
        return ToolOk(summary="sent", data={"to": arguments["to"]}, source="post")

    async def outcome_of(self, arguments: Mapping[str, Any], key: str) -> ToolResult | NotPerformed | None:
        if not self.knows:
            return None
        if any(known == key for known, _ in self.outbox.sent):
            return ToolOk(summary="sent, as it turns out", data={"to": arguments["to"]}, source="post")
        return NotPerformed()
