"""What a change of a proposal means for its run: coverage, paths, schedule, acceptance, work that is done again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agents.assignment import covers
from agents.spec import AgentId, AgentSpec
from graphs.contract import Lang
from graphs.plan import NodeId, PlanIndex, SubTask, index_plan, natural_key
from graphs.schedule import critical_path, makespan
from masks.bands import MASK_MIN, Band, format_mask_value
from masks.domains import DomainId, DomainRegistry
from masks.gradient import extension_target
from orchestrator.core.events import Event, ProposalApproved, ProposalDrafted
from orchestrator.core.ids import RunId
from orchestrator.core.input_key import input_key
from orchestrator.core.proposal import Proposal, proposal_sha256
from orchestrator.core.reducer import apply, initial
from orchestrator.core.state import RunState
from orchestrator.shell.editing.carrying import newly_forbidden
from orchestrator.shell.editing.wording import BANDS
from orchestrator.shell.scheduler import DEFAULT_MAX_IN_FLIGHT

_LISTED: Final = 12
"""Sub-tasks that one line names."""

_BY: Final[Mapping[Lang, str]] = {"en": ", ", "zh": "、"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """How long a plan takes, in the units of its estimates."""

    path: tuple[NodeId, ...]
    """The critical path."""
    length: float
    makespan: float
    """With every agent's cap and the default number of attempts in flight."""
    peaks: Mapping[AgentId, int]
    """How many sub-tasks of each agent could run at once if it had no cap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Need:
    """A required domain of a sub-task as its agent's mask has it."""

    agent: AgentSpec
    m100: int
    band: Band
    extension: str | None
    """Why the envelope forbids to open it; `None` if it allows it."""
    target: int


def consequences(old: Proposal, new: Proposal, registry: DomainRegistry, lang: Lang) -> tuple[str, ...]:
    """Return what the change from `old` to `new` means, one line each; empty if it means nothing for the run.

    In this order: MAIN coverage lost and gained, required domains that are silent, domains opened, prohibitions,
    criteria, concurrency, schedule, and the sub-tasks whose accepted results would be made anew. Both proposals have
    passed `check_proposal`; raises `InvalidPlanError` for a plan that is no DAG.
    """
    if proposal_sha256(old) == proposal_sha256(new):
        return ()
    before, after = _needs(old), _needs(new)
    return (
        *_coverage(before, after, new, lang),
        *_silent(before, after, lang),
        *_opened(old, new, lang),
        *_prohibitions(old, new, registry, lang),
        *_criteria(old, new, lang),
        *_schedule(estimate(old), estimate(new), old, new, lang),
        *_made_anew(old, new, lang),
    )


def estimate(proposal: Proposal) -> Estimate:
    """Return how long the plan of `proposal` takes; raises `InvalidPlanError` for a plan that is no DAG."""
    index = index_plan(proposal.plan)
    longest = critical_path(index)
    caps = {str(agent.id): agent.max_concurrency for agent in proposal.roster.agents}
    schedule = makespan(index, slots=DEFAULT_MAX_IN_FLIGHT, caps=caps, assignment=dict(proposal.assignment))
    return Estimate(
        path=longest.nodes, length=longest.length, makespan=schedule.makespan, peaks=_peaks(proposal, index)
    )


def _peaks(proposal: Proposal, index: PlanIndex) -> Mapping[AgentId, int]:
    """Sub-tasks that run at once when nothing but the dependencies holds them up."""
    moves: dict[AgentId, list[tuple[float, int]]] = defaultdict(list)
    for slot in makespan(index).slots:
        agent = proposal.assignment.get(slot.node)
        if agent is not None:
            # At one moment, ends (-1) come before starts (+1).
            moves[agent] += [(slot.start, 1), (slot.end, -1)]
    peaks: dict[AgentId, int] = {}
    for agent, steps in moves.items():
        running = 0
        for _, step in sorted(steps):
            running += step
            peaks[agent] = max(peaks.get(agent, 0), running)
    return peaks


