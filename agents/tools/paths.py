"""The path gate: the one way from a path that a person or a model gave to an open file inside the allowed folders.

Every component is opened from the folder above it, never following a link by itself, so that nothing that is exchanged
in between leads elsewhere: what was judged is what is open. A link is followed only by its text, which goes through
the same walk from the top of the folder. Hard links can't be told from files: who may create them in a folder decides
what is in it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final, Literal

from agents.tools.names import (
    DEEPEST,
    Refused,
    components_of,
    look_of,
    shown,
)
from agents.tools.texts.calls import REFUSALS
from agents.tools.texts.contract import say
from agents.tools.texts.files import PATHS

MOST_LINKS: Final = 8
"""Links that one path may go through."""
_AT_FOLDER: Final = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_FOLDER_FLAGS: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderEntry:
    """One name in a folder."""

    name: str
    kind: Literal["file", "folder"]
    size: int
    """Bytes of a file, 0 for a folder."""
    modified_ns: int


class PathRefused(Exception):
    """Carries a refusal out of a walk; the gate's own functions return it instead, but for `folder`."""

    def __init__(self, refused: Refused) -> None:
        self.refused = refused
        super().__init__(refused.message)


@dataclass(frozen=True, slots=True, kw_only=True)
class PathGate:
    """Opens files below the given folders and nothing else."""

    folders: Mapping[str, Path]
    """Allowed folders by the name that paths begin with. With one folder, paths begin inside it."""
    prefixed: bool = False
    """Paths begin with the folder's name also when there is one folder only."""
    hidden: frozenset[str] = frozenset()
    """Names that are treated as absent, at any depth."""
    _roots: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Fix where each folder really is: a link to a folder that the user allowed is the user's."""
        for name, folder in self.folders.items():
            self._roots[name] = os.path.realpath(folder)

    def open_file(self, given: str) -> IO[bytes] | Refused:
        """Open the regular file at `given` for reading; the caller closes it."""
        try:
            root, names = self._located(given)
            with self._walk(root, names, given) as (parent, name):
                return os.fdopen(open_in(parent, name, given), "rb")
        except PathRefused as refused:
            return refused.refused
        except (OSError, UnicodeEncodeError) as error:
            return of_system(given, error)

    def entries(self, given: str) -> tuple[FolderEntry, ...] | Refused:
        """List the folder at `given`, by name; links and what is neither file nor folder are left out.

        `.` is the allowed folder, or the list of them when there are several.
        """
        try:
            if self._named and components_of(given) == ():
                return tuple(
                    FolderEntry(name=name, kind="folder", size=0, modified_ns=0)
                    for name in sorted(self.folders)
                )
            root, names = self._located(given)
            with self.folder(root, names, given) as descriptor:
                return tuple(sorted(self._listed(descriptor), key=lambda entry: look_of(entry.name)))
        except PathRefused as refused:
            return refused.refused
        except (OSError, UnicodeEncodeError) as error:
            return of_system(given, error)

    def parts_of(self, given: str) -> tuple[str, ...] | Refused:
        """Return the allowed folder's name and the components below it, without touching a file."""
        try:
            root, names = self._located(given)
        except PathRefused as refused:
            return refused.refused
        return (root, *names)

    @contextmanager
    def folder(self, root: str, names: tuple[str, ...], given: str, *, make: bool = False) -> Iterator[int]:
        """Lend a descriptor of the folder below `root`; `make` creates what is missing of it.

        Raises `PathRefused`, and `OSError` as the system does (`of_system` says what it means).
        """
        with self._walk(root, (*names, "."), given, make=make) as (parent, _):
            yield parent

    def _listed(self, descriptor: int) -> Iterator[FolderEntry]:
        for name in os.listdir(descriptor):
            if name in self.hidden:
                continue
            try:
                found = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            except FileNotFoundError:
                continue
            if stat.S_ISREG(found.st_mode):
                yield FolderEntry(name=name, kind="file", size=found.st_size, modified_ns=found.st_mtime_ns)
            elif stat.S_ISDIR(found.st_mode):
                yield FolderEntry(name=name, kind="folder", size=0, modified_ns=found.st_mtime_ns)

    def _located(self, given: str) -> tuple[str, tuple[str, ...]]:
        """Return the allowed folder that `given` begins in, and the names below it."""
        names = components_of(given)
        if isinstance(names, Refused):
            raise PathRefused(names)
        if given.startswith("/"):
            return self._below(given, names)
        if not self._named:
            return next(iter(self.folders)), names
        by_look = {look_of(name): name for name in self.folders}
        root = by_look.get(look_of(names[0])) if names else None
        if root is None:
            raise PathRefused(self._outside(given))
        return root, names[1:]

    def _below(self, given: str, names: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        for root, real in self._roots.items():
            above = tuple(Path(real).parts[1:])
            if names[: len(above)] == above:
                return root, names[len(above) :]
        raise PathRefused(self._outside(given))

    @property
    def _named(self) -> bool:
        return self.prefixed or len(self.folders) != 1

    def _outside(self, given: str) -> Refused:
        if not self._named:
            return Refused("ACCESS_DENIED", say(PATHS, "outside_folder", path=shown(given)))
        names = ", ".join(shown(name) for name in sorted(self.folders)) or say(REFUSALS, "none")
        return Refused("ACCESS_DENIED", say(PATHS, "outside_folders", path=shown(given), known=names))

    @contextmanager
    def _walk(
        self, root: str, names: tuple[str, ...], given: str, *, make: bool = False
    ) -> Iterator[tuple[int, str]]:
        """Lend the descriptor of the folder that holds the last of `names`, and the name as it is stored there.

        The last of `names` is no link, at the moment; it is `.` for the folder itself.
        """
        if not _AT_FOLDER:
            raise PathRefused(
                Refused(
                    "UNREADABLE",
                    f"path {shown(given)} can't be opened safely: this system can't open a file from its folder. "
                    "Use the tools on Linux or macOS.",
                )
            )
        pending, at, links = list(names or (".",)), list[str](), 0
        held = os.open(self._roots[root], _FOLDER_FLAGS)
        try:
            while True:
                name = self.stored_name(held, pending.pop(0), given)
                target = _link_at(held, name)
                if target is not None:
                    links += 1
                    if links > MOST_LINKS or len(pending) > DEEPEST:
                        raise PathRefused(_denied_link(given))
                    pending = [*self._inside(root, target, at, given), *pending] or ["."]
                    at.clear()
                    held = _exchanged(held, os.open(self._roots[root], _FOLDER_FLAGS))
                elif not pending:
                    yield held, name
                    return
                else:
                    held = _exchanged(held, _opened_folder(held, name, make=make))
                    at.append(name)
        finally:
            os.close(held)

    def stored_name(self, folder: int, name: str, given: str) -> str:
        """Return the name in `folder` that reads like `name`; `name` itself when there is none."""
        look = look_of(name)
        if look.casefold() in {look_of(each).casefold() for each in self.hidden}:
            raise PathRefused(_not_found(given))
        if name == ".":
            return name
        alike = [
            each
            for each in os.listdir(folder)
            if each == name or (not (each.isascii() and name.isascii()) and look_of(each) == look)
        ]
        if len(alike) > 1:
            message = (
                f"path {shown(given)}: two names there look like {shown(name)}. Have one of them renamed."
            )
            raise PathRefused(Refused("AMBIGUOUS", message))
        return alike[0] if alike else name

    def _inside(self, root: str, target: str, at: list[str], given: str) -> tuple[str, ...]:
        """Return the names below `root` that a link with the text `target` in the folder `at` leads to."""
        real = self._roots[root]
        # By text alone: no component of `at` is a link, and links in the result are met one by one.
        inside = os.path.relpath(os.path.normpath(os.path.join(real, *at, target)), real)
        if inside == os.pardir or inside.startswith(os.pardir + os.sep):
            raise PathRefused(_denied_link(given))
        return () if inside == "." else tuple(inside.split(os.sep))


def _link_at(folder: int, name: str) -> str | None:
    """Return the text of the link `name`, `None` when it is none or nothing is there."""
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT):
            return None
        raise


