"""The ports of verification: fact sources that can be asked, checkers of level 1, and the check stage itself.

Several attempts are checked at a time, each on a thread of its own: every method here may be called while another call
of it is under way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from agents.evidence import Evidence, Source, SourceId
from agents.results import WorkOutput, WorkResult
from agents.spec import AgentSpec
from graphs.contract import Lang, TaskContract
from graphs.plan import NodeId, SubTask
from masks.bands import Thresholds
from masks.leaks.report import LeakReport
from orchestrator.core.claims import Finding, Level, Verdict, Verification

Defect = Literal[
    "source_unknown",
    "source_missing",
    "source_changed",
    "place_missing",
    "excerpt_differs",
    "evidence_missing",
    "digest_differs",
    "contradicted",
    "shown_otherwise",
    "upstream",
]
"""What is wrong with falsified evidence, for the diagnosis.

- `source_unknown`: the output lists no source of the cited id.
- `source_missing`: the source exists nowhere in the material.
- `source_changed`: its bytes are no longer those that were read.
- `place_missing`: the source has no such place, or the parts of the locator disagree.
- `excerpt_differs`: the place holds another text.
- `evidence_missing`: a claim or an inference names evidence that the output does not hold.
- `digest_differs`: the evidence's digest is not that of its own text.
- `contradicted`: the material says something else.
- `shown_otherwise`: the text shows the claim with words that its evidence does not hold.
- `upstream`: the verification of an input had falsified the claim already.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactVerdict:
    """What one fact source says of one piece of evidence."""

    verdict: Verdict
    """A `Falsified` names its `source` exactly when that source contradicts the evidence; a citation that leads
    nowhere has none."""
    defect: Defect | None = None
    """Given exactly when the verdict is `Falsified`."""


class FactSource(Protocol):
    """Material that evidence can be traced to. Never another model's agreement (specification 4.2)."""

    @property
    def name(self) -> str:
        """Return the name that people read when this source breaks."""
        ...

    def trace(
        self, evidence: Evidence, sources: Mapping[SourceId, Source], *, lang: Lang
    ) -> FactVerdict | None:
        """Return what this source says of `evidence`, or `None` when it can't tell.

        `sources` are the sources that the output lists, by id; reasons are worded in `lang`. `Falsified` when the
        source, the place or the exact excerpt does not exist there, or the source's digest is no longer the recorded
        one. May raise `OSError` for unreadable material: the check then ends as not verified.
        """
        ...


@runtime_checkable
class ReadingSource(FactSource, Protocol):
    """A fact source that reads material, and would read the same again for every piece of evidence."""

    def for_pass(self) -> FactSource:
        """Return this source for one pass over an output: it may read each piece of material once, and is then dropped.

        Material that changes is seen by the next pass, of this check (level 3) or of another one.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOrder:
    """Everything that the check stage needs for one attempt."""

    subtask: SubTask
    contract: TaskContract
    agent: AgentSpec
    thresholds: Thresholds
    result: WorkResult
    leaks: LeakReport
    inputs: Mapping[NodeId, WorkOutput]
    lang: Lang
    seed: str
    """Derives the sample: proposal hash, run seed, sub-task, attempt (semantics 4)."""
    terminal: bool = False
    """Terminal sub-tasks always get at least L2 with every core claim traced."""
    forced_level: Level | None = None
    """L2 after a redo or a mask extension."""
    triggers: tuple[str, ...] = ()
    """Reasons for L2 that the caller knows: `redo`, `mask_extended`."""
    extended_domains: tuple[str, ...] = ()
    """Domains that a repair raised for this attempt (crossing rule, specification 6.2)."""
    params: Mapping[str, object] = field(default_factory=dict)
    """The sub-task's parameters after corrections; empty: those of the plan."""
    verifications: Mapping[NodeId, Verification] = field(default_factory=dict)
    """The verifications of the inputs, where there are any: a carried claim is never more certain than there."""
    taken_as_is: Mapping[NodeId, WorkOutput] = field(default_factory=dict)
    """Outputs upstream, at any distance, that a person took without a passed check: what comes from them is at best
    uncertain, and not falsified again."""


class L1Checker(Protocol):
    """One check of structure or surface; reads the order, no material."""

    @property
    def name(self) -> str:
        """Return the name that people read when this checker breaks."""
        ...

    def check(self, order: CheckOrder) -> tuple[Finding, ...]:
        """Return what is to be said of the attempt; nothing when all is well."""
        ...


class Verifier(Protocol):
    """The check stage: L1, and L2 and L3 where they are triggered."""

    def verify(self, order: CheckOrder) -> Verification:
        """Return the verification of an attempt; a checker that breaks gives `not_verified`, never an exception."""
        ...
