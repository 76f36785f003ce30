"""Memories for tests."""

from __future__ import annotations

from agents.memory.contract import Memory, MemoryId, MemoryKind


def hostile_memory(text: str, kind: MemoryKind = "solution") -> Memory:
    """Return a memory with a text that no filter saw, as if somebody had written it into the file."""
    return Memory(
        id=MemoryId("m-00000001"),
        kind=kind,
        text=text,
        lang="en",
        origin="source",
        taint="untrusted",
        created="2026-01-01T00:00:00.000Z",
        confirmed="2026-01-02T00:00:00.000Z",
        source_run="r-1",
        last_run="r-1",
    )
