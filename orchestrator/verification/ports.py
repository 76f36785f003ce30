"""The ports of verification: fact sources that can be asked, and the check stage itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from agents.evidence import Evidence, Source
from agents.results import WorkOutput, WorkResult
from agents.spec import AgentSpec
from graphs.contract import Lang, TaskContract
from graphs.plan import NodeId, SubTask
from masks.bands import Thresholds
from masks.leaks.report import LeakReport
from orchestrator.core.claims import Level, Verdict, Verification


class FactSource(Protocol):
    """Material that evidence can be traced to. Never another model's agreement (specification 4.2)."""

    name: str

    def trace(self, evidence: Evidence, sources: Mapping[str, Source]) -> Verdict | None:
        """Return the verdict on `evidence`, or `None` when this source can't tell.

        `Falsified` when the source, the place or the exact excerpt does not exist there, or the source's digest is
        no longer the recorded one. May raise `OSError` for unreadable material: the check then ends as not verified.
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


class Verifier(Protocol):
    """The check stage: L1, and L2 and L3 where they are triggered."""

    def verify(self, order: CheckOrder) -> Verification:
        """Return the verification of an attempt; a checker that breaks gives `not_verified`, never an exception."""
        ...
