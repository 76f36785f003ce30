from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.assignment import (
    CoverageGap,
    GapKind,
    UnfitAgent,
    UnknownNode,
    assign,
    coverage,
    covers,
    domain_fit,
    rank_candidates,
    reassign,
)
from agents.roster import Roster, UnknownAgent
from agents.spec import AgentId, AgentRole, AgentSpec
from graphs.contract import Lang
from graphs.plan import NodeId, Plan, SubTask
from masks.bands import Band, Thresholds
from masks.domains import DomainId
from masks.vector import new_mask

TOOLS = ("search_notes", "read_note")


def agent(
    name: str,
    mask: Mapping[str, int],
    *,
    operations: tuple[str, ...] = ("research",),
    tools: tuple[str, ...] = TOOLS,
    role: AgentRole = "generate",
    slots: int = 2,
) -> AgentSpec:
    return AgentSpec(
        id=AgentId(name),
        responsibility=name,
        role=role,
        operations=operations,
        mask=new_mask(name, {DomainId(domain): value for domain, value in mask.items()}),
        tools=tools,
        max_concurrency=slots,
    )


def task(
    name: str, domains: Mapping[str, float], operation: str = "research", estimate: float = 1.0
) -> SubTask:
    return SubTask(
        id=NodeId(name),
        title=name,
        kind="loop",
        operation=operation,
        required_domains=domains,
        estimate=estimate,
    )


def roster(*agents: AgentSpec) -> Roster:
    return Roster(agents=agents)


def test_fit_is_the_relevance_weighted_credit_of_the_bands() -> None:
    subtask = task("n", {"a": 1.0, "b": 0.5})
    # a is MAIN: 1; b is BACKGROUND at 0.51: (51 - 30) / 70 = 0.3. (1 x 1 + 0.5 x 0.3) / 1.5 = 0.7667.
    assert domain_fit(subtask, agent("A", {"a": 80, "b": 51})) == 0.7667
    # b is SILENT at the threshold: 1 / 1.5.
    assert domain_fit(subtask, agent("A", {"a": 80, "b": 30})) == 0.6667
    assert domain_fit(subtask, agent("A", {"a": 71, "b": 71})) == 1.0
    assert domain_fit(task("n", {}), agent("A", {})) == 1.0


@given(
    st.dictionaries(st.sampled_from("abc"), st.integers(-100, 100)),
    st.sampled_from("abc"),
    st.integers(0, 100),
)
def test_raising_a_required_domain_never_lowers_the_fit(values: dict[str, int], domain: str, by: int) -> None:
    subtask = task("n", {"a": 0.9, "b": 0.4, "c": 0.1})
    raised = {**values, domain: min(100, values.get(domain, 0) + by)}
    assert domain_fit(subtask, agent("A", raised)) >= domain_fit(subtask, agent("A", values))


def test_candidates_are_ranked_by_fit_then_specialist_then_order() -> None:
    ranked = rank_candidates(
        task("n", {"a": 1.0}),
        roster(
            agent("silent", {}),
            agent("broad", {"a": 90, "b": 90}),
            agent("special", {"a": 75}),
            agent("twin", {"a": 99}),
            agent("unable", {"a": 99}, operations=("report",)),
            agent("toolless", {"a": 99}, tools=()),
            agent("judge", {"a": 99}, role="verify"),
        ),
    )
    assert [(c.agent, c.fit) for c in ranked] == [
        ("special", 1.0),
        ("twin", 1.0),
        ("broad", 1.0),
        ("silent", 0.0),
    ]


def test_reasons_say_what_fits_in_both_languages() -> None:
    (candidate,) = rank_candidates(task("n", {"a": 0.5, "b": 1.0}), roster(agent("A", {"a": 40, "b": 90})))
    assert candidate.reasons == {
        "en": ("performs 'research'", "b 0.90 (main)", "a 0.40 (background)"),
        "zh": ("能执行 'research'", "b 0.90（主激活）", "a 0.40（背景）"),
    }


def test_thresholds_of_an_agent_decide_for_it() -> None:
    loose = Thresholds(main=50, background=20)
    members = roster(agent("A", {"a": 60}), agent("B", {"a": 60}))
    ranked = rank_candidates(task("n", {"a": 1.0}), members, agent_thresholds={AgentId("B"): loose})
    assert [c.agent for c in ranked] == ["B", "A"]
    plan = Plan(subtasks=(task("n", {"a": 1.0}),))
    assert coverage(plan, members, {NodeId("n"): AgentId("B")}, agent_thresholds={AgentId("B"): loose}) == ()


