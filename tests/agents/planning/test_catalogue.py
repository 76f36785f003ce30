from collections.abc import Sequence
from pathlib import Path

import pytest

from agents.planning.catalogue import NotesRanker, note_outlines
from agents.planning.domains import NoteOutline
from agents.retrieval.library import NotesLibrary, SectionLabel
from masks.leaks.calibration import Calibration
from masks.leaks.labels import DomainLabeller, SectionText
from tests.masks.fakes import COOKING, DATABASES, NgramEmbedder, small_registry

REGISTRY = small_registry()


class BySubject:
    """Labels a section by a word in it; a soup can't be told apart below its parent."""

    def label(self, sections: Sequence[SectionText]) -> Sequence[SectionLabel]:
        texts = [section.excerpt for section in sections]
        return [
            SectionLabel(domain=DATABASES)
            if "index" in text
            else SectionLabel(parent="life", leaf=COOKING)
            if "soup" in text
            else SectionLabel()
            for text in texts
        ]


@pytest.fixture
def library(tmp_path: Path) -> NotesLibrary:
    (tmp_path / "a.md").write_text(
        "# Guide\n\n## Speed\n\nAn index is fast.\n\n## Lunch\n\nThe soup is hot.\n", encoding="utf-8"
    )
    (tmp_path / "b.md").write_text("# Misc\n\nNothing here.\n", encoding="utf-8")
    return NotesLibrary.open(tmp_path, labeller=BySubject())


def test_outlines_hold_headings_and_the_domains_of_sections(library: NotesLibrary) -> None:
    first, second = note_outlines(library)
    assert first == NoteOutline(
        title="Guide",
        headings=("Guide", "Speed", "Lunch"),
        domains={DATABASES: 1, COOKING: 1},
        trails=(("Guide",), ("Guide", "Speed"), ("Guide", "Lunch")),
    )
    assert (second.title, second.domains) == ("Misc", {})


def test_outlines_hold_tables_of_things_by_their_properties(tmp_path: Path) -> None:
    (tmp_path / "k.md").write_text(
        "# Offers for the kiln\n\n| No | Builder | Rent € | Remark |\n|---|---|---|---|\n"
        f"| 1 | Arne | 410 | {'very long ' * 9} |\n| 2 | Bo | 380 | none |\n",
        encoding="utf-8",
    )
    (outline,) = note_outlines(NotesLibrary.open(tmp_path, labeller=BySubject()))
    (table,) = outline.tables
    assert (table.rows, table.columns) == (("Arne", "Bo"), ("Rent €",))
    assert "kiln" in table.about
    assert "Builder" in table.about


def ranker(library: NotesLibrary) -> NotesRanker:
    constants = Calibration(
        embedder="fake-ngrams",
        registry_sha256=REGISTRY.sha256,
        temperature=0.05,
        none_score=0.15,
        margin=0.45,
        leak_margin=0.9,
        accuracy=1.0,
        coverage=1.0,
        leak_coverage=1.0,
    )
    return NotesRanker(DomainLabeller(NgramEmbedder(), REGISTRY, constants), library)


def test_a_domain_that_the_notes_do_not_have_is_not_required_for_an_ambiguous_word(tmp_path: Path) -> None:
    asked = REGISTRY.get(DATABASES).exemplars["en"][0]
    with_tables, without = tmp_path / "with", tmp_path / "without"
    for folder, words in (
        (with_tables, "An index of a table is fast."),
        (without, "The soup on the table is hot, by query."),
    ):
        folder.mkdir()
        (folder / "a.md").write_text(f"# Guide\n\n{words}\n", encoding="utf-8")
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "a.md").write_text("# Guide\n\nNothing here.\n", encoding="utf-8")

    def domains(folder: Path) -> list[str]:
        library = NotesLibrary.open(folder, labeller=BySubject())
        return [found.domain for found in ranker(library)(asked) or ()]

    assert domains(with_tables) == [DATABASES]
    assert DATABASES not in domains(without)
    assert domains(bare) == [DATABASES], "notes without any label leave it to the words"


def test_domains_come_from_the_words_and_from_where_the_notes_speak_of_them(library: NotesLibrary) -> None:
    rank = ranker(library)
    # No exemplar shares a trigram with the question, so the found section decides.
    ranked = rank("soup")
    assert ranked is not None
    assert ranked[0].domain == COOKING
    assert sum(found.probability for found in ranked) <= 1
    assert [found.probability for found in ranked] == sorted((f.probability for f in ranked), reverse=True)
    assert rank("  ") == ()


def test_a_text_that_the_notes_do_not_speak_of_is_told_from_one_of_no_domain(library: NotesLibrary) -> None:
    rank = ranker(library)
    assert rank("marathon medal") is None
    assert rank("Nothing marathon") is None, "one term of two, the frequent one"
    assert rank("misc") == ()
