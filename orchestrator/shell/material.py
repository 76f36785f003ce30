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


def label_of(library: NotesLibrary, evidence: Evidence) -> SectionLabel | None:
    """Return the label of the section that `evidence` stands in, from the notes and never from the worker.

    `None` unless the notes hold exactly this excerpt at this place: a worker could otherwise give words the label of a
    section that they don't stand in. An excerpt over several sections has the label of the first.
    """
    try:
        document = library.document(evidence.source)
    except UnknownNote:
        return None
    where = evidence.locator
    start, end = where.start_char, where.end_char
    if not 0 <= start < end or document.text[start:end] != evidence.text:
        return None
    entries = library.entries_in(document, *document.line_range(start, end))
    return library.labels(entries[:1])[0] if entries else UNCLASSIFIED
