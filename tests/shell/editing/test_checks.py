"""Which proposals are refused, and what the reviewer is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from agents.roster import Roster
from agents.spec import AgentId, AgentSpec, ModelPolicy
from agents.tools.builtin.notes import READ_NOTE, SEARCH_NOTES
from agents.tools.configuration import AllowedHost, ToolsFile
from agents.tools.configured import configured_tools
from agents.tools.previews import READ_RESULT
from graphs.contract import Lang, TaskContract
from graphs.plan import Dependency, NodeId, Plan
from masks.bands import Thresholds
from masks.domains import DomainId
from orchestrator.core.errors import InvalidProposal
from orchestrator.core.proposal import Envelope, Proposal
from orchestrator.shell.editing import checks
from orchestrator.shell.editing.checks import check_proposal
from tests.shell.editing.builders import (
    A1,
    A2,
    CLIMATE,
    ENERGY,
    FINANCE,
    N1,
    N2,
    N3,
    PLAN,
    PROPOSAL,
    REGISTRY,
    V1,
    agent,
    document,
    with_mask,
)

Edit = Callable[[Proposal], Proposal]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A change to a sound proposal, and the one finding that it makes."""

    id: str
    change: Edit
    code: str
    where: str
    says: str = ""


def test_a_sound_proposal_has_no_findings() -> None:
    assert check_proposal(PROPOSAL, REGISTRY).errors == ()
    assert check_proposal(PROPOSAL, REGISTRY).warnings == ()


def roster(change: Callable[[AgentSpec], AgentSpec], name: AgentId) -> Edit:
    return lambda p: replace(
        p, roster=Roster(agents=tuple(change(a) if a.id == name else a for a in p.roster.agents))
    )


def contract(change: Callable[[TaskContract], TaskContract]) -> Edit:
    return lambda p: replace(p, contract=change(p.contract))


def plan(change: Callable[[Plan], Plan]) -> Edit:
    return lambda p: replace(p, plan=change(p.plan))


def needs(domain: str) -> Edit:
    first = replace(PLAN.subtasks[0], required_domains={domain: 1.0})
    return plan(lambda p: replace(p, subtasks=(first, *p.subtasks[1:])))


def back_edge(p: Plan) -> Plan:
    back = Dependency(source=N3, target=N3, output="report", input="claims")
    return replace(p, dependencies=(*p.dependencies, back))


