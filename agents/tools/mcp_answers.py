"""What MCP servers answer, as results of tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agents.models.failures import hidden
from agents.tools.contract import ToolOk


def texts_of(result: Any) -> list[str]:
    """Return the texts of a server's answer, in order."""
    return [block.text for block in result.content if block.type == "text"]


def answered(server: str, tool: str, result: Any, secrets: Sequence[str]) -> ToolOk:
    """Return a server's answer: its structured content if it gave one, else its texts; other content is named."""
    others = [block.type for block in result.content if block.type != "text"]
    data: dict[str, Any] = (
        {"structured": result.structured_content}
        if result.structured_content is not None
        else {"text": "\n".join(texts_of(result))}
    )
    if others:
        data["left_out"] = others
    summary = f"{server}/{tool} answered" + (
        f", {len(others)} parts that are no text left out" if others else ""
    )
    return ToolOk(summary=summary, data=without(data, secrets), source=f"mcp:{server}/{tool}")


def without(value: Any, secrets: Sequence[str]) -> Any:
    """Return a JSON value without `secrets`: what was sent to a server is for it alone, models and logs get stars."""
    match value:
        case str():
            return hidden(value, secrets)
        case Mapping():
            return {hidden(str(name), secrets): without(each, secrets) for name, each in value.items()}
        case list() | tuple():
            return [without(each, secrets) for each in value]
        case _:
            return value
