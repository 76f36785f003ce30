"""Load the bytes of documents by their address: the port, and a folder that nothing leads out of."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path, PurePosixPath
from typing import Protocol

from agents.retrieval.reading import MAX_NOTE_BYTES

_NOT_PLAIN = frozenset({"", ".", ".."})
_ODD = "\0\\:"
"""Characters that end, divide or redirect a path somewhere."""
_NO_SUCH_FILE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG})


class DocumentMissing(LookupError):
    """There is no document at this address; raised by loaders, a falsified citation for who traces evidence."""

    def __init__(self, uri: str, why: str) -> None:
        self.uri = uri
        super().__init__(f"no document {uri!r}: {why}")


class DocumentLoader(Protocol):
    """Gives the bytes of a document as they are now."""

    def load(self, uri: str) -> bytes:
        """Return the bytes at `uri`; raises `DocumentMissing` if there is none, `OSError` if it can't be read."""
        ...


class FolderLoader:
    """Loads files below one folder, by their path relative to it, written with `/`."""

    def __init__(self, folder: Path | str) -> None:
        self._root = Path(folder)
        self._folder = str(self._root)

    def load(self, uri: str) -> bytes:
        """Return the bytes of the file, at most `MAX_NOTE_BYTES` and one more.

        A longer file was never read as a note, so that the cut can only make a digest differ. Raises
        `DocumentMissing` for an address that is absent, no regular file, or leads out of the folder (by `..`, by an
        absolute path or by a link), `OSError` if the folder or the file can't be read.
        """
        with open(self._plainly_inside(uri) or self._resolved(uri), "rb") as file:
            # As much as there is: a read of the limit would ask for that much memory each time.
            expected = min(os.fstat(file.fileno()).st_size, MAX_NOTE_BYTES)
            data = file.read(expected + 1)
            if len(data) > expected:  # it grew since, or is longer than the limit
                data += file.read(MAX_NOTE_BYTES - expected)
            return data

    def _plainly_inside(self, uri: str) -> str | None:
        """Return the path of a regular file that no link, dot or odd character leads to; `None`: ask `_resolved`.

        Below the folder every step is looked at once; how the folder itself is reached makes no difference to what is
        inside of it.
        """
        steps = uri.split("/")
        if any(mark in uri for mark in _ODD) or any(step in _NOT_PLAIN for step in steps):
            return None
        path = self._folder
        try:
            for step in steps:
                path = f"{path}/{step}"
                found = os.lstat(path)
                if stat.S_ISLNK(found.st_mode) or getattr(found, "st_reparse_tag", False):
                    return None
        except (OSError, ValueError):
            return None
        return path if stat.S_ISREG(found.st_mode) else None

    def _resolved(self, uri: str) -> Path:
        # Without the folder every citation would look fabricated: that is an unreadable source, not a false one.
        root = self._root.resolve(strict=True)
        parts = PurePosixPath(uri)
        if not uri or "\0" in uri or "\\" in uri or parts.is_absolute() or ".." in parts.parts:
            raise DocumentMissing(uri, "the address does not stay inside the sources folder")
        try:
            path = root.joinpath(*parts.parts).resolve(strict=True)
        except RuntimeError:  # what `resolve` raises for a link to itself before Python 3.13
            raise DocumentMissing(uri, "a link that leads to itself") from None
        except OSError as error:
            if error.errno not in _NO_SUCH_FILE:
                raise
            raise DocumentMissing(uri, "no such file in the sources folder") from None
        if not path.is_relative_to(root):
            raise DocumentMissing(uri, "a link that leaves the sources folder")
        if not path.is_file():
            raise DocumentMissing(uri, "no regular file")
        return path
