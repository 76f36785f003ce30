"""Repairs and the backtracks that carry them (specification 5.2, semantics 5 and 6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from agents.spec import AgentId, AgentSpec
from graphs.plan import NodeId
from masks.domains import DomainId
from orchestrator.core.claims import Level
from orchestrator.core.ids import RegionId


class BacktrackLevel(StrEnum):
    """How far a backtrack reaches (specification 5.2); `graphs.scopes` says what each invalidates.

    The controller chooses NODE and PARENT; nothing chooses PATH and GLOBAL yet (issue 7: re-splitting a region).
    """

    NODE = "node"
    PARENT = "parent"
    PATH = "path"
    GLOBAL = "global"


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectParameters:
    """Class B: the blamed sub-task is dispatched again with corrected parameters."""

    node: NodeId
    params: Mapping[str, Any] = field(default_factory=dict)
    """Values that override the sub-task's own, by name."""
    guard: str = ""
    """What the worker is told in addition."""
    kind: Literal["correct_parameters"] = "correct_parameters"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtendMask:
    """Class C: a silent domain is raised to BACKGROUND for one sub-task, on a successor of its agent."""

    node: NodeId
    domain: DomainId
    old: int
    new: int
    """In hundredths; at most the envelope's ceiling."""
    successor: AgentSpec
    """A copy of the agent with the extended mask; only `node` is assigned to it."""
    kind: Literal["extend_mask"] = "extend_mask"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeAgent:
    """Class C: another approved agent takes the sub-task."""

    node: NodeId
    old: AgentId
    new: AgentId
    kind: Literal["change_agent"] = "change_agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectGuard:
    """A falsification by process: the same agent does it again under an execution constraint."""

    node: NodeId
    guard: str
    kind: Literal["inject_guard"] = "inject_guard"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetMask:
    """A person set a mask value: `node` is done again by a successor with that value."""

    node: NodeId
    domain: DomainId
    old: int
    new: int
    successor: AgentSpec
    kind: Literal["set_mask"] = "set_mask"


Repair = CorrectParameters | ExtendMask | ChangeAgent | InjectGuard | SetMask


@dataclass(frozen=True, slots=True, kw_only=True)
class BacktrackPlan:
    """One backtrack: where it goes, what it invalidates, what is repaired, and what it costs."""

    node: NodeId
    """The node that could not go on."""
    level: BacktrackLevel
    invalidated: tuple[NodeId, ...]
    """Exactly the scope of `graphs.scopes`, in topological order."""
    repair: Repair
    region: RegionId
    depth: int
    """Repairs charged to the region with this one, from 1."""
    forced_level: Level | None = None
    """The least level of the repaired node's next check: L2 for a redo or an extension."""
    start_path: Literal[1, 2] = 1
    """2 in the attempt after a mask extension (semantics 3)."""
    redo: bool = False
    """Whether it answers a falsification: a second one suspends (specification 4.6)."""
    remember: str | None = None
    """Key of a repair that proved wrong with this backtrack, for the failure memory (specification 6.2)."""
    by: Literal["controller", "person"] = "controller"
