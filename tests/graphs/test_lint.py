import time
from dataclasses import replace

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from graphs.contract import Criterion, Limits, PortSpec, TaskContract
from graphs.lint import LintCode, LintFinding, errors, lint, render_finding
from graphs.linting.findings import WARNINGS
from graphs.linting.messages import _WORDS
from graphs.plan import Dependency, NodeId, Plan, SubTask, index_plan
from tests import strategies
from tests.strategies import CONTENTS, bare_subtask, chain_edge, declared, hand_plan

FINDINGS_JSON = TypeAdapter(tuple[LintFinding, ...])

CONTRACT = TaskContract(
    kind="research",
    outputs=(PortSpec(name="claims", type="claims"),),
    acceptance=(Criterion(id="c1", text="Every price is cited", kind="claims_cited"),),
)


def sound_plan() -> Plan:
    """Two researchers and a comparison, without any finding."""
    port = PortSpec(name="claims", type="claims")
    found = replace(bare_subtask("n1"), inputs=(), outputs=(port,), kind="loop", operation="research")
    found = replace(found, required_domains={"med": 0.5})
    compared = replace(
        bare_subtask("n3", title="Compare the prices"),
        kind="call",
        operation="compare",
        instruction="Compare {{claims}}.",
        inputs=(port,),
        outputs=(port,),
        acceptance=("c1",),
        required_domains={"law.tax": 1.0},
    )
    return declared(
        Plan(
            subtasks=(found, replace(found, id=NodeId("n2")), compared),
            dependencies=(chain_edge("n1", "n3"), chain_edge("n2", "n3")),
        )
    )


def codes(plan: Plan, contract: TaskContract = CONTRACT) -> list[str]:
    return [found.code.value for found in lint(plan, contract)]


def only(plan: Plan, code: LintCode, contract: TaskContract = CONTRACT) -> LintFinding:
    """The one finding of this code; others may be there."""
    (found,) = [finding for finding in lint(plan, contract) if finding.code == code]
    return found


def with_node(plan: Plan, node: str, **changes: object) -> Plan:
    subtasks = (replace(s, **changes) if s.id == node else s for s in plan.subtasks)  # type: ignore[arg-type]
    return replace(plan, subtasks=tuple(subtasks))


def test_a_sound_plan_has_no_finding() -> None:
    assert lint(sound_plan(), CONTRACT) == ()


def test_a_cycle_is_named_with_its_path() -> None:
    plan = hand_plan("a>b b>c c>d d>b d>e")
    found = only(plan, LintCode.CYCLE)
    assert found.nodes == ("b", "c", "d", "b")
    assert found.severity == "error"
    assert "b -> c -> d -> b" in render_finding(found, "en")


def test_what_no_entry_leads_to_is_unreachable() -> None:
    plan = hand_plan("b>c c>b c>d", lone="a")
    found = [f.nodes for f in lint(plan, CONTRACT) if f.code == LintCode.UNREACHABLE]
    assert found == [("b",), ("c",), ("d",)]
    assert "unreachable" not in codes(hand_plan("a>b b>c c>b"))


def test_each_knot_has_its_own_cycle() -> None:
    found = [f.nodes for f in lint(hand_plan("a>b b>a c>d d>c"), CONTRACT) if f.code == LintCode.CYCLE]
    assert found == [("a", "b", "a"), ("c", "d", "c")]


def test_edges_and_ids() -> None:
    plan = hand_plan("a>b")
    edges = (*plan.dependencies, chain_edge("a", "b"), chain_edge("b", "z"), chain_edge("a", "a"))
    broken = replace(
        plan, subtasks=(*plan.subtasks, bare_subtask("b"), bare_subtask("x y")), dependencies=edges
    )
    assert only(broken, LintCode.DUPLICATE_EDGE).nodes == ("a", "b")
    assert only(broken, LintCode.DANGLING_EDGE).detail["missing"] == "z"
    assert only(broken, LintCode.SELF_EDGE).nodes == ("a",)
    assert only(broken, LintCode.DUPLICATE_ID).detail == {"count": "2"}
    assert only(broken, LintCode.INVALID_ID).nodes == ("x y",)


