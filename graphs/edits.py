"""Apply edits to a plan, each with its exact inverse.

Edits keep a plan a DAG over distinct ids, and they re-declare the boundary of every node whose edges they
touch. Everything else (uncovered criteria, unfed inputs, wording) is for `graphs.lint` to judge afterwards,
since a good plan is often reached through worse ones. An edit also works on a plan that is not sound, so that
a cycle can be cut.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import ClassVar, assert_never

import networkx as nx
from pydantic import ConfigDict

from graphs.editing.errors import EditCode, EditError
from graphs.editing.operations import (
    AddNode,
    CompositeEdit,
    Connect,
    Cut,
    EditOp,
    MergeNodes,
    Patch,
    PlacedEdge,
    PlacedNode,
    RemoveNode,
    RenameNode,
    SetParams,
    SimpleEdit,
    SplitNode,
    UpdateNode,
)
from graphs.editing.patches import apply_patch, patch_between
from graphs.editing.regroup import merge_nodes, split_node
from graphs.editing.workbench import (
    Draft,
    edge_name,
    known_names,
    require_node,
    require_port,
    require_subtask_id,
)
from graphs.networks import digraph, path_between
from graphs.plan import Dependency, NodeId, Plan, structural_boundary
from graphs.references import rename_references

__all__ = [
    "AddNode",
    "CompositeEdit",
    "Connect",
    "Cut",
    "EditCode",
    "EditError",
    "EditOp",
    "EditResult",
    "MergeNodes",
    "Patch",
    "PlacedEdge",
    "PlacedNode",
    "RemoveNode",
    "RenameNode",
    "SetParams",
    "SimpleEdit",
    "SplitNode",
    "UpdateNode",
    "apply_edit",
    "compose",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditResult:
    """The edited plan and the way back."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    plan: Plan
    inverse: Patch | CompositeEdit
    """Applied to `plan`, it restores the plan before, with the order of its nodes and edges."""


def apply_edit(plan: Plan, edit: SimpleEdit | CompositeEdit) -> EditResult:
    """Carry out an edit on a copy of the plan. O(nodes + edges) for each simple edit.

    Raises `EditError`, with nothing changed, for an unknown or taken id, an unknown port or edge, an edge that
    would be lost, and an edit that would close a cycle (naming its path).
    """
    if isinstance(edit, CompositeEdit):
        return _apply_all(plan, edit.edits)
    _refuse_duplicate_ids(plan)
    if isinstance(edit, Patch):
        after = apply_patch(plan, edit)
        _refuse_duplicate_ids(after)
        return EditResult(plan=after, inverse=edit.inverse)
    after = _finished(_drafted(plan, edit))
    return EditResult(plan=after, inverse=patch_between(plan, after).inverse)


def compose(*edits: SimpleEdit | CompositeEdit) -> CompositeEdit:
    """Put several edits one after the other into one, which is applied whole or not at all."""
    flat: list[SimpleEdit] = []
    for edit in edits:
        flat.extend(edit.edits if isinstance(edit, CompositeEdit) else (edit,))
    return CompositeEdit(edits=tuple(flat))


def _apply_all(plan: Plan, edits: Sequence[SimpleEdit]) -> EditResult:
    inverses: list[SimpleEdit | CompositeEdit] = []
    for edit in edits:
        result = apply_edit(plan, edit)
        plan = result.plan
        inverses.append(result.inverse)
    return EditResult(plan=plan, inverse=compose(*reversed(inverses)))


def _drafted(
    plan: Plan,
    edit: AddNode | RemoveNode | RenameNode | SplitNode | MergeNodes | Connect | Cut | UpdateNode | SetParams,
) -> Draft:
    match edit:
        case AddNode():
            return _add_node(plan, edit)
        case RemoveNode():
            return _remove_node(plan, edit)
        case RenameNode():
            return _rename_node(plan, edit)
        case SplitNode():
            return split_node(plan, edit)
        case MergeNodes():
            return merge_nodes(plan, edit)
        case Connect():
            return _connect(plan, edit.dependency)
        case Cut():
            return _cut(plan, edit.dependency)
        case UpdateNode():
            return _update_node(plan, edit)
        case SetParams():
            return _set_params(plan, edit)
        case _:
            assert_never(edit)


def _finished(draft: Draft) -> Plan:
    """Refuse a cycle that the draft's new edges close, and re-declare the boundary of what it touched."""
    after = Plan(subtasks=tuple(draft.subtasks), dependencies=tuple(draft.dependencies))
    if draft.new_edges:
        _refuse_cycle(after, draft.new_edges)
    if not draft.touched:
        return after
    sources = {edge.source for edge in after.dependencies}
    targets = {edge.target for edge in after.dependencies}
    subtasks = list(after.subtasks)
    for place, subtask in enumerate(subtasks):
        boundary = structural_boundary(
            has_predecessors=subtask.id in targets, has_successors=subtask.id in sources
        )
        if subtask.boundary != boundary and subtask.id in draft.touched:
            subtasks[place] = replace(subtask, boundary=boundary)
    return replace(after, subtasks=tuple(subtasks))


