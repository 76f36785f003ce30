"""A worker's "that is all" is no completion: the checks have to confirm it (seed 000, 7.3; semantics 7)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agents.results import OpenQuestion, WorkOutput
from orchestrator.core.events import AttemptProduced, AttemptVerified
from tests.core.builders import CONTRACT, n, plan, proposal, subtask
from tests.flows.stage import EVERY, ROWS, STARTED, says, set_stage, written

ASKED_TWICE = replace(subtask("a"), params={"questions": ["Why?", "Who keeps it?"]})
DRAFT = proposal(plan("", lone="a", a=ASKED_TWICE), contract=replace(CONTRACT, allow_unresolved=True))


async def test_claimed_complete_and_not_confirmed_is_partial_even_where_questions_may_stay_open(
    tmp_path: Path,
) -> None:
    notes = written(tmp_path)
    why = notes.quoted("a", "storage.md", ROWS, question="Why?")
    aside = notes.quoted("a", "storage.md", STARTED, question="Who keeps it?")
    # What it says of the second question it does not itself call an answer.
    half = says(why, replace(aside, claim=replace(aside.claim, core=False)))
    assert half.candidate_complete
    stage = set_stage(notes, {(n("a"), EVERY): half})
    run = stage.approved(DRAFT)
    done = await stage.execute(run)
    (produced,) = stage.bodies(run, AttemptProduced)
    (accepted,) = stage.bodies(run, AttemptVerified)
    assert (produced.candidate_complete, accepted.verification.verified_complete) == (True, False)
    assert (done.status, done.stopped) == ("partial", False)
    assert done.gaps == ("Look into a: the checks do not confirm that everything it was asked is addressed",)
    # The same with the second question honestly left open is complete.
    answered = says(why)
    left = OpenQuestion(question="Who keeps it?", reason="not_found", searched=("keeps",))
    output: WorkOutput = replace(answered.output, open_questions=(left,))
    honest = set_stage(notes, {(n("a"), EVERY): replace(answered, output=output, candidate_complete=False)})
    second = honest.approved(DRAFT)
    done = await honest.execute(second)
    assert (done.status, done.gaps) == ("completed", ())
