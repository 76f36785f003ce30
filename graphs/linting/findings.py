"""What a lint reports: one finding per mistake, with the nodes it concerns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Literal

from pydantic import ConfigDict

from graphs.plan import NodeId

Severity = Literal["error", "warning"]
"""`error`: the plan is refused. `warning`: it is shown in the review and may be approved."""


class LintCode(StrEnum):
    """What can be wrong with a plan, errors first; each is explained in `graphs/linting/messages.py`."""

    MISSING_CONTRACT_OUTPUTS = "missing_contract_outputs"
    MISSING_CONTRACT_ACCEPTANCE = "missing_contract_acceptance"
    CRITERION_INCOMPLETE = "criterion_incomplete"
    DUPLICATE_CRITERION = "duplicate_criterion"
    LIMIT_OUT_OF_RANGE = "limit_out_of_range"
    EMPTY_PLAN = "empty_plan"
    INVALID_ID = "invalid_id"
    DUPLICATE_ID = "duplicate_id"
    SELF_EDGE = "self_edge"
    DANGLING_EDGE = "dangling_edge"
    DUPLICATE_EDGE = "duplicate_edge"
    CYCLE = "cycle"
    WRONG_BOUNDARY = "wrong_boundary"
    DUPLICATE_PORT = "duplicate_port"
    UNKNOWN_PORT = "unknown_port"
    PORT_TYPE_MISMATCH = "port_type_mismatch"
    MISSING_INPUT = "missing_input"
    HIDDEN_DEPENDENCY = "hidden_dependency"
    UNCOVERED_CRITERION = "uncovered_criterion"
    UNKNOWN_CRITERION = "unknown_criterion"
    UNDELIVERED_OUTPUT = "undelivered_output"
    RELEVANCE_OUT_OF_RANGE = "relevance_out_of_range"
    FORBIDDEN_DOMAIN = "forbidden_domain"
    ESTIMATE_OUT_OF_RANGE = "estimate_out_of_range"
    UNKNOWN_REFERENCE = "unknown_reference"
    NODE_MENTIONED = "node_mentioned"
    SEVERAL_ACTIONS = "several_actions"
    MIXED_OUTPUTS = "mixed_outputs"
    NO_OUTPUTS = "no_outputs"
    NO_DOMAINS = "no_domains"
    NO_CONTRIBUTION = "no_contribution"
    NEEDLESS_CHAIN = "needless_chain"
    TOO_MANY_STEPS = "too_many_steps"
    UNREACHABLE = "unreachable"


WARNINGS = frozenset(
    {
        LintCode.UNKNOWN_REFERENCE,
        LintCode.NODE_MENTIONED,
        LintCode.SEVERAL_ACTIONS,
        LintCode.MIXED_OUTPUTS,
        LintCode.NO_OUTPUTS,
        LintCode.NO_DOMAINS,
        LintCode.NO_CONTRIBUTION,
        LintCode.NEEDLESS_CHAIN,
        LintCode.TOO_MANY_STEPS,
        LintCode.UNREACHABLE,
    }
)
"""The codes of severity `warning`; every other code is an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFinding:
    """One mistake in a plan or in its contract."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    code: LintCode
    severity: Severity
    nodes: tuple[NodeId, ...] = ()
    """The nodes to look at; for a cycle the path, with the first node again at its end."""
    detail: Mapping[str, str] = field(default_factory=dict)
    """The values that the message names."""


def finding(code: LintCode, *nodes: NodeId, **detail: str) -> LintFinding:
    """Make a finding; the severity follows from the code."""
    return LintFinding(
        code=code, severity="warning" if code in WARNINGS else "error", nodes=nodes, detail=detail
    )
