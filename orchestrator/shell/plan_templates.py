"""Plan templates: what users changed about drafted plans whose runs delivered, offered at the next similar goal.

Nothing is stored for them. A template is read from the log of a run that ended `completed` or `partial`: the difference
between what was drafted and what was approved, as structured edits. So the log stays the only truth, and a run that is
gone takes its template along. Applied, every edit either fits or is listed: none changes what the new goal says
otherwise than the old one did.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np

from agents.retrieval.tokens import terms
from agents.spec import AgentId
from graphs.contract import Criterion, Lang
from graphs.edits import (
    AddNode,
    Connect,
    Cut,
    EditError,
    RemoveNode,
    SimpleEdit,
    UpdateNode,
    apply_edit,
)
from graphs.plan import NodeId, Plan, SubTask
from masks.domains import DomainId, DomainRegistry
from masks.gradient import set_value
from masks.ports import Embedder
from orchestrator.core.events import ProposalApproved, ProposalDrafted, RunCreated, RunEnded
from orchestrator.core.ids import RunId
from orchestrator.core.proposal import Proposal
from orchestrator.shell.editing.carrying import carry_candidates, carry_origins
from orchestrator.shell.editing.checks import check_proposal
from orchestrator.shell.editing.operations import plan_operations, render_operations
from orchestrator.shell.editing.reading_roster import USER
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

    agent: AgentId
    domain: DomainId
    old: int
    new: int


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
    assigned: tuple[tuple[NodeId, AgentId], ...] = ()
    """Sub-tasks that were added or given to another agent."""

    @property
    def size(self) -> int:
        """How many edits it holds."""
        return len(self.edits) + len(self.criteria) + len(self.masks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """A proposal with the edits of a template."""

    proposal: Proposal
    misfits: tuple[str, ...]
    """A line for each edit that does not fit the new goal."""


NoTemplate = Literal["shadow", "not_approved", "not_delivered", "as_drafted"]
"""Why a run gives no template; `as_drafted`: what was changed, if anything, is of no kind that a template takes over
(sub-tasks, criteria, mask values), such as tools or models of agents."""


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
        assigned=tuple(
            (node, agent)
            for node, agent in approved.assignment.items()
            if drafted.assignment.get(node) != agent
        ),
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


def apply_template(template: PlanTemplate, proposal: Proposal, registry: DomainRegistry) -> Applied:
    """Return `proposal` with every edit of the template that fits, and a line for each that does not.

    An edit of a sub-task fits where the new plan says of it what the old one said before the edit; a mask value where
    the same agent has the value that was changed; a new sub-task and a new criterion where their ids are free. Should
    the fitting edits together leave an error, none of those of the plan is taken over.
    """
    work = _Applying(template=template, registry=registry, proposal=proposal)
    work.edit_plan()
    if check_proposal(work.proposal, registry).errors:
        work = _Applying(template=template, registry=registry, proposal=proposal)
        work.refuse_plan()
    work.edit_masks()
    edited = work.proposal
    edited = replace(
        edited,
        mask_origins=carry_origins(proposal, edited, registry),
        candidates=carry_candidates(proposal, edited),
    )
    return Applied(proposal=edited, misfits=tuple(work.misfits))


@dataclass(slots=True, kw_only=True)
class _Applying:
    """A proposal while the edits of a template are taken over."""

    template: PlanTemplate
    registry: DomainRegistry
    proposal: Proposal
    misfits: list[str] = field(default_factory=list)

    @property
    def lang(self) -> Lang:
        return self.proposal.goal.lang

    def edit_plan(self) -> None:
        taken = {criterion.id for criterion in self.proposal.contract.acceptance}
        for criterion in self.template.criteria:
            if criterion.id in taken:
                self.misfits.append(f"+ {criterion.id}: {criterion.text}")
            else:
                contract = self.proposal.contract
                contract = replace(contract, acceptance=(*contract.acceptance, criterion))
                self.proposal = replace(self.proposal, contract=contract)
        before = self.template.drafted.plan
        for edit in self.template.edits:
            self._edit(before, edit)
            before = apply_edit(before, edit).plan
        self._assign()

    def refuse_plan(self) -> None:
        """List every edit of the plan instead: together they would leave an error."""
        self.misfits.extend(f"+ {criterion.id}: {criterion.text}" for criterion in self.template.criteria)
        plan = self.template.drafted.plan
        self.misfits.extend(render_operations(plan, self.template.edits, self.lang))

    def edit_masks(self) -> None:
        for edit in self.template.masks:
            spec = next((agent for agent in self.proposal.roster.agents if agent.id == edit.agent), None)
            if spec is None or spec.mask.value(edit.domain) != edit.old:
                self.misfits.append(
                    f"{edit.agent} {edit.domain} {edit.old / 100:.2f} -> {edit.new / 100:.2f}"
                )
                continue
            reason = f"as in {self.template.run}" if self.lang == "en" else f"同 {self.template.run}"
            mask = set_value(
                spec.mask, edit.domain, edit.new, registry=self.registry, author=USER, reason=reason
            )
            roster = self.proposal.roster.with_agent(replace(spec, mask=mask))
            self.proposal = replace(self.proposal, roster=roster)

    def _edit(self, before: Plan, edit: SimpleEdit) -> None:
        if _fits(before, self.proposal.plan, edit):
            try:
                self.proposal = replace(self.proposal, plan=apply_edit(self.proposal.plan, edit).plan)
                return
            except EditError:
                pass
        self.misfits.extend(render_operations(before, [edit], self.lang))

    def _assign(self) -> None:
        nodes = {subtask.id for subtask in self.proposal.plan.subtasks}
        able = {agent.id for agent in self.proposal.roster.agents}
        own = {node: agent for node, agent in self.proposal.assignment.items() if node in nodes}
        new = {node: agent for node, agent in self.template.assigned if node in nodes and agent in able}
        self.proposal = replace(self.proposal, assignment={**own, **new})


def _fits(before: Plan, plan: Plan, edit: SimpleEdit) -> bool:
    """Tell whether `plan` says of what `edit` touches the same as the plan that it was made for."""
    match edit:
        case AddNode():
            return True
        case UpdateNode():
            old, new = _subtask(before, edit.node), _subtask(plan, edit.node)
            names = [name for name in _FIELDS if getattr(edit, name, None) is not None]
            return (
                old is not None
                and new is not None
                and old.operation == new.operation
                and all(getattr(old, name) == getattr(new, name) for name in names)
            )
        case RemoveNode():
            old, new = _subtask(before, edit.node), _subtask(plan, edit.node)
            return old is not None and new is not None and _work(old) == _work(new)
        case Connect(dependency=edge) | Cut(dependency=edge):
            ends = [(_subtask(before, end), _subtask(plan, end)) for end in (edge.source, edge.target)]
            return all(a is not None and b is not None and a.operation == b.operation for a, b in ends)
        case _:
            # Renamings, orders and patches are about the very plan that they were made for.
            return False


_FIELDS: Final = ("title", "kind", "instruction", "params", "inputs", "outputs", "acceptance", "required_domains",
                  "side_effects", "failure_semantics", "estimate")  # fmt: skip


def _work(subtask: SubTask) -> tuple[str, object]:
    return subtask.operation, dict(subtask.params)


def _subtask(plan: Plan, node: NodeId) -> SubTask | None:
    return next((subtask for subtask in plan.subtasks if subtask.id == node), None)


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
    before = {agent.id: agent.mask for agent in drafted.roster.agents}
    return tuple(
        MaskEdit(agent=agent.id, domain=domain, old=old, new=agent.mask.value(domain))
        for agent in approved.roster.agents
        if agent.id in before
        for domain in sorted({d for d, _ in (*agent.mask.values, *before[agent.id].values)})
        if (old := before[agent.id].value(domain)) != agent.mask.value(domain)
    )


def _shared(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0