@pytest.mark.parametrize(
    ("worker", "kinds"),
    [
        (agent("A", {"a": 90}), []),
        (agent("A", {"a": 90}, operations=("report",)), ["operation"]),
        (agent("A", {"a": 90}, tools=("read_note",)), ["tool"]),
        (agent("A", {"a": 90}, role="verify"), ["role"]),
        (agent("A", {"a": 50}), ["domain"]),
    ],
)
def test_gaps_name_what_is_missing(worker: AgentSpec, kinds: list[str]) -> None:
    plan = Plan(subtasks=(task("n", {"a": 1.0}),))
    gaps = coverage(plan, roster(worker), {NodeId("n"): AgentId("A")})
    assert [gap.kind for gap in gaps] == kinds
    assert covers(plan.subtasks[0], worker) == (not kinds)


def test_gaps_of_nobody_and_of_a_stranger() -> None:
    plan = Plan(
        subtasks=(
            task("n1", {}),
            task("n2", {}),
            SubTask(id=NodeId("n3"), title="", kind="human", operation="sign"),
        )
    )
    gaps = coverage(plan, roster(agent("A", {})), {NodeId("n2"): AgentId("Z")})
    assert [(gap.node, gap.kind, gap.blocking) for gap in gaps] == [
        ("n1", "unassigned", True),
        ("n2", "unknown_agent", True),
    ]


@pytest.mark.parametrize("kind", ["unassigned", "unknown_agent", "role", "operation", "tool", "domain"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_gap_reads_as_a_sentence_with_its_values(kind: GapKind, lang: Lang) -> None:
    gap = CoverageGap(node=NodeId("n7"), kind=kind, agent=AgentId("A9"), missing="xyz", band=Band.SILENT)
    text = gap.render(lang)
    assert "n7" in text
    assert "{" not in text
    assert ("silent" in text) == (kind == "domain" and lang == "en")
    assert ("静默" in text) == (kind == "domain" and lang == "zh")


def test_assignment_takes_few_agents_and_spreads_their_load() -> None:
    subtasks = (
        task("n1", {"a": 1.0}),
        task("n2", {"b": 1.0}),
        task("n3", {"a": 1.0}),
        task("n4", {}, estimate=5.0),
    )
    members = roster(agent("wide", {"a": 90, "b": 90}), agent("narrow", {"a": 90}))
    assert set(assign(Plan(subtasks=subtasks), members).values()) == {"wide"}
    split = roster(agent("A", {"a": 90}), agent("B", {"b": 90}))
    # Both can do n4: B has one unit of other work, A two.
    assert assign(Plan(subtasks=subtasks), split) == {"n1": "A", "n2": "B", "n3": "A", "n4": "B"}


def test_what_nobody_covers_goes_to_the_best_candidate_or_to_nobody() -> None:
    plan = Plan(subtasks=(task("n1", {"a": 1.0}), task("n2", {}, operation="extract")))
    members = roster(agent("far", {}), agent("near", {"a": 60}))
    assert assign(plan, members) == {"n1": "near"}


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=1, max_size=6))
def test_every_subtask_that_somebody_covers_is_covered(pairs: list[tuple[str, str]]) -> None:
    plan = Plan(subtasks=tuple(task(f"n{i}", {x: 1.0, y: 1.0}) for i, (x, y) in enumerate(pairs)))
    members = roster(
        agent("AB", {"a": 90, "b": 90}), agent("CD", {"c": 90, "d": 90}), agent("AC", {"a": 90, "c": 90})
    )
    gaps = coverage(plan, members, assign(plan, members))
    hopeless = {s.id for s in plan.subtasks if not any(covers(s, m) for m in members.agents)}
    assert {gap.node for gap in gaps} == hopeless


def test_a_reassignment_says_what_it_loses_and_closes() -> None:
    plan = Plan(subtasks=(task("n1", {"a": 1.0}), task("n2", {"b": 1.0})))
    members = roster(agent("A", {"a": 90}), agent("B", {"b": 90}))
    start = {NodeId("n1"): AgentId("B"), NodeId("n2"): AgentId("B")}
    better = reassign(plan, members, start, NodeId("n1"), AgentId("A"))
    assert better.assignment == {"n1": "A", "n2": "B"}
    assert (better.lost, [gap.missing for gap in better.closed]) == ((), ["a"])
    worse = reassign(plan, members, better.assignment, NodeId("n2"), AgentId("A"))
    assert [(gap.node, gap.agent, gap.missing, gap.blocking) for gap in worse.lost] == [
        ("n2", "A", "b", False)
    ]
    assert start == {"n1": "B", "n2": "B"}


def test_a_reassignment_that_cannot_work_is_refused() -> None:
    plan = Plan(subtasks=(task("n1", {}),))
    members = roster(agent("A", {}), agent("V", {}, role="verify"))
    with pytest.raises(UnfitAgent, match="verifies and generates nothing") as caught:
        reassign(plan, members, {}, NodeId("n1"), AgentId("V"))
    assert "只负责核验" in caught.value.message("zh")
    with pytest.raises(UnknownNode, match="n9"):
        reassign(plan, members, {}, NodeId("n9"), AgentId("A"))
    with pytest.raises(UnknownAgent, match="X"):
        reassign(plan, members, {}, NodeId("n1"), AgentId("X"))
