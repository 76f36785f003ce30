"""The tools that reach the user's notes: `search_notes` and `read_note`.

Results are JSON and stay within the preview limit; what does not fit is fetched with `offset`. All text in them comes
from documents, so it is untrusted: data, never an instruction.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.json_schema import schema_problems
from agents.retrieval.index import Entry, Hit
from agents.retrieval.library import NotesLibrary, SectionLabel, UnknownNote
from agents.retrieval.reading import Document
from agents.retrieval.tokens import terms
from agents.tools.contract import ToolError, ToolOk, ToolResult, ToolSpec
from agents.tools.previews import PREVIEW_CHARS, TOOL_TIMEOUT_S
from agents.tools.texts.contract import say
from agents.tools.texts.material import NOTES

DEFAULT_HITS = 5
MOST_HITS = 20
LONGEST_QUERY = 1_000
EXCERPT_CHARS = 560
"""Longest excerpt of a hit; a shorter section is given whole."""
_SHORTEST_EXCERPT = 120
_READ_CHARS = 3_200
"""Text of a note per reading; JSON escapes and the section list need the rest."""

SEARCH_NOTES = ToolSpec(
    name="search_notes",
    purpose="Find the sections of the notes that match a query, by words and by meaning.",
    when_to_use="To find where the notes speak about something; ask again with other words for what is still open.",
    when_not_to_use="To read a place that is already known: `read_note` gives it whole.",
    input_schema={
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": LONGEST_QUERY},
            "limit": {"type": "integer", "minimum": 1, "maximum": MOST_HITS, "default": DEFAULT_HITS},
            "offset": {"type": "integer", "minimum": 0, "default": 0},
        },
        "required": ["query"],
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "sections": {"type": "integer", "description": "Sections of all notes."},
            "frequency": {
                "type": "object",
                "description": "Term of the query to the number of sections with it.",
            },
            "sources": {
                "type": "object",
                "description": "Source id to path, title, digest, time read, copy of.",
            },
            "hits": {
                "type": "array",
                "description": "Best first; `text` is an exact excerpt from `start_char` on.",
            },
            "next_offset": {"type": ["integer", "null"]},
        },
        "required": ["query", "sections", "frequency", "sources", "hits", "next_offset"],
    },
    scope="the sources folder of the run",
    timeout_s=TOOL_TIMEOUT_S,
    side_effect="read",
    permission="notes.read",
    error_codes=("INVALID_ARGUMENT",),
)
READ_NOTE = ToolSpec(
    name="read_note",
    purpose="Read lines of one note, exactly.",
    when_to_use="To read a section that a search found, or what stands around it.",
    when_not_to_use="To look for something: `search_notes` finds it.",
    input_schema={
        "type": "object",
        "properties": {
            "source": {
                "type": "string",
                "minLength": 1,
                "maxLength": LONGEST_QUERY,
                "description": "Source id or path.",
            },
            "start_line": {"type": "integer", "minimum": 1, "default": 1},
            "end_line": {
                "type": "integer",
                "minimum": 1,
                "description": "Inclusive; default: the last line.",
            },
            "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "Characters to skip."},
        },
        "required": ["source"],
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "source": {"type": "string"},
            "path": {"type": "string"},
            "start_line": {"type": "integer"},
            "start_char": {"type": "integer"},
            "text": {"type": "string", "description": "Exact, from `start_char` on."},
            "sections": {"type": "array"},
            "next_offset": {"type": ["integer", "null"]},
        },
        "required": ["source", "path", "start_line", "start_char", "text", "sections", "next_offset"],
    },
    scope="the sources folder of the run",
    timeout_s=TOOL_TIMEOUT_S,
    side_effect="read",
    permission="notes.read",
    error_codes=("INVALID_ARGUMENT", "NOT_FOUND"),
)


class InvalidArgument(ValueError):
    """An argument that the tool can't take, though its schema accepts it."""


