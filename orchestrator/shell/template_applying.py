"""Take the edits of a plan template over to the plan of another goal: each fits there, or is listed.

Ids of sub-tasks and agents are positions (`n1`, `A2`): the same id in another plan says nothing. So an edit fits by
what the sub-task does and what the agent is responsible for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from agents.retrieval.tokens import terms
from agents.roster import Roster
from agents.spec import AgentSpec
from graphs.contract import Criterion, Lang
from graphs.edits import AddNode, Connect, Cut, EditError, RemoveNode, SimpleEdit, UpdateNode, apply_edit
from graphs.plan import NodeId, Plan, SubTask
from masks.domains import DomainRegistry
from masks.gradient import set_value
from orchestrator.core.proposal import Proposal
from orchestrator.shell.editing.carrying import carry_candidates, carry_origins
from orchestrator.shell.editing.checks import check_proposal
from orchestrator.shell.editing.operations import render_operations
from orchestrator.shell.editing.reading_roster import USER
from orchestrator.shell.plan_templates import Assigned, PlanTemplate


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """A proposal with the edits of a template."""

    proposal: Proposal
    misfits: tuple[str, ...]
    """A line for each edit that does not fit the new goal."""


def apply_template(template: PlanTemplate, proposal: Proposal, registry: DomainRegistry) -> Applied:
    """Return `proposal` with every edit of the template that fits, and a line for each that does not.

    An edit of a sub-task fits where the new plan says of it what the old one said before the edit; a mask value where
    an agent with the same operations and responsibility has the value that was changed; an assignment where the
    sub-task has the same operation and is with the counterpart of the agent that it was taken from, to the counterpart
    of the one that it was given to; a new sub-task and a new criterion where their ids are free. What speaks of
    something that the old goal names and the new one does not fits nowhere. Should the fitting edits together leave an
    error, none of those of the plan is taken over.
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
            if criterion.id in taken or self._of_the_old_goal(_asked_by(criterion)):
                self.misfits.append(f"+ {criterion.id}: {criterion.text}")
            else:
                contract = self.proposal.contract
                contract = replace(contract, acceptance=(*contract.acceptance, criterion))
                self.proposal = replace(self.proposal, contract=contract)
        before = self.template.drafted.plan
        for edit in self.template.edits:
            self._edit(before, edit)
            before = apply_edit(before, edit).plan
        for given in self.template.assigned:
            self._assign(given)

    def refuse_plan(self) -> None:
        """List every edit of the plan instead: together they would leave an error."""
        self.misfits.extend(f"+ {criterion.id}: {criterion.text}" for criterion in self.template.criteria)
        plan = self.template.drafted.plan
        self.misfits.extend(render_operations(plan, self.template.edits, self.lang))
        self.misfits.extend(_assignment(given) for given in self.template.assigned)

    def edit_masks(self) -> None:
        for edit in self.template.masks:
            spec = counterpart(edit.agent, self.proposal.roster)
            if spec is None or spec.mask.value(edit.domain) != edit.old:
                self.misfits.append(
                    f"{edit.agent.id} {edit.domain} {edit.old / 100:.2f} -> {edit.new / 100:.2f}"
                )
                continue
            reason = f"as in {self.template.run}" if self.lang == "en" else f"同 {self.template.run}"
            mask = set_value(
                spec.mask, edit.domain, edit.new, registry=self.registry, author=USER, reason=reason
            )
            roster = self.proposal.roster.with_agent(replace(spec, mask=mask))
            self.proposal = replace(self.proposal, roster=roster)

    def _edit(self, before: Plan, edit: SimpleEdit) -> None:
        if _fits(before, self.proposal.plan, edit) and not self._of_the_old_goal(*_said(before, edit)):
            try:
                self.proposal = replace(self.proposal, plan=apply_edit(self.proposal.plan, edit).plan)
                return
            except EditError:
                pass
        self.misfits.extend(render_operations(before, [edit], self.lang))

    def _assign(self, given: Assigned) -> None:
        node, roster, now = given.subtask.id, self.proposal.roster, self.proposal.assignment
        subtask = _subtask(self.proposal.plan, node)
        to = counterpart(given.agent, roster)
        holder = counterpart(given.before, roster) if given.before is not None else None
        fits = (
            subtask is not None
            and to is not None
            and subtask.operation == given.subtask.operation
            and subtask.operation in to.operations
            and now.get(node) in ((holder.id if holder is not None else None), to.id)
        )
        if fits and to is not None:
            self.proposal = replace(self.proposal, assignment={**now, node: to.id})
        else:
            self.misfits.append(_assignment(given))

    def _of_the_old_goal(self, text: str, known: str = "") -> bool:
        """Tell whether a text speaks of something of the old goal that is neither in the new one nor `known` there."""
        old, new = self.template.goal, self.proposal.goal.text
        return bool(set(terms(text)) & (set(terms(old)) - set(terms(new)) - set(terms(known))))


def counterpart(agent: AgentSpec, roster: Roster) -> AgentSpec | None:
    """Return the agent of `roster` with the role, operations and responsibility of `agent`, whatever its id.

    Of several the one with the same id; `None` where that is none of them, or nobody is alike.
    """
    alike = [
        one
        for one in roster.agents
        if (one.role, one.responsibility) == (agent.role, agent.responsibility)
        and set(one.operations) == set(agent.operations)
    ]
    same = next((one for one in alike if one.id == agent.id), None)
    return same or (alike[0] if len(alike) == 1 else None)


def _assignment(given: Assigned) -> str:
    return f"{given.subtask.id} -> {given.agent.id}"


def _fits(before: Plan, plan: Plan, edit: SimpleEdit) -> bool:
    """Tell whether `plan` says of what `edit` touches the same as the plan that it was made for."""
    match edit:
        case AddNode():
            return True
        case UpdateNode():
            old, new = _subtask(before, edit.node), _subtask(plan, edit.node)
            return (
                old is not None
                and new is not None
                and old.operation == new.operation
                and all(getattr(old, name) == getattr(new, name) for name in _changed(edit))
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


def _changed(edit: UpdateNode) -> list[str]:
    return [name for name in _FIELDS if getattr(edit, name, None) is not None]


def _said(before: Plan, edit: SimpleEdit) -> tuple[str, str]:
    """Return the text that an edit brings, and the one that stood there before."""
    match edit:
        case AddNode(subtask=subtask):
            return _text(subtask.title, subtask.instruction, subtask.params), ""
        case UpdateNode():
            old = _subtask(before, edit.node)
            said = _text(edit.title, edit.instruction, edit.params)
            return said, _text(old.title, old.instruction, old.params) if old is not None else ""
        case _:
            return "", ""


def _asked_by(criterion: Criterion) -> str:
    return _text(criterion.text, criterion.question, criterion.field)


def _text(*values: object) -> str:
    """The strings of JSON values, each on a line of its own."""
    found: list[str] = []
    for value in values:
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, Mapping):
            found.append(_text(*value.values()))
        elif isinstance(value, list | tuple):
            found.append(_text(*value))
    return "\n".join(found)


def _work(subtask: SubTask) -> tuple[str, object]:
    return subtask.operation, dict(subtask.params)


def _subtask(plan: Plan, node: NodeId) -> SubTask | None:
    return next((subtask for subtask in plan.subtasks if subtask.id == node), None)