def _needs(proposal: Proposal) -> Mapping[tuple[NodeId, DomainId], _Need]:
    agents = {agent.id: agent for agent in proposal.roster.agents}
    found: dict[tuple[NodeId, DomainId], _Need] = {}
    for subtask in proposal.plan.subtasks:
        agent = agents.get(proposal.assignment.get(subtask.id, AgentId("")))
        for name in subtask.required_domains if agent is not None else ():
            assert agent is not None, "domains are looked at for assigned sub-tasks"
            domain = DomainId(name)
            thresholds = proposal.thresholds_of(agent.id)
            found[subtask.id, domain] = _Need(
                agent=agent,
                m100=agent.mask.value(domain),
                band=agent.mask.band(domain, thresholds),
                extension=_forbidden_extension(proposal, agent, domain),
                target=extension_target(thresholds),
            )
    return found


def _forbidden_extension(proposal: Proposal, agent: AgentSpec, domain: DomainId) -> str | None:
    """Why a repair may not open a silent domain, as `orchestrator.core.repairs.may_extend` decides."""
    if not proposal.envelope.reassign:
        return "reassign: false"
    if agent.mask.value(domain) == MASK_MIN:
        return format_mask_value(MASK_MIN)
    ceiling = proposal.ceiling(agent.id, domain)
    if extension_target(proposal.thresholds_of(agent.id)) > ceiling:
        return f"ceiling {format_mask_value(ceiling)}"
    return None


def _coverage(
    before: Mapping[tuple[NodeId, DomainId], _Need],
    after: Mapping[tuple[NodeId, DomainId], _Need],
    new: Proposal,
    lang: Lang,
) -> Iterator[str]:
    subtasks = {subtask.id: subtask for subtask in new.plan.subtasks}
    found: list[tuple[NodeId, str]] = []
    for (node, domain), now in after.items():
        was = before.get((node, domain))
        main, was_main = now.band is Band.MAIN, was is not None and was.band is Band.MAIN
        unchanged = was is not None and main == was_main
        if unchanged or (was is None and main):
            continue
        word = "gained" if main else "lost" if was_main else "missing"
        value = f"{now.agent.id} {format_mask_value(now.m100)} {BANDS[now.band][lang]}"
        others = [] if main else _who_covers(subtasks[node], new)
        found.append((node, _coverage_text(word, domain, value, others, lang)))
    yield from _grouped(found, lang)


def _coverage_text(word: str, domain: DomainId, value: str, others: Sequence[str], lang: Lang) -> str:
    who = _BY[lang].join(others)
    if lang == "en":
        return f"main coverage of {domain} {word} ({value})" + (f"; covered by {who}" if who else "")
    said = {"gained": "获得", "lost": "失去", "missing": "缺少"}[word]
    return f"{said} {domain} 的主激活覆盖（{value}）" + (f"；可由 {who} 覆盖" if who else "")


def _grouped(found: Iterable[tuple[NodeId, str]], lang: Lang) -> Iterator[str]:
    """One line for all sub-tasks of which the same is said."""
    nodes: dict[str, list[NodeId]] = {}
    for node, text in found:
        nodes.setdefault(text, []).append(node)
    mark = ": " if lang == "en" else "："
    for text, members in nodes.items():
        yield f"{_listed(members, lang)}{mark}{text}"


def _listed(nodes: Sequence[str], lang: Lang) -> str:
    """The ids of sub-tasks; of a long list the first ones and how many more."""
    shown = _BY[lang].join(nodes[:_LISTED])
    more = len(nodes) - _LISTED
    if more <= 0:
        return shown
    return f"{shown} and {more} more" if lang == "en" else f"{shown} 等共 {len(nodes)} 个"


def _who_covers(subtask: SubTask, proposal: Proposal) -> list[AgentId]:
    return [
        agent.id
        for agent in proposal.roster.agents
        if covers(subtask, agent, proposal.thresholds_of(agent.id))
    ]


