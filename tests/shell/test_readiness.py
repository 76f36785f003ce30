"""What can't be executed here is refused before anything starts, with the name and the next step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agents.models.contract import ModelReply, ModelRequest
from agents.models.ports import Told
from agents.spec import AgentId, AgentSpec, ModelPolicy
from graphs.contract import Goal
from orchestrator.core.errors import ModelUnavailable, SeveralSources, SourcesMissing, SubTaskUnsupported
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Proposal
from orchestrator.run import execute, submit
from orchestrator.shell.readiness import check_runnable, one_folder, searched_folder
from tests.core.builders import A1, A2, CHECKER, EMBEDDED, n, plan, proposal, subtask
from tests.flows.stage import Stage, set_stage, written

RUN = RunId("r-1")
DRAFT = proposal(plan("a>b"), roster=EMBEDDED)


class Chat:
    name = "p:m"

    async def complete(self, request: ModelRequest, told: Told | None = None) -> ModelReply:
        raise AssertionError(request, told)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return set_stage(written(tmp_path / "notes"))


def with_policy(draft: Proposal, policy: ModelPolicy, name: AgentId = A1) -> Proposal:
    agents = tuple(
        replace(each, model_policy=policy) if each.id == name else each for each in draft.roster.agents
    )
    return replace(draft, roster=replace(draft.roster, agents=agents))


def test_embedded_agents_need_nothing(stage: Stage) -> None:
    stage.shop.worker_for = None
    check_runnable(stage.shop, RUN, DRAFT)


def test_a_model_needs_a_chat_port(stage: Stage) -> None:
    thinks = with_policy(DRAFT, ModelPolicy(kind="model", model="p:m"))
    with pytest.raises(ModelUnavailable) as refused:
        check_runnable(stage.shop, RUN, thinks)
    for lang in ("en", "zh"):
        text = refused.value.message(lang)
        assert "'A1'" in text
        assert "'p:m'" in text
        assert "maskgrad export r-1 --format yaml" in text
        assert "chat_for" in text

    def served(agent: AgentSpec) -> Chat | None:
        return Chat() if agent.id == A1 else None

    stage.shop.chat_for = served
    check_runnable(stage.shop, RUN, thinks)


def test_a_script_needs_a_scripted_worker(stage: Stage) -> None:
    scripted = with_policy(DRAFT, ModelPolicy(kind="scripted"))
    check_runnable(stage.shop, RUN, scripted)
    stage.shop.worker_for = None
    with pytest.raises(ModelUnavailable, match=r"agent 'A1'.*'scripted'.*worker_for"):
        check_runnable(stage.shop, RUN, scripted)


def test_a_checker_without_a_sub_task_needs_no_model(stage: Stage) -> None:
    """The rules check in its name; every sub-task is done by agents that are there."""
    stage.shop.worker_for = None
    checks = with_policy(DRAFT, ModelPolicy(kind="model", model="p:m"), CHECKER)
    assert checks.roster.get(CHECKER).role == "verify"
    check_runnable(stage.shop, RUN, checks)
    working = replace(checks, assignment={**checks.assignment, n("b"): CHECKER})
    with pytest.raises(ModelUnavailable, match="'V1'"):
        check_runnable(stage.shop, RUN, working)


def test_an_agent_that_a_repair_may_give_a_sub_task_is_needed_from_the_start(stage: Stage) -> None:
    spare = with_policy(DRAFT, ModelPolicy(kind="model", model="p:m"), A2)
    assert A2 not in spare.assignment.values()
    with pytest.raises(ModelUnavailable, match="'A2'"):
        check_runnable(stage.shop, RUN, spare)


async def test_a_run_that_nobody_can_serve_is_not_begun(stage: Stage) -> None:
    run = stage.approved(with_policy(DRAFT, ModelPolicy(kind="model", model="p:m")))
    before = stage.log(run)
    with pytest.raises(ModelUnavailable):
        await execute(stage.shop, run)
    assert stage.log(run) == before
    assert stage.shop.store.lease(run) is None


async def test_a_sub_task_for_a_person_is_refused_by_name(stage: Stage) -> None:
    asks = proposal(plan("a>b", b=replace(subtask("b"), kind="human")))
    run = stage.approved(asks)
    with pytest.raises(SubTaskUnsupported, match=r"sub-task 'b'.*'human'.*Next: maskgrad export") as refused:
        await execute(stage.shop, run)
    assert "子任务 'b'" in refused.value.message("zh")
    assert stage.state(run).status == "confirmed"


def test_one_folder_of_sources_is_accepted(stage: Stage, tmp_path: Path) -> None:
    assert one_folder(Goal(text="Why?", lang="en")) is None
    assert one_folder(Goal(text="Why?", lang="en", sources=("/a",))) == Path("/a")
    with pytest.raises(SeveralSources, match="'/a', '/b'; accepted: one folder") as refused:
        one_folder(Goal(text="Why?", lang="en", sources=("/a", "/b")))
    assert "'/a', '/b'" in refused.value.message("zh")
    before = stage.shop.store.runs()
    with pytest.raises(SeveralSources):
        submit(stage.shop, "How many rows?", sources=[stage.notes.folder, tmp_path])
    assert stage.shop.store.runs() == before


def test_a_proposal_with_two_folders_is_not_executed_over_one_of_them() -> None:
    two = replace(proposal(plan("a>b")), goal=Goal(text="Why?", lang="en", sources=("/a", "/b")))
    with pytest.raises(SeveralSources):
        searched_folder(two)


def test_a_plan_that_searches_needs_a_folder() -> None:
    searching = proposal(plan("a>b", a=replace(subtask("a"), kind="loop")))
    with pytest.raises(SourcesMissing):
        searched_folder(searching)
