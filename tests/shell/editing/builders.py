"""One small proposal that passes the checks, and how to edit its document."""

from __future__ import annotations

from dataclasses import replace

from agents.operations import SEARCH_TOOLS, VERIFY
from agents.roster import Roster
from agents.spec import AgentId, AgentRole, AgentSpec
from graphs.contract import Criterion, Goal, Intent, Lang, PortSpec, TaskContract
from graphs.plan import Dependency, NodeId, Plan, SubTask
from masks.bands import Thresholds
from masks.design import MaskOrigin, MaskOriginKind
from masks.domains import DomainId, default_registry
from masks.vector import new_mask
from orchestrator.core.proposal import Candidate, Proposal, proposal_sha256
from orchestrator.shell.editing.document import to_document

REGISTRY = default_registry()
ENERGY, CLIMATE, FINANCE = (DomainId(d) for d in ("env.energy", "env.climate", "econ.finance"))
A1, A2, V1 = AgentId("A1"), AgentId("A2"), AgentId("V1")
N1, N2, N3 = NodeId("n1"), NodeId("n2"), NodeId("n3")

CLAIMS = PortSpec(name="claims", type="claims")
NOTES = PortSpec(name="notes", type="documents")
REPORT = PortSpec(name="report", type="report")


def agent(
    name: AgentId, values: dict[DomainId, int], *, role: AgentRole = "generate", cap: int = 2
) -> AgentSpec:
    return AgentSpec(
        id=name,
        responsibility=f"{name} does its part.",
        role=role,
        operations=(VERIFY,) if role == "verify" else ("research", "report"),
        mask=new_mask(name, values),
        tools=SEARCH_TOOLS,
        max_concurrency=cap,
    )


def search(node: NodeId, domain: DomainId, criterion: str, question: str) -> SubTask:
    return SubTask(
        id=node,
        title=f"Find {domain}",
        kind="loop",
        operation="research",
        boundary="entry",
        instruction="Answer from {{notes}}.",
        params={"questions": [question]},
        inputs=(NOTES,),
        outputs=(CLAIMS,),
        acceptance=(criterion,),
        required_domains={domain: 0.8},
        side_effects="read",
    )


PLAN = Plan(
    subtasks=(
        search(N1, ENERGY, "c1", "How much does it yield?"),
        search(N2, FINANCE, "c2", "What does it cost?"),
        SubTask(
            id=N3,
            title="Report",
            kind="function",
            operation="report",
            boundary="exit",
            inputs=(CLAIMS,),
            outputs=(REPORT,),
            acceptance=("c1", "c2"),
            estimate=0.5,
        ),
    ),
    dependencies=(
        Dependency(source=N1, target=N3, output="claims", input="claims"),
        Dependency(source=N2, target=N3, output="claims", input="claims"),
    ),
)

PROPOSAL = Proposal(
    revision=3,
    goal=Goal(text="How much does it yield and cost?", lang="en", sources=("/notes",)),
    intent=Intent(objective="To know yield and cost.", assumptions=("Only the notes count.",)),
    contract=TaskContract(
        kind="research",
        inputs=(NOTES,),
        outputs=(REPORT,),
        acceptance=(
            Criterion(id="c1", text="Yield", kind="question_answered", question="How much does it yield?"),
            Criterion(id="c2", text="Cost", kind="question_answered", question="What does it cost?"),
        ),
    ),
    plan=PLAN,
    roster=Roster(
        agents=(
            agent(A1, {ENERGY: 95, CLIMATE: 50}),
            agent(A2, {FINANCE: 95, ENERGY: 80}),
            agent(V1, {ENERGY: 95, FINANCE: 95}, role="verify"),
        )
    ),
    assignment={N1: A1, N2: A2, N3: A1},
    thresholds=Thresholds(),
    grants={A1: SEARCH_TOOLS, A2: SEARCH_TOOLS, V1: SEARCH_TOOLS},
    mask_origins={
        A1: {
            ENERGY: MaskOrigin(kind=MaskOriginKind.REQUIRED, relevance=0.8),
            CLIMATE: MaskOrigin(kind=MaskOriginKind.NEIGHBOUR),
        }
    },
    candidates={
        N1: (
            Candidate(agent=A1, fit=1.0, reasons=("performs 'research'",)),
            Candidate(agent=A2, fit=1.0, reasons=("performs 'research'",)),
        )
    },
    notes=("not read: scan.pdf",),
)
"""Two searches and a report; A1 works on energy, A2 on finance and could take over, V1 checks."""


def document(proposal: Proposal = PROPOSAL, lang: Lang = "en") -> str:
    return to_document(proposal, REGISTRY, lang, run="r-1", sha256=proposal_sha256(proposal))


def edited(old: str, new: str, *, text: str | None = None, count: int = 1) -> str:
    """The document with `old` replaced; `old` has to stand in it."""
    before = document() if text is None else text
    assert old in before, f"{old!r} is not in the document"
    return before.replace(old, new, count)


def with_mask(proposal: Proposal, name: AgentId, domain: DomainId, m100: int) -> Proposal:
    """The proposal with another designed value, without history."""
    agents = tuple(
        replace(a, mask=new_mask(a.mask.agent, {**dict(a.mask.values), domain: m100})) if a.id == name else a
        for a in proposal.roster.agents
    )
    return replace(proposal, roster=Roster(agents=agents))
