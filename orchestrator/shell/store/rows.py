"""The values that go into a run store and come out of it.

Payloads are opaque JSON text: what they mean is said where they are made (events in `orchestrator.core.events`,
checkpoints in LangGraph). Times are ISO 8601 in UTC, except where a number of seconds is said.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """An event that is about to be appended; its `seq` follows from the head it is appended to."""

    v: int
    """Schema version of the payload."""
    type: str
    """The literal tag of the event."""
    ts: str
    payload: str
    """A JSON object."""
    cause: int | None = None
    """The `seq` of the event that led to this one; always an earlier one."""
    idem: str | None = None
    """Names what must happen only once in a run; a second event of this name is not appended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvent:
    """One event of a run's log, as it is read back."""

    run: str
    seq: int
    """1-based and dense within the run."""
    v: int
    type: str
    ts: str
    cause: int | None
    idem: str | None
    payload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A run as it appears in a list of runs."""

    id: str
    title: str
    created: str
    head: int
    """The highest `seq`; 0 before the first event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right of one process to execute a run. Its epoch fences: a write under an older epoch is refused."""

    run: str
    holder: str
    epoch: int
    """1 for the first executor, one more for each after it."""
    expires: float
    """Seconds since 1970-01-01 UTC by the clock of the store, not of the holder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxMessage:
    """What another process asks of a run: an answer, a cancellation, an approval."""

    id: int
    """Rises in the order of posting over all runs."""
    run: str
    kind: str
    payload: str
    ts: str
    """By the clock of the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRecord:
    """What a repair led to for a class of tasks, kept beyond the run (semantics 5, class C)."""

    id: int
    task_class: str
    repair: str
    outcome: str
    run: str
    ts: str
    """By the clock of the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointRow:
    """One LangGraph checkpoint of an attempt's thread, serialised."""

    thread: str
    ns: str
    id: str
    """Rises in the order of checkpoints of one thread and namespace, compared as text."""
    parent: str | None
    encoding: str
    """How `checkpoint` is serialised."""
    checkpoint: bytes
    metadata: bytes
    """A JSON object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRow:
    """One write of a task that belongs to a checkpoint and is not yet part of the next one."""

    thread: str
    ns: str
    checkpoint: str
    task: str
    index: int
    """Position in the task's writes; negative for LangGraph's special channels, where the last write stands."""
    channel: str
    encoding: str
    value: bytes
    path: str
    """LangGraph's path of the task, which orders the writes of one step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreInfo:
    """Sizes and counts of a store, for `maskgrad doctor`."""

    location: str
    schema_version: int
    engine: str
    bytes: int
    """Of all files of the store."""
    free_bytes: int
    """Part of `bytes` that is kept for re-use."""
    runs: int
    events: int
    artefacts: int
    artefact_bytes: int
    """As stored, that is, compressed."""
    checkpoints: int
    open_messages: int
    failures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptThread:
    """The LangGraph thread of one attempt under one lease epoch.

    >>> AttemptThread(run="r-1", node="a/b", generation=0, attempt=2, epoch=3).text
    'r-1/a/b/0/2/3'
    >>> AttemptThread.parse("r-1/a/b/0/2/3").epoch
    3
    >>> AttemptThread.parse("some-thread") is None
    True
    """

    run: str
    node: str
    generation: int
    attempt: int
    epoch: int

    @property
    def text(self) -> str:
        """Return the thread id, `run/node/generation/attempt/epoch`; a node id may hold `/`, a run id may not."""
        return f"{self.run}/{self.node}/{self.generation}/{self.attempt}/{self.epoch}"

    @classmethod
    def parse(cls, text: str) -> AttemptThread | None:
        """Return the parts of a thread id, None for a thread that is no attempt's."""
        parts = text.split("/")
        if len(parts) < 5 or not all(part.isdecimal() for part in parts[-3:]):
            return None
        generation, attempt, epoch = map(int, parts[-3:])
        return cls(
            run=parts[0], node="/".join(parts[1:-3]), generation=generation, attempt=attempt, epoch=epoch
        )


def artefact_digest(content: bytes) -> str:
    """Return the SHA-256 of an artefact in lower-case hex: the name under which the store keeps it."""
    return hashlib.sha256(content).hexdigest()
