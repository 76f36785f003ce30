"""What the user reviews and approves: one value, one hash.

The hash covers everything but the revision number, so that a proposal edited back to an earlier state has the
earlier hash; approving asks for both (semantics 5).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NewType

from pydantic import TypeAdapter

from agents.memory.contract import Recalled
from agents.roster import Assignment, Roster
from agents.spec import AgentId, AgentSpec
from agents.tools.contract import Profile
from graphs.contract import Goal, Intent, TaskContract
from graphs.plan import NodeId, Plan
from masks.bands import Thresholds
from masks.design import MaskOrigin
from masks.domains import DomainId
from masks.gradient import extension_target

Sha256 = NewType("Sha256", str)
"""A SHA-256 in lower-case hex, 64 characters."""

HASH_PREFIX_LENGTH = 8
"""Characters of the hash that an approval names (`approve ID@REV-HASH8`, architecture 6)."""

RESPLIT_FACTOR = 2
"""A region may be re-split into at most this many times its nodes (semantics 5, envelope)."""


SUCCESSOR_MARK = "+"
"""Separates an approved agent's id from what its successor was made for."""


def successor_id(agent: AgentId, node: NodeId, generation: int) -> AgentId:
    """Return the id of the copy of `agent` that a repair makes for one sub-task.

    >>> successor_id(AgentId("A1"), NodeId("n3"), 2)
    'A1+n3.2'
    """
    return AgentId(f"{base_agent(agent)}{SUCCESSOR_MARK}{node}.{generation}")


def base_agent(agent: AgentId) -> AgentId:
    """Return the approved agent that a successor was copied from; any other agent is its own base.

    >>> base_agent(AgentId("A1+n3.2"))
    'A1'
    """
    return AgentId(agent.partition(SUCCESSOR_MARK)[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """The room for repairs that the approval grants (semantics 5)."""

    ceilings: Mapping[AgentId, Mapping[DomainId, int]] = field(default_factory=dict)
    """Per agent and domain, how high a repair may raise it, in hundredths; where nothing is said,
    `masks.gradient.extension_target`. A domain at -100 is never raised, whoever set it."""
    reassign: bool = True
    """Whether a sub-task may go to another approved agent, or to a successor: a copy of an approved agent with
    another mask under the ceilings."""
    resplit_factor: int = RESPLIT_FACTOR
    """How far a region may be re-split; kept for that repair, which no controller makes yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One agent that could take a sub-task, as the assignment ranked it."""

    agent: AgentId
    fit: float
    """In [0, 1]."""
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Everything that an approval is bound to."""

    revision: int
    """1-based, dense per run."""
    goal: Goal
    intent: Intent
    contract: TaskContract
    plan: Plan
    roster: Roster
    assignment: Assignment
    thresholds: Thresholds
    agent_thresholds: Mapping[AgentId, Thresholds] = field(default_factory=dict)
    """Overrides per agent."""
    grants: Mapping[AgentId, tuple[str, ...]] = field(default_factory=dict)
    """Tools that each agent may call."""
    profile: Profile = "production"
    """What calls that change something come to: see `agents.tools.gate`."""
    envelope: Envelope = field(default_factory=Envelope)
    mask_origins: Mapping[AgentId, Mapping[DomainId, MaskOrigin]] = field(default_factory=dict)
    """Why each designed mask value is what it is; shown in the review, part of the hash."""
    candidates: Mapping[NodeId, tuple[Candidate, ...]] = field(default_factory=dict)
    """Ranked alternatives per sub-task, best first."""
    notes: tuple[str, ...] = ()
    """What the planner wants the reviewer to know, e.g. that no pattern fitted."""

    memories: tuple[Recalled, ...] = ()
    """What the long-term memory held for the goal when it was planned, for agents and planners with a model. They read
    it from here, so that a replay does not depend on what is remembered since."""

    def agent_of(self, node: NodeId) -> AgentSpec:
        """Return the agent that `node` is assigned to; raises `KeyError` for an unassigned node."""
        return self.roster.get(self.assignment[node])

    def thresholds_of(self, agent: AgentId) -> Thresholds:
        """Return the thresholds that hold for `agent`, or for the approved agent that it is a successor of."""
        return self.agent_thresholds.get(base_agent(agent), self.thresholds)

    def ceiling(self, agent: AgentId, domain: DomainId) -> int:
        """Return how high a repair may raise `domain` for `agent`, in hundredths."""
        named = self.envelope.ceilings.get(base_agent(agent), {}).get(domain)
        return extension_target(self.thresholds_of(agent)) if named is None else named


PROPOSAL = TypeAdapter(Proposal)
"""(De)serialises proposals at the borders."""


_CANONICAL: Final = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
)


def canonical_json(value: Any) -> str:
    """Return the one JSON text of a JSON value: sorted keys, no spaces, no NaN, non-ASCII as is."""
    return _CANONICAL.encode(value)


def digest_of(value: Any) -> Sha256:
    """Return the SHA-256 of the canonical JSON of a JSON value."""
    return Sha256(hashlib.sha256(canonical_json(value).encode("utf-8")).hexdigest())


def proposal_sha256(proposal: Proposal) -> Sha256:
    """Return the hash that an approval of `proposal` is bound to; equal for equal content, whatever the revision."""
    document = PROPOSAL.dump_python(replace(proposal, revision=0), mode="json")
    # What came later than the first approvals, whose hashes have to hold, counts where it says something.
    for agent in document["roster"]["agents"]:
        if agent["model_policy"]["base_url"] is None:
            del agent["model_policy"]["base_url"]
    if not document["memories"]:
        del document["memories"]
    return digest_of(document)
