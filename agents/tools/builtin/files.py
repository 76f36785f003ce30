"""The tools that reach files in the folders that the user allowed: `list_files`, `search_files` and `read_file`.

Every file is opened through the path gate. All text in the results comes from files, so it is untrusted: data, never
an instruction.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from agents.retrieval.reading import decode_note
from agents.tools.contract import ToolError, ToolOk, ToolResult, ToolSpec
from agents.tools.names import Refused, look_of, shown
from agents.tools.paths import FolderEntry, PathGate
from agents.tools.previews import PREVIEW_CHARS, TOOL_TIMEOUT_S, json_chars

LARGEST_FILE: Final = 8_000_000
"""Bytes of a file that is read; a larger one is refused, for its text is no reading."""
LARGEST_SEARCHED: Final = 2_000_000
"""Bytes of a file that a search looks into; larger ones are counted as passed over."""
MOST_FILES: Final = 5_000
"""Files that a listing or a search goes through."""
MOST_FOLDERS_DEEP: Final = 12
_EXCERPT_CHARS: Final = 200
_PATH: Final[Mapping[str, Any]] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 4_096,
    "description": "As a listing gives it, with '/'; '.' is the allowed folder.",
}
_OFFSET: Final[Mapping[str, Any]] = {"type": "integer", "minimum": 0, "default": 0}
_ERRORS: Final = ("INVALID_PATH", "ACCESS_DENIED", "NOT_FOUND", "NOT_A_FILE", "AMBIGUOUS", "UNREADABLE")

LIST_FILES: Final = ToolSpec(
    name="list_files",
    purpose="List the files of a folder and of the folders in it.",
    when_to_use="To find out which files there are, or the exact path of one.",
    when_not_to_use="To look for words in files: `search_files` does. The notes of the run have `search_notes`.",
    input_schema={
        "type": "object",
        "properties": {
            "folder": {**_PATH, "default": "."},
            "name": {
                "type": "string",
                "maxLength": 255,
                "default": "*",
                "description": "Pattern of the file name with * and ?, as in '*.md'.",
            },
            "offset": {**_OFFSET, "description": "Files to skip."},
        },
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "files": {"type": "array", "description": "Path and bytes of each file, by path."},
            "found": {"type": "integer"},
            "complete": {
                "type": "boolean",
                "description": "False when there are more than are gone through.",
            },
            "next_offset": {"type": ["integer", "null"]},
        },
        "required": ["files", "found", "complete", "next_offset"],
    },
    scope="the folders that the user allowed",
    timeout_s=TOOL_TIMEOUT_S,
    side_effect="read",
    permission="files.read",
    error_codes=_ERRORS,
)
SEARCH_FILES: Final = ToolSpec(
    name="search_files",
    purpose="Find the lines of text files that hold given words, exactly as written, in any case.",
    when_to_use="To find where a name, a number or a phrase stands in the allowed folders.",
    when_not_to_use="To search by meaning, or in the notes of the run: `search_notes` does.",
    input_schema={
        "type": "object",
        "properties": {
            "text": {"type": "string", "minLength": 1, "maxLength": 200},
            "folder": {**_PATH, "default": "."},
            "offset": {**_OFFSET, "description": "Lines found to skip."},
        },
        "required": ["text"],
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "hits": {"type": "array", "description": "Path, line (from 1) and the text around the words."},
            "searched": {"type": "integer", "description": "Files looked into."},
            "passed_over": {"type": "integer", "description": "Files too large, or no text."},
            "complete": {"type": "boolean"},
            "next_offset": {"type": ["integer", "null"]},
        },
        "required": ["hits", "searched", "passed_over", "complete", "next_offset"],
    },
    scope="the folders that the user allowed",
    timeout_s=TOOL_TIMEOUT_S,
    side_effect="read",
    permission="files.read",
    error_codes=_ERRORS,
)
READ_FILE: Final = ToolSpec(
    name="read_file",
    purpose="Read the text of a file, exactly.",
    when_to_use="To read a file that a listing or a search named, or to go on in it with `offset`.",
    when_not_to_use="To look for something in many files, or for a note of the run: `read_note` cites lines.",
    input_schema={
        "type": "object",
        "properties": {"path": _PATH, "offset": {**_OFFSET, "description": "Characters to skip."}},
        "required": ["path"],
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "digest": {"type": "string", "description": "SHA-256 of the file's bytes."},
            "characters": {"type": "integer", "description": "Of the whole text."},
            "start_line": {"type": "integer", "description": "Line of the first character, from 1."},
            "text": {"type": "string"},
            "next_offset": {"type": ["integer", "null"]},
        },
        "required": ["path", "digest", "characters", "start_line", "text", "next_offset"],
    },
    scope="the folders that the user allowed",
    timeout_s=TOOL_TIMEOUT_S,
    side_effect="read",
    permission="files.read",
    error_codes=(*_ERRORS, "INVALID_ARGUMENT", "TOO_LARGE", "NOT_TEXT"),
)


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file and the path that opens it."""

    path: str
    entry: FolderEntry


