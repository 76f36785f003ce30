"""Who can work on what, how well, and what a plan's assignment leaves uncovered. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from agents.operations import tools_of
from agents.roster import Assignment, Roster
from agents.spec import AgentId, AgentSpec
from graphs.contract import Lang
from graphs.plan import NodeId, Plan, SubTask
from masks.bands import DEFAULT_THRESHOLDS, Band, Thresholds, format_mask_value
from masks.domains import DomainId
from masks.gradient import selection_weight

GapKind = Literal["unassigned", "unknown_agent", "role", "operation", "tool", "domain"]
"""What is missing.

- `unassigned`: nobody works on the sub-task.
- `unknown_agent`: the roster does not hold the agent.
- `role`: a verifying agent generates nothing.
- `operation`: the agent can't perform the operation.
- `tool`: the agent lacks a tool that the operation needs.
- `domain`: a required domain is not in the agent's MAIN band.
"""

BLOCKING: Final[frozenset[GapKind]] = frozenset({"unassigned", "unknown_agent", "role", "operation", "tool"})
"""Gaps with which a sub-task can't run; a `domain` gap lets it run with leaks or a class C blockage."""

MAIN_CREDIT: Final = 1.0
"""What a required domain in the MAIN band counts in the fit; a BACKGROUND domain counts its selection weight,
which is below that of every MAIN value, and a SILENT one nothing (semantics 1, 3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedCandidate:
    """An agent that could take a sub-task."""

    agent: AgentId
    fit: float
    """In [0, 1]; 1 exactly when all required domains are MAIN. 0 when it can't do the work at all."""
    reasons: Mapping[Lang, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageGap:
    """Something that a sub-task needs and its agent does not offer."""

    node: NodeId
    kind: GapKind
    agent: AgentId | None = None
    missing: str = ""
    """The operation, tool or domain; for an unknown agent the known ones."""
    band: Band | None = None
    """Where a missing domain lies in the agent's mask."""

    @property
    def blocking(self) -> bool:
        """Whether the sub-task can't run at all."""
        return self.kind in BLOCKING

    def render(self, lang: Lang) -> str:
        """Return the gap as one sentence with the next step."""
        band = _BANDS[self.band][lang] if self.band is not None else ""
        values = {"node": self.node, "agent": self.agent or "", "missing": self.missing, "band": band}
        return _GAP_TEXTS[self.kind][lang].format(**values)


class UnfitAgent(ValueError):
    """Raised by `reassign` for an agent that can't do the work; the caller shows the gaps."""

    def __init__(self, gaps: tuple[CoverageGap, ...]) -> None:
        self.gaps = gaps
        super().__init__(" ".join(gap.render("en") for gap in gaps))

    def message(self, lang: Lang) -> str:
        """Return the message in `lang`."""
        return " ".join(gap.render(lang) for gap in self.gaps)


class UnknownNode(LookupError):
    """A node id that the plan does not hold."""

    def __init__(self, node: str, known: tuple[str, ...]) -> None:
        self.node = node
        super().__init__(f"no sub-task {node!r} in the plan; known: {', '.join(known) or 'none'}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reassignment:
    """A changed assignment and what changes with it."""

    assignment: Assignment
    lost: tuple[CoverageGap, ...]
    """Gaps that the change makes."""
    closed: tuple[CoverageGap, ...]
    """Gaps that the change closes."""


def rank_candidates(
    subtask: SubTask,
    roster: Roster,
    thresholds: Thresholds = DEFAULT_THRESHOLDS,
    agent_thresholds: Mapping[AgentId, Thresholds] | None = None,
) -> tuple[RankedCandidate, ...]:
    """Return every agent that can do the work, best fit first.

    Fit is the mean credit of the required domains, weighted by relevance: 1 for MAIN, the selection weight for
    BACKGROUND, 0 for SILENT; a sub-task without required domains fits every agent that can perform it. On a tie the
    agent with fewer other MAIN domains comes first (the specialist), then the order of the roster.
    """
    own = agent_thresholds or {}
    ranked: list[tuple[float, int, int, RankedCandidate]] = []
    for position, agent in enumerate(roster.agents):
        if _blocking_gaps(subtask, agent):
            continue
        limits = own.get(agent.id, thresholds)
        fit = domain_fit(subtask, agent, limits)
        spare = sum(agent.mask.band(domain, limits) is Band.MAIN for domain, _ in agent.mask.values) - len(
            subtask.required_domains
        )
        candidate = RankedCandidate(agent=agent.id, fit=fit, reasons=_reasons(subtask, agent, limits))
        ranked.append((-fit, spare, position, candidate))
    return tuple(entry[-1] for entry in sorted(ranked, key=lambda entry: entry[:3]))


def domain_fit(subtask: SubTask, agent: AgentSpec, thresholds: Thresholds = DEFAULT_THRESHOLDS) -> float:
    """Return how well an agent's mask covers the required domains, in [0, 1], rounded to 4 decimals."""
    total = sum(subtask.required_domains.values())
    if not total:
        return 1.0
    gained = sum(
        relevance * _credit(agent.mask.value(DomainId(domain)), thresholds)
        for domain, relevance in subtask.required_domains.items()
    )
    return round(gained / total, 4)


def covers(subtask: SubTask, agent: AgentSpec, thresholds: Thresholds = DEFAULT_THRESHOLDS) -> bool:
    """Tell whether an agent can do the work and has every required domain in its MAIN band."""
    return not _blocking_gaps(subtask, agent) and all(
        agent.mask.band(DomainId(domain), thresholds) is Band.MAIN for domain in subtask.required_domains
    )


def coverage(
    plan: Plan,
    roster: Roster,
    assignment: Assignment,
    thresholds: Thresholds = DEFAULT_THRESHOLDS,
    agent_thresholds: Mapping[AgentId, Thresholds] | None = None,
) -> tuple[CoverageGap, ...]:
    """Return what the assignment leaves uncovered, in the plan's order; empty if everything is covered.

    A sub-task for a person (`human`) needs no agent.
    """
    own = agent_thresholds or {}
    agents = {agent.id: agent for agent in roster.agents}
    gaps: list[CoverageGap] = []
    for subtask in plan.subtasks:
        if subtask.kind == "human":
            continue
        assigned = assignment.get(subtask.id)
        if assigned is None:
            gaps.append(CoverageGap(node=subtask.id, kind="unassigned"))
            continue
        agent = agents.get(assigned)
        if agent is None:
            known = ", ".join(agents) or "none"
            gaps.append(CoverageGap(node=subtask.id, kind="unknown_agent", agent=assigned, missing=known))
            continue
        gaps.extend(_blocking_gaps(subtask, agent))
        gaps.extend(_domain_gaps(subtask, agent, own.get(agent.id, thresholds)))
    return tuple(gaps)


def assign(
    plan: Plan,
    roster: Roster,
    thresholds: Thresholds = DEFAULT_THRESHOLDS,
    agent_thresholds: Mapping[AgentId, Thresholds] | None = None,
) -> Assignment:
    """Give each sub-task an agent of the roster: few agents first, then an even load.

    Greedy cover: the agent that covers most sub-tasks still open is taken, until no agent covers another one. A
    sub-task that several of the taken agents cover goes to the one with the least work per slot. What nobody covers
    goes to the best candidate; what nobody can do stays unassigned, and `coverage` names it.
    """
    own = agent_thresholds or {}
    able = {
        subtask.id: frozenset(
            agent.id for agent in roster.agents if covers(subtask, agent, own.get(agent.id, thresholds))
        )
        for subtask in plan.subtasks
        if subtask.kind != "human"
    }
    taken = _greedy_cover(able, roster)
    slots = {agent.id: agent.max_concurrency for agent in roster.agents}
    load: dict[AgentId, float] = defaultdict(float)
    chosen: dict[NodeId, AgentId] = {}
    order = sorted(
        (s for s in plan.subtasks if s.kind != "human"),
        key=lambda s: (len(able[s.id] & set(taken)), -s.estimate),
    )
    for subtask in order:
        covering = [agent for agent in taken if agent in able[subtask.id]]
        ranked = rank_candidates(subtask, roster, thresholds, own)
        if covering:
            best = min(covering, key=lambda agent: (load[agent] / slots[agent], taken.index(agent)))
        elif ranked:
            best = ranked[0].agent
        else:
            continue
        chosen[subtask.id] = best
        load[best] += subtask.estimate
    return {s.id: chosen[s.id] for s in plan.subtasks if s.id in chosen}


def reassign(
    plan: Plan,
    roster: Roster,
    assignment: Assignment,
    node: NodeId,
    agent: AgentId,
    thresholds: Thresholds = DEFAULT_THRESHOLDS,
    agent_thresholds: Mapping[AgentId, Thresholds] | None = None,
) -> Reassignment:
    """Give `node` to `agent` and say what that loses and closes.

    A domain gap is allowed and reported. Raises `UnknownNode`, `UnknownAgent`, and `UnfitAgent` for an agent that
    can't do the work at all.
    """
    subtask = next((s for s in plan.subtasks if s.id == node), None)
    if subtask is None:
        raise UnknownNode(node, tuple(s.id for s in plan.subtasks))
    blocking = _blocking_gaps(subtask, roster.get(agent))
    if blocking:
        raise UnfitAgent(tuple(blocking))
    changed = {**assignment, node: agent}
    before = coverage(plan, roster, assignment, thresholds, agent_thresholds)
    after = coverage(plan, roster, changed, thresholds, agent_thresholds)
    return Reassignment(
        assignment=changed,
        lost=tuple(gap for gap in after if gap not in before),
        closed=tuple(gap for gap in before if gap not in after),
    )


def _greedy_cover(able: Mapping[NodeId, frozenset[AgentId]], roster: Roster) -> list[AgentId]:
    remaining = {node for node, agents in able.items() if agents}
    taken: list[AgentId] = []
    while remaining:
        gains = {agent.id: sum(agent.id in able[node] for node in remaining) for agent in roster.agents}
        # `max` keeps the first of equals: the order of the roster decides.
        best = max(gains, key=lambda agent: gains[agent])
        taken.append(best)
        remaining = {node for node in remaining if best not in able[node]}
    return taken


def _credit(m100: int, thresholds: Thresholds) -> float:
    weight = selection_weight(m100, thresholds, background_open=True)
    return MAIN_CREDIT if m100 > thresholds.main else weight


def _blocking_gaps(subtask: SubTask, agent: AgentSpec) -> list[CoverageGap]:
    node, name = subtask.id, agent.id
    if agent.role != "generate":
        return [CoverageGap(node=node, kind="role", agent=name)]
    gaps: list[CoverageGap] = []
    if subtask.operation not in agent.operations:
        gaps.append(CoverageGap(node=node, kind="operation", agent=name, missing=subtask.operation))
    gaps.extend(
        CoverageGap(node=node, kind="tool", agent=name, missing=tool)
        for tool in tools_of(subtask.operation)
        if tool not in agent.tools
    )
    return gaps


def _domain_gaps(subtask: SubTask, agent: AgentSpec, thresholds: Thresholds) -> list[CoverageGap]:
    bands = {domain: agent.mask.band(DomainId(domain), thresholds) for domain in subtask.required_domains}
    return [
        CoverageGap(node=subtask.id, kind="domain", agent=agent.id, missing=domain, band=band)
        for domain, band in sorted(bands.items())
        if band is not Band.MAIN
    ]


def _reasons(subtask: SubTask, agent: AgentSpec, thresholds: Thresholds) -> Mapping[Lang, tuple[str, ...]]:
    en = [f"performs {subtask.operation!r}"]
    zh = [f"能执行 {subtask.operation!r}"]
    ranked = sorted(subtask.required_domains, key=lambda domain: (-subtask.required_domains[domain], domain))
    for domain in ranked:
        m100 = agent.mask.value(DomainId(domain))
        band = agent.mask.band(DomainId(domain), thresholds)
        en.append(f"{domain} {format_mask_value(m100)} ({_BANDS[band]['en']})")
        zh.append(f"{domain} {format_mask_value(m100)}（{_BANDS[band]['zh']}）")
    if not ranked:
        en.append("needs no domain")
        zh.append("无需知识域")
    return {"en": tuple(en), "zh": tuple(zh)}


_BANDS: Final[Mapping[Band, Mapping[Lang, str]]] = {
    Band.MAIN: {"en": "main", "zh": "主激活"},
    Band.BACKGROUND: {"en": "background", "zh": "背景"},
    Band.SILENT: {"en": "silent", "zh": "静默"},
}

_GAP_TEXTS: Final[Mapping[GapKind, Mapping[Lang, str]]] = {
    "unassigned": {
        "en": "Sub-task {node!r} has no agent. Assign one that can perform it.",
        "zh": "子任务 {node!r} 没有 agent。请指派一个能执行它的。",
    },
    "unknown_agent": {
        "en": "Sub-task {node!r} is assigned to {agent!r}, which the roster does not hold (it holds: {missing}). "
        "Choose one of these.",
        "zh": "子任务 {node!r} 指派给了名单中没有的 {agent!r}（现有：{missing}）。请从中选择。",
    },
    "role": {
        "en": "Agent {agent!r} verifies and generates nothing, so it can't take sub-task {node!r}. "
        "Choose a generating agent.",
        "zh": "agent {agent!r} 只负责核验，不生成内容，不能承担子任务 {node!r}。请选择生成类 agent。",
    },
    "operation": {
        "en": "Agent {agent!r} can't perform {missing!r} of sub-task {node!r}. "
        "Choose another agent or add the operation to it.",
        "zh": "agent {agent!r} 不能执行子任务 {node!r} 的 {missing!r}。请换一个 agent，或为它添加该操作。",
    },
    "tool": {
        "en": "Agent {agent!r} lacks the tool {missing!r}, which sub-task {node!r} needs. "
        "Grant it or choose another agent.",
        "zh": "agent {agent!r} 缺少子任务 {node!r} 所需的工具 {missing!r}。请授予该工具，或换一个 agent。",
    },
    "domain": {
        "en": "Domain {missing!r}, which sub-task {node!r} requires, is {band} for agent {agent!r}. "
        "Raise it above theta_main or choose another agent.",
        "zh": "子任务 {node!r} 所需的知识域 {missing!r} 在 agent {agent!r} 的蒙版中为 {band}。"
        "请将其提升到 theta_main 以上，或换一个 agent。",
    },
}
