"""Large results: a preview within the limit for the model, the whole kept once, and a tool that reads on.

Nothing here holds more than one copy of a result beside the result itself: it is written piece by piece into one
buffer, and that buffer is what is kept (field report 10).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any, Final

from agents.tools.contract import ToolError, ToolOk, ToolResult, ToolSpec

PREVIEW_CHARS: Final = 4_000
"""Longest result, as JSON text (seed 003, 2.3)."""
TOOL_TIMEOUT_S: Final = 15.0
"""Seed 003, 2.3."""
_PIECE_CHARS: Final = 1 << 16
"""Of a long text that is encoded at a time."""
_PLAIN_CHARS: Final = 1_000
_BATCH: Final = 64
"""Entries that are written at a time, when each is a plain value or a short row of them."""
_DEEPEST: Final = 100
"""Levels that are written entry by entry; what is below them is written at once, and a circle is found there."""

READ_RESULT: Final = ToolSpec(
    name="read_result",
    purpose="Read on in a result that was too long to be shown whole.",
    when_to_use="When a result says `truncated` and names `whole`, and what is needed may stand further on.",
    when_not_to_use="To repeat a call, or to read a file: those tools have an offset of their own.",
    input_schema={
        "type": "object",
        "properties": {
            "whole": {
                "type": "string",
                "minLength": 1,
                "maxLength": 200,
                "description": "As the result names it.",
            },
            "offset": {
                "type": "integer",
                "minimum": 0,
                "default": 0,
                "description": "As `next_offset` said.",
            },
        },
        "required": ["whole"],
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "preview": {"type": "string", "description": "JSON text of the result, from `offset` on."},
            "offset": {"type": "integer"},
            "bytes": {"type": "integer", "description": "Of the whole result."},
        },
        "required": ["preview", "offset", "bytes"],
    },
    scope="results of this run",
    timeout_s=TOOL_TIMEOUT_S,
    side_effect="read",
    permission="results.read",
    error_codes=("NOT_FOUND", "INVALID_ARGUMENT"),
)


def json_chars(value: Any) -> int:
    """Return the length of `value` as the JSON text that a model is shown."""
    return len(json.dumps(value, ensure_ascii=False))


def bounded(result: ToolOk, keep: Callable[[bytes], str], *, limit: int = PREVIEW_CHARS) -> ToolOk:
    """Return `result` as it is when its data fits into `limit` characters of JSON, else a preview of it.

    The whole data goes to `keep` once, as UTF-8 JSON, which returns the id that `read_result` takes. The preview is
    the beginning of that text; `next_offset` counts its bytes. A result that its tool truncated stays so: then `whole`
    is all that the tool gave. Raises `TypeError` and `ValueError` for data that is no JSON value.
    """
    buffer, chars = BytesIO(), 0
    for piece in _pieces(result.data):
        chars += len(piece)
        buffer.write(piece.encode("utf-8", "surrogatepass"))
    if chars <= limit:
        return result
    whole = buffer.getvalue()  # the buffer itself, no copy
    buffer.close()
    kept = keep(whole)
    data, after = _page(whole, 0, limit)
    hint = f"truncated: {len(whole)} bytes, go on with read_result(whole={kept!r}, offset={after})"
    return replace(
        result,
        summary=f"{result.summary} ({hint})",
        data=data,
        truncated=True,
        next_offset=after,
        whole=kept,
    )


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The tool that pages through kept results."""

    load: Callable[[str], bytes | None]
    """Returns what `keep` was given, of this run only; `None` for an unknown id."""
    limit: int = PREVIEW_CHARS
    spec: ToolSpec = READ_RESULT

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Return the page of `whole` that begins at `offset`."""
        kept, offset = str(arguments["whole"]), int(arguments.get("offset", 0))
        whole = self.load(kept)
        if whole is None:
            message = (
                f"no result {kept!r:.80} is kept in this run. Give `whole` as the truncated result named it."
            )
            return ToolError(error_type="NOT_FOUND", message=message, retryable=False)
        if not 0 <= offset < len(whole):
            message = f"arguments.offset is {offset}; accepted: from 0 to {len(whole) - 1}"
            return ToolError(error_type="INVALID_ARGUMENT", message=message, retryable=False)
        data, after = _page(whole, offset, self.limit)
        return ToolOk(
            summary=f"bytes {data['offset']} to {after or len(whole)} of {len(whole)}",
            data=data,
            source=f"result {kept}",
            source_version=kept,
            truncated=after is not None,
            next_offset=after,
            whole=kept,
        )


def _page(whole: bytes, offset: int, limit: int) -> tuple[dict[str, Any], int | None]:
    """Return the data of one page and the offset of the next; both stand between characters."""
    while offset < len(whole) and _within_character(whole[offset]):
        offset += 1
    stop = min(len(whole), offset + 4 * limit)
    text = whole[offset:stop].decode("utf-8", "ignore")
    data: dict[str, Any] = {"preview": text[:limit], "offset": offset, "bytes": len(whole)}
    while (excess := json_chars(data) - limit) > 0:
        # Quotes in the text take two characters each, so that some rounds may be needed.
        data["preview"] = data["preview"][: -max(1, excess // 2)]
    after = offset + len(data["preview"].encode("utf-8"))
    return data, after if after < len(whole) else None


def _within_character(byte: int) -> bool:
    return byte & 0xC0 == 0x80


def _pieces(value: Any, depth: int = 0) -> Iterator[str]:
    """Write `value` as JSON, a piece at a time: never the whole text at once."""
    if _is_small(value) or depth >= _DEEPEST:
        yield _text(value)
    elif isinstance(value, str):
        yield '"'
        for start in range(0, len(value), _PIECE_CHARS):
            yield _text(value[start : start + _PIECE_CHARS])[1:-1]
        yield '"'
    elif isinstance(value, Mapping):
        opening = "{"
        for name, each in value.items():
            if not isinstance(name, str):
                raise TypeError(f"a key of the result is {name!r}; accepted: text")
            yield f"{opening}{_text(name)}: "
            yield from _pieces(each, depth + 1)
            opening = ", "
        yield "}"
    else:
        opening = "["
        for start in range(0, len(value), _BATCH):
            batch = value[start : start + _BATCH]
            # Rows of plain values are written together: one by one they take ten times as long.
            for each in [batch] if all(map(_is_small, batch)) else [[one] for one in batch]:
                yield opening
                if len(each) > 1 or _is_small(each[0]):
                    yield _text(each)[1:-1]
                else:
                    yield from _pieces(each[0], depth + 1)
                opening = ", "
        yield "]"


def _is_small(value: Any) -> bool:
    """Say whether `value` is written at once: no container, or a short one of short plain values."""
    if isinstance(value, Mapping):
        named = all(type(name) is str and _is_plain(name) for name in value)
        return len(value) <= _BATCH and named and all(map(_is_plain, value.values()))
    if isinstance(value, list | tuple):
        return len(value) <= _BATCH and all(map(_is_plain, value))
    return not isinstance(value, str) or len(value) <= _PIECE_CHARS


def _is_plain(value: Any) -> bool:
    kind = type(value)
    return kind in (int, float, bool, type(None)) or (kind is str and len(value) <= _PLAIN_CHARS)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
