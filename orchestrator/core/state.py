"""What is true of a run: a fold of its events (`orchestrator.core.reducer`).

Maps are persistent (`rpds.HashTrieMap`), so that one event costs the nodes that it touches and no more. Nothing here
is ever changed in place.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from rpds import HashTrieMap, HashTrieSet

from agents.models.contract import Usage
from agents.results import WorkMode
from agents.spec import AgentId, AgentSpec
from agents.tools.contract import HeldCall
from graphs.plan import NodeId, PlanIndex
from masks.leaks.provenance import Leak
from orchestrator.core.approvals import CallWord, CommittedCall, RefusedCall
from orchestrator.core.blockage import Blockage, Failure
from orchestrator.core.claims import Level, Verification
from orchestrator.core.events import RunCreated, RunOutcome, SkipReason
from orchestrator.core.ids import ArtefactId, ContentDigest, RegionId, RequestId, RunId
from orchestrator.core.proposal import Proposal, Sha256
from orchestrator.core.requests import Answer, AttemptRow, Request

RunStatus = Literal[
    "drafting",
    "reviewing",
    "confirmed",
    "running",
    "paused",
    "suspended",
    "completed",
    "partial",
    "blocked",
    "cancelled",
    "failed",
]
"""Semantics 7."""

ENDED: frozenset[RunStatus] = frozenset({"completed", "partial", "blocked", "cancelled", "failed"})
"""The states that a run does not leave."""

NodeStatus = Literal["pending", "running", "verifying", "accepted", "blocked", "suspended", "skipped"]
"""Semantics 7; *ready* is pending with nothing to wait for, *superseded* is the passage to the next generation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """An output that a sub-task was accepted with."""

    input_key: ContentDigest
    """What it was made from: equal keys mean equal work (semantics 6)."""
    output: ArtefactId
    content: ContentDigest
    path: Literal[1, 2]
    mode: WorkMode
    verification: Verification
    leaks: tuple[Leak, ...] = ()
    as_is: bool = False
    """A person took it without a passed check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeState:
    """One sub-task of a running plan."""

    id: NodeId
    status: NodeStatus = "pending"
    generation: int = 1
    """Rises when a backtrack invalidates it; results of an older one are refused."""
    attempt: int = 0
    """The last attempt started in this generation."""
    attempts: int = 0
    """Attempts that ended, over all generations since the plan was approved; obsolete ones count."""
    epoch: int = 0
    waiting: int = 0
    """Predecessors that are not accepted yet."""
    input_key: ContentDigest | None = None
    """Of the running attempt."""
    accepted: Accepted | None = None
    """The last accepted output; current exactly in status `accepted`."""
    rejected: Accepted | None = None
    """The last output that did not pass, for a person to look at or take; gone when its inputs are made again."""
    failure: Failure | None = None
    """Of the last attempt, in status `blocked` or `suspended`."""
    blockage: Blockage | None = None
    """The classified failure."""
    retries: int = 0
    """Class A retries in this generation."""
    delay_s: float = 0.0
    """Before the next attempt may start."""
    depth: int = 0
    """Repairs charged to its region (semantics 6)."""
    granted: int = 0
    """Repairs beyond the limit that persons granted by their answers."""
    region: RegionId | None = None
    repairs: tuple[str, ...] = ()
    """Kinds of the repairs made for this node, in order, over all generations."""
    redone: bool = False
    """Whether a falsification was answered by a redo: a second one suspends."""
    extended: tuple[str, ...] = ()
    """Domains that repairs raised on the agent that works on it now (crossing rule, specification 6.2)."""
    params: HashTrieMap[str, Any] = field(default_factory=HashTrieMap)
    """Corrections over the sub-task's parameters."""
    guards: tuple[str, ...] = ()
    forced_level: Level | None = None
    start_path: Literal[1, 2] = 1
    calls: HashTrieMap[str, ArtefactId] = field(default_factory=HashTrieMap)
    """Results of the running attempt's calls, by `call_key`; a resumed attempt gets them instead of calling again."""
    words: HashTrieMap[str, CallWord] = field(default_factory=HashTrieMap)
    """Persons' words on calls of this generation, by the digest of tool and arguments; the last one counts."""
    committed: HashTrieMap[str, CommittedCall] = field(default_factory=HashTrieMap)
    """Calls with an effect, by their idempotency key, over all generations."""
    held: HeldCall | None = None
    """The call that the attempt under way rests for; with status `blocked`, a person is about to be asked."""
    history: tuple[AttemptRow, ...] = ()
    """Every finished attempt, for the table of what was tried."""
    request: RequestId | None = None
    """The open request, in status `suspended`."""
    answer: Answer | None = None
    """A person's answer that is to be carried out."""
    answered: RequestId | None = None
    """The request that `answer` belongs to."""
    skipped_because: SkipReason | None = None
    done_seq: int = 0
    """When it was last accepted: tells the latest completed parent."""

    @property
    def ready(self) -> bool:
        """Whether it can start: pending, and every predecessor accepted."""
        return self.status == "pending" and self.waiting == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many nodes are where; kept so that nothing has to look at all nodes."""

    accepted: int = 0
    skipped: int = 0
    active: int = 0
    """Running or verifying."""
    ready: int = 0
    blocked: int = 0
    """Blocked, with a command under way."""
    suspended: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What model calls consumed; those for which a recording stood in consumed nothing and are counted apart."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    """Of the calls whose price is known."""
    unpriced: int = 0
    """Calls whose price is unknown: with any, `cost_usd` is a lower bound."""
    estimated: int = 0
    """Calls whose tokens are estimated: the provider said nothing of them."""

    recorded: int = 0
    """Calls for which a recording stood in: none of the other numbers counts them."""

    def plus(self, usage: Usage) -> Spent:
        """Return it with one more call."""
        if usage.recorded:
            return replace(self, recorded=self.recorded + 1)
        return Spent(
            calls=self.calls + 1,
            input_tokens=self.input_tokens + usage.input_tokens,
            output_tokens=self.output_tokens + usage.output_tokens,
            cost_usd=self.cost_usd + (usage.cost_usd or 0.0),
            unpriced=self.unpriced + (usage.cost_usd is None),
            estimated=self.estimated + usage.estimated,
            recorded=self.recorded,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """Everything that is true of a run at one `seq`."""

    run: RunId
    seq: int = 0
    status: RunStatus = "drafting"
    created: RunCreated | None = None
    proposal: Proposal | None = None
    """The revision under review or approved."""
    sha256: Sha256 | None = None
    approved_revision: int | None = None
    index: PlanIndex | None = None
    """Of the approved plan."""
    epoch: int = 0
    nodes: HashTrieMap[NodeId, NodeState] = field(default_factory=HashTrieMap)
    dropped: HashTrieMap[NodeId, NodeState] = field(default_factory=HashTrieMap)
    """What was begun and is in the plan no more, by the name it had when an amendment took it out: its generation, its
    last output and its calls with an effect. What those did to the world stays a fact of the run."""
    agents: HashTrieMap[AgentId, AgentSpec] = field(default_factory=HashTrieMap)
    """The approved roster and the successors that repairs made."""
    assigned: HashTrieMap[NodeId, AgentId] = field(default_factory=HashTrieMap)
    counts: Counts = field(default_factory=Counts)
    requests: HashTrieMap[RequestId, Request] = field(default_factory=HashTrieMap)
    """Open ones."""
    requests_opened: int = 0
    refused: tuple[RefusedCall, ...] = ()
    """Calls that persons refused, in order, over all generations."""
    spent: Spent = field(default_factory=lambda: Spent())
    """By all model calls of the run."""
    remembered: HashTrieSet[str] = field(default_factory=HashTrieSet)
    """Keys of repairs that proved wrong for a class of task, in earlier runs or in this one."""
    unresolved: HashTrieSet[NodeId] = field(default_factory=HashTrieSet)
    """Nodes with a class B or C blockage that were not accepted since, for the escalation to D."""
    taken_as_is: HashTrieSet[NodeId] = field(default_factory=HashTrieSet)
    """Nodes whose last acceptance was a person's who took the output as it was; one may wait to run again since."""
    superseded: Proposal | None = None
    """The approved proposal that a reopened review is about to replace."""
    cancelling: bool = False
    cancel_seq: int = 0
    """The event that cancelled the run first."""
    paused: bool = False
    limit_hit: bool = False
    """Whether a limit ended a sub-task of the approved plan, even if a backtrack gave it another chance."""
    internal_error: str | None = None
    """The trace of an error of the program, where one ended a sub-task or the run."""
    outcome: RunOutcome | None = None
    gaps: tuple[str, ...] = ()
    stopped: bool = False
    report: ArtefactId | None = None
    result: ContentDigest | None = None

    @property
    def shadow_of(self) -> RunId | None:
        """The run that this one is only compared with; `None` for one that delivers."""
        return self.created.shadow_of if self.created is not None else None

    def node(self, node: NodeId) -> NodeState:
        """Return a sub-task's state; raises `KeyError` for an unknown one."""
        return self.nodes[node]

    def agent_of(self, node: NodeId) -> AgentSpec:
        """Return the agent that works on `node` now, after repairs."""
        return self.agents[self.assigned[node]]


MODEL_CALL: Final = "model"
"""Stands for the digest in the key of a model call.

A resumed attempt is given the reply that was paid for at this place, whatever its request looks like now: a tool that
is away must not make the model be asked anew, and the run go another way than the log says."""


def call_key(step: str, index: int, arguments_digest: str) -> str:
    """Return the key of a call within an attempt (with node, generation and attempt it is unique in the run)."""
    return f"{step}#{index}#{arguments_digest}"