def _silent(
    before: Mapping[tuple[NodeId, DomainId], _Need],
    after: Mapping[tuple[NodeId, DomainId], _Need],
    lang: Lang,
) -> Iterator[str]:
    found: list[tuple[NodeId, str]] = []
    for key, now in after.items():
        was = before.get(key)
        known = was is not None and was.band is Band.SILENT and was.extension == now.extension
        if now.band is Band.SILENT and not known:
            found.append((key[0], _silent_text(key[1], now, lang)))
    yield from _grouped(found, lang)


def _silent_text(domain: DomainId, need: _Need, lang: Lang) -> str:
    target = format_mask_value(need.target)
    if lang == "en":
        room = f"allows to raise it to {target}"
        if need.extension is not None:
            room = f"forbids to raise it ({need.extension})"
        return (
            f"{domain} is silent for {need.agent.id} though required, "
            "so the sub-task is expected to stop for lack of it; "
            f"the envelope {room}"
        )
    room = f"允许提升到 {target}" if need.extension is None else f"不允许提升（{need.extension}）"
    return f"所需的 {domain} 对 {need.agent.id} 为静默域，预计该子任务会因缺少它而受阻；修复范围{room}"


def _opened(old: Proposal, new: Proposal, lang: Lang) -> Iterator[str]:
    """Domains whose use changes its meaning: on path 2 with a declaration, or freely."""
    known = {agent.id: agent for agent in old.roster.agents}
    work = _work(new)
    for agent in new.roster.agents:
        nodes = work.get(agent.id, [])
        if agent.role != "generate" or not nodes:
            continue
        was = known.get(agent.id)
        domains = {d for d, _ in agent.mask.values} | ({d for d, _ in was.mask.values} if was else set())
        required = {d for n in nodes for d in _subtask(new, n).required_domains}
        for domain in sorted(domains):
            now = agent.mask.band(domain, new.thresholds_of(agent.id))
            before = was.mask.band(domain, old.thresholds_of(agent.id)) if was else Band.SILENT
            if now is before:
                continue
            where = _listed(nodes, lang)
            if now is Band.BACKGROUND:
                yield (
                    f"{agent.id} may now use {domain} on path 2 only and must declare it as a leak ({where})"
                    if lang == "en"
                    else f"{agent.id} 现在只能在路径 2 中使用 {domain}，并须声明为泄漏（{where}）"
                )
            elif now is Band.MAIN and domain not in required:
                yield (
                    f"{agent.id} now uses {domain} freely: it is no longer reported as a leak ({where})"
                    if lang == "en"
                    else f"{agent.id} 现在可自由使用 {domain}：不再作为泄漏报告（{where}）"
                )


def _prohibitions(old: Proposal, new: Proposal, registry: DomainRegistry, lang: Lang) -> Iterator[str]:
    for leaf in sorted(newly_forbidden(old.contract, new.contract, registry)):
        yield (
            f"{leaf} is forbidden: at -1.00 in every mask, and no repair raises it"
            if lang == "en"
            else f"{leaf} 被禁止：在所有蒙版中为 -1.00，任何修复都不会提升它"
        )
    for leaf in sorted(newly_forbidden(new.contract, old.contract, registry)):
        shut = [agent.id for agent in new.roster.agents if agent.mask.value(leaf) == MASK_MIN]
        if shut:
            who = _BY[lang].join(shut)
            yield (
                f"{leaf} is no longer forbidden, but stays at -1.00 for {who} until you set it"
                if lang == "en"
                else f"{leaf} 不再被禁止，但在您设定之前，对 {who} 仍为 -1.00"
            )


def _criteria(old: Proposal, new: Proposal, lang: Lang) -> Iterator[str]:
    asked = {criterion.id: criterion for criterion in new.contract.acceptance}
    covered = {criterion for subtask in new.plan.subtasks for criterion in subtask.acceptance}
    was_covered = {criterion for subtask in old.plan.subtasks for criterion in subtask.acceptance}
    for criterion in asked.values():
        known = any(one.id == criterion.id for one in old.contract.acceptance)
        if criterion.id not in covered and (criterion.id in was_covered or not known):
            yield (
                f"criterion {criterion.id} is covered by no sub-task"
                if lang == "en"
                else f"验收标准 {criterion.id} 没有子任务负责"
            )
    for criterion in old.contract.acceptance:
        if criterion.id not in asked:
            yield (
                f"criterion {criterion.id} is no longer asked for"
                if lang == "en"
                else f"不再要求验收标准 {criterion.id}"
            )


