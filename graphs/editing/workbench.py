"""What the edit operations share: the draft they produce and the checks they make of names."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from graphs.editing.errors import EditCode, EditError
from graphs.plan import Dependency, NodeId, Plan, SubTask, natural_key
from graphs.references import ID_PATTERN

_NAMES_SHOWN = 8


@dataclass(slots=True, kw_only=True)
class Draft:
    """An edited plan before its last checks. What stays is the same object, in the same order."""

    subtasks: list[SubTask]
    dependencies: list[Dependency]
    touched: set[NodeId] = field(default_factory=set)
    """Nodes whose edges changed: their boundary is declared anew."""
    new_edges: list[Dependency] = field(default_factory=list)
    """Edges that might close a cycle."""


def require_node(plan: Plan, node: NodeId) -> SubTask:
    """Give the sub-task with this id, or raise `EditError` naming the ids there are."""
    for subtask in plan.subtasks:
        if subtask.id == node:
            return subtask
    known = sorted((subtask.id for subtask in plan.subtasks), key=natural_key)
    raise EditError(EditCode.UNKNOWN_NODE, node=node, known=known_names(known))


def require_subtask_id(plan: Plan, node: NodeId, *, besides: Iterable[NodeId] = ()) -> None:
    """Raise `EditError` unless the id is well formed and free, ids `besides` counting as free."""
    if not ID_PATTERN.fullmatch(node):
        raise EditError(EditCode.INVALID_ID, node=node)
    going = set(besides)
    if any(subtask.id == node and node not in going for subtask in plan.subtasks):
        raise EditError(EditCode.ID_TAKEN, node=node)


def require_port(subtask: SubTask, port: str, *, side: Literal["input", "output"]) -> None:
    """Raise `EditError` naming the ports there are unless the sub-task has this one."""
    names = [spec.name for spec in (subtask.inputs if side == "input" else subtask.outputs)]
    if port not in names:
        raise EditError(
            EditCode.UNKNOWN_PORT, node=subtask.id, side=side, port=port, known=known_names(names)
        )


def known_names(names: Iterable[str]) -> str:
    """List names for an error message: the first eight, `…` for more, `-` for none."""
    listed = list(names)
    return ", ".join(listed[:_NAMES_SHOWN]) + (", …" if len(listed) > _NAMES_SHOWN else "") or "-"


def edge_name(edge: Dependency) -> str:
    """Write an edge as `source.output -> target.input`."""
    return f"{edge.source}.{edge.output} -> {edge.target}.{edge.input}"
