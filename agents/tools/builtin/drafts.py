"""The tools that write: `write_draft` makes a file, `overwrite_draft` exchanges one, `undo_draft` takes either back.

Two tools, for making a file that only this run looks at and replacing a user's file are two classes of side effect,
and an approval must say which. All is keyed: with the same key a write happens once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agents.tools.builtin.files import text_of
from agents.tools.contract import ToolError, ToolResult, ToolSpec
from agents.tools.diffs import diff_of
from agents.tools.drafts_folder import DraftsFolder, conflict, error_of, told_of, tried
from agents.tools.effect_threads import EFFECT_THREADS
from agents.tools.names import Refused, shown
from agents.tools.paths import PathGate
from agents.tools.ports import NotPerformed
from agents.tools.previews import TOOL_TIMEOUT_S
from agents.tools.undo import digest_of_bytes
from graphs.contract import Lang

LONGEST_DRAFT: Final = 1_000_000
"""Characters of one draft."""
_DIGEST: Final = "^[0-9a-f]{64}$"
_PATH: Final[Mapping[str, Any]] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 4_096,
    "description": "Below the drafts folder, with '/'; folders are made.",
}
_CONTENT: Final[Mapping[str, Any]] = {
    "type": "string",
    "maxLength": LONGEST_DRAFT,
    "description": "The whole text of the file.",
}
_ERRORS: Final = (
    "INVALID_PATH",
    "ACCESS_DENIED",
    "NOT_FOUND",
    "NOT_A_FILE",
    "AMBIGUOUS",
    "UNREADABLE",
    "CONFLICT",
)
_WRITTEN: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "digest": {"type": ["string", "null"], "description": "SHA-256 of the file now; null: it is gone."},
        "bytes": {"type": "integer"},
        "undo": {"type": "string", "description": "What `undo_draft` takes."},
    },
    "required": ["path", "digest", "undo"],
}

WRITE_DRAFT: Final = ToolSpec(
    name="write_draft",
    purpose="Write a new file into the drafts folder.",
    when_to_use="To hand over a text, such as a report or a letter, as a file that does not exist yet.",
    when_not_to_use="To change a file that exists: `overwrite_draft` does, and is approved by itself.",
    input_schema={
        "type": "object",
        "properties": {"path": _PATH, "content": _CONTENT},
        "required": ["path", "content"],
        "additionalProperties": False,
    },
    output_schema=_WRITTEN,
    scope="the drafts folder",
    timeout_s=TOOL_TIMEOUT_S,
    side_effect="draft",
    permission="drafts.write",
    error_codes=(*_ERRORS, "EXISTS", "INVALID_ARGUMENT"),
    repeat="keyed",
    compensation="undo_draft",
)
OVERWRITE_DRAFT: Final = ToolSpec(
    name="overwrite_draft",
    purpose="Replace the whole text of a file in the drafts folder.",
    when_to_use="To change a file that was read before, with `replaces` as `read_file` gave its digest.",
    when_not_to_use="To make a new file: `write_draft` does.",
    input_schema={
        "type": "object",
        "properties": {
            "path": _PATH,
            "content": _CONTENT,
            "replaces": {
                "type": "string",
                "pattern": _DIGEST,
                "description": "SHA-256 of the file as it was read: another version is not overwritten.",
            },
        },
        "required": ["path", "content", "replaces"],
        "additionalProperties": False,
    },
    output_schema=_WRITTEN,
    scope="the drafts folder",
    timeout_s=TOOL_TIMEOUT_S,
    side_effect="write",
    permission="drafts.overwrite",
    error_codes=(*_ERRORS, "INVALID_ARGUMENT"),
    repeat="keyed",
    compensation="undo_draft",
)
UNDO_DRAFT: Final = ToolSpec(
    name="undo_draft",
    purpose="Take back what `write_draft` or `overwrite_draft` did: the old text is restored, a new file removed.",
    when_to_use="When a file that was written is not wanted after all.",
    when_not_to_use="To write something else: that is a write of its own.",
    input_schema={
        "type": "object",
        "properties": {
            "undo": {"type": "string", "pattern": "^[0-9a-f]{24}$", "description": "As the write said."}
        },
        "required": ["undo"],
        "additionalProperties": False,
    },
    output_schema=_WRITTEN,
    scope="the drafts folder",
    timeout_s=TOOL_TIMEOUT_S,
    side_effect="write",
    permission="drafts.overwrite",
    error_codes=_ERRORS,
    repeat="keyed",
)


@dataclass(frozen=True, slots=True)
class WriteTool:
    """The tools `write_draft` and `overwrite_draft`: they differ in what they accept to find."""

    drafts: DraftsFolder
    spec: ToolSpec

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Refuse: a write is performed under a key."""
        del arguments
        return _no_key(self.spec)

    async def preview(self, arguments: Mapping[str, Any], lang: Lang) -> str:
        """Return the change as a unified diff, or why it would be refused."""
        return await asyncio.to_thread(self._preview, arguments, lang)

    async def perform(self, arguments: Mapping[str, Any], key: str) -> ToolResult:
        """Write the file, once for `key`."""
        path, replaces = str(arguments["path"]), arguments.get("replaces")
        try:
            content = str(arguments["content"]).encode("utf-8")
        except UnicodeEncodeError as error:
            return error_of(
                "INVALID_ARGUMENT", f"arguments.content holds half a character: {error}. Write it as text."
            )
        return await EFFECT_THREADS.perform(
            key, lambda: tried(path, lambda: self.drafts.write(path, content, key, replaces))
        )

    async def outcome_of(self, arguments: Mapping[str, Any], key: str) -> ToolResult | NotPerformed | None:
        """Tell by the records and the file's digest whether the write with `key` happened and was not undone."""
        return await EFFECT_THREADS.outcome(key, lambda: self._looked_up(str(arguments["path"]), key))

    async def _looked_up(self, path: str, key: str) -> ToolResult | NotPerformed | None:
        found = await asyncio.to_thread(tried, path, lambda: self.drafts.outcome_of(self.drafts.newest(key)))
        # A folder that is not there holds no file; whatever else is in the way is not known.
        lacking = isinstance(found, ToolError) and found.error_type == "NOT_FOUND"
        return NotPerformed() if lacking else None if isinstance(found, ToolError) else found

    def _preview(self, arguments: Mapping[str, Any], lang: Lang) -> str:
        path, content = str(arguments["path"]), str(arguments["content"])
        current = _content(self.drafts.gate, path)
        if isinstance(current, Refused):
            return _refused(path, current.reason, current.message, lang)
        problem = conflict(path, digest_of_bytes(current), arguments.get("replaces"))
        if problem is not None:
            return _refused(path, problem.error_type, problem.message, lang)
        return _diff(current, content, path, lang)