ERRORS = (
    Case(id="lint", change=plan(back_edge), code="self_edge", where="plan.dependencies", says="n3.report"),
    Case(
        id="limit",
        change=contract(lambda c: replace(c, delta_max=1.5)),
        code="limit_out_of_range",
        where="contract.delta_max",
        says="1.5",
    ),
    Case(
        id="unassigned",
        change=lambda p: replace(p, assignment={N1: A1, N2: A2}),
        code="unassigned",
        where="assignment.n3",
    ),
    Case(
        id="unknown agent",
        change=lambda p: replace(p, assignment={**p.assignment, N3: AgentId("A9")}),
        code="unknown_agent",
        where="assignment.n3",
        says="A1, A2, V1",
    ),
    Case(
        id="unknown sub-task",
        change=lambda p: replace(p, assignment={**p.assignment, NodeId("n9"): A1}),
        code="unknown_subtask",
        where="assignment.n9",
        says="n1, n2, n3",
    ),
    Case(
        id="verifier works",
        change=lambda p: replace(p, assignment={**p.assignment, N3: V1}),
        code="role",
        where="assignment.n3",
    ),
    Case(
        id="operation",
        change=roster(lambda a: replace(a, operations=("report",)), A2),
        code="operation",
        where="assignment.n2",
        says="research",
    ),
    Case(
        id="tool",
        change=roster(lambda a: replace(a, tools=("read_note",)), A2),
        code="tool",
        where="assignment.n2",
        says="search_notes",
    ),
    Case(
        id="grant",
        change=lambda p: replace(p, grants={A1: p.grants[A1], V1: p.grants[V1]}),
        code="tool_not_granted",
        where="grants.A2",
        says="read_note",
    ),
    Case(
        id="verifier generates",
        change=roster(lambda a: replace(a, operations=("verify", "report")), V1),
        code="roles_mixed",
        where="roster.V1.operations",
        says="report",
    ),
    Case(
        id="generator verifies",
        change=roster(lambda a: replace(a, operations=(*a.operations, "verify")), A1),
        code="roles_mixed",
        where="roster.A1.operations",
        says="verify",
    ),
    Case(
        id="concurrency",
        change=roster(lambda a: replace(a, max_concurrency=0), A1),
        code="concurrency_out_of_range",
        where="roster.A1.max_concurrency",
        says="1 or more",
    ),
    Case(
        id="model without a name",
        change=roster(lambda a: replace(a, model_policy=ModelPolicy(kind="model")), A1),
        code="model_policy",
        where="roster.A1.model_policy",
        says="provider:name",
    ),
    Case(
        id="name without a model",
        change=roster(lambda a: replace(a, model_policy=ModelPolicy(model="x:y")), A1),
        code="model_policy",
        where="roster.A1.model_policy",
        says="'x:y'",
    ),
    Case(
        id="an address without a model",
        change=roster(lambda a: replace(a, model_policy=ModelPolicy(base_url="http://host/v1")), A1),
        code="base_url",
        where="roster.A1.model_policy.base_url",
        says="'http://host/v1'",
    ),
    Case(
        id="an address that is none",
        change=roster(
            lambda a: replace(a, model_policy=ModelPolicy(kind="model", model="x:y", base_url="host:1")), A1
        ),
        code="base_url",
        where="roster.A1.model_policy.base_url",
        says="http://127.0.0.1:8080/v1",
    ),
    Case(
        id="mask off the registry",
        change=lambda p: with_mask(p, A1, DomainId("env.enrgy"), 50),
        code="unknown_domain",
        where="roster.A1.mask.env.enrgy",
        says="'env.energy'",
    ),
    Case(
        id="mask on a group",
        change=lambda p: with_mask(p, A1, DomainId("env"), 50),
        code="unknown_domain",
        where="roster.A1.mask.env",
        says="env.climate",
    ),
    Case(
        id="forbidden",
        change=lambda p: contract(lambda c: replace(c, forbidden=("domain:env.climate",)))(
            with_mask(with_mask(p, A2, CLIMATE, -100), V1, CLIMATE, -100)
        ),
        code="forbidden_domain_open",
        where="roster.A1.mask.env.climate",
        says="0.50",
    ),
    Case(
        id="unknown prohibition",
        change=contract(lambda c: replace(c, forbidden=("domain:nowhere",))),
        code="unknown_domain",
        where="contract.forbidden",
        says="'nowhere'",
    ),
    Case(
        id="thresholds of nobody",
        change=lambda p: replace(p, agent_thresholds={AgentId("A9"): Thresholds()}),
        code="unknown_agent",
        where="thresholds.agents.A9",
    ),
    Case(
        id="ceiling",
        change=lambda p: replace(p, envelope=Envelope(ceilings={A1: {FINANCE: 101}})),
        code="ceiling_out_of_range",
        where="envelope.ceilings.A1.econ.finance",
        says="101",
    ),
)


@pytest.mark.parametrize("case", ERRORS, ids=lambda case: case.id)
def test_errors_refuse_a_proposal_and_name_the_place(case: Case) -> None:
    findings = check_proposal(case.change(PROPOSAL), REGISTRY)
    found = {(finding.code, finding.where): finding for finding in findings.errors}
    assert (case.code, case.where) in found
    finding = found[case.code, case.where]
    assert case.says in finding.render("en")
    assert finding.render("en").startswith(f"{case.where}: ")
    assert finding.render("zh").startswith(f"{case.where}：")
    assert {one.code for one in findings.errors} == {case.code}
    with pytest.raises(InvalidProposal) as caught:
        findings.raise_errors()
    assert caught.value.problems["zh"] == findings.lines("error", "zh")


WARNINGS = (
    Case(
        id="background",
        change=lambda p: with_mask(p, A1, ENERGY, 50),
        code="domain",
        where="assignment.n1",
        says="path 2",
    ),
    Case(
        id="silent",
        change=lambda p: with_mask(p, A1, ENERGY, 30),
        code="domain",
        where="assignment.n1",
        says="for lack of it",
    ),
    Case(
        id="tool of nobody",
        change=lambda p: replace(p, grants={**p.grants, A1: (*p.grants[A1], "send_mail")}),
        code="unknown_tool",
        where="grants.A1",
        says="'send_mail'",
    ),
    Case(
        id="lint",
        change=plan(
            lambda p: replace(p, subtasks=(replace(p.subtasks[0], required_domains={}), *p.subtasks[1:]))
        ),
        code="no_domains",
        where="plan.subtasks.n1",
    ),
)


