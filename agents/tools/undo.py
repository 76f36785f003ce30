"""What was written into the drafts folder, under which key, and the bytes that it replaced.

One record per write stands in the folder `.maskgrad-undo` of the drafts: begun before the file is touched and done
after it, so that after a crash the key tells whether the write happened. Files appear whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from itertools import count
from typing import Final, Literal

UNDO_FOLDER: Final = ".maskgrad-undo"
"""Below the drafts folder; no tool sees it as a path."""
_FLAGS: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One write, by its key."""

    id: str
    """Of the key: what `undo_draft` takes."""
    path: str
    """As it was given."""
    before: str | None
    """SHA-256 of what was replaced; `None`: there was nothing."""
    after: str
    """SHA-256 of what was written."""
    state: Literal["begun", "done", "undone"] = "begun"


def id_of(key: str) -> str:
    """Return the id of the write with this idempotency key."""
    return hashlib.sha256(key.encode("utf-8")).hexdigest()[:24]


def digest_of_bytes(content: bytes | None) -> str | None:
    """Return the SHA-256 of `content`, hex; `None` for no content."""
    return None if content is None else hashlib.sha256(content).hexdigest()


@dataclass(frozen=True, slots=True)
class UndoJournal:
    """The records of one drafts folder, by an open descriptor of `UNDO_FOLDER` in it."""

    folder: int

    def load(self, write: str) -> Write | None:
        """Return the record with this id; `None` when there is none, or none that can be read."""
        try:
            return Write(**json.loads(self._read(f"{write}.json")))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def newest(self, key: str) -> tuple[str, Write | None]:
        """Return the record of the newest write under `key`, with its id; one that was undone makes room for another.

        Each of them has an id of its own, so that each can be undone.
        """
        for number in count():
            write = id_of(key if number == 0 else f"{key}\n{number}")
            found = self.load(write)
            if found is None or found.state != "undone":
                return write, found
        raise AssertionError("numbers do not end")

    def begin(self, write: Write, old: bytes | None) -> None:
        """Record a write before it is made, with the bytes that it replaces."""
        if old is not None:
            self._put(f"{write.id}.old", old)
        self._save(write)

    def finish(self, write: Write, state: Literal["done", "undone"]) -> Write:
        """Record that the write was made, or undone."""
        after = replace(write, state=state)
        self._save(after)
        return after

    def old(self, write: Write) -> bytes | None:
        """Return the bytes that `write` replaced; raises `FileNotFoundError` when they are gone."""
        return None if write.before is None else self._read(f"{write.id}.old")

    def put_new(self, write: Write, content: bytes, folder: int, name: str) -> None:
        """Make the file `name`, whole; raises `FileExistsError` when one is there, also if it comes at this moment."""
        with self._whole(write, content, 0o644) as temporary:
            os.link(temporary, name, src_dir_fd=self.folder, dst_dir_fd=folder, follow_symlinks=False)
        os.fsync(folder)

    def put_over(self, write: Write, content: bytes, folder: int, name: str) -> None:
        """Exchange the file `name` for one with `content` and the same permissions, at once."""
        mode = stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
        with self._whole(write, content, mode) as temporary:
            os.replace(temporary, name, src_dir_fd=self.folder, dst_dir_fd=folder)
        os.fsync(folder)

    @contextmanager
    def _whole(self, write: Write, content: bytes, mode: int) -> Iterator[str]:
        temporary = f"{write.id}.tmp"
        self._put(temporary, content, mode)
        try:
            yield temporary
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=self.folder)

    def _save(self, write: Write) -> None:
        self._put(f"{write.id}.next", json.dumps(asdict(write), ensure_ascii=False).encode("utf-8"))
        os.replace(f"{write.id}.next", f"{write.id}.json", src_dir_fd=self.folder, dst_dir_fd=self.folder)
        os.fsync(self.folder)

    def _put(self, name: str, content: bytes, mode: int = 0o600) -> None:
        with suppress(FileNotFoundError):  # left by a crash
            os.unlink(name, dir_fd=self.folder)
        with os.fdopen(
            os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, mode, dir_fd=self.folder), "wb"
        ) as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())

    def _read(self, name: str) -> bytes:
        with os.fdopen(os.open(name, os.O_RDONLY | _FLAGS, dir_fd=self.folder), "rb") as file:
            return file.read()
