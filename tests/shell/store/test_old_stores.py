"""A run store of every schema version stays readable, and goes on."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.core.events import RunContinued
from orchestrator.core.ids import RunId
from orchestrator.shell.runs import append, events_of, load
from orchestrator.shell.store.rows import artefact_digest
from orchestrator.shell.store.sqlite_schema import SCHEMA_VERSION
from orchestrator.shell.store.sqlite_store import SqliteStore
from tests.core.test_events import summary
from tests.flows.stage import FakeClock
from tests.shell.store.recorded import ARTEFACT, CHECKPOINT, HOLDER, MOMENT, WRITE, record

FIXTURES = Path(__file__).parent / "fixtures"
LOGS = Path(__file__).parents[2] / "core" / "fixtures"
RUN = RunId("r-test")


def opened(version: int, folder: Path) -> SqliteStore:
    copy = folder / "runs.db"
    shutil.copy(FIXTURES / f"store-v{version}.db", copy)
    return SqliteStore(copy, clock=lambda: MOMENT + 1)


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION + 1))
def test_everything_in_it_is_what_it_was(version: int, tmp_path: Path) -> None:
    store = opened(version, tmp_path)
    assert store.info().schema_version == SCHEMA_VERSION
    assert store.check() == ()
    assert [(row.id, row.title) for row in store.runs()] == [(RUN, "Why? 为什么？")]
    expected = json.loads((LOGS / "log-v1.summary.json").read_text(encoding="utf-8"))
    assert summary(load(store, RUN)) == expected
    assert [event.seq for event in events_of(store, RUN)] == list(range(1, store.head(RUN) + 1))
    assert store.get_artefact(artefact_digest(ARTEFACT)) == ARTEFACT
    assert [(m.kind, m.payload) for m in store.pending(RUN)] == [("cancel", '{"by":"ann"}')]
    assert [(f.task_class, f.repair, f.outcome) for f in store.failures()] == [
        ("compare", "extend_mask", "falsified")
    ]
    assert store.checkpoint(CHECKPOINT.thread, "") == CHECKPOINT
    assert store.checkpoint_writes(CHECKPOINT.thread, "", CHECKPOINT.id) == (WRITE,)
    lease = store.lease(RUN)
    assert lease is not None
    assert (lease.holder, lease.epoch) == (HOLDER, 1)
    store.close()


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION + 1))
def test_a_run_in_it_goes_on(version: int, tmp_path: Path) -> None:
    store = opened(version, tmp_path)
    lease = store.lease(RUN)
    assert lease is not None
    before = load(store, RUN)
    after = append(store, FakeClock(), before, [RunContinued(by="x")], lease=lease)
    assert load(store, RUN) == after
    store.close()


def test_what_is_stored_today_is_of_the_current_version(tmp_path: Path) -> None:
    """The recording of today has the tables and says the same as the stored one: else the version needs a new number.

    What events say has a number of its own (`tests.core.test_stored_shapes`), so that of them the columns are compared.
    """
    record(tmp_path / "today.db")
    shutil.copy(FIXTURES / f"store-v{SCHEMA_VERSION}.db", tmp_path / "stored.db")
    assert held_in(tmp_path / "today.db") == held_in(tmp_path / "stored.db")


def held_in(database: Path) -> dict[str, tuple[str, object]]:
    """What each table is and holds: its definition with its rows, of events the names of its columns."""
    with closing(sqlite3.connect(database)) as connection:
        tables = dict(
            connection.execute("select name, sql from sqlite_master where type = 'table'").fetchall()
        )
        return {
            name: (
                sql,
                [column[1] for column in connection.execute(f"pragma table_info({name})")]
                if name == "events"
                else sorted(map(repr, connection.execute(f"select * from {name}").fetchall())),
            )
            for name, sql in tables.items()
            if not name.startswith("sqlite_")
        }
