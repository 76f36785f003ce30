"""Find the mistakes of a decomposition before anything runs on it (specification 2.2).

Errors are refused; warnings are shown to the person who reviews the plan.
"""

from collections.abc import Iterable
from itertools import chain

from graphs.contract import TaskContract
from graphs.linting.coverage import lint_contract, lint_coverage, lint_ranges
from graphs.linting.findings import LintCode, LintFinding, Severity
from graphs.linting.granularity import lint_chains, lint_nodes, lint_steps
from graphs.linting.messages import render_finding
from graphs.linting.wiring import (
    lint_boundaries,
    lint_edges,
    lint_ids,
    lint_ports,
    lint_references,
    lint_unreachable,
    view_plan,
)
from graphs.plan import Plan, natural_key

__all__ = ["LintCode", "LintFinding", "Severity", "errors", "lint", "render_finding"]


def lint(plan: Plan, contract: TaskContract) -> tuple[LintFinding, ...]:
    """Give every mistake of a plan under its contract, errors first, then by code and node.

    Takes any plan, sound or not, and never raises for what it says. Without errors, `index_plan` accepts the
    plan. O((nodes + edges) log nodes).
    """
    view = view_plan(plan)
    found = chain(
        lint_contract(contract),
        lint_ids(view),
        lint_edges(view),
        lint_boundaries(view),
        lint_unreachable(view),
        lint_ports(view, contract),
        lint_references(view),
        lint_coverage(view, contract),
        lint_ranges(view, contract),
        lint_nodes(view),
        lint_chains(view),
        lint_steps(view),
    )
    return tuple(sorted(found, key=_position))


def errors(findings: Iterable[LintFinding]) -> tuple[LintFinding, ...]:
    """Give the findings for which a plan is refused."""
    return tuple(finding for finding in findings if finding.severity == "error")


_RANKS = {code: rank for rank, code in enumerate(LintCode)}


def _position(finding: LintFinding) -> tuple[bool, int, tuple[object, ...], tuple[tuple[str, str], ...]]:
    return (
        finding.severity == "warning",
        _RANKS[finding.code],
        tuple(natural_key(node) for node in finding.nodes),
        tuple(sorted(finding.detail.items())),
    )
