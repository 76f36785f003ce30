from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.assignment import coverage
from agents.planning.embedded import plan_goal
from agents.planning.roster_design import MAIN_LIMIT, choose_roster, cover, design_roster
from agents.spec import AgentId, AgentSpec
from graphs.contract import Goal, TaskContract
from graphs.plan import Dependency, NodeId, Plan, SubTask
from masks.bands import Band
from masks.design import MaskOriginKind, background_value, required_value
from masks.domains import DomainId
from masks.errors import DesignError
from masks.vector import new_mask
from tests.agents.planning.rankers import REGISTRY, by_key_terms

LEAVES = REGISTRY.leaves
CONTRACT = TaskContract(kind="research")


def node(name: str, *domains: str, operation: str = "research", relevance: float = 0.5) -> SubTask:
    return SubTask(
        id=NodeId(name),
        title=name,
        kind="loop",
        operation=operation,
        required_domains={domain: relevance for domain in domains},
    )


def chain(*subtasks: SubTask) -> Plan:
    edges = tuple(
        Dependency(source=a.id, target=b.id, output="claims", input="claims") for a, b in pairwise(subtasks)
    )
    return Plan(subtasks=subtasks, dependencies=edges)


def test_subtasks_of_one_field_share_an_agent() -> None:
    plan = Plan(subtasks=(node("n1", LEAVES[0]), node("n2", LEAVES[0], LEAVES[1]), node("n3")))
    designed = design_roster(plan, CONTRACT, REGISTRY, "en")
    assert designed.assignment == {"n1": "A1", "n2": "A1", "n3": "A1"}
    assert [agent.id for agent in designed.roster.agents] == ["A1", "V1"]


def test_no_agent_holds_more_main_domains_than_the_limit() -> None:
    plan = Plan(subtasks=tuple(node(f"n{i}", *LEAVES[2 * i : 2 * i + 2]) for i in range(5)))
    designed = design_roster(plan, CONTRACT, REGISTRY, "en")
    workers = [agent for agent in designed.roster.agents if agent.role == "generate"]
    assert [sum(a.mask.band(d) is Band.MAIN for d in REGISTRY.leaves) for a in workers] == [4, 4, 2]
    assert coverage(plan, designed.roster, designed.assignment) == ()


def test_a_subtask_beyond_the_limit_gets_an_agent_of_its_own() -> None:
    plan = Plan(subtasks=(node("n1", *LEAVES[:6]), node("n2", LEAVES[7])))
    groups = cover(plan, REGISTRY)
    assert [[s.id for s in group] for group in groups] == [["n1"], ["n2"]]


def test_mask_values_come_from_relevance_neighbours_and_prohibitions() -> None:
    plan = chain(node("n1", *LEAVES[:4], relevance=0.8), node("n2", *LEAVES[4:7]), node("n3", LEAVES[8]))
    contract = TaskContract(kind="research", forbidden=("domain:law",))
    designed = design_roster(plan, contract, REGISTRY, "zh")
    first, second = designed.roster.agents[:2]
    assert first.mask.value(LEAVES[0]) == required_value(0.8)
    # n1 has n2 beside it, and not n3.
    assert first.mask.value(LEAVES[4]) == background_value()
    assert first.mask.value(LEAVES[8]) == 0
    assert designed.assignment == {"n1": "A1", "n2": "A2", "n3": "A2"}
    assert second.mask.value(LEAVES[8]) == required_value(0.5)
    law = REGISTRY.leaves_under(DomainId("law"))
    assert all(agent.mask.value(leaf) == -100 for agent in designed.roster.agents for leaf in law)
    assert designed.mask_origins[first.id][law[0]].kind is MaskOriginKind.FORBIDDEN
    assert designed.mask_origins[first.id][LEAVES[4]].kind is MaskOriginKind.NEIGHBOUR
    assert designed.mask_origins[first.id][LEAVES[0]].relevance == 0.8


def test_the_verifier_generates_nothing() -> None:
    plan = Plan(subtasks=(node("n1", LEAVES[0]),))
    verifier = design_roster(plan, CONTRACT, REGISTRY, "zh").roster.get("V1")
    assert (verifier.role, verifier.operations, verifier.outputs) == ("verify", ("verify",), ())
    assert (
        verifier.responsibility
        == "以其名义对照来源核查其他 agent 的产出（本版本由规则进行）；自己不生成内容。"
    )


def test_tools_follow_the_operations() -> None:
    plan = Plan(subtasks=(node("n1", LEAVES[0]), node("n2", *LEAVES[1:5], operation="report")))
    designed = design_roster(plan, CONTRACT, REGISTRY, "en")
    assert designed.grants == {
        "A1": ("search_notes", "read_note"),
        "A2": (),
        "V1": ("search_notes", "read_note"),
    }


def test_responsibility_names_deeds_and_fields_in_the_language_of_the_goal() -> None:
    plan = Plan(subtasks=(node("n1", "env.energy"), node("n2", operation="report")))
    assert design_roster(plan, CONTRACT, REGISTRY, "en").roster.get("A1").responsibility == (
        "Finds answers in the notes, writes the report; fields: Energy."
    )
    assert design_roster(plan, CONTRACT, REGISTRY, "zh").roster.get("A1").responsibility == (
        "在笔记中查找答案、撰写报告；领域：能源。"
    )


def test_a_required_domain_that_is_forbidden_is_an_error() -> None:
    plan = Plan(subtasks=(node("n1", "law.civil"),))
    with pytest.raises(DesignError, match=r"law\.civil"):
        design_roster(plan, TaskContract(kind="x", forbidden=("domain:law",)), REGISTRY, "en")


