"""Lints of the contract and of how the plan covers it, and of the numbers that must lie in a range."""

import math
from collections import Counter
from collections.abc import Iterator

from graphs.contract import Limits, TaskContract, forbidden_domains, port_accepts
from graphs.linting.findings import LintCode, LintFinding, finding
from graphs.linting.wiring import PlanView

_LEAST: dict[str, float] = {
    "max_actions": 1,
    "max_tool_calls": 0,
    "max_model_tokens": 0,
    "max_model_time_s": 0,
    "max_steps_per_node": 1,
    "max_attempts_per_node": 1,
}


def lint_contract(contract: TaskContract) -> Iterator[LintFinding]:
    """Find missing parts of a contract, criteria that no program can check, limits out of range."""
    if not contract.outputs:
        yield finding(LintCode.MISSING_CONTRACT_OUTPUTS)
    if not contract.acceptance:
        yield finding(LintCode.MISSING_CONTRACT_ACCEPTANCE)
    for identifier, count in Counter(criterion.id for criterion in contract.acceptance).items():
        if count > 1:
            yield finding(LintCode.DUPLICATE_CRITERION, criterion=identifier)
    for criterion in contract.acceptance:
        needed = {"question_answered": "question", "field_filled": "field"}.get(criterion.kind)
        if needed is not None and not (getattr(criterion, needed) or "").strip():
            yield finding(
                LintCode.CRITERION_INCOMPLETE, criterion=criterion.id, kind=criterion.kind, needed=needed
            )
    yield from _lint_limits(contract.limits)
    if not 0 <= contract.delta_max <= 1:
        yield finding(
            LintCode.LIMIT_OUT_OF_RANGE,
            limit="delta_max",
            value=repr(contract.delta_max),
            accepted="0 <= x <= 1",
        )


def lint_coverage(view: PlanView, contract: TaskContract) -> Iterator[LintFinding]:
    """Find what the contract demands and no node does, and what nodes claim and the contract lacks."""
    if not view.subtasks:
        if contract.acceptance or contract.outputs:
            yield finding(LintCode.EMPTY_PLAN)
        return
    demanded = {criterion.id for criterion in contract.acceptance}
    covered = {criterion for subtask in view.subtasks.values() for criterion in subtask.acceptance}
    for criterion in contract.acceptance:
        if criterion.id not in covered:
            yield finding(LintCode.UNCOVERED_CRITERION, criterion=criterion.id, text=criterion.text)
    for node, subtask in view.subtasks.items():
        for identifier in subtask.acceptance:
            if identifier not in demanded:
                yield finding(
                    LintCode.UNKNOWN_CRITERION,
                    node,
                    criterion=identifier,
                    known=", ".join(sorted(demanded)) or "-",
                )
    offered = {(port.name, port.type) for subtask in view.subtasks.values() for port in subtask.outputs}
    for port in contract.outputs:
        fits = any(name == port.name and port_accepts(port.type, kind) for name, kind in offered)
        if port.required and not fits:
            yield finding(LintCode.UNDELIVERED_OUTPUT, output=port.name, type=port.type)
    yield from _lint_contribution(view, contract)


def lint_ranges(view: PlanView, contract: TaskContract) -> Iterator[LintFinding]:
    """Find relevances outside (0, 1], forbidden domains that a node requires, estimates not above 0."""
    forbidden = forbidden_domains(contract)
    for node, subtask in view.subtasks.items():
        for domain, relevance in subtask.required_domains.items():
            if not 0 < relevance <= 1:
                yield finding(LintCode.RELEVANCE_OUT_OF_RANGE, node, domain=domain, value=repr(relevance))
            if domain in forbidden:
                yield finding(LintCode.FORBIDDEN_DOMAIN, node, domain=domain)
        if not (math.isfinite(subtask.estimate) and subtask.estimate > 0):
            yield finding(LintCode.ESTIMATE_OUT_OF_RANGE, node, value=repr(subtask.estimate))


def _lint_limits(limits: Limits) -> Iterator[LintFinding]:
    for limit, least in _LEAST.items():
        value: float = getattr(limits, limit)
        if not least <= value < math.inf:
            yield finding(
                LintCode.LIMIT_OUT_OF_RANGE, limit=limit, value=repr(value), accepted=f"x >= {least:g}"
            )
    if not 0 < limits.deadline_s < math.inf:
        yield finding(
            LintCode.LIMIT_OUT_OF_RANGE, limit="deadline_s", value=repr(limits.deadline_s), accepted="x > 0"
        )


def _lint_contribution(view: PlanView, contract: TaskContract) -> Iterator[LintFinding]:
    delivered = {port.name for port in contract.outputs}
    sources = {edge.source for edge in view.edges}
    for node, subtask in view.subtasks.items():
        if (
            node not in sources
            and not subtask.acceptance
            and subtask.side_effects not in ("write", "external")
            and not any(port.name in delivered for port in subtask.outputs)
        ):
            yield finding(LintCode.NO_CONTRIBUTION, node)