@dataclass(frozen=True, slots=True)
class NotesTools:
    """Both tools over one library."""

    library: NotesLibrary

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the contracts of the tools."""
        return (READ_NOTE, SEARCH_NOTES)

    def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Return the result of `tool`; what can't be done is a `ToolError` that says what is accepted.

        Raises `KeyError` for a tool that is not here.
        """
        spec, perform = {
            SEARCH_NOTES.name: (SEARCH_NOTES, self._search),
            READ_NOTE.name: (READ_NOTE, self._read),
        }[tool]
        problems = schema_problems(dict(arguments), spec.input_schema, at="arguments")
        if problems:
            return ToolError(error_type="INVALID_ARGUMENT", message="; ".join(problems), retryable=False)
        try:
            return perform(arguments)
        except InvalidArgument as error:
            return ToolError(error_type="INVALID_ARGUMENT", message=str(error), retryable=False)
        except UnknownNote as error:
            return ToolError(error_type="NOT_FOUND", message=str(error), retryable=False)

    def _search(self, arguments: Mapping[str, Any]) -> ToolResult:
        query = arguments["query"]
        if not query.strip():
            raise InvalidArgument(f"arguments.query is {query[:80]!r}; give words to look for")
        limit, offset = arguments.get("limit", DEFAULT_HITS), arguments.get("offset", 0)
        found = self.library.search(query, limit + 1, offset)
        hits, more = found[:limit], len(found) > limit
        data = self._search_data(query, hits, offset)
        while len(_json(data)) > PREVIEW_CHARS and data["hits"]:
            hits, more = hits[:-1], True
            data = self._search_data(query, hits, offset)
        data["next_offset"] = offset + len(hits) if more and hits else None
        summary = f"{len(hits)} sections for {query[:80]!r}"
        return ToolOk(summary=summary, data=data, source="notes", truncated=more)

    def _search_data(self, query: str, hits: tuple[Hit, ...], offset: int) -> dict[str, Any]:
        labels = self.library.labels([hit.entry for hit in hits])
        entries = [self.library.entry(hit) for hit in hits]
        room = max(_SHORTEST_EXCERPT, min(EXCERPT_CHARS, PREVIEW_CHARS // max(1, len(hits)) - 240))
        index = self.library.index
        return {
            "query": query,
            "sections": len(index),
            "frequency": {term: index.frequency(term) for term in dict.fromkeys(terms(query))},
            "sources": {entry.document.source.id: self._source(entry.document) for entry in entries},
            "hits": [
                _hit(entry, hit, label, room) for entry, hit, label in zip(entries, hits, labels, strict=True)
            ],
            "next_offset": offset,
        }

    def _source(self, document: Document) -> dict[str, Any]:
        source = self.library.source(document)
        return {
            "path": source.uri,
            "title": source.title[:120],
            "digest": source.digest,
            "retrieved_at": source.retrieved_at,
            "copy_of": source.copy_of,
        }

    def _read(self, arguments: Mapping[str, Any]) -> ToolResult:
        document = self.library.document(arguments["source"])
        last = document.line_count
        start_line = _within("start_line", arguments.get("start_line", 1), 1, last)
        end_line = min(last, _within("end_line", arguments.get("end_line", last), start_line))
        start, end = document.line_span_chars(start_line, end_line)
        offset = _within("offset", arguments.get("offset", 0), 0, max(0, end - start))
        begin = start + offset
        stop = _stop(document.text, begin, end)
        data = self._read_data(document, begin, stop, end, start)
        while len(_json(data)) > PREVIEW_CHARS and stop - begin > 1:
            stop = begin + (stop - begin) * 3 // 4
            data = self._read_data(document, begin, stop, end, start)
        summary = f"{document.path} from line {data['start_line']}, {stop - begin} characters"
        return ToolOk(summary=summary, data=data, source=document.path, truncated=stop < end)

    def _read_data(self, document: Document, begin: int, stop: int, end: int, start: int) -> dict[str, Any]:
        first, last = document.line_range(begin, max(begin + 1, stop))
        positions = self.library.entries_in(document, first, last)
        labels = self.library.labels(positions)
        sections = [self.library.index.entries[position].section for position in positions]
        return {
            "source": document.source.id,
            **self._source(document),
            "start_line": first,
            "start_char": begin,
            "text": document.text[begin:stop],
            "sections": [
                {
                    "heading": section.heading[-160:],
                    "start_line": section.start_line,
                    "end_line": section.end_line,
                    **_label(label),
                }
                for section, label in zip(sections, labels, strict=True)
            ],
            "next_offset": stop - start if stop < end else None,
        }


def _hit(entry: Entry, hit: Hit, label: SectionLabel, room: int) -> dict[str, Any]:
    start, end = _excerpt(entry, hit, room)
    return {
        "source": entry.document.source.id,
        "heading": entry.section.heading[-160:],
        "section": [entry.section.start_line, entry.section.end_line],
        "start_line": entry.document.line_of(start),
        "start_char": start,
        "text": entry.document.text[start:end],
        "whole": start == entry.section.start_char and end == entry.section.end_char,
        "score": round(hit.score, 4),
        "cosine": round(hit.cosine, 3),
        **_label(label),
    }


def _excerpt(entry: Entry, hit: Hit, room: int) -> tuple[int, int]:
    """Return whole units around the best one, as many as fit into `room`; the whole section if it fits."""
    section = entry.section
    if section.end_char - section.start_char <= room:
        return section.start_char, section.end_char
    if not entry.units:
        return section.start_char, section.start_char + room
    first = last = hit.best_unit or 0
    units = entry.units
    while True:
        if last + 1 < len(units) and units[last + 1].end_char - units[first].start_char <= room:
            last += 1
        elif first > 0 and units[last].end_char - units[first - 1].start_char <= room:
            first -= 1
        else:
            break
    # From the beginning of its line: a bullet or a table's bar before the first unit belongs to the place.
    start = entry.document.line_starts[units[first].start_line - 1]
    start = start if units[first].start_char - start <= _SHORTEST_EXCERPT else units[first].start_char
    return start, min(units[last].end_char, start + 2 * room)


def _stop(text: str, begin: int, end: int) -> int:
    """Return where a reading from `begin` ends: at `end`, else at the last line end that fits."""
    if end - begin <= _READ_CHARS:
        return end
    line_end = text.rfind("\n", begin + 1, begin + _READ_CHARS)
    return line_end + 1 if line_end > begin else begin + _READ_CHARS


def _label(label: SectionLabel) -> dict[str, str]:
    found = {"domain": label.domain, "parent": label.parent, "leaf": label.leaf}
    return {key: value for key, value in found.items() if value is not None}


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False)


def _within(name: str, value: int, low: int, high: int | None = None) -> int:
    """Return `value`; raises `InvalidArgument` outside what this note has, which no schema can say."""
    if value < low or (high is not None and value > high):
        code = "at_least" if high is None else "from_to"
        raise InvalidArgument(say(NOTES, code, argument=name, value=value, least=low, most=high))
    return value
