"""The whole job as the benchmark carries it out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agents.workers.embedded.inquiry import ResearchLimits
from benchmarks.delivered import answer_text
from benchmarks.product import NumberedIds, do_job, write_notes
from tests.benchmarks.shop import Flat, flat_workshop

NOTES = {
    "plant.md": "# Plant\n\nThe plant at Arby opened in May 2024. It stores 32 MWh.\n",
    "deep/other.md": "# Sheep\n\nSixty sheep graze near the fence of the yard.\n",
}
QUESTION = "When did the plant at Arby open?"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    write_notes(tmp_path / "notes", NOTES)
    return tmp_path / "notes"


def test_a_question_becomes_a_delivered_report(notes: Path, tmp_path: Path) -> None:
    job = do_job(flat_workshop(tmp_path, "en", 7), QUESTION, notes, "en")
    assert job.state.status == "completed"
    assert job.questions == (QUESTION,)
    assert job.report is not None
    assert answer_text(job.report).startswith("The plant at Arby opened in May 2024.")
    assert job.answered
    assert not job.left_open
    assert [one.confidence.level for one in job.report.confidence] == ["L2"]


def test_what_the_notes_do_not_say_stays_open(notes: Path, tmp_path: Path) -> None:
    job = do_job(flat_workshop(tmp_path, "en", 7), "Who owns the zeppelin?", notes, "en")
    assert job.state.status == "completed"
    assert job.left_open
    assert not job.answered
    assert job.report is not None
    assert answer_text(job.report) == ""


def test_jobs_of_one_workshop_share_the_library_and_nothing_else(notes: Path, tmp_path: Path) -> None:
    embedder = Flat()
    shop = replace(flat_workshop(tmp_path, "zh", 7), embedder=embedder)
    first = do_job(shop, "How much does the plant store?", notes, "en")
    library = shop.library(notes)
    second = do_job(shop, "How much does the plant store?", notes, "en", ResearchLimits(rounds=1))
    assert shop.library(notes) is library
    encoded = embedder.texts
    do_job(shop, "How much does the plant store?", notes, "en")
    assert encoded < embedder.texts < encoded + 20
    assert shop.store.runs() == ()
    assert [first.state.run, second.state.run] == ["r-1", "r-2"]
    assert first.report is not None
    assert second.report is not None
    assert first.report.body == second.report.body


def test_limits_reach_the_worker(notes: Path, tmp_path: Path) -> None:
    shop = flat_workshop(tmp_path, "en", 7)
    asked = "Who owns the zeppelin at Arby?"
    many = do_job(shop, asked, notes, "en").report
    once = do_job(shop, asked, notes, "en", ResearchLimits(rounds=1)).report
    assert many is not None
    assert once is not None
    assert len(once.open_questions[0].searched) == 1 < len(many.open_questions[0].searched)


def test_notes_are_written_as_they_are_and_nowhere_else(notes: Path) -> None:
    write_notes(notes, {"new.txt": "a\r\nb\n"})
    assert [path.name for path in notes.rglob("*")] == ["new.txt"]
    assert (notes / "new.txt").read_bytes() == b"a\r\nb\n"
    with pytest.raises(ValueError, match=r"'\.\./out\.md' would lie outside"):
        write_notes(notes, {"../out.md": "x"})
    assert not (notes.parent / "out.md").exists()


def test_equal_seeds_give_equal_runs() -> None:
    ids = NumberedIds("seed 7")
    assert (ids.run(), ids.run()) == ("r-1", "r-2")
    assert ids.seed() == NumberedIds("seed 7").seed() != NumberedIds("seed 8").seed()
    assert len(ids.seed()) == 16
