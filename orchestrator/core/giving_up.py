"""What is lost when a sub-task is given up. Pure."""

from __future__ import annotations

from collections.abc import Callable

from graphs.plan import NodeId, PlanIndex
from orchestrator.core.state import RunState


def given_up_with(state: RunState, name: NodeId) -> tuple[NodeId, ...]:
    """Return `name` and the descendants that can't go on without it, in topological order.

    Sub-tasks that were given up before are not named again; an optional sub-task takes nobody with it.
    """
    index = _index(state)
    lost = {name}
    for candidate in sorted(index.descendants(name), key=index.rank):
        if starved(index, candidate, lambda source: source in lost or state.node(source).status == "skipped"):
            lost.add(candidate)
    return tuple(n for n in sorted(lost, key=index.rank) if state.node(n).status != "skipped")


def starved(index: PlanIndex, name: NodeId, is_lost: Callable[[NodeId], bool]) -> bool:
    """Tell whether a required input port of `name` is fed by lost sub-tasks only.

    A lost optional sub-task starves nobody: the plan says that it can do without it. A port without an edge is fed by
    the user.
    """
    subtask = index.subtask(name)
    required = {port.name for port in subtask.inputs if port.required}
    feeds: dict[str, list[NodeId]] = {}
    for edge in index.incoming(name):
        if edge.input in required:
            feeds.setdefault(edge.input, []).append(edge.source)
    return any(
        all(is_lost(source) and index.subtask(source).failure_semantics == "required" for source in sources)
        for sources in feeds.values()
    )


def stays_given_up(state: RunState, scope: tuple[NodeId, ...]) -> frozenset[NodeId]:
    """Return the skipped sub-tasks of a backtrack's scope that it gives no new chance; `scope` in topological order.

    What a person abandoned stays abandoned, what an error of the program ended is not tried again, and what lacks a
    required input stays without it. Anything else may succeed on new inputs (semantics 7: any state, superseded).
    """
    index = _index(state)
    members = frozenset(scope)
    kept: set[NodeId] = set()

    def is_lost(source: NodeId) -> bool:
        return state.node(source).status == "skipped" and (source not in members or source in kept)

    for name in scope:
        node = state.node(name)
        if node.status == "skipped" and (
            node.skipped_because in ("abandoned", "internal") or starved(index, name, is_lost)
        ):
            kept.add(name)
    return frozenset(kept)


def _index(state: RunState) -> PlanIndex:
    assert state.index is not None, "sub-tasks are given up in approved plans only"
    return state.index
