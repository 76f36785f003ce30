"""Hypothesis strategies for plans, contracts and edits."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TypeVar, get_args

from hypothesis import strategies as st
from pydantic import JsonValue

from graphs.contract import (
    Ambiguity,
    Criterion,
    CriterionKind,
    Goal,
    Intent,
    Lang,
    Limits,
    PortSpec,
    PortType,
    TaskContract,
)
from graphs.edits import (
    AddNode,
    CompositeEdit,
    Connect,
    Cut,
    MergeNodes,
    RemoveNode,
    RenameNode,
    SetParams,
    SimpleEdit,
    SplitNode,
    UpdateNode,
    compose,
)
from graphs.plan import (
    Dependency,
    FailureSemantics,
    NodeId,
    Plan,
    SideEffect,
    SubTask,
    SubTaskKind,
    structural_boundary,
)

T = TypeVar("T")

PORTS = ("claims", "table")
"""Every generated node has these two outputs and two optional inputs, so that any edge is well formed."""

# No surrogates: they are not text, and JSON in UTF-8 has no form for them.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
node_ids = st.integers(0, 40).map(lambda number: NodeId(f"n{number}"))
langs: st.SearchStrategy[Lang] = st.sampled_from(get_args(Lang))
finite = st.floats(allow_nan=False, allow_infinity=False, width=32)

json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | finite | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
TITLES = ("a", "topic", "范围", "x y", "{{n1.claims}}", 'q"]', "第一\n第二")
PARAMS: Sequence[Mapping[str, JsonValue]] = (
    {},
    {"x": 1},
    {"x": True},
    {"x": 1.0, "questions": ["何时？", "Who?"]},
    {"a": {"from": "{{n1.claims}}", "deep": [None, {"y": -0.5}]}},
)
names = st.sampled_from(TITLES)
params = st.sampled_from(PARAMS)


def _ports(*, required: bool) -> tuple[PortSpec, ...]:
    types: Mapping[str, PortType] = {"claims": "claims", "table": "json"}
    return tuple(PortSpec(name=name, type=types[name], required=required) for name in PORTS)


def _cycle(values: Sequence[T], place: int) -> T:
    return values[place % len(values)]


CONTENTS = tuple(
    SubTask(
        id=NodeId("n0"),
        title=_cycle(TITLES, place),
        kind=_cycle(get_args(SubTaskKind), place),
        operation=_cycle(["research", "compare", "report"], place),
        boundary="both",
        instruction=_cycle(
            ["", "Use {{claims}}.", "See {{n1.claims}} and n2.", "引用 {{n3.table}}"], place // 2
        ),
        params=_cycle(PARAMS, place),
        inputs=_ports(required=False),
        outputs=_ports(required=True),
        acceptance=_cycle([(), ("c1",), ("c2", "c1")], place // 3),
        required_domains=_cycle([{}, {"cs.databases": 1.0}, {"law.tax": 0.25, "med": 0.01}], place),
        side_effects=_cycle(get_args(SideEffect), place),
        failure_semantics=_cycle(get_args(FailureSemantics), place // 5),
        estimate=_cycle([0.25, 1.0, 2.5, 8.0], place // 2),
    )
    for place in range(30)
)
"""What generated nodes say: a fixed pool, since drawing thirteen fields for each node is slow."""


def subtasks(ids: st.SearchStrategy[NodeId] = node_ids) -> st.SearchStrategy[SubTask]:
    return st.builds(lambda node, content: replace(content, id=node), ids, st.sampled_from(CONTENTS))


def bare_subtask(node: str, *, estimate: float = 1.0, title: str = "") -> SubTask:
    """A node with the generated ports and nothing else, for hand-written plans."""
    return SubTask(
        id=NodeId(node),
        title=title or node,
        kind="function",
        operation="check",
        inputs=_ports(required=False),
        outputs=_ports(required=True),
        estimate=estimate,
    )


def chain_edge(source: str, target: str, output: str = "claims", into: str = "claims") -> Dependency:
    return Dependency(source=NodeId(source), target=NodeId(target), output=output, input=into)


def declared(plan: Plan) -> Plan:
    """The plan with every boundary declared as it is."""
    sources = {edge.source for edge in plan.dependencies}
    targets = {edge.target for edge in plan.dependencies}
    return replace(
        plan,
        subtasks=tuple(
            replace(
                node,
                boundary=structural_boundary(
                    has_predecessors=node.id in targets, has_successors=node.id in sources
                ),
            )
            for node in plan.subtasks
        ),
    )


def hand_plan(edges: str, *, lone: str = "") -> Plan:
    """A plan from a sketch: `hand_plan("a>b b>c", lone="d")`."""
    pairs = [edge.split(">") for edge in edges.split()]
    nodes = dict.fromkeys([*(end for pair in pairs for end in pair), *lone.split()])
    return declared(
        Plan(
            subtasks=tuple(bare_subtask(node) for node in nodes),
            dependencies=tuple(chain_edge(source, target) for source, target in pairs),
        )
    )


@st.composite
def plans(draw: st.DrawFn, *, min_nodes: int = 0, max_nodes: int = 8) -> Plan:
    """A DAG with declared boundaries, its nodes and edges in any order."""
    ids = draw(st.lists(node_ids, min_size=min_nodes, max_size=max_nodes, unique=True))
    contents = draw(st.lists(st.sampled_from(CONTENTS), min_size=len(ids), max_size=len(ids)))
    nodes = [replace(content, id=node) for content, node in zip(contents, ids, strict=True)]
    pairs = list(combinations(ids, 2))
    # Two numbers whose bits say which pairs are joined and by which ports: one draw each, so that it is quick.
    joined = draw(st.integers(0, 2 ** len(pairs) - 1))
    ports = draw(st.integers(0, 3 ** len(pairs) - 1))
    edges = []
    for place, (earlier, later) in enumerate(pairs):
        if joined >> place & 1:
            outputs = _cycle([PORTS[:1], PORTS[1:], PORTS], ports // 3**place)
            edges += [chain_edge(earlier, later, output, PORTS[place % 2]) for output in outputs]
    turn = draw(st.integers(0, max(0, len(edges) - 1)))
    return declared(
        Plan(
            subtasks=tuple(draw(st.permutations(nodes))),
            dependencies=tuple(edges[turn:] + edges[:turn]),
        )
    )


@st.composite
def edits(draw: st.DrawFn, plan: Plan) -> SimpleEdit | CompositeEdit:
    """An edit that mostly fits the plan, and sometimes does not."""
    present = st.sampled_from([node.id for node in plan.subtasks]) if plan.subtasks else node_ids
    any_id = present | node_ids
    edge = st.builds(
        Dependency,
        source=any_id,
        target=any_id,
        output=st.sampled_from(PORTS),
        input=st.sampled_from(PORTS),
    )
    if plan.dependencies:
        edge = edge | st.sampled_from(plan.dependencies)
    fresh = subtasks(node_ids)
    simple: st.SearchStrategy[SimpleEdit] = st.one_of(
        st.builds(AddNode, subtask=fresh, position=st.none() | st.integers(0, 8)),
        st.builds(RemoveNode, node=present),
        st.builds(RenameNode, node=present, to=node_ids),
        st.builds(
            SplitNode,
            node=present,
            parts=st.lists(fresh, min_size=2, max_size=3, unique_by=lambda n: n.id).map(tuple),
        ),
        _serial_splits(present),
        st.builds(
            MergeNodes, nodes=st.lists(present, min_size=2, max_size=3).map(tuple), into=subtasks(any_id)
        ),
        st.builds(Connect, dependency=edge),
        st.builds(Cut, dependency=edge),
        st.builds(
            UpdateNode,
            node=present,
            title=st.none() | names,
            params=st.none() | params,
            estimate=st.none() | st.floats(0.5, 4),
        ),
        st.builds(SetParams, node=present, values=params, remove=st.sampled_from([(), ("x",), ("nope",)])),
    )
    if draw(st.integers(0, 4)) == 0:
        return compose(*draw(st.lists(simple, max_size=3)))
    return draw(simple)


@st.composite
def _serial_splits(draw: st.DrawFn, present: st.SearchStrategy[NodeId]) -> SplitNode:
    first, second = draw(st.lists(subtasks(), min_size=2, max_size=2, unique_by=lambda n: n.id))
    inner = chain_edge(first.id, second.id, "claims", "claims")
    return SplitNode(node=draw(present), parts=(first, second), inner=(inner,))


contracts: st.SearchStrategy[TaskContract] = st.builds(
    TaskContract,
    kind=names,
    inputs=st.just(()) | st.just((PortSpec(name="documents", type="documents"),)),
    outputs=st.just(()) | st.just((PortSpec(name="claims", type="claims"),)),
    acceptance=st.lists(
        st.builds(
            Criterion,
            id=st.sampled_from(["c1", "c2", "c3"]),
            text=texts,
            kind=st.sampled_from(get_args(CriterionKind)),
            core=st.booleans(),
            question=st.none() | texts,
            field=st.none() | texts,
        ),
        max_size=3,
    ).map(tuple),
    limits=st.builds(Limits, max_actions=st.integers(0, 30), deadline_s=st.floats(-1, 1000)),
    forbidden=st.just(("domain:med", "no guessing")),
    allow_unresolved=st.booleans(),
    delta_max=st.floats(0, 1),
)
goals: st.SearchStrategy[Goal] = st.builds(
    Goal, text=texts, lang=langs, sources=st.lists(texts, max_size=2).map(tuple)
)
intents: st.SearchStrategy[Intent] = st.builds(
    Intent,
    objective=texts,
    constraints=st.lists(texts, max_size=2).map(tuple),
    assumptions=st.lists(texts, max_size=2).map(tuple),
    ambiguities=st.lists(
        st.builds(
            Ambiguity,
            id=texts,
            question=texts,
            options=st.lists(texts, max_size=2).map(tuple),
            assumed=texts,
        ),
        max_size=2,
    ).map(tuple),
)
