"""The ports of a tool: a specification, and functions that the broker alone calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from agents.tools.contract import ToolResult, ToolSpec
from graphs.contract import Lang


class Tool(Protocol):
    """One tool as the broker holds it."""

    @property
    def spec(self) -> ToolSpec:
        """What it is for and what it may do."""
        ...

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Perform the call; a failure is a `ToolError`, never an exception, except for a bug."""
        ...


@dataclass(frozen=True, slots=True)
class NotPerformed:
    """Says that a call certainly did not happen."""


@runtime_checkable
class EffectTool(Tool, Protocol):
    """A tool that changes something (`ToolSpec.side_effect` is not `read`). `call` is never used on it.

    The broker commits the call with its exact arguments and key before it performs it. After a crash in between it asks
    `outcome_of`; it never performs a call of `repeat="never"` again while the answer is `None`.
    """

    async def preview(self, arguments: Mapping[str, Any], lang: Lang) -> str:
        """Say what the call would change, for whoever approves it: a diff where there is one. Changes nothing.

        `lang` is the language of whoever reads it.
        """
        ...

    async def perform(self, arguments: Mapping[str, Any], key: str) -> ToolResult:
        """Do it; `key` is equal for a repetition of the same call and for nothing else."""
        ...

    async def outcome_of(self, arguments: Mapping[str, Any], key: str) -> ToolResult | NotPerformed | None:
        """Look up what came of an earlier `perform` with `key`; `None` when that can't be told.

        A tool with a `compensation` says `NotPerformed` also of a call that was taken back since: made again, it has
        its effect again.
        """
        ...


@runtime_checkable
class SometimesUnavailable(Protocol):
    """A tool that is not always there (a server that does not run, a description that changed)."""

    def unavailable(self) -> str | None:
        """Say why it can't be used now, for people and models; `None`: it can. Unavailable tools are not offered."""
        ...


@runtime_checkable
class VersionedTool(Protocol):
    """A tool that reads something with versions: its results are kept for as long as the version is the same."""

    def source_version(self, arguments: Mapping[str, Any]) -> str | None:
        """Return the version of what `arguments` reads, now; `None`: unknown, a result is good for its attempt only."""
        ...
