"""The port of the long-term memory, and the order of what it gives."""

from __future__ import annotations

from typing import Protocol

from agents.memory.contract import Memory, MemoryId, MemoryKind


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


def newest_first(memories: list[Memory]) -> tuple[Memory, ...]:
    """Return `memories` in the order of `LongTermMemory.entries`."""
    by_id = sorted(memories, key=lambda memory: memory.id)
    return tuple(sorted(by_id, key=lambda memory: memory.confirmed, reverse=True))
