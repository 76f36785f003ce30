"""The single repairs that the ladder chooses from, each inside the approved envelope. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from agents.spec import AgentId, AgentSpec
from graphs.contract import Lang
from graphs.plan import NodeId, PlanIndex
from masks.bands import MASK_MIN, Band
from masks.domains import DomainId
from masks.gradient import extend_leaf, extension_target, set_leaf
from orchestrator.core.backtrack import ChangeAgent, CorrectParameters, ExtendMask, SetMask
from orchestrator.core.blockage import Blockage, FailureKind
from orchestrator.core.candidates import able_agents, changed_sources
from orchestrator.core.claims import Falsified
from orchestrator.core.proposal import Proposal, successor_id
from orchestrator.core.requests import Answer
from orchestrator.core.state import NodeState, RunState

MEMORY_MARK: Final = "|"
"""Stands between class of task and repair in a key of the failure memory."""


def memory_key(state: RunState, name: NodeId, repair_kind: str, domain: str) -> str:
    """Return the failure memory's key: class of task (contract kind, output types, domains) and repair."""
    subtask = approved_index(state).subtask(name)
    outputs = "+".join(port.type for port in subtask.outputs)
    domains = "+".join(sorted(subtask.required_domains))
    return f"{approved_proposal(state).contract.kind}/{outputs}/{domains}{MEMORY_MARK}{repair_kind}:{domain}"


def blamed_parent(state: RunState, node: NodeState, blockage: Blockage) -> NodeId | None:
    """Return the accepted sub-task upstream to go back to: the blamed one, else the parent that completed last.

    Never one whose output a person took as it is: that decision stands. `None` when there is none; the sub-task then
    goes back to itself (semantics 5, class B).
    """
    index = approved_index(state)
    if blockage.blamed is not None:
        blamed = NodeId(blockage.blamed)
        if blamed in index and blamed in index.ancestors(node.id) and _may_be_redone(state, blamed):
            return blamed
    completed = [p for p in index.predecessors(node.id) if _may_be_redone(state, p)]
    return max(completed, key=lambda p: state.node(p).done_seq, default=None)


def reader_of_changed(state: RunState, node: NodeState) -> NodeId | None:
    """Return the accepted sub-task upstream that read what was changed since, where `node` only passes it on.

    Found by what its check traced: the first in the plan's order that had a claim or evidence that is falsified now.
    `None` when no source was changed, or when `node` read it itself.
    """
    if not changed_sources(node) or node.rejected is None:
        return None
    false = [v for v in node.rejected.verification.verdicts if isinstance(v.verdict, Falsified)]
    claims, evidence = {verdict.claim for verdict in false}, _falsified_evidence(node)
    index = approved_index(state)
    for name in sorted(index.ancestors(node.id), key=index.rank):
        accepted = state.node(name).accepted
        if accepted is not None and _may_be_redone(state, name):
            for verdict in accepted.verification.verdicts:
                if verdict.claim in claims or any(
                    str(each.evidence) in evidence for each in verdict.evidence
                ):
                    return name
    return None


def _may_be_redone(state: RunState, name: NodeId) -> bool:
    node = state.node(name)
    return node.status == "accepted" and node.accepted is not None and not node.accepted.as_is


def correction(
    state: RunState, node: NodeState, target: NodeId, blockage: Blockage
) -> CorrectParameters | None:
    """Return the correction of `target` that answers a class B blockage of `node`.

    `None` where it would change nothing: an embedded agent reads no guards and gives the same output for the same
    order, so that only evidence to leave out makes its next attempt another one.
    """
    params = _corrections(state, node, target)
    if not reads_guards(state, target):
        return CorrectParameters(node=target, params=params) if params else None
    return CorrectParameters(node=target, params=params, guard=guard_text(state, blockage))


def reads_guards(state: RunState, name: NodeId) -> bool:
    """Tell whether the agent that works on `name` can follow words; an embedded one is deterministic code."""
    return state.agent_of(name).model_policy.kind != "embedded"


def _corrections(state: RunState, node: NodeState, target: NodeId) -> dict[str, Any]:
    """Keep the repaired worker from handing over the same falsified evidence again; empty when nothing is new."""
    if node.rejected is None:
        return {}
    falsified = _falsified_evidence(node)
    before = set(state.node(target).params.get("exclude_evidence") or ())
    return {"exclude_evidence": sorted(before | falsified)} if falsified - before else {}


def _falsified_evidence(node: NodeState) -> set[str]:
    verdicts = node.rejected.verification.verdicts if node.rejected is not None else ()
    return {
        str(traced.evidence)
        for verdict in verdicts
        for traced in verdict.evidence
        if isinstance(traced.verdict, Falsified)
    }


