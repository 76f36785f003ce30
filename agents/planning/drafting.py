"""Put a plan together node by node: ids, ports, edges and boundaries follow from what is added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from agents.operations import NOTES, OPERATIONS
from agents.planning.domains import DomainFinder
from agents.planning.wording import say
from graphs.contract import Criterion, CriterionKind, Lang, PortSpec
from graphs.plan import Dependency, NodeId, Plan, SubTask, structural_boundary


@dataclass(slots=True)
class PlanDraft:
    """A plan and its acceptance while they are being made."""

    lang: Lang
    finder: DomainFinder
    subtasks: list[SubTask] = field(default_factory=list)
    edges: list[Dependency] = field(default_factory=list)
    criteria: list[Criterion] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    first: int = 1
    """Number of the first sub-task that is added to an empty draft."""

    def add(
        self,
        operation: str,
        title: str,
        instruction: str,
        params: Mapping[str, JsonValue],
        *,
        after: Sequence[NodeId] = (),
        domains: Mapping[str, float],
        acceptance: Sequence[str] = (),
        estimate: float = 1.0,
    ) -> NodeId:
        """Add a sub-task that takes the outputs of `after`; return its id, `n1`, `n2`, …

        Nodes must be added before those that take their outputs.
        """
        known = OPERATIONS[operation]
        node = NodeId(f"n{self.first + len(self.subtasks)}")
        fed = [(source, port) for source in after for port in self.subtask(source).outputs]
        inputs = {port.type: PortSpec(name=port.type, type=port.type) for _, port in fed}
        reads = (NOTES,) if known.tools else ()
        self.edges.extend(
            Dependency(source=source, target=node, output=port.name, input=port.type) for source, port in fed
        )
        self.subtasks.append(
            SubTask(
                id=node,
                title=title,
                kind=known.kind,
                operation=operation,
                instruction=say(instruction, self.lang) if instruction in _PLAIN else instruction,
                params=params,
                inputs=(*reads, *inputs.values()),
                outputs=known.outputs,
                acceptance=tuple(acceptance),
                required_domains=domains,
                side_effects=known.side_effects,
                estimate=estimate,
            )
        )
        return node

    def accept(
        self,
        prefix: str,
        text: str,
        kind: CriterionKind,
        *,
        core: bool = True,
        question: str | None = None,
        field_name: str | None = None,
    ) -> str:
        """Add a criterion; return its id: the prefix with a running number, or alone where it stands once."""
        number = sum(criterion.id.rstrip("0123456789") == prefix for criterion in self.criteria) + 1
        identifier = prefix if prefix in _ONCE else f"{prefix}{number}"
        self.criteria.append(
            Criterion(id=identifier, text=text, kind=kind, core=core, question=question, field=field_name)
        )
        return identifier

    def domains_of(self, nodes: Sequence[NodeId]) -> list[Mapping[str, float]]:
        """Return what each of `nodes` requires."""
        return [self.subtask(node).required_domains for node in nodes]

    def title_of(self, node: NodeId) -> str:
        """Return the title of a sub-task."""
        return self.subtask(node).title

    def claims_behind(self, nodes: Sequence[NodeId]) -> list[NodeId]:
        """Return those of `nodes` that hand out claims; for one that does not, those that feed it and do."""
        found: dict[NodeId, None] = {}
        for node in nodes:
            feeding = [edge.source for edge in self.edges if edge.target == node]
            for one in (node,) if self.gives_claims([node]) else tuple(feeding):
                if self.gives_claims([one]):
                    found[one] = None
        return list(found)

    def gives_claims(self, nodes: Sequence[NodeId]) -> bool:
        """Tell whether one of `nodes` hands out claims."""
        return any(port.type == "claims" for node in nodes for port in self.subtask(node).outputs)

    def plan(self) -> Plan:
        """Return the plan with every boundary declared."""
        sources = {edge.source for edge in self.edges}
        targets = {edge.target for edge in self.edges}
        return Plan(
            subtasks=tuple(
                replace(
                    subtask,
                    boundary=structural_boundary(
                        has_predecessors=subtask.id in targets, has_successors=subtask.id in sources
                    ),
                )
                for subtask in self.subtasks
            ),
            dependencies=tuple(self.edges),
        )

    def subtask(self, node: NodeId) -> SubTask:
        """Return a sub-task by its id."""
        return next(subtask for subtask in self.subtasks if subtask.id == node)


_PLAIN = frozenset(
    {
        "do_research", "do_item", "do_gather", "do_summarise", "do_check", "do_check_inputs", "do_synthesise",
        "do_compare", "do_outline", "do_report",
    }
)  # fmt: skip
"""Instructions without values of their own."""

_ONCE = frozenset({"cited", "report"})
"""Criteria of the delivery as a whole."""
