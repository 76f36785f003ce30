"""Notes that change while a run goes on: between a sub-task's reading and its check, on real files."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agents.broker import Broker
from agents.results import WorkResult
from agents.workers.ports import WorkOrder
from graphs.contract import Lang
from orchestrator.core.events import AttemptFailed, AttemptRejected, RequestOpened
from tests.core.builders import n, plan, proposal
from tests.flows.stage import EVERY, ROWS, NoteFolder, passes_on, says, set_stage, written

FILE = "storage.md"


@pytest.fixture
def notes(tmp_path: Path) -> NoteFolder:
    (tmp_path / "notes").mkdir()
    return written(tmp_path / "notes")


def edit(folder: Path) -> None:
    path = folder / FILE
    path.write_text(path.read_text(encoding="utf-8").replace("42", "43"), encoding="utf-8")


def append(folder: Path) -> None:
    """Even where the cited words still stand: what was read is no longer what is there."""
    with (folder / FILE).open("a", encoding="utf-8") as file:
        file.write("\nOne more line.\n")


def delete(folder: Path) -> None:
    (folder / FILE).unlink()


def make_folder(folder: Path) -> None:
    delete(folder)
    (folder / FILE).mkdir()


def make_binary(folder: Path) -> None:
    (folder / FILE).write_bytes(bytes(range(256)) * 8)


def link_outside(folder: Path) -> None:
    secret = folder.parent / "secret.md"
    shutil.move(folder / FILE, secret)
    (folder / FILE).symlink_to(secret)


def reading_before(
    change: Callable[[Path], None], notes: NoteFolder
) -> Callable[[WorkOrder, Broker], WorkResult]:
    """Return a worker that has read its note when `change` comes, at its first attempt."""
    quoted = says(notes.quoted("a", FILE, ROWS, question="Why?"))
    left = [change]

    def work(order: WorkOrder, broker: Broker) -> WorkResult:
        del order, broker
        while left:
            left.pop()(notes.folder)
        return quoted

    return work


@pytest.mark.parametrize("change", [edit, append, delete, make_folder, make_binary, link_outside])
@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_what_rests_on_a_changed_note_is_falsified_and_the_note_is_named(
    notes: NoteFolder, change: Callable[[Path], None], lang: Lang
) -> None:
    stage = set_stage(notes, {(n("a"), EVERY): reading_before(change, notes)})
    run = stage.approved(proposal(plan("", lone="a"), lang=lang))
    done = await stage.execute(run)
    assert done.status == "suspended"
    assert stage.bodies(run, AttemptFailed) == []
    rejected = stage.bodies(run, AttemptRejected)
    assert {body.failure.kind for body in rejected} == {"falsified"}
    assert all(f"'{FILE}'" in body.failure.message for body in rejected)
    (opened,) = stage.bodies(run, RequestOpened)
    assert f"'{FILE}'" in opened.request.detail
    # No mask value and no other agent brings a file back.
    assert (opened.request.reason, opened.request.sources) == ("source_changed", (FILE,))
    assert opened.request.choices == ("retry", "accept", "abandon", "review")
    assert (opened.request.agents, opened.request.domains) == ((), ())


async def test_a_note_that_never_was_is_no_deleted_one(notes: NoteFolder) -> None:
    """An agent that makes up an address, with the digest of a note that it has read, may be replaced by another."""
    read = notes.quoted("a", FILE, ROWS, question="Why?")
    made_up = replace(read, source=replace(read.source, uri="elsewhere.md"))
    stage = set_stage(notes, {(n("a"), EVERY): says(made_up)})
    run = stage.approved(proposal(plan("", lone="a")))
    await stage.execute(run)
    (opened,) = stage.bodies(run, RequestOpened)
    assert (opened.request.reason, opened.request.sources) == ("second_falsification", ())
    assert "reassign" in opened.request.choices


@pytest.mark.parametrize("change", [edit, delete])
async def test_it_is_seen_where_only_the_last_sub_task_is_checked_against_the_notes(
    notes: NoteFolder, change: Callable[[Path], None]
) -> None:
    """`a` passed its check when the note was as it had been read; `b` hands its claim on after the change."""

    def late(order: WorkOrder, broker: Broker) -> WorkResult:
        if order.subtask.id == "b" and not changed:
            changed.append(True)
            change(notes.folder)
        return passes_on(order, broker)

    changed: list[bool] = []
    good = says(notes.quoted("a", FILE, ROWS, question="Why?"))
    stage = set_stage(notes, {(n("a"), EVERY): good, (n("b"), EVERY): late})
    run = stage.approved(proposal(plan("a>b")))
    done = await stage.execute(run)
    assert done.status == "suspended"
    assert changed == [True]
    rejected = stage.bodies(run, AttemptRejected)
    assert rejected
    assert all(body.failure.kind == "falsified" and FILE in body.failure.message for body in rejected)
    (opened,) = stage.bodies(run, RequestOpened)
    assert (opened.request.reason, opened.request.sources) == ("source_changed", (FILE,))
    assert opened.request.choices == ("retry", "accept", "abandon", "review")


async def test_without_the_folder_nothing_is_known_which_is_never_a_pass(notes: NoteFolder) -> None:
    stage = set_stage(notes, {(n("a"), EVERY): reading_before(shutil.rmtree, notes)})
    run = stage.approved(proposal(plan("", lone="a")))
    done = await stage.execute(run)
    assert done.status == "suspended"
    failures = [body.failure for body in stage.bodies(run, AttemptRejected)]
    assert {failure.kind for failure in failures} == {"not_verified"}
    assert all(str(notes.folder) in failure.message for failure in failures)
