"""Read again what a model no longer sees, before a claim rests on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from agents.broker import Broker, BudgetExhausted
from agents.evidence import Evidence, EvidenceId, Source
from agents.tools.contract import ToolCall, ToolError, ToolResult
from agents.tools.texts.calls import OUTCOMES
from agents.tools.texts.contract import say
from agents.workers.model_claims import Piece

NEIGHBOURS: Final = 5
"""Lines between two excerpts that one reading bridges."""
READ_CHARS: Final = 2_000
"""Of the excerpts of one reading: with the lines between them they stay below what a reading gives at a time."""


async def read_again(pieces: Sequence[Piece], broker: Broker) -> dict[EvidenceId, str | None]:
    """Return the text that stands now where each of `pieces` was found; `None` where it can't be read.

    Each piece is one excerpt of a note. What the limits do not let be read again is not there: a claim does not rest on
    what nobody looked at.
    """
    read: dict[EvidenceId, str | None] = {}
    for group in _groups(pieces):
        source, lines = group[0].sources[0], [piece.evidence[0].locator for piece in group]
        call = ToolCall(
            tool="read_note",
            arguments={
                "source": source.id,
                "start_line": min(place.start_line for place in lines),
                "end_line": max(place.end_line for place in lines),
            },
        )
        try:
            result = await broker.call_tool(call)
        except BudgetExhausted:
            result = ToolError(error_type="UNAVAILABLE", message=say(OUTCOMES, "limit"), retryable=False)
        read.update({piece.evidence[0].id: _text_of(piece.evidence[0], source, result) for piece in group})
    return read


def _groups(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """Yield the pieces by neighbourhood in their notes."""
    group: list[Piece] = []
    for piece in sorted(pieces, key=lambda p: (p.sources[0].id, p.evidence[0].locator.start_char)):
        if group and not _near(group, piece):
            yield group
            group = []
        group.append(piece)
    if group:
        yield group


def _near(group: Sequence[Piece], piece: Piece) -> bool:
    last = group[-1]
    gap = piece.evidence[0].locator.start_line - last.evidence[0].locator.end_line
    size = sum(len(one.excerpt.text) for one in (*group, piece))
    return piece.sources[0].id == last.sources[0].id and gap <= NEIGHBOURS and size <= READ_CHARS


def _text_of(evidence: Evidence, source: Source, result: ToolResult) -> str | None:
    if isinstance(result, ToolError) or not isinstance(result.data, Mapping):
        return None
    data: Mapping[str, Any] = result.data
    if data.get("source") != source.id or data.get("digest") != source.digest:
        return None
    begin = evidence.locator.start_char - int(data["start_char"])
    return str(data["text"])[begin : begin + len(evidence.text)] if begin >= 0 else None
