"""Failures of attempts and their classes A to D (specification 5.1, semantics 5).

A `Failure` says what happened; `classify` says of what kind it is. Classification is by rules over the failure, the
diagnosis and the node's history; no model is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal, assert_never

from graphs.contract import Lang
from orchestrator.core.claims import Diagnosis, RootCause

MAX_ASKED_WAIT_S: Final = 900.0
"""Longest wait that a provider may ask of a run without a person, in seconds. Limits per minute pass in one; what takes
longer than a quarter of an hour is a used-up quota, for which another agent or a person decides. Our choice."""

FailureKind = Literal[
    "timeout",
    "rate_limited",
    "unavailable",
    "not_verified",
    "bad_request",
    "invalid_output",
    "structure",
    "refused",
    "misconfigured",
    "domain_closed",
    "spontaneous_leak",
    "tool_missing",
    "falsified",
    "limit",
    "internal",
]
"""`timeout`, `rate_limited`, `unavailable`: the outside world, independent of the input; `not_verified`: a checker
broke; `bad_request`, `invalid_output`, `structure`: input or instruction does not fit; `refused`, `domain_closed`,
`spontaneous_leak`, `tool_missing`: the agent as it is can't; `misconfigured`: nor can its model be asked as it is set
up; `falsified`: verification found a falsified claim; `limit`: a budget or loop guard ended it; `internal`: a bug of
ours."""


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


ClassReasonCode = Literal[
    "outside",
    "checker_broke",
    "input_unfit",
    "agent_lacks",
    "root_cause",
    "no_diagnosis",
    "limit",
    "program_error",
    "retried",
    "long_wait",
    "corrected_before",
    "domain_not_required",
    "follows",
    "split_sound",
    "split_doubtful",
]
"""Why a failure is of its class; `CLASS_REASONS` says each in words."""

CLASS_REASONS: Final[Mapping[ClassReasonCode, Mapping[Lang, str]]] = {
    "outside": {"en": "something outside, independent of the input", "zh": "外部原因，与输入无关"},
    "checker_broke": {
        "en": "a checker broke: nothing is known of the output",
        "zh": "核验程序出错，输出情况不明",
    },
    "input_unfit": {"en": "input or instruction does not fit", "zh": "输入或指令不合适"},
    "agent_lacks": {"en": "the agent lacks what is needed", "zh": "执行者缺少所需条件"},
    "root_cause": {"en": "falsified, root cause {0}", "zh": "被证伪，根因：{0}"},
    "no_diagnosis": {"en": "falsified without a diagnosis", "zh": "被证伪，且没有诊断"},
    "limit": {"en": "a limit ended the attempt", "zh": "尝试因达到上限而终止"},
    "program_error": {"en": "an error of the program", "zh": "程序错误"},
    "retried": {
        "en": "retried {0} times without success: re-classified",
        "zh": "重试 {0} 次仍未成功，已重新归类",
    },
    "long_wait": {
        "en": "the provider asks to wait {0} s, longer than a run waits by itself: re-classified",
        "zh": "服务方要求等待 {0} 秒，超过运行自行等待的上限，已重新归类",
    },
    "corrected_before": {"en": "parameters were corrected once already", "zh": "参数已修正过一次"},
    "domain_not_required": {
        "en": "domain {0} is required neither by the sub-task nor by the contract",
        "zh": "子任务和契约都不要求知识域 {0}",
    },
    "follows": {"en": "follows a blockage of {*} on one path", "zh": "同一路径上 {*} 此前已受阻"},
    "split_sound": {"en": "no lint speaks against the split", "zh": "检查规则未发现划分有误"},
    "split_doubtful": {
        "en": "lints speak against the split: {*}",
        "zh": "检查规则认为划分可能有误：{*}",
    },
}
"""The reasons in words: `{0}` is the first value, `{*}` stands for all of them."""

_CAUSES: Final[Mapping[str, Mapping[Lang, str]]] = {
    RootCause.INPUT: {"en": "input", "zh": "输入"},
    RootCause.MASK: {"en": "mask", "zh": "蒙版"},
    RootCause.CAPABILITY: {"en": "capability", "zh": "能力"},
    RootCause.PROCESS: {"en": "process", "zh": "过程"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassReason:
    """One reason for a class, with the values that it names."""

    code: ClassReasonCode
    values: tuple[str, ...] = ()
    """Identifiers: a root cause, a number of retries, a domain, sub-tasks, lints."""

    def __str__(self) -> str:
        """Give code and values for logs, `root_cause(input)`."""
        return f"{self.code}({', '.join(self.values)})" if self.values else self.code

    def text(self, lang: Lang) -> str:
        """Return the reason in words.

        >>> ClassReason(code="retried", values=("3",)).text("en")
        'retried 3 times without success: re-classified'
        """
        shown = [_CAUSES[value][lang] if value in _CAUSES else value for value in self.values]
        joined = ("、" if lang == "zh" else ", ").join(shown)
        return CLASS_REASONS[self.code][lang].replace("{*}", joined).replace("{0}", "".join(shown[:1]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Blockage:
    """A classified failure."""

    cls: BlockageClass
    failure: Failure
    reasons: tuple[ClassReason, ...]
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

    Class A becomes B or C after `max_transient_retries` retries, and C at once where the provider asks to wait for more
    than `MAX_ASKED_WAIT_S`; class B becomes C once its one repair was made
    (semantics 5). Class D is for `decide`: it needs the whole run.
    """
    base, reason = _base_class(failure)
    reasons = [reason]
    if base is BlockageClass.A and (failure.retry_after_s or 0.0) > MAX_ASKED_WAIT_S:
        base = BlockageClass.C
        reasons.append(ClassReason(code="long_wait", values=(f"{failure.retry_after_s:.0f}",)))
    elif base is BlockageClass.A and history.transient_retries >= max_transient_retries:
        base = BlockageClass.B if failure.kind == "not_verified" or failure.blamed else BlockageClass.C
        reasons.append(ClassReason(code="retried", values=(str(history.transient_retries),)))
    if base is BlockageClass.B and history.repaired_parameters:
        base = BlockageClass.C
        reasons.append(ClassReason(code="corrected_before"))
    diagnosis = failure.diagnosis
    blamed = failure.blamed or (diagnosis.blamed if diagnosis else None)
    domain = failure.domain or (diagnosis.domain if diagnosis else None)
    if base is BlockageClass.C and domain and domain not in history.required_domains:
        reasons.append(ClassReason(code="domain_not_required", values=(domain,)))
    return Blockage(cls=base, failure=failure, reasons=tuple(reasons), blamed=blamed, domain=domain)


