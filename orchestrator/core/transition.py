"""How one node changes: the checks and the bookkeeping that every transition shares."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, assert_never

from graphs.plan import NodeId, PlanIndex
from orchestrator.core.ids import ContentDigest
from orchestrator.core.requests import AttemptRow
from orchestrator.core.state import Counts, NodeState, NodeStatus, RunState

ACTIVE: Final[tuple[NodeStatus, ...]] = ("running", "verifying")
"""The states of a node that an attempt is under way for."""


class BrokenLog(ValueError):
    """An event that can't follow the state before it: a gap in `seq`, or a type out of place. The log is damaged."""


def with_node(state: RunState, node: NodeState) -> RunState:
    """Return the state with `node` in the place of its earlier self, and the counts that follow."""
    counts = _count(_count(state.counts, state.nodes[node.id], -1), node, +1)
    return replace(state, nodes=state.nodes.insert(node.id, node), counts=counts)


def _count(counts: Counts, node: NodeState, by: int) -> Counts:
    match node.status:
        case "pending":
            return replace(counts, ready=counts.ready + by) if node.waiting == 0 else counts
        case "running" | "verifying":
            return replace(counts, active=counts.active + by)
        case "accepted":
            return replace(counts, accepted=counts.accepted + by)
        case "blocked":
            return replace(counts, blocked=counts.blocked + by)
        case "suspended":
            return replace(counts, suspended=counts.suspended + by)
        case "skipped":
            return replace(counts, skipped=counts.skipped + by)
        case _:
            assert_never(node.status)


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
    row = AttemptRow(
        generation=node.generation,
        attempt=node.attempt,
        agent=str(state.assigned[node.id]),
        outcome=outcome,
        repair=node.repairs[-1] if node.repairs else None,
    )
    return replace(node, history=(*node.history, row), attempts=node.attempts + 1)


def plan_of(state: RunState) -> PlanIndex:
    """Return the approved plan; raises `BrokenLog` before the approval."""
    if state.index is None:
        raise BrokenLog(f"run {state.run!r}: an event of execution before an approval")
    return state.index
