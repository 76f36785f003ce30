"""Which file names a tool accepts: what looks like another path, or can't be seen, is no name.

A name is judged as text, before any file is touched. Where names are compared, their composed form counts (NFC), so
that an accent typed as one character finds one stored as two; they are shown as they were typed.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final, Literal

LONGEST_NAME_BYTES: Final = 255
"""Of one component: what the common file systems hold."""
LONGEST_PATH_BYTES: Final = 4_096
"""Of the whole path: PATH_MAX of Linux."""
DEEPEST: Final = 64
"""Components of a path."""

RefusalReason = Literal["INVALID_PATH", "ACCESS_DENIED", "NOT_FOUND", "NOT_A_FILE", "AMBIGUOUS", "UNREADABLE"]
"""Why a path is not opened.

- `INVALID_PATH`: its text is no path that is accepted here.
- `ACCESS_DENIED`: it leads out of the allowed folders.
- `NOT_FOUND`: nothing is there.
- `NOT_A_FILE`: a folder, a device, a pipe or a socket is there.
- `AMBIGUOUS`: two names there look the same.
- `UNREADABLE`: the system refuses to open it.
"""


@dataclass(frozen=True, slots=True)
class Refused:
    """A path that is not opened; `message` names it, what is accepted and the next step."""

    reason: RefusalReason
    message: str


_SEPARATOR_LOOKALIKES: Final = frozenset("∕⁄⧸╱⟋⧵∖⟍╲／＼﹨")
_INVISIBLE: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
)  # Letters and marks that no font draws; format characters are found by their category.
_DRIVE: Final = re.compile(r"[A-Za-z]:")
_VARIATION: Final = dict.fromkeys([*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)])


def components_of(given: str) -> tuple[str, ...] | Refused:
    """Return the names that `given` goes through, without `.`; an empty tuple is the folder itself.

    Refused: `..`, backslashes, drives, control and invisible characters, characters that look like `/`, `.` or `..`,
    what is too long or too deep, and text that has no UTF-8. A leading `/` is not judged here.
    """
    try:
        size = len(given.encode("utf-8"))
    except UnicodeEncodeError:
        return _invalid(given, "it holds half a character (a lone surrogate)")
    if not given or size > LONGEST_PATH_BYTES:
        return _invalid(given, f"it has {size} bytes; accepted: 1 to {LONGEST_PATH_BYTES}")
    hidden = next((char for char in given if _is_hidden(char)), None)
    if hidden is not None:
        return _invalid(given, f"it holds U+{ord(hidden):04X}, which can't be seen")
    alike = next((char for char in given if char in _SEPARATOR_LOOKALIKES), None)
    if alike is not None:
        return _invalid(given, f"it holds {alike!r} (U+{ord(alike):04X}), which looks like a separator")
    if "\\" in given or _DRIVE.match(given):
        return _invalid(given, "backslashes and drives are not accepted; separate folders with '/'")
    names = tuple(name for name in given.split("/") if name not in ("", "."))
    if len(names) > DEEPEST:
        return _invalid(given, f"it goes through {len(names)} folders; accepted: at most {DEEPEST}")
    for name in names:
        problem = _problem_of(name)
        if problem:
            return _invalid(given, problem)
    return names


def same_name(one: str, other: str) -> bool:
    """Say whether two names are one to whoever reads them: equal when composed and without variation selectors.

    >>> same_name("re\u0301sume\u0301.md", "résumé.md")
    True
    """
    return look_of(one) == look_of(other)


def look_of(name: str) -> str:
    """Return what names are compared by."""
    return unicodedata.normalize("NFC", name.translate(_VARIATION))


def shown(given: str) -> str:
    """Return `given` for a message: quoted, escaped where it can't be seen, cut where it is long."""
    text = "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode("ascii")
        for char in given[:120]
    )
    return f"'{text}'" if len(given) <= 120 else f"'{text}…' ({len(given)} characters)"


def _problem_of(name: str) -> str | None:
    # A name that a compatibility form turns into a step upwards would be one for whoever normalises it next.
    plain = unicodedata.normalize("NFKC", name).strip()
    if name == ".." or plain in (".", ".."):
        return f"the component {shown(name)} leads upwards or looks as if it did"
    if "/" in plain or "\\" in plain or "\0" in plain:
        # As in U+2105, which stands for "c/o".
        return f"the component {shown(name)} looks as if it held a separator"
    if len(name.encode("utf-8")) > LONGEST_NAME_BYTES:
        return f"a component has {len(name.encode('utf-8'))} bytes; accepted: at most {LONGEST_NAME_BYTES}"
    return None


def _is_hidden(char: str) -> bool:
    # Cc control, Cf format (zero width, direction), Cs surrogates, Co private use, Cn unassigned, Zl/Zp line ends.
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") or char in _INVISIBLE


def _invalid(given: str, why: str) -> Refused:
    message = (
        f"path {shown(given)} is not accepted: {why}. Give a path such as 'folder/file.md', as it was listed."
    )
    return Refused("INVALID_PATH", message)
