"""Plan templates: what users changed about drafted plans whose runs delivered, offered at the next similar goal.

Nothing is stored for them. A template is read from the log of a run that ended `completed` or `partial`: the difference
between what was drafted and what was approved, as structured edits. So the log stays the only truth, and a run that is
gone takes its template along. Applied, every edit either fits or is listed: none changes what the new goal says
otherwise than the old one did.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from agents.retrieval.tokens import terms
from agents.spec import AgentSpec
from graphs.contract import Criterion
from graphs.edits import (
    SimpleEdit,
)
from graphs.plan import SubTask
from masks.domains import DomainId
from masks.ports import Embedder
from orchestrator.core.events import ProposalApproved, ProposalDrafted, RunCreated, RunEnded
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Proposal
from orchestrator.shell.editing.operations import plan_operations
from orchestrator.shell.runs import events_of, load
from orchestrator.shell.store.ports import RunStore

SIMILAR: Final = 0.5
"""Mean of the common share of terms and the cosine of two goals, from which a template is offered. Our choice: two
goals that ask the same of another thing reach it, two that share a subject only do not."""

SHARED_TERMS: Final = 0.2
"""Share of common terms below which a goal is not compared further: it saves the embedder's work, not more."""

RUNS_LOOKED_AT: Final = 200
"""Newest runs whose goals are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskEdit:
    """One mask value that the user set."""

    agent: AgentSpec
    """As drafted."""
    domain: DomainId
    old: int
    new: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    """A sub-task that the user gave to an agent."""

    subtask: SubTask
    """As approved."""
    agent: AgentSpec
    """As drafted; as approved where the user brought it."""
    before: AgentSpec | None
    """Who had it in the draft; `None`: nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTemplate:
    """What a user changed before approving a plan that delivered."""

    run: RunId
    goal: str
    kind: str
    """Of the contract."""
    outcome: Literal["completed", "partial"]
    drafted: Proposal
    edits: tuple[SimpleEdit, ...] = ()
    """Of the plan, one after the other."""
    criteria: tuple[Criterion, ...] = ()
    """That were added to the contract."""
    masks: tuple[MaskEdit, ...] = ()
    assigned: tuple[Assigned, ...] = ()
    """Sub-tasks that were added or given to another agent."""

    @property
    def size(self) -> int:
        """How many edits it holds; who works on an added sub-task is a part of adding it."""
        given = [each for each in self.assigned if each.before is not None]
        return len(self.edits) + len(self.criteria) + len(self.masks) + len(given)


NoTemplate = Literal["shadow", "not_approved", "not_delivered", "as_drafted"]
"""Why a run gives no template; `as_drafted`: what was changed, if anything, is of no kind that a template takes over
(sub-tasks and who works on them, criteria, mask values), such as tools or models of agents."""


def why_no_template(store: RunStore, run: RunId) -> NoTemplate:
    """Return why `template_of` gives nothing for a run; raises `UnknownRun`."""
    state = load(store, run)
    if state.shadow_of is not None:
        return "shadow"
    if state.approved_revision is None:
        return "not_approved"
    return "as_drafted" if state.status in ("completed", "partial") else "not_delivered"


def template_of(store: RunStore, run: RunId) -> PlanTemplate | None:
    """Return the template of a run; `None` for one that delivered nothing, a shadow, or one approved as drafted.

    Where a point was decided (`maskgrad clarify`), the plan was drafted anew: what was changed since counts.
    Raises `UnknownRun`.
    """
    revisions: list[Proposal] = []
    approved: Proposal | None = None
    outcome = ""
    shadow = False
    for event in events_of(store, run):
        match event.body:
            case RunCreated(shadow_of=original):
                shadow = original is not None
            case ProposalDrafted(proposal=proposal):
                revisions.append(proposal)
            case ProposalApproved(revision=revision) if approved is None:
                approved = next((p for p in revisions if p.revision == revision), None)
            case RunEnded(outcome=ended):
                outcome = ended
            case _:
                pass
    if shadow or approved is None or outcome not in ("completed", "partial"):
        return None
    drafted = _last_drafted(revisions, approved)
    template = PlanTemplate(
        run=run,
        goal=approved.goal.text,
        kind=approved.contract.kind,
        outcome="completed" if outcome == "completed" else "partial",
        drafted=drafted,
        edits=plan_operations(drafted.plan, approved.plan),
        criteria=_added_criteria(drafted, approved),
        masks=_mask_edits(drafted, approved),
        assigned=_assigned(drafted, approved),
    )
    return template if template.size else None


def similar_template(
    store: RunStore, embedder: Embedder, goal: str, *, but: RunId | None = None
) -> PlanTemplate | None:
    """Return the template of the delivered run whose goal is most like `goal`, the newest of equals.

    `None` where none reaches `SIMILAR`. `but` is a run that is left out: the one that is being drafted.
    """
    wanted = set(terms(goal))
    found = [
        (row, share)
        for row in store.runs(RUNS_LOOKED_AT)
        if row.id != but and (share := _shared(wanted, set(terms(row.title)))) >= SHARED_TERMS
    ]
    if not found:
        return None
    vectors = np.asarray(embedder.encode([goal, *(row.title for row, _ in found)]), dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1)
    cosines = (vectors[1:] @ vectors[0]) / np.maximum(lengths[1:] * lengths[0], 1e-12)
    scored = [
        ((share + max(0.0, float(cosine))) / 2, row.id)
        for (row, share), cosine in zip(found, cosines, strict=True)
    ]
    for score, run in sorted(scored, key=lambda entry: -entry[0]):
        template = template_of(store, RunId(run)) if score >= SIMILAR else None
        if template is not None:
            return template
    return None


def _last_drafted(revisions: Sequence[Proposal], approved: Proposal) -> Proposal:
    """Return the revision that a planner made last: the first, or the last that decided a point."""
    drafted = revisions[0]
    for before, after in itertools.pairwise(revisions):
        if after.revision <= approved.revision and before.intent != after.intent:
            drafted = after
    return drafted


def _added_criteria(drafted: Proposal, approved: Proposal) -> tuple[Criterion, ...]:
    known = {criterion.id for criterion in drafted.contract.acceptance}
    return tuple(criterion for criterion in approved.contract.acceptance if criterion.id not in known)


def _mask_edits(drafted: Proposal, approved: Proposal) -> tuple[MaskEdit, ...]:
    before = {agent.id: agent for agent in drafted.roster.agents}
    return tuple(
        MaskEdit(agent=before[agent.id], domain=domain, old=old, new=agent.mask.value(domain))
        for agent in approved.roster.agents
        if agent.id in before
        for domain in sorted({d for d, _ in (*agent.mask.values, *before[agent.id].mask.values)})
        if (old := before[agent.id].mask.value(domain)) != agent.mask.value(domain)
    )


def _assigned(drafted: Proposal, approved: Proposal) -> tuple[Assigned, ...]:
    known = {agent.id: agent for agent in (*approved.roster.agents, *drafted.roster.agents)}
    return tuple(
        Assigned(subtask=subtask, agent=known[agent], before=known[before] if before is not None else None)
        for subtask in approved.plan.subtasks
        if (agent := approved.assignment.get(subtask.id)) is not None
        and (before := drafted.assignment.get(subtask.id)) != agent
    )


def _shared(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0
