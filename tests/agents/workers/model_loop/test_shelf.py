"""Numbers and places of what was found, counted against the notes themselves."""

from pathlib import Path

import pytest

from agents.retrieval.library import NotesLibrary
from agents.tools.builtin.notes import NotesTools
from agents.tools.contract import ToolOk
from agents.workers.model_loop.shelf import Shelf
from tests.agents.workers.model_loop.stage import BySubject, order

TEXT = (
    "# Indexes\r\n\r\nAn index costs 40 MB of memory. It is rebuilt at night.\r\n\r\n"
    "## Trees\r\n\r\nA tree of pages is balanced. 索引树是平衡的。\r\n\r\n"
    "## Bar\r\n\r\nThe soup costs 5 coins. It is hot.\r\n"
)


@pytest.fixture
def tools(tmp_path: Path) -> NotesTools:
    (tmp_path / "a.md").write_bytes(TEXT.encode())
    return NotesTools(NotesLibrary.open(tmp_path, labeller=BySubject()))


def result(tools: NotesTools, tool: str, **arguments: object) -> ToolOk:
    made = tools.call(tool, arguments)
    assert isinstance(made, ToolOk), made
    return made


@pytest.mark.parametrize("offset", [0, 20, 45])
@pytest.mark.parametrize("start_line", [1, 3, 5])
def test_what_a_reading_shows_stands_where_its_evidence_says(
    tools: NotesTools, start_line: int, offset: int
) -> None:
    shelf = Shelf.of(order())
    shown = shelf.add_reading(
        result(tools, "read_note", source="a.md", start_line=start_line, offset=offset).data
    )
    assert shown.found
    for piece in shelf.pieces.values():
        (evidence,) = piece.evidence
        where = evidence.locator
        assert TEXT[where.start_char : where.end_char] == evidence.text == piece.excerpt.text
        assert TEXT.count("\n", 0, where.start_char) + 1 == where.start_line
        assert TEXT.count("\n", 0, where.end_char) + 1 == where.end_line
    texts = " ".join(piece.excerpt.text for piece in shelf.pieces.values())
    assert "soup" not in texts, "its section lies in a closed field"


def test_an_excerpt_keeps_its_number_however_often_it_is_met(tools: NotesTools) -> None:
    shelf = Shelf.of(order())
    first = shelf.add_search(result(tools, "search_notes", query="index memory").data)
    keys = [excerpt.key for excerpt in first.excerpts]
    assert keys == [f"E{n}" for n in range(1, len(keys) + 1)]
    again = shelf.add_search(result(tools, "search_notes", query="index memory").data, visible=keys[:1])
    assert (again.again, again.new) == ((keys[0],), ())
    assert [excerpt.key for excerpt in again.excerpts] == keys[1:]
    read = shelf.add_reading(
        result(tools, "read_note", source="a.md", start_line=1, end_line=3).data, visible=keys
    )
    assert read.new == ()
    assert shelf.placed == set(shelf.pieces)
