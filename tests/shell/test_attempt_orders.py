"""What the worker of an attempt is told: the limits of the contract, and when it is asked for path 2."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agents.results import Need, OpenQuestion
from graphs.contract import Limits
from tests.core.builders import CONTRACT, CONTRACTS, n, plan, proposal
from tests.flows.stage import EVERY, ROWS, Extras, NoteFolder, passes_on, says, set_stage, written


@pytest.fixture
def notes(tmp_path: Path) -> NoteFolder:
    return written(tmp_path)


async def test_a_worker_is_told_the_limits_of_the_contract(notes: NoteFolder) -> None:
    limits = Limits(max_tool_calls=7, max_actions=9)
    good = says(notes.quoted("a", "storage.md", ROWS, question="Why?"))
    stage = set_stage(notes, {(n("a"), EVERY): good, (n("b"), EVERY): passes_on})
    run = stage.approved(proposal(plan("a>b"), contract=replace(CONTRACT, limits=limits)))
    await stage.execute(run)
    assert [order.limits for order in (*stage.orders("a"), *stage.orders("b"))] == [limits, limits]


@pytest.mark.parametrize(("lacking", "paths"), [("Why?", [1, 2]), ("When?", [1])])
async def test_path_2_is_for_a_question_that_is_open_for_lack_of_a_background_domain(
    notes: NoteFolder, lacking: str, paths: list[int]
) -> None:
    left = OpenQuestion(question="Why?", reason="not_answerable", searched=("why",))
    need = Need(domain=CONTRACTS, question=lacking, band="BACKGROUND", match=0.9)
    quoted = notes.quoted("a", "storage.md", ROWS, question="When?")
    asks = says(quoted, extras=Extras(open_questions=(left,), needs=(need,)))
    stage = set_stage(notes, {(n("a"), EVERY): asks, (n("b"), EVERY): passes_on})
    run = stage.approved(proposal(plan("a>b"), contract=replace(CONTRACT, allow_unresolved=True)))
    await stage.execute(run)
    assert [order.path for order in stage.orders("a")] == paths
