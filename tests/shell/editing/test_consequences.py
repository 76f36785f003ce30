"""What a change means for the run, with expectations worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.roster import Roster
from agents.spec import AgentId
from graphs.contract import Criterion, Lang, PortSpec
from graphs.plan import Dependency, InvalidPlanError, NodeId, Plan, SubTask
from masks.bands import Thresholds
from masks.domains import DomainId
from orchestrator.core.proposal import Envelope, Proposal
from orchestrator.shell.editing.consequences import consequences, estimate
from orchestrator.shell.editing.document import from_document
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
    agent,
    document,
    edited,
    search,
    with_mask,
)
from tests.shell.editing.strategies import proposals


def means(new: Proposal, lang: Lang = "en", old: Proposal = PROPOSAL) -> tuple[str, ...]:
    return consequences(old, new, REGISTRY, lang)


def assigned(**agents: AgentId) -> Proposal:
    return replace(PROPOSAL, assignment={**PROPOSAL.assignment, **{NodeId(n): a for n, a in agents.items()}})


def with_subtask(changed: SubTask) -> Proposal:
    subtasks = tuple(changed if subtask.id == changed.id else subtask for subtask in PLAN.subtasks)
    return replace(PROPOSAL, plan=replace(PLAN, subtasks=subtasks))


def test_nothing_changed_means_nothing() -> None:
    assert means(replace(PROPOSAL, revision=8)) == ()
    assert means(replace(PROPOSAL, notes=("a note",))) == ()


def test_a_lowered_domain_loses_coverage_opens_path_two_and_is_made_anew() -> None:
    assert means(with_mask(PROPOSAL, A1, ENERGY, 50)) == (
        "n1: main coverage of env.energy lost (A1 0.50 background); covered by A2",
        "A1 may now use env.energy on path 2 only and must declare it as a leak (n1, n3)",
        "results made anew even if accepted before: n1, n3",
    )


def test_a_silenced_domain_leads_to_a_stop_within_the_envelope_or_not() -> None:
    silent = with_mask(PROPOSAL, A1, ENERGY, 30)
    assert means(silent)[1] == (
        "n1: env.energy is silent for A1 though required, so the sub-task is expected to stop for lack of it; "
        "the envelope allows to raise it to 0.40"
    )
    for envelope, why in (
        (Envelope(reassign=False), "reassign: false"),
        (Envelope(ceilings={A1: {ENERGY: 39}}), "ceiling 0.39"),
    ):
        (line,) = [line for line in means(replace(silent, envelope=envelope)) if "for lack of it" in line]
        assert line.endswith(f"the envelope forbids to raise it ({why})")
    shut = with_mask(PROPOSAL, A1, ENERGY, -100)
    assert means(shut)[1].endswith("the envelope forbids to raise it (-1.00)")
    assert any("因缺少它而受阻" in line and "允许提升到 0.40" in line for line in means(silent, "zh"))


def test_an_envelope_that_closes_over_a_silent_domain_is_said() -> None:
    silent = with_mask(PROPOSAL, A1, ENERGY, 30)
    closed = replace(silent, envelope=Envelope(reassign=False))
    assert len(means(closed, old=silent)) == 1
    assert "forbids" in means(closed, old=silent)[0]
    assert "allows" in means(silent, old=closed)[0]


def test_an_assignment_changes_coverage_and_the_agent_that_may_use_a_domain() -> None:
    assert means(assigned(n2=A1)) == (
        "n2: main coverage of econ.finance lost (A1 0.00 silent); covered by A2",
        "n2: econ.finance is silent for A1 though required, so the sub-task is expected to stop for lack of it; "
        "the envelope allows to raise it to 0.40",
        "results made anew even if accepted before: n2; with them what is built on them, "
        "if they say something else: n3",
    )
    assert "n2: main coverage of econ.finance gained (A2 0.95 main)" in means(PROPOSAL, old=assigned(n2=A1))


def test_sub_tasks_of_which_the_same_is_true_share_a_line() -> None:
    second = replace(PLAN.subtasks[2], required_domains={CLIMATE: 1.0})
    both = replace(
        PROPOSAL,
        plan=replace(
            PLAN, subtasks=(search(N1, CLIMATE, "c1", "How much does it yield?"), PLAN.subtasks[1], second)
        ),
    )
    assert means(both)[0] == "n1, n3: main coverage of env.climate missing (A1 0.50 background)"


def test_a_long_list_of_sub_tasks_is_cut() -> None:
    names = [NodeId(f"n{number}") for number in range(1, 16)]
    many = replace(
        PROPOSAL,
        plan=Plan(subtasks=tuple(search(name, ENERGY, "c1", "How much does it yield?") for name in names)),
        assignment=dict.fromkeys(names, A1),
    )
    first = means(with_mask(many, A1, ENERGY, 50), old=many)[0]
    assert first.startswith("n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11, n12 and 3 more: main coverage")


def test_thresholds_move_domains_between_bands() -> None:
    low = replace(PROPOSAL, thresholds=Thresholds(main=40, background=20))
    found = means(low)
    assert found[0] == "A1 now uses env.climate freely: it is no longer reported as a leak (n1, n3)"
    assert found[-1] == "results made anew even if accepted before: n1, n2, n3"
    own = replace(PROPOSAL, agent_thresholds={A1: Thresholds(main=96, background=20)})
    assert means(own)[0] == "n1: main coverage of env.energy lost (A1 0.95 background); covered by A2"


def test_a_prohibition_is_said_and_lifting_it_leaves_the_masks() -> None:
    banned = from_document(edited("forbidden: []", "forbidden: [domain:env.climate]"), PROPOSAL, REGISTRY)
    assert "env.climate is forbidden: at -1.00 in every mask, and no repair raises it" in means(banned)
    lifted = from_document(
        edited('- "domain:env.climate"', "[]", text=document(banned)).replace(
            "forbidden:\n    []", "forbidden: []"
        ),
        banned,
        REGISTRY,
    )
    assert lifted.contract.forbidden == ()
    assert means(lifted, old=banned) == (
        "env.climate is no longer forbidden, but stays at -1.00 for A1, A2, V1 until you set it",
    )


def test_criteria_that_nobody_covers_or_asks_for() -> None:
    fewer = replace(PROPOSAL.contract, acceptance=PROPOSAL.contract.acceptance[:1])
    assert "criterion c2 is no longer asked for" in means(replace(PROPOSAL, contract=fewer))
    uncovered = replace(
        PROPOSAL,
        plan=replace(PLAN, subtasks=tuple(replace(s, acceptance=("c1",)) for s in PLAN.subtasks)),
    )
    assert "criterion c2 is covered by no sub-task" in means(uncovered)
    more = replace(
        PROPOSAL.contract,
        acceptance=(*PROPOSAL.contract.acceptance, Criterion(id="c3", text="More", kind="custom")),
    )
    assert means(replace(PROPOSAL, contract=more)) == ("criterion c3 is covered by no sub-task",)


def test_the_schedule_before_and_after() -> None:
    """Two searches of 1 unit each beside each other, then a report of 0.5."""
    assert estimate(PROPOSAL).length == 1.5
    assert estimate(PROPOSAL).makespan == 1.5
    longer = with_subtask(replace(PLAN.subtasks[1], estimate=3.0))
    assert means(longer)[:2] == (
        "critical path 1.5 -> 3.5 units (n2 -> n3)",
        "total time 1.5 -> 3.5 units",
    )


def test_an_agent_with_more_work_than_hands() -> None:
    slow = replace(
        assigned(n2=A1), roster=PROPOSAL.roster.with_agent(agent(A1, {ENERGY: 95, FINANCE: 80}, cap=1))
    )
    found = means(slow)
    assert "A1 could work on 2 sub-tasks at once and takes 1: the rest waits" in found
    assert "total time 1.5 -> 2.5 units" in found
    assert not any("critical path" in line for line in found)
    assert estimate(slow).peaks == {A1: 2}
    assert not any("could work" in line for line in means(replace(slow, notes=("x",)), old=slow))


def test_one_sub_task_after_the_other_is_no_crowd() -> None:
    chain = Plan(
        subtasks=PLAN.subtasks,
        dependencies=(
            Dependency(source=N1, target=N2, output="claims", input="notes"),
            Dependency(source=N2, target=N3, output="claims", input="claims"),
        ),
    )
    assert estimate(replace(PROPOSAL, plan=chain, assignment=dict.fromkeys((N1, N2, N3), A1))).peaks == {
        A1: 1
    }


@pytest.mark.parametrize(
    ("change", "again"),
    [
        (lambda s: replace(s, instruction="Other."), True),
        (lambda s: replace(s, params={"questions": ["Else?"]}), True),
        (lambda s: replace(s, acceptance=("c2",)), True),
        (lambda s: replace(s, title=s.title), False),
    ],
)
def test_what_a_sub_task_is_made_from_decides_whether_it_is_made_anew(
    change: Callable[[SubTask], SubTask], again: bool
) -> None:
    found = means(with_subtask(change(PLAN.subtasks[0])))
    assert any("n1; with them" in line for line in found) is again


def test_a_criterion_that_asks_something_else_makes_its_sub_tasks_anew() -> None:
    first, second = PROPOSAL.contract.acceptance
    asked = replace(
        PROPOSAL,
        contract=replace(PROPOSAL.contract, acceptance=(replace(first, question="How little?"), second)),
    )
    assert means(asked) == ("results made anew even if accepted before: n1, n3",)


def test_tools_and_edges_count_too() -> None:
    granted = replace(PROPOSAL, grants={**PROPOSAL.grants, A2: (*PROPOSAL.grants[A2], "more")})
    assert means(granted)[-1].startswith("results made anew even if accepted before: n2;")
    cut = replace(PROPOSAL, plan=replace(PLAN, dependencies=PLAN.dependencies[:1]))
    assert means(cut)[-1] == "results made anew even if accepted before: n3"


def test_a_sub_task_of_a_person_has_no_agent_and_no_mask() -> None:
    asked = SubTask(
        id=NodeId("h1"),
        title="Ask",
        kind="human",
        operation="ask",
        boundary="both",
        outputs=(PortSpec(name="x", type="text"),),
        required_domains={ENERGY: 1.0},
    )
    new = replace(PROPOSAL, plan=replace(PLAN, subtasks=(*PLAN.subtasks, asked)))
    assert means(new) == ()
    assert means(replace(new, notes=("x",)), old=new) == ()


def test_a_plan_that_is_no_dag_has_no_consequences() -> None:
    loop = replace(
        PROPOSAL,
        plan=replace(
            PLAN,
            dependencies=(
                *PLAN.dependencies,
                Dependency(source=N3, target=N1, output="report", input="notes"),
            ),
        ),
    )
    with pytest.raises(InvalidPlanError):
        means(loop)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(proposals(), proposals(), st.sampled_from(["en", "zh"]))
def test_any_two_proposals_can_be_compared(old: Proposal, new: Proposal, lang: Lang) -> None:
    assert all(line.strip() for line in consequences(old, new, REGISTRY, lang))
    assert consequences(old, old, REGISTRY, lang) == ()


def test_every_line_exists_in_both_languages() -> None:
    domains = {DomainId(leaf): 95 for leaf in REGISTRY.leaves[:3]}
    new = replace(
        with_mask(assigned(n2=A1), A1, ENERGY, 20),
        contract=replace(PROPOSAL.contract, forbidden=("domain:law",), acceptance=()),
    )
    new = replace(
        new, roster=Roster(agents=(replace(new.roster.agents[0], max_concurrency=1), agent(A2, domains)))
    )
    english, chinese = means(new, "en"), means(new, "zh")
    assert len(english) == len(chinese) > 6
    assert not set(english) & set(chinese)
