"""Which sub-tasks the embedded default worked on in place of a model."""

from __future__ import annotations

from graphs.plan import NodeId, natural_key
from orchestrator.core.state import RunState


def stood_in(state: RunState) -> tuple[NodeId, ...]:
    """Return the accepted sub-tasks that an agent with a model would have thought about, and code did, by name.

    Sub-tasks of kind `function` are left out: code does them for every agent.
    """
    if state.proposal is None:
        return ()
    by_code = []
    for subtask in state.proposal.plan.subtasks:
        node = state.nodes.get(subtask.id)
        worker = state.assigned.get(subtask.id)
        agent = state.agents.get(worker) if worker is not None else None
        if (
            node is not None
            and node.accepted is not None
            and node.accepted.mode == "extractive"
            and subtask.kind != "function"
            and agent is not None
            and agent.model_policy.kind == "model"
        ):
            by_code.append(subtask.id)
    return tuple(sorted(by_code, key=natural_key))