def _schedule(before: Estimate, after: Estimate, old: Proposal, new: Proposal, lang: Lang) -> Iterator[str]:
    caps = {agent.id: agent.max_concurrency for agent in new.roster.agents}
    old_caps = {agent.id: agent.max_concurrency for agent in old.roster.agents}
    for agent, peak in after.peaks.items():
        if peak > caps[agent] and (before.peaks.get(agent), old_caps.get(agent)) != (peak, caps[agent]):
            yield (
                f"{agent} could work on {peak} sub-tasks at once and takes {caps[agent]}: the rest waits"
                if lang == "en"
                else f"{agent} 有 {peak} 个子任务可同时进行，但一次只做 {caps[agent]} 个：其余等待"
            )
    if (before.path, before.length) != (after.path, after.length):
        way = " -> ".join(after.path)
        yield (
            f"critical path {before.length:g} -> {after.length:g} units ({way})"
            if lang == "en"
            else f"关键路径 {before.length:g} -> {after.length:g} 单位（{way}）"
        )
    if before.makespan != after.makespan:
        yield (
            f"total time {before.makespan:g} -> {after.makespan:g} units"
            if lang == "en"
            else f"总时长 {before.makespan:g} -> {after.makespan:g} 单位"
        )


def _made_anew(old: Proposal, new: Proposal, lang: Lang) -> Iterator[str]:
    """Sub-tasks of both revisions that would be made from something else."""
    before, after = _confirmed(old), _confirmed(new)
    common = {s.id for s in old.plan.subtasks} & {s.id for s in new.plan.subtasks}
    changed = {node for node in common if _key(before, node) != _key(after, node)}
    if not changed:
        return
    assert after.index is not None, "a confirmed run has its plan indexed"
    below = (after.index.descendants(*changed) & common) - changed
    nodes = _listed(_natural(changed), lang)
    follow = _listed(_natural(below), lang)
    if lang == "en":
        rest = f"; with them what is built on them, if they say something else: {follow}" if below else ""
        yield f"results made anew even if accepted before: {nodes}{rest}"
    else:
        rest = f"；若其内容改变，依赖它们的也会重做：{follow}" if below else ""
        yield f"即使此前已接受也会重做：{nodes}{rest}"


def _key(state: RunState, node: NodeId) -> str | None:
    """What `node` would be made from; `None` for a sub-task of a person, which has no agent."""
    return input_key(state, node) if node in state.assigned else None


def _confirmed(proposal: Proposal) -> RunState:
    """The state of a run right after the approval of `proposal`: what its input keys are made from."""
    sha256 = proposal_sha256(proposal)
    drafted = ProposalDrafted(proposal=proposal, sha256=sha256, author="user")
    approved = ProposalApproved(revision=proposal.revision, sha256=sha256, by="consequences")
    state = initial(RunId("consequences"))
    for body in (drafted, approved):
        state = apply(state, Event(seq=state.seq + 1, ts="", body=body))
    return state


def _work(proposal: Proposal) -> Mapping[AgentId, list[NodeId]]:
    work: dict[AgentId, list[NodeId]] = defaultdict(list)
    for subtask in proposal.plan.subtasks:
        if subtask.id in proposal.assignment:
            work[proposal.assignment[subtask.id]].append(subtask.id)
    return work


def _subtask(proposal: Proposal, node: NodeId) -> SubTask:
    return next(subtask for subtask in proposal.plan.subtasks if subtask.id == node)


def _natural(nodes: Iterable[NodeId]) -> list[NodeId]:
    return sorted(nodes, key=natural_key)
