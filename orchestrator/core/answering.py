"""What a person's answer leads to (interaction 3). Pure.

A person may choose what the controller may not: the repair is charged all the same, and recorded as the person's.
"""

from __future__ import annotations

from typing import assert_never

from agents.spec import AgentId
from graphs.plan import NodeId
from graphs.scopes import invalidated
from orchestrator.core.backtrack import ChangeAgent, InjectGuard, Repair
from orchestrator.core.claims import Level
from orchestrator.core.commands import AcceptAsIs, Command, ReopenReview, SkipNodes, StartAttempt
from orchestrator.core.giving_up import given_up_with
from orchestrator.core.going_back import backtrack, has_external_effect
from orchestrator.core.repairs import approved_index, guard_text, person_mask, reader_of_changed
from orchestrator.core.requests import Answer
from orchestrator.core.state import NodeState, RunState


def carry_out(state: RunState, node: NodeState, answer: Answer) -> Command:
    """Return the one command that carries `answer` out; the answer was checked when it was taken."""
    assert node.answered is not None, "an answer belongs to a request"
    reader: NodeId | None = None
    match answer.choice:
        case "retry":
            # A changed source is read anew by who read it; from there on everything is made again.
            reader = _reader(state, node)
            fix: Repair = InjectGuard(node=reader or node.id, guard=answer.guidance or _guard(state, node))
        case "set_mask":
            fix = person_mask(state, node, answer)
        case "reassign":
            fix = ChangeAgent(node=node.id, old=state.assigned[node.id], new=AgentId(answer.agent))
        case "accept":
            return AcceptAsIs(node=node.id, generation=node.generation, request=node.answered)
        case "approve" | "refuse" | "happened" | "repeat" | "nothing":
            return _go_on(node)
        case "abandon":
            return SkipNodes(nodes=given_up_with(state, node.id), reason="abandoned", detail=answer.guidance)
        case "review":
            return ReopenReview(node=node.id, request=node.answered)
        case _:
            assert_never(answer.choice)
    start_path = state.node(fix.node).start_path
    return backtrack(state, node, fix, parent=reader, forced=Level.L2, by="person", start_path=start_path)


def _go_on(node: NodeState) -> Command:
    """The attempt that rested is gone on with: its log holds everything up to the call, and now the word on it."""
    assert node.input_key is not None, "an attempt that rests was started"
    return StartAttempt(
        node=node.id,
        generation=node.generation,
        attempt=node.attempt,
        input_key=node.input_key,
        resumed=True,
    )


def _reader(state: RunState, node: NodeState) -> NodeId | None:
    """Who read the source that was changed; nobody where going back there would undo an external effect unasked."""
    reader = reader_of_changed(state, node)
    if reader is None or has_external_effect(state, invalidated(approved_index(state), "node", reader)):
        return None
    return reader


def _guard(state: RunState, node: NodeState) -> str:
    """Nothing to say of a sub-task that was stopped before its attempt: it did not fail."""
    return guard_text(state, node.blockage) if node.blockage is not None else ""
