"""The ladder of repairs for a blocked sub-task (specification 5, semantics 5 and 6). Pure.

Every repair stays inside the approved envelope and is charged to its region; where a bound is reached a person is
asked. The rungs, each at most once per node: B corrects parameters, C extends the mask, C changes the agent; after
that D. Nothing here is chosen by a model or a document.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final, Literal, assert_never

from agents.spec import AgentId, AgentSpec
from graphs.contract import MAX_REPAIR_DEPTH, MAX_TRANSIENT_RETRIES
from graphs.lint import lint
from graphs.plan import NodeId, PlanIndex, SubTask
from graphs.scopes import invalidated
from masks.bands import MASK_MIN, Band
from masks.domains import DomainId
from masks.gradient import extend_leaf, extension_target, set_leaf
from orchestrator.core.backtrack import (
    BacktrackLevel,
    BacktrackPlan,
    ChangeAgent,
    CorrectParameters,
    ExtendMask,
    InjectGuard,
    Repair,
    SetMask,
)
from orchestrator.core.blockage import Blockage, BlockageClass, BlockageHistory, classify
from orchestrator.core.claims import Falsified, Level, RootCause
from orchestrator.core.commands import (
    AcceptAsIs,
    AskPerson,
    Backtrack,
    Command,
    ReopenReview,
    RetryAttempt,
    SkipNodes,
)
from orchestrator.core.ids import RegionId, request_id
from orchestrator.core.proposal import Proposal, base_agent, successor_id
from orchestrator.core.requests import Answer, ChoiceId, Request
from orchestrator.core.state import NodeState, RunState

BACKOFF_BASE_S: Final = 0.5
"""Upper bound of the first delay of class A, in seconds; it doubles with each retry (full jitter)."""
BACKOFF_CAP_S: Final = 30.0
"""Upper bound of any delay that the provider did not ask for, in seconds."""

_SPLIT_LINTS: Final = frozenset({"several_things", "hidden_dependency", "uncovered_criterion"})
"""Lint codes that speak for a wrong split when blockages follow each other on one path."""


def max_attempts(nodes: int, answers: int) -> int:
    """Return how many attempts a run of `nodes` sub-tasks can make at most, when persons gave `answers` answers.

    A node's generation rises only when a repair invalidates it; a repair charges every node that it invalidates with
    one more than the most charged of them, up to `MAX_REPAIR_DEPTH`, plus one for each answer; and a generation has at
    most `1 + MAX_TRANSIENT_RETRIES` attempts. So each node has at most
    `(1 + MAX_REPAIR_DEPTH + answers) x (1 + MAX_TRANSIENT_RETRIES)`.
    """
    return nodes * (1 + MAX_REPAIR_DEPTH + answers) * (1 + MAX_TRANSIENT_RETRIES)


def blockage_of(state: RunState, node: NodeState) -> Blockage:
    """Return the classified failure of a blocked node, escalated to D where two nodes of a path block in a row."""
    assert node.failure is not None, "only a failed node is classified"
    subtask = _index(state).subtask(node.id)
    history = BlockageHistory(
        transient_retries=node.retries,
        repaired_parameters="correct_parameters" in node.repairs,
        required_domains=frozenset(subtask.required_domains),
    )
    blockage = classify(node.failure, history, max_transient_retries=MAX_TRANSIENT_RETRIES)
    return _escalated(state, node, blockage)


def repair(state: RunState, node: NodeState, blockage: Blockage) -> Command:
    """Return the one command that answers `blockage`, or that carries out a person's answer to it."""
    if node.answer is not None:
        return _carry_out(state, node, node.answer)
    failure = blockage.failure
    match failure.kind:
        case "limit" | "internal":
            detail = failure.trace or failure.message
            return SkipNodes(nodes=given_up_with(state, node.id), reason=failure.kind, detail=detail)
        case "not_verified" if blockage.cls is not BlockageClass.A:
            return _ask(state, node, "not_verified")
        case "falsified":
            return _redo(state, node, blockage)
        case _:
            return _by_class(state, node, blockage)


def _by_class(state: RunState, node: NodeState, blockage: Blockage) -> Command:
    match blockage.cls:
        case BlockageClass.A:
            return RetryAttempt(
                node=node.id,
                generation=node.generation,
                attempt=node.attempt + 1,
                delay_s=retry_delay(state, node, blockage.failure.retry_after_s),
            )
        case BlockageClass.B:
            return _correct(state, node, blockage)
        case BlockageClass.C:
            return _capability(state, node, blockage)
        case BlockageClass.D:
            return _give_back(state, node, "split_at_fault")
        case _:
            assert_never(blockage.cls)