@dataclass(frozen=True, slots=True)
class UndoTool:
    """The tool `undo_draft`."""

    drafts: DraftsFolder
    spec: ToolSpec = UNDO_DRAFT

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Refuse: an undoing is performed under a key."""
        del arguments
        return _no_key(self.spec)

    async def preview(self, arguments: Mapping[str, Any], lang: Lang) -> str:
        """Return what undoing would change as a unified diff."""
        return await asyncio.to_thread(self._preview, str(arguments["undo"]), lang)

    async def perform(self, arguments: Mapping[str, Any], key: str) -> ToolResult:
        """Undo the write; a second time it finds it undone."""
        write = str(arguments["undo"])
        return await EFFECT_THREADS.perform(key, lambda: tried(write, lambda: self._undone(write)))

    async def outcome_of(self, arguments: Mapping[str, Any], key: str) -> ToolResult | NotPerformed | None:
        """Tell by the record whether the write was undone; undoing it again would change nothing more."""
        return await EFFECT_THREADS.outcome(key, lambda: self._looked_up(str(arguments["undo"])))

    async def _looked_up(self, write: str) -> ToolResult | NotPerformed:
        found = await asyncio.to_thread(self.drafts.record, write)
        return (
            told_of(found, found.before) if found is not None and found.state == "undone" else NotPerformed()
        )

    def _undone(self, write: str) -> ToolResult:
        found = self.drafts.record(write)
        if found is None:
            return error_of(
                "NOT_FOUND", f"no write {write!r:.40} is recorded. Give `undo` as the write said it."
            )
        return self.drafts.undo(found)

    def _preview(self, write: str, lang: Lang) -> str:
        found = self.drafts.record(write)
        if found is None:
            return _refused(write, "NOT_FOUND", f"no write {write!r:.40} is recorded", lang)
        current = _content(self.drafts.gate, found.path)
        if isinstance(current, Refused):
            return _refused(found.path, current.reason, current.message, lang)
        old = self.drafts.old_text(found)
        return _diff(current, None if old is None else text_of(old) or "", found.path, lang)


def draft_tools(
    folder: Path, *, name: str = "drafts", prefixed: bool = False
) -> tuple[WriteTool, WriteTool, UndoTool]:
    """Return the three tools over the drafts in `folder`, which is made if it is not there.

    Raises `OSError` when it can't be made.
    """
    folder.mkdir(parents=True, exist_ok=True)
    drafts = DraftsFolder(path=folder, name=name, prefixed=prefixed)
    return WriteTool(drafts, WRITE_DRAFT), WriteTool(drafts, OVERWRITE_DRAFT), UndoTool(drafts)


def _content(gate: PathGate, path: str) -> bytes | Refused | None:
    opened = gate.open_file(path)
    if isinstance(opened, Refused):
        return None if opened.reason == "NOT_FOUND" else opened
    with opened:
        return opened.read()


def _diff(current: bytes | None, wanted: str | None, path: str, lang: Lang) -> str:
    if current is None:
        return diff_of(None, wanted, path, lang)
    text = text_of(current)
    if text is None:
        size = len(current)
        replaced = {
            "en": f"{path}: {size} bytes that are no text are replaced",
            "zh": f"{path}：将替换 {size} 字节的非文本内容",
        }
        return f"{replaced[lang]}\n{diff_of(None, wanted, path, lang)}"
    return diff_of(text, wanted, path, lang)


def _refused(what: str, code: str, message: str, lang: Lang) -> str:
    """Say in a preview that the tool would refuse, and why; in Chinese by the code, for messages are for models."""
    return f"refused: {message}" if lang == "en" else f"会被拒绝：{shown(what)}，{_WHY_ZH[code]}（{code}）"


_WHY_ZH: Final[Mapping[str, str]] = {
    "INVALID_PATH": "不是可接受的路径",
    "ACCESS_DENIED": "超出允许的文件夹",
    "NOT_FOUND": "不存在",
    "NOT_A_FILE": "不是普通文件",
    "AMBIGUOUS": "那里有两个看起来相同的名称",
    "UNREADABLE": "系统拒绝打开",
    "EXISTS": "已经存在",
    "CONFLICT": "此后已被改动",
}


def _no_key(spec: ToolSpec) -> ToolError:
    return error_of("ACTION_DENIED", f"{spec.name} changes files: it is performed under a key, never called")
