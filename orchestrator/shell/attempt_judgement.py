"""Why an attempt is not accepted: what its leaks and its check come to."""

from __future__ import annotations

from dataclasses import replace

from agents.results import WorkResult
from graphs.contract import Lang, TaskContract
from orchestrator.core.blockage import Failure
from orchestrator.core.claims import Verification
from orchestrator.core.closed_domains import closed_domain
from orchestrator.shell.failure_texts import (
    check_broke,
    domains_closed,
    falsified,
    used_again,
)
from orchestrator.shell.leak_scan import LeakScan


def judge_attempt(
    result: WorkResult,
    scan: LeakScan,
    verification: Verification,
    required: frozenset[str],
    contract: TaskContract,
    lang: Lang,
) -> Failure | None:
    """Return why an attempt is not accepted, in `lang`, or `None`; leaks first, then the check (semantics 2 and 4)."""
    if scan.necessary:
        return Failure(
            kind="domain_closed", message=domains_closed(scan.necessary, lang), domain=scan.necessary[0]
        )
    if scan.asked_for:
        return Failure(
            kind="domain_closed",
            message=domains_closed(scan.asked_for, lang),
            domain=scan.asked_for[0],
            domain_tainted=True,
        )
    if scan.spontaneous:
        return Failure(
            kind="spontaneous_leak",
            message=used_again(scan.spontaneous, lang),
            domain=scan.spontaneous[0],
        )
    if verification.outcome == "not_verified":
        return Failure(kind="not_verified", message=verification.error or check_broke(lang))
    if verification.outcome == "structural_failure":
        return Failure(kind="structure", message=_findings(verification, "structural"))
    if verification.outcome == "falsified":
        return Failure(
            kind="falsified",
            message=_falsifications(verification) or falsified(lang),
            diagnosis=verification.diagnosis,
        )
    closed = closed_domain(result, required, contract)
    if closed is None or closed.domain is None:
        return closed
    return replace(closed, message=domains_closed((closed.domain,), lang))


def _findings(verification: Verification, severity: str) -> str:
    return "; ".join(finding.message for finding in verification.findings if finding.severity == severity)


def _falsifications(verification: Verification) -> str:
    reasons = [
        verdict.verdict.reason for verdict in verification.verdicts if verdict.verdict.kind == "falsified"
    ]
    return "; ".join(dict.fromkeys(reasons))