def retry_delay(state: RunState, node: NodeState, retry_after_s: float | None) -> float:
    """Return the delay before the next attempt, in seconds: exponential backoff with full jitter.

    Drawn from [0, min(cap, base x 2^retries)) by a digest of proposal, run seed, node, generation and attempt, so that
    a replay draws the same; never less than what the provider asked for.
    """
    seed = state.created.run_seed if state.created else ""
    key = f"{state.sha256}|{seed}|{node.id}|{node.generation}|{node.attempt}"
    fraction = int.from_bytes(hashlib.sha256(key.encode()).digest()[:7]) / (1 << 56)
    jitter = fraction * min(BACKOFF_CAP_S, BACKOFF_BASE_S * 2.0**node.retries)
    return max(jitter, retry_after_s or 0.0)


def memory_key(state: RunState, name: NodeId, repair_kind: str, domain: str) -> str:
    """Return the failure memory's key: class of task (contract kind, output types, domains) and repair."""
    subtask = _index(state).subtask(name)
    outputs = "+".join(port.type for port in subtask.outputs)
    domains = "+".join(sorted(subtask.required_domains))
    return f"{_proposal(state).contract.kind}/{outputs}/{domains}|{repair_kind}:{domain}"


def given_up_with(state: RunState, name: NodeId) -> tuple[NodeId, ...]:
    """Return `name` and the descendants that can't go on without it, in topological order.

    A sub-task is lost when a required input port is fed by lost or skipped sub-tasks only; those that have another
    feed go on with what there is, and an optional sub-task takes nobody with it.
    """
    index = _index(state)
    lost = {name}
    for candidate in _in_order(index, index.descendants(name)):
        if _starved(state, index, candidate, lost):
            lost.add(candidate)
    return tuple(n for n in _in_order(index, lost))


def _starved(state: RunState, index: PlanIndex, name: NodeId, lost: set[NodeId]) -> bool:
    feeds: dict[str, list[NodeId]] = {}
    for edge in index.incoming(name):
        feeds.setdefault(edge.input, []).append(edge.source)
    required = {port.name for port in index.subtask(name).inputs if port.required}
    return any(
        port in required
        and all(
            (source in lost or state.node(source).status == "skipped")
            and index.subtask(source).failure_semantics == "required"
            for source in sources
        )
        for port, sources in feeds.items()
    )


def _redo(state: RunState, node: NodeState, blockage: Blockage) -> Command:
    """A falsified output: the repair that fits the root cause, once; a second falsification suspends."""
    diagnosis = blockage.failure.diagnosis
    domain = blockage.domain
    if domain is not None and domain in node.extended and not node.redone:
        # Crossing rule (specification 6.2): the extension was wrong for this task. The mask is not rolled back.
        remember = memory_key(state, node.id, "extend_mask", domain)
        changed = _change_agent(state, node, blockage, remember=remember)
        return changed or _give_back(state, node, "split_at_fault")
    if node.redone:
        return _ask(state, node, "second_falsification")
    if diagnosis is None or diagnosis.cause is RootCause.PROCESS:
        guard = InjectGuard(node=node.id, guard=guard_text(state, blockage))
        return _backtrack(state, node, BacktrackLevel.NODE, guard, redo=True)
    if diagnosis.cause is RootCause.INPUT:
        return _correct(state, node, blockage)
    return _capability(state, node, blockage)


def _correct(state: RunState, node: NodeState, blockage: Blockage) -> Command:
    """Class B: back to the blamed parent (else the latest completed one; a root node: itself)."""
    redo = blockage.failure.kind == "falsified"
    parent = _blamed_parent(state, node, blockage)
    target = parent or node.id
    fix = CorrectParameters(
        node=target, params=_corrections(state, node, target), guard=guard_text(state, blockage)
    )
    level = BacktrackLevel.PARENT if parent else BacktrackLevel.NODE
    return _backtrack(state, node, level, fix, blamed=parent, redo=redo)


def _corrections(state: RunState, node: NodeState, target: NodeId) -> dict[str, Any]:
    """Keep the repaired worker from handing over the same falsified evidence again."""
    if node.rejected is None:
        return {}
    falsified = {
        str(traced.evidence)
        for verdict in node.rejected.verification.verdicts
        for traced in verdict.evidence
        if isinstance(traced.verdict, Falsified)
    }
    before = state.node(target).params.get("exclude_evidence") or ()
    return {"exclude_evidence": sorted({*before, *falsified})} if falsified else {}


def guard_text(state: RunState, blockage: Blockage) -> str:
    """Return what a repaired worker is told, in the goal's language."""
    lang = _proposal(state).goal.lang
    message = blockage.failure.message
    if lang == "zh":
        return f"上一次的输出未被接受：{message}。请逐条依据材料重做，不要沿用未被证实的内容。"
    return (
        f"The last output was not accepted: {message}. Redo it from the material, statement by statement, "
        "and drop what the material does not support."
    )


