"""The notes of a run as the shell holds them: the tools that serve them, and the label of what was quoted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.evidence import Evidence
from agents.retrieval.library import UNCLASSIFIED, NotesLibrary, SectionLabel, UnknownNote
from agents.tools.builtin.notes import NotesTools
from agents.tools.contract import ToolResult, ToolSpec
from agents.tools.ports import Tool


@dataclass(frozen=True, slots=True)
class NoteTool:
    """One of the note tools, behind the broker's port."""

    spec: ToolSpec
    tools: NotesTools

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Return the tool's result; reading is quick and local, so it runs on the loop."""
        return self.tools.call(self.spec.name, arguments)


def note_tools(library: NotesLibrary) -> dict[str, Tool]:
    """Return the tools over `library`, by name."""
    tools = NotesTools(library)
    return {spec.name: NoteTool(spec, tools) for spec in tools.specs}


def label_of(library: NotesLibrary, evidence: Evidence) -> SectionLabel:
    """Return the label of the section that `evidence` stands in, from the notes and never from the worker.

    An excerpt over several sections has the label of the first. A source that the notes don't hold is unclassified:
    that its citation is fabricated is for the verification to say.
    """
    try:
        document = library.document(evidence.source)
    except UnknownNote:
        return UNCLASSIFIED
    entries = library.entries_in(document, evidence.locator.start_line, evidence.locator.end_line)
    return library.labels(entries[:1])[0] if entries else UNCLASSIFIED
