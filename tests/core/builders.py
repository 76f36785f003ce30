"""Small proposals, verdicts and failures for tests of the core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agents.operations import SEARCH_TOOLS
from agents.roster import Roster
from agents.spec import AgentId, AgentRole, AgentSpec, ModelPolicy
from graphs.contract import Criterion, Goal, Intent, Lang, PortSpec, TaskContract
from graphs.plan import Dependency, NodeId, Plan, SubTask, structural_boundary
from masks.bands import Thresholds
from masks.domains import DomainId
from masks.vector import new_mask
from orchestrator.core.blockage import Failure, FailureKind
from orchestrator.core.claims import (
    CheckOutcome,
    ClaimVerdict,
    Confidence,
    Diagnosis,
    Level,
    RootCause,
    Verification,
)
from orchestrator.core.proposal import Envelope, Proposal, proposal_sha256

DATABASES = DomainId("cs.databases")
"""MAIN for A1."""
CONTRACTS = DomainId("law.contracts")
"""Silent for A1, MAIN for A2."""
MEDICINE = DomainId("med.general")
"""Silent for everybody."""
FORBIDDEN = DomainId("fin.trading")
"""At -1 for A1, MAIN for A2."""

A1, A2, A3, CHECKER = AgentId("A1"), AgentId("A2"), AgentId("A3"), AgentId("V1")


def n(name: str) -> NodeId:
    return NodeId(name)


def subtask(
    name: str,
    *,
    optional: bool = False,
    operation: str = "research",
    domains: Mapping[str, float] | None = None,
) -> SubTask:
    return SubTask(
        id=n(name),
        title=f"Look into {name}",
        kind="function",
        operation=operation,
        outputs=(PortSpec(name="claims", type="claims"),),
        required_domains={DATABASES: 1.0, CONTRACTS: 0.5} if domains is None else domains,
        failure_semantics="optional" if optional else "required",
    )


def plan(edges: str, *, lone: str = "", optional: str = "", **changes: SubTask) -> Plan:
    """A plan from a sketch: `a>b` feeds a required port of its own, `a~b` one that `b` can do without.

    `changes` replaces sub-tasks by id; their ports and boundary are set here.
    """
    pairs = [(e.replace("~", ">").split(">"), "~" in e) for e in edges.split()]
    names = dict.fromkeys([*(end for pair, _ in pairs for end in pair), *lone.split()])
    dependencies = tuple(
        Dependency(source=n(a), target=n(b), output="claims", input=f"{'extra' if weak else 'from'}_{a}")
        for (a, b), weak in pairs
    )
    ports: dict[str, list[PortSpec]] = {name: [] for name in names}
    for edge in dependencies:
        port = PortSpec(name=edge.input, type="claims", required=edge.input.startswith("from"))
        ports[edge.target].append(port)
    sources = {edge.source for edge in dependencies}
    subtasks = []
    for name in names:
        task = changes.get(name) or subtask(name, optional=name in optional.split())
        inputs = tuple(ports[name])
        boundary = structural_boundary(has_predecessors=bool(inputs), has_successors=name in sources)
        subtasks.append(replace(task, inputs=inputs, boundary=boundary))
    return Plan(subtasks=tuple(subtasks), dependencies=dependencies)


def agent(
    name: str,
    values: Mapping[DomainId, int],
    *,
    role: AgentRole = "generate",
    operations: tuple[str, ...] = ("research", "report"),
) -> AgentSpec:
    return AgentSpec(
        id=AgentId(name),
        responsibility=f"{name} does its part.",
        role=role,
        operations=operations,
        mask=new_mask(name, values),
        model_policy=ModelPolicy(kind="scripted"),
    )


ROSTER = Roster(
    agents=(
        agent("A1", {DATABASES: 90, FORBIDDEN: -100}),
        agent("A2", {DATABASES: 80, CONTRACTS: 90, FORBIDDEN: 90}),
        agent("A3", {DATABASES: 80}, operations=("report",)),
        agent("V1", {DATABASES: 80, CONTRACTS: 90}, role="verify"),
    )
)
"""A1 works, A2 can take over from it; A3 performs another operation and V1 only checks."""

EMBEDDED = Roster(
    agents=tuple(replace(each, model_policy=ModelPolicy(kind="embedded")) for each in ROSTER.agents)
)
"""The same agents as deterministic code, which reads no guards."""

SOLO = Roster(agents=(ROSTER.agents[0],))
"""Nobody to change to."""

CONTRACT = TaskContract(
    kind="research",
    outputs=(PortSpec(name="claims", type="claims"),),
    acceptance=(Criterion(id="c1", text="Answered.", kind="question_answered", question="Why?"),),
)


def proposal(
    work: Plan,
    *,
    roster: Roster = ROSTER,
    envelope: Envelope | None = None,
    revision: int = 1,
    thresholds: Thresholds | None = None,
    contract: TaskContract = CONTRACT,
    lang: Lang = "en",
) -> Proposal:
    """Everything assigned to A1."""
    return Proposal(
        revision=revision,
        goal=Goal(text="Why?", lang=lang),
        intent=Intent(objective="To know why."),
        contract=contract,
        plan=work,
        roster=roster,
        assignment={task.id: A1 for task in work.subtasks},
        thresholds=thresholds or Thresholds(),
        grants={each.id: SEARCH_TOOLS for each in roster.agents if each.id in (A1, A2)},
        envelope=envelope or Envelope(),
    )


def sha(draft: Proposal) -> str:
    return proposal_sha256(draft)


def verification(
    outcome: CheckOutcome = "qualified",
    *,
    diagnosis: Diagnosis | None = None,
    verdicts: tuple[ClaimVerdict, ...] = (),
    complete: bool = False,
) -> Verification:
    return Verification(
        outcome=outcome,
        level=Level.L2,
        confidence=Confidence(value=0.9, level=Level.L2, traced=1, total=2),
        diagnosis=diagnosis,
        verdicts=verdicts,
        error="the tracer broke" if outcome == "not_verified" else None,
        verified_complete=complete,
    )


def diagnosis(cause: RootCause, *, blamed: str | None = None, domain: str | None = None) -> Diagnosis:
    return Diagnosis(cause=cause, views=(), blamed=blamed, domain=domain)


def failure(
    kind: FailureKind,
    *,
    domain: str | None = None,
    blamed: str | None = None,
    cause: RootCause | None = None,
    tainted: bool = False,
    retry_after_s: float | None = None,
) -> Failure:
    """A failure; for `falsified`, `cause`, `blamed` and `domain` are the diagnosis."""
    if kind == "falsified":
        return Failure(
            kind=kind,
            message="falsified",
            diagnosis=None if cause is None else diagnosis(cause, blamed=blamed, domain=domain),
        )
    return Failure(
        kind=kind,
        message=f"it was {kind}",
        domain=domain,
        domain_tainted=tainted,
        blamed=blamed,
        retry_after_s=retry_after_s,
        trace="Traceback: boom" if kind == "internal" else None,
    )
