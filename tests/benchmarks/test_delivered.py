"""The independent look at a delivered report: what is broken is seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.delivered import answer_lines, check_citations
from benchmarks.product import do_job, write_notes
from orchestrator.core.report import Citation, CitedPlace, DeliveredReport
from tests.benchmarks.shop import flat_workshop

PLANT = "# Plant\r\n\r\nThe plant at Arby opened in May 2024. It stores 32 MWh.\r\n\r\nThe crew is small.\r\n"
COST = "# Costs\n\nThe pump costs 900 euros.\n"
OTHER = "# Costs again\n\nThe pump costs 950 euros.\n"


def delivered(folder: Path, question: str = "When did the plant at Arby open?") -> DeliveredReport:
    write_notes(folder, {"plant.md": PLANT, "cost.md": COST, "other.md": OTHER})
    report = do_job(flat_workshop(folder.parent, "en", 7), question, folder, "en").report
    assert report is not None
    return report


def with_place(report: DeliveredReport, place: CitedPlace) -> DeliveredReport:
    return replace(report, citations=(replace(report.citations[0], places=(place,)),))


def first(report: DeliveredReport) -> Citation:
    assert len(report.citations) == 1
    return report.citations[0]


def test_a_sound_report_is_cited_and_resolves(tmp_path: Path) -> None:
    report = delivered(tmp_path / "notes")
    found = check_citations(report, tmp_path / "notes")
    assert found.sentences == found.cited == found.citations == found.resolving == 1


@pytest.mark.parametrize(
    "broken",
    ["start_char", "start_line", "source_digest", "excerpt", "uri"],
)
def test_broken_places_are_seen(broken: str, tmp_path: Path) -> None:
    report = delivered(tmp_path / "notes")
    place = first(report).places[0]
    wrong = {
        "start_char": replace(place, start_char=place.start_char + 1),
        "start_line": replace(place, start_line=5, end_line=5),
        "source_digest": replace(place, source_digest="0" * 64),
        "excerpt": replace(place, excerpt=place.excerpt.upper()),
        "uri": replace(place, uri="nowhere.md"),
    }
    assert check_citations(with_place(report, place), tmp_path / "notes").resolving == 1
    assert check_citations(with_place(report, wrong[broken]), tmp_path / "notes").resolving == 0


def test_a_changed_file_is_seen(tmp_path: Path) -> None:
    report = delivered(tmp_path / "notes")
    file = tmp_path / "notes" / "plant.md"
    file.write_bytes(file.read_bytes() + b"More.\n")
    assert check_citations(report, tmp_path / "notes").resolving == 0


def test_claims_without_places_count_as_broken(tmp_path: Path) -> None:
    report = delivered(tmp_path / "notes")
    bare = replace(report, citations=(replace(first(report), places=()),))
    found = check_citations(bare, tmp_path / "notes")
    assert (found.citations, found.resolving) == (1, 0)
    named = replace(first(report), missing_evidence=(first(report).places[0].evidence,))
    found = check_citations(replace(report, citations=(named,)), tmp_path / "notes")
    assert (found.citations, found.resolving) == (2, 1)


def test_uncited_and_reworded_sentences_are_seen(tmp_path: Path) -> None:
    report = delivered(tmp_path / "notes")
    more = replace(report, body=report.body + "\n- The plant is fine.\n\n## Beside\n\nAnd so on.\n")
    found = check_citations(more, tmp_path / "notes")
    assert (found.sentences, found.cited) == (3, 1)
    reworded = replace(report, body=report.body.replace("opened in May", "opened in June"))
    found = check_citations(reworded, tmp_path / "notes")
    assert (found.sentences, found.cited) == (1, 0)


def test_headings_phrases_and_open_questions_are_no_sentences(tmp_path: Path) -> None:
    report = delivered(tmp_path / "notes", "What does the pump cost? Who owns the zeppelin?")
    lines = answer_lines(report)
    assert "The notes disagree:" in report.body
    assert "## Open questions" in report.body
    assert [line.split(" [^")[0] for line in lines] == [
        "- The pump costs 900 euros.",
        "- The pump costs 950 euros.",
    ]


TABLE = (
    "# Pumps\n\n| pump | price | weight |\n| --- | --- | --- |\n"
    "| Arno | 900 euros | 12 kg |\n| Bela | 700 euros | 9 kg |\n"
)


def test_a_cell_is_cited_behind_the_names_of_its_table_and_no_others(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    write_notes(folder, {"pumps.md": TABLE})
    report = do_job(
        flat_workshop(tmp_path, "en", 7), "What is the price of the pump Arno?", folder, "en"
    ).report
    assert report is not None
    (line,) = answer_lines(report)
    assert "900 euros" in line
    assert check_citations(report, folder).cited == 1
    wrong = replace(report, body=report.body.replace("Arno, price", "Arno, profit"))
    assert wrong.body != report.body
    assert check_citations(wrong, folder).cited == 0


def test_the_nearest_sentence_to_an_open_question_is_no_answer(tmp_path: Path) -> None:
    report = delivered(tmp_path / "notes", "Who owns the plant at Arby?")
    assert report.body.count("the nearest is") == 1
    assert answer_lines(report) == []
