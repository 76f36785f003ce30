"""Hypothesis strategies for plans, contracts and edits."""

from collections.abc import Callable, Mapping, Sequence
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
    simple = st.sampled_from(OPERATIONS).flatmap(lambda operation: operation(plan))
    if draw(st.integers(0, 4)) == 0:
        return compose(*draw(st.lists(simple, max_size=3)))
    return draw(simple)


def _present(plan: Plan) -> st.SearchStrategy[NodeId]:
    return st.sampled_from([node.id for node in plan.subtasks]) if plan.subtasks else node_ids


def _any_edge(plan: Plan) -> st.SearchStrategy[Dependency]:
    ends, ports = _present(plan) | node_ids, st.sampled_from(PORTS)
    edge = st.builds(chain_edge, ends, ends, ports, ports)
    if len(plan.subtasks) > 1:
        two = st.lists(_present(plan), min_size=2, max_size=2, unique=True)
        edge = st.builds(lambda pair, *between: chain_edge(*pair, *between), two, ports, ports) | edge
    return edge | st.sampled_from(plan.dependencies) if plan.dependencies else edge


def _additions(plan: Plan) -> st.SearchStrategy[SimpleEdit]:
    places = st.sampled_from([None, 0, len(plan.subtasks), len(plan.subtasks) + 1])
    return st.builds(lambda node, place: AddNode(subtask=node, position=place), subtasks(), places)


def _parts(plan: Plan) -> st.SearchStrategy[SimpleEdit]:
    parts = st.lists(subtasks(), min_size=2, max_size=3, unique_by=lambda node: node.id)
    return st.builds(
        lambda node, parts, serial: SplitNode(
            node=node,
            parts=tuple(parts),
            inner=(chain_edge(parts[0].id, parts[1].id),) if serial else (),
        ),
        _present(plan),
        parts,
        st.booleans(),
    )


def _merges(plan: Plan) -> st.SearchStrategy[SimpleEdit]:
    return st.builds(
        lambda nodes, into: MergeNodes(nodes=tuple(nodes), into=into),
        st.lists(_present(plan), min_size=min(2, len(plan.subtasks)), max_size=3, unique=True),
        subtasks(_present(plan) | node_ids),
    )


def _updates(plan: Plan) -> st.SearchStrategy[SimpleEdit]:
    return st.builds(
        lambda node, title, values, estimate: UpdateNode(
            node=node, title=title, params=values, estimate=estimate
        ),
        _present(plan),
        st.none() | names,
        st.none() | params,
        st.sampled_from([None, 0.5, 4.0]),
    )


def _param_edits(plan: Plan) -> st.SearchStrategy[SimpleEdit]:
    return st.builds(
        lambda node, values, remove: SetParams(node=node, values=values, remove=remove),
        _present(plan),
        params,
        st.sampled_from([(), ("x",), ("nope",)]),
    )


OPERATIONS: Sequence[Callable[[Plan], st.SearchStrategy[SimpleEdit]]] = (
    _additions,
    lambda plan: _present(plan).map(lambda node: RemoveNode(node=node)),
    lambda plan: st.builds(lambda node, to: RenameNode(node=node, to=to), _present(plan), node_ids),
    _parts,
    _merges,
    lambda plan: _any_edge(plan).map(lambda edge: Connect(dependency=edge)),
    lambda plan: _any_edge(plan).map(lambda edge: Cut(dependency=edge)),
    _updates,
    _param_edits,
)
"""One strategy for each kind of edit; building only the one that is drawn keeps this quick."""


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
