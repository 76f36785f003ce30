"""What the calls of a run that change something came to: made, without effect, unknown, refused, held. Pure.

What was only pretended (profile `evaluate`) is none of them: nothing was to be changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import JsonValue

from agents.tools.contract import HeldCall, SideEffectClass
from graphs.plan import NodeId, natural_key
from orchestrator.core.approvals import CommittedCall
from orchestrator.core.proposal import canonical_json
from orchestrator.core.state import RunState

EffectOutcome = Literal["made", "nothing", "unknown", "refused", "held"]
"""- `made`: it was performed, and said so, or a person did.
- `nothing`: it was begun and failed; certainly nothing happened.
- `unknown`: it was begun, and nobody knows what came of it.
- `refused`: a person said no.
- `held`: it waits for a person's word.
"""

CHANGED: Final[tuple[EffectOutcome, ...]] = ("made", "unknown")
"""Outcomes after which the world is, or may be, another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectCall:
    """One call that was to change something."""

    node: NodeId
    tool: str
    side_effect: SideEffectClass
    arguments: Mapping[str, JsonValue]
    """Exactly as they were shown and used."""
    outcome: EffectOutcome
    approved: bool = False
    """Whether a person approved it; a draft may need nobody's word."""


def effects_of(state: RunState) -> tuple[EffectCall, ...]:
    """Return the calls of a run with an effect, by sub-task; within one the begun ones in order, then the others.

    Those of sub-tasks that an amendment took out of the plan are among them, under the name that these had.

    A call that was refused first and made later counts as what it came to in the end.
    """
    found: list[EffectCall] = []
    everything = {**dict(state.dropped.items()), **dict(state.nodes.items())}
    for name in sorted(everything, key=natural_key):
        begun = sorted(everything[name].committed.values(), key=lambda call: call.place)
        found += [_begun(name, call) for call in begun]
        known = {call.arguments_digest for call in begun}
        held = {
            request.call.arguments_digest: request.call
            for request in (state.requests[key] for key in sorted(state.requests.keys(), key=natural_key))
            if request.node == name and request.call is not None
        }
        waiting = {digest: call for digest, call in held.items() if digest not in known}
        refused = {
            each.call.arguments_digest: each.call
            for each in state.refused
            if each.node == name and each.call.arguments_digest not in known | waiting.keys()
        }
        found += [_not_begun(name, call, "refused") for call in refused.values()]
        found += [_not_begun(name, call, "held") for call in waiting.values()]
    return tuple(found)


def outcomes_by_call(calls: Iterable[EffectCall]) -> dict[tuple[NodeId, str, str], tuple[EffectOutcome, ...]]:
    """Return the outcomes by sub-task, tool and exact arguments (as canonical JSON), in order."""
    found: dict[tuple[NodeId, str, str], tuple[EffectOutcome, ...]] = {}
    for call in calls:
        key = (call.node, call.tool, canonical_json(dict(call.arguments)))
        found[key] = (*found.get(key, ()), call.outcome)
    return found


def _begun(name: NodeId, call: CommittedCall) -> EffectCall:
    return EffectCall(
        node=name,
        tool=call.tool,
        side_effect=call.side_effect,
        arguments=call.arguments,
        outcome="unknown" if call.unsettled else "nothing" if call.failed else "made",
        approved=call.approved,
    )


def _not_begun(name: NodeId, call: HeldCall, outcome: EffectOutcome) -> EffectCall:
    return EffectCall(
        node=name,
        tool=call.tool,
        side_effect=call.side_effect,
        arguments=call.arguments,
        outcome=outcome,
    )
