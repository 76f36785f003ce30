"""Passages as they come from the tools: exact places, and readings that lose nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.tools.builtin.notes import NotesTools
from agents.tools.contract import ToolOk
from agents.workers.embedded.material import Candidate, Material, Passage
from tests.agents.workers.material import library

ROWS = "\n".join(f"| part {i} | {i * 3} kg | stands in hall {i % 7} beside the crane |" for i in range(300))
NOTES = {
    "parts.md": f"# Parts\n\n| part | weight | place |\n| --- | --- | --- |\n{ROWS}\n",
    "plain.md": "# Intro\r\n\r\nFirst line.\r\n\r\n## Pumps\r\n\r\nThe pump is red. It is loud.\r\n"
    + "Filler text. " * 90,
}


def call(tool: str, **arguments: Any) -> Mapping[str, Any]:
    result = NotesTools(library(NOTES)).call(tool, arguments)
    assert isinstance(result, ToolOk)
    data: Mapping[str, Any] = result.data
    return data


def searched(query: str) -> Material:
    material = Material()
    assert material.add_hits(call("search_notes", query=query)) == len(material.passages) > 0
    return material


def best(material: Material) -> Passage:
    return max(material.passages.values(), key=lambda passage: passage.rank)


def test_units_stand_where_they_say() -> None:
    passage = best(searched("red pump"))
    text = NOTES[passage.source.uri]
    for index, unit in enumerate(passage.units):
        span = Candidate(passage=passage, index=index).span
        assert text[span.start_char : span.end_char] == unit.text
        assert text.count("\n", 0, span.start_char) + 1 == span.start_line
    assert passage.around(0) == passage.units[1].text


def test_a_reading_gives_the_whole_section() -> None:
    material = searched("red pump")
    passage = best(material)
    assert not passage.whole
    first, last = passage.section
    material.add_reading(
        passage, call("read_note", source=passage.source.id, start_line=first, end_line=last)
    )
    read = best(material)
    assert read.whole
    assert read.read
    assert len(read.units) > len(passage.units)
    assert read.rank == passage.rank


def test_what_matched_in_a_very_long_section_survives_its_reading() -> None:
    material = searched("weight of part 287")
    passage = best(material)
    assert "| part 287 | 861 kg |" in passage.text
    first, last = passage.section
    material.add_reading(
        passage, call("read_note", source=passage.source.id, start_line=first, end_line=last)
    )
    assert best(material).read
    assert "| part 287 | 861 kg |" in best(material).text


def test_a_section_met_again_is_not_new_and_keeps_its_best_rank() -> None:
    material = searched("red pump")
    before = best(material)
    again = call("search_notes", query="first line pump")
    known = set(material.passages)
    met = {(hit["source"], hit["section"][0]) for hit in again["hits"]}
    assert material.add_hits(again) == len(met - known)
    assert material.passages[before.key].rank == 1.0
    assert material.frequency["pump"] == 1