def test_boundaries_have_to_be_declared_as_they_are() -> None:
    found = only(with_node(sound_plan(), "n3", boundary="inner"), LintCode.WRONG_BOUNDARY)
    assert (found.nodes, found.detail) == (("n3",), {"declared": "inner", "actual": "exit"})


def test_ports() -> None:
    plan = sound_plan()
    first, second = plan.dependencies
    unknown = replace(plan, dependencies=(replace(first, output="nope"), second))
    assert only(unknown, LintCode.UNKNOWN_PORT).detail["known"] == "claims"
    table = with_node(plan, "n1", outputs=(PortSpec(name="claims", type="table"),))
    assert only(table, LintCode.PORT_TYPE_MISMATCH).detail["output_type"] == "table"
    twice = with_node(plan, "n1", outputs=plan.subtasks[0].outputs * 2)
    assert only(twice, LintCode.DUPLICATE_PORT).detail == {"side": "output", "port": "claims"}


def test_an_unfed_input_is_a_hidden_dependency_unless_the_contract_supplies_it() -> None:
    documents = PortSpec(name="documents", type="documents")
    plan = with_node(sound_plan(), "n1", inputs=(documents,))
    assert only(plan, LintCode.MISSING_INPUT).detail["port"] == "documents"
    assert codes(plan, replace(CONTRACT, inputs=(documents,))) == []
    assert codes(with_node(sound_plan(), "n1", inputs=(replace(documents, required=False),))) == []
    wrong = replace(CONTRACT, inputs=(replace(documents, type="text"),))
    assert only(plan, LintCode.PORT_TYPE_MISMATCH, wrong).nodes == ("n1",)


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("Use {{n1.claims}}.", []),
        ("Use {{ n1 }} and {{claims}}.", []),
        ("Use {{claims.first}}.", []),
        ("Use {{n1.table}}.", ["hidden_dependency"]),
        ("Use {{n9.claims}}.", ["unknown_reference"]),
        ("Use {{n4.claims}}.", ["hidden_dependency"]),
        ("Use what n4 found.", ["node_mentioned"]),
        ("Use what n1 found; see n44 and figure n3.", []),
    ],
)
def test_references_to_other_nodes_need_an_edge(instruction: str, expected: list[str]) -> None:
    plan = sound_plan()
    loner = replace(plan.subtasks[0], id=NodeId("n4"), boundary="both")
    plan = replace(plan, subtasks=(*plan.subtasks, loner))
    assert codes(with_node(plan, "n3", instruction=instruction)) == expected


def test_references_hide_in_parameters_too() -> None:
    plan = with_node(sound_plan(), "n2", params={"deep": [{"x": "{{n1.claims}}"}]})
    assert only(plan, LintCode.HIDDEN_DEPENDENCY).nodes == ("n2", "n1")


def test_contract_and_coverage() -> None:
    plan = sound_plan()
    assert codes(plan, TaskContract(kind="x")) == [
        "missing_contract_outputs",
        "missing_contract_acceptance",
        "unknown_criterion",
    ]
    assert (
        only(with_node(plan, "n3", acceptance=()), LintCode.UNCOVERED_CRITERION).detail["criterion"] == "c1"
    )
    assert codes(Plan()) == ["empty_plan"]
    assert codes(Plan(), TaskContract(kind="x")) == [
        "missing_contract_outputs",
        "missing_contract_acceptance",
    ]
    report = replace(CONTRACT, outputs=(PortSpec(name="report", type="report"),))
    assert only(plan, LintCode.UNDELIVERED_OUTPUT, report).detail == {"output": "report", "type": "report"}
    extra = PortSpec(name="extra", type="table", required=False)
    assert codes(plan, replace(CONTRACT, outputs=(*CONTRACT.outputs, extra))) == []


