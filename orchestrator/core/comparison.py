"""What two runs beside each other come to: the values of a comparison."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import TypeAdapter

from agents.spec import AgentId
from agents.tools.contract import Profile
from graphs.plan import NodeId
from orchestrator.core.decision_trail import FirstDifference
from orchestrator.core.effects import EffectOutcome
from orchestrator.core.ids import ContentDigest, RunId
from orchestrator.core.state import RunStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class SameStart:
    """What both runs started from: `True` where it is equal. What neither has is equal."""

    goal: bool
    sources: bool
    """The documents that were read, by their digest."""
    contract: bool
    plan: bool
    agents: bool
    """The roster without masks and models, who works on what, and the tools granted."""
    models: bool
    """What each agent thinks with."""
    profile: bool
    masks: bool
    """The values and the thresholds, of each agent."""
    versions: bool
    """Of product, prompts, registry, embedder and model."""
    seed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskDifference:
    """One number of an agent that is not the same in both runs, in hundredths."""

    agent: AgentId
    about: str
    """The id of a domain, `threshold.main` or `threshold.background`."""
    first: int | None
    """`None`: the first run has no such agent."""
    second: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDifference:
    """An agent that does not think with the same in both runs."""

    agent: AgentId
    first: str | None
    """`provider:model`, with its address where one is given, else the kind; `None`: the first run has no such agent."""
    second: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDifference:
    """A call with an effect that did not come to the same in both runs."""

    node: NodeId
    tool: str
    arguments: str
    """As canonical JSON."""
    first: tuple[EffectOutcome, ...]
    """What came of it in the first run; none: it was not proposed there, or it was only pretended."""
    second: tuple[EffectOutcome, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFacts:
    """What came of one sub-task in one run."""

    status: str
    agent: str
    """Who worked on it last."""
    attempts: int
    """That were started; one that a restart resumed counts once."""
    level: str | None
    """How deep the output was checked; of the accepted one, or of the one that did not pass."""
    path: int | None
    failures: tuple[str, ...]
    """The class of each failure, in order."""
    output: ContentDigest | None
    """Of the output that is accepted now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeComparison:
    """One sub-task in both runs; `None` in a run whose approved plan does not have it."""

    node: NodeId
    first: NodeFacts | None
    second: NodeFacts | None
    differs: tuple[str, ...]
    """The fields of `NodeFacts` that are not equal; all of them where only one run has the sub-task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BacktrackFacts:
    """One backtrack."""

    seq: int
    node: NodeId
    level: str
    repair: str
    depth: int
    invalidated: tuple[NodeId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What came of one run."""

    run: RunId
    seq: int
    status: RunStatus
    """The outcome, of a run that ended."""
    profile: Profile | None
    """`None`: without a proposal."""
    shadow_of: RunId | None
    sources_read: bool
    """A run that was never executed has read none yet; then `SameStart.sources` says nothing about them."""
    gaps: tuple[str, ...]
    stopped: bool
    result: ContentDigest | None
    """The result digest; equal for equal results, whatever the times and ids."""
    backtracks: tuple[BacktrackFacts, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two runs beside each other."""

    first: RunFacts
    second: RunFacts
    same: SameStart
    mask_differences: tuple[MaskDifference, ...]
    """By agent, then domain, then threshold; none where a run has no proposal."""
    model_differences: tuple[ModelDifference, ...]
    """By agent; none where a run has no proposal."""
    call_differences: tuple[CallDifference, ...]
    """Calls that were to change something: by sub-task, tool and arguments."""
    first_difference: FirstDifference | None
    """`None`: both decided the same about every sub-task."""
    nodes: tuple[NodeComparison, ...]
    """In the order of the first run's plan, then what only the second has."""
    outcome_equal: bool
    """Status, gaps and whether a limit ended it."""
    result_equal: bool
    """Never for runs that delivered nothing."""
    backtracks_equal: bool
    """The same ones, in whatever order."""

    @property
    def equal(self) -> bool:
        """Whether both runs decided the same, with the same outcome and outputs; what they started from apart."""
        return (
            self.first_difference is None
            and self.outcome_equal
            and self.first.result == self.second.result
            and self.backtracks_equal
            and not self.call_differences
            and not any(node.differs for node in self.nodes)
        )


COMPARISON: TypeAdapter[Comparison] = TypeAdapter(Comparison)
"""(De)serialises comparisons at the borders."""
