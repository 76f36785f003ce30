"""An ended run teaches how a completed goal was reached and which repairs helped, in words of ours alone."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args, get_type_hints

import pytest

from agents.memory.contract import Candidate
from graphs.contract import Goal, Lang
from orchestrator.core.backtrack import Repair
from orchestrator.core.requests import Answer
from orchestrator.core.state import RunState
from orchestrator.shell import remembering
from orchestrator.shell.remembering import GOAL_CHARS, lessons_of, remember_run, solution_of
from tests.agents.memory.conformance import DAY_0, DAY_1, FakeNow
from tests.agents.memory.in_process import MemoryInProcess
from tests.core.builders import DATABASES, failure, plan, proposal
from tests.core.simulation import Outcome, Simulation, fails

CLOSED = fails(failure("domain_closed", domain=DATABASES))


def ended(
    *script: Outcome, lang: Lang = "en", goal: str = "Why?", answers: tuple[Answer, ...] = ()
) -> RunState:
    draft = proposal(plan("a>b"), lang=lang)
    draft = replace(draft, goal=Goal(text=goal, lang=lang))
    simulation = Simulation(draft, {"a": script}, answers=answers)
    simulation.run()
    return simulation.state


def texts(candidates: tuple[Candidate, ...]) -> list[str]:
    return [candidate.text for candidate in candidates]


def test_a_completed_run_without_repairs_is_a_solution_and_no_lesson() -> None:
    state = ended()
    assert state.status == "completed"
    assert solution_of(state) == Candidate(
        kind="solution",
        text="“Why?” was completed by research × 2",
        lang="en",
        origin="computed",
        taint="trusted",
        confirmed_by="delivery",
        source_run=state.run,
        task_class="research",
    )
    assert lessons_of(state) == ()
    chinese = solution_of(ended(lang="zh", goal="为什么？\n" + "很" * 300))
    assert chinese is not None
    assert chinese.text.startswith("“为什么？ 很")
    assert chinese.text.endswith("…”由 research × 2 完成")
    assert len(chinese.text) <= GOAL_CHARS + 20


def test_what_passed_after_a_repair_is_a_lesson() -> None:
    lessons = lessons_of(ended(fails(failure("bad_request")), CLOSED))
    assert len(lessons) == 1
    assert lessons[0].text.startswith("research (")
    assert "failed: a knowledge domain was closed to its agent, the order did not fit" in lessons[0].text
    assert "; it passed after: corrected parameters" in lessons[0].text
    assert (lessons[0].confirmed_by, lessons[0].task_class) == ("success", "research")


@pytest.mark.parametrize("kind", ["timeout", "rate_limited", "unavailable"])
def test_what_came_from_outside_is_none(kind: str) -> None:
    assert lessons_of(ended(fails(failure(kind)))) == ()  # type: ignore[arg-type]


def test_what_a_person_gave_up_is_one_and_no_solution_is_made_of_it() -> None:
    state = ended(*[CLOSED] * 9, answers=(Answer(choice="abandon"),), lang="zh")
    assert state.status != "completed"
    assert solution_of(state) is None
    (lesson,) = lessons_of(state)
    assert lesson.text.endswith("失败：所需知识域对执行者关闭；由用户放弃")
    assert lesson.confirmed_by == "user"


def test_a_run_is_remembered_once_and_the_same_lesson_of_another_one_is_merged() -> None:
    memory = MemoryInProcess(FakeNow())
    state = ended(CLOSED)
    kept = remember_run(memory, state, DAY_0)
    assert [each.kind for each in kept] == ["solution", "lesson"]
    assert remember_run(memory, state, DAY_1) == kept
    again = remember_run(memory, replace(state, run=type(state.run)("r-other")), DAY_1)
    assert [each.times for each in again] == [2, 2]
    assert len(memory.entries()) == 2


def test_a_goal_with_a_password_leaves_nothing(caplog: pytest.LogCaptureFixture) -> None:
    memory = MemoryInProcess(FakeNow())
    with caplog.at_level("INFO"):
        kept = remember_run(memory, ended(goal="Log in with password: hunter22 and look"), DAY_0)
    assert (kept, memory.entries()) == ((), ())
    assert "secret (password)" in caplog.text
    assert "hunter22" not in caplog.text


def test_every_repair_has_its_words() -> None:
    for lang in ("en", "zh"):
        for repair in get_args(Repair):
            (kind,) = get_args(get_type_hints(repair)["kind"])
            assert remembering._WORDS[lang][kind]


def test_a_draft_teaches_nothing() -> None:
    draft = replace(ended(), proposal=None)
    assert (solution_of(draft), lessons_of(draft)) == (None, ())