def test_criteria_that_no_program_can_check_are_refused() -> None:
    asked = Criterion(id="q", text="", kind="question_answered", question=" ")
    filled = Criterion(id="f", text="", kind="field_filled", field="price")
    contract = replace(CONTRACT, acceptance=(*CONTRACT.acceptance, asked, filled, filled))
    assert only(sound_plan(), LintCode.CRITERION_INCOMPLETE, contract).detail["needed"] == "question"
    assert only(sound_plan(), LintCode.DUPLICATE_CRITERION, contract).detail == {"criterion": "f"}


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        (Limits(max_actions=0), "max_actions"),
        (Limits(max_tool_calls=-1), "max_tool_calls"),
        (Limits(deadline_s=0), "deadline_s"),
        (Limits(max_model_time_s=float("nan")), "max_model_time_s"),
        (Limits(max_attempts_per_node=0), "max_attempts_per_node"),
    ],
)
def test_limits_have_ranges(limits: Limits, named: str) -> None:
    found = only(sound_plan(), LintCode.LIMIT_OUT_OF_RANGE, replace(CONTRACT, limits=limits))
    assert found.detail["limit"] == named
    off = only(sound_plan(), LintCode.LIMIT_OUT_OF_RANGE, replace(CONTRACT, delta_max=1.01))
    assert off.detail["value"] == "1.01"


@pytest.mark.parametrize("relevance", [0.0, -0.1, 1.01, float("nan")])
def test_relevances_lie_in_their_range(relevance: float) -> None:
    plan = with_node(sound_plan(), "n1", required_domains={"med": relevance})
    assert only(plan, LintCode.RELEVANCE_OUT_OF_RANGE).detail["value"] == repr(relevance)


def test_forbidden_domains_and_bad_estimates() -> None:
    forbidding = replace(CONTRACT, forbidden=("domain:law.tax",))
    assert only(sound_plan(), LintCode.FORBIDDEN_DOMAIN, forbidding).nodes == ("n3",)
    assert only(with_node(sound_plan(), "n1", estimate=0.0), LintCode.ESTIMATE_OUT_OF_RANGE).nodes == ("n1",)


def test_warnings_of_single_nodes() -> None:
    plan = sound_plan()
    assert codes(with_node(plan, "n3", title="Compare prices and write the report")) == ["several_actions"]
    both = (*plan.subtasks[0].outputs, PortSpec(name="more", type="table"))
    assert codes(with_node(plan, "n1", outputs=both)) == ["mixed_outputs"]
    assert codes(with_node(plan, "n1", required_domains={})) == ["no_domains"]
    assert codes(with_node(plan, "n1", required_domains={}, kind="function")) == []
    loner = replace(plan.subtasks[0], id=NodeId("n4"), boundary="both", outputs=())
    assert codes(replace(plan, subtasks=(*plan.subtasks, loner))) == ["no_outputs", "no_contribution"]
    sender = replace(loner, side_effects="external")
    assert codes(replace(plan, subtasks=(*plan.subtasks, sender))) == ["no_outputs"]


def test_a_chain_of_one_kind_of_work_is_reported_once_and_whole() -> None:
    plan = hand_plan("a>b b>c c>d a>e")
    assert only(plan, LintCode.NEEDLESS_CHAIN).nodes == ("b", "c", "d"), "a has two followers"
    mixed = with_node(plan, "c", required_domains={"med": 1.0})
    assert "needless_chain" not in codes(mixed)
    for changes in ({"side_effects": "write"}, {"failure_semantics": "optional"}):
        assert "needless_chain" not in codes(with_node(plan, "c", **changes)), changes
    other_work = with_node(plan, "c", operation="sort")
    assert only(other_work, LintCode.NEEDLESS_CHAIN).nodes == ("b", "c", "d"), "functions on the same types"
    other_types = with_node(other_work, "c", outputs=(PortSpec(name="claims", type="report"),))
    assert "needless_chain" not in codes(other_types)
    checked = with_node(with_node(other_work, "b", acceptance=("c1",)), "d", operation="merge")
    assert only(checked, LintCode.NEEDLESS_CHAIN).nodes == ("c", "d"), "b has a criterion of its own"
    calls = replace(plan, subtasks=tuple(replace(s, kind="call", operation=s.id) for s in plan.subtasks))
    assert "needless_chain" not in codes(calls), "different operations"