def _refuse_cycle(plan: Plan, new_edges: Iterable[Dependency]) -> None:
    graph = digraph(plan)
    knot_of = {
        node: number for number, knot in enumerate(nx.strongly_connected_components(graph)) for node in knot
    }
    for edge in new_edges:
        if edge.source in graph and edge.target in graph and knot_of[edge.source] == knot_of[edge.target]:
            way_back = path_between(graph, edge.target, edge.source)
            assert way_back is not None, "two nodes of one strongly connected component reach each other"
            raise EditError(EditCode.CYCLE, path=" -> ".join((edge.source, *way_back)))


def _refuse_duplicate_ids(plan: Plan) -> None:
    seen = set[NodeId]()
    for subtask in plan.subtasks:
        if subtask.id in seen:
            raise EditError(EditCode.DUPLICATE_IDS, node=subtask.id)
        seen.add(subtask.id)


def _add_node(plan: Plan, edit: AddNode) -> Draft:
    require_subtask_id(plan, edit.subtask.id)
    last = len(plan.subtasks)
    position = last if edit.position is None else edit.position
    if not 0 <= position <= last:
        raise EditError(EditCode.POSITION, position=str(position), last=str(last))
    subtasks = list(plan.subtasks)
    subtasks.insert(position, replace(edit.subtask))
    return Draft(subtasks=subtasks, dependencies=list(plan.dependencies), touched={edit.subtask.id})


def _remove_node(plan: Plan, edit: RemoveNode) -> Draft:
    require_node(plan, edit.node)
    gone = [edge for edge in plan.dependencies if edit.node in (edge.source, edge.target)]
    return Draft(
        subtasks=[subtask for subtask in plan.subtasks if subtask.id != edit.node],
        dependencies=[edge for edge in plan.dependencies if edit.node not in (edge.source, edge.target)],
        touched={end for edge in gone for end in (edge.source, edge.target)},
    )


def _rename_node(plan: Plan, edit: RenameNode) -> Draft:
    require_node(plan, edit.node)
    if edit.to == edit.node:
        return Draft(subtasks=list(plan.subtasks), dependencies=list(plan.dependencies))
    require_subtask_id(plan, edit.to)
    subtasks = []
    for subtask in plan.subtasks:
        own = frozenset(port.name for port in subtask.inputs)
        instruction = rename_references(subtask.instruction, edit.node, edit.to, own=own)
        params = rename_references(dict(subtask.params), edit.node, edit.to, own=own)
        assert isinstance(instruction, str), "a text stays a text"
        assert isinstance(params, dict), "a mapping stays a mapping"
        if subtask.id == edit.node:
            subtask = replace(subtask, id=edit.to, instruction=instruction, params=params)
        elif instruction != subtask.instruction or params != subtask.params:
            subtask = replace(subtask, instruction=instruction, params=params)
        subtasks.append(subtask)
    edges = [
        replace(
            edge,
            source=edit.to if edge.source == edit.node else edge.source,
            target=edit.to if edge.target == edit.node else edge.target,
        )
        if edit.node in (edge.source, edge.target)
        else edge
        for edge in plan.dependencies
    ]
    return Draft(subtasks=subtasks, dependencies=edges)


def _connect(plan: Plan, edge: Dependency) -> Draft:
    source, target = require_node(plan, edge.source), require_node(plan, edge.target)
    if edge.source == edge.target:
        raise EditError(EditCode.SELF_EDGE, node=edge.source)
    require_port(source, edge.output, side="output")
    require_port(target, edge.input, side="input")
    if edge in plan.dependencies:
        raise EditError(EditCode.EDGE_EXISTS, edge=edge_name(edge))
    added = replace(edge)
    return Draft(
        subtasks=list(plan.subtasks),
        dependencies=[*plan.dependencies, added],
        touched={edge.source, edge.target},
        new_edges=[added],
    )


def _cut(plan: Plan, edge: Dependency) -> Draft:
    if edge not in plan.dependencies:
        between = [
            edge_name(other)
            for other in plan.dependencies
            if (other.source, other.target) == (edge.source, edge.target)
        ]
        raise EditError(EditCode.UNKNOWN_EDGE, edge=edge_name(edge), known=known_names(between))
    return Draft(
        subtasks=list(plan.subtasks),
        dependencies=[other for other in plan.dependencies if other != edge],
        touched={edge.source, edge.target},
    )


def _update_node(plan: Plan, edit: UpdateNode) -> Draft:
    old = require_node(plan, edit.node)
    changes = {
        spec.name: getattr(edit, spec.name)
        for spec in fields(edit)
        if spec.name not in ("op", "node") and getattr(edit, spec.name) is not None
    }
    new = replace(old, **changes)
    return Draft(
        subtasks=[new if subtask is old else subtask for subtask in plan.subtasks],
        dependencies=list(plan.dependencies),
    )


def _set_params(plan: Plan, edit: SetParams) -> Draft:
    old = require_node(plan, edit.node)
    for name in edit.remove:
        if name not in old.params:
            raise EditError(EditCode.UNKNOWN_PARAM, node=edit.node, param=name, known=known_names(old.params))
    kept = {name: value for name, value in old.params.items() if name not in edit.remove}
    new = replace(old, params=kept | dict(edit.values))
    return Draft(
        subtasks=[new if subtask is old else subtask for subtask in plan.subtasks],
        dependencies=list(plan.dependencies),
    )