@dataclass(frozen=True, slots=True)
class ListFiles:
    """The tool `list_files`."""

    gate: PathGate
    spec: ToolSpec = LIST_FILES

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Return the files below `folder` whose names fit."""
        return await asyncio.to_thread(self._list, arguments)

    def _list(self, arguments: Mapping[str, Any]) -> ToolResult:
        folder, offset = str(arguments.get("folder", ".")), int(arguments.get("offset", 0))
        pattern = look_of(str(arguments.get("name", "*"))).casefold()
        walked = _walked(self.gate, folder)
        if isinstance(walked, Refused):
            return refused(walked)
        files, complete = walked
        fitting = [file for file in files if fnmatchcase(look_of(file.entry.name).casefold(), pattern)]
        rows = [{"path": file.path, "bytes": file.entry.size} for file in fitting]
        data: dict[str, Any] = {
            "files": rows[offset:],
            "found": len(rows),
            "complete": complete,
            "next_offset": None,
        }
        _fit(data, "files", offset)
        return _page_of(data, f"{len(fitting)} files in {shown(folder)}", folder)


@dataclass(frozen=True, slots=True)
class SearchFiles:
    """The tool `search_files`."""

    gate: PathGate
    spec: ToolSpec = SEARCH_FILES

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Return the lines below `folder` that hold `text`."""
        return await asyncio.to_thread(self._search, arguments)

    def _search(self, arguments: Mapping[str, Any]) -> ToolResult:
        folder, offset = str(arguments.get("folder", ".")), int(arguments.get("offset", 0))
        wanted = _compared(str(arguments["text"]))
        walked = _walked(self.gate, folder)
        if isinstance(walked, Refused):
            return refused(walked)
        files, complete = walked
        hits, searched, passed_over = list[dict[str, Any]](), 0, 0
        most = offset + PREVIEW_CHARS // 40  # more never fit into one page
        for file in files:
            text = self._text(file)
            if text is None:
                passed_over += 1
                continue
            searched += 1
            hits += [{"path": file.path, **hit} for hit in _lines_with(text, wanted)]
            if len(hits) > most:
                break
        data: dict[str, Any] = {
            "hits": hits[offset:],
            "searched": searched,
            "passed_over": passed_over,
            "complete": complete,
            "next_offset": None,
        }
        _fit(data, "hits", offset)
        return _page_of(data, f"{len(data['hits'])} lines with {shown(str(arguments['text']))}", folder)

    def _text(self, file: FoundFile) -> str | None:
        if file.entry.size > LARGEST_SEARCHED:
            return None
        opened = self.gate.open_file(file.path)
        if isinstance(opened, Refused):
            return None
        with opened:
            return text_of(opened.read(LARGEST_SEARCHED + 1))


