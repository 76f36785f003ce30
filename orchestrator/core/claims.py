"""Verdicts on claims, levels, confidence and diagnoses: what the verification says and the core reasons about.

The procedures that reach these values are in `orchestrator.verification`; nothing here reads a document.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, assert_never

from agents.evidence import Claim, ClaimId, EvidenceId

UNCERTAIN_WEIGHT = 0.5
"""Weight of an uncertain, contested or soft claim (semantics 4, table of verdicts)."""
SAMPLE_DISCOUNT = 0.2
"""Confidence lost when nothing is traced (semantics 4: `1 - 0.2 x (1 - traced share)`)."""
CORE_WEIGHT = 2.0
"""A core claim counts double in the confidence of an output (semantics 4)."""


class Level(StrEnum):
    """How deep an output was checked (specification 4.4)."""

    L1 = "L1"
    """Structure and surface only."""
    L2 = "L2"
    """A seeded sample of the evidence traced, core claims first."""
    L3 = "L3"
    """All evidence traced, three views on a failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """The source says it."""

    source: str
    """What it was verified against: `path:line`."""
    kind: Literal["verified"] = "verified"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviates:
    """A measured quantity has another value in the source, within the contract's tolerance."""

    source: str
    delta: float
    """Relative deviation, in (0, 1]."""
    found: str
    """The value in the source."""
    kind: Literal["deviates"] = "deviates"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contested:
    """Independent sources disagree; both are shown."""

    sources: tuple[str, ...]
    kind: Literal["contested"] = "contested"


@dataclass(frozen=True, slots=True, kw_only=True)
class Falsified:
    """The source contradicts it, the deviation is too large, or the cited place does not exist."""

    reason: str
    source: str | None = None
    kind: Literal["falsified"] = "falsified"


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncertain:
    """No source can tell."""

    reason: str
    kind: Literal["uncertain"] = "uncertain"


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftClaim:
    """A judgement by experience."""

    kind: Literal["soft_claim"] = "soft_claim"


Verdict = Verified | Deviates | Contested | Falsified | Uncertain | SoftClaim


def verdict_weight(verdict: Verdict) -> float:
    """Return the weight of a verdict in [0, 1] (semantics 4, table of verdicts)."""
    match verdict:
        case Verified():
            return 1.0
        case Deviates(delta=delta):
            return 1.0 - delta
        case Falsified():
            return 0.0
        case Contested() | Uncertain() | SoftClaim():
            return UNCERTAIN_WEIGHT
        case _:
            assert_never(verdict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceVerdict:
    """What tracing one piece of evidence said."""

    evidence: EvidenceId
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimVerdict:
    """What the verification says of one claim."""

    claim: ClaimId
    verdict: Verdict
    """The worst over its required evidence."""
    level: Level
    traced: bool
    """Whether its evidence was traced to a source at this level; an untraced claim is `uncertain`."""
    evidence: tuple[EvidenceVerdict, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Confidence:
    """How far an output can be relied on; shown as `L2 0.86, 12 of 31 traced`, never as a bare number."""

    value: float
    """In [0, 1]."""
    level: Level
    traced: int
    total: int

    def __str__(self) -> str:
        return f"{self.level} {self.value:.2f}, {self.traced} of {self.total} traced"


def confidence(claims: Iterable[Claim], verdicts: Iterable[ClaimVerdict], level: Level) -> Confidence:
    """Return the confidence of an output with `claims`.

    The weighted mean over the *traced* claims (a core claim counts `CORE_WEIGHT`), times the discount
    `1 - SAMPLE_DISCOUNT x (1 - traced share)` (semantics 4). With no traced claim the mean is `UNCERTAIN_WEIGHT`.

    >>> str(confidence([], [], Level.L1))
    'L1 0.40, 0 of 0 traced'
    """
    by_claim = {verdict.claim: verdict for verdict in verdicts}
    total = weight = score = traced = 0.0
    for claim in claims:
        total += 1
        verdict = by_claim.get(claim.id)
        if verdict is None or not verdict.traced:
            continue
        traced += 1
        w = CORE_WEIGHT if claim.core else 1.0
        weight += w
        score += w * verdict_weight(verdict.verdict)
    mean = score / weight if weight else UNCERTAIN_WEIGHT
    share = traced / total if total else 0.0
    return Confidence(
        value=mean * (1 - SAMPLE_DISCOUNT * (1 - share)), level=level, traced=int(traced), total=int(total)
    )


class L1Status(StrEnum):
    """The three results of the light check (specification 6.1)."""

    PASS = "pass"
    """Green light."""
    FAIL = "fail"
    """Structural: to the blockage classifier."""
    UNCERTAIN = "uncertain"
    """To L2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that a check found."""

    code: str
    """Stable, e.g. `field_missing`, `citation_unresolved`, `surface_contradiction`."""
    message: str
    severity: Literal["structural", "uncertain", "note"]
    claim: ClaimId | None = None


class RootCause(StrEnum):
    """Why an output is unqualified (specification 4.6)."""

    INPUT = "input"
    """Wrong or missing input: correct the upstream output."""
    MASK = "mask"
    """A mask value: adjust the gradient."""
    CAPABILITY = "capability"
    """The agent can't: change it or extend the mask."""
    PROCESS = "process"
    """The agent could and did not: inject a process guard."""


View = Literal["supervisor", "upstream", "downstream"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewFinding:
    """What one of the three views says (specification 4.5)."""

    view: View
    cause: RootCause | None
    """`None`: this view sees no fault of its kind."""
    strength: float
    """How well evidenced, in [0, 1]."""
    evidence: tuple[str, ...]
    blamed: str | None = None
    """The upstream sub-task, for cause `input`."""
    domain: str | None = None
    """The knowledge domain, for cause `mask` or `capability`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """The three views and the one root cause that they name."""

    cause: RootCause
    views: tuple[ViewFinding, ...]
    blamed: str | None = None
    domain: str | None = None
    changed: tuple[str, ...] = ()
    """Cited sources that were changed or deleted since they were read: no mask and no other agent brings them back."""


CheckOutcome = Literal["passed", "qualified", "structural_failure", "falsified", "not_verified"]
"""`passed`: green light at L1; `qualified`: L2 or L3 passed, with a discount; `structural_failure`: L1 failed;
`falsified`: unqualified after L3; `not_verified`: a checker broke, which is never a pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The result of the check stage for one attempt."""

    outcome: CheckOutcome
    level: Level
    """The deepest level reached."""
    confidence: Confidence
    findings: tuple[Finding, ...] = ()
    verdicts: tuple[ClaimVerdict, ...] = ()
    triggers: tuple[str, ...] = ()
    """Why it went beyond L1: `leak`, `path_2`, `terminal`, `redo`, `mask_extended`, `contradiction`, `citation`,
    `incomplete` (the worker calls complete what is not)."""
    diagnosis: Diagnosis | None = None
    """Given exactly when `outcome` is `falsified`."""
    error: str | None = None
    """What broke, exactly when `outcome` is `not_verified`."""
    verified_complete: bool = False
    """Whether checks confirm the worker's `candidate_complete` (seed 000, 7.3)."""
