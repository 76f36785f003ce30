"""The workshop: what is costly is made once, notes are those of now, everything can be replaced."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from agents.models.errors import UnknownProvider
from agents.retrieval.reading import FolderNotFound
from agents.spec import ModelPolicy, Provider
from agents.workers.embedded.registry import EmbeddedWorker
from agents.workers.model import ModelWorker
from orchestrator.shell.settings import Settings
from orchestrator.shell.store.holders import is_gone
from orchestrator.shell.wiring import KEPT_LIBRARIES, Workshop, open_workshop
from tests.core.builders import DATABASES, agent
from tests.flows.stage import ROWS, NoteFolder, set_stage, written


@pytest.fixture
def notes(tmp_path: Path) -> NoteFolder:
    return written(tmp_path / "notes")


def shop(notes: NoteFolder) -> Workshop:
    return set_stage(notes).shop


def test_unchanged_notes_are_indexed_once(notes: NoteFolder) -> None:
    workshop = shop(notes)
    first = workshop.library(notes.folder)
    workshop.prepare(notes.folder)
    assert workshop.library(notes.folder) is first
    assert workshop.library(notes.folder).index is first.index
    assert workshop.labeller is workshop.labeller


def test_no_more_than_some_folders_are_kept_indexed(notes: NoteFolder, tmp_path: Path) -> None:
    workshop = shop(notes)
    first = workshop.library(notes.folder)
    for number in range(KEPT_LIBRARIES):
        assert workshop.library(notes.folder) is first
        workshop.library(written(tmp_path / f"other{number}").folder)
    assert workshop.library(notes.folder) is not first


@pytest.mark.parametrize("change", ["edited", "added", "removed", "unreadable"])
def test_changed_notes_are_read_again(notes: NoteFolder, change: str) -> None:
    workshop = shop(notes)
    before = workshop.library(notes.folder)
    match change:
        case "edited":
            (notes.folder / "storage.md").write_text(
                "# Storage\n\nThe database keeps 50 rows.\n", encoding="utf-8"
            )
        case "added":
            (notes.folder / "more.md").write_text("# More\n\nMore.\n", encoding="utf-8")
        case "removed":
            (notes.folder / "storage.md").unlink()
        case "unreadable":
            (notes.folder / "image.txt").write_bytes(b"\x00\x01\x02" * 50)
    after = workshop.library(notes.folder)
    assert after is not before
    texts = [document.text for document in after.corpus.documents]
    assert any(ROWS in text for text in texts) is (change in ("added", "unreadable"))
    assert [skip.path for skip in after.corpus.skipped] == (["image.txt"] if change == "unreadable" else [])


def test_notes_are_stamped_by_the_workshops_clock(notes: NoteFolder) -> None:
    library = shop(notes).library(notes.folder)
    assert {document.source.retrieved_at for document in library.corpus.documents} == {
        "2026-01-01T00:00:00+00:00"
    }


def test_a_missing_folder_is_named(notes: NoteFolder, tmp_path: Path) -> None:
    with pytest.raises(FolderNotFound, match="gone"):
        shop(notes).library(tmp_path / "gone")


def test_the_holder_is_this_process_and_alive(notes: NoteFolder) -> None:
    assert not is_gone(shop(notes).holder)


def test_the_agents_policy_chooses_the_worker(tmp_path: Path) -> None:
    workshop = open_workshop(Settings(home=tmp_path, lang="en"))
    plain = agent("A1", {DATABASES: 90})
    assert isinstance(workshop._worker(plain), EmbeddedWorker)
    thinks = replace(plain, model_policy=ModelPolicy(kind="model", model="x:y"))
    assert isinstance(workshop._worker(thinks), ModelWorker)
    assert workshop.chat_for(plain) is None
    with pytest.raises(UnknownProvider, match="'x:y' is not known"):
        workshop.chat_for(thinks)
    workshop.store.close()


def test_opening_makes_the_store_in_the_data_directory(tmp_path: Path) -> None:
    workshop = open_workshop(Settings(home=tmp_path / "new", lang="en"))
    workshop.store.create_run("r-1", "x", "2026-01-01T00:00:00.000Z")
    assert (tmp_path / "new" / "runs.db").exists()
    workshop.store.close()


@pytest.mark.parametrize(
    ("changed", "named"),
    [({"max_in_flight": 0}, "max_in_flight"), ({"provider_caps": {Provider("ollama"): 0}}, "ollama")],
)
async def test_caps_below_one_are_refused(notes: NoteFolder, changed: dict[str, Any], named: str) -> None:
    workshop = shop(notes)
    workshop.settings = replace(workshop.settings, **changed)
    with pytest.raises(ValueError, match=f"{named} is 0; accepted: 1 or more"):
        async with workshop.engine():
            raise AssertionError("never entered")


def test_notes_are_prepared_from_any_thread_once(notes: NoteFolder) -> None:
    workshop = shop(notes)

    def prepared(_: int) -> int:
        workshop.prepare(notes.folder)
        return id(workshop.library(notes.folder).index)

    with ThreadPoolExecutor(4) as threads:
        assert len(set(threads.map(prepared, range(8)))) == 1


def test_all_agents_of_a_provider_name_the_same_one() -> None:
    def provider(kind: Literal["embedded", "model", "scripted"], model: str | None = None) -> str | None:
        return ModelPolicy(kind=kind, model=model).provider

    assert provider("model", "ollama:qwen3:8b") == provider("model", "ollama:other") == "ollama"
    assert provider("embedded") is None
    assert provider("scripted") is None
