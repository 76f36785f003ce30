"""Answer a point that a goal leaves open: plan the goal anew with that reading, for the next revision."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from agents.planning.clarifying import as_decided, settle, settled_points
from agents.planning.intent import resolve_prohibitions
from agents.planning.ports import Planner
from agents.planning.reading import read_goal
from agents.spec import AgentSpec
from graphs.contract import Ambiguity, Lang
from masks.design import MaskOriginKind
from orchestrator.core.proposal import Proposal
from orchestrator.shell.proposing import ProposalOptions, Proposed, draft_proposal, propose
from orchestrator.shell.wiring import Workshop


class UnknownPoint(LookupError):
    """A proposal has no such open point, or the point no such reading. The caller shows `message`."""

    def __init__(self, point: str, choice: str, known: Sequence[Ambiguity]) -> None:
        self.point = point
        self.choice = choice
        self.known = tuple(known)
        super().__init__(self.message("en"))

    def message(self, lang: Lang) -> str:
        """Return what was named and what can be named, in `lang`."""
        found = next((ambiguity for ambiguity in self.known if ambiguity.id == self.point), None)
        if found is not None:
            listed = "; ".join(f"{n}: {option}" for n, option in enumerate(found.options, 1))
            return (
                f"{self.choice!r} is no reading of {self.point!r}; accepted: a number of {listed}, "
                "or your words: --text TEXT"
                if lang == "en"
                else f"{self.choice!r} 不是 {self.point!r} 的选项；可接受：编号（{listed}），或用 --text 写明"
            )
        listed = "; ".join(f"{a.id}: {a.question}" for a in self.known) or "-"
        return (
            f"{self.point!r} is no open point of this proposal; it has: {listed}"
            if lang == "en"
            else f"{self.point!r} 不是此方案的待定点；现有：{listed}"
        )


def answer_of(proposal: Proposal, point: str, choice: str) -> str:
    """Return the reading of `point` that `choice` numbers, from 1; raises `UnknownPoint`."""
    known = proposal.intent.ambiguities
    found = next((ambiguity for ambiguity in known if ambiguity.id == point), None)
    number = int(choice) if choice.isascii() and choice.isdigit() else 0
    if found is None or not 1 <= number <= len(found.options):
        raise UnknownPoint(point, choice, known)
    return found.options[number - 1]


def clarified(shop: Workshop, proposal: Proposal, point: str, answer: str) -> Proposal:
    """Return the proposal of the same goal with one open point decided, planned without a model.

    Earlier decisions, the user's options and the thresholds hold on; edits of the plan, the roster and the masks do
    not, so the caller shows what differs. Raises `UnknownPoint`, `NotDecided` and what `draft_proposal` raises.
    """
    planned = draft_proposal(shop, proposal.goal, _decided(shop, proposal, point, answer))
    return _kept(planned, proposal)


async def clarified_by(
    shop: Workshop, proposal: Proposal, point: str, answer: str, planner: Planner
) -> Proposed:
    """Return what `clarified` returns, as `planner` plans it, and what that cost; raises the same."""
    options = await asyncio.to_thread(_decided, shop, proposal, point, answer)
    proposed = await propose(shop, proposal.goal, options, planner)
    return replace(proposed, proposal=_kept(proposed.proposal, proposal))


def _kept(planned: Proposal, before: Proposal) -> Proposal:
    """Return `planned` with what no planner makes: the user's own terms of the contract, and the revision."""
    asked_for = (*planned.contract.approval_required, *before.contract.approval_required)
    contract = replace(
        planned.contract,
        approval_required=tuple(dict.fromkeys(asked_for)),
        delta_max=before.contract.delta_max,
    )
    return replace(planned, contract=contract, revision=before.revision)


def _decided(shop: Workshop, proposal: Proposal, point: str, answer: str) -> ProposalOptions:
    known = proposal.intent.ambiguities
    found = next((ambiguity for ambiguity in known if ambiguity.id == point), None)
    if found is None:
        raise UnknownPoint(point, answer, known)
    before = settled_points(proposal.intent)
    others = tuple(ambiguity for ambiguity in before if ambiguity.id != point)
    settled = (*others, settle(found, " ".join(answer.split())))
    return replace(options_of(shop, proposal, before), settled=settled)


def options_of(shop: Workshop, proposal: Proposal, settled: Sequence[Ambiguity]) -> ProposalOptions:
    """Return what the user set beside the goal and its decisions: what either forbids by its words is not among it."""
    goal, contract = proposal.goal, proposal.contract
    reading = as_decided(goal, read_goal(goal.text), settled, shop.registry)
    own = resolve_prohibitions(reading.prohibitions, shop.registry).entries()
    policies = [agent.model_policy for agent in proposal.roster.agents if agent.role == "generate"]
    return ProposalOptions(
        allow_unresolved=contract.allow_unresolved,
        forbidden=tuple(entry for entry in contract.forbidden if entry not in own),
        limits=contract.limits,
        thresholds=proposal.thresholds,
        catalogue=_brought_along(proposal),
        policy=policies[0] if policies else None,
        profile=proposal.profile,
        memories=proposal.memories or None,
    )


def _brought_along(proposal: Proposal) -> tuple[AgentSpec, ...]:
    """The agents that came from the user's catalogue, by where their masks come from; empty: they were designed."""
    return tuple(
        agent
        for agent in proposal.roster.agents
        if any(
            origin.kind is MaskOriginKind.CATALOGUE
            for origin in proposal.mask_origins.get(agent.id, {}).values()
        )
    )