@pytest.mark.parametrize("case", WARNINGS, ids=lambda case: case.id)
def test_warnings_are_shown_and_refuse_nothing(case: Case) -> None:
    findings = check_proposal(case.change(PROPOSAL), REGISTRY)
    findings.raise_errors()
    (finding,) = findings.warnings
    assert (finding.code, finding.where) == (case.code, case.where)
    assert case.says in finding.render("en")


def test_a_grant_beyond_the_tools_is_shown() -> None:
    idle = agent(AgentId("A3"), {})
    proposal = replace(
        PROPOSAL,
        roster=PROPOSAL.roster.with_agent(replace(idle, tools=())),
        grants={**PROPOSAL.grants, idle.id: ("read_note",)},
    )
    (finding,) = check_proposal(proposal, REGISTRY).warnings
    assert (finding.code, finding.about) == ("grant_unused", ("A3",))


@pytest.mark.parametrize("domain", ["env", "nowhere"])
def test_a_required_domain_has_to_be_a_leaf_of_the_registry(domain: str) -> None:
    findings = check_proposal(needs(domain)(PROPOSAL), REGISTRY)
    (finding,) = findings.errors
    assert (finding.code, finding.where) == ("unknown_domain", "plan.subtasks.n1.required_domains")


def test_sub_tasks_of_people_are_refused_for_now() -> None:
    human = replace(PLAN.subtasks[2], kind="human")
    proposal = replace(PROPOSAL, plan=replace(PLAN, subtasks=(*PLAN.subtasks[:2], human)))
    (finding,) = check_proposal(proposal, REGISTRY).errors
    assert (finding.code, finding.where) == ("kind_human", "plan.subtasks.n3.kind")
    for lang in ("en", "zh"):
        assert "human" in finding.texts[lang]
        assert all(kind in finding.texts[lang] for kind in ("function", "call", "loop"))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_document_offers_no_sub_task_for_a_person(lang: Lang) -> None:
    assert "human" not in document(lang=lang)


def test_an_agent_that_verifies_is_not_asked_for() -> None:
    """The rules check in any case."""
    two = Roster(agents=PROPOSAL.roster.agents[:2])
    proposal = replace(PROPOSAL, roster=two, grants={A1: PROPOSAL.grants[A1], A2: PROPOSAL.grants[A2]})
    assert check_proposal(proposal, REGISTRY).errors == ()
    assert check_proposal(proposal, REGISTRY).warnings == ()


def test_agent_ids_leave_room_for_successors() -> None:
    odd = AgentId("A1+n1.2")
    proposal = replace(
        PROPOSAL,
        roster=Roster(agents=(replace(PROPOSAL.roster.agents[0], id=odd), *PROPOSAL.roster.agents[1:])),
        assignment={N1: odd, N2: A2, N3: odd},
        grants={**PROPOSAL.grants, odd: PROPOSAL.grants[A1]},
    )
    codes = [finding.code for finding in check_proposal(proposal, REGISTRY).errors]
    assert codes == ["invalid_agent_id", "unknown_agent"]


def test_an_agent_that_is_there_twice_is_refused() -> None:
    twice = replace(PROPOSAL, roster=Roster(agents=(*PROPOSAL.roster.agents, PROPOSAL.roster.agents[0])))
    assert {finding.code for finding in check_proposal(twice, REGISTRY).errors} == {"duplicate_agent"}


def test_the_shipped_tools_are_those_that_the_built_in_ones_call_themselves(tmp_path: Path) -> None:
    file = ToolsFile(
        folders={"notes": tmp_path},
        drafts=tmp_path / "drafts",
        fetch=(AllowedHost(host="example.org"),),
        tables={"sales": tmp_path / "sales.csv"},
    )
    built_in = {*configured_tools(file), READ_RESULT.name, SEARCH_NOTES.name, READ_NOTE.name}
    assert built_in == checks._SHIPPED_TOOLS
