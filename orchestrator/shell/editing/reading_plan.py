"""Read the plan of an edited document."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, cast, get_args

from pydantic import JsonValue

from graphs.contract import PortSpec, PortType
from graphs.plan import (
    Boundary,
    Dependency,
    FailureSemantics,
    NodeId,
    Plan,
    SideEffect,
    SubTask,
    SubTaskKind,
)
from masks.domains import DomainRegistry
from orchestrator.shell.editing.reading import read_by_domain
from orchestrator.shell.editing.writing import boundary_in, edge_of_arrow
from orchestrator.shell.editing.yaml_tree import Item

_SUBTASK: Final = (
    "title",
    "kind",
    "operation",
    "boundary",
    "instruction",
    "params",
    "required_domains",
    "acceptance",
    "inputs",
    "outputs",
    "side_effects",
    "failure_semantics",
    "estimate",
)
_REQUIRED: Final = ("title", "kind", "operation")
_EDGE: Final = ("source", "output", "target", "input")


def read_plan(item: Item | None, base: Plan, registry: DomainRegistry) -> Plan:
    """Return the plan as written; whether it is sound is for the checks.

    A sub-task that states no boundary has the one that follows from the dependencies.
    """
    if item is None:
        return base
    found = item.fields(("subtasks", "dependencies"), required=("subtasks", "dependencies"))
    edges = [_edge(one) for one in found["dependencies"].items()] if "dependencies" in found else []
    dependencies = tuple(edge for edge in edges if edge is not None)
    entries = found["subtasks"].entries() if "subtasks" in found else {}
    return Plan(
        subtasks=tuple(_subtask(NodeId(node), one, dependencies, registry) for node, one in entries.items()),
        dependencies=dependencies,
    )


def read_ports(item: Item) -> tuple[PortSpec, ...]:
    """Return a list of ports."""
    return tuple(_port(one) for one in item.items())


def _subtask(
    node: NodeId, item: Item, dependencies: tuple[Dependency, ...], registry: DomainRegistry
) -> SubTask:
    found = item.fields(_SUBTASK, required=_REQUIRED)
    subtask = SubTask(
        id=node,
        title=found["title"].text("") if "title" in found else "",
        kind=cast(SubTaskKind, found["kind"].choice(get_args(SubTaskKind), "function"))
        if "kind" in found
        else "function",
        operation=found["operation"].text("") if "operation" in found else "",
        boundary=cast(Boundary, boundary_in(node, dependencies)),
    )
    if "boundary" in found:
        boundary = found["boundary"].choice(get_args(Boundary), subtask.boundary)
        subtask = replace(subtask, boundary=cast(Boundary, boundary))
    if "instruction" in found:
        subtask = replace(subtask, instruction=found["instruction"].text(""))
    if "params" in found:
        subtask = replace(subtask, params=_params(found["params"]))
    if "required_domains" in found:
        domains = read_by_domain(found["required_domains"], registry, lambda value: value.number(1.0))
        subtask = replace(subtask, required_domains={str(domain): value for domain, value in domains.items()})
    if "acceptance" in found:
        subtask = replace(subtask, acceptance=found["acceptance"].texts())
    if "inputs" in found:
        subtask = replace(subtask, inputs=read_ports(found["inputs"]))
    if "outputs" in found:
        subtask = replace(subtask, outputs=read_ports(found["outputs"]))
    if "side_effects" in found:
        effect = found["side_effects"].choice(get_args(SideEffect), "none")
        subtask = replace(subtask, side_effects=cast(SideEffect, effect))
    if "failure_semantics" in found:
        semantics = found["failure_semantics"].choice(get_args(FailureSemantics), "required")
        subtask = replace(subtask, failure_semantics=cast(FailureSemantics, semantics))
    if "estimate" in found:
        subtask = replace(subtask, estimate=found["estimate"].number(1.0))
    return subtask


def _params(item: Item) -> dict[str, JsonValue]:
    return {name: value.json() for name, value in item.entries().items()}


def _port(item: Item) -> PortSpec:
    found = item.fields(("name", "type", "description", "required"), required=("name", "type"))
    port = PortSpec(
        name=found["name"].text("") if "name" in found else "",
        type=cast(PortType, found["type"].choice(get_args(PortType), "text")) if "type" in found else "text",
    )
    if "description" in found:
        port = replace(port, description=found["description"].text(""))
    if "required" in found:
        port = replace(port, required=found["required"].flag(True))
    return port


def _edge(item: Item) -> Dependency | None:
    if item.is_mapping:
        found = item.fields(_EDGE, required=_EDGE)
        if len(found) < len(_EDGE):
            return None
        return Dependency(
            source=NodeId(found["source"].text("")),
            output=found["output"].text(""),
            target=NodeId(found["target"].text("")),
            input=found["input"].text(""),
        )
    typed = item.raw()
    edge = edge_of_arrow(typed) if typed is not None else None
    if edge is None:
        item.refuse(
            "source.output -> target.input, e.g. n1.claims -> n3.claims",
            "来源.输出 -> 目标.输入，如 n1.claims -> n3.claims",
        )
    return edge