def guard_text(state: RunState, blockage: Blockage) -> str:
    """Return what a repaired worker is told, in the goal's language.

    Made of the kind of failure alone: words of a model or a document never get into an instruction (semantics 2).
    """
    lang = approved_proposal(state).goal.lang
    if blockage.failure.kind == "bad_request":
        return _NOT_TAKEN[lang]
    what = _GUARDED.get(blockage.failure.kind, _GUARDED["refused"])[lang]
    if lang == "zh":
        return f"上一次的输出未被接受：{what}。请逐条依据材料重做，不要沿用未被证实的内容。"
    return (
        f"The last output was not accepted: {what}. Redo it from the material, statement by statement, "
        "and drop what the material does not support."
    )


_NOT_TAKEN: Final[Mapping[Lang, str]] = {
    "en": "The last request was not accepted, so nothing came of it. Begin anew, and be brief: few calls, short texts.",
    "zh": "上一次的请求未被接受，因此没有任何输出。请重新开始，并力求简短：少调用，少文字。",
}
"""Where there was no output that could be at fault; that a request is shorter is what can make it pass."""

_GUARDED: Final[Mapping[FailureKind, Mapping[Lang, str]]] = {
    "invalid_output": {"en": "it did not have the required form", "zh": "输出不符合要求的形式"},
    "structure": {"en": "its structure was not as the sub-task asks", "zh": "输出结构不符合子任务的要求"},
    "falsified": {"en": "a statement in it was falsified", "zh": "其中有陈述被证伪"},
    "not_verified": {"en": "it could not be checked", "zh": "未能核验"},
    "spontaneous_leak": {"en": "it used a silent knowledge domain", "zh": "使用了静默的知识域"},
    "domain_closed": {"en": "a knowledge domain was closed", "zh": "所需的知识域被关闭"},
    "misconfigured": {"en": "its model could not be asked", "zh": "未能使用其模型"},
    "refused": {"en": "it was not completed", "zh": "工作未完成"},
}
"""Failures in the words of a guard; any other is told as not completed."""


def lacks_domain(state: RunState, node: NodeState, domain: DomainId) -> bool:
    """Tell whether `domain` is silent for the agent that works on `node`."""
    proposal = approved_proposal(state)
    agent = state.agent_of(node.id)
    return agent.mask.band(domain, proposal.thresholds_of(agent.id)) is Band.SILENT


def may_extend(state: RunState, node: NodeState, domain: DomainId) -> bool:
    """Tell whether the envelope lets a repair open `domain` for `node`.

    Never a domain at -1, whoever set it, and never above the agent's ceiling (semantics 5).
    """
    proposal = approved_proposal(state)
    agent = state.agent_of(node.id)
    if not proposal.envelope.reassign or agent.mask.value(domain) == MASK_MIN:
        return False
    return extension_target(proposal.thresholds_of(agent.id)) <= proposal.ceiling(agent.id, domain)


def extension(state: RunState, node: NodeState, domain: DomainId) -> ExtendMask:
    """Return the extension of a silent domain to BACKGROUND; `may_extend` has to hold."""
    agent = state.agent_of(node.id)
    thresholds = approved_proposal(state).thresholds_of(agent.id)
    reason = f"class C at {node.id}"
    mask = extend_leaf(agent.mask, domain, author="controller", reason=reason, thresholds=thresholds)
    return ExtendMask(
        node=node.id,
        domain=domain,
        old=agent.mask.value(domain),
        new=mask.value(domain),
        successor=_successor(node, agent, mask=mask),
    )


def person_mask(state: RunState, node: NodeState, answer: Answer) -> SetMask:
    """Return the mask value that a person set in an answer."""
    assert answer.value is not None, "check_answer asks for a value"
    domain = DomainId(answer.domain)
    agent = state.agents[AgentId(answer.agent)]
    mask = set_leaf(agent.mask, domain, answer.value, author="person", reason=f"answer for {node.id}")
    return SetMask(
        node=node.id,
        domain=domain,
        old=agent.mask.value(domain),
        new=answer.value,
        successor=_successor(node, agent, mask=mask),
    )


def other_agent(state: RunState, node: NodeState, domain: str | None) -> ChangeAgent | None:
    """Return the change to the best other approved agent that can take `node`, with `domain` open if one is named."""
    for candidate in able_agents(state, node):
        if _has_open(state, candidate, domain):
            return ChangeAgent(node=node.id, old=state.assigned[node.id], new=candidate.id)
    return None


def _successor(node: NodeState, agent: AgentSpec, **changes: Any) -> AgentSpec:
    return replace(agent, id=successor_id(agent.id, node.id, node.generation), **changes)


def _has_open(state: RunState, agent: AgentSpec, domain: str | None) -> bool:
    if domain is None:
        return True
    thresholds = approved_proposal(state).thresholds_of(agent.id)
    return agent.mask.band(DomainId(domain), thresholds) is not Band.SILENT


def approved_index(state: RunState) -> PlanIndex:
    """Return the index of the approved plan."""
    assert state.index is not None, "repairs exist for approved plans only"
    return state.index


def approved_proposal(state: RunState) -> Proposal:
    """Return the approved proposal."""
    assert state.proposal is not None, "repairs exist for approved plans only"
    return state.proposal
