"""A long-term memory without a file, for tests; it keeps to the port as the stored one does."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from agents.memory.contract import Memory, MemoryId, MemoryKind, merged
from agents.memory.ports import newest_first


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
