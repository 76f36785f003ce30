"""What a sub-task's output is made from, as one digest.

Equal keys mean equal work: after a backtrack, a sub-task whose key is the old one is accepted again without running
(semantics 6: digest over inputs, parameters, agent and mask version).
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import TypeAdapter

from agents.results import WorkOutput
from graphs.plan import NodeId, canonical_subtask
from orchestrator.core.ids import ContentDigest
from orchestrator.core.proposal import digest_of
from orchestrator.core.state import RunState

WORK_OUTPUT = TypeAdapter(WorkOutput)
"""(De)serialises outputs at the borders."""


def input_key(state: RunState, name: NodeId) -> ContentDigest:
    """Return the digest over what `name` would be made from now; costs its predecessors.

    Every predecessor that counts has to be accepted; a skipped optional one counts as absent.
    """
    assert state.index is not None, "keys exist for approved plans only"
    assert state.proposal is not None, "keys exist for approved plans only"
    node = state.node(name)
    agent = state.agent_of(name)
    thresholds = state.proposal.thresholds_of(agent.id)
    inputs = [
        [predecessor, done.accepted.content if done.accepted and done.status == "accepted" else None]
        for predecessor in state.index.predecessors(name)
        for done in (state.node(predecessor),)
    ]
    return ContentDigest(
        digest_of(
            {
                "subtask": json.loads(canonical_subtask(state.index.subtask(name))),
                "params": dict(node.params.items()),
                "guards": list(node.guards),
                "agent": agent.id,
                "mask": agent.mask.digest,
                "thresholds": [thresholds.main, thresholds.background],
                "path": node.start_path,
                "inputs": inputs,
            }
        )
    )


def content_digest(output: WorkOutput) -> ContentDigest:
    """Return the digest of what an output says; when its sources were read does not count."""
    document: dict[str, Any] = WORK_OUTPUT.dump_python(output, mode="json")
    for source in document["sources"]:
        source.pop("retrieved_at")
    return ContentDigest(digest_of(document))
