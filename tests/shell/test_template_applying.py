"""An edit of a template fits by what a sub-task does and an agent is responsible for, never by ids alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from agents.operations import SEARCH_TOOLS
from agents.roster import Roster
from agents.spec import AgentSpec
from graphs.contract import Criterion
from graphs.edits import AddNode, UpdateNode
from graphs.plan import Plan
from masks.domains import DomainId
from orchestrator.core.events import ProposalApproved, ProposalDrafted, RunCreated, RunEnded
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Proposal, proposal_sha256
from orchestrator.shell.plan_templates import Assigned, MaskEdit, PlanTemplate, template_of
from orchestrator.shell.runs import create
from orchestrator.shell.store.memory_store import MemoryStore
from orchestrator.shell.template_applying import Applied, apply_template
from tests.core.builders import CONTRACTS, DATABASES, agent, n, plan, proposal, subtask
from tests.flows.stage import FakeClock, four_domains

REGISTRY = four_domains()
OLD = "What does the battery cost?"
NEW = "What does the fence cost?"
WORK: Final[Plan] = plan(
    "a>b", lone="c", a=replace(subtask("a"), acceptance=("c1",), params={"questions": ["Why?"]})
)
FINDS = replace(agent("A1", {DATABASES: 90}), tools=SEARCH_TOOLS, responsibility="Looks into databases.")
READS = replace(
    agent("A2", {DATABASES: 90, CONTRACTS: 90}), tools=SEARCH_TOOLS, responsibility="Looks into contracts."
)
CHECKS = agent("V1", {DATABASES: 80, CONTRACTS: 90}, role="verify", operations=("verify",))


def of(goal: str, *agents: AgentSpec) -> Proposal:
    """A proposal of three sub-tasks, all with the first agent."""
    made = proposal(WORK, roster=Roster(agents=agents))
    assigned = {task.id: agents[0].id for task in WORK.subtasks}
    grants = {each.id: SEARCH_TOOLS for each in agents if each.role == "generate"}
    return replace(made, goal=replace(made.goal, text=goal), assignment=assigned, grants=grants)


def template(**what: object) -> PlanTemplate:
    empty = PlanTemplate(
        run=RunId("r-old"),
        goal=OLD,
        kind="research",
        outcome="completed",
        drafted=of(OLD, FINDS, READS, CHECKS),
    )
    return replace(empty, **what)  # type: ignore[arg-type]


def applied(made: PlanTemplate, to: Proposal) -> Applied:
    return apply_template(made, to, REGISTRY)


SAME = of(NEW, FINDS, READS, CHECKS)
SWAPPED = of(NEW, replace(READS, id=FINDS.id), replace(FINDS, id=READS.id), CHECKS)
"""The same two agents, each under the other's id."""
RAISED = MaskEdit(agent=FINDS, domain=DomainId("med.general"), old=0, new=90)
GIVEN = Assigned(subtask=WORK.subtasks[0], agent=READS, before=FINDS)


def raised(proposal: Proposal) -> dict[str, int]:
    return {each.id: each.mask.value(RAISED.domain) for each in proposal.roster.agents}


def test_a_mask_value_goes_to_the_agent_with_the_responsibility_whatever_its_id() -> None:
    made = template(masks=(RAISED,))
    assert raised(applied(made, SAME).proposal) == {"A1": 90, "A2": 0, "V1": 0}
    assert raised(applied(made, SWAPPED).proposal) == {"A1": 0, "A2": 90, "V1": 0}


def test_a_mask_value_of_an_agent_that_does_something_else_is_listed() -> None:
    other = of(NEW, replace(FINDS, responsibility="Looks into medicine."), READS, CHECKS)
    narrower = of(NEW, replace(FINDS, operations=("research",)), READS, CHECKS)
    for new in (other, narrower):
        found = applied(template(masks=(RAISED,)), new)
        assert (found.proposal.roster, found.misfits) == (
            new.roster,
            ("A1 med.general 0.00 -> 0.90",),
        )


def test_a_sub_task_is_given_to_the_counterpart() -> None:
    made = template(assigned=(GIVEN,))
    found = applied(made, SAME)
    assert (found.proposal.assignment, found.misfits) == ({"a": "A2", "b": "A1", "c": "A1"}, ())
    # Here everything is with the counterpart of A2 already, under the id A1: nothing to do, and nothing is lost.
    found = applied(made, SWAPPED)
    assert (found.proposal.assignment, found.misfits) == ({"a": "A1", "b": "A1", "c": "A1"}, ())


def test_an_assignment_that_does_not_fit_is_listed_and_not_made() -> None:
    made = template(assigned=(GIVEN,))
    no_counterpart = of(NEW, FINDS, replace(READS, responsibility="Looks into medicine."), CHECKS)
    unknown = of(NEW, FINDS, CHECKS)
    with_others = of(NEW, replace(FINDS, responsibility="Looks into medicine."), READS, CHECKS)
    otherwise = replace(
        SAME,
        plan=replace(WORK, subtasks=(replace(WORK.subtasks[0], operation="report"), *WORK.subtasks[1:])),
    )
    gone = replace(
        SAME, plan=plan("x>b", lone="c"), assignment={n("x"): FINDS.id, n("b"): FINDS.id, n("c"): FINDS.id}
    )
    for new in (no_counterpart, unknown, with_others, otherwise, gone):
        found = applied(made, new)
        assert (found.proposal.assignment, found.misfits) == (new.assignment, ("a -> A2",))


def test_what_speaks_of_the_old_goal_alone_is_listed() -> None:
    added = replace(
        subtask("d"), acceptance=("c9",), params={"questions": ["Which?", "Who sells the battery?"]}
    )
    made = template(
        criteria=(
            Criterion(id="c9", text="Names the battery.", kind="question_answered", question="Which?"),
        ),
        edits=(AddNode(subtask=added), UpdateNode(node=n("c"), title="Battery sheet")),
        assigned=(Assigned(subtask=added, agent=FINDS, before=None),),
    )
    found = applied(made, SAME)
    assert (found.proposal.plan, found.proposal.contract) == (SAME.plan, SAME.contract)
    starts = ("+ c9: Names the battery.", "+ node d", "~ node c", "d -> A1")
    assert [line.startswith(start) for line, start in zip(found.misfits, starts, strict=True)] == [True] * 4
    same_goal = applied(made, of(OLD, FINDS, READS, CHECKS))
    assert {task.id for task in same_goal.proposal.plan.subtasks} == {"a", "b", "c", "d"}
    assert same_goal.proposal.assignment[n("d")] == "A1"
    assert same_goal.misfits == ()


def test_a_run_in_which_only_an_assignment_was_changed_gives_a_template() -> None:
    store, run = MemoryStore(), RunId("r-old")
    drafted = of(OLD, FINDS, READS, CHECKS)
    approved = replace(drafted, revision=2, assignment={**drafted.assignment, n("a"): READS.id})
    sha256 = proposal_sha256(approved)
    create(
        store,
        FakeClock(),
        run,
        OLD,
        [
            RunCreated(goal=OLD, lang="en", sources=(), run_seed="seed", versions={}),
            ProposalDrafted(proposal=drafted, sha256=proposal_sha256(drafted), author="planner"),
            ProposalDrafted(proposal=approved, sha256=sha256, author="user"),
            ProposalApproved(revision=2, sha256=sha256, by="test"),
            RunEnded(outcome="completed"),
        ],
    )
    found = template_of(store, run)
    assert found is not None
    assert (found.size, found.assigned) == (1, (GIVEN,))