def _base_class(failure: Failure) -> tuple[BlockageClass, ClassReason]:
    match failure.kind:
        case "timeout" | "rate_limited" | "unavailable":
            return BlockageClass.A, ClassReason(code="outside")
        case "not_verified":
            return BlockageClass.A, ClassReason(code="checker_broke")
        case "bad_request" | "invalid_output" | "structure":
            return BlockageClass.B, ClassReason(code="input_unfit")
        case "refused" | "misconfigured" | "domain_closed" | "spontaneous_leak" | "tool_missing":
            return BlockageClass.C, ClassReason(code="agent_lacks")
        case "falsified":
            return _class_of_cause(failure.diagnosis)
        case "limit":
            return BlockageClass.D, ClassReason(code="limit")
        case "internal":
            return BlockageClass.D, ClassReason(code="program_error")
        case _:
            assert_never(failure.kind)


def _class_of_cause(diagnosis: Diagnosis | None) -> tuple[BlockageClass, ClassReason]:
    if diagnosis is None:
        return BlockageClass.B, ClassReason(code="no_diagnosis")
    reason = ClassReason(code="root_cause", values=(str(diagnosis.cause),))
    match diagnosis.cause:
        case RootCause.INPUT | RootCause.PROCESS:
            return BlockageClass.B, reason
        case RootCause.MASK | RootCause.CAPABILITY:
            return BlockageClass.C, reason
        case _:
            assert_never(diagnosis.cause)
