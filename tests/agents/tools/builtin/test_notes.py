"""The note tools: exact excerpts, paging within the preview limit, errors that say what is accepted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.retrieval.library import NotesLibrary
from agents.retrieval.reading import Corpus, document_from_text
from agents.tools.builtin.notes import NotesTools
from agents.tools.contract import ToolError, ToolOk
from agents.tools.previews import PREVIEW_CHARS
from tests.agents.workers.material import LabelByWord

LONG = "# Manual\n\n" + "\n\n".join(
    f"## Step {i}\n\nTurn valve {i} by {i * 3} degrees, wait, and note the pressure “{i}” in the log book.\n"
    f"Then open hatch {i} and look at the filter; a filter that is grey is changed at once."
    for i in range(1, 60)
)
NOTES = {
    "manual.md": LONG,
    "法规.md": "# 法规\r\n\r\n排污许可证应在排水前45日重新申请。\r\n\r\n逾期的，按无证排污处理。\r\n",
}


def tools(texts: dict[str, str] | None = None, domains: dict[str, str] | None = None) -> NotesTools:
    documents = tuple(document_from_text(path, text) for path, text in (texts or NOTES).items())
    labeller = LabelByWord(domains) if domains else None
    return NotesTools(NotesLibrary(Corpus(documents=documents), labeller=labeller))


def data(found: NotesTools, tool: str, **arguments: Any) -> dict[str, Any]:
    result = found.call(tool, arguments)
    assert isinstance(result, ToolOk), result
    assert len(json.dumps(result.data, ensure_ascii=False)) <= PREVIEW_CHARS
    assert result.truncated == (result.data["next_offset"] is not None)
    assert result.taint == "untrusted"
    return dict(result.data)


def test_a_search_gives_exact_excerpts_with_their_places() -> None:
    found = data(tools(), "search_notes", query="turn valve 17")
    hit = found["hits"][0]
    path = found["sources"][hit["source"]]["path"]
    text = NOTES[path]
    assert text[hit["start_char"] : hit["start_char"] + len(hit["text"])] == hit["text"]
    assert text.count("\n", 0, hit["start_char"]) + 1 == hit["start_line"]
    assert "Turn valve 17 by 51 degrees" in hit["text"]
    assert found["sections"] == 61
    assert found["frequency"]["17"] == 1


def test_pages_of_a_search_reach_every_hit_once() -> None:
    found, seen = tools(), list[tuple[str, int]]()
    offset: int | None = 0
    while offset is not None:
        page = data(found, "search_notes", query="filter pressure", limit=20, offset=offset)
        seen += [(hit["source"], hit["section"][0]) for hit in page["hits"]]
        offset = page["next_offset"]
    assert len(seen) == len(set(seen)) == 59


def test_pages_of_a_reading_join_to_the_text() -> None:
    found, parts = tools(), list[str]()
    offset: int | None = 0
    while offset is not None:
        page = data(found, "read_note", source="manual.md", offset=offset)
        assert page["start_char"] == offset
        assert page["start_line"] == LONG.count("\n", 0, offset) + 1
        parts.append(page["text"])
        offset = page["next_offset"]
    assert "".join(parts) == LONG
    assert len(parts) > 2


def test_lines_are_read_with_their_line_ends_and_sections() -> None:
    page = data(
        tools(domains={"排污": "law.public"}), "read_note", source="法规.md", start_line=3, end_line=4
    )
    assert page["text"] == "排污许可证应在排水前45日重新申请。\r\n\r\n"
    assert page["sections"] == [{"heading": "法规", "start_line": 1, "end_line": 5, "domain": "law.public"}]


def test_a_line_beyond_the_end_ends_at_the_end() -> None:
    assert data(tools(), "read_note", source="法规.md", start_line=5, end_line=900)["text"].startswith("逾期")


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "says"),
    [
        ("search_notes", {"query": " "}, "INVALID_ARGUMENT", "give words to look for"),
        ("search_notes", {}, "INVALID_ARGUMENT", "arguments: 'query' is missing"),
        (
            "search_notes",
            {"query": "x", "limit": 21},
            "INVALID_ARGUMENT",
            "arguments.limit is 21; accepted: from 1 to 20",
        ),
        (
            "search_notes",
            {"query": "x", "limit": True},
            "INVALID_ARGUMENT",
            "arguments.limit is True; accepted: integer",
        ),
        ("search_notes", {"query": "x", "offset": -1}, "INVALID_ARGUMENT", "at least 0"),
        (
            "search_notes",
            {"query": "x", "mask": 1},
            "INVALID_ARGUMENT",
            "has the unknown 'mask'; accepted: 'query', 'limit', 'offset'",
        ),
        ("read_note", {"source": "gone.md"}, "NOT_FOUND", "no note 'gone.md'"),
        ("read_note", {"source": "法规.md", "start_line": 6}, "INVALID_ARGUMENT", "from 1 to 5"),
        (
            "read_note",
            {"source": "法规.md", "start_line": 3, "end_line": 2},
            "INVALID_ARGUMENT",
            "at least 3",
        ),
    ],
)
def test_errors(tool: str, arguments: dict[str, Any], code: str, says: str) -> None:
    found = tools()
    result = found.call(tool, arguments)
    assert isinstance(result, ToolError)
    assert result.error_type == code
    assert says in result.message
    assert code in next(spec for spec in found.specs if spec.name == tool).error_codes


def test_a_search_without_hits_is_an_answer() -> None:
    page = data(tools(), "search_notes", query="zeppelin")
    assert page["hits"] == []
    assert page["next_offset"] is None


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.lists(st.text(alphabet='ab"\\\n\t中|#. ', max_size=900), min_size=1, max_size=4), st.integers(1, 20)
)
def test_results_stay_within_the_preview_limit(texts: list[str], limit: int) -> None:
    found = tools({f"{i}.md": f"# a\n\n{text}" for i, text in enumerate(texts)})
    data(found, "search_notes", query="a 中", limit=limit)
    for i in range(len(texts)):
        data(found, "read_note", source=f"{i}.md")
