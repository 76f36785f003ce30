"""What a backtrack does to the state: the repair is made, and what was built on it starts over. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from rpds import HashTrieMap

from graphs.plan import NodeId
from masks.domains import DomainId
from orchestrator.core.backtrack import (
    BacktrackPlan,
    ChangeAgent,
    CorrectParameters,
    ExtendMask,
    InjectGuard,
    SetMask,
)
from orchestrator.core.giving_up import stays_given_up
from orchestrator.core.state import NodeState, RunState
from orchestrator.core.transition import ACTIVE, BrokenLog, plan_of, recorded, with_node


def backtracked(state: RunState, plan: BacktrackPlan) -> RunState:
    """Return the state after the backtrack `plan`; raises `BrokenLog` unless its node is blocked."""
    index = plan_of(state)
    failing = state.nodes.get(plan.node)
    if failing is None or failing.status != "blocked" or plan.node not in plan.invalidated:
        raise BrokenLog(f"run {state.run!r}: a backtrack from {plan.node!r}, which is not blocked")
    gone = stays_given_up(state, plan.invalidated)
    redone = frozenset(plan.invalidated) - gone
    state = _repaired(state, plan)
    for name in plan.invalidated:
        node = state.node(name)
        if node.status in ACTIVE or node.held is not None:
            node = recorded(state, node, "superseded")
        feeds = index.predecessors(name)
        waiting = sum(1 for p in feeds if p in redone or not _is_done(state, p))
        if name in gone:
            state = with_node(state, replace(node, waiting=waiting))
            continue
        if node.request is not None:
            state = replace(state, requests=state.requests.discard(node.request))
        inputs_redone = any(p in redone for p in feeds)
        state = with_node(state, _invalidated(node, plan, waiting, inputs_redone=inputs_redone))
    return state


def _invalidated(node: NodeState, plan: BacktrackPlan, waiting: int, *, inputs_redone: bool) -> NodeState:
    repaired = node.id == plan.repair.node
    falsified = plan.redo and node.id == plan.node
    forced = plan.forced_level if repaired or falsified else None
    reset = replace(
        node,
        status="pending",
        waiting=waiting,
        failure=None,
        blockage=None,
        request=None,
        answer=None,
        answered=None,
        delay_s=0.0,
        calls=HashTrieMap(),
        words=HashTrieMap(),
        held=None,
        skipped_because=None,
        rejected=None if inputs_redone else node.rejected,
        forced_level=forced or node.forced_level,
        start_path=plan.start_path if repaired else node.start_path,
        redone=node.redone or falsified,
    )
    if node.status == "pending" and node.attempt == 0 and node.waiting > 0:
        # Nothing of it exists yet, not even a command: it goes on waiting in the generation it is in.
        return reset
    return replace(
        reset, generation=node.generation + 1, attempt=0, retries=0, depth=plan.depth, region=plan.region
    )


def _repaired(state: RunState, plan: BacktrackPlan) -> RunState:
    repair = plan.repair
    failing = state.node(plan.node)
    state = with_node(state, replace(failing, repairs=(*failing.repairs, repair.kind)))
    if plan.remember is not None:
        state = replace(state, remembered=state.remembered.insert(plan.remember))
    node = state.node(repair.node)
    match repair:
        case CorrectParameters():
            params = node.params
            for name, value in repair.params.items():
                params = params.insert(name, value)
            guards = (*node.guards, repair.guard) if repair.guard else node.guards
            return with_node(state, replace(node, params=params, guards=guards))
        case InjectGuard():
            guards = (*node.guards, repair.guard) if repair.guard else node.guards
            return with_node(state, replace(node, guards=guards))
        case ChangeAgent():
            state = with_node(state, replace(node, extended=()))
            return replace(state, assigned=state.assigned.insert(repair.node, repair.new))
        case ExtendMask() | SetMask():
            state = with_node(state, replace(node, extended=_extended(state, node, repair)))
            return replace(
                state,
                agents=state.agents.insert(repair.successor.id, repair.successor),
                assigned=state.assigned.insert(repair.node, repair.successor.id),
            )
        case _:
            assert_never(repair)


def _extended(state: RunState, node: NodeState, repair: ExtendMask | SetMask) -> tuple[str, ...]:
    """What earlier repairs raised and the successor still has; a value that a person set is no extension."""
    before, now = state.agent_of(node.id).mask, repair.successor.mask
    kept = tuple(
        domain
        for domain in node.extended
        if domain != repair.domain and now.value(DomainId(domain)) == before.value(DomainId(domain))
    )
    return (*kept, str(repair.domain)) if isinstance(repair, ExtendMask) else kept


def _is_done(state: RunState, name: NodeId) -> bool:
    """A skipped node outside a backtrack's scope holds nobody up: who can't do without it was skipped with it."""
    return state.node(name).status in ("accepted", "skipped")
