"""Going back: by a backtrack with its exact scope, or, where a bound is reached, to a person. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

from agents.tools.contract import HeldCall, HeldReason, SideEffectClass
from graphs.contract import MAX_REPAIR_DEPTH
from graphs.plan import NodeId
from graphs.scopes import invalidated
from orchestrator.core.backtrack import BacktrackLevel, BacktrackPlan, Repair
from orchestrator.core.blockage import FailureKind
from orchestrator.core.candidates import able_agents, changed_sources, closed_domains, helpful_domains
from orchestrator.core.claims import Level
from orchestrator.core.commands import AskPerson, Backtrack, Command, SkipNodes
from orchestrator.core.giving_up import given_up_with
from orchestrator.core.ids import RegionId, request_id
from orchestrator.core.repairs import approved_index, reads_guards
from orchestrator.core.requests import ChoiceId, ReasonCode, Request, answer_schema
from orchestrator.core.state import NodeState, RunState

_AMENDMENTS: frozenset[ReasonCode] = frozenset({"outside_envelope", "untrusted_need"})
"""Reasons whose repair would leave what was approved (semantics 5, envelope)."""

_OF_THE_OUTSIDE: Final[frozenset[FailureKind]] = frozenset(
    {"timeout", "rate_limited", "unavailable", "not_verified", "misconfigured", "tool_missing"}
)
"""Failures whose cause can be gone at the next attempt, whoever makes it."""


_STANDS: Final[frozenset[SideEffectClass]] = frozenset({"write", "external"})
"""Classes of calls whose effect stands outside of the run, on somebody's files or beyond this machine: making their
sub-task again does not take it back. Drafts lie in a folder that is there for work that is made again."""

_ABOUT_A_CALL: Final[Mapping[HeldReason, tuple[ChoiceId, ...]]] = {
    "approval_needed": ("approve", "refuse"),
    "refused_again": ("approve",),
    "outcome_unknown": ("happened", "repeat"),
}


def backtrack(
    state: RunState,
    node: NodeState,
    fix: Repair,
    *,
    parent: NodeId | None = None,
    redo: bool = False,
    start_path: Literal[1, 2] = 1,
    forced: Level | None = None,
    remember: str | None = None,
    by: Literal["controller", "person"] = "controller",
) -> Command:
    """Return the backtrack from `node` (to `parent`, where given), or a question to a person.

    A person is asked when the region has no repair left (semantics 6: the need for a fourth suspends) and before work
    is thrown away that may have changed something outside of the run.
    """
    index = approved_index(state)
    scope = sorted(invalidated(index, "node", parent or node.id), key=index.rank)
    most_charged = max((state.node(name) for name in scope), key=lambda member: member.depth)
    depth = 1 + most_charged.depth
    if by == "controller" and depth > MAX_REPAIR_DEPTH + node.granted:
        return ask(state, node, "depth_limit")
    if by == "controller" and has_external_effect(state, scope):
        return ask(state, node, "external_effect")
    return Backtrack(
        plan=BacktrackPlan(
            node=node.id,
            level=BacktrackLevel.PARENT if parent else BacktrackLevel.NODE,
            invalidated=tuple(scope),
            repair=fix,
            region=most_charged.region or RegionId(node.id),
            depth=depth,
            forced_level=Level.L2 if redo else forced,
            start_path=start_path,
            redo=redo,
            remember=remember,
            by=by,
        )
    )


def give_back(state: RunState, node: NodeState, reason: ReasonCode) -> Command:
    """Return what class D leads to: an optional sub-task is given up, for any other a person decides."""
    if approved_index(state).subtask(node.id).failure_semantics == "optional":
        detail = node.failure.message if node.failure else ""
        return SkipNodes(nodes=given_up_with(state, node.id), reason="optional", detail=detail)
    return ask(state, node, reason)


def ask(state: RunState, node: NodeState, reason: ReasonCode) -> AskPerson:
    """Return the question to a person what to do about `node`.

    Where a cited source was changed or deleted, that is the reason, whatever bound was reached: neither a mask value
    nor another agent can help.
    """
    changed = changed_sources(node)
    if changed:
        reason = "source_changed"
    agents = () if changed else tuple(str(agent.id) for agent in able_agents(state, node))
    domains = helpful_domains(state, node)
    closed = closed_domains(state, node)
    choices: list[ChoiceId] = ["retry"] if _may_differ(state, node) else []
    if domains:
        choices.append("set_mask")
    if agents:
        choices.append("reassign")
    if node.rejected is not None and node.rejected.verification.outcome != "structural_failure":
        choices.append("accept")
    choices += ["abandon", "review"]
    return AskPerson(
        request=Request(
            id=request_id(state.run, state.requests_opened + 1),
            kind="amendment" if reason in _AMENDMENTS else "suspension",
            node=node.id,
            reason=reason,
            detail=node.failure.message if node.failure else "",
            attempts=node.history,
            choices=tuple(choices),
            agents=agents,
            domains=domains,
            closed=closed,
            sources=changed,
            schema=answer_schema(tuple(choices), agents, tuple(closed)),
        )
    )


def ask_about_call(state: RunState, node: NodeState, held: HeldCall) -> AskPerson:
    """Return the question to a person about one call of the attempt that rests for it.

    Where the plan can't do without the sub-task, it can be given up all the same: that is for the person to say.
    """
    choices: tuple[ChoiceId, ...] = (*_ABOUT_A_CALL[held.why], "abandon", "review")
    return AskPerson(
        request=Request(
            id=request_id(state.run, state.requests_opened + 1),
            kind="call",
            node=node.id,
            reason=held.why,
            detail=held.preview,
            attempts=node.history,
            choices=choices,
            call=held,
            schema=answer_schema(choices),
        )
    )


def _may_differ(state: RunState, node: NodeState) -> bool:
    """Whether another attempt can come out differently: its agent reads guards, or something outside can be mended.

    An embedded agent is deterministic code that reads none, and would only fail again.
    """
    mended = bool(changed_sources(node)) or node.failure is None or node.failure.kind in _OF_THE_OUTSIDE
    return mended or reads_guards(state, node.id)


def has_external_effect(state: RunState, scope: Iterable[NodeId]) -> bool:
    """Tell whether something outside of the run may have been changed: that can't be thrown away (semantics 6).

    By a call that was committed, or by an attempt of a sub-task that the plan says may do so.
    """
    index = approved_index(state)
    return any(
        _acted(state.node(name))
        or (
            index.subtask(name).side_effects == "external"
            and (state.node(name).attempt > 0 or state.node(name).status == "accepted")
        )
        for name in scope
    )


def _acted(node: NodeState) -> bool:
    return any(call.side_effect in _STANDS and not call.failed for call in node.committed.values())
