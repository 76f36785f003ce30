"""What an executor finds when it takes a run over: other versions, changed notes, what earlier runs learned."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.core.errors import VersionsDiffer
from orchestrator.core.events import ExecutorTookOver, FailureRemembered, SourcesRead
from orchestrator.core.ids import RunId
from orchestrator.run import approve, execute, run_again, submit
from orchestrator.shell.proposing import versions_of
from orchestrator.shell.store.memory_store import MemoryStore
from orchestrator.shell.surroundings import check_versions
from tests.core.builders import n, plan, proposal
from tests.flows.crashes import stop_at
from tests.flows.stage import (
    EVERY,
    ROWS,
    KeywordEmbedder,
    NoteFolder,
    Script,
    Stage,
    passes_on,
    says,
    set_stage,
)
from tests.flows.stage import written as written_notes

TASK_CLASS = "research/claims/cs.databases+law.contracts"
"""Of the sub-tasks that `tests.core.builders.subtask` makes, in a contract of kind `research`."""


class NewerEmbedder(KeywordEmbedder):
    version = "2"


@pytest.fixture
def notes(tmp_path: Path) -> NoteFolder:
    return written_notes(tmp_path)


def script(notes: NoteFolder) -> Script:
    good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
    return {(n("a"), EVERY): good, (n("b"), EVERY): passes_on}


def submitted(stage: Stage) -> RunId:
    drafted = submit(stage.shop, "How many rows does the database keep?", sources=[stage.notes.folder])
    assert drafted.sha256 is not None
    return approve(stage.shop, drafted.run, 1, drafted.sha256, by="test").run


async def test_a_run_of_another_embedder_is_refused_with_both_versions(notes: NoteFolder) -> None:
    stage = set_stage(notes)
    run = submitted(stage)
    stage.shop.embedder = NewerEmbedder()
    before = stage.log(run)
    with pytest.raises(VersionsDiffer) as refused:
        await execute(stage.shop, run)
    assert refused.value.part == "embedder"
    for lang in ("en", "zh"):
        text = refused.value.message(lang)
        assert "'keywords@1'" in text
        assert "'keywords@2'" in text
        assert f"maskgrad export {run} --format yaml" in text
    assert stage.log(run) == before
    with pytest.raises(VersionsDiffer):
        run_again(stage.shop, run)


def test_the_registry_decides_and_the_product_is_noted(
    notes: NoteFolder, caplog: pytest.LogCaptureFixture
) -> None:
    stage = set_stage(notes)
    state = stage.state(submitted(stage))
    created = state.created
    assert created is not None
    assert created.versions == versions_of(stage.shop)
    caplog.clear()
    check_versions(stage.shop, state)
    assert caplog.messages == []

    older = replace(state, created=replace(created, versions={**created.versions, "product": "0.0.1"}))
    check_versions(stage.shop, older)
    (line,) = caplog.messages
    assert "product '0.0.1'" in line

    other = replace(state, created=replace(created, versions={**created.versions, "registry": "abc"}))
    with pytest.raises(VersionsDiffer, match="domain registry 'abc'"):
        check_versions(stage.shop, other)
    check_versions(stage.shop, other, tolerate=True)
    assert "registry 'abc'" in caplog.messages[-1]


async def test_changed_notes_are_recorded_again_when_a_run_is_gone_on_with(notes: NoteFolder) -> None:
    store = MemoryStore()
    stage = set_stage(notes, script(notes), store=store)
    run = stage.approved(proposal(plan("a>b")))
    stop = asyncio.Event()
    took_over = stop_at(stop, lambda event: isinstance(event.body, ExecutorTookOver))
    for _ in range(2):  # gone on with once: the notes are as they were
        stop.clear()
        await stage.execute(run, listeners=[took_over], stop=stop)
    (first,) = stage.bodies(run, SourcesRead)
    (notes.folder / "health.md").write_text("# Health\n\nThe medicine is gone.\n", encoding="utf-8")
    (notes.folder / "more.md").write_text("# More\n\nNothing.\n", encoding="utf-8")
    done = await set_stage(notes, script(notes), store=store).execute(run)
    assert done.status == "completed"
    found = stage.bodies(run, SourcesRead)
    assert [body.documents for body in found] == [4, 5]
    assert found[0] == first
    assert found[0].digest != found[1].digest


async def test_only_lessons_for_tasks_of_this_plan_are_recorded_and_each_once(notes: NoteFolder) -> None:
    stage = set_stage(notes, script(notes))
    store = stage.shop.store
    for other in ("r-8", "r-9"):
        store.create_run(other, "x", "2026-01-01T00:00:00.000Z")
        store.add_failure(TASK_CLASS, "extend_mask:law.contracts", "falsified", other)
        store.add_failure("compare/table/med.pharmacy", "extend_mask:med.pharmacy", "falsified", other)
    run = stage.approved(proposal(plan("a>b")))
    assert (await stage.execute(run)).status == "completed"
    assert [body.key for body in stage.bodies(run, FailureRemembered)] == [
        f"{TASK_CLASS}|extend_mask:law.contracts"
    ]
