"""Answer a point that a goal leaves open: plan the goal anew with that reading, for the next revision."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from agents.planning.clarifying import settle, settled_points
from agents.planning.ports import Planner
from graphs.contract import Ambiguity, Lang
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Proposal
from orchestrator.shell.proposing import ProposalOptions, Proposed, draft_proposal, propose
from orchestrator.shell.user_terms import options_of, with_terms_of
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


def clarified(shop: Workshop, run: RunId, proposal: Proposal, point: str, answer: str) -> Proposal:
    """Return the proposal of the same goal with one open point of `run` decided, planned without a model.

    Earlier decisions, the user's options and the thresholds hold on, and what the user took out of what the goal grants
    or what is remembered stays out; edits of the plan, the roster and the masks do not hold, so the caller shows what
    differs. Raises `UnknownPoint`, `NotDecided`, `UnknownRun` and what `draft_proposal` raises.
    """
    planned = draft_proposal(shop, proposal.goal, _decided(shop, run, proposal, point, answer))
    return _next(planned, proposal)


async def clarified_by(
    shop: Workshop, run: RunId, proposal: Proposal, point: str, answer: str, planner: Planner
) -> Proposed:
    """Return what `clarified` returns, as `planner` plans it, and what that cost; raises the same."""
    options = await asyncio.to_thread(_decided, shop, run, proposal, point, answer)
    proposed = await propose(shop, proposal.goal, options, planner)
    return replace(proposed, proposal=_next(proposed.proposal, proposal))


def _next(planned: Proposal, before: Proposal) -> Proposal:
    return replace(with_terms_of(before, planned), revision=before.revision)


def _decided(shop: Workshop, run: RunId, proposal: Proposal, point: str, answer: str) -> ProposalOptions:
    known = proposal.intent.ambiguities
    found = next((ambiguity for ambiguity in known if ambiguity.id == point), None)
    if found is None:
        raise UnknownPoint(point, answer, known)
    before = settled_points(proposal.intent)
    others = tuple(ambiguity for ambiguity in before if ambiguity.id != point)
    settled = (*others, settle(found, " ".join(answer.split())))
    return replace(options_of(shop, run, proposal, before), settled=settled)
