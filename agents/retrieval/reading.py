"""Read a folder of notes into documents with exact text, and list what could not be read.

A document's `text` is the decoded file without its byte order mark, line ends untouched, so that character offsets
and line numbers can be checked against the file by anybody; only control characters become U+FFFD, one for one, for
they could move a terminal's cursor. Lines end with `\\n`, `\\r\\n` or `\\r`.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from agents.evidence import Source, SourceId, source_id

NOTE_SUFFIXES = (".md", ".markdown", ".txt")
"""What counts as a note, whatever the case of its suffix."""
MAX_NOTE_BYTES = 5_000_000
"""Larger files are skipped: a note of this size is a data dump, and nothing would point to a place in it."""

SkipReason = Literal[
    "unsupported_type", "binary", "too_large", "empty", "unreadable", "outside_folder", "unknown_encoding"
]
"""`unsupported_type`: not named like a note; `binary`: holds NUL, or more than `MAX_CONTROL_SHARE` control bytes;
`too_large`: above `MAX_NOTE_BYTES`; `empty`: no visible character; `unreadable`: the system refused; `outside_folder`:
a link that leaves the folder; `unknown_encoding`: no supported encoding decodes it cleanly."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")
"""Control characters but for tab, line ends and form feed. By a pattern: notes are read anew for every run."""
_CONTROL_BYTE = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f\x7f]")
"""The same of ASCII: what is a control character in every encoding that holds ASCII."""
_ASCII_CONTROL = re.compile(r"[\x01-\x08\x0b\x0e-\x1f\x7f]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_CHINESE_RUN = re.compile(r"[\u4e00-\u9fff，。！？；：、“”（）《》]+")
_SHORTEST_MEAN_RUN = 2.0
_MAX_FOREIGN_SHARE = 0.2
"""Share of other characters beyond ASCII, beside the Chinese ones, that a guessed text may have."""
_LINE_END = re.compile(r"\r\n|\n|\r")
MAX_CONTROL_SHARE = 0.3
"""Share of control bytes (other than tab and line ends) above which a file is no text; Perl's `-B` takes a third."""


_NAMED_A_COPY = re.compile(
    r"(?:^|[ _\-(])(?:copy|backup|bak|duplicate)(?:$|[ _\-)\d])|(?<=[^\d\s]) ?\(\d{1,2}\)$|副本|备份|拷贝|复件",
    re.IGNORECASE,
)
"""What file managers and people call a copy: “offer copy”, “Copy of offer”, “offer (1)”, “合同 - 副本”."""


class FolderNotFound(FileNotFoundError):
    """The folder of sources does not exist or is no folder.

    Raised by `read_folder`; name another folder, or create it and put the notes in.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        what = "is not a folder" if folder.exists() else "does not exist"
        super().__init__(
            f"sources folder {str(folder)!r} {what}; give an existing folder with "
            f"{', '.join(NOTE_SUFFIXES)} files, or create it and put the notes there"
        )


class FolderUnreadable(PermissionError):
    """The system refuses to list the folder of sources; `reason` is what it says.

    Raised by `read_folder`; give the folder the rights that are missing, or name another one.
    """

    def __init__(self, folder: Path, reason: str) -> None:
        self.folder = folder
        self.reason = reason
        super().__init__(
            f"sources folder {str(folder)!r} can't be read ({reason}); allow yourself to list it and to read its "
            f"files, or give another folder with {', '.join(NOTE_SUFFIXES)} files"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """The text of a file and how it was decoded."""

    text: str
    encoding: str
    note: str | None = None
    """A remark for people: that the encoding was guessed, that control characters were replaced."""
    guessed: bool = False
    """Whether nothing but its plausibility speaks for the encoding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One note."""

    source: Source
    text: str
    """Decoded, without byte order mark, line ends as in the file."""
    encoding: str = "utf-8"
    note: str | None = None
    """A remark for people, e.g. that the encoding was guessed."""
    guessed: bool = False
    """Whether the encoding was guessed."""
    line_starts: tuple[int, ...] = (0,)
    """Offset of the first character of each line, ascending."""

    @property
    def path(self) -> str:
        """Return the path relative to the folder."""
        return self.source.uri

    @property
    def line_count(self) -> int:
        """Return the number of lines, at least 1."""
        return len(self.line_starts)

    def line_of(self, offset: int) -> int:
        """Return the 1-based line that holds the character at `offset`."""
        return bisect_right(self.line_starts, offset)

    def line_range(self, start_char: int, end_char: int) -> tuple[int, int]:
        """Return the 1-based first and last line of the characters `start_char` to `end_char` (exclusive)."""
        return self.line_of(start_char), self.line_of(max(start_char, end_char - 1))

    def line_span_chars(self, start_line: int, end_line: int) -> tuple[int, int]:
        """Return the character range of lines `start_line` to `end_line` (inclusive), with the last line end."""
        end = self.line_starts[end_line] if end_line < self.line_count else len(self.text)
        return self.line_starts[start_line - 1], end


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """A file that was not read, and why."""

    path: str
    reason: SkipReason
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """What a folder held, in the order of the paths."""

    documents: tuple[Document, ...]
    skipped: tuple[Skip, ...] = ()

    @property
    def digest(self) -> str:
        """Return the SHA-256 over paths and contents of the documents, in hex."""
        total = hashlib.sha256()
        for document in self.documents:
            total.update(f"{document.path}\n{document.source.digest}\n".encode())
        return total.hexdigest()


def read_folder(folder: Path | str, *, now: Callable[[], datetime] | None = None) -> Corpus:
    """Read all notes below `folder`, sorted by path; what can't be read is in `skipped`.

    Files whose names say that they are copies come last: of two equal texts the first one is cited.
    `now` gives the time for `retrieved_at` (default: the system's clock). Hidden files and folders are left out.
    Raises `FolderNotFound` if `folder` is no existing folder, and `FolderUnreadable` if the system does not list it.
    """
    root = Path(folder)
    require_folder(root)
    moment = (now or _utc_now)().astimezone(UTC).isoformat(timespec="seconds")
    documents: list[Document] = []
    skipped: list[Skip] = []
    inside = root.resolve()
    for path in _visible_files(root, skipped):
        outcome = _read_note(root, inside, path, moment)
        if isinstance(outcome, Skip):
            skipped.append(outcome)
        else:
            documents.append(outcome)
    return Corpus(documents=tuple(documents), skipped=tuple(skipped))


def require_folder(folder: Path) -> None:
    """Raise `FolderNotFound` unless `folder` is a folder, and `FolderUnreadable` unless the system lists it."""
    try:
        if not folder.is_dir():
            raise FolderNotFound(folder)
        with os.scandir(folder):
            pass
    except FolderNotFound:
        raise
    except OSError as error:
        raise FolderUnreadable(folder, _said(error)) from error


def document_from_text(
    path: str, text: str, *, retrieved_at: str = "1970-01-01T00:00:00+00:00", data: bytes | None = None
) -> Document:
    """Return the document at `path` with decoded `text`; `data` are the file's bytes (default: `text` in UTF-8)."""
    digest = hashlib.sha256(text.encode("utf-8") if data is None else data).hexdigest()
    source = Source(
        id=source_id(path, digest),
        uri=path,
        title=title_of(text, path),
        digest=digest,
        retrieved_at=retrieved_at,
    )
    return Document(source=source, text=text, line_starts=line_starts(text))


def line_starts(text: str) -> tuple[int, ...]:
    """Return the offset of each line's first character; `\\r\\n` ends one line."""
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    if len(starts) > 1 and starts[-1] == len(text):
        starts.pop()
    return tuple(starts)


def decode_note(data: bytes) -> Decoded | None:
    """Return the text of a file, or `None` if no supported encoding decodes it cleanly.

    A byte order mark decides; else UTF-8; else GB18030 and UTF-16, each only if the result has no control characters
    (of ASCII, GB18030 may have some) and holds Chinese characters (any bytes decode as something there). Control
    characters of the text are replaced, and noted; a text with NUL is no text.
    """
    decoded = _decoded(data)
    if decoded is None or "\x00" in decoded.text:
        return None
    text, replaced = _CONTROL.subn(_REPLACEMENT, decoded.text)
    if not replaced:
        return decoded
    said = f"{replaced} control character{'' if replaced == 1 else 's'} replaced"
    return replace(decoded, text=text, note=said if decoded.note is None else f"{decoded.note}; {said}")


def _decoded(data: bytes) -> Decoded | None:
    for mark, encoding in (
        (b"\xef\xbb\xbf", "utf-8"),
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
    ):
        if data.startswith(mark):
            text = _strict(data[len(mark) :], encoding)
            return None if text is None else Decoded(text=text, encoding=encoding)
    text = _strict(data, "utf-8")
    if text is not None:
        return Decoded(text=text, encoding="utf-8")
    for encoding in ("gb18030", "utf-16-le", "utf-16-be"):
        text = _strict(data, encoding)
        # A byte below 128 is ASCII in GB18030; in UTF-16 it is half of any character.
        plain = text if text is None or encoding != "gb18030" else _ASCII_CONTROL.sub("", text)
        if text is not None and plain is not None and _plausible_guess(plain):
            return Decoded(text=text, encoding=encoding, note=f"encoding guessed: {encoding}", guessed=True)
    return None


def title_of(text: str, path: str) -> str:
    """Return the front matter's `title`, else the first heading, else the file name without suffix."""
    front = re.match(r"(?:---[ \t]*(?:\r\n|\n|\r))(.*?)(?:\r\n|\n|\r)---", text, re.DOTALL)
    if front:
        titled = re.search(r"^title:[ \t]*(.+?)[ \t]*$", front.group(1), re.MULTILINE)
        if titled:
            return titled.group(1).strip("\"'")
    heading = re.search(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", text, re.MULTILINE)
    if heading:
        return heading.group(1).strip()
    return Path(path).stem


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _said(error: OSError) -> str:
    return error.strerror or str(error)


def _visible_files(root: Path, skipped: list[Skip]) -> Iterator[Path]:
    """Yield the files below `root`; a folder below it that the system does not list goes to `skipped`."""
    found: list[Path] = []

    def skip(error: OSError) -> None:
        path = Path(error.filename).relative_to(root).as_posix()
        skipped.append(Skip(path=path, reason="unreadable", detail=f"the folder: {_said(error)}"))

    for folder, names, files in os.walk(root, followlinks=False, onerror=skip):
        names[:] = [name for name in names if not name.startswith(".")]
        found.extend(Path(folder) / name for name in files if not name.startswith("."))
        # A linked folder is not walked; naming it is better than silence.
        found.extend(Path(folder) / name for name in names if (Path(folder) / name).is_symlink())
    yield from sorted(found, key=lambda path: (_is_named_a_copy(path), path.relative_to(root).as_posix()))


def _is_named_a_copy(path: Path) -> bool:
    return _NAMED_A_COPY.search(path.stem) is not None


def _read_note(root: Path, inside: Path, path: Path, moment: str) -> Document | Skip:
    relative = path.relative_to(root).as_posix()
    try:
        if not path.resolve(strict=True).is_relative_to(inside):
            return Skip(
                path=relative, reason="outside_folder", detail="a link that leaves the sources folder"
            )
        if path.is_dir():
            return Skip(path=relative, reason="outside_folder", detail="a linked folder is not followed")
        if not path.name.lower().endswith(NOTE_SUFFIXES):
            detail = f"read are files named {', '.join(f'*{suffix}' for suffix in NOTE_SUFFIXES)}"
            return Skip(path=relative, reason="unsupported_type", detail=detail)
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            # To read a pipe can take forever.
            return Skip(path=relative, reason="unsupported_type", detail="no regular file")
        data = _content(path, found.st_size) if found.st_size <= MAX_NOTE_BYTES else b""
        size = max(found.st_size, len(data))
        if size > MAX_NOTE_BYTES:
            detail = f"{size} bytes; notes of up to {MAX_NOTE_BYTES} bytes are read"
            return Skip(path=relative, reason="too_large", detail=detail)
    except OSError as error:
        return Skip(path=relative, reason="unreadable", detail=_said(error))
    return _document_of_bytes(relative, data, moment)


def _content(path: Path, size: int) -> bytes:
    """Return the bytes of a file that had `size` bytes; of one that is growing no more than one beyond the limit."""
    with path.open("rb") as file:
        data = file.read(size + 1)
        return data if len(data) <= size else data + file.read(max(0, MAX_NOTE_BYTES + 1 - len(data)))


def _document_of_bytes(relative: str, data: bytes, moment: str) -> Document | Skip:
    if not data.strip():
        return Skip(path=relative, reason="empty", detail="the file has no text")
    decoded = decode_note(data)
    # UTF-16 holds NUL bytes and is text.
    if len(_CONTROL_BYTE.findall(data)) > MAX_CONTROL_SHARE * len(data) and not _is_wide(decoded):
        return Skip(path=relative, reason="binary", detail="not a text file")
    if decoded is None:
        if b"\x00" in data:
            return Skip(path=relative, reason="binary", detail="not a text file")
        detail = "neither UTF-8 nor GB18030 nor UTF-16; save it as UTF-8"
        return Skip(path=relative, reason="unknown_encoding", detail=detail)
    if not decoded.text.strip():
        return Skip(path=relative, reason="empty", detail="the file has no text")
    document = document_from_text(relative, decoded.text, retrieved_at=moment, data=data)
    return Document(
        source=document.source,
        text=document.text,
        encoding=decoded.encoding,
        note=decoded.note,
        guessed=decoded.guessed,
        line_starts=document.line_starts,
    )


def _is_wide(decoded: Decoded | None) -> bool:
    return decoded is not None and decoded.encoding.startswith("utf-16")


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _plausible_guess(text: str) -> bool:
    if _CONTROL.search(text):
        return False
    # Western text read as GB18030 has single Chinese characters between its letters; Chinese text has runs.
    runs = _CHINESE_RUN.findall(text)
    if not runs or sum(map(len, runs)) < _SHORTEST_MEAN_RUN * len(runs):
        return False
    foreign = sum(1 for char in text if ord(char) > 127) - sum(map(len, runs))
    return foreign <= _MAX_FOREIGN_SHARE * sum(map(len, runs))


__all__ = [
    "MAX_CONTROL_SHARE",
    "MAX_NOTE_BYTES",
    "NOTE_SUFFIXES",
    "Corpus",
    "Decoded",
    "Document",
    "FolderNotFound",
    "FolderUnreadable",
    "Skip",
    "SkipReason",
    "SourceId",
    "decode_note",
    "document_from_text",
    "line_starts",
    "read_folder",
    "require_folder",
    "title_of",
]