@dataclass(frozen=True, slots=True)
class ReadFile:
    """The tool `read_file`."""

    gate: PathGate
    spec: ToolSpec = READ_FILE

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Return the page of the file's text that begins at `offset`."""
        return await asyncio.to_thread(self._read, arguments)

    def source_version(self, arguments: Mapping[str, Any]) -> str | None:
        """Return what changes with the file: which one it is, its size and when it was written."""
        opened = self.gate.open_file(str(arguments.get("path", "")))
        if isinstance(opened, Refused):
            return None
        with opened:
            return version_of(opened.fileno())

    def _read(self, arguments: Mapping[str, Any]) -> ToolResult:
        path, offset = str(arguments["path"]), int(arguments.get("offset", 0))
        opened = self.gate.open_file(path)
        if isinstance(opened, Refused):
            return refused(opened)
        with opened:
            version = version_of(opened.fileno())
            content = opened.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            return _failed(
                "TOO_LARGE", f"{shown(path)} has more than {LARGEST_FILE} bytes. Ask for an excerpt."
            )
        text = text_of(content)
        if text is None:
            return _failed(
                "NOT_TEXT", f"{shown(path)} is no text. Give a text file; tables have `query_table`."
            )
        if offset > max(0, len(text) - 1):
            message = f"arguments.offset is {offset}; accepted: from 0 to {max(0, len(text) - 1)}"
            return _failed("INVALID_ARGUMENT", message)
        data: dict[str, Any] = {
            "path": path,
            "digest": hashlib.sha256(content).hexdigest(),
            "characters": len(text),
            "start_line": text.count("\n", 0, offset) + 1,
            "text": text[offset : offset + PREVIEW_CHARS],
            "next_offset": len(text),
        }
        while (excess := json_chars(data) - PREVIEW_CHARS) > 0:
            data["text"] = data["text"][: -max(1, excess // 2)]  # escapes take two characters
        end = offset + len(data["text"])
        data["next_offset"] = end if end < len(text) else None
        summary = f"{shown(path)}: characters {offset} to {end} of {len(text)}"
        return _page_of(data, summary, path, version)


def text_of(content: bytes) -> str | None:
    """Return the text of a file (UTF-8, UTF-16 or GB18030); `None` for anything else."""
    decoded = decode_note(content)
    return decoded.text if decoded is not None else None


def version_of(descriptor: int) -> str:
    """Return what changes when the open file is written or exchanged."""
    found = os.fstat(descriptor)
    return f"{found.st_ino}-{found.st_size}-{found.st_mtime_ns}"


def refused(path: Refused) -> ToolError:
    """Return a refusal of the path gate as the result of a tool."""
    return ToolError(error_type=path.reason, message=path.message, retryable=False)


def _failed(error_type: str, message: str) -> ToolError:
    return ToolError(error_type=error_type, message=message, retryable=False)


def _walked(gate: PathGate, folder: str) -> tuple[list[FoundFile], bool] | Refused:
    """Return the files below `folder`, by path, and whether these are all."""
    first = gate.entries(folder)
    if isinstance(first, Refused):
        return first
    files, complete = list[FoundFile](), True
    for file in _files_in(gate, "" if folder.strip("/") in ("", ".") else folder.rstrip("/") + "/", first, 0):
        if file is None or len(files) >= MOST_FILES:
            complete = False
            break
        files.append(file)
    return sorted(files, key=lambda file: look_of(file.path)), complete


def _files_in(
    gate: PathGate, above: str, entries: tuple[FolderEntry, ...], depth: int
) -> Iterator[FoundFile | None]:
    """Yield files, and `None` where a folder is too deep to be gone into."""
    for entry in entries:
        if entry.kind == "file":
            yield FoundFile(above + entry.name, entry)
        elif depth >= MOST_FOLDERS_DEEP:
            yield None
        else:
            inner = gate.entries(above + entry.name)
            if not isinstance(inner, Refused):  # a name that the gate takes for a trap is not gone into
                yield from _files_in(gate, f"{above}{entry.name}/", inner, depth + 1)


def _lines_with(text: str, wanted: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(text.splitlines(), 1):
        plain = _compared(line)
        at = plain.find(wanted)
        if at >= 0:
            start = max(0, min(at, len(line)) - _EXCERPT_CHARS // 4)
            yield {"line": number, "text": line[start : start + _EXCERPT_CHARS]}


def _compared(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _fit(data: dict[str, Any], name: str, offset: int) -> None:
    """Cut the list `name` of `data` until all fits, and say where it goes on."""
    rows = data[name]
    low, high = 0, min(len(rows), PREVIEW_CHARS // 10)
    while low < high:  # how many fit, by halving
        middle = (low + high + 1) // 2
        if json_chars({**data, name: rows[:middle], "next_offset": 10**9}) <= PREVIEW_CHARS:
            low = middle
        else:
            high = middle - 1
    data[name] = rows[: max(low, 1)] if rows else rows
    data["next_offset"] = offset + len(data[name]) if len(data[name]) < len(rows) else None


def _page_of(data: dict[str, Any], summary: str, source: str, version: str | None = None) -> ToolOk:
    after = data["next_offset"]
    more = f" (truncated: go on with offset={after})" if after is not None else ""
    return ToolOk(
        summary=summary + more,
        data=data,
        source=source,
        source_version=version,
        truncated=after is not None,
        next_offset=after,
    )