@pytest.mark.parametrize(("steps", "found"), [(5, False), (6, True), (11, True)])
def test_steps_are_counted_along_the_longest_chain(steps: int, found: bool) -> None:
    chain = " ".join(f"n{i}>n{i + 1}" for i in range(1, steps))
    plan = hand_plan(chain + " n1>x1 n1>x2 n1>x3 n1>x4 n1>x5 n1>x6")
    reported = [f for f in lint(plan, CONTRACT) if f.code == LintCode.TOO_MANY_STEPS]
    assert bool(reported) == found
    if found:
        assert reported[0].detail == {
            "steps": str(steps),
            "accepted": "5",
            "stages": {6: "2", 11: "3"}[steps],
        }
        assert reported[0].severity == "warning"


junk_ids = st.sampled_from([NodeId(x) for x in ("a", "b", "c", "", "x y", "{{a}}", "n1")])
junk_plans = st.builds(
    Plan,
    subtasks=st.lists(
        st.builds(lambda node, content: replace(content, id=node), junk_ids, st.sampled_from(CONTENTS)),
        max_size=5,
    ).map(tuple),
    dependencies=st.lists(
        st.builds(
            Dependency,
            source=junk_ids,
            target=junk_ids,
            output=st.sampled_from(["claims", "no"]),
            input=st.sampled_from(["claims", "no"]),
        ),
        max_size=6,
    ).map(tuple),
)


@given(junk_plans | strategies.plans(max_nodes=5), strategies.contracts)
def test_any_document_is_linted_and_one_without_errors_is_a_dag(plan: Plan, contract: TaskContract) -> None:
    findings = lint(plan, contract)
    assert FINDINGS_JSON.validate_json(FINDINGS_JSON.dump_json(findings)) == findings
    for found in findings:
        assert found.severity == ("warning" if found.code in WARNINGS else "error")
        for lang in ("en", "zh"):
            assert render_finding(found, lang).isprintable()
    graph = nx.DiGraph([(e.source, e.target) for e in plan.dependencies])
    structural = {found.code for found in errors(findings)}
    assert (LintCode.CYCLE in structural or LintCode.SELF_EDGE in structural) or (
        nx.is_directed_acyclic_graph(graph) or LintCode.DANGLING_EDGE in structural
    )
    if not errors(findings):
        index_plan(plan)


@given(strategies.plans())
def test_generated_plans_are_structurally_sound(plan: Plan) -> None:
    broken = {"cycle", "self_edge", "dangling_edge", "duplicate_id", "wrong_boundary", "unknown_port"}
    assert not broken & set(codes(plan))


def test_every_code_has_words_in_both_languages() -> None:
    assert set(_WORDS) == set(LintCode)
    for english, chinese in _WORDS.values():
        assert english.isascii()
        assert any("一" <= character <= "鿿" for character in chinese)


def test_words_name_the_value_and_sides_in_chinese() -> None:
    twice = with_node(sound_plan(), "n1", outputs=sound_plan().subtasks[0].outputs * 2)
    found = only(twice, LintCode.DUPLICATE_PORT)
    assert render_finding(found, "en") == (
        "error duplicate_port: Node 'n1' has two output ports named 'claims'. Rename one."
    )
    assert render_finding(found, "zh") == (
        "错误 duplicate_port：节点 'n1' 有两个名为 'claims' 的端口（输出）。请给其中一个改名。"
    )


def layered(count: int) -> Plan:
    def node(place: int) -> SubTask:
        return replace(
            CONTENTS[1],
            id=NodeId(f"n{place}"),
            instruction="Compare {{claims}} with what was found before.",
            required_domains={"med": 0.5},
        )

    edges = [
        chain_edge(f"n{place - back}", f"n{place}")
        for place in range(count)
        for back in (1, 7)
        if place >= back
    ]
    return declared(Plan(subtasks=tuple(map(node, range(count))), dependencies=tuple(edges)))


def test_ten_thousand_nodes_take_about_ten_times_a_thousand() -> None:
    def seconds(plan: Plan) -> float:
        start = time.process_time()
        lint(plan, CONTRACT)
        return time.process_time() - start

    small, large = layered(1_000), layered(10_000)
    # Linear would be 10, quadratic 100; the margin is for caches and a busy machine.
    assert seconds(large) / min(seconds(small) for _ in range(3)) < 40
