"""The check stage: level 1 for all, level 2 where something asks for it, level 3 on a falsification.

Specification 4.4 and semantics 4. Nothing here reads material: fact sources do. Whatever breaks ends the check as
`not_verified`, which is never a pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from agents.evidence import ClaimId
from orchestrator.core.claims import (
    CheckOutcome,
    Finding,
    L1Status,
    Level,
    Verification,
    confidence,
)
from orchestrator.verification.anchors import CitationChecker
from orchestrator.verification.broken import CheckBroke, guarded
from orchestrator.verification.carried import CarriedClaimChecker
from orchestrator.verification.completeness import verified_complete
from orchestrator.verification.contradiction import ContradictionChecker
from orchestrator.verification.diagnosis import diagnose
from orchestrator.verification.judging import Case, Judged, case_of, judge, with_verdict
from orchestrator.verification.overturning import overturned
from orchestrator.verification.ports import CheckOrder, FactSource, L1Checker
from orchestrator.verification.sampling import SAMPLE_PERCENT, check_percent, sample_facts
from orchestrator.verification.splitting import distinct_claims
from orchestrator.verification.structure import StructureChecker
from orchestrator.verification.trace import Trace
from orchestrator.verification.wording import said

_TRIGGERS: Mapping[str, str] = {
    "claim_without_evidence": "citation",
    "claim_not_cited": "citation",
    "citation_unresolved": "citation",
    "anchor_unknown": "citation",
    "text_differs_from_claim": "citation",
    "carried_claim_changed": "citation",
    "conflict_declared": "contradiction",
    "surface_contradiction": "contradiction",
    "leak_mark_lost": "leak",
}
"""What a finding is called as a reason for level 2; the code itself where nothing is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierSettings:
    """What of the levels can be set; raises `ValueError` for a sample outside the specification's bounds."""

    sample_percent: int = SAMPLE_PERCENT
    """Share of the facts that level 2 traces, 30 to 50."""

    def __post_init__(self) -> None:
        check_percent(self.sample_percent)


def standard_checkers() -> tuple[L1Checker, ...]:
    """Return the checkers of level 1, in the order in which they run."""
    return (StructureChecker(), CitationChecker(), ContradictionChecker(), CarriedClaimChecker())


def l1_status(findings: Sequence[Finding]) -> L1Status:
    """Return the result of level 1: fail for a structural finding, uncertain for one that asks for level 2."""
    severities = {finding.severity for finding in findings}
    if "structural" in severities:
        return L1Status.FAIL
    return L1Status.UNCERTAIN if "uncertain" in severities else L1Status.PASS


