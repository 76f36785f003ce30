"""Lints of ids, edges, ports and references: is the plan a DAG whose every input is accounted for?"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import networkx as nx

from graphs.contract import PortSpec, TaskContract, port_accepts
from graphs.linting.findings import LintCode, LintFinding, finding
from graphs.networks import cycle_paths, digraph
from graphs.plan import Dependency, NodeId, Plan, SubTask, structural_boundary
from graphs.references import ID_PATTERN, references, without_references

_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanView:
    """A plan as far as it can be read: the first node of each id, and the edges whose ends exist."""

    plan: Plan
    subtasks: Mapping[NodeId, SubTask]
    edges: tuple[Dependency, ...]
    """Each edge once; no self edges."""
    incoming: Mapping[NodeId, tuple[Dependency, ...]]
    graph: "nx.DiGraph[NodeId]"


def view_plan(plan: Plan) -> PlanView:
    """Read any plan, sound or not. O((nodes + edges) log nodes)."""
    subtasks: dict[NodeId, SubTask] = {}
    for subtask in plan.subtasks:
        subtasks.setdefault(subtask.id, subtask)
    edges = tuple(
        edge
        for edge in dict.fromkeys(plan.dependencies)
        if edge.source in subtasks and edge.target in subtasks and edge.source != edge.target
    )
    incoming: dict[NodeId, list[Dependency]] = {node: [] for node in subtasks}
    for edge in edges:
        incoming[edge.target].append(edge)
    return PlanView(
        plan=plan,
        subtasks=subtasks,
        edges=edges,
        incoming={node: tuple(ending) for node, ending in incoming.items()},
        graph=digraph(plan),
    )


def lint_ids(view: PlanView) -> Iterator[LintFinding]:
    """Find ids that are malformed or used twice."""
    for node, count in Counter(subtask.id for subtask in view.plan.subtasks).items():
        if count > 1:
            yield finding(LintCode.DUPLICATE_ID, node, count=str(count))
        if not ID_PATTERN.fullmatch(node):
            yield finding(LintCode.INVALID_ID, node)


def lint_edges(view: PlanView) -> Iterator[LintFinding]:
    """Find self edges, edges to missing nodes, edges written twice, and cycles with their path."""
    for edge, count in Counter(view.plan.dependencies).items():
        if count > 1:
            yield finding(LintCode.DUPLICATE_EDGE, edge.source, edge.target, edge=_arrow(edge))
        if edge.source == edge.target:
            yield finding(LintCode.SELF_EDGE, edge.source, edge=_arrow(edge))
        missing = [end for end in (edge.source, edge.target) if end not in view.subtasks]
        for end in dict.fromkeys(missing):
            yield finding(LintCode.DANGLING_EDGE, edge.source, edge.target, edge=_arrow(edge), missing=end)
    for cycle in cycle_paths(view.graph):
        yield finding(LintCode.CYCLE, *cycle, path=" -> ".join(cycle))


def lint_boundaries(view: PlanView) -> Iterator[LintFinding]:
    """Find nodes whose declared boundary is not their place (specification 2.2, rule 4)."""
    sources = {edge.source for edge in view.edges}
    for node, subtask in view.subtasks.items():
        actual = structural_boundary(
            has_predecessors=bool(view.incoming[node]), has_successors=node in sources
        )
        if subtask.boundary != actual:
            yield finding(LintCode.WRONG_BOUNDARY, node, declared=subtask.boundary, actual=actual)


def lint_unreachable(view: PlanView) -> Iterator[LintFinding]:
    """Find the nodes that no entry reaches: they sit in or behind a cycle and would never start."""
    reached = {node for node in view.subtasks if not view.incoming[node]}
    frontier = list(reached)
    while frontier:
        for follower in view.graph.successors(frontier.pop()):
            if follower not in reached:
                reached.add(follower)
                frontier.append(follower)
    for node in view.subtasks:
        if node not in reached:
            yield finding(LintCode.UNREACHABLE, node)


def lint_ports(view: PlanView, contract: TaskContract) -> Iterator[LintFinding]:
    """Find ports that are declared twice, unknown to an edge, of another type, or never fed."""
    supplied = {port.name: port for port in contract.inputs}
    outputs = {node: {p.name: p for p in subtask.outputs} for node, subtask in view.subtasks.items()}
    for node, subtask in view.subtasks.items():
        for side, ports in (("input", subtask.inputs), ("output", subtask.outputs)):
            for name, count in Counter(port.name for port in ports).items():
                if count > 1:
                    yield finding(LintCode.DUPLICATE_PORT, node, side=side, port=name)
        inputs = {port.name: port for port in subtask.inputs}
        for edge in view.incoming[node]:
            yield from _lint_edge_ports(edge, outputs[edge.source], inputs)
        fed = {edge.input for edge in view.incoming[node]}
        for port in inputs.values():
            if port.name not in fed:
                yield from _lint_unfed_port(node, port, supplied)


def lint_references(view: PlanView) -> Iterator[LintFinding]:
    """Find outputs of other nodes that a node uses without an edge (specification 2.2, rule 2).

    A reference `{{node.port}}` or `{{node}}` in the instruction or in `params` needs the edge; `{{port}}`
    names an input of the node itself. An id with a digit in it that merely stands in the instruction is a
    warning, since `n2` is hardly ever a word.
    """
    for node, subtask in view.subtasks.items():
        feeding = {edge.source: set[str]() for edge in view.incoming[node]}
        for edge in view.incoming[node]:
            feeding[edge.source].add(edge.output)
        own = {port.name for port in subtask.inputs}
        referred = set[str]()
        for text, name, port in references([subtask.instruction, dict(subtask.params)]):
            referred.add(name)
            source = NodeId(name)
            if name in own and (port is None or source not in view.subtasks):
                continue
            if source not in view.subtasks:
                yield finding(LintCode.UNKNOWN_REFERENCE, node, reference=text)
            elif source not in feeding or (port is not None and port not in feeding[source]):
                yield finding(LintCode.HIDDEN_DEPENDENCY, node, source, reference=text)
        for word in dict.fromkeys(_WORD.findall(without_references(subtask.instruction))):
            mentioned = NodeId(word)
            if (
                mentioned in view.subtasks
                and mentioned not in feeding
                and word not in referred
                and mentioned != node
                and any(character.isdigit() for character in word)
            ):
                yield finding(LintCode.NODE_MENTIONED, node, mentioned)


def _lint_edge_ports(
    edge: Dependency, outputs: Mapping[str, PortSpec], inputs: Mapping[str, PortSpec]
) -> Iterator[LintFinding]:
    output, taken = outputs.get(edge.output), inputs.get(edge.input)
    for side, node, name, port, known in (
        ("output", edge.source, edge.output, output, outputs),
        ("input", edge.target, edge.input, taken, inputs),
    ):
        if port is None:
            yield finding(
                LintCode.UNKNOWN_PORT,
                node,
                edge=_arrow(edge),
                side=side,
                port=name,
                known=", ".join(sorted(known)) or "-",
            )
    if output is not None and taken is not None and not port_accepts(taken.type, output.type):
        yield finding(
            LintCode.PORT_TYPE_MISMATCH,
            edge.source,
            edge.target,
            edge=_arrow(edge),
            output_type=output.type,
            input_type=taken.type,
        )


def _lint_unfed_port(node: NodeId, port: PortSpec, supplied: Mapping[str, PortSpec]) -> Iterator[LintFinding]:
    offered = supplied.get(port.name)
    if offered is None and port.required:
        yield finding(
            LintCode.MISSING_INPUT, node, port=port.name, supplied=", ".join(sorted(supplied)) or "-"
        )
    elif offered is not None and not port_accepts(port.type, offered.type):
        yield finding(
            LintCode.PORT_TYPE_MISMATCH,
            node,
            edge=f"contract.{port.name} -> {node}.{port.name}",
            output_type=offered.type,
            input_type=port.type,
        )


def _arrow(edge: Dependency) -> str:
    return f"{edge.source}.{edge.output} -> {edge.target}.{edge.input}"
