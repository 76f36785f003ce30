"""Memories in a prompt: data, each with its kind, its run and its date."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from agents.context.parts import Part
from agents.context.quoting import data_block
from agents.memory.contract import Memory, MemoryKind, Recalled
from graphs.contract import Lang

KIND_NAMES: Final[Mapping[Lang, Mapping[MemoryKind, str]]] = {
    "en": {"preference": "preference", "solution": "solution", "lesson": "lesson"},
    "zh": {"preference": "偏好", "solution": "解决方案", "lesson": "教训"},
}
"""The kinds of memories in words."""


def memory_parts(recalled: Sequence[Recalled], lang: Lang) -> tuple[Part, ...]:
    """Return what was recalled as parts of a prompt: data, each with its kind, its run and its date."""
    return tuple(
        Part(
            kind="memory",
            key=f"M{number}",
            text=each.memory.text,
            where=_where(each.memory, lang),
            origin=each.memory.origin,
            taint=each.memory.taint,
            weight=each.score,
        )
        for number, each in enumerate(recalled, 1)
    )


def memory_blocks(recalled: Sequence[Recalled], lang: Lang) -> tuple[str, ...]:
    """Return the same as text, for a prompt that nothing is left out of: each quoted under its head line."""
    return tuple(
        data_block(part.key, part.text, where=part.where, origin=part.origin, lang=lang)
        for part in memory_parts(recalled, lang)
    )


def _where(memory: Memory, lang: Lang) -> str:
    parts = (KIND_NAMES[lang][memory.kind], memory.last_run or "", memory.confirmed[:10])
    return ("，" if lang == "zh" else ", ").join(part for part in parts if part)