def _blamed_parent(state: RunState, node: NodeState, blockage: Blockage) -> NodeId | None:
    index = _index(state)
    if blockage.blamed is not None:
        blamed = NodeId(blockage.blamed)
        if blamed in index and blamed in index.ancestors(node.id):
            return blamed
    completed = [p for p in index.predecessors(node.id) if state.node(p).status == "accepted"]
    return max(completed, key=lambda p: state.node(p).done_seq, default=None)


def _capability(state: RunState, node: NodeState, blockage: Blockage) -> Command:
    """Class C: extend the mask once, change the agent once, then D."""
    redo = blockage.failure.kind == "falsified"
    if blockage.domain is not None and blockage.failure.kind != "spontaneous_leak":
        domain = DomainId(blockage.domain)
        if _wants_extension(state, node, domain):
            if (
                blockage.failure.domain_tainted
                or domain not in _index(state).subtask(node.id).required_domains
            ):
                return _ask(state, node, "untrusted_need")
            extension = _extension(state, node, domain)
            if extension is not None:
                return _backtrack(
                    state, node, BacktrackLevel.NODE, extension, redo=redo, start_path=2, forced=Level.L2
                )
    changed = _change_agent(state, node, blockage, redo=redo)
    return changed or _give_back(state, node, "split_at_fault")


def _wants_extension(state: RunState, node: NodeState, domain: DomainId) -> bool:
    mask = state.agent_of(node.id).mask
    band = mask.band(domain, _proposal(state).thresholds_of(state.assigned[node.id]))
    return band is Band.SILENT and mask.value(domain) != MASK_MIN and "extend_mask" not in node.repairs


def _extension(state: RunState, node: NodeState, domain: DomainId) -> ExtendMask | None:
    """The extension of semantics 5, or `None` when the envelope or the failure memory is against it."""
    if memory_key(state, node.id, "extend_mask", domain) in state.remembered:
        return None
    agent = state.agent_of(node.id)
    proposal = _proposal(state)
    thresholds = proposal.thresholds_of(agent.id)
    target = extension_target(thresholds)
    if target > proposal.ceiling(agent.id, domain) or not proposal.envelope.reassign:
        return None
    reason = f"class C at {node.id}"
    mask = extend_leaf(agent.mask, domain, author="controller", reason=reason, thresholds=thresholds)
    successor = replace(agent, id=successor_id(agent.id, node.id, node.generation), mask=mask)
    return ExtendMask(
        node=node.id, domain=domain, old=agent.mask.value(domain), new=target, successor=successor
    )


def _change_agent(
    state: RunState, node: NodeState, blockage: Blockage, *, redo: bool = False, remember: str | None = None
) -> Command | None:
    """The next approved agent that can take the sub-task, once per node; `None` when there is none."""
    if "change_agent" in node.repairs or not _proposal(state).envelope.reassign:
        return None
    current = base_agent(state.assigned[node.id])
    subtask = _index(state).subtask(node.id)
    for candidate in _ranked(state, node.id):
        if candidate.id == current or not _can_take(state, candidate, subtask, blockage.domain):
            continue
        change = ChangeAgent(node=node.id, old=state.assigned[node.id], new=candidate.id)
        forced = Level.L2 if remember or redo else None
        return _backtrack(
            state,
            node,
            BacktrackLevel.NODE,
            change,
            redo=redo or bool(remember),
            forced=forced,
            remember=remember,
        )
    return None


def _ranked(state: RunState, name: NodeId) -> Iterable[AgentSpec]:
    proposal = _proposal(state)
    ranked = [candidate.agent for candidate in proposal.candidates.get(name, ())]
    rest = [agent.id for agent in proposal.roster.agents if agent.id not in ranked]
    return (proposal.roster.get(agent) for agent in (*ranked, *rest))


def _can_take(state: RunState, agent: AgentSpec, subtask: SubTask, domain: str | None) -> bool:
    if agent.role != "generate" or subtask.operation not in agent.operations:
        return False
    if domain is None:
        return True
    thresholds = _proposal(state).thresholds_of(agent.id)
    return agent.mask.band(DomainId(domain), thresholds) is not Band.SILENT


def _escalated(state: RunState, node: NodeState, blockage: Blockage) -> Blockage:
    """B or C on two different nodes of one path in a row: lints decide whether the split is at fault."""
    other = state.last_blocked
    if blockage.cls not in (BlockageClass.B, BlockageClass.C) or other is None or other == node.id:
        return blockage
    index = _index(state)
    if other not in index.ancestors(node.id) and other not in index.descendants(node.id):
        return blockage
    proposal = _proposal(state)
    faults = [
        finding
        for finding in lint(proposal.plan, proposal.contract)
        if finding.code in _SPLIT_LINTS and {node.id, other} & set(finding.nodes)
    ]
    pair = f"{blockage.cls} follows a blockage of {other!r} on one path"
    if not faults:
        return replace(blockage, reasons=(*blockage.reasons, f"{pair}; no lint speaks against the split"))
    found = ", ".join(finding.code for finding in faults)
    return replace(blockage, cls=BlockageClass.D, reasons=(*blockage.reasons, f"{pair}; lint: {found}"))


