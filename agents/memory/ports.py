"""The port of the long-term memory, and its implementation without a file."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Protocol

from agents.memory.contract import Memory, MemoryId, MemoryKind, merged


class LongTermMemory(Protocol):
    """What is remembered over runs. Several threads and processes may use one at a time.

    What is written went through `should_remember`: a store filters nothing. Expired entries are nowhere to be seen, and
    are erased with the next write.
    """

    def remember(self, memory: Memory) -> Memory:
        """Keep `memory`, merged with the one of its id where there is one (`merged`); return what is kept now."""
        ...

    def get(self, memory: MemoryId) -> Memory | None:
        """Return one entry; `None` for an unknown or expired one."""
        ...

    def entries(self, kind: MemoryKind | None = None) -> tuple[Memory, ...]:
        """Return all entries, or those of a kind; the one confirmed last comes first, equal dates by id."""
        ...

    def forget(self, memory: MemoryId) -> bool:
        """Erase one entry and return whether it was there."""
        ...

    def clear(self) -> int:
        """Erase everything and return how many entries that were, expired ones not counted."""
        ...

    def close(self) -> None:
        """Give up what it holds open; a second call does nothing."""
        ...


class MemoryInProcess:
    """A long-term memory that ends with its process; `now` gives the time, ISO 8601 in UTC."""

    def __init__(self, now: Callable[[], str]) -> None:
        self._now = now
        self._kept: dict[MemoryId, Memory] = {}
        self._lock = Lock()

    def remember(self, memory: Memory) -> Memory:
        """Keep `memory`, merged with a known one."""
        with self._lock:
            now = self._now()
            self._kept = {known.id: known for known in self._kept.values() if known.active(now)}
            known = self._kept.get(memory.id)
            self._kept[memory.id] = memory if known is None else merged(known, memory)
            return self._kept[memory.id]

    def get(self, memory: MemoryId) -> Memory | None:
        """Return one entry, unless it has expired."""
        with self._lock:
            known = self._kept.get(memory)
            return known if known is not None and known.active(self._now()) else None

    def entries(self, kind: MemoryKind | None = None) -> tuple[Memory, ...]:
        """Return the entries, newest first."""
        with self._lock:
            now = self._now()
            found = [m for m in self._kept.values() if m.active(now) and kind in (None, m.kind)]
        return newest_first(found)

    def forget(self, memory: MemoryId) -> bool:
        """Erase one entry."""
        with self._lock:
            known = self._kept.pop(memory, None)
            return known is not None and known.active(self._now())

    def clear(self) -> int:
        """Erase everything."""
        with self._lock:
            now = self._now()
            count = sum(known.active(now) for known in self._kept.values())
            self._kept.clear()
            return count

    def close(self) -> None:
        """Do nothing: nothing is open."""


def newest_first(memories: list[Memory]) -> tuple[Memory, ...]:
    """Return `memories` in the order of `LongTermMemory.entries`."""
    by_id = sorted(memories, key=lambda memory: memory.id)
    return tuple(sorted(by_id, key=lambda memory: memory.confirmed, reverse=True))
