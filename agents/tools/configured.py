"""The built-in tools that the user's `tools.yaml` allows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from agents.tools.builtin.calculator import Calculate
from agents.tools.builtin.drafts import draft_tools
from agents.tools.builtin.fetch import FetchUrl
from agents.tools.builtin.files import ListFiles, ReadFile, SearchFiles
from agents.tools.builtin.tables import QueryTable
from agents.tools.configuration import ToolsFile
from agents.tools.paths import PathGate
from agents.tools.ports import Tool
from agents.tools.undo import UNDO_FOLDER

DRAFTS: Final = "drafts"
"""Name of the drafts folder among the folders."""


def configured_tools(file: ToolsFile) -> dict[str, Tool]:
    """Return the built-in tools over what `file` allows, by name; `calculate` needs nothing and is always there.

    Drafts can be read as well. Where other folders stand beside them, all paths begin with the name of a folder. MCP
    servers are opened apart (`agents.tools.mcp.open_mcp_servers`), for they live on an event loop. Raises `OSError`
    when the drafts folder can't be made.
    """
    return {tool.spec.name: tool for tool in _tools(file)}


def _tools(file: ToolsFile) -> Iterator[Tool]:
    yield Calculate()
    folders = dict(file.folders)
    if file.drafts is not None:
        name = next(
            each for each in (DRAFTS, *(f"{DRAFTS}-{n}" for n in range(2, 99))) if each not in folders
        )
        yield from draft_tools(file.drafts, name=name, prefixed=bool(folders))
        folders[name] = file.drafts
    if folders:
        gate = PathGate(folders=folders, hidden=frozenset({UNDO_FOLDER}))
        yield from (ListFiles(gate), SearchFiles(gate), ReadFile(gate))
    if file.tables:
        yield QueryTable(file.tables)
    if file.fetch:
        yield FetchUrl(file.fetch)
