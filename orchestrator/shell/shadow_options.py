"""What a shadow may differ in from the run that it is compared with."""

from __future__ import annotations

from dataclasses import replace

from agents.planning.clarifying import settled_points
from masks.bands import DEFAULT_THRESHOLDS
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Proposal
from orchestrator.shell.proposing import ProposalOptions
from orchestrator.shell.user_terms import options_of
from orchestrator.shell.wiring import Workshop


def shadow_options(
    shop: Workshop, run: RunId, proposal: Proposal, options: ProposalOptions | None
) -> ProposalOptions:
    """Return `options` within what the user set for `proposal` of `run`; the profile is always `evaluate`."""
    settled = settled_points(proposal.intent)
    held = options_of(shop, run, proposal, settled)
    wanted = options if options is not None else held
    return replace(
        wanted,
        allow_unresolved=held.allow_unresolved,
        forbidden=tuple(dict.fromkeys((*held.forbidden, *wanted.forbidden))),
        limits=wanted.limits or held.limits,
        thresholds=held.thresholds if wanted.thresholds == DEFAULT_THRESHOLDS else wanted.thresholds,
        settled=settled,
        memories=wanted.memories if held.memories is None else held.memories,
        grantable=_common(held.grantable, wanted.grantable),
        profile="evaluate",
    )


def _common(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    """What both let; `None` lets everything."""
    if one is None or other is None:
        return other if one is None else one
    return one & other
