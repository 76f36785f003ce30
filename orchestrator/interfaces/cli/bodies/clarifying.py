"""Decide a point that a goal leaves open: the next revision is planned with that reading, its changes are shown."""

from __future__ import annotations

import asyncio

from agents.planning.clarifying import NotDecided
from agents.spec import ModelPolicy
from orchestrator.core.events import ProposalDrafted
from orchestrator.core.state import RunState
from orchestrator.interfaces.cli.bodies.editing import save_edit, under_review
from orchestrator.interfaces.cli.bodies.looking import proposal_of
from orchestrator.interfaces.cli.bodies.starting import Draft
from orchestrator.interfaces.cli.bodies.thinking import planner_of
from orchestrator.interfaces.cli.problems import UsageProblem
from orchestrator.interfaces.cli.results import Result
from orchestrator.interfaces.cli.session import Session
from orchestrator.shell.clarifying import UnknownPoint, answer_of, clarified, clarified_by
from orchestrator.shell.proposing import Proposed
from orchestrator.shell.runs import events_of


def clarify(
    session: Session,
    run: str,
    point: str,
    *,
    choice: str | None,
    text: str | None,
    planner_model: str,
    dry_run: bool,
) -> Result:
    """Make the next revision of a proposal with one open point decided, by a number or in words.

    It is planned by `planner_model`; where none is named, by a chat model if one planned the run, else without one.
    Raises `UsageProblem` for a point or a reading that does not exist and for words that say nothing to plan with,
    `WrongState` outside of a review, and what drafting raises.
    """
    state = under_review(session, run)
    proposal = proposal_of(state)
    words = " ".join((text or "").split())
    if bool(words) == (choice is not None):
        raise UsageProblem(
            "one_answer",
            en=f"say either a NUMBER or --text TEXT (got {choice!r} and {text!r}). Look at: maskgrad review {run}",
            zh=f"请只给出编号或 --text 之一（收到 {choice!r} 和 {text!r}）。查看：maskgrad review {run}",
        )
    try:
        answer = words or answer_of(proposal, point, choice or "")
        proposed = _planned(session, state, point, answer, planner_model)
    except (UnknownPoint, NotDecided) as error:
        code = "unknown_point" if isinstance(error, UnknownPoint) else f"decision_{error.code}"
        raise UsageProblem(code, en=error.message("en"), zh=error.message("zh")) from error
    return save_edit(session, state, proposed.proposal, dry_run=dry_run, usage=proposed.usage)


def _planned(session: Session, state: RunState, point: str, answer: str, planner_model: str) -> Proposed:
    shop, proposal = session.shop(), proposal_of(state)
    planner = None
    if planner_model or _asked_a_model(session, state):
        policies = [agent.model_policy for agent in proposal.roster.agents if agent.model_policy.model]
        policy = policies[0] if policies else ModelPolicy()
        draft = Draft(
            goal=proposal.goal.text,
            sources=proposal.goal.sources,
            allow_unresolved=proposal.contract.allow_unresolved,
            forbid=(),
            file=None,
            model=policy.model or "",
            base_url=policy.base_url or "",
            planner_model=planner_model,
        )
        planner = planner_of(session, shop, draft)
    if planner is None:
        return Proposed(proposal=clarified(shop, state.run, proposal, point, answer))
    return asyncio.run(clarified_by(shop, state.run, proposal, point, answer, planner))


def _asked_a_model(session: Session, state: RunState) -> bool:
    events = events_of(session.store(), state.run)
    return any(isinstance(event.body, ProposalDrafted) and event.body.usage for event in events)
