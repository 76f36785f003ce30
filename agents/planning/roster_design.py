"""Design the agents of a plan, or choose them from a catalogue (semantics 1, specification 1.1).

Fewest agents whose MAIN domains and operations cover every sub-task; one more agent verifies and generates nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from agents.assignment import assign
from agents.operations import OPERATIONS, VERIFY, tools_of
from agents.roster import Assignment, Roster
from agents.spec import AgentId, AgentSpec, ModelPolicy
from graphs.contract import Lang, PortSpec, TaskContract, forbidden_domains
from graphs.plan import NodeId, Plan, SubTask, index_plan
from masks.bands import DEFAULT_THRESHOLDS, MASK_MIN, Thresholds
from masks.design import DesignedMask, MaskOrigin, MaskOriginKind, catalogue_mask, design_mask
from masks.domains import DomainId, DomainRegistry
from masks.gradient import suppress

MAIN_LIMIT: Final = 4
"""MAIN domains that a designed agent holds at most, so that an agent stays a specialist. A single sub-task that needs
more gets an agent of its own with all of them; the verifying agent is exempt, since it writes nothing."""

VERIFIER: Final = AgentId("V1")
"""The designed agent that verifies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignedRoster:
    """Agents for a plan, who works on what, and why each mask value is what it is."""

    roster: Roster
    assignment: Assignment
    mask_origins: Mapping[AgentId, Mapping[DomainId, MaskOrigin]]
    grants: Mapping[AgentId, tuple[str, ...]]
    """Tools that each agent may call."""


@dataclass(slots=True)
class _Group:
    """Sub-tasks of one agent while the cover is being made."""

    nodes: list[SubTask]
    domains: set[DomainId]


def design_roster(
    plan: Plan,
    contract: TaskContract,
    registry: DomainRegistry,
    lang: Lang,
    *,
    thresholds: Thresholds = DEFAULT_THRESHOLDS,
    main_limit: int = MAIN_LIMIT,
    policy: ModelPolicy | None = None,
) -> DesignedRoster:
    """Return agents `A1`, `A2`, … made for the plan, and `V1` that verifies.

    Greedy cover: sub-tasks with many domains first, each to the agent whose MAIN domains grow least, to a new one if
    none has room for them; then agents that fit together are merged. Domains that only neighbouring sub-tasks need
    become BACKGROUND, forbidden ones -1. Sub-tasks for people get no agent.

    Raises `DesignError` if a sub-task requires a forbidden domain, `UnknownDomain` for a domain that the registry
    does not know, and `InvalidPlanError` for a plan that is no DAG.
    """
    groups = cover(plan, registry, main_limit)
    forbidden = frozenset(DomainId(domain) for domain in forbidden_domains(contract))
    used = policy or ModelPolicy()
    agents: list[AgentSpec] = []
    assignment: dict[NodeId, AgentId] = {}
    origins: dict[AgentId, Mapping[DomainId, MaskOrigin]] = {}
    for number, nodes in enumerate(groups, 1):
        agent = AgentId(f"A{number}")
        designed = _mask_for(agent, nodes, plan, forbidden, thresholds, registry)
        agents.append(_agent(agent, nodes, designed, registry, lang, thresholds, used))
        origins[agent] = designed.origins
        assignment.update({subtask.id: agent for subtask in nodes})
    if agents:
        verifier, designed = _verifier(plan, forbidden, registry, lang, thresholds, used)
        agents.append(verifier)
        origins[verifier.id] = designed.origins
    return DesignedRoster(
        roster=Roster(agents=tuple(agents)),
        assignment={s.id: assignment[s.id] for s in plan.subtasks if s.id in assignment},
        mask_origins=origins,
        grants={agent.id: agent.tools for agent in agents},
    )


def choose_roster(
    plan: Plan,
    contract: TaskContract,
    catalogue: Sequence[AgentSpec],
    registry: DomainRegistry,
    lang: Lang,
    *,
    thresholds: Thresholds = DEFAULT_THRESHOLDS,
) -> DesignedRoster:
    """Return the agents of `catalogue` that cover the plan with few agents, each with its own mask.

    Domains that the contract forbids are suppressed in every mask, as a recorded change. If the catalogue holds no
    agent that verifies, `V1` is designed. What nobody covers shows in `agents.assignment.coverage`.

    Raises `UnknownDomain` for a mask or a contract with a domain that the registry does not know.
    """
    forbidden = frozenset(DomainId(domain) for domain in forbidden_domains(contract))
    offered = Roster(agents=tuple(_suppressed(agent, forbidden, registry) for agent in catalogue))
    assignment = assign(plan, offered, thresholds)
    working = set(assignment.values())
    agents = [agent for agent in offered.agents if agent.id in working]
    origins = {agent.id: catalogue_mask(agent.mask, registry).origins for agent in agents}
    verifiers = [agent for agent in offered.agents if agent.role == "verify"]
    if verifiers and agents:
        agents.append(verifiers[0])
        origins[verifiers[0].id] = catalogue_mask(verifiers[0].mask, registry).origins
    elif agents:
        taken = {agent.id for agent in agents}
        verifier, designed = _verifier(plan, forbidden, registry, lang, thresholds, ModelPolicy(), taken)
        agents.append(verifier)
        origins[verifier.id] = designed.origins
    return DesignedRoster(
        roster=Roster(agents=tuple(agents)),
        assignment=assignment,
        mask_origins={agent: _with_prohibitions(origins[agent], forbidden, registry) for agent in origins},
        grants={agent.id: agent.tools for agent in agents},
    )


