"""Large results: previews within the limit, pages that join to the whole, one copy in memory."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.tools.contract import ToolError, ToolOk
from agents.tools.previews import PREVIEW_CHARS, ReadResult, bounded

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner, max_size=6),
    max_leaves=30,
)


class Kept(dict[str, bytes]):
    """Keeps bytes under numbers and counts how often."""

    def keep(self, whole: bytes) -> str:
        name = f"w{len(self)}"
        self[name] = whole
        return name


def ok(data: Any) -> ToolOk:
    return ToolOk(summary="found", data=data, source="here")


def pages(kept: Kept, first: ToolOk, limit: int = PREVIEW_CHARS) -> str:
    """Join the preview and all pages after it."""
    reader, text, offset = ReadResult(kept.get, limit), first.data["preview"], first.next_offset
    while offset is not None:
        page = asyncio.run(reader.call({"whole": first.whole, "offset": offset}))
        assert isinstance(page, ToolOk)
        assert page.data["offset"] == offset
        assert len(json.dumps(page.data, ensure_ascii=False)) <= limit
        assert page.truncated == (page.next_offset is not None)
        text += page.data["preview"]
        offset = page.next_offset
    return str(text)


def test_a_result_that_fits_stays_as_it_is() -> None:
    result, kept = ok({"rows": [1, 2, 3]}), Kept()
    assert bounded(result, kept.keep) is result
    assert not kept
    edge = ok("x" * (PREVIEW_CHARS - 2))
    assert bounded(edge, kept.keep) is edge
    assert bounded(ok("x" * (PREVIEW_CHARS - 1)), kept.keep).truncated


@given(value=VALUES, extra=st.text(min_size=1, max_size=40))
@settings(max_examples=60)
def test_the_pages_of_any_value_join_to_its_json(value: Any, extra: str) -> None:
    data, kept = {"value": value, "filler": [extra] * 60}, Kept()
    preview = bounded(ok(data), kept.keep, limit=200)
    assert preview.truncated
    assert preview.whole == "w0"
    assert len(json.dumps(preview.data, ensure_ascii=False)) <= 200
    assert "read_result" in preview.summary
    assert json.loads(pages(kept, preview, 200)) == data
    assert len(kept) == 1


def test_what_is_no_json_value_is_an_error() -> None:
    circle: list[object] = []
    circle.append(circle)
    for data in ({1: 2}, [{"x": 1}, {2: 1}], {"x": float("nan")}, {"x": object()}, circle):
        with pytest.raises((TypeError, ValueError)):
            bounded(ok(data), Kept().keep)


def test_an_unknown_result_and_an_offset_behind_its_end_are_refused() -> None:
    reader = ReadResult({"w": b"abc"}.get)
    for arguments, code in (({"whole": "v"}, "NOT_FOUND"), ({"whole": "w", "offset": 3}, "INVALID_ARGUMENT")):
        refused = asyncio.run(reader.call(arguments))
        assert isinstance(refused, ToolError)
        assert refused.error_type == code


def test_an_offset_within_a_character_begins_at_the_next() -> None:
    whole = json.dumps("报告" * 10, ensure_ascii=False).encode()
    page = asyncio.run(ReadResult({"w": whole}.get).call({"whole": "w", "offset": 2}))
    assert isinstance(page, ToolOk)
    assert page.data["preview"].startswith("告报")


@pytest.mark.parametrize(
    "data",
    [
        {"text": "报告 and more\n" * 400_000},
        {"deep": {"rows": [{"id": i, "name": f"row {i}", "note": "x" * 60} for i in range(60_000)]}},
    ],
    ids=["one text", "many rows"],
)
def test_one_copy_of_a_large_result_is_made(data: dict[str, Any]) -> None:
    kept = Kept()
    tracemalloc.start()
    try:
        preview = bounded(ok(data), kept.keep)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    size = len(kept["w0"])
    assert size > 5_000_000
    # The buffer grows by an eighth beyond what is in it, and for a moment stands beside its predecessor.
    assert peak < 2.3 * size
    assert json.loads(kept["w0"]) == data
    assert len(json.dumps(preview.data, ensure_ascii=False)) <= PREVIEW_CHARS