def test_people_need_no_agent_and_an_empty_plan_no_roster() -> None:
    person = SubTask(id=NodeId("n1"), title="sign", kind="human", operation="sign")
    assert design_roster(Plan(subtasks=(person,)), CONTRACT, REGISTRY, "en").roster.agents == ()
    assert design_roster(Plan(), CONTRACT, REGISTRY, "en").roster.agents == ()


def fewest(needs: list[frozenset[str]], limit: int) -> int:
    """Count the groups of the best partition, by trying all of them."""
    best = len(needs)

    def place(rest: list[frozenset[str]], groups: list[frozenset[str]]) -> None:
        nonlocal best
        if len(groups) >= best:
            return
        if not rest:
            best = len(groups)
            return
        head, *tail = rest
        for position, group in enumerate(groups):
            if len(group | head) <= max(limit, len(head)) and (len(group) <= limit or head <= group):
                place(tail, [*groups[:position], group | head, *groups[position + 1 :]])
        place(tail, [*groups, head])

    place(needs, [])
    return best


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.frozensets(st.sampled_from([str(leaf) for leaf in LEAVES[:8]]), min_size=1, max_size=3),
        min_size=1,
        max_size=6,
    )
)
def test_greedy_cover_is_sound_and_near_the_fewest(needs: list[frozenset[str]]) -> None:
    plan = Plan(subtasks=tuple(node(f"n{i}", *sorted(domains)) for i, domains in enumerate(needs)))
    groups = cover(plan, REGISTRY)
    assert sorted(s.id for group in groups for s in group) == sorted(s.id for s in plan.subtasks)
    for group in groups:
        assert len({domain for s in group for domain in s.required_domains}) <= MAIN_LIMIT
    assert len(groups) <= fewest(needs, MAIN_LIMIT) + 1
    # No two groups could still be one.
    for first, second in combinations(groups, 2):
        both = {domain for s in (*first, *second) for domain in s.required_domains}
        assert len(both) > MAIN_LIMIT


def catalogue_agent(
    name: str, *domains: str, operations: tuple[str, ...] = ("research", "synthesise", "report")
) -> AgentSpec:
    return AgentSpec(
        id=AgentId(name),
        responsibility=name,
        role="generate",
        operations=operations,
        mask=new_mask(name, {DomainId(domain): 90 for domain in domains}),
        tools=("search_notes", "read_note"),
    )


def test_a_chosen_roster_takes_few_agents_with_their_own_masks() -> None:
    plan = Plan(subtasks=(node("n1", LEAVES[0]), node("n2", LEAVES[1]), node("n3", LEAVES[2])))
    catalogue = [
        catalogue_agent("one", LEAVES[0]),
        catalogue_agent("two", LEAVES[0], LEAVES[1]),
        catalogue_agent("three", LEAVES[2]),
    ]
    chosen = choose_roster(plan, CONTRACT, catalogue, REGISTRY, "en")
    assert chosen.assignment == {"n1": "two", "n2": "two", "n3": "three"}
    assert [agent.id for agent in chosen.roster.agents] == ["two", "three", "V1"]
    assert chosen.roster.get("two").mask == catalogue[1].mask
    assert chosen.mask_origins[AgentId("two")][LEAVES[0]].kind is MaskOriginKind.CATALOGUE


def test_a_chosen_agent_is_suppressed_where_the_contract_forbids() -> None:
    plan = Plan(subtasks=(node("n1", "env.energy"),))
    contract = TaskContract(kind="x", forbidden=("domain:law.civil",))
    chosen = choose_roster(
        plan, contract, [catalogue_agent("one", "env.energy", "law.civil")], REGISTRY, "en"
    )
    mask = chosen.roster.get("one").mask
    assert mask.value(DomainId("law.civil")) == -100
    assert [(c.operation, c.author) for c in mask.changes] == [("suppress", "planner")]
    assert chosen.mask_origins[AgentId("one")][DomainId("law.civil")].kind is MaskOriginKind.FORBIDDEN


def test_what_no_agent_of_the_catalogue_can_do_stays_unassigned() -> None:
    plan = Plan(subtasks=(node("n1", operation="extract"), node("n2")))
    chosen = choose_roster(plan, CONTRACT, [catalogue_agent("one")], REGISTRY, "en")
    assert chosen.assignment == {"n2": "one"}
    assert [gap.kind for gap in coverage(plan, chosen.roster, chosen.assignment)] == ["unassigned"]


def test_a_catalogue_verifier_is_used() -> None:
    plan = Plan(subtasks=(node("n1"),))
    checker = AgentSpec(
        id=AgentId("C"), responsibility="c", role="verify", operations=("verify",), mask=new_mask("C")
    )
    chosen = choose_roster(plan, CONTRACT, [checker, catalogue_agent("V1")], REGISTRY, "en")
    assert [agent.id for agent in chosen.roster.agents] == ["V1", "C"]
    without = choose_roster(plan, CONTRACT, [catalogue_agent("V1")], REGISTRY, "en")
    assert [agent.id for agent in without.roster.agents] == ["V1", "V2"]


@pytest.mark.parametrize(
    "text",
    [
        "Compare A and B on cost",
        "回答：（1）电池的成本？（2）合同的期限？（3）药物的剂量？",
        "Summarise the folder",
    ],
)
def test_a_planned_goal_is_covered_by_its_designed_roster(text: str) -> None:
    result = plan_goal(Goal(text=text, lang="en", sources=("n",)), REGISTRY, by_key_terms)
    designed = design_roster(result.plan, result.contract, REGISTRY, "en")
    assert coverage(result.plan, designed.roster, designed.assignment) == ()