def cover(
    plan: Plan, registry: DomainRegistry, main_limit: int = MAIN_LIMIT
) -> tuple[tuple[SubTask, ...], ...]:
    """Return the sub-tasks grouped by agent, groups and members in topological order.

    No group needs more than `main_limit` leaves, unless one of its sub-tasks needs them alone. Sub-tasks for people
    are left out.
    """
    index = index_plan(plan)
    rank = {node: position for position, node in enumerate(index.order)}
    needs = {s.id: _leaves(s, registry) for s in plan.subtasks if s.kind != "human"}
    groups: list[_Group] = []
    for node in sorted(needs, key=lambda n: (-len(needs[n]), rank[n])):
        subtask = index.subtask(node)
        open_groups = [g for g in groups if _fits(g.domains, needs[node], main_limit)]
        if open_groups:
            chosen = min(
                open_groups, key=lambda g: (len(needs[node] - g.domains), -len(g.domains & needs[node]))
            )
            chosen.nodes.append(subtask)
            chosen.domains |= needs[node]
        else:
            groups.append(_Group(nodes=[subtask], domains=set(needs[node])))
    merged = _merge(groups, main_limit)
    ordered = [tuple(sorted(group.nodes, key=lambda s: rank[s.id])) for group in merged]
    return tuple(sorted(ordered, key=lambda nodes: rank[nodes[0].id]))


def _fits(held: set[DomainId], needed: frozenset[DomainId], main_limit: int) -> bool:
    return needed <= held or len(held | needed) <= main_limit


def _merge(groups: list[_Group], main_limit: int) -> list[_Group]:
    """Merge groups whose domains fit into one agent, the largest overlap first."""
    merged = list(groups)
    while True:
        pairs = [
            (len(a.domains & b.domains), -i, -j)
            for i, a in enumerate(merged)
            for j, b in enumerate(merged)
            if i < j and len(a.domains | b.domains) <= max(main_limit, len(a.domains), len(b.domains))
        ]
        if not pairs:
            return merged
        _, i, j = max(pairs)
        merged[-i].nodes.extend(merged[-j].nodes)
        merged[-i].domains |= merged[-j].domains
        del merged[-j]


def _leaves(subtask: SubTask, registry: DomainRegistry) -> frozenset[DomainId]:
    return frozenset(
        leaf for domain in subtask.required_domains for leaf in registry.leaves_under(DomainId(domain))
    )


def _mask_for(
    agent: AgentId,
    nodes: Sequence[SubTask],
    plan: Plan,
    forbidden: frozenset[DomainId],
    thresholds: Thresholds,
    registry: DomainRegistry,
) -> DesignedMask:
    index = index_plan(plan)
    own = {subtask.id for subtask in nodes}
    near = {other for node in own for other in (*index.predecessors(node), *index.successors(node))} - own
    return design_mask(
        agent,
        _required(nodes),
        {DomainId(domain) for node in near for domain in index.subtask(node).required_domains},
        forbidden,
        thresholds,
        registry,
    )


def _required(nodes: Sequence[SubTask]) -> dict[DomainId, float]:
    required: dict[DomainId, float] = {}
    for subtask in nodes:
        for domain, relevance in subtask.required_domains.items():
            required[DomainId(domain)] = max(relevance, required.get(DomainId(domain), 0.0))
    return required


def _agent(
    agent: AgentId,
    nodes: Sequence[SubTask],
    designed: DesignedMask,
    registry: DomainRegistry,
    lang: Lang,
    thresholds: Thresholds,
    policy: ModelPolicy,
) -> AgentSpec:
    operations = tuple(dict.fromkeys(subtask.operation for subtask in nodes))
    return AgentSpec(
        id=agent,
        responsibility=responsibility(operations, _main_names(designed, registry, lang, thresholds), lang),
        role="generate",
        operations=operations,
        mask=designed.mask,
        inputs=_ports(nodes, "inputs"),
        outputs=_ports(nodes, "outputs"),
        tools=tuple(dict.fromkeys(tool for operation in operations for tool in tools_of(operation))),
        model_policy=policy,
    )


