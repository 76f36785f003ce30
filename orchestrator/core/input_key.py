"""What a sub-task's output is made from, as one digest.

Equal keys mean equal work: after a backtrack, a sub-task whose key is the old one is accepted again without running
(semantics 6: digest over inputs, parameters, agent and mask version).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from agents.results import WorkOutput
from agents.spec import AgentSpec
from graphs.contract import Criterion
from graphs.plan import NodeId, SubTask
from orchestrator.core.ids import ContentDigest
from orchestrator.core.proposal import Proposal, base_agent, digest_of
from orchestrator.core.state import RunState

WORK_OUTPUT = TypeAdapter(WorkOutput)
"""(De)serialises outputs at the borders."""
_CRITERIA: TypeAdapter[list[Criterion]] = TypeAdapter(list[Criterion])


def input_key(state: RunState, name: NodeId) -> ContentDigest:
    """Return the digest over what `name` would be made from now; costs its predecessors.

    Every predecessor that counts has to be accepted; one that was given up counts as absent.
    """
    assert state.index is not None, "keys exist for approved plans only"
    assert state.proposal is not None, "keys exist for approved plans only"
    node = state.node(name)
    subtask = state.index.subtask(name)
    return ContentDigest(
        digest_of(
            {
                "subtask": state.index.canonical_text(name),
                "criteria": _criteria(state.proposal, subtask),
                "params": dict(node.params.items()),
                "guards": list(node.guards),
                "agent": _worker(state.proposal, state.agent_of(name)),
                "path": node.start_path,
                "inputs": sorted(
                    [edge.source, edge.output, edge.input, _content(state, edge.source) or ""]
                    for edge in state.index.incoming(name)
                ),
            }
        )
    )


def _criteria(proposal: Proposal, subtask: SubTask) -> list[Any]:
    """What the sub-task has to satisfy; an amended proposal may ask for something else under the same id."""
    asked = [criterion for criterion in proposal.contract.acceptance if criterion.id in subtask.acceptance]
    document: list[Any] = _CRITERIA.dump_python(asked, mode="json")
    return document


def _worker(proposal: Proposal, agent: AgentSpec) -> dict[str, Any]:
    thresholds = proposal.thresholds_of(agent.id)
    policy = agent.model_policy
    return {
        "id": agent.id,
        "responsibility": agent.responsibility,
        "mask": agent.mask.digest,
        "thresholds": [thresholds.main, thresholds.background],
        # The address only where there is one: it came later than the first keys.
        "model": [policy.kind, policy.model, *([policy.base_url] if policy.base_url else [])],
        "tools": sorted({*agent.tools, *proposal.grants.get(base_agent(agent.id), ())}),
    }


def _content(state: RunState, name: NodeId) -> ContentDigest | None:
    node = state.node(name)
    return node.accepted.content if node.accepted and node.status == "accepted" else None


def content_digest_of(document: Mapping[str, Any]) -> ContentDigest:
    """Return the digest of what an output, as `WORK_OUTPUT` writes it, says.

    When its sources were read does not count.
    """
    sources = [
        {name: value for name, value in source.items() if name != "retrieved_at"}
        for source in document["sources"]
    ]
    return ContentDigest(digest_of({**document, "sources": sources}))
