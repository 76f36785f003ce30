"""What may be remembered over runs, and how a memory looks.

Three kinds and no other (seed 003, 2.2): a stable preference of the user's, a solution that was delivered, a lesson of
a failure that was confirmed. Trajectories are not kept: what is found among them is chatter.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, NewType, get_args

from agents.evidence import Origin, Taint
from graphs.contract import Lang

MemoryId = NewType("MemoryId", str)
"""Identifies a memory: `m-` and 8 hex digits of its kind and text, so that equal ones coincide."""

MemoryKind = Literal["preference", "solution", "lesson"]
"""`preference`: what the user wants in general; `solution`: how a goal was reached; `lesson`: what failed, and why."""
KINDS: Final[tuple[MemoryKind, ...]] = get_args(MemoryKind)

Confirmation = Literal["none", "user", "delivery", "success"]
"""Who says so: nobody; the user, by a command; a delivered (`completed`) run; a later success of the same sub-task."""

KEPT_DAYS: Final[Mapping[MemoryKind, int | None]] = {"preference": None, "solution": 365, "lesson": 180}
"""How long a memory is kept after it was last confirmed; `None`: until it is erased. Ours: notes, models and the
product change, and a lesson about a failure outlives its cause sooner than a solution does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Something that might be remembered."""

    kind: MemoryKind
    text: str
    lang: Lang
    origin: Origin
    taint: Taint
    confirmed_by: Confirmation
    source_run: str | None = None
    """The run that it comes from; `None`: typed by the user."""
    task_class: str = ""
    """The contract's kind of task, such as `research`; empty for any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One entry of the long-term memory."""

    id: MemoryId
    kind: MemoryKind
    text: str
    """On one line."""
    lang: Lang
    origin: Origin
    taint: Taint
    created: str
    """ISO 8601, UTC: when it was first remembered."""
    confirmed: str
    """ISO 8601, UTC: when it was remembered last."""
    source_run: str | None = None
    """The run that it first came from."""
    last_run: str | None = None
    """The run that it came from last."""
    times: int = 1
    """How often it was remembered; the same run counts once."""
    task_class: str = ""
    expires: str | None = None
    """ISO 8601, UTC: from then on it is neither found nor shown; `None`: never."""

    def active(self, now: str) -> bool:
        """Return whether it holds at `now` (ISO 8601, UTC)."""
        return self.expires is None or datetime.fromisoformat(now) < datetime.fromisoformat(self.expires)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A memory that fits a goal."""

    memory: Memory
    score: float
    """Above 0; comparable within one recall. Preferences have 1: they hold for every goal."""


def memory_of(candidate: Candidate, now: str) -> Memory:
    """Return the memory that `candidate` becomes at `now`; nothing is filtered here (`agents.memory.filter`)."""
    text = one_line(candidate.text)
    days = KEPT_DAYS[candidate.kind]
    return Memory(
        id=memory_id(candidate.kind, text),
        kind=candidate.kind,
        text=text,
        lang=candidate.lang,
        origin=candidate.origin,
        taint=candidate.taint,
        created=now,
        confirmed=now,
        source_run=candidate.source_run,
        last_run=candidate.source_run,
        task_class=candidate.task_class,
        expires=None if days is None else _stamp(datetime.fromisoformat(now) + timedelta(days=days)),
    )


def merged(known: Memory, again: Memory) -> Memory:
    """Return `known` after it was remembered `again`: date and expiry of the later, origin of the first.

    The same run again changes nothing. Untrusted taint stays: a repetition makes nothing trustworthy.
    """
    if again.source_run is not None and again.source_run == known.last_run:
        return known
    return Memory(
        id=known.id,
        kind=known.kind,
        text=known.text,
        lang=known.lang,
        origin=known.origin,
        taint="untrusted" if "untrusted" in (known.taint, again.taint) else "trusted",
        created=known.created,
        confirmed=max(known.confirmed, again.confirmed),
        source_run=known.source_run,
        last_run=again.source_run,
        times=known.times + 1,
        task_class=known.task_class,
        expires=None if known.expires is None or again.expires is None else max(known.expires, again.expires),
    )


def memory_id(kind: MemoryKind, text: str) -> MemoryId:
    """Return the id of a text; differences of width, case, spacing and a last full stop make no other memory.

    >>> memory_id("preference", "Answer in German.") == memory_id("preference", "answer  in german")
    True
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    plain = re.sub(r"[\s.。!！]+$", "", " ".join(folded.split()))
    return MemoryId(
        "m-" + hashlib.sha256(f"{kind}\n{plain}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    )


def one_line(text: str) -> str:
    r"""Return `text` without line ends and control characters.

    >>> one_line(" short\n lists\x07 ")
    'short lists'
    """
    return "".join(char for char in " ".join(text.split()) if char.isprintable())


def _stamp(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
