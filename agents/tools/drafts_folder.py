"""The folder of drafts: what is written there is recorded first, happens once for its key, and can be taken back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from agents.tools.contract import ToolError, ToolOk, ToolResult
from agents.tools.names import Refused, shown
from agents.tools.paths import PathGate, PathRefused, of_system, open_in
from agents.tools.ports import NotPerformed
from agents.tools.undo import UNDO_FOLDER, UndoJournal, Write, digest_of_bytes


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a file of the drafts stands, opened."""

    journal: UndoJournal
    folder: int
    name: str
    path: str

    def current(self) -> bytes | None:
        """Return the file's bytes; `None`: there is none. Raises for what is no ordinary file."""
        try:
            opened = open_in(self.folder, self.name, self.path)
        except FileNotFoundError:
            return None
        with os.fdopen(opened, "rb") as file:
            return file.read()

    def exchange(self, write: Write, current: bytes | None, wanted: bytes | None) -> None:
        """Make the file, which has the content `current`, one with the content `wanted`."""
        if wanted is None:
            os.unlink(self.name, dir_fd=self.folder)
            os.fsync(self.folder)
        elif current is None:
            self.journal.put_new(write, wanted, self.folder, self.name)
        else:
            self.journal.put_over(write, wanted, self.folder, self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftsFolder:
    """The folder of drafts and the records of what was written there; shared by its three tools."""

    path: Path
    name: str = "drafts"
    prefixed: bool = False
    """Paths begin with `name`, as those of other folders do beside it."""
    gate: PathGate = field(init=False)
    """Of the folder; the records are no files of it."""
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        gate = PathGate(
            folders={self.name: self.path}, prefixed=self.prefixed, hidden=frozenset({UNDO_FOLDER})
        )
        object.__setattr__(self, "gate", gate)

    def write(self, path: str, content: bytes, key: str, replaces: str | None) -> ToolResult:
        """Write once for `key`, anew when that was undone: a new file, or over the file whose digest is `replaces`."""
        with self._lock, self._place(path, make=True) as place:
            own, found = place.journal.newest(key)
            if found is not None:
                outcome = _outcome(place, found)
                if outcome is None:
                    return error_of(
                        "CONFLICT", f"{shown(path)} was changed while it was written. Read it again."
                    )
                if not isinstance(outcome, NotPerformed):
                    return outcome
            current = place.current()
            problem = conflict(path, digest_of_bytes(current), replaces)
            if problem is not None:
                return problem
            after = digest_of_bytes(content)
            assert after is not None, "there is content"
            write = Write(id=own, path=path, before=digest_of_bytes(current), after=after)
            place.journal.begin(write, current)
            place.exchange(write, current, content)
            return told_of(place.journal.finish(write, "done"), after, len(content))

    def undo(self, write: Write) -> ToolResult:
        """Restore what `write` replaced, unless the file was changed since."""
        with self._lock, self._place(write.path) as place:
            found = place.journal.load(write.id) or write
            current, old = place.current(), place.journal.old(found)
            now = digest_of_bytes(current)
            if now != found.before:
                if now != found.after:
                    message = (
                        f"{shown(found.path)} was changed since: it is not restored. Read it and write anew."
                    )
                    return error_of("CONFLICT", message)
                place.exchange(found, current, old)
            return told_of(place.journal.finish(found, "undone"), found.before, len(old or b""))

    def outcome_of(self, write: Write | None) -> ToolResult | NotPerformed | None:
        """Tell what came of a write: done, not done, or `None` when the file is another one by now."""
        if write is None:
            return NotPerformed()
        with self._lock, self._place(write.path) as place:
            return _outcome(place, write)

    def record(self, write: str) -> Write | None:
        """Return the record of a write by its id."""
        with self._journal() as journal:
            return journal.load(write)

    def newest(self, key: str) -> Write | None:
        """Return the record of the newest write under a key that was not undone."""
        with self._journal() as journal:
            return journal.newest(key)[1]

    def old_text(self, write: Write) -> bytes | None:
        """Return the bytes that `write` replaced."""
        with self._journal() as journal:
            return journal.old(write)

    @contextmanager
    def _journal(self) -> Iterator[UndoJournal]:
        root = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with suppress(FileExistsError):
                os.mkdir(UNDO_FOLDER, 0o700, dir_fd=root)
            records = os.open(UNDO_FOLDER, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=root)
        finally:
            os.close(root)
        try:
            yield UndoJournal(records)
        finally:
            os.close(records)

    @contextmanager
    def _place(self, path: str, *, make: bool = False) -> Iterator[_Place]:
        """Lend the place of a file; its folder is made when `make` says so. Raises `PathRefused` and `OSError`."""
        parts = self.gate.parts_of(path)
        if isinstance(parts, Refused):
            raise PathRefused(parts)
        root, *names = parts
        if not names:
            raise PathRefused(
                Refused("NOT_A_FILE", f"{shown(path)} is the drafts folder. Give a file in it.")
            )
        with self._journal() as journal, self.gate.folder(root, tuple(names[:-1]), path, make=make) as folder:
            yield _Place(journal, folder, self.gate.stored_name(folder, names[-1], path), path)


def conflict(path: str, now: str | None, replaces: object) -> ToolError | None:
    """Say why a write is not made: a new file where one is, or another version than the one that is named."""
    if replaces is None:
        if now is None:
            return None
        return error_of(
            "EXISTS",
            f"{shown(path)} exists. Give another path, or read it and replace it with `overwrite_draft`.",
        )
    if now is None:
        return error_of(
            "NOT_FOUND", f"nothing is at {shown(path)} to be replaced. Make it with `write_draft`."
        )
    if now != replaces:
        return error_of(
            "CONFLICT",
            f"{shown(path)} has the digest {now}, not {str(replaces)[:64]!r}: it was changed. Read it again.",
        )
    return None


def tried(path: str, act: Any) -> Any:
    """Return what `act` gives; a path that is refused, or the system's refusal, as the tool's error."""
    try:
        return act()
    except PathRefused as refused:
        return error_of(refused.refused.reason, refused.refused.message)
    except (OSError, UnicodeEncodeError) as error:
        found = of_system(path, error)
        return error_of(found.reason, found.message)


def told_of(write: Write, digest: str | None, size: int | None = None) -> ToolOk:
    """Return what is said of a write that was made or undone: `digest` and `size`, in bytes, are the file's now."""
    done = "undone" if write.state == "undone" else "written"
    data = {"path": write.path, "digest": digest, "bytes": size, "undo": write.id}
    return ToolOk(
        summary=f"{shown(write.path)} {done}",
        data={name: value for name, value in data.items() if name != "bytes" or value is not None},
        source=write.path,
        source_version=digest,
        taint="trusted",
    )


def error_of(error_type: str, message: str) -> ToolError:
    """Return an error that is the same at the next try."""
    return ToolError(error_type=error_type, message=message, retryable=False)


def _settled(place: _Place, write: Write) -> Literal["performed", "changed"] | None:
    """Say what a record and the file tell: performed, changed by others since it was begun, or `None`: not made."""
    if write.state != "begun":
        return "performed"
    now = digest_of_bytes(place.current())
    if now == write.after:
        return "performed"
    return None if now == write.before else "changed"


def _outcome(place: _Place, write: Write) -> ToolResult | NotPerformed | None:
    match _settled(place, write):
        case None:
            return NotPerformed()
        case "changed":
            return None
        case "performed" if write.state == "begun":
            return told_of(place.journal.finish(write, "done"), write.after)
    return told_of(write, write.after)