def triggers_of(order: CheckOrder, findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return the reasons for going beyond level 1, each once: the caller's, the attempt's, then those of `findings`."""
    reasons = list(order.triggers)
    if order.forced_level in {Level.L2, Level.L3} and not order.triggers:
        reasons.append("forced")
    if order.terminal:
        reasons.append("terminal")
    if order.result.path == 2:
        reasons.append("path_2")
    if order.leaks.entries or order.leaks.findings or any(c.leaks for c in order.result.output.claims):
        reasons.append("leak")
    if order.result.candidate_complete and not verified_complete(order, ()):
        reasons.append("incomplete")
    reasons.extend(_TRIGGERS.get(each.code, each.code) for each in findings if each.severity == "uncertain")
    return tuple(dict.fromkeys(reasons))


@dataclass(slots=True, kw_only=True)
class _Reached:
    """How far a check has come: what is reported if the next step breaks."""

    level: Level = Level.L1
    findings: tuple[Finding, ...] = ()
    triggers: tuple[str, ...] = ()


class StandardVerifier:
    """Verifies attempts by checkers, fact sources and rules; holds no state between two orders."""

    def __init__(
        self,
        fact_sources: Sequence[FactSource],
        checkers: Sequence[L1Checker] | None = None,
        settings: VerifierSettings | None = None,
    ) -> None:
        """Ask `fact_sources` for facts; without `checkers` the standard ones make level 1."""
        self._fact_sources = tuple(fact_sources)
        self._checkers = standard_checkers() if checkers is None else tuple(checkers)
        self._settings = settings or VerifierSettings()

    def verify(self, order: CheckOrder) -> Verification:
        """Return the verification of an attempt; a checker or source that breaks gives `not_verified`."""
        reached = _Reached()
        try:
            return guarded("check stage", lambda: self._verify(order, reached))
        except CheckBroke as broke:
            return Verification(
                outcome="not_verified",
                level=reached.level,
                confidence=confidence(distinct_claims(order.result.output), (), reached.level),
                findings=reached.findings,
                triggers=reached.triggers,
                error=str(broke),
            )

    def _verify(self, order: CheckOrder, reached: _Reached) -> Verification:
        findings = reached.findings = self._level_1(order)
        if l1_status(findings) is L1Status.FAIL:
            return _result(order, "structural_failure", reached, ())
        reached.triggers = triggers_of(order, findings)
        if not reached.triggers:
            # A worker that calls complete what is not gives a trigger.
            return _result(order, "passed", reached, (), complete=order.result.candidate_complete)
        case = case_of(order)
        judged: tuple[Judged, ...] = ()
        if order.forced_level is not Level.L3:
            reached.level = Level.L2
            judged = self._level_2(case, findings)
            if not any(each.falsified for each in judged):
                return _result(order, "qualified", reached, judged)
        reached.level = Level.L3
        return self._level_3(case, reached, judged)

    def _level_1(self, order: CheckOrder) -> tuple[Finding, ...]:
        return tuple(
            finding
            for checker in self._checkers
            for finding in guarded(checker.name, partial(checker.check, order))
        )

    def _level_2(self, case: Case, findings: Sequence[Finding]) -> tuple[Judged, ...]:
        flagged = {each.claim for each in findings if each.severity == "uncertain" and each.claim}
        facts = sample_facts(
            case.parts,
            case.order.seed,
            percent=self._settings.sample_percent,
            all_core=case.order.terminal,
            always=flagged,
        )
        return judge(case, self._trace(case), frozenset(facts), Level.L2)

    def _level_3(self, case: Case, reached: _Reached, before: Sequence[Judged]) -> Verification:
        trace = self._trace(case)
        traced = judge(case, trace, frozenset(case.facts), Level.L3)
        judged = tuple(_reconsidered(each, case, trace) for each in traced)
        doubted = {each.part.claim.id for each in (*before, *traced) if each.falsified}
        reached.findings = (*reached.findings, *_overturnings(case.order, judged, doubted))
        if not any(each.falsified for each in judged):
            return _result(case.order, "qualified", reached, judged)
        failed = _result(case.order, "falsified", reached, judged)
        return replace(failed, diagnosis=diagnose(case, judged, reached.findings))

    def _trace(self, case: Case) -> Trace:
        order = case.order
        return Trace(case.material, self._fact_sources, delta_max=order.contract.delta_max, lang=order.lang)


def _reconsidered(judged: Judged, case: Case, trace: Trace) -> Judged:
    verdict = overturned(judged, case, trace) if judged.falsified else None
    return judged if verdict is None else with_verdict(judged, verdict)


def _overturnings(order: CheckOrder, judged: Sequence[Judged], doubted: set[ClaimId]) -> list[Finding]:
    return [
        Finding(
            code="falsification_overturned",
            message=said(
                order.lang,
                en="found false first, and borne out by the whole evidence",
                zh="起初被判为不实，经全部依据复核后推翻",
            ),
            severity="note",
            claim=each.part.claim.id,
        )
        for each in judged
        if each.part.claim.id in doubted and not each.falsified
    ]


def _result(
    order: CheckOrder,
    outcome: CheckOutcome,
    reached: _Reached,
    judged: Sequence[Judged],
    *,
    complete: bool = False,
) -> Verification:
    """Return what was reached; `complete` says that completeness was found already, without a verdict."""
    verdicts = tuple(each.verdict for each in judged)
    return Verification(
        outcome=outcome,
        level=reached.level,
        confidence=confidence(distinct_claims(order.result.output), verdicts, reached.level),
        findings=reached.findings,
        verdicts=verdicts,
        triggers=reached.triggers,
        verified_complete=complete
        or (outcome != "structural_failure" and verified_complete(order, verdicts)),
    )
