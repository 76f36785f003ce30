"""What of an attempt is kept for going on with it, and how it gets to the next executor."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from orchestrator.shell.attempt_graph import RESULT_CHANNEL, checkpoint_after_work
from orchestrator.shell.store.attempt_checkpoints import AttemptCheckpoints
from orchestrator.shell.store.checkpointer import StoreCheckpointer
from orchestrator.shell.store.errors import StaleLease
from orchestrator.shell.store.ports import Operation, RunStore
from orchestrator.shell.store.rows import AttemptThread
from orchestrator.shell.store.sqlite_store import SqliteStore
from orchestrator.shell.store.writer import Writer


def thread(epoch: int) -> str:
    return AttemptThread(run="r-1", node="n", generation=1, attempt=1, epoch=epoch).text


class Riding:
    """What waits to be written with the next events."""

    def __init__(self) -> None:
        self.queued: list[tuple[str, Operation[None]]] = []

    def ride(self, thread: str, write: Operation[None]) -> None:
        self.queued.append((thread, write))

    def written(self, store: RunStore) -> None:
        """Write it, as the journal does with the next events."""
        operations: list[Operation[object]] = [write for _, write in self.queued]
        self.queued.clear()
        for outcome in store.commit(operations):
            assert outcome.kind == "committed", outcome.error


@pytest.fixture
async def saver(tmp_path: Path) -> AsyncIterator[StoreCheckpointer]:
    store = SqliteStore(tmp_path / "runs.db")
    store.create_run("r-1", "t", "2025")
    async with Writer(store) as writer:
        yield StoreCheckpointer(writer)
    store.close()


def kept_text(saver: StoreCheckpointer, epoch: int) -> str | None:
    found = saver.get_tuple({"configurable": {"thread_id": thread(epoch)}})
    return None if found is None else str(found.checkpoint["channel_values"][RESULT_CHANNEL])


async def test_a_result_is_kept_with_the_next_events_and_made_then(saver: StoreCheckpointer) -> None:
    riding, made = Riding(), list[str]()

    def make() -> object:
        made.append("made")
        return checkpoint_after_work("草稿")

    AttemptCheckpoints(saver, riding.ride, channel=RESULT_CHANNEL).keep(thread(1), make)  # type: ignore[arg-type]
    assert [name for name, _ in riding.queued] == [thread(1)]
    assert (made, kept_text(saver, 1)) == ([], None)
    riding.written(saver._store)
    assert (made, kept_text(saver, 1)) == (["made"], "草稿")


async def test_a_journal_that_broke_says_so_at_once(saver: StoreCheckpointer) -> None:
    def refuse(thread: str, write: Operation[None]) -> None:
        del write
        raise StaleLease(thread.partition("/")[0], 1, 2)

    with pytest.raises(StaleLease):
        AttemptCheckpoints(saver, refuse, channel=RESULT_CHANNEL).keep(
            thread(1), lambda: checkpoint_after_work("x")
        )


@pytest.mark.parametrize(
    ("kept", "expected"), [({1: "a"}, "a"), ({2: "b"}, "b"), ({1: "a", 2: "b"}, "b"), ({}, None)]
)
async def test_the_newest_that_any_executor_left_is_taken_over_and_all_of_theirs_go(
    saver: StoreCheckpointer, kept: dict[int, str], expected: str | None
) -> None:
    riding = Riding()
    checkpoints = AttemptCheckpoints(saver, riding.ride, channel=RESULT_CHANNEL)
    for epoch, text in kept.items():
        checkpoints.keep(thread(epoch), lambda text=text: checkpoint_after_work(text))  # type: ignore[misc]
    riding.written(saver._store)
    found = await checkpoints.take_over([thread(2), thread(1)], thread(3))
    assert (found, kept_text(saver, 3)) == (expected, expected)
    assert {row.thread for row in saver._store.checkpoints()} <= {thread(3)}