def _verifier(
    plan: Plan,
    forbidden: frozenset[DomainId],
    registry: DomainRegistry,
    lang: Lang,
    thresholds: Thresholds,
    policy: ModelPolicy,
    taken: set[AgentId] | None = None,
) -> tuple[AgentSpec, DesignedMask]:
    name = VERIFIER
    number = 1
    while name in (taken or set()):
        number += 1
        name = AgentId(f"V{number}")
    designed = design_mask(name, _required(plan.subtasks), (), forbidden, thresholds, registry)
    spec = AgentSpec(
        id=name,
        responsibility=_VERIFIES[lang],
        role="verify",
        operations=(VERIFY,),
        mask=designed.mask,
        inputs=_ports(plan.subtasks, "outputs"),
        tools=tuple(dict.fromkeys(tool for s in plan.subtasks for tool in tools_of(s.operation))),
        model_policy=policy,
    )
    return spec, designed


def _ports(nodes: Sequence[SubTask], side: str) -> tuple[PortSpec, ...]:
    ports: dict[tuple[str, str], PortSpec] = {}
    for subtask in nodes:
        for port in subtask.inputs if side == "inputs" else subtask.outputs:
            ports.setdefault((port.name, port.type), PortSpec(name=port.name, type=port.type))
    return tuple(ports.values())


def _main_names(
    designed: DesignedMask, registry: DomainRegistry, lang: Lang, thresholds: Thresholds
) -> tuple[str, ...]:
    values = [(m100, domain) for domain, m100 in designed.mask.values if m100 > thresholds.main]
    return tuple(
        registry.get(domain).names[lang] for _, domain in sorted(values, key=lambda v: (-v[0], v[1]))
    )


def responsibility(operations: Sequence[str], domains: Sequence[str], lang: Lang) -> str:
    """Return what an agent answers for, as one sentence.

    >>> responsibility(("research", "report"), ("Energy", "Law"), "en")
    'Finds answers in the notes, writes the report; fields: Energy, Law.'
    """
    deeds = [_DEEDS[operation][lang] for operation in operations if operation in _DEEDS]
    deeds.extend(operation for operation in operations if operation not in OPERATIONS)
    if lang == "zh":
        fields = f"；领域：{'、'.join(domains)}" if domains else ""
        return "、".join(deeds) + fields + "。"
    fields = f"; fields: {', '.join(domains)}" if domains else ""
    sentence = ", ".join(deeds) + fields + "."
    return sentence[0].upper() + sentence[1:]


def _suppressed(agent: AgentSpec, forbidden: frozenset[DomainId], registry: DomainRegistry) -> AgentSpec:
    mask = agent.mask
    for domain in sorted(forbidden):
        if any(mask.value(leaf) != MASK_MIN for leaf in registry.leaves_under(domain)):
            reason = f"the contract forbids {domain}"
            mask = suppress(mask, domain, registry=registry, author="planner", reason=reason)
    return replace(agent, mask=mask)


def _with_prohibitions(
    origins: Mapping[DomainId, MaskOrigin], forbidden: frozenset[DomainId], registry: DomainRegistry
) -> Mapping[DomainId, MaskOrigin]:
    banned = {leaf for domain in forbidden for leaf in registry.leaves_under(domain)}
    return {
        leaf: MaskOrigin(kind=MaskOriginKind.FORBIDDEN) if leaf in banned else origin
        for leaf, origin in origins.items()
    }


_DEEDS: Final[Mapping[str, Mapping[Lang, str]]] = {
    "research": {"en": "finds answers in the notes", "zh": "在笔记中查找答案"},
    "gather": {"en": "collects material from the notes", "zh": "从笔记中收集素材"},
    "summarise": {"en": "gives the main points of the notes", "zh": "提炼笔记要点"},
    "extract": {"en": "fills tables from the notes", "zh": "从笔记中提取表格"},
    "check": {"en": "holds statements against the notes", "zh": "对照笔记核查说法"},
    "synthesise": {"en": "merges findings", "zh": "合并结果"},
    "compare": {"en": "compares findings", "zh": "比较结果"},
    "outline": {"en": "outlines the plan", "zh": "列出计划提纲"},
    "report": {"en": "writes the report", "zh": "撰写报告"},
}
_VERIFIES: Final[Mapping[Lang, str]] = {
    "en": "What the other agents made is checked against the sources in its name, by rules in this version; makes "
    "nothing itself.",
    "zh": "以其名义对照来源核查其他 agent 的产出（本版本由规则进行）；自己不生成内容。",
}
