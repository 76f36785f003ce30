"""Calls with an effect of which nobody knows what came of them: a run that ends says so, however it ends. Pure."""

from __future__ import annotations

from orchestrator.core.acceptor import Gap
from orchestrator.core.approvals import CommittedCall
from orchestrator.core.proposal import canonical_json
from orchestrator.core.state import RunState

SHOWN_ARGUMENTS = 200
"""Characters of the arguments that name such a call; the log has all of them."""


def unsettled(state: RunState) -> tuple[CommittedCall, ...]:
    """Return the calls that were committed and never heard of again, by sub-task and place; costs all nodes.

    Those of sub-tasks that an amendment took out of the plan are among them.
    """
    return tuple(
        call
        for name, node in sorted((*state.dropped.items(), *state.nodes.items()), key=lambda one: one[0])
        for call in sorted(node.committed.values(), key=lambda call: call.place)
        if call.unsettled
    )


def unsettled_gaps(state: RunState) -> tuple[Gap, ...]:
    """Return one gap for each of them: what is delivered may rest on it, or the world may have changed without it."""
    return tuple(Gap(code="effect_unknown", subject=_subject(call)) for call in unsettled(state))


def end_gaps(state: RunState) -> tuple[str, ...]:
    """Return these gaps in the goal's language, for a run that ends without a delivery."""
    if state.proposal is None:
        return ()
    return tuple(gap.text(state.proposal.goal.lang) for gap in unsettled_gaps(state))


def _subject(call: CommittedCall) -> str:
    text = canonical_json(dict(call.arguments))
    return f"{call.tool} {text if len(text) <= SHOWN_ARGUMENTS else text[:SHOWN_ARGUMENTS] + '…'}"