def _opened_folder(folder: int, name: str, *, make: bool) -> int:
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, 0o777, dir_fd=folder)
    # Exchanged for a link since it was looked at, it fails to open.
    return os.open(name, _FOLDER_FLAGS | _NOFOLLOW, dir_fd=folder)


def open_in(folder: int, name: str, given: str) -> int:
    """Return a descriptor of the regular file `name` in the open `folder`; raises as `PathGate.folder`."""
    # Looked at before it is opened: to open some devices is already to use them.
    if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        raise PathRefused(_not_a_file(given))
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | _NOFOLLOW
    opened = os.open(name, flags, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise PathRefused(_not_a_file(given))
    return opened


def _exchanged(old: int, new: int) -> int:
    os.close(old)
    return new


def of_system(given: str, error: OSError | UnicodeEncodeError) -> Refused:
    """Return what the system's `error` means for `given`."""
    if isinstance(error, UnicodeEncodeError):
        # Under a locale other than UTF-8, names of files are written in its encoding.
        message = (
            f"path {shown(given)} can't be a name here: names are in {error.encoding}. Set PYTHONUTF8=1."
        )
        return Refused("INVALID_PATH", message)
    match error.errno:
        case errno.ENOENT:
            return _not_found(given)
        case errno.ELOOP | errno.EMLINK:
            return _denied_link(given)
        case errno.ENOTDIR | errno.EISDIR:
            return _not_a_file(given)
        case errno.ENAMETOOLONG:
            return Refused(
                "INVALID_PATH", f"path {shown(given)} is too long for this system. Give a shorter one."
            )
    why = error.strerror or type(error).__name__
    return Refused(
        "UNREADABLE", f"path {shown(given)} can't be opened: {why}. Ask the user to make it readable."
    )


def _not_found(given: str) -> Refused:
    return Refused(
        "NOT_FOUND", f"nothing is at {shown(given)}. List its folder and give a name as it stands there."
    )


def _not_a_file(given: str) -> Refused:
    message = (
        f"{shown(given)} is no ordinary file, or goes through one. Give the path of a file; list a folder."
    )
    return Refused("NOT_A_FILE", message)


def _denied_link(given: str) -> Refused:
    return Refused(
        "ACCESS_DENIED",
        f"path {shown(given)} goes through a link that leads out of the allowed folders, or through too many. "
        "Give a path without it, or ask the user to allow the folder.",
    )
