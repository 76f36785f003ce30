"""Draft a run: from a goal, or with the proposal of a file."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from graphs.contract import FORBIDDEN_DOMAIN_PREFIX
from masks.domains import DomainRegistry
from orchestrator.core.errors import InvalidProposal, SourcesMissing
from orchestrator.core.profiles import limits_in
from orchestrator.core.proposal import Proposal
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.bodies.documents import read_text
from orchestrator.interfaces.cli.bodies.looking import proposal_of
from orchestrator.interfaces.cli.bodies.starting import Draft, profile_of
from orchestrator.interfaces.cli.bodies.thinking import planner_of, policy_of
from orchestrator.interfaces.cli.session import Session
from orchestrator.run import goal_of, revise, submit, submit_planned
from orchestrator.shell.editing.changes import changes_between
from orchestrator.shell.editing.document import from_document, goal_of_document
from orchestrator.shell.proposing import ProposalOptions, draft_proposal


def draft_run(session: Session, draft: Draft) -> RunState:
    """Draft a run and return it in review.

    With a file, revision 1 is the planner's and revision 2 the file's; nothing is created when the file has errors.
    Raises `EmptyGoal`, `FolderNotFound`, `FolderUnreadable`, `UnknownDomain`, `DesignError`, `SourcesMissing` for a
    plan that searches without a folder, `SeveralSources`, `InvalidProposal` and `NotFound` for a file,
    `InvalidToolsFile`, and what the store raises.
    """
    if draft.file is not None:
        return _from_file(session, draft)
    policy = policy_of(session, draft)
    options = replace(_options(draft, session.registry), profile=profile_of(session, draft), policy=policy)
    return _submit(session, draft, options)


def _submit(session: Session, draft: Draft, options: ProposalOptions) -> RunState:
    shop = session.shop()
    shop.tool_specs()  # a mistake in the user's file is told before notes are indexed and a model is paid
    planner = planner_of(session, shop, draft)
    folders = [Path(folder) for folder in draft.sources]
    if planner is not None:
        return asyncio.run(submit_planned(shop, draft.goal, planner, sources=folders, options=options))
    if not draft.sources and _searches(draft_proposal(shop, goal_of(draft.goal, (), None), options)):
        # Found before a run exists: its goal could not be given a folder afterwards.
        raise SourcesMissing
    return submit(shop, draft.goal, sources=folders, options=options)


def _from_file(session: Session, draft: Draft) -> RunState:
    assert draft.file is not None, "called for a file"
    text = read_text(draft.file)
    options = ProposalOptions(profile=profile_of(session, draft))
    try:
        goal = goal_of_document(text)
        shop = session.shop()
        edited = from_document(text, draft_proposal(shop, goal, options), shop.registry, rebase=True)
    except InvalidProposal as error:
        raise InvalidProposal(error.problems, of_file=True) from error
    if not goal.sources and _searches(edited):
        raise SourcesMissing
    folders = [Path(folder) for folder in goal.sources]
    state = submit(shop, goal.text, sources=folders, lang=goal.lang, options=options)
    drafted = proposal_of(state)
    # The run's goal names its folders as absolute paths; the file may not.
    limits = limits_in(edited.profile, edited.contract.limits)
    edited = replace(edited, goal=drafted.goal, contract=replace(edited.contract, limits=limits))
    changes = changes_between(drafted, edited, shop.registry, goal.lang)
    return revise(shop, state.run, edited, changes) if changes else state


def _options(draft: Draft, registry: DomainRegistry) -> ProposalOptions:
    forbidden = tuple(f"{FORBIDDEN_DOMAIN_PREFIX}{registry.resolve(domain)}" for domain in draft.forbid)
    return ProposalOptions(allow_unresolved=True if draft.allow_unresolved else None, forbidden=forbidden)


def _searches(proposal: Proposal) -> bool:
    return any(subtask.kind == "loop" for subtask in proposal.plan.subtasks)
