"""Split one sub-task into several and merge several into one, with the edges to the outside kept."""

from dataclasses import replace

from graphs.editing.errors import EditCode, EditError
from graphs.editing.operations import MergeNodes, SplitNode
from graphs.editing.workbench import Draft, edge_name, require_node, require_port, require_subtask_id
from graphs.plan import Dependency, NodeId, Plan, SubTask


def split_node(plan: Plan, edit: SplitNode) -> Draft:
    """Draft a plan in which the parts stand where the node stood; see `SplitNode` for the edges."""
    old = require_node(plan, edit.node)
    parts = {part.id: part for part in edit.parts}
    if len(parts) < 2:
        raise EditError(EditCode.TOO_FEW, count=str(len(parts)))
    if len(parts) != len(edit.parts):
        twice = next(part.id for place, part in enumerate(edit.parts) if part.id in _ids(edit.parts[:place]))
        raise EditError(EditCode.ID_TAKEN, node=twice)
    for part in parts:
        require_subtask_id(plan, part, besides=(edit.node,))
    inner = tuple(dict.fromkeys(edit.inner))
    _check_inner(parts, inner)
    fed = {(edge.target, edge.input) for edge in inner}
    used = {(edge.source, edge.output) for edge in inner}

    edges: list[Dependency] = []
    new_edges = [replace(edge) for edge in inner]
    touched = set(parts)
    for edge in plan.dependencies:
        if edit.node not in (edge.source, edge.target):
            edges.append(edge)
            continue
        if edge.source == edge.target:
            raise EditError(EditCode.SELF_EDGE, node=edit.node)
        if edge.target == edit.node:
            takers = [p for p in parts.values() if _has(p, edge, "input") and (p.id, edge.input) not in fed]
            moved = [replace(edge, target=part.id) for part in takers]
        else:
            givers = [
                p for p in parts.values() if _has(p, edge, "output") and (p.id, edge.output) not in used
            ]
            moved = [replace(edge, source=part.id) for part in givers]
        if not moved:
            side = "input" if edge.target == edit.node else "output"
            port = edge.input if side == "input" else edge.output
            raise EditError(EditCode.LOST_EDGE, edge=edge_name(edge), side=side, port=port)
        edges += moved
        new_edges += moved
        touched |= {end for edge in moved for end in (edge.source, edge.target)}
    subtasks: list[SubTask] = []
    for subtask in plan.subtasks:
        subtasks += [replace(part) for part in edit.parts] if subtask is old else [subtask]
    edges += new_edges[: len(inner)]
    return Draft(subtasks=subtasks, dependencies=edges, touched=touched, new_edges=new_edges)


def merge_nodes(plan: Plan, edit: MergeNodes) -> Draft:
    """Draft a plan in which `into` stands where the first of the merged nodes stood."""
    group = set(edit.nodes)
    if len(group) < 2:
        raise EditError(EditCode.TOO_FEW, count=str(len(group)))
    for node in edit.nodes:
        require_node(plan, node)
    require_subtask_id(plan, edit.into.id, besides=group)

    edges: dict[Dependency, Dependency] = {}
    new_edges: list[Dependency] = []
    for edge in plan.dependencies:
        if edge.source in group and edge.target in group:
            continue
        if edge.source in group or edge.target in group:
            moved = _moved_to(edge, group, edit.into)
            if moved not in edges:
                edges[moved] = moved
                new_edges.append(moved)
        else:
            edges.setdefault(edge, edge)
    subtasks: list[SubTask] = []
    placed = False
    for subtask in plan.subtasks:
        if subtask.id not in group:
            subtasks.append(subtask)
        elif not placed:
            subtasks.append(replace(edit.into))
            placed = True
    touched = {edit.into.id} | {end for edge in new_edges for end in (edge.source, edge.target)}
    return Draft(subtasks=subtasks, dependencies=list(edges), touched=touched, new_edges=new_edges)


def _moved_to(edge: Dependency, group: set[NodeId], into: SubTask) -> Dependency:
    if edge.source in group:
        if not _has(into, edge, "output"):
            raise EditError(EditCode.LOST_EDGE, edge=edge_name(edge), side="output", port=edge.output)
        return replace(edge, source=into.id)
    if not _has(into, edge, "input"):
        raise EditError(EditCode.LOST_EDGE, edge=edge_name(edge), side="input", port=edge.input)
    return replace(edge, target=into.id)


def _check_inner(parts: dict[NodeId, SubTask], inner: tuple[Dependency, ...]) -> None:
    for edge in inner:
        for end in (edge.source, edge.target):
            if end not in parts:
                raise EditError(EditCode.UNKNOWN_NODE, node=end, known=", ".join(parts))
        if edge.source == edge.target:
            raise EditError(EditCode.SELF_EDGE, node=edge.source)
        require_port(parts[edge.source], edge.output, side="output")
        require_port(parts[edge.target], edge.input, side="input")


def _has(subtask: SubTask, edge: Dependency, side: str) -> bool:
    if side == "input":
        return any(port.name == edge.input for port in subtask.inputs)
    return any(port.name == edge.output for port in subtask.outputs)


def _ids(parts: tuple[SubTask, ...]) -> set[NodeId]:
    return {part.id for part in parts}
