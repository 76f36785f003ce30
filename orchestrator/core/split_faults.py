"""Do the lints speak against the way in which a plan was split (specification 5.1, class D)? Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from graphs.contract import TaskContract
from graphs.lint import LintCode, LintFinding, lint
from graphs.plan import NodeId, Plan

SPLIT_LINTS: Final = frozenset(
    {
        LintCode.SEVERAL_ACTIONS,
        LintCode.MIXED_OUTPUTS,
        LintCode.NODE_MENTIONED,
        LintCode.HIDDEN_DEPENDENCY,
        LintCode.UNCOVERED_CRITERION,
    }
)
"""Lints that speak for a wrong split when blockages follow each other on one path."""

_PLANS_KEPT: Final = 8
"""Plans whose faults are kept: those of the runs that a process works on at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class _Approved:
    """A plan and its contract as a key: these very objects, which a run keeps as long as it executes.

    Comparing what they say would cost what the cache saves.
    """

    plan: Plan
    contract: TaskContract

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Approved) and self.plan is other.plan and self.contract is other.contract

    def __hash__(self) -> int:
        return hash((id(self.plan), id(self.contract)))


def split_faults(plan: Plan, contract: TaskContract, nodes: Collection[NodeId]) -> tuple[LintFinding, ...]:
    """Return the findings of `SPLIT_LINTS` that name one of `nodes`, in the order of the lints.

    A plan is linted once; after that it costs the findings on `nodes`.
    """
    by_node = _faults_by_node(_Approved(plan, contract))
    found = {place: finding for node in nodes for place, finding in by_node.get(node, ())}
    return tuple(found[place] for place in sorted(found))


@lru_cache(maxsize=_PLANS_KEPT)
def _faults_by_node(approved: _Approved) -> dict[NodeId, list[tuple[int, LintFinding]]]:
    by_node: dict[NodeId, list[tuple[int, LintFinding]]] = {}
    for place, finding in enumerate(lint(approved.plan, approved.contract)):
        if finding.code in SPLIT_LINTS:
            for node in finding.nodes:
                by_node.setdefault(node, []).append((place, finding))
    return by_node