def _give_back(state: RunState, node: NodeState, reason: str) -> Command:
    """D: an optional sub-task is given up, for any other a person decides."""
    if _index(state).subtask(node.id).failure_semantics == "optional":
        detail = node.failure.message if node.failure else ""
        return SkipNodes(nodes=given_up_with(state, node.id), reason="optional", detail=detail)
    return _ask(state, node, reason)


def _ask(state: RunState, node: NodeState, reason: str) -> AskPerson:
    choices: list[ChoiceId] = ["retry", "set_mask", "reassign"]
    if node.rejected is not None and node.rejected.verification.outcome != "structural_failure":
        choices.append("accept")
    choices += ["abandon", "review"]
    return AskPerson(
        request=Request(
            id=request_id(state.run, state.requests_opened + 1),
            kind="amendment" if reason in ("outside_envelope", "untrusted_need") else "suspension",
            node=node.id,
            reason=reason,
            detail=node.failure.message if node.failure else "",
            attempts=node.history,
            choices=tuple(choices),
        )
    )


def _carry_out(state: RunState, node: NodeState, answer: Answer) -> Command:
    match answer.choice:
        case "retry":
            guidance = answer.guidance or guard_text(state, _blockage(node))
            fix: Repair = InjectGuard(node=node.id, guard=guidance)
        case "set_mask":
            fix = _person_mask(state, node, answer)
        case "reassign":
            agent = AgentId(answer.agent)
            fix = ChangeAgent(node=node.id, old=state.assigned[node.id], new=agent)
        case "accept":
            request = request_id(state.run, state.requests_opened)
            return AcceptAsIs(node=node.id, generation=node.generation, request=request)
        case "abandon":
            return SkipNodes(nodes=given_up_with(state, node.id), reason="abandoned", detail=answer.guidance)
        case "review":
            return ReopenReview(request=request_id(state.run, state.requests_opened))
        case _:
            assert_never(answer.choice)
    return _backtrack(
        state, node, BacktrackLevel.NODE, fix, forced=Level.L2, by="person", start_path=node.start_path
    )


def _person_mask(state: RunState, node: NodeState, answer: Answer) -> SetMask:
    assert answer.value is not None, "check_answer asks for a value"
    domain = DomainId(answer.domain)
    agent = state.agents[AgentId(answer.agent)]
    mask = set_leaf(agent.mask, domain, answer.value, author="person", reason=f"answer for {node.id}")
    successor = replace(agent, id=successor_id(agent.id, node.id, node.generation), mask=mask)
    return SetMask(
        node=node.id, domain=domain, old=agent.mask.value(domain), new=answer.value, successor=successor
    )


def _backtrack(
    state: RunState,
    node: NodeState,
    level: BacktrackLevel,
    fix: Repair,
    *,
    blamed: NodeId | None = None,
    redo: bool = False,
    start_path: Literal[1, 2] = 1,
    forced: Level | None = None,
    remember: str | None = None,
    by: Literal["controller", "person"] = "controller",
) -> Command:
    """The backtrack with its exact scope, or a question to a person when its region has no repair left."""
    index = _index(state)
    scope = invalidated(index, level.value, node.id, blamed=blamed, path=())
    touched = [state.node(name) for name in scope]
    depth = 1 + max(member.depth for member in touched)
    if by == "controller" and depth > MAX_REPAIR_DEPTH + node.granted:
        return _ask(state, node, "depth_limit")
    return Backtrack(
        plan=BacktrackPlan(
            node=node.id,
            level=level,
            invalidated=tuple(_in_order(index, scope)),
            repair=fix,
            region=node.region or RegionId(node.id),
            depth=depth,
            forced_level=Level.L2 if redo else forced,
            start_path=start_path,
            redo=redo,
            remember=remember,
            by=by,
        )
    )


def _in_order(index: PlanIndex, nodes: Iterable[NodeId]) -> list[NodeId]:
    return sorted(nodes, key=index.rank)


def _blockage(node: NodeState) -> Blockage:
    assert node.blockage is not None, "an answered node was classified"
    return node.blockage


def _index(state: RunState) -> PlanIndex:
    assert state.index is not None, "repairs exist for approved plans only"
    return state.index


def _proposal(state: RunState) -> Proposal:
    assert state.proposal is not None, "repairs exist for approved plans only"
    return state.proposal
