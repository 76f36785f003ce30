"""Failures of attempts and their classes A to D (specification 5.1, semantics 5).

A `Failure` says what happened; `classify` says of what kind it is. Classification is by rules over the failure, the
diagnosis and the node's history; no model is asked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, assert_never

from orchestrator.core.claims import Diagnosis, RootCause

FailureKind = Literal[
    "timeout",
    "rate_limited",
    "unavailable",
    "not_verified",
    "bad_request",
    "invalid_output",
    "structure",
    "refused",
    "domain_closed",
    "spontaneous_leak",
    "tool_missing",
    "falsified",
    "limit",
    "internal",
]
"""`timeout`, `rate_limited`, `unavailable`: the outside world, independent of the input; `not_verified`: a checker
broke; `bad_request`, `invalid_output`, `structure`: input or instruction does not fit; `refused`, `domain_closed`,
`spontaneous_leak`, `tool_missing`: the agent as it is can't; `falsified`: verification found a falsified claim;
`limit`: a budget or loop guard ended it; `internal`: a bug of ours."""


class BlockageClass(StrEnum):
    """The class of a blockage (specification 5.1)."""

    A = "A"
    """Transient: the same input may pass when run again."""
    B = "B"
    """Parametric: the agent can, the input or instruction does not fit."""
    C = "C"
    """Capability gap: mask, tool grant or model lacks what is needed."""
    D = "D"
    """Decomposition error: the split itself is at fault, or B and C are exhausted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What ended an attempt without an accepted output."""

    kind: FailureKind
    message: str
    retry_after_s: float | None = None
    """What the provider asked to wait, where it did."""
    domain: str | None = None
    """The domain that is closed or leaked."""
    domain_tainted: bool = False
    """Whether the need for the domain stems from untrusted text: then it is no reason for an extension."""
    blamed: str | None = None
    """The upstream sub-task whose output does not fit, where the failure names one."""
    diagnosis: Diagnosis | None = None
    """Given exactly for kind `falsified`."""
    trace: str | None = None
    """For kind `internal`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blockage:
    """A classified failure."""

    cls: BlockageClass
    failure: Failure
    reasons: tuple[str, ...]
    """Why this class, in the order of the rules that spoke."""
    blamed: str | None = None
    """The upstream sub-task to go back to, for class B; `None`: the failing one itself."""
    domain: str | None = None
    """The domain that is lacking, for class C."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockageHistory:
    """What the classifier may know of a node's past."""

    transient_retries: int = 0
    """Class A retries in this generation."""
    repaired_parameters: bool = False
    """Whether a class B repair was made for this node."""
    required_domains: frozenset[str] = field(default_factory=frozenset)
    """Domains of the sub-task. They are the contract's too: its criteria name none of their own, and planning gives
    each sub-task the domains of the criteria that it serves. What the contract forbids is for the masks to hold."""


def classify(failure: Failure, history: BlockageHistory, *, max_transient_retries: int) -> Blockage:
    """Return the blockage that `failure` is, given the node's `history`.

    Class A becomes B or C after `max_transient_retries` retries, class B becomes C once its one repair was made
    (semantics 5). Class D is for `decide`: it needs the whole run.
    """
    base, reason = _base_class(failure)
    reasons = [reason]
    if base is BlockageClass.A and history.transient_retries >= max_transient_retries:
        base = BlockageClass.B if failure.kind == "not_verified" or failure.blamed else BlockageClass.C
        reasons.append(f"retried {history.transient_retries} times without success: re-classified")
    if base is BlockageClass.B and history.repaired_parameters:
        base = BlockageClass.C
        reasons.append("parameters were corrected once already")
    diagnosis = failure.diagnosis
    blamed = failure.blamed or (diagnosis.blamed if diagnosis else None)
    domain = failure.domain or (diagnosis.domain if diagnosis else None)
    if base is BlockageClass.C and domain and domain not in history.required_domains:
        reasons.append(f"domain {domain!r} is required neither by the sub-task nor by the contract")
    return Blockage(cls=base, failure=failure, reasons=tuple(reasons), blamed=blamed, domain=domain)


def _base_class(failure: Failure) -> tuple[BlockageClass, str]:
    match failure.kind:
        case "timeout" | "rate_limited" | "unavailable":
            return BlockageClass.A, f"{failure.kind}: independent of the input"
        case "not_verified":
            return BlockageClass.A, "a checker broke: nothing is known of the output"
        case "bad_request" | "invalid_output" | "structure":
            return BlockageClass.B, f"{failure.kind}: input or instruction does not fit"
        case "refused" | "domain_closed" | "spontaneous_leak" | "tool_missing":
            return BlockageClass.C, f"{failure.kind}: the agent lacks what is needed"
        case "falsified":
            return _class_of_cause(failure.diagnosis)
        case "limit":
            return BlockageClass.D, "a limit ended the attempt"
        case "internal":
            return BlockageClass.D, "an error of the program"
        case _:
            assert_never(failure.kind)


def _class_of_cause(diagnosis: Diagnosis | None) -> tuple[BlockageClass, str]:
    if diagnosis is None:
        return BlockageClass.B, "falsified without a diagnosis"
    match diagnosis.cause:
        case RootCause.INPUT | RootCause.PROCESS:
            return BlockageClass.B, f"falsified, root cause {diagnosis.cause}"
        case RootCause.MASK | RootCause.CAPABILITY:
            return BlockageClass.C, f"falsified, root cause {diagnosis.cause}"
        case _:
            assert_never(diagnosis.cause)
