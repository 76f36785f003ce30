"""A proposal as a YAML document that a person edits, and the way back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from graphs.contract import Goal, Lang
from masks.domains import DomainRegistry
from orchestrator.core.proposal import HASH_PREFIX_LENGTH, Proposal, proposal_sha256
from orchestrator.shell.editing.carrying import carry_candidates, carry_origins, suppress_forbidden
from orchestrator.shell.editing.checks import CERTAIN, check_proposal
from orchestrator.shell.editing.findings import Finding
from orchestrator.shell.editing.problems import Problem, Problems
from orchestrator.shell.editing.reading import (
    read_assignment,
    read_contract,
    read_envelope,
    read_goal,
    read_grants,
    read_thresholds,
)
from orchestrator.shell.editing.reading_plan import read_plan
from orchestrator.shell.editing.reading_roster import read_roster
from orchestrator.shell.editing.wording import HEAD, UNDERSTOOD
from orchestrator.shell.editing.writing import (
    write_assignment,
    write_contract,
    write_envelope,
    write_goal,
    write_grants,
    write_plan,
    write_roster,
    write_thresholds,
)
from orchestrator.shell.editing.yaml_text import Page, one_line
from orchestrator.shell.editing.yaml_tree import Item, read_tree

SECTIONS = ("goal", "contract", "thresholds", "plan", "roster", "assignment", "envelope", "grants")
"""The keys that every document has, in this order."""


def to_document(proposal: Proposal, registry: DomainRegistry, lang: Lang, *, run: str, sha256: str) -> str:
    """Return `proposal` as YAML with comments in `lang`; `from_document` of it gives an equal proposal.

    What the user can't edit (intent, notes, why agents were chosen) stands in comments. `run` and `sha256` name what
    the document is based on: an edit of an older revision is refused when it is read.
    """
    page = Page()
    short = sha256[:HASH_PREFIX_LENGTH]
    head = HEAD[lang].format(run=run, revision=proposal.revision, hash=short)
    page.comment(*head.splitlines())
    page.blank()
    page.put("based_on", f"{run}@{proposal.revision}-{short}")
    page.blank()
    _write_understanding(page, proposal, lang)
    for write in (write_goal, write_contract, write_thresholds, write_plan):
        write(page, proposal, lang)
        page.blank()
    write_roster(page, proposal, registry, lang)
    for write in (write_assignment, write_envelope, write_grants):
        page.blank()
        write(page, proposal, lang)
    return page.text()


def from_document(text: str, base: Proposal, registry: DomainRegistry, *, rebase: bool = False) -> Proposal:
    """Return `base` with what the edited document says; its revision is that of `base`.

    Mask values that differ become recorded operations of author `user`; domains that the contract newly forbids are
    suppressed in every mask. What the document can't say (intent, notes, history) is kept, and the ranking of
    candidates follows the edit. With `rebase` the document may have been written for another revision or run.

    Raises `InvalidProposal` with every problem found, each with its line: YAML syntax, unknown, repeated or missing
    keys, wrong types, values out of range, unknown domains, agents and sub-tasks, cycles, and whatever
    `check_proposal` refuses. Nothing is changed then.
    """
    problems = Problems()
    root = read_tree(text, problems)
    if root is None:
        problems.raise_any()
        raise AssertionError("a document that can't be read has a problem")
    sections = root.fields(("based_on", *SECTIONS), required=SECTIONS)
    if "based_on" in sections and not rebase:
        _check_base(sections["based_on"], base)
    edited = _edited(sections, base, registry)
    findings = check_proposal(edited, registry)
    problems.extend(_placed(findings.errors, root, problems))
    problems.raise_any()
    return edited


_WRITE_A_PROPOSAL: Final[Mapping[Lang, str]] = {
    "en": "Accepted: a proposal, as `maskgrad export RUN --format yaml` writes it.",
    "zh": "可接受：`maskgrad export RUN --format yaml` 写出的方案。",
}


def goal_of_document(text: str) -> Goal:
    """Return the goal that a document was written for, so that a run can be drafted for it.

    Raises `InvalidProposal` for a document that can't be read or names no goal.
    """
    problems = Problems()
    root = read_tree(text, problems, if_empty=_WRITE_A_PROPOSAL)
    goal: Goal | None = None
    if root is not None:
        entries = root.entries()
        if "goal" in entries:
            goal = read_goal(entries["goal"])
        else:
            root.fields((*entries,), required=("goal",))
    problems.raise_any()
    assert goal is not None, "a document without a goal has a problem"
    return goal


def _edited(sections: Mapping[str, Item], base: Proposal, registry: DomainRegistry) -> Proposal:
    """Read every section; one that is missing or broken (a problem by now) stays as it was."""
    if "goal" in sections:
        _check_goal(sections["goal"], base.goal)
    contract = read_contract(sections.get("contract"), base.contract, registry)
    thresholds = read_thresholds(sections.get("thresholds"), base)
    plan = read_plan(sections.get("plan"), base.plan, registry)
    read = read_roster(sections.get("roster"), base, registry)
    roster = suppress_forbidden(read, base, contract, registry)
    edited = replace(
        base,
        contract=contract,
        plan=plan,
        roster=roster,
        assignment=read_assignment(sections.get("assignment"), base.assignment),
        thresholds=thresholds.every,
        agent_thresholds=thresholds.agents,
        envelope=read_envelope(sections.get("envelope"), base.envelope, registry),
        grants=read_grants(sections.get("grants"), base.grants),
    )
    return replace(
        edited,
        mask_origins=carry_origins(base, edited, registry),
        candidates=carry_candidates(base, edited),
    )


def _check_goal(item: Item, goal: Goal) -> None:
    written = read_goal(item)
    if written is not None and written != goal:
        item.problem(
            en=f"the goal is read-only and differs from {one_line(goal.text)!r}. Put it back; for another goal: "
            "maskgrad plan GOAL.",
            zh=f"目标为只读，与 {one_line(goal.text)!r} 不同。请恢复原样；新的目标请用：maskgrad plan 目标。",
        )


def _check_base(item: Item, base: Proposal) -> None:
    """An edit of another revision would undo what changed since then."""
    current = f"{base.revision}-{proposal_sha256(base)[:HASH_PREFIX_LENGTH]}"
    written = item.text("")
    if written and written.rpartition("@")[2] != current:
        item.problem(
            en=f"the document was written for {written!r}, and the proposal is at {current!r} by now. Start from the "
            "current one (maskgrad edit ID), or delete this line to put the document in its place.",
            zh=f"该文档基于 {written!r}，而方案现在是 {current!r}。请从当前版本开始编辑（maskgrad edit ID），"
            "或删除此行，以该文档取代当前方案。",
        )


def _placed(findings: Sequence[Finding], root: Item, problems: Problems) -> tuple[Problem, ...]:
    """The findings with their lines, without those that only follow from something that could not be read."""
    broken = {part for place in problems.places for part in _names(place)}
    places = root.places()
    return tuple(
        Problem(where=finding.where, line=_line(finding.where, places), texts=finding.texts)
        for finding in findings
        if finding.code in CERTAIN or not broken & {*finding.about, finding.where.partition(".")[0]}
    )


def _names(place: str) -> tuple[str, ...]:
    """What a broken place makes doubtful: its sub-task or agent; for edges and the contract, all that rests on them."""
    section, _, rest = place.partition(".")
    if section == "plan":
        part, _, node = rest.partition(".")
        return (node.partition(".")[0],) if part == "subtasks" and node else ("plan",)
    if section == "roster" and rest:
        return (rest.partition(".")[0],)
    return (section.partition("[")[0],)


def _line(where: str, places: Mapping[str, int]) -> int | None:
    while where and where not in places:
        where = where.rpartition(".")[0]
    return places.get(where) if where else None


def _write_understanding(page: Page, proposal: Proposal, lang: Lang) -> None:
    intent = proposal.intent
    page.comment(UNDERSTOOD["objective"][lang].format(intent.objective))
    for kind, texts in (
        ("constraint", intent.constraints),
        ("assumption", intent.assumptions),
        ("note", proposal.notes),
    ):
        page.comment(*(UNDERSTOOD[kind][lang].format(text) for text in texts))
    page.comment(
        *(
            UNDERSTOOD["settled" if a.settled else "ambiguity"][lang].format(a.question, a.assumed)
            for a in intent.ambiguities
        )
    )
    page.blank()
