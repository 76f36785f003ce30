"""How one node changes: the checks and the bookkeeping that every transition shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, assert_never

from rpds import HashTrieMap

from graphs.plan import NodeId, PlanIndex
from orchestrator.core.changing import changed
from orchestrator.core.ids import ContentDigest
from orchestrator.core.requests import AttemptRow
from orchestrator.core.state import Counts, NodeState, NodeStatus, RunState

ACTIVE: Final[tuple[NodeStatus, ...]] = ("running", "verifying")
"""The states of a node that an attempt is under way for."""


class BrokenLog(ValueError):
    """An event that can't follow the state before it: a gap in `seq`, or a type out of place. The log is damaged."""


class Placed(NamedTuple):
    """The sub-tasks of a state after some of them changed."""

    nodes: HashTrieMap[NodeId, NodeState]
    counts: Counts


def placed(state: RunState, *renewed: NodeState) -> Placed:
    """Return the nodes of `state` with each of `renewed` in the place of its earlier self, and the counts that follow.

    For a step that changes several nodes, or more than nodes: copying the state is what an event costs most, so a
    frequent step does it once.
    """
    nodes, counts = state.nodes, state.counts
    moved: dict[_Place | None, int] = {}
    for node in renewed:
        before, now = _place(nodes[node.id]), _place(node)
        if before != now:
            moved[before] = moved.get(before, 0) - 1
            moved[now] = moved.get(now, 0) + 1
        nodes = nodes.insert(node.id, node)
    return Placed(nodes, _moved(counts, moved) if moved else counts)


def with_node(state: RunState, node: NodeState) -> RunState:
    """Return the state with `node` in the place of its earlier self, and the counts that follow."""
    nodes, counts = placed(state, node)
    return changed(state, nodes=nodes, counts=counts)


_Place = Literal["accepted", "skipped", "active", "ready", "blocked", "suspended"]
"""What `Counts` counts a node as; one that waits for others is not counted."""


def _place(node: NodeState) -> _Place | None:
    match node.status:
        case "pending":
            return "ready" if node.waiting == 0 else None
        case "running" | "verifying":
            return "active"
        case "accepted" | "blocked" | "suspended" | "skipped":
            return node.status
        case _:
            assert_never(node.status)


def _moved(counts: Counts, by: Mapping[_Place | None, int]) -> Counts:
    return Counts(
        accepted=counts.accepted + by.get("accepted", 0),
        skipped=counts.skipped + by.get("skipped", 0),
        active=counts.active + by.get("active", 0),
        ready=counts.ready + by.get("ready", 0),
        blocked=counts.blocked + by.get("blocked", 0),
        suspended=counts.suspended + by.get("suspended", 0),
    )


def attempted(
    state: RunState, name: NodeId, generation: int, attempt: int, *statuses: NodeStatus
) -> NodeState:
    """Return the node that an event of an attempt is about.

    Raises `BrokenLog` unless it is in the plan, at this generation and attempt, and in one of `statuses`.
    """
    node = state.nodes.get(name)
    if node is None:
        raise BrokenLog(f"run {state.run!r}: event for {name!r}, which is not in the plan")
    if (node.generation, node.attempt) != (generation, attempt) or node.status not in statuses:
        raise BrokenLog(
            f"run {state.run!r}: event for generation {generation}, attempt {attempt} of {name!r}, which is at "
            f"generation {node.generation}, attempt {node.attempt}, {node.status}"
        )
    return node


def is_running(node: NodeState, generation: int, attempt: int) -> bool:
    """Tell whether this attempt is the one under way."""
    return (node.generation, node.attempt) == (generation, attempt) and node.status in ACTIVE


def key_of(node: NodeState) -> ContentDigest:
    """Return what the attempt under way works from."""
    assert node.input_key is not None, "a running attempt has a key"
    return node.input_key


def recorded(state: RunState, node: NodeState, outcome: str) -> NodeState:
    """Return the node with its last attempt counted, and in the table of what was tried."""
    return changed(node, history=(*node.history, row_of(state, node, outcome)), attempts=node.attempts + 1)


def row_of(state: RunState, node: NodeState, outcome: str) -> AttemptRow:
    """Return the last attempt of a node as a row of the table of what was tried."""
    return AttemptRow(
        generation=node.generation,
        attempt=node.attempt,
        agent=str(state.assigned[node.id]),
        outcome=outcome,
        repair=node.repairs[-1] if node.repairs else None,
    )


def plan_of(state: RunState) -> PlanIndex:
    """Return the approved plan; raises `BrokenLog` before the approval."""
    if state.index is None:
        raise BrokenLog(f"run {state.run!r}: an event of execution before an approval")
    return state.index
