"""A goal that asks for nothing is refused from Python as from the command line, and never completed."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphs.plan import Plan
from orchestrator.core.errors import NothingToDo
from orchestrator.core.events import ProposalApproved
from orchestrator.core.ids import RunId
from orchestrator.desk import approve, state_of
from orchestrator.run import execute, submit
from orchestrator.shell.runs import append
from tests.interfaces.cli.shops import real_shop, write_notes


@pytest.mark.parametrize("text", ["thanks", "谢谢"])
async def test_neither_approved_nor_executed(tmp_path: Path, text: str) -> None:
    notes = write_notes(tmp_path / "notes")
    shop = real_shop(tmp_path)
    state = submit(shop, text, sources=[notes])
    assert state.proposal is not None
    assert state.sha256 is not None
    assert state.proposal.plan == Plan()
    with pytest.raises(NothingToDo, match=text):
        approve(shop, state.run, 1, state.sha256, by="ann")
    assert state_of(shop, RunId(state.run)).status == "reviewing"

    # One that an older version approved.
    append(shop.store, shop.clock, state, [ProposalApproved(revision=1, sha256=state.sha256, by="ann")])
    with pytest.raises(NothingToDo, match=text):
        await execute(shop, state.run)
    assert state_of(shop, RunId(state.run)).status == "confirmed"
    shop.store.close()
