"""A store that lost an output: the run that needs it is named, and its proposal can be executed as a new run."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agents.broker import Broker
from agents.results import WorkResult
from agents.workers.ports import WorkOrder
from orchestrator.run import run_again
from orchestrator.shell.store.errors import ArtefactMissing
from orchestrator.shell.store.sqlite_store import SqliteStore
from tests.core.builders import SOLO, n, plan, proposal
from tests.flows.stage import EVERY, ROWS, Script, says, set_stage, written


async def test_the_run_is_named_and_made_anew(tmp_path: Path) -> None:
    notes, path = written(tmp_path / "notes"), tmp_path / "runs.db"
    said = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
    script: Script = {(n("a"), EVERY): said, (n("b"), EVERY): said}
    reached, stop = asyncio.Event(), asyncio.Event()

    async def waits(order: WorkOrder, broker: Broker) -> WorkResult:
        del order, broker
        reached.set()
        await asyncio.Event().wait()
        raise AssertionError

    with closing(SqliteStore(path)) as store:
        stage = set_stage(notes, {**script, (n("b"), EVERY): waits}, store=store)
        run = stage.approved(proposal(plan("a>b"), roster=SOLO))
        executing = asyncio.ensure_future(stage.execute(run, stop=stop))
        await reached.wait()
        stop.set()
        assert (await executing).status == "running"
    with closing(sqlite3.connect(path)) as damaged, damaged:
        damaged.execute("DELETE FROM artefacts")
    with closing(SqliteStore(path)) as store:
        stage = set_stage(notes, script, store=store)
        with pytest.raises(ArtefactMissing) as lost:
            await stage.execute(run)
        assert lost.value.run == run
        for lang in ("en", "zh"):
            said_to_people = lost.value.message(lang)
            for step in ("`maskgrad doctor`", f"`maskgrad run {run} --again`", f"`maskgrad cancel {run}`"):
                assert said_to_people.count(step) == 1, (lang, step)
        stage.shop.ids.run()  # the name of the first run: this is another process
        anew = run_again(stage.shop, run)
        assert (await stage.execute(anew.run)).status == "completed"
